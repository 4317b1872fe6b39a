"""Run the rules about a single text on an upgrade's result, to find what ``check`` would report in the pull request.

Comes in: the results of the modules. Goes out: findings. May touch: nothing.

A merge asks about doubtful changes. These rules look at the result alone: a value that is computed and then set again,
repeated statements, unreachable code, a method that no longer returns its value at the end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from runner_sync.model import Finding
from runner_sync.profile import Profile
from runner_sync.upgrade import ModuleResult
from runner_sync.verify import check as engine
from runner_sync.verify.check import CheckJob
from runner_sync.verify.codes import Codes
from runner_sync.verify.runners.job import CheckModule

RULES = Codes(select=("RS401", "RS405", "RS408", "RS411", "RS412"))


def find_new_faults(results: Sequence[ModuleResult], profile: Profile) -> list[Finding]:
    """Return the findings in the modules that exceed the number before, per rule, unit and symbol."""
    before, after = (
        CheckJob(profile, tuple(CheckModule(path, text) for path, text in texts if text))
        for texts in ([(one.path, one.before) for one in results], [(one.path, one.after) for one in results])
    )
    known = Counter(finding.identity for finding in engine.run(before, RULES).findings)
    fresh = []
    for finding in engine.run(replace(after, before=lambda: before), RULES).findings:
        if known[finding.identity]:
            known[finding.identity] -= 1
        else:
            fresh.append(finding)
    return fresh
