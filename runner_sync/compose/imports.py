"""Gives a module the imports it needs after a merge: adds, moves and removes imports.

Comes in: the module text before and after its units were merged, and the modules the merged code came from. Goes out:
the text with its imports settled. May touch: nothing.

A name is imported as in the module that the code using it came from. An import that upstream takes from another module
now is changed likewise. An import that nothing uses is removed only if something used it before. A name that a provider
imports in a ``try``, with a fallback, is imported from that provider itself. A name that it imports under a condition
is not imported at all (`guarded` copies the condition), nor one that each module makes for itself (`own_globals`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from runner_sync.compose.bindings import bindings, imports_for_types, names_bound, only_annotates, read_in_run
from runner_sync.compose.import_entries import import_statements, imports
from runner_sync.compose.import_places import by_type, head_imports, position, top
from runner_sync.compose.names import defined_names, undefined_names, used_names
from runner_sync.compose.own_globals import with_own
from runner_sync.edits import Edit, Places, apply
from runner_sync.naming import Import, absolute, imported_by
from runner_sync.statements import parses
from runner_sync.syntax import Try, indentation, module_of, walk

WIDTH = 120


@dataclass(frozen=True, slots=True)
class Provider:
    """A module whose code was merged in: its text and its dotted name, to import its own definitions from."""

    text: str
    name: str


@dataclass(frozen=True, slots=True)
class Settled:
    """The text, the added imports (as statements), and the names that no provider can give."""

    text: str
    added: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


@lru_cache(maxsize=256)
def _optional(text: str) -> frozenset[str]:
    """Names that a module imports but may bind to something else.

    That is in a ``try`` with a fallback, or for type checkers only. For example ``nans_to_dict`` of vllm-ascend
    0.28.0rc1 is ``None`` on a vLLM that does not have it, and the code there tests for that.
    """
    found: set[str] = set()
    for statement in module_of(text).body:
        if isinstance(statement, Try):
            imported = {entry.bound for inner in import_statements(statement.body) for entry in imported_by(inner)}
            found |= imported & {name for handler in statement.handlers for name in names_bound(handler)}
    return frozenset(found) | bindings(text).told_otherwise


def settle(
    before: str,
    after: str,
    providers: Sequence[Provider],
    *,
    moves: Mapping[tuple[str, str], str] | None = None,
    first_party: str = "",
    lacks: Callable[[str, str], bool] = lambda _module, _name: False,
) -> Settled:
    """Settles the imports of ``after``, whose units were changed since ``before``.

    ``moves`` maps ``(module, name)`` to the module that has the name now. ``first_party`` is the top-level package
    whose imports go last. A name is not imported from a module that ``lacks`` it, for instance one that a provider
    imports under a version check: that import would fail.
    """
    text = _moved(after, moves or {}, first_party)
    late = _read_from_now_on(before, text)
    text = _with_own_globals(text, undefined_names(text) - undefined_names(before), providers)
    missing = undefined_names(text) - undefined_names(before) | late
    added, unknown = _imports_of(missing, providers, lacks)
    for name in late.difference(unknown):
        text = _not_only_for_types(text, name)
    of_types = {name for provider in providers for name in bindings(provider.text).for_types}
    for entry in sorted(added):
        for_types = entry.bound in of_types and only_annotates(text, entry.bound) and bool(imports_for_types(text))
        text = add(text, entry, first_party=first_party, for_types=for_types)
    # Twice, because the imports under `if TYPE_CHECKING:` go first, and then that of the name itself.
    text = _without_unused(before, _without_unused(before, text))
    return Settled(text, tuple(e.statement() for e in sorted(added)), tuple(sorted(unknown)))


def _read_from_now_on(before: str, text: str) -> frozenset[str]:
    """Names that ``text`` imports for type checkers only, and that are newly read at run time."""
    typed = bindings(text).for_types
    late = typed & used_names(text) and typed & read_in_run(text)
    return late - read_in_run(before) if late else frozenset()


def _not_only_for_types(text: str, name: str) -> str:
    """``text`` without the import of a name under ``TYPE_CHECKING``, and without that ``if`` when it would be empty."""
    for statement in imports_for_types(text):
        entry = next((entry for entry in imported_by(statement) if entry.bound == name), None)
        if entry is None:
            continue
        guard = next(one for one in module_of(text).body if isinstance(one, ast.If) and statement in one.body)
        lines, first, last = text.split("\n"), guard.lineno - 1, guard.end_lineno
        has_more = len(guard.body) > 1 or len(statement.names) > 1 or bool(guard.orelse)
        if has_more or "#" in "\n".join(lines[first:last]):
            return remove(text, entry)
        return "\n".join([*lines[:first], *lines[last:]])
    return text


def _moved(text: str, moves: Mapping[tuple[str, str], str], first_party: str) -> str:
    """``text`` with every import that ``moves`` lists made from its new module."""
    for entry in dict.fromkeys(entry for one in import_statements(module_of(text).body) for entry in imported_by(one)):
        new = replace(entry, module=moves.get((entry.module, entry.name)) or entry.module)
        if new == entry:
            continue
        body = module_of(text).body
        statement = next((one for one in import_statements(body) if entry in imported_by(one)), None)
        is_there = any(new in imported_by(one) for one in import_statements(body))
        stays = statement not in body or (not is_there and _goes_as_a_whole(text, statement, new, moves))
        if not stays:
            remark = _remark(text, statement, entry)
            text = add(remove(text, entry), new, first_party=first_party, remark=remark)
        elif statement is not None and not is_there:
            text = _moved_in_place(text, statement, entry, new, moves)
    return text


def _goes_as_a_whole(
    text: str, statement: ast.Import | ast.ImportFrom | None, new: Import, moves: Mapping[tuple[str, str], str]
) -> bool:
    """Whether all names of a statement move to one module, and it has comments of its own that should go along."""
    if statement is None or any(moves.get((one.module, one.name)) != new.module for one in imported_by(statement)):
        return False
    lines, above = text.split("\n"), statement.lineno - 1
    while above and lines[above - 1].startswith("#"):
        above -= 1
    # A comment at the top of the file is the licence and not about the import.
    has_own_above = 0 < above < statement.lineno - 1
    return has_own_above or any("#" in line for line in lines[statement.lineno - 1 : statement.end_lineno])


def _moved_in_place(
    text: str,
    statement: ast.Import | ast.ImportFrom,
    entry: Import,
    new: Import,
    moves: Mapping[tuple[str, str], str],
) -> str:
    """``text`` with one import changed to its new module where it stands, for example under a condition."""
    places, entries = Places(text), [*imported_by(statement)]
    if isinstance(statement, ast.Import):
        named = new.statement().removeprefix("import ")
        return apply(text, [places.instead_of(statement.names[entries.index(entry)], named)])
    start = places.start(statement)
    if all(moves.get((one.module, one.name)) == new.module for one in entries):
        module = _FROM.match(text, start)
        assert module is not None
        return apply(text, [Edit(start, module.end(), f"from {new.module}")])
    line = places.line(statement.lineno)[0]
    has_lines = _has_its_lines(places, statement)
    glue = f"{_remark(text, statement, entry)}\n{text[line:start]}" if has_lines else "; "
    return apply(remove(text, entry), [Edit(start, start, f"{new.statement()}{glue}")])


_FROM = re.compile(r"from\s*[.\w]+")
_REMARK = re.compile(r"[ \t]*#[^\r\n]*")


def _remark(text: str, statement: ast.Import | ast.ImportFrom | None, entry: Import) -> str:
    """The comment, with the blanks in front of it, that leaves a statement along with one of its names; empty if none
    does, as a comment on several names stays with the others."""
    if statement is None or len(statement.names) == 1:
        return ""
    places, alias = Places(text), statement.names[[*imported_by(statement)].index(entry)]
    gone = places.element_out(alias, statement.names)
    found = _REMARK.search(text, places.end(alias), gone.end)
    return found[0] if found is not None else ""


def _imports_of(
    missing: Iterable[str], providers: Sequence[Provider], lacks: Callable[[str, str], bool]
) -> tuple[list[Import], list[str]]:
    """The imports of the ``missing`` names, each as in the first provider that has it, and the names that none has."""
    found = {name: _first_import(name, providers, lacks) for name in sorted(missing)}
    return [entry for entry in found.values() if entry is not None], [name for name in found if found[name] is None]


def _first_import(name: str, providers: Sequence[Provider], lacks: Callable[[str, str], bool]) -> Import | None:
    """The import of ``name`` as in the first provider that has it.

    ``None`` if that provider imports it under a condition: its code may rely on the condition (timid).
    """
    for provider in providers:
        if name in bindings(provider.text).conditional:
            return None
        entry = _find(name, provider)
        if entry is not None and not lacks(entry.module, entry.name):
            return entry
    return None


def _with_own_globals(text: str, missing: Iterable[str], providers: Sequence[Provider]) -> str:
    """``text`` with those of the ``missing`` names that the first provider which has them makes for itself."""
    for name in sorted(missing):
        source = next((provider.text for provider in providers if name in defined_names(provider.text)), "")
        text = with_own(text, name, source)
    return text


def _find(name: str, provider: Provider) -> Import | None:
    """The import that gives ``name`` as ``provider`` has it; ``None`` if it neither imports nor defines it."""
    known = imports(provider.text)
    if name in known and not (name in _optional(provider.text) and provider.name):
        entry = known[name]
        return replace(entry, module=absolute(entry.module, provider.name))
    if name in known or name in defined_names(provider.text):
        return Import(provider.name, name, name)
    return None


def _without_unused(before: str, text: str) -> str:
    for entry in _unused(before, text):
        is_typed = any(entry in imported_by(statement) for statement in imports_for_types(text))
        text = _not_only_for_types(text, entry.bound) if is_typed else remove(text, entry)
    return text


def _unused(before: str, text: str) -> list[Import]:
    """Imports that something used before and nothing uses now; without re-exports and those with ``noqa``."""
    if "__all__" in defined_names(text):
        return []
    once, now = used_names(before), used_names(text)
    lines = text.split("\n")
    gone = []
    for statement in [*module_of(text).body, *imports_for_types(text)]:
        if not isinstance(statement, ast.Import | ast.ImportFrom):
            continue
        span = "\n".join(lines[statement.lineno - 1 : statement.end_lineno])
        if "noqa" not in span:
            entries = zip(statement.names, imported_by(statement), strict=True)
            # `name as name` marks a re-export.
            mine = [entry for alias, entry in entries if alias.asname is None or alias.asname != alias.name]
            gone += [e for e in mine if e.bound in once and e.bound not in now]
    return gone


def remove(text: str, entry: Import) -> str:
    """``text`` without one imported name; the statement is removed with its last name."""
    lines = text.split("\n")
    for statement in import_statements(module_of(text).body):
        entries = list(imported_by(statement))
        if entry not in entries:
            continue
        rest = [e for e in entries if e != entry]
        places = Places(text)
        if rest and any("#" in line for line in lines[statement.lineno - 1 : statement.end_lineno]):
            made = apply(text, [places.element_out(statement.names[entries.index(entry)], statement.names)])
            if parses(made):
                return made
        if not _has_its_lines(places, statement):
            return apply(text, [places.instead_of(statement, _in_one_line(statement, rest))])
        indent = lines[statement.lineno - 1][: statement.col_offset]
        new = _render(statement, rest, indent) if rest else _placeholder(text, statement, indent)
        first, behind = statement.lineno - 1, statement.end_lineno or statement.lineno
        if not new and first and lines[first - 1 : first] == lines[behind : behind + 1] == [""]:
            # It stood between two blank lines: only one of them stays.
            behind += 1
        lines[first:behind] = new
        return "\n".join(lines)
    return text


def _has_its_lines(places: Places, statement: ast.stmt) -> bool:
    """Whether a statement has its lines to itself, apart from a comment at the end."""
    start, end = places.line(statement.lineno)[0], places.line(statement.end_lineno or statement.lineno)[1]
    behind = places.text[places.end(statement) : end].strip()
    return not places.text[start : places.start(statement)].strip() and behind[:1] in ("", "#")


def _in_one_line(statement: ast.Import | ast.ImportFrom, entries: Sequence[Import]) -> str:
    glue = "; " if isinstance(statement, ast.Import) else " "
    return glue.join(row.strip() for row in _render(statement, entries, "")) if entries else "pass"


def _placeholder(text: str, statement: ast.stmt, indent: str) -> list[str]:
    """``pass`` if the statement was the only one of its suite; else nothing."""
    for node in walk(module_of(text)):
        for suite in (getattr(node, "body", None), getattr(node, "orelse", None)):
            if isinstance(suite, list) and len(suite) == 1 and suite[0].lineno == statement.lineno and indent:
                return [f"{indent}pass"]
    return []


def add(text: str, entry: Import, *, first_party: str = "", for_types: bool = False, remark: str = "") -> str:
    """``text`` with one more imported name: in the statement that imports from its module, else in a new one.

    With ``for_types`` it goes among the imports under ``TYPE_CHECKING``. A name with a ``remark``, which is a comment
    that goes behind it, gets a statement of its own.
    """
    body = module_of(text).body
    lines = text.split("\n")
    if any(entry in imported_by(s) for s in body if isinstance(s, ast.Import | ast.ImportFrom)):
        return text
    tops = imports_for_types(text) if for_types else head_imports(text, {entry.bound})
    indent = indentation(lines[tops[0].lineno - 1]) if tops else ""
    for statement in tops:
        entries = list(imported_by(statement))
        is_home = entry.name and entries[0].module == entry.module and _takes_more(statement, lines)
        if is_home and not remark and _has_its_lines(Places(text), statement):
            lines[statement.lineno - 1 : statement.end_lineno] = _render(statement, [*entries, entry], indent)
            return "\n".join(lines)
    at, above, below = position(tops, entry.module, bool(entry.name), first_party) if tops else top(body, lines)
    lines[at:at] = [*[""] * above, indent + entry.statement() + remark, *[""] * below]
    return "\n".join(lines)


def _takes_more(statement: ast.stmt, lines: Sequence[str]) -> bool:
    """Whether a name can be added to an import by writing it anew: not if it has a comment or imports ``*``."""
    span = lines[statement.lineno - 1 : statement.end_lineno]
    plain = isinstance(statement, ast.ImportFrom) and statement.names[0].name != "*"
    return plain and not any("#" in line for line in span)


def _render(statement: ast.Import | ast.ImportFrom, entries: Sequence[Import], indent: str) -> list[str]:
    if isinstance(statement, ast.Import):
        return [f"{indent}{entry.statement()}" for entry in entries]
    items = [entry.item for entry in sorted(set(entries), key=lambda e: (by_type(e.name), e.bound))]
    line = f"{indent}from {entries[0].module} import {', '.join(items)}"
    if len(line) <= WIDTH and (statement.end_lineno == statement.lineno or len(items) <= 2):
        return [line]
    return [f"{indent}from {entries[0].module} import (", *(f"{indent}    {item}," for item in items), f"{indent})"]
