"""A method of which upstream takes a passage out into a new one, and the upgrade of omni's copy."""

from __future__ import annotations

from textwrap import indent

from step_samples import MODULE
from sync_samples import AR, ASCEND

from runner_sync.digests import digest
from runner_sync.model import BaseRef
from runner_sync.profile import NPU
from runner_sync.upgrade.job import ModuleJob, Upstream
from runner_sync.upgrade.module import upgrade_module
from runner_sync.upgrade.revision import ModuleRevision

BASE = """\
def run(self, rows):
    self.begin(rows)
    total = self.count(rows)
    with self.lock:
        mask = self.make(total)
        self.cache(mask)
    self.log(total, mask)
    return self.end(rows)
"""
TAKEN = """\
    total = self.count(rows)
    with self.lock:
        mask = self.make(total)
        self.cache(mask)
"""
CALLING = BASE.replace(TAKEN, "    total, mask = self._masked(rows)\n")
HELPER = f"\ndef _masked(self, rows):\n{TAKEN}    return total, mask\n"
FIX = "        mask = self.t.fix(mask)\n"
INSIDE = BASE.replace("        self.cache", f"{FIX}        self.cache")

METHOD = "NPUModelRunner.run"


def upgraded(omni: str, old: str, new: str, *, is_locked: bool = False) -> tuple[str, list[tuple[str, str, str]]]:
    """The upgraded module, and what is asked: the reason, omni's text and the chosen one.

    With ``is_locked``, the lock has the old upstream method as the base.
    """
    then, now = (
        ModuleRevision(str(k), f"class NPUModelRunner:\n{indent(text, '    ')}", ASCEND)
        for k, text in enumerate((old, new), 1)
    )
    entry = BaseRef("vllm-ascend", "1", ASCEND, METHOD, "lock", 1.0, digest(then.units[METHOD]))
    locked = {"NPUARModelRunner.run": entry} if is_locked else {}
    text = f"class NPUARModelRunner:\n{indent(omni, '    ')}"
    result = upgrade_module(ModuleJob(NPU, MODULE, AR, text, Upstream(new=now, bases=(then,), locked=locked)))
    return result.after, [(item.reason, item.omni, item.chosen) for item in result.reviews]
