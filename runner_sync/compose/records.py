"""Records that have changed: N names unpacked from N + 1 fields, or N values for N + 1 fields, fail on their first run.

Comes in: method texts and the fields of records such as ``ExecuteModelState``, before and now. Goes out: the text with
the new fields in their places. May touch: nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from runner_sync.compose.mended import Mended
from runner_sync.edits import Edit, Places, apply, margin
from runner_sync.statements import parse_unit, parses
from runner_sync.syntax import is_name, names_set, walk

FEWEST = 4
"""Names in common below which a tuple is no unpacking of the record."""

Fields = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Record:
    """A record's fields before an upgrade and now, in order; ``optional`` are those that have a default now."""

    before: Fields
    now: Fields
    optional: frozenset[str] = frozenset()

    @property
    def has_only_grown(self) -> bool:
        return () != self.before != self.now and [f for f in self.now if f in self.before] == list(self.before)


def fields(text: str, name: str) -> Fields:
    """The fields of a record class in order; empty when the text does not define it."""
    return tuple(field for field, _ in _declared(text, name))


def record(before: str, now: str, name: str) -> Record:
    """A record of two module or class texts."""
    declared = _declared(now, name)
    optional = frozenset(field for field, has_default in declared if has_default)
    return Record(fields(before, name), tuple(field for field, _ in declared), optional)


def _declared(text: str, name: str) -> list[tuple[str, bool]]:
    """``(field, whether it has a default)``."""
    for node in _parsed(text).body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            rows = [s for s in node.body if isinstance(s, ast.AnnAssign)]
            return [(s.target.id, s.value is not None) for s in rows if isinstance(s.target, ast.Name)]
    return []


def makes(text: str, name: str) -> bool:
    """Whether a method makes such a record."""
    return any(_is_made(node, name) for node in walk(_parsed(text)))


def used(text: str, name: str, have: Fields, new: Collection[str]) -> set[str]:
    """Those of the ``new`` fields of a record which has ``have`` that a method may give or read."""
    found: set[str] = set()
    for node in walk(_parsed(text)):
        if isinstance(node, ast.Call) and _is_made(node, name):
            given = [ast.unparse(arg) for arg in node.args] + [keyword.arg or "**" for keyword in node.keywords]
            if len(node.args) > len(have) or any(arg.startswith("*") for arg in given):
                return set(new)
            found.update(given)
        elif isinstance(node, ast.Attribute) and not is_name(node.value, "self"):
            found.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
    found.update(ast.unparse(element) for target in _unpackings(text) for element in target.elts)
    names = {word.rpartition(".")[2].lstrip("_") for word in found}
    return {field for field in new if field.lstrip("_") in names}


def _is_made(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def fit(text: str, records: Mapping[str, Record]) -> Mended | None:
    """The method with its first unpacking or construction that does not fit mended; ``None`` when there is none."""
    for change in (_without_gone, _fit_unpacking, _put_right, _fit_construction):
        mended = change(text, records)
        if mended is not None and parses(mended.text):  # not behind a backslash
            return mended
    return None


def _without_gone(text: str, records: Mapping[str, Record]) -> Mended | None:
    """Unpackings and constructions that are complete but for fields that the record has no more."""
    for name, one in records.items():
        gone = set(one.before) - set(one.now)
        for around, elements in [*_lists(text, name)] if gone else ():
            words = [ast.unparse(element) for element in elements]
            words = [word.lstrip("_") if word.lstrip("_") in gone else word for word in words]
            left = [word for word in words if word not in gone]
            if len(left) < len(words) and len(left) == len(one.now) and _agree(left, one.now):
                lost = [element for element, word in zip(elements, words, strict=True) if word in gone]
                made = _removed(text, lost)
                reason = f"{name} has no {', '.join(word for word in words if word in gone)} any more: taken out here"
                return _changed(text, made, around, reason)
    return None


def _put_right(text: str, records: Mapping[str, Record]) -> Mended | None:
    """An unpacking of fields of the record alone, in the order that they had, of which some are gone, or that have
    another order now."""
    known = [one.now for one in records.values()]
    for name, one in records.items():
        for at, around in enumerate(_unpackings(text)) if one.before != one.now else ():
            words = [ast.unparse(element) for element in around.elts]
            said = [word if word in (*one.before, *one.now) else word.lstrip("_") for word in words]
            if tuple(said) in known or not _are_fields(said, one) or _is_made_here(text, around):
                continue
            right = [field for field in one.now if field in said]
            made = _in_order(text, at, dict(zip(words, said, strict=True)), right)
            whole = _fit_unpacking(made, {name: one})
            made = whole.text if whole is not None else made
            if not parses(made):
                continue
            return _changed(text, made, around, f"{name} has other fields now: unpacked in their order here")
    return None


def _are_fields(said: Sequence[str], one: Record) -> bool:
    """Whether words are most fields of a record, each once, or some that are gone; old ones in the order they had."""
    left = [word for word in said if word in one.now]
    old = [word for word in said if word in one.before]
    return (
        len({*said}) == len(said)
        and {*said} <= {*one.before, *one.now}
        and len(left) >= max(FEWEST, len(one.now) / 2)
        and old == [field for field in one.before if field in old]
    )


def _is_made_here(text: str, around: ast.expr) -> bool:
    """Whether a method unpacks what it has packed itself, in an order of its own."""
    values = {id(node.targets[0]): node.value for node in walk(_parsed(text)) if isinstance(node, ast.Assign)}
    source = values.get(id(around))
    packed = [
        node for node in walk(_parsed(text)) if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple)
    ]
    return source is not None and any(
        ast.unparse(target) == ast.unparse(source) for node in packed for target in node.targets
    )


def _in_order(text: str, at: int, named: Mapping[str, str], right: Sequence[str]) -> str:
    """The text with those names of its ``at``-th unpacking that stand for fields in the ``right`` order, and no others.

    Names on lines of their own take along what stands behind them.
    """
    words = {field: word for word, field in named.items()}
    elements = [element for element in [*_unpackings(text)][at].elts if named[ast.unparse(element)] in right]
    lines, rows = text.split("\n"), [element.lineno - 1 for element in elements]
    own = [
        re.fullmatch(rf"(\s*{ast.unparse(e)})(?:\s*,)?(\s*#.*|\s*)", lines[row])
        for e, row in zip(elements, rows, strict=True)
    ]
    if all(own) and len({*rows}) == len(rows):
        of = {named[ast.unparse(e)]: f"{m[1]},{m[2].rstrip()}" for e, m in zip(elements, own, strict=True) if m}
        for row, field in zip(rows, right, strict=True):
            lines[row] = of[field]
        text = "\n".join(lines)
    else:
        places = Places(text)
        text = apply(text, [places.instead_of(e, words[field]) for e, field in zip(elements, right, strict=True)])
    return _removed(text, [e for e in [*_unpackings(text)][at].elts if named[ast.unparse(e)] not in right])


def _agree(names: Sequence[str], wanted: Fields) -> bool:
    """Whether as many names as fields are, where most of them stand, those of the fields."""
    same = sum(field in (name, name.lstrip("_")) for name, field in zip(names, wanted, strict=False))
    return len(names) == len(wanted) and same >= max(FEWEST, len(wanted) / 2)


def _lists(text: str, name: str) -> Iterator[tuple[ast.expr, list[ast.expr]]]:
    yield from ((target, target.elts) for target in _unpackings(text))
    for node in walk(_parsed(text)):
        if isinstance(node, ast.Call) and _is_made(node, name) and not node.keywords:
            yield node, node.args


def _removed(text: str, elements: Sequence[ast.expr]) -> str:
    """The text without list elements that are plain names: their lines, or the words with a comma."""
    for element in reversed(elements):  # one by one, for two may have a comma between them
        text = apply(text, [_removal(Places(text), element)])
    return text


def _removal(places: Places, element: ast.expr) -> Edit:
    start, end = places.start(element), places.end(element)
    first, last = places.line(element.lineno)
    before, after = places.text[first:start], places.text[end:last]
    if not before.strip() and re.fullmatch(r",?\s*(#.*)?", after):
        return Edit(first, last + 1, "")
    if comma := re.match(r"\s*,\s*", after):
        return Edit(start, end + comma.end(), "")
    return Edit(first + len(before.rstrip().removesuffix(",")), end, "")


def _fit_unpacking(text: str, records: Mapping[str, Record]) -> Mended | None:
    """An unpacking takes its names from an attribute of ``self``.

    It is one of a record when it has as many names as the record had fields and they agree where most of them stand, or
    when all its names are fields of it, in their order. An underscore in front of a name counts for nothing.
    """
    for target in _unpackings(text):
        names = [element.id for element in target.elts if isinstance(element, ast.Name)]
        if len(names) != len(target.elts):
            continue
        for name, one in records.items():
            known = _by_place(names, one) or _by_name(names, one.now)
            added = tuple(field for field in one.now if field not in known) if known else ()
            if added:
                elements = {field: target.elts[at] for field, at in known.items()}
                new = {field: field for field in added}
                reason = f"{name} has {', '.join(added)} now: unpacked here, used nowhere yet"
                return _fitted(text, one.now, elements, new, target, reason)
    return None


def _by_place(names: Sequence[str], one: Record) -> dict[str, int]:
    """``{field: index}`` of an unpacking of the record as it was."""
    if not one.has_only_grown or not _agree(names, one.before):
        return {}
    return {field: at for at, field in enumerate(one.before)}


def _by_name(names: Sequence[str], wanted: Fields) -> dict[str, int]:
    plain = [name if name in wanted else name.lstrip("_") for name in names]
    places = [wanted.index(name) for name in plain if name in wanted]
    if len(places) < max(len(plain), FEWEST) or places != sorted(set(places)) or 2 * len(places) < len(wanted):
        return {}
    return {wanted[place]: at for at, place in enumerate(places)}


def _fit_construction(text: str, records: Mapping[str, Record]) -> Mended | None:
    """``Record(a, b, …)`` with a value for each field that the record had, or with names of fields in their order.

    The other fields get a value that goes by their name, or ``None``.
    """
    tree = _parsed(text)
    bound = names_set(tree)
    for node in walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.keywords:
            continue
        one = records.get(node.func.id)
        if one is None or any(isinstance(arg, ast.Starred) for arg in node.args):
            continue
        elements = _given(node.args, one)
        if not elements:
            continue
        last = max(one.now.index(field) for field in elements)
        new = [f for k, f in enumerate(one.now) if f not in elements and (k < last or f not in one.optional)]
        if new:
            values = {field: field if field in bound else "None" for field in new}
            given = ", ".join(f"{field}={value}" for field, value in values.items())
            reason = f"{node.func.id} has {', '.join(new)} now: given as {given} here"
            return _fitted(text, one.now, elements, values, node, reason)
    return None


def _given(values: Sequence[ast.expr], one: Record) -> dict[str, ast.expr]:
    """What a construction gives to which field; empty where that cannot be told."""
    if one.has_only_grown and len(values) == len(one.before):
        return dict(zip(one.before, values, strict=True))
    names = [value.id for value in values if isinstance(value, ast.Name)]
    known = _by_name(names, one.now) if len(names) == len(values) else {}
    return {field: values[at] for field, at in known.items()}


def _unpackings(text: str) -> Iterator[ast.Tuple]:
    for node in walk(_parsed(text)):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Tuple):
            value = node.value
            if isinstance(value, ast.Attribute) and is_name(value.value, "self"):
                yield node.targets[0]


def _fitted(
    text: str,
    wanted: Fields,
    elements: Mapping[str, ast.expr],
    new: Mapping[str, str],
    around: ast.expr,
    reason: str,
) -> Mended:
    """The change that puts ``new`` fields into ``around``, an unpacking or a construction with ``elements``."""
    return _changed(text, _completed(text, wanted, elements, new), around, reason)


def _changed(text: str, made: str, around: ast.expr, reason: str) -> Mended:
    """The change of ``text`` into ``made``, which differ in the lines of ``around``."""
    first, last = around.lineno, around.end_lineno or around.lineno
    grown = made.count("\n") - text.count("\n")
    was, statement = (
        "\n".join(side.split("\n")[first - 1 : end]) for side, end in ((text, last), (made, last + grown))
    )
    return Mended(made, first, statement, reason, was=was)


def _completed(text: str, wanted: Fields, elements: Mapping[str, ast.expr], new: Mapping[str, str]) -> str:
    """The text with each new element in front of the one that follows it, or behind the last one."""
    places = Places(text)
    pending: list[str] = []
    edits: list[Edit] = []
    for field in wanted:
        if field in new:
            pending.append(new[field])
        elif field in elements and pending:
            edits.append(places.ahead_of(elements[field], *pending))
            pending = []
    if pending:
        last = [field for field in wanted if field in elements][-1]
        edits += _put_behind(places, elements[last], pending)
    return apply(text, edits)


def _put_behind(places: Places, element: ast.expr, values: Sequence[str]) -> list[Edit]:
    first, last = places.line(element.end_lineno or element.lineno)
    start, end = places.start(element), places.end(element)
    ahead, rest = places.text[first:start], places.text[end:last]
    if first <= start and not ahead.strip():
        comma = [] if rest.lstrip().startswith(",") else [Edit(end, end, ",")]
        return [*comma, Edit(last, last, "".join(f"\n{ahead}{value}," for value in values))]
    if remark := re.fullmatch(r"\s*,?\s*(#.*)", rest):
        # What the remark is about keeps it.
        indent = " " * (len(margin(places.text[first:last])) + 4)
        return [Edit(end, last, f",  {remark[1]}" + "".join(f"\n{indent}{value}," for value in values))]
    return [Edit(end, end, "".join(f", {value}" for value in values))]


def _parsed(text: str) -> ast.Module:
    try:
        return parse_unit(text)
    except SyntaxError:
        return ast.Module([], [])
