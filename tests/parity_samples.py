"""An NPU runner and its GPU twin as texts, for the rules that compare the two."""

from __future__ import annotations

from check_samples import (
    GPU_HEAD,
    NPU_HEAD,
    dedent,
)


def npu(body: str, *, head: str = NPU_HEAD, bases: str = "OmniNPUModelRunner") -> str:
    return f"{head}\nclass NPUARModelRunner({bases}):\n{_indent(body)}"


def gpu(body: str, *, head: str = GPU_HEAD, bases: str = "OmniGPUModelRunner") -> str:
    return f"{head}\nclass GPUARModelRunner({bases}):\n{_indent(body)}"


def _indent(body: str) -> str:
    return "\n".join(f"    {line}" if line else "" for line in dedent(body).split("\n"))


SAMPLE = """
def _sample(self, logits, metadata):
    if self.prefer():
        return self.model.sample(logits)
    return super()._sample(logits, metadata)
"""

ASK = 'def load_model(self):\n    self.flag = getattr(self.model, "wants_history", False)'

PLAIN = "def execute_model(self, x):\n    self.plain(x)\n    return x"
