"""RS102 upstream-gone: the method that a copy follows is gone from vllm-ascend, renamed, or moved to another class.

What: a copied unit whose upstream unit is in the base and not in the target. The message names the class that now has
the name, or the new unit of the target that is most similar.

Example: `_all_gather_hidden_states_and_aux` is in vllm-ascend 0.26.0rc1 and not in 0.28.0rc1.

Why: the copy still parses, but it overrides nothing and is never called; or only omni's own call of it is left.

Fix: follow the new name (`runner-sync upgrade --only UNIT`), or delete the copy when nothing calls it.

Leaves alone: units without a known base, units that are omni's own.
"""

from __future__ import annotations

from collections.abc import Iterator

from runner_sync.lineage import similarity
from runner_sync.model import Severity
from runner_sync.verify.hits import Hit
from runner_sync.verify.runners.drift import Follower, find_followers, is_copy
from runner_sync.verify.runners.job import Subject
from runner_sync.verify.runners.locked import find_definition

CODE = "RS102"
NAME = "upstream-gone"
SEVERITY: Severity = "warning"

ALIKE = 0.5
"""From this Dice coefficient of statements on, a new method is named as the likely successor: half, a judgement."""


def find(subject: Subject) -> Iterator[Hit]:
    """Yield one finding per copy."""
    if subject.upstream is None:
        return
    for follower in find_followers(subject):
        if follower.upstream is None and follower.base is not None and is_copy(subject, follower):
            name, nested = follower.unit.qualname, find_definition(subject.upstream, follower.name)
            problem = (
                f"no longer has `{follower.name}`, which this is a copy of{_describe_successor(subject, follower)}"
            )
            if nested is not None:
                problem = f"has `{follower.name}`, which this is a copy of, only inside another statement now (line "
                problem += f"{nested.lineno}), where it is not compared"
            yield subject.unit_hit(
                (CODE, SEVERITY),
                follower.unit,
                symbol=follower.name,
                message=f"{subject.target} {problem}.",
                fix=f"runner-sync upgrade --only {name}" if nested is None else "Compare the two by hand.",
            )


def _describe_successor(subject: Subject, follower: Follower) -> str:
    base = subject.base(follower.ref)
    if subject.upstream is None or base is None or follower.base is None:
        return ""
    now, before = subject.upstream.units, base.units
    member = follower.name.rpartition(".")[2]
    moved = [name for name in now if name.rpartition(".")[2] == member]
    if moved:
        return f"; `{moved[0]}` is there"
    scored = [(similarity(follower.base, unit.text), name) for name, unit in now.items() if name not in before]
    score, name = max(scored, default=(0.0, ""))
    return f"; the new `{name}` is most like it" if score >= ALIKE else ""
