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
from runner_sync.upgrade.job import GpuBase, ModuleJob


def find_taken_apart(
    job: ModuleJob,
    drafts: Sequence[Draft],
    bases: Mapping[str, GpuBase],
    new: Mapping[str, str],
    among: Iterable[str],
) -> frozenset[str]:
    """Return those of ``among`` that the base of a unit of the same class lacks and that now have statements of it.

    These are ``FEWEST`` telling statements or more that NPU's unit still has and the twin's unit has no longer.
    """
    lacking = set(among) & new.keys() - {draft.name for draft in drafts}
    found = set[str]()
    for draft in drafts:
        candidates = {name for name in lacking if draft.owner and name.rpartition(".")[0] == draft.owner}
        if not candidates or draft.name not in bases or draft.name not in new:
            continue
        base = translate_units(job, bases[draft.name].side)
        lost = (_tell(base[draft.name]) & _tell(draft.before)) - _tell(new[draft.name])
        found |= {name for name in candidates - base.keys() if len(lost & _tell(new[name])) >= FEWEST}
    return frozenset(found)


def _tell(text: str) -> frozenset[str]:
    return frozenset(node.canon for node in list_nodes(text) if node.is_telling)
