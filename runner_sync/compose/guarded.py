"""Copies imports that a module makes under a condition, such as a version check, with that condition, and follows it.

Comes in: a module's text and a module whose code came into it. Goes out: the text with the condition and all its
branches behind its imports, without names that nothing there uses; a later version of the module may change it. May
touch: nothing.

On a version that lacks the name a plain import would fail, though code under the same check never uses the name there.
Without any import, the code would raise a NameError on the version that has it::

    if vllm_version_is("0.21.0"):
        from vllm.routed_experts import get_global_experts_capturer
    else:
        from vllm.v1.outputs import RoutedExpertsLists
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import replace

from runner_sync.compose.import_places import find_head_imports, insert_below
from runner_sync.compose.imports import Provider, Settled, add_import, remove_import
from runner_sync.naming import Import, absolute, imported_by
from runner_sync.syntax import module_of, names_in, walk
from runner_sync.texts.bindings import bound_above, names_bound, read_bindings
from runner_sync.texts.import_entries import import_statements, list_always_imported, read_imports
from runner_sync.texts.names import defined_names, used_names


def import_conditionally(settled: Settled, source: Provider, *, first_party: str = "") -> Settled:
    """Return ``settled`` with the unknown names that ``source`` imports under a condition, the condition included.

    If the condition cannot be copied, imports names that ``source`` binds in every branch from ``source`` itself.
    """
    text = copy_guards(settled.text, settled.unknown, source.text)
    left = tuple(name for name in settled.unknown if name not in defined_names(text))
    return import_from_provider(replace(settled, text=text, unknown=left), source, first_party=first_party)


def import_from_provider(settled: Settled, source: Provider, *, first_party: str = "") -> Settled:
    """Import from ``source`` the unknown names that it imports under a condition and binds in every branch."""
    text, known = settled.text, read_bindings(source.text)
    certain = known.conditional & known.certain & {*settled.unknown}
    entries = [Import(source.name, name, name) for name in sorted(certain)]
    for entry in entries:
        text = add_import(text, entry, first_party=first_party)
    left = tuple(name for name in settled.unknown if name not in certain)
    return Settled(text, (*settled.added, *(entry.statement() for entry in entries)), left)


def follow_guards(text: str, olds: Collection[str], new: Provider, *, first_party: str = "") -> str:
    """Return ``text`` with the new imports of upstream in place of each condition that it has from there and that went.

    ``olds`` are the upstream texts that the code comes from. Keeps a condition if ``new`` gives no import of a name
    that is used, or gives it only in a ``try`` or for type checkers. Also keeps a condition for type checkers.
    """
    known, conditional = read_imports(new.text), read_bindings(new.text).conditional
    always = list_always_imported(new.text)
    lines = text.split("\n")
    for guard in _find_guards(text):
        block, bound = "\n".join(lines[guard.lineno - 1 : guard.end_lineno]), {*names_bound(guard)}
        is_from_there = any(_has_guard(old, block, bound) for old in olds) and not _is_type_checking_guard(guard)
        if not is_from_there or _has_guard(new.text, block, bound):
            continue
        made = text.replace(f"\n{block}\n" if f"\n\n{block}\n" in text else f"{block}\n", "", 1)
        needed = bound & used_names(made)
        plain = needed & known.keys() & always - conditional
        for entry in (known[name] for name in sorted(plain)):
            there = replace(entry, module=absolute(entry.module, new.name))
            made = add_import(made, there, first_party=first_party)
        made = copy_guards(made, needed - plain, new.text)
        text = made if needed <= defined_names(made) else text
    return text


def _has_guard(source: str, block: str, bound: Collection[str]) -> bool:
    """Whether ``source`` has the condition ``block``, which imports the names ``bound``; ``source`` may import more."""
    if "#" in block:
        return block in source
    blocks = (ast.get_source_segment(source, guard) or "" for guard in _find_guards(source))
    return any(
        ast.unparse(module_of(_keep_used_imports(bound, one))) == ast.unparse(module_of(block)) for one in blocks
    )


def copy_guards(text: str, names: Collection[str], source: str) -> str:
    """Return ``text`` with each condition of ``source`` that imports some of ``names`` and nothing that ``text`` has.

    Skips a condition that reads names which ``text`` may lack above that place (timid), a condition that is only one of
    several ways to get the name, and one for type checkers, which binds nothing at run time.
    """
    for guard in _find_guards(source):
        defined = defined_names(text)
        bound = {*names_bound(guard)}
        needed = bound & set(names)
        read = names_in(guard)
        is_free = not bound & defined and not needed & _names_bound_elsewhere(guard, source)
        at = _line_behind_imports(text, bound)
        if needed and is_free and read <= bound_above(text, at) and not _is_type_checking_guard(guard):
            block = ast.get_source_segment(source, guard) or ""
            text = insert_below(text, _keep_used_imports(used_names(text) | needed, block), at)
    return text


def _keep_used_imports(used: Collection[str], guard: str) -> str:
    """Return the text of a guard without imports of unused names, and without a last branch that this leaves empty."""
    statements = import_statements(module_of(guard).body)
    for entry in [entry for statement in statements for entry in imported_by(statement) if entry.bound not in used]:
        guard = remove_import(guard, entry)
    last = _find_last_branch(module_of(guard).body[0])
    if isinstance(last, ast.If) and [type(one) for one in last.orelse] == [ast.Pass]:
        return "\n".join(guard.split("\n")[: last.body[-1].end_lineno])
    return guard


def _find_last_branch(guard: ast.stmt) -> ast.stmt:
    """Return the last ``if`` or ``elif`` of a guard."""
    while isinstance(guard, ast.If) and len(guard.orelse) == 1 and isinstance(guard.orelse[0], ast.If):
        guard = guard.orelse[0]
    return guard


def _names_bound_elsewhere(guard: ast.If, source: str) -> set[str]:
    """Return names bound by other statements of the module: the guard is only one of several ways to get them."""
    return {name for one in module_of(source).body if one is not guard for name in names_bound(one)}


def _find_guards(source: str) -> Iterator[ast.If]:
    """Yield the module-level conditions that contain nothing but imports in all branches."""
    return (one for one in module_of(source).body if isinstance(one, ast.If) and _has_only_imports(one))


def _has_only_imports(guard: ast.If) -> bool:
    rest = guard.orelse
    is_elif = len(rest) == 1 and isinstance(rest[0], ast.If)
    if is_elif:
        assert isinstance(rest[0], ast.If)
        return _are_imports(guard.body) and _has_only_imports(rest[0])
    return _are_imports([*guard.body, *rest])


def _are_imports(body: Collection[ast.stmt]) -> bool:
    """Whether a suite contains only imports of absolute modules."""
    return all(isinstance(one, ast.Import) or (isinstance(one, ast.ImportFrom) and not one.level) for one in body)


def _is_type_checking_guard(guard: ast.If) -> bool:
    names = (getattr(node, "id", getattr(node, "attr", "")) for node in walk(guard))
    return "TYPE_CHECKING" in names


def _line_behind_imports(text: str, given: Collection[str]) -> int:
    tops = find_head_imports(text, given)
    return tops[-1].end_lineno or 0 if tops else 0
