"""Rename locals of base and omni to the new names that upstream has for them.

Comes in: base, omni and upstream texts, and canonical statements of older revisions. Goes out: the new names, and the
same texts and statements with these. May touch: nothing.

    base      mode, batch = self.plan(rows)        upstream   graph_mode, plan = self.plan(rows)
              self.run(batch, mode=mode)                      self.run(plan, mode=graph_mode)

What omni does with ``batch`` it has to do with ``plan``. So a renaming is followed only where it is one, and no other
value: see `_find_wrong`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from runner_sync.merge.matching.align import align
from runner_sync.merge.phrases.phrase import is_part_of
from runner_sync.merge.preparing.renames import can_rename, find_renamed_locals, find_unshared_locals, rename, rename_in
from runner_sync.model import Triple
from runner_sync.statements import Node, flatten
from runner_sync.statements.dataflow import binds, reads


def find_new_names(triple: Triple) -> dict[str, str]:
    """Return ``{name: upstream name}`` of the locals that upstream renamed and that base and omni can rename, too."""
    found = _find_renamed(triple.base, triple.upstream)
    return {old: new for old, new in found.items() if can_rename((triple.base, triple.omni), old, new)}


def with_new_names(triple: Triple, names: Mapping[str, str]) -> Triple:
    """Rename locals of base and omni."""
    return Triple(rename(triple.base, names), rename(triple.omni, names), triple.upstream) if names else triple


def _find_renamed(base: str, upstream: str) -> dict[str, str]:
    """Return ``{base name: upstream name}`` of the locals that upstream renamed, and that are the same value.

    Statements with several new names are hard to pair, so what is found is renamed before looking for more.
    """
    found: dict[str, str] = {}
    while new := find_renamed_locals(rename(base, found), upstream):
        found |= new
    counts = Counter(found.values())
    found = {old: new for old, new in found.items() if counts[new] == 1}
    while wrong := _find_wrong(base, upstream, found):
        found = {old: new for old, new in found.items() if old not in wrong}
    return found


def _find_wrong(base: str, upstream: str, found: Mapping[str, str]) -> set[str]:
    """Return the names in ``found`` whose values upstream makes in another way, so that they may be others.

    What omni does with ``kv_cache`` it would not do with ``k_cache``, the first of two (vllm-ascend 0.11.0rc0). So each
    statement that binds the local must be equal but for names and added arguments. Upstream may have removed some, if
    it bound nothing to the new name instead.
    """
    if not found:
        return set()
    gone, come = find_unshared_locals(base, upstream)
    left, right = flatten(rename(base, found)), flatten(upstream)
    pairs = {pair.left: pair.right for pair in align(left, right)}
    wrong = set()
    for old, new in found.items():
        before, now = _find_binding(left, new), _find_binding(right, new)
        kept = {pairs[at] for at in before if at in pairs}
        is_made_alike = all(_is_equal(left[at], right[pairs[at]], gone, come) for at in before if at in pairs)
        is_replaced = len(kept) < len(before) and not kept.issuperset(now)
        if not kept or not is_made_alike or is_replaced:
            wrong.add(old)
    return wrong


def _find_binding(nodes: Sequence[Node], name: str) -> list[int]:
    return [at for at, node in enumerate(nodes) if name in binds(node)]


def _is_equal(node: Node, other: Node, gone: Collection[str], come: Collection[str]) -> bool:
    """Whether two statements are equal, apart from added arguments and new names for further values that they bind."""
    targets, new_targets = node.facts.targets, other.facts.targets
    if len(targets) != len(new_targets):
        return is_part_of(node.canon, other.canon)
    further = {
        name: new
        for name, new in zip(targets, new_targets, strict=True)
        if name in gone and new in come and name not in reads(node)
    }
    return is_part_of(rename_in(node.canon, further), other.canon)
