"""Give a parameter that one side renamed the same name on all sides.

Comes in: base, omni and upstream texts. Goes out: the texts, and the names. May touch: nothing.

    base      def run(self, rows, size=1):          upstream  def run(self, batch, size=1):
                  self.start(rows)                                self.start(batch)

What omni does with ``rows`` it has to do with ``batch``. Callers may pass a parameter by its name, so upstream's new
name is followed. A name of omni's own stays, because omni chose it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from runner_sync.merge.preparing.renames import can_rename, rename, rename_in, rename_locals_alike
from runner_sync.model import Triple
from runner_sync.signatures import defaults_of, named_parameters
from runner_sync.statements import canons, parse_function
from runner_sync.statements.hints import normalise_hint
from runner_sync.syntax import Function
from runner_sync.thresholds import SEEN_RENAMED

Declared = tuple[str, tuple[object, ...]]
"""The name of a parameter, and its kind, hint and default."""


def with_omni_parameters(triple: Triple) -> Triple:
    """Rename parameters of base and upstream to omni's names for them, which upstream may have, too."""
    found = _select((triple.base,), _find_renamed(triple.base, triple.omni))
    of_upstream = _select((triple.upstream,), found)
    there = _list_names(parse_function(triple.upstream))
    names = {old: new for old, new in found.items() if old in of_upstream or new in there}
    return Triple(rename(triple.base, names), triple.omni, rename(triple.upstream, of_upstream)) if names else triple


def find_new_parameters(triple: Triple) -> dict[str, str]:
    """Return ``{name: upstream name}`` of the parameters that upstream renamed and that omni can rename, too."""
    return _select((triple.base, triple.omni), _find_renamed(triple.base, triple.upstream))


def follow_parameters(text: str, before: str, now: str) -> str:
    """Return a method with the new names of the parameters that were renamed from ``before`` to ``now``."""
    names = _select((text,), _find_renamed(before, now))
    return rename(text, names) if names else text


def rename_alike(text: str, others: Sequence[str]) -> list[str]:
    """Rename the parameters and locals of ``others``, revisions of one text, to those of ``text``; skips what does not
    parse."""
    return rename_locals_alike(text, [follow_parameters(other, other, text) for other in others])


def _select(texts: Sequence[str], names: Mapping[str, str]) -> dict[str, str]:
    """Return those of the ``names`` that are parameters of all texts and can be renamed in each."""
    return {
        old: new
        for old, new in names.items()
        if all(old in _list_names(parse_function(text)) for text in texts) and can_rename(texts, old, new)
    }


def _list_names(function: Function | None) -> list[str]:
    return [parameter.arg for parameter in named_parameters(function)] if function is not None else []


def _find_renamed(before: str, now: str) -> dict[str, str]:
    """Return ``{old name: new name}`` of the parameters of a function that it calls otherwise now.

    Such a parameter stands at the same place with the same hint and default, and at least ``SEEN_RENAMED`` of the
    statements with the old name, or the only one, have the new name instead.
    """
    left, right = parse_function(before), parse_function(now)
    if left is None or right is None or (old := _list_names(left)) == (new := _list_names(right)):
        return {}
    pairs = {a: b for a, b in _pair(left, right) if a not in new and b not in old}
    names = {a: b for a, b in pairs.items() if can_rename((before,), a, b) and can_rename((now,), b, a)}
    there = {*canons(now)} if names else set()
    lines = [canon for canon in canons(before) if not canon.startswith(f"def {left.name}(")] if names else []
    seen = {a: [canon for canon in lines if rename_in(canon, {a: ""}) != canon] for a in names}
    held = {a: sum(rename_in(canon, names) in there for canon in seen[a]) for a in names}
    return {a: b for a, b in names.items() if seen[a] and held[a] >= min(SEEN_RENAMED, len(seen[a]))}


def _pair(left: Function, right: Function) -> Iterator[tuple[str, str]]:
    """Yield the pairs of differently named parameters at one place that are declared alike."""
    rows = [_declare(side) for side in (left, right)]
    matcher = SequenceMatcher(None, _list_names(left), _list_names(right), autojunk=False)
    for tag, first, end, start, stop in matcher.get_opcodes():
        old, new = rows[0][first:end], rows[1][start:stop]
        if tag == "replace" and len(old) == len(new):
            yield from ((a, b) for (a, kind), (b, other) in zip(old, new, strict=True) if kind == other)
        elif tag == "replace":
            yield from _pair_only_ones(old, new)


def _pair_only_ones(old: Sequence[Declared], new: Sequence[Declared]) -> Iterator[tuple[str, str]]:
    """Yield the pairs of parameters whose kind, hint and default no other one of either row has."""
    for name, kind in old:
        same = [[one for one, other in row if other == kind] for row in (old, new)]
        if [len(one) for one in same] == [1, 1]:
            yield name, same[1][0]


def _declare(function: Function) -> list[Declared]:
    """Return each parameter with its kind, hint and default."""
    defaults, by_keyword = defaults_of(function), {id(one) for one in function.args.kwonlyargs}
    return [
        (one.arg, (id(one) in by_keyword, _show(normalise_hint(one.annotation)), _show(defaults[one.arg])))
        for one in named_parameters(function)
    ]


def _show(node: ast.expr | None) -> str:
    return ast.unparse(node) if node is not None else ""
