"""Read the values of a call from a record, in base and omni, if upstream no longer unpacks them.

Comes in: base, omni and upstream texts. Goes out: what stands for the names, and the same texts with it. May touch:
nothing.

    base      lists, ids = self.sync(rows)         upstream   book = self.sync(rows)
              send(ids, lists)                                send(book.req_ids, book.lists)

Omni's own lines then read ``book.req_ids`` for ``ids``, which nothing would set any more.
"""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence

from runner_sync.edits import Places, apply
from runner_sync.merge.matching.align import align
from runner_sync.merge.preparing.renames import can_rename, find_mentions
from runner_sync.model import Triple
from runner_sync.statements import Node, flatten_sides, parse_unit
from runner_sync.statements.dataflow import binds
from runner_sync.syntax import walk


def find_records(triple: Triple) -> dict[str, str]:
    """Return ``{local: attribute of a record}`` for the values that base and omni unpack and upstream does not.

    Upstream binds the result of the same call to one new local. All values must be known that omni reads: upstream has
    the attribute wherever the base has the local, or the attribute has the name of the local.
    """
    base, omni, upstream = flatten_sides(triple)
    bound = {name for node in upstream for name in binds(node)}
    found: dict[str, str] = {}
    for node in base:
        made = _find_record(node, base, omni, upstream)
        if made is None or bound & {*node.facts.targets}:
            continue
        values = _find_values(made, base, upstream, node.facts.targets)
        if _can_replace(triple, values, node.facts.targets):
            found |= values
    return found


def with_records(triple: Triple, values: Mapping[str, str]) -> Triple:
    """Return the triple with ``values`` (see `find_records`) in base and omni, and the records in place of the unpacked
    names."""
    if not values:
        return triple
    return Triple(_replace(triple.base, values), _replace(triple.omni, values), triple.upstream)


def _find_record(node: Node, base: Sequence[Node], omni: Sequence[Node], upstream: Sequence[Node]) -> str | None:
    """Return the local that upstream binds to the result of the call that a statement unpacks; all sides must make this
    call once, and omni unpack it as the base does, without a comment of its own."""
    called, targets = node.facts.called, node.facts.targets
    if len(targets) < 2 or not called or binds(node) != {*targets}:
        return None
    calls = [[one for one in side if one.facts.called == called] for side in (base, omni, upstream)]
    if any(len(one) != 1 for one in calls) or calls[1][0].facts.targets != targets:
        return None
    if "#" in calls[1][0].text and "#" not in node.text:
        return None
    new = calls[2][0]
    is_new = binds(new) == {*new.facts.targets} and not any(binds(new) & one.names for one in (*base, *omni))
    return new.facts.targets[0] if len(new.facts.targets) == 1 and is_new else None


def _find_values(
    record: str, base: Sequence[Node], upstream: Sequence[Node], targets: Collection[str]
) -> dict[str, str]:
    """Return ``{local: attribute of the record}`` of the locals that upstream reads as one attribute everywhere.

    timid: none for a local if upstream reads the attribute of its name elsewhere, or another local has its attribute.
    """
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for pair in align(base, upstream):
        before, after = (_WORD.findall(node.canon) for node in (base[pair.left], upstream[pair.right]))
        after = _join_attributes(after, record)
        for x, y in zip(before, after, strict=False) if len(before) == len(after) else ():
            if x in targets and x != y:
                votes[x][y] += 1
    read = {name for node in upstream for name in re.findall(rf"(?<![\w.]){record}\.(\w+)\b(?!\()", node.canon)}
    for name in read & {*targets}:
        votes[name][f"{record}.{name}"] += 1
    values = {name: next(iter(found)) for name, found in votes.items() if len(found) == 1}
    times = Counter(values.values())
    return {name: value for name, value in values.items() if value.startswith(f"{record}.") and times[value] == 1}


_WORD = re.compile(r"[A-Za-z_]\w*|'[^']*'|\"[^\"]*\"|\S")


def _join_attributes(words: Sequence[str], record: str) -> list[str]:
    """Return the words with each attribute of the record as one word."""
    joined: list[str] = []
    for word in words:
        if len(joined) > 1 and joined[-1] == "." and joined[-2] == record:
            joined[-2:] = [f"{record}.{word}"]
        else:
            joined.append(word)
    return joined


def _can_replace(triple: Triple, values: Mapping[str, str], targets: Collection[str]) -> bool:
    """Whether base and omni set the ``targets`` once, and only read them otherwise, those without a value nowhere."""
    for text in (triple.base, triple.omni):
        mentioned = [one for one in find_mentions(text) if one.name in targets]
        stored = Counter(one.name for one in mentioned if isinstance(getattr(one.node, "ctx", None), ast.Store))
        is_read = {one.name for one in mentioned if isinstance(getattr(one.node, "ctx", None), ast.Load)}
        others = len(mentioned) - sum(
            isinstance(getattr(one.node, "ctx", None), ast.Store | ast.Load) for one in mentioned
        )
        if others or any(stored[name] != 1 for name in targets) or not is_read <= values.keys():
            return False
        if not all(can_rename((text,), name) for name in targets):
            return False
    return bool(values)


def _replace(text: str, values: Mapping[str, str]) -> str:
    """Return a text with the values of a record in place of locals, and the record where they are unpacked."""
    places = Places(text)
    edits = [
        places.instead_of(one.node, values[one.name])
        for one in find_mentions(text)
        if one.name in values and isinstance(one.node, ast.Name) and isinstance(one.node.ctx, ast.Load)
    ]
    for node in walk(parse_unit(text)):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
            names = {one.id for one in node.targets[0].elts if isinstance(one, ast.Name)} & values.keys()
            if names:
                edits.append(places.instead_of(node.targets[0], values[names.pop()].partition(".")[0]))
    return apply(text, edits)
