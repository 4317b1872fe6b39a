"""Finds older GPU code that a port depends on and that NPU never got.

Comes in: a ``ModuleJob``, its GPU side and the upgraded text. Goes out: names. May touch: nothing.

A port brings only what a twin changed since the revision that the unit was last aligned with. Code that the twin had by
then and NPU lacks is owed: ``check`` reports it (RS2xx) and an upgrade leaves it alone. The exception is an upgrade
that brings another part of the same feature, because a cache that is read and never filled is worse than none::

    twin, old and new   execute_model    self._keep(rows)            NPU does without
    twin, new           sample_tokens    return self.kept.rows()     ported, and reads what nothing keeps

Two places belong to one feature if they share an attribute of ``self`` or a method that is called for its effect. A
method that returns a value does not count, because two readers of one flag need not belong together.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Mapping

from runner_sync.lineage.inlined import find_helpers_in_place
from runner_sync.statements import tree_of
from runner_sync.syntax import walk
from runner_sync.texts.member_text import self_mentions, self_names
from runner_sync.upgrade.from_gpu.twin import mixins
from runner_sync.upgrade.from_gpu.twin.gpu_side import GpuSide
from runner_sync.upgrade.job import ModuleJob, Owed

_WORD = re.compile(r"[A-Za-z_]\w*")


def find_owed(job: ModuleJob, side: GpuSide, text: str) -> Owed:
    """Return the names on ``self`` whose uses in the old twin must be ported as well.

    These are attributes, and methods called for their effect, that the upgraded ``text`` uses and no NPU code mentioned
    before, and GPU-only members that use those attributes. Returns none if NPU lacks none of their uses, and none with
    ``--only``; what such a run ported counts as new in the next run of all units.
    """
    if job.settings.only or job.twin.new is None:
        return Owed()
    known = _collect_npu_words(job)
    units = job.units
    methods: dict[str, str | None] = {}
    for inherited in job.hierarchy.inherited.values():
        methods |= inherited.members
    methods |= {name.rpartition(".")[2]: body for name, body in side.new.items() if "." in name}
    new = {name for name in self_names(text) & self_names(side.module_text) if name not in known}
    older = units.keys() - job.twin.alone
    lacking = {name.rpartition(".")[2]: side.new[name] for name in side.new.keys() - older if "." in name}
    inline = {name for unit in older for name in find_helpers_in_place(units[unit], lacking)}
    helpers = {name: body for name, body in lacking.items() if name not in known and name not in inline}
    kept = new - methods.keys()
    while more := {name for name, body in helpers.items() if name not in kept and self_names(body) & kept}:
        kept |= more
    found = Owed(frozenset(kept), frozenset(name for name in new & methods.keys() if _returns_nothing(methods[name])))
    if not found.names:
        return found
    lacks_some = any(name in older and mixins.remove_uses(old, found.names) != old for name, old in side.old.items())
    return found if lacks_some or _has_hooks(found.kept, job, side, units) else Owed()


def explain(text: str, job: ModuleJob) -> str:
    """Return the end of a reason: the owed names because of which a passage or member counts as new."""
    names = sorted(job.twin.owed.names & self_mentions(text))[:NAMED]
    return f"; it works with {' and '.join(names)}, which NPU uses since this upgrade" if names else ""


NAMED = 2
"""Most names that a reason gives."""


def _returns_nothing(text: str | None) -> bool:
    """Whether an omni method never returns or yields a value, so is called for its effect; false without a text."""
    nodes = walk(tree_of(text or ""))[1:]
    return bool(nodes) and not any(isinstance(n, ast.Return | ast.Yield) and n.value is not None for n in nodes)


def _has_hooks(names: frozenset[str], job: ModuleJob, side: GpuSide, units: Mapping[str, str]) -> bool:
    """Whether a twin's override that NPU has lacked so far uses one of the names."""
    for name in side.known_before - units.keys():
        owner, _, member = name.rpartition(".")
        if member in job.hierarchy.of(owner).members and self_names(side.new.get(name, "")) & names:
            return True
    return False


def _collect_npu_words(job: ModuleJob) -> frozenset[str]:
    """Return all words of the NPU module and of vllm-ascend's and vLLM's inherited members, none of which is new.

    Leaves out words that only ports of single units brought.
    """
    words = Counter(_WORD.findall(job.text))
    for name in job.twin.alone & job.units.keys():
        words.subtract(_WORD.findall(job.units[name]))
    known = {word for word, count in words.items() if count > 0}
    if job.upstream.new is not None:
        known.update(_WORD.findall(job.upstream.new.text))
    for inherited in job.hierarchy.inherited.values():
        known |= inherited.vllm.keys()
        known.update(word for body in inherited.vllm.values() for word in _WORD.findall(body))
    return frozenset(known)
