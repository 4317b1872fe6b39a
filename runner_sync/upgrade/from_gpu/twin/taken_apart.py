"""Finds members of the GPU twin that hold what a method lost since NPU's unit of that method was last aligned.

Comes in: drafts, a ``ModuleJob``, and the twin's units. Goes out: names. May touch: nothing.

NPU may have lacked such a member for long, because its own method still had the statements in place. The port of the
method takes them away, so the member belongs to it, as if it were new::

    twin, base of NPU's unit   def run(self): out = f(); p = pool(out); return Out(p)
    twin, later and new        def run(self): self.state = f()
                               def take(self): p = pool(self.state); return Out(p)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from runner_sync.lineage.likeness import FEWEST, list_nodes
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.from_gpu.twin.readings import translate_units
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.revision import GpuBase


def find_taken_apart(
    job: ModuleJob,
    drafts: Sequence[Draft],
    bases: Mapping[str, GpuBase],
    new: Mapping[str, str],
    among: Iterable[str],
) -> dict[str, frozenset[str]]:
    """Return those of ``among`` that the base of a unit of the same class lacks, with statements of it that they have.

    These are ``FEWEST`` telling statements or more that NPU's unit still has and the twin's unit has no longer. A
    statement that some base had in both does not count.
    """
    lacking = set(among) & new.keys() - {draft.name for draft in drafts}
    tables = [translate_units(job, base.side) for base in job.twin.bases] if lacking else []
    found: dict[str, frozenset[str]] = {}
    for draft in drafts:
        candidates = {name for name in lacking if draft.owner and name.rpartition(".")[0] == draft.owner}
        if not candidates or draft.name not in bases or draft.name not in new:
            continue
        base = translate_units(job, bases[draft.name].side)
        lost = (_tell(base[draft.name]) & _tell(draft.before)) - _tell(new[draft.name])
        for name in candidates - base.keys():
            shared = (
                _tell(table[name]) & _tell(table[draft.name]) for table in tables if {name, draft.name} <= {*table}
            )
            moved = (lost & _tell(new[name])).difference(*shared)
            if len(moved) >= FEWEST:
                found[name] = found.get(name, frozenset()) | moved
    return found


def find_left_whole(taken_apart: Mapping[str, frozenset[str]], drafts: Iterable[Draft]) -> frozenset[str]:
    """Return the members of whose statements the port took none out of the drafts after all."""
    kept = frozenset[str]().union(*(_tell(draft.text) for draft in drafts)) if taken_apart else frozenset()
    return frozenset(name for name, moved in taken_apart.items() if moved <= kept)


def _tell(text: str) -> frozenset[str]:
    return frozenset(node.canon for node in list_nodes(text) if node.is_telling)
