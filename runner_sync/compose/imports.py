"""Gives a module the imports that it needs after a merge: adds, moves and removes imports.

Comes in: the module text before and after its units were merged, and the modules that the merged code came from. Goes
out: the text with its imports settled. May touch: nothing.

A name is imported as in the module that the code using it came from. If upstream now takes an import from another
module, this import changes likewise. An unused import is removed only if something used it before. A name that a
provider imports in a ``try`` with a fallback is imported from that provider itself. Not imported are names that a
provider imports under a condition (`guarded` copies the condition) and names that each module makes for itself
(`own_globals`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from runner_sync.compose.import_places import find_head_imports, find_position, find_top_position, isort_name_key
from runner_sync.compose.layout import LINE_LENGTH
from runner_sync.compose.own_globals import copy_own_global
from runner_sync.edits import Edit, Places, apply
from runner_sync.naming import Import, absolute, imported_by
from runner_sync.statements import parses
from runner_sync.syntax import Try, indentation, module_of, walk
from runner_sync.texts.bindings import (
    imports_for_types,
    is_only_annotation,
    names_bound,
    names_read_at_run_time,
    read_bindings,
)
from runner_sync.texts.import_entries import import_statements, read_imports
from runner_sync.texts.names import defined_names, undefined_names, used_names


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
def _find_optional(text: str) -> frozenset[str]:
    """Return names that a module imports but may bind to something else.

    It does so in a ``try`` with a fallback, or for type checkers only. For example ``nans_to_dict`` of vllm-ascend
    0.28.0rc1 is ``None`` on a vLLM that lacks it, and the code there tests for that.
    """
    found: set[str] = set()
    for statement in module_of(text).body:
        if isinstance(statement, Try):
            imported = {entry.bound for inner in import_statements(statement.body) for entry in imported_by(inner)}
            found |= imported & {name for handler in statement.handlers for name in names_bound(handler)}
    return frozenset(found) | read_bindings(text).told_otherwise


def settle_imports(
    before: str,
    after: str,
    providers: Sequence[Provider],
    *,
    moves: Mapping[tuple[str, str], str] | None = None,
    first_party: str = "",
    lacks: Callable[[str, str], bool] = lambda _module, _name: False,
) -> Settled:
    """Settle the imports of ``after``, whose units were changed since ``before``.

    ``moves`` maps ``(module, name)`` to the module that has the name now. ``first_party`` is the top-level package
    whose imports go last. A name is not imported from a module that ``lacks`` it (it may come from there under a
    version check).
    """
    text = _move_imports(after, moves or {}, first_party)
    late = _find_newly_read(before, text)
    text = _copy_own_globals(text, undefined_names(text) - undefined_names(before), providers)
    missing = undefined_names(text) - undefined_names(before) | late
    added, unknown = _find_imports(missing, providers, lacks)
    for name in late.difference(unknown):
        text = _drop_typing_import(text, name)
    of_types = {name for provider in providers for name in read_bindings(provider.text).for_types}
    for entry in sorted(added):
        for_types = entry.bound in of_types and is_only_annotation(text, entry.bound) and bool(imports_for_types(text))
        text = add_import(text, entry, first_party=first_party, for_types=for_types)
    # Twice, because removing an import under `if TYPE_CHECKING:` may leave that of `TYPE_CHECKING` itself unused.
    text = _remove_unused(before, _remove_unused(before, text))
    return Settled(text, tuple(e.statement() for e in sorted(added)), tuple(sorted(unknown)))


def _find_newly_read(before: str, text: str) -> frozenset[str]:
    """Return names that ``text`` imports for type checkers only and newly reads at run time."""
    typed = read_bindings(text).for_types
    late = typed & used_names(text) and typed & names_read_at_run_time(text)
    return late - names_read_at_run_time(before) if late else frozenset()


def _drop_typing_import(text: str, name: str) -> str:
    """Return ``text`` without a name's import under ``TYPE_CHECKING``, and without that ``if`` if it would be empty."""
    for statement in imports_for_types(text):
        entry = next((entry for entry in imported_by(statement) if entry.bound == name), None)
        if entry is None:
            continue
        guard = next(one for one in module_of(text).body if isinstance(one, ast.If) and statement in one.body)
        lines, first, last = text.split("\n"), guard.lineno - 1, guard.end_lineno
        has_more = len(guard.body) > 1 or len(statement.names) > 1 or bool(guard.orelse)
        if has_more or "#" in "\n".join(lines[first:last]):
            return remove_import(text, entry)
        return "\n".join([*lines[:first], *lines[last:]])
    return text


def _move_imports(text: str, moves: Mapping[tuple[str, str], str], first_party: str) -> str:
    """Return ``text`` with every import that ``moves`` lists made from its new module."""
    for entry in dict.fromkeys(entry for one in import_statements(module_of(text).body) for entry in imported_by(one)):
        new = replace(entry, module=moves.get((entry.module, entry.name)) or entry.module)
        if new == entry:
            continue
        body = module_of(text).body
        statement = next((one for one in import_statements(body) if entry in imported_by(one)), None)
        is_there = any(new in imported_by(one) for one in import_statements(body))
        stays = statement not in body or (not is_there and _is_moved_whole(text, statement, new, moves))
        if not stays:
            remark = _find_remark(text, statement, entry)
            text = add_import(remove_import(text, entry), new, first_party=first_party, remark=remark)
        elif statement is not None and not is_there:
            text = _move_in_place(text, statement, entry, new, moves)
    return text


def _is_moved_whole(
    text: str, statement: ast.Import | ast.ImportFrom | None, new: Import, moves: Mapping[tuple[str, str], str]
) -> bool:
    """Whether all names of a statement move to one module, and its own comments should go along."""
    if statement is None or any(moves.get((one.module, one.name)) != new.module for one in imported_by(statement)):
        return False
    lines, above = text.split("\n"), statement.lineno - 1
    while above and lines[above - 1].startswith("#"):
        above -= 1
    # A comment at the top of the file is the licence, not a comment on the import.
    has_own_above = 0 < above < statement.lineno - 1
    return has_own_above or any("#" in line for line in lines[statement.lineno - 1 : statement.end_lineno])


def _move_in_place(
    text: str,
    statement: ast.Import | ast.ImportFrom,
    entry: Import,
    new: Import,
    moves: Mapping[tuple[str, str], str],
) -> str:
    """Return ``text`` with one import changed to its new module in place, for example under a condition."""
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
    has_lines = _has_own_lines(places, statement)
    glue = f"{_find_remark(text, statement, entry)}\n{text[line:start]}" if has_lines else "; "
    return apply(remove_import(text, entry), [Edit(start, start, f"{new.statement()}{glue}")])


_FROM = re.compile(r"from\s*[.\w]+")
_REMARK = re.compile(r"[ \t]*#[^\r\n]*")


def _find_remark(text: str, statement: ast.Import | ast.ImportFrom | None, entry: Import) -> str:
    """Return the comment, with the blanks before it, that leaves with one name; empty if it is on several names."""
    if statement is None or len(statement.names) == 1:
        return ""
    places, alias = Places(text), statement.names[[*imported_by(statement)].index(entry)]
    gone = places.element_out(alias, statement.names)
    found = _REMARK.search(text, places.end(alias), gone.end)
    return found[0] if found is not None else ""


def _find_imports(
    missing: Iterable[str], providers: Sequence[Provider], lacks: Callable[[str, str], bool]
) -> tuple[list[Import], list[str]]:
    """Return the imports of ``missing`` names, each as in the first provider that has it, and the names without one."""
    found = {name: _find_first_import(name, providers, lacks) for name in sorted(missing)}
    return [entry for entry in found.values() if entry is not None], [name for name in found if found[name] is None]


def _find_first_import(name: str, providers: Sequence[Provider], lacks: Callable[[str, str], bool]) -> Import | None:
    """Return the import of ``name`` as in its first provider; ``None`` if it is conditional there (timid)."""
    for provider in providers:
        if name in read_bindings(provider.text).conditional:
            return None
        entry = _find_in_provider(name, provider)
        if entry is not None and not lacks(entry.module, entry.name):
            return entry
    return None


def _copy_own_globals(text: str, missing: Iterable[str], providers: Sequence[Provider]) -> str:
    """Return ``text`` with those ``missing`` names that the first provider which has them makes for itself."""
    for name in sorted(missing):
        source = next((provider.text for provider in providers if name in defined_names(provider.text)), "")
        text = copy_own_global(text, name, source)
    return text


def _find_in_provider(name: str, provider: Provider) -> Import | None:
    """Return the import that gives ``name`` as in ``provider``; ``None`` if that neither imports nor defines it."""
    known = read_imports(provider.text)
    if name in known and not (name in _find_optional(provider.text) and provider.name):
        entry = known[name]
        return replace(entry, module=absolute(entry.module, provider.name))
    if name in known or name in defined_names(provider.text):
        return Import(provider.name, name, name)
    return None


def _remove_unused(before: str, text: str) -> str:
    for entry in _find_unused(before, text):
        is_typed = any(entry in imported_by(statement) for statement in imports_for_types(text))
        text = _drop_typing_import(text, entry.bound) if is_typed else remove_import(text, entry)
    return text


def _find_unused(before: str, text: str) -> list[Import]:
    """Return imports that something used before and nothing uses now, without re-exports and imports with ``noqa``."""
    if "__all__" in defined_names(text):
        return []
    before_names, after_names = used_names(before), used_names(text)
    lines = text.split("\n")
    gone = []
    for statement in [*module_of(text).body, *imports_for_types(text)]:
        if not isinstance(statement, ast.Import | ast.ImportFrom):
            continue
        span = "\n".join(lines[statement.lineno - 1 : statement.end_lineno])
        if "noqa" not in span:
            entries = zip(statement.names, imported_by(statement), strict=True)
            # `name as name` marks a re-export.
            own = [entry for alias, entry in entries if alias.asname is None or alias.asname != alias.name]
            gone += [e for e in own if e.bound in before_names and e.bound not in after_names]
    return gone


def remove_import(text: str, entry: Import) -> str:
    """Return ``text`` without one imported name; removes the statement with its last name."""
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
        if not _has_own_lines(places, statement):
            return apply(text, [places.instead_of(statement, _render_in_one_line(statement, rest))])
        indent = lines[statement.lineno - 1][: statement.col_offset]
        new = _render(statement, rest, indent) if rest else _placeholder(text, statement, indent)
        first, behind = statement.lineno - 1, statement.end_lineno or statement.lineno
        if not new and first and lines[first - 1 : first] == lines[behind : behind + 1] == [""]:
            # The statement stood between two blank lines, of which only one stays.
            behind += 1
        lines[first:behind] = new
        return "\n".join(lines)
    return text


def _has_own_lines(places: Places, statement: ast.stmt) -> bool:
    """Whether a statement has its lines to itself, apart from a comment at the end."""
    start, end = places.line(statement.lineno)[0], places.line(statement.end_lineno or statement.lineno)[1]
    behind = places.text[places.end(statement) : end].strip()
    return not places.text[start : places.start(statement)].strip() and behind[:1] in ("", "#")


def _render_in_one_line(statement: ast.Import | ast.ImportFrom, entries: Sequence[Import]) -> str:
    glue = "; " if isinstance(statement, ast.Import) else " "
    return glue.join(row.strip() for row in _render(statement, entries, "")) if entries else "pass"


def _placeholder(text: str, statement: ast.stmt, indent: str) -> list[str]:
    """Return ``pass`` if the statement was the only one of its suite; else nothing."""
    for node in walk(module_of(text)):
        for suite in (getattr(node, "body", None), getattr(node, "orelse", None)):
            if isinstance(suite, list) and len(suite) == 1 and suite[0].lineno == statement.lineno and indent:
                return [f"{indent}pass"]
    return []


def add_import(text: str, entry: Import, *, first_party: str = "", for_types: bool = False, remark: str = "") -> str:
    """Return ``text`` with one more imported name: in the statement that imports from its module, else in a new one.

    With ``for_types`` it goes among the imports under ``TYPE_CHECKING``. A name with a ``remark`` (a comment behind it)
    gets a statement of its own.
    """
    body = module_of(text).body
    lines = text.split("\n")
    if any(entry in imported_by(s) for s in body if isinstance(s, ast.Import | ast.ImportFrom)):
        return text
    tops = imports_for_types(text) if for_types else find_head_imports(text, {entry.bound})
    indent = indentation(lines[tops[0].lineno - 1]) if tops else ""
    for statement in tops:
        entries = list(imported_by(statement))
        is_home = entry.name and entries[0].module == entry.module and _is_extendable(statement, lines)
        if is_home and not remark and _has_own_lines(Places(text), statement):
            lines[statement.lineno - 1 : statement.end_lineno] = _render(statement, [*entries, entry], indent)
            return "\n".join(lines)
    at, above, below = (
        find_position(tops, entry.module, bool(entry.name), first_party) if tops else find_top_position(body, lines)
    )
    lines[at:at] = [*[""] * above, indent + entry.statement() + remark, *[""] * below]
    return "\n".join(lines)


def _is_extendable(statement: ast.stmt, lines: Sequence[str]) -> bool:
    """Whether a name can be added to an import by rewriting it, because it has no comment and does not import ``*``."""
    span = lines[statement.lineno - 1 : statement.end_lineno]
    plain = isinstance(statement, ast.ImportFrom) and statement.names[0].name != "*"
    return plain and not any("#" in line for line in span)


def _render(statement: ast.Import | ast.ImportFrom, entries: Sequence[Import], indent: str) -> list[str]:
    if isinstance(statement, ast.Import):
        return [f"{indent}{entry.statement()}" for entry in entries]
    items = [entry.item for entry in sorted(set(entries), key=lambda e: (isort_name_key(e.name), e.bound))]
    line = f"{indent}from {entries[0].module} import {', '.join(items)}"
    if len(line) <= LINE_LENGTH and (statement.end_lineno == statement.lineno or len(items) <= 2):
        return [line]
    return [f"{indent}from {entries[0].module} import (", *(f"{indent}    {item}," for item in items), f"{indent})"]
