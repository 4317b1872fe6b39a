"""Finds calls in a port that run untranslated CUDA code of another omni module.

Comes in: a ported text, the text before the port, and a ``ModuleJob``. Goes out: the end of a reason. May touch:
nothing.

For example ``schedule_async_write`` of vllm-omni's prefix cache (0.28.0) returns at once where ``torch.cuda`` is not
available. It replaced a call that works on NPU, and caching stopped without an error.
"""

from __future__ import annotations

from runner_sync.statements.calls import names_called
from runner_sync.upgrade.job import ModuleJob


def explain(text: str, before: str, job: ModuleJob) -> str:
    """Return the end of a reason: definitions with CUDA code that ``text`` calls and ``before`` did not."""
    known = names_called(before)
    called = (name for name in names_called(text) if name not in known)
    found = dict.fromkeys(definition for name in called if (definition := job.target.device_code(name)))
    return "".join(f"; {definition}: does it do its work on this platform?" for definition in found)
