"""Repairs uses of records whose fields have changed: unpackings and constructions of the old size would fail.

Comes in: method texts and the fields of records such as ``ExecuteModelState``, before and now. Goes out: the text with
the present fields in their places. May touch: nothing.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial

from runner_sync.fitting.record import Record, is_complete, is_field_selection, name_by_place, read_as_fields
from runner_sync.fitting.record_lists import (
    Fields,
    find_field_lists,
    find_unpackings,
    insert_elements,
    is_construction,
    is_match,
    remove_elements,
    reorder_elements,
)
from runner_sync.fitting.record_locals import choose_locals, find_names_in_twin, is_unread
from runner_sync.fitting.repair import Repair, make_repair
from runner_sync.signatures import Field, fields_of
from runner_sync.statements import parses, tree_of
from runner_sync.syntax import assigned_names, is_name, string_of, walk
from runner_sync.thresholds import FEWEST_FIELDS


def read_fields(text: str, name: str) -> Fields:
    """Return the fields of a record class in order; empty if the text does not define it."""
    return tuple(_find_declared(text, name))


def read_record(before: str, now: str, name: str, *, twin: str = "") -> Record:
    """Return a record, from the module or class text before and now, and that of the GPU twin."""
    declared = _find_declared(now, name)
    optional = frozenset(field.name for field in declared.values() if field.has_default)
    return Record(read_fields(before, name), tuple(declared), optional, read_fields(twin, name))


def _find_declared(text: str, name: str) -> dict[str, Field]:
    nodes = (node for node in tree_of(text).body if isinstance(node, ast.ClassDef) and node.name == name)
    return next((fields_of(node) for node in nodes), {})


def is_constructing(text: str, name: str) -> bool:
    """Whether a method constructs such a record."""
    return any(is_construction(node, name) for node in walk(tree_of(text)))


def find_used_fields(text: str, name: str, have: Fields, new: Collection[str]) -> set[str]:
    """Return the ``new`` fields of record ``name`` that a method may set or read; ``have`` are its other fields."""
    found: set[str] = set()
    for node in walk(tree_of(text)):
        if is_construction(node, name):
            given = [ast.unparse(arg) for arg in node.args] + [keyword.arg or "**" for keyword in node.keywords]
            if len(node.args) > len(have) or any(arg.startswith("*") for arg in given):
                return set(new)
            found.update(given)
        elif isinstance(node, ast.Attribute) and not is_name(node.value, "self"):
            found.add(node.attr)
        elif (word := string_of(node)) is not None:
            found.add(word)
    found.update(ast.unparse(element) for target in find_unpackings(text) for element in target.elts)
    names = {word.rpartition(".")[2].lstrip("_") for word in found}
    return {field for field in new if field.lstrip("_") in names}


def fit_next_use(text: str, records: Mapping[str, Record], *, before: str = "", twin: str = "") -> Repair | None:
    """Return the method with its first unfit unpacking or construction mended; ``None`` if all fit.

    ``before`` is its text before the upgrade, ``twin`` that of its GPU twin.
    """
    for repair in (
        partial(_drop_unknown_fields, before=before),
        _drop_removed_fields,
        partial(_fit_unpacking, twin=twin),
        partial(_reorder_unpacking, twin=twin),
        _fit_construction,
        _reorder_construction,
    ):
        mended = repair(text, records)
        if mended is not None and parses(mended.text):  # after a backslash it may not parse
            return mended
    return None


def _drop_unknown_fields(text: str, records: Mapping[str, Record], *, before: str) -> Repair | None:
    """Return the method without elements that a merge added to an already complete unpacking or construction.

    Upstream's or the twin's record may have a field that this record lacks. A name that the method reads stays.
    """
    for name, one in records.items():
        whole = [[ast.unparse(e) for e in elements] for _, elements in find_field_lists(before, name)]
        whole = [words for words in whole if len(words) == len(one.now)]
        for around, elements in find_field_lists(text, name) if whole else ():
            is_call = isinstance(around, ast.Call)
            for words in whole if len(elements) > len(one.now) else ():
                lost = _find_added(elements, words) if is_call or is_match(words, one.now) else []
                if lost and (is_call or not _is_any_read(lost, text)):
                    how = "so it is made" if is_call else "so it is unpacked"
                    reason = f"{name} has no field for {', '.join(map(ast.unparse, lost))} here, {how} as before"
                    return make_repair(text, remove_elements(text, elements, lost), around, reason)
    return None


def _find_added(elements: Sequence[ast.expr], words: Sequence[str]) -> list[ast.expr]:
    """Return the elements added to ``words``, some of which may be renamed; none if it is unclear."""
    texts = [ast.unparse(element) for element in elements]
    lost = list[ast.expr]()
    for kind, start, end, first, last in difflib.SequenceMatcher(None, words, texts, autojunk=False).get_opcodes():
        if kind == "insert":
            lost += elements[first:last]
        elif end - start != last - first:
            return []
    return lost


def _is_any_read(names: Sequence[ast.expr], text: str) -> bool:
    words = {ast.unparse(name) for name in names}
    nodes = walk(tree_of(text))
    return any(isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in words for node in nodes)


def _drop_removed_fields(text: str, records: Mapping[str, Record]) -> Repair | None:
    """Return the method without a record's lost fields, in an unpacking or construction that is otherwise complete."""
    for name, one in records.items():
        gone = set(one.before) - set(one.now)
        for around, elements in [*find_field_lists(text, name)] if gone else ():
            words = [ast.unparse(element) for element in elements]
            words = [word.lstrip("_") if word.lstrip("_") in gone else word for word in words]
            words = name_by_place(words, one, gone) if isinstance(around, ast.Call) else words
            left = [word for word in words if word not in gone]
            wanted = one.now[: len(left)] if {*one.now[len(left) :]} <= one.optional else one.now
            if len(left) < len(words) and is_match(left, wanted):
                lost = [element for element, word in zip(elements, words, strict=True) if word in gone]
                made = remove_elements(text, elements, lost)
                reason = f"{name} no longer has {', '.join(word for word in words if word in gone)}: removed here"
                return make_repair(text, made, around, reason)
    return None


def _reorder_unpacking(text: str, records: Mapping[str, Record], *, twin: str) -> Repair | None:
    """Return the method with an unpacking of fields put from the old order into the new, if fields went or moved."""
    known = [one.now for one in records.values()]
    for name, one in records.items():
        for at, around in enumerate(find_unpackings(text)) if one.before != one.now else ():
            words = [ast.unparse(element) for element in around.elts]
            plain = read_as_fields(words, one)
            if tuple(plain) in known or not is_field_selection(plain, one) or _is_packed_here(text, around):
                continue
            right = [field for field in one.now if field in plain]
            made = _order_unpacking(text, at, dict(zip(words, plain, strict=True)), right)
            whole = _fit_unpacking(made, {name: one}, twin=twin)
            made = whole.text if whole is not None else made
            if not parses(made):
                continue
            return make_repair(
                text, made, around, f"{name} has other fields now, and this unpacking follows their order"
            )
    return None


def _is_packed_here(text: str, around: ast.expr) -> bool:
    """Whether the method unpacks a tuple that it packed itself, possibly in an order of its own."""
    values = {id(node.targets[0]): node.value for node in walk(tree_of(text)) if isinstance(node, ast.Assign)}
    source = values.get(id(around))
    packed = [
        node for node in walk(tree_of(text)) if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple)
    ]
    return source is not None and any(
        ast.unparse(target) == ast.unparse(source) for node in packed for target in node.targets
    )


def _order_unpacking(text: str, at: int, named: Mapping[str, str], right: Sequence[str]) -> str:
    """Return the text with the fields of its ``at``-th unpacking in the order ``right``, without all other names."""
    words = {field: word for word, field in named.items()}
    elements = [element for element in [*find_unpackings(text)][at].elts if named[ast.unparse(element)] in right]
    text = reorder_elements(text, elements, [words[field] for field in right])
    elements = [*find_unpackings(text)][at].elts
    return remove_elements(
        text, elements, [element for element in elements if named[ast.unparse(element)] not in right]
    )


def _reorder_construction(text: str, records: Mapping[str, Record]) -> Repair | None:
    """Return the method with a construction's values in the new order of the fields, if most are named like fields.

    If both sides added a field at the end, the class may order them differently from the call. Values not named like a
    field belong to the remaining fields, in order.
    """
    for node in walk(tree_of(text)):
        one = records.get(node.func.id) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else None
        if one is None or one.before == one.now or not isinstance(node, ast.Call) or node.keywords:
            continue
        words = [ast.unparse(value) for value in node.args]
        right = _order_values(words, one)
        if right and right != words:
            made = reorder_elements(text, node.args, right)
            reason = f"{ast.unparse(node.func)} has other fields now, and this call follows their order"
            return make_repair(text, made, node, reason)
    return None


def _order_values(words: Sequence[str], one: Record) -> list[str]:
    """Return the values of a construction in the new order of the fields; empty if that cannot be told."""
    plain = [word if word in one.now else word.lstrip("_") for word in words]
    named = {field: word for field, word in zip(plain, words, strict=True) if field in one.now}
    others = [word for field, word in zip(plain, words, strict=True) if field not in one.now]
    left = [field for field in one.now if field not in named]
    if len(words) != len(one.now) or len(named) + len(others) != len(words) or not is_field_selection([*named], one):
        return []
    if left != [field for field in one.before if field in left]:
        return []
    values = named | dict(zip(left, others, strict=True))
    return [values[field] for field in one.now]


def _fit_unpacking(text: str, records: Mapping[str, Record], *, twin: str) -> Repair | None:
    """Return the method with the new fields added to an unpacking of an attribute of ``self``, under the twin's names.

    It unpacks the record if it has as many names as the old record and most match by position, or if all its names are
    fields in order. Leading underscores do not matter. The change is settled if the twin does not read the fields.
    """
    for target in find_unpackings(text):
        names = [element.id for element in target.elts if isinstance(element, ast.Name)]
        if len(names) != len(target.elts):
            continue
        for name, one in records.items():
            known = _match_by_position(names, one) or _match_by_name(names, one.now)
            added = tuple(field for field in one.now if field not in known) if known else ()
            if added:
                elements = {field: target.elts[at] for field, at in known.items()}
                twins = find_names_in_twin(twin, one.twin)
                new = choose_locals(added, text, one.now, twins)
                named = "" if (*new.values(),) == added else f" as {', '.join(new.values())}"
                reason = f"{name} now has {', '.join(added)}, unpacked here{named} and not used yet"
                made = _add_fields(text, one.now, elements, new, target, reason)
                return replace(made, is_settled=is_unread(added, twins, twin))
    return None


def _match_by_position(names: Sequence[str], one: Record) -> dict[str, int]:
    """Return ``{field: index}`` if the names unpack the record as it was; else empty."""
    if not one.has_only_grown or not is_match(names, one.before):
        return {}
    return {field: at for at, field in enumerate(one.before)}


def _match_by_name(names: Sequence[str], wanted: Fields) -> dict[str, int]:
    """Return ``{field: index}`` if all names are fields in order, and at least half of all fields; else empty."""
    plain = [name if name in wanted else name.lstrip("_") for name in names]
    places = [wanted.index(name) for name in plain if name in wanted]
    if len(places) < max(len(plain), FEWEST_FIELDS) or places != sorted(set(places)) or 2 * len(places) < len(wanted):
        return {}
    return {wanted[place]: at for at, place in enumerate(places)}


def _fit_construction(text: str, records: Mapping[str, Record]) -> Repair | None:
    """Return the method with new fields added to a ``Record(a, b, …)`` that lists the old fields, or fields by name.

    A new field gets the local of its name if there is one, else ``None``.
    """
    tree = tree_of(text)
    bound = assigned_names(tree)
    for node in walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.keywords:
            continue
        one = records.get(node.func.id)
        if one is None or any(isinstance(arg, ast.Starred) for arg in node.args):
            continue
        elements = _match_values(node.args, one)
        if not elements:
            continue
        last = max(one.now.index(field) for field in elements)
        new = [f for k, f in enumerate(one.now) if f not in elements and (k < last or f not in one.optional)]
        if new:
            values = {field: field if field in bound else "None" for field in new}
            given = ", ".join(f"{field}={value}" for field, value in values.items())
            reason = f"{node.func.id} now has {', '.join(new)}, passed here as {given}"
            return _add_fields(text, one.now, elements, values, node, reason)
    return None


def _match_values(values: Sequence[ast.expr], one: Record) -> dict[str, ast.expr]:
    """Return ``{field: value}`` of a construction; empty if it is unclear which value is which."""
    if one.has_only_grown and is_complete(values, one.before, one.optional) and _is_as_before(values, one):
        return dict(zip(one.before, values, strict=False))
    names = [value.id for value in values if isinstance(value, ast.Name)]
    known = _match_by_name(names, one.now) if len(names) == len(values) else {}
    return {field: values[at] for field, at in known.items()}


def _is_as_before(values: Sequence[ast.expr], one: Record) -> bool:
    """Whether a construction is written for the old fields; if it is complete now too, the values' names decide."""
    if not is_complete(values, one.now, one.optional):
        return True
    words = [ast.unparse(value) for value in values]
    old, new = (sum(map(str.__eq__, words, order)) for order in (one.before, one.now))
    return old > new or (old == new and len(values) == len(one.before))


def _add_fields(
    text: str,
    wanted: Fields,
    elements: Mapping[str, ast.expr],
    new: Mapping[str, str],
    around: ast.expr,
    reason: str,
) -> Repair:
    """Return the change that puts ``new`` fields into ``around``, a list with these ``elements``."""
    return make_repair(text, insert_elements(text, wanted, elements, new), around, reason)
