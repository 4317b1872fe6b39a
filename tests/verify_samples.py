"""Small trees for the tests of `verify`: an NPU runner on an omni GPU, a vllm-ascend and a vLLM runner."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from runner_sync.model import Finding, Project, Source
from runner_sync.profile import NPU as PROFILE
from runner_sync.verify import breakage
from runner_sync.verify.trees.world import World

NPU = "vllm_omni/npu.py"

HEAD = """\
from vllm.runner import helper
from vllm_ascend.runner import NPUModelRunner
from vllm_omni.gpu import OmniGPUModelRunner
"""

TREES = {
    "vllm/__init__.py": "",
    "vllm/runner.py": """\
        from typing import NamedTuple
        import torch

        def helper(a, b=1, *, key=None):
            return a, b

        class Buffer:
            def __init__(self, size):
                self.cpu = size
                self.gpu = size
                self.np = size
            def copy_to_gpu(self, n=None):
                return self.gpu

        class State(NamedTuple):
            logits: object
            tokens: object = None

        class Batch:
            def __init__(self):
                self.rows = []
            def add(self, row, index=0):
                self.rows.append(row)

        class GPUModelRunner:
            def __init__(self, config):
                self.config = config
                self.batch = Batch()
                self.seq_lens = torch.zeros(3)
                self.positions = self._make_buffer(3)
                self.state = None
            def _make_buffer(self, size) -> Buffer:
                return Buffer(size)
            def initialize(self, config):
                self.config = config
            def prepare(self, tokens):
                return 1, 2
        """,
    "vllm_ascend/__init__.py": "",
    "vllm_ascend/runner.py": """\
        from vllm.runner import GPUModelRunner, State

        class NPUModelRunner(GPUModelRunner):
            def __init__(self, config):
                super().__init__(config)
                self.sp = True
            def start(self):
                self.initialize(1, pool=None)
            def initialize(self, config, pool=None):
                super().initialize(config)
            def prepare(self, tokens):
                return 1, 2, 3
            def forward(self, padded, tokens):
                return tokens
        """,
    "vllm_omni/__init__.py": "",
    "vllm_omni/gpu.py": """\
        from vllm.runner import GPUModelRunner

        class OmniGPUModelRunner(GPUModelRunner):
            def hook(self):
                return None
        """,
}


@dataclass(frozen=True)
class TextTree:
    """A tree held in a dictionary."""

    source: Source
    files: Mapping[str, str]

    def read(self, path: str) -> str | None:
        return self.files.get(path)

    def paths(self, prefix: str = "") -> Iterable[str]:
        return sorted(path for path in self.files if path.startswith(prefix))


def world(*, without: Iterable[Project] = (), **changed: str) -> World:
    """The sample trees with files replaced or added; a name in `PLACES` stands for its path."""
    files = TREES | {PLACES.get(name, name): text for name, text in changed.items()}
    texts = {path: textwrap.dedent(text) for path, text in files.items()}
    roots: dict[Project, str] = {"vllm-omni": "vllm_omni/", "vllm-ascend": "vllm_ascend/", "vllm": "vllm/"}
    return World(
        {
            project: TextTree(Source(project, "path", project), {p: t for p, t in texts.items() if p.startswith(root)})
            for project, root in roots.items()
            if project not in without
        },
        surroundings=PROFILE.surroundings,
    )


GPU = "from vllm.runner import GPUModelRunner\nclass OmniGPUModelRunner(GPUModelRunner):\n"
"""The head of the shared GPU runner."""

PLACES = {
    "npu": NPU,
    "gpu": "vllm_omni/gpu.py",
    "ascend": "vllm_ascend/runner.py",
    "ascend_patch": "vllm_ascend/patch/patch_runner.py",
    "ascend_worker": "vllm_ascend/worker.py",
    "vllm": "vllm/runner.py",
}


def npu(body: str, *, bases: str = "OmniGPUModelRunner, NPUModelRunner", head: str = "") -> str:
    """The text of an NPU runner with ``body`` in its class."""
    return HEAD + textwrap.dedent(head) + f"\nclass R({bases}):\n" + textwrap.indent(textwrap.dedent(body), "    ")


def ascend(body: str) -> str:
    """vllm-ascend's runner with ``body``."""
    inside = body.replace("\n", "\n    ")
    return f"from vllm.runner import GPUModelRunner\nclass NPUModelRunner(GPUModelRunner):\n    {inside}\n"


def find(new: World, old: World | None = None, paths: Iterable[str] = (NPU,)) -> list[Finding]:
    """`breakage.find` over the sample's NPU module."""
    return breakage.find(new, old, list(paths))


def symbols(findings: Iterable[Finding]) -> list[tuple[str, str]]:
    """Codes and symbols, which is what the tables compare."""
    return [(finding.code, finding.symbol) for finding in findings]
