"""Finds fields of the GPU twin's records that a port leaves out.

Comes in: a draft of a record, the twin's text, and methods that use it. Goes out: canonical statements. May touch:
nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from runner_sync.fitting import records
from runner_sync.statements import flatten
from runner_sync.upgrade.draft import Draft


def find_present(draft: Draft, old: str, new: str) -> frozenset[str]:
    """Return the twin's field statements for fields that this record has with another type or default.

    They stay out, because the record has these fields from vllm-ascend; one that it has as the ``old`` twin had it was
    ported.
    """
    have = records.read_fields(draft.text, draft.name)
    nodes = [node for node in flatten(new) if node.canon.partition(":")[0] in have]
    npu_canons = {node.canon for node in flatten(draft.text)}
    ported = {node.canon.partition(":")[0] for node in flatten(old) if node.canon in npu_canons}
    return frozenset(n.canon for n in nodes if n.canon not in npu_canons and n.canon.partition(":")[0] not in ported)


def find_idle(draft: Draft, new: str, methods: Sequence[str]) -> frozenset[str]:
    """Return fields that only the twin's record has and no method passes or reads, though methods create such
    records."""
    have = records.read_fields(draft.text, draft.name)
    added = [field for field in records.read_fields(new, draft.name) if field not in have]
    if not have or not any(records.is_constructing(text, draft.name) for text in methods):
        return frozenset()
    used = {field for text in methods for field in records.find_used_fields(text, draft.name, have, added)}
    return frozenset(node.canon for node in flatten(new) if node.canon.partition(":")[0] in set(added) - used)
