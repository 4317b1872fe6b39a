"""Rename imported names: the engine behind every rewrite that is a table of names.

Comes in: a `Job` and rows ``(name, module) → (new_name, new_module)``. Goes out: edits of the import and of every use
that resolves to it (isinstance, annotations, quoted annotations, attributes), or a doubt. May touch: libcst only.

A binding is renamed completely or not at all, so that an import and its uses stay consistent. Of rows with the same
source the first one counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import libcst as cst

from runner_sync.profile import NameRewrite
from runner_sync.transforms.imports import Move, make_import_below
from runner_sync.transforms.job import Doubt, Job, NodeEdit, make_rename
from runner_sync.transforms.scopes import Binding, Scope, Site, Use

Rows = dict[str, list[NameRewrite]]


def rename_imported(job: Job, rows: Iterable[NameRewrite], *, definitions: bool = False) -> Iterator[NodeEdit | Doubt]:
    """Yield edits that apply ``rows``; with ``definitions`` also to a class that this module itself defines."""
    table = _index_rows(rows, within=job.code.module)
    moves: dict[cst.CSTNode, list[NameRewrite]] = {}
    for binding in _iter_candidates(job, table, definitions=definitions):
        decided = _decide(binding, table)
        if isinstance(decided, Doubt):
            yield decided
            continue
        for site in binding.sites:
            if isinstance(site.statement, cst.ImportAlias):
                moves.setdefault(site.node, []).append(decided[f"{site.module}.{site.name}"])
        yield from _rename_binding(binding, decided)
    for line, moved in moves.items():
        yield NodeEdit(line, Move(tuple(moved), within=job.code.module))
    yield from _rename_module_uses(job, table)


def find_renamed_uses(job: Job, rows: Iterable[NameRewrite], *, definitions: bool = False) -> dict[Use, str]:
    """Return the uses that refer to a row's new name after `rename_imported`, each with that name.

    Uses that already refer to the new name are included.
    """
    table = _index_rows(rows, within=job.code.module)
    new = {f"{row.new_module}.{row.new_name}": row.new_name for rows_of in table.values() for row in rows_of}
    found = {use: new[use.origin] for use in job.code.uses if use.origin in new}
    for binding in _iter_candidates(job, table, definitions=definitions):
        decided = _decide(binding, table)
        if isinstance(decided, dict):
            name = next(iter(decided.values())).new_name
            found.update((use, name) for use in binding.uses if use.dotted == binding.name)
    found.update((use, row.new_name) for use, row in _iter_module_uses(job, table))
    return found


def _index_rows(rows: Iterable[NameRewrite], *, within: str) -> Rows:
    table: Rows = {}
    for row in rows:
        table.setdefault(f"{row.module}.{row.name}", []).append(row)
    # timid: a module that defines the new name (the NPU twin) needs the old name as a base class.
    return {origin: listed for origin, listed in table.items() if all(row.new_module != within for row in listed)}


def _iter_candidates(job: Job, table: Rows, *, definitions: bool = False) -> Iterator[Binding]:
    for binding in job.code.bindings:
        if any(origin in table for origin in binding.origins) and (definitions or not _is_defined(binding)):
            yield binding


def _decide(binding: Binding, table: Rows) -> dict[str, NameRewrite] | Doubt:
    """Return the row to apply for each origin of ``binding``, or a doubt with the reason why the binding must stay."""
    chosen: dict[str, NameRewrite] = {}
    for origin in sorted(binding.origins):
        if origin not in table:
            return _make_doubt(binding, f"{binding.name} is also bound to something else here", "rename by hand")
        chosen[origin] = table[origin][0]
    return _check_names(binding, chosen)


def _is_defined(binding: Binding) -> bool:
    return any(isinstance(site.node, cst.ClassDef) for site in binding.sites)


def _check_names(binding: Binding, chosen: dict[str, NameRewrite]) -> dict[str, NameRewrite] | Doubt:
    """Return ``chosen``, or a doubt if the binding is imported in two ways or its new name is taken."""
    names = {row.new_name for row in chosen.values()}
    if len(names) > 1 or len({site.aliased for site in binding.sites}) > 1:
        return _make_doubt(binding, f"{binding.name} is imported in two ways", "rename by hand")
    new = {f"{row.new_module}.{row.new_name}" for row in chosen.values()}
    if not all(site.aliased for site in binding.sites) or not binding.sites:
        taken = _find_clash(binding, names.pop(), new)
        if taken:
            return _make_doubt(binding, f"{taken} already means something else here", "rename by hand")
    return chosen


def _find_clash(binding: Binding, name: str, origins: set[str]) -> str:
    """Return ``name`` if a scope that uses ``binding`` binds it to anything but ``origins``; else an empty string."""
    if name == binding.name:
        return ""
    scopes: set[Scope] = {binding.scope}
    for use in binding.uses:
        scopes.update(use.scope.iter_visible())
    clashes = [scope for scope in scopes if name in scope.bindings and not scope.bindings[name].origins <= origins]
    return name if clashes else ""


def _rename_binding(binding: Binding, chosen: dict[str, NameRewrite]) -> Iterator[NodeEdit]:
    """Yield edits of the definitions and uses of ``binding``. Its imports are moved elsewhere, line by line."""
    new_name = next(iter(chosen.values())).new_name
    if new_name == binding.name or (binding.sites and all(site.aliased for site in binding.sites)):
        return
    for site in binding.sites:
        if isinstance(site.node, cst.ClassDef):
            yield NodeEdit(site.node, lambda node: node.with_changes(name=node.name.with_changes(value=new_name)))
    for use in binding.uses:
        yield make_rename(use.parts[0], binding.name, new_name)


def _iter_module_uses(job: Job, table: Rows) -> Iterator[tuple[Use, NameRewrite]]:
    """Yield uses through an imported module, such as ``forward_context.set_forward_context``, each with its row."""
    for use in job.code.uses:
        rows = table.get(use.origin) if "." in use.dotted else None
        if rows and use.binding and use.binding.sites and isinstance(use.parts[0], cst.Name):
            yield use, rows[0]


def _rename_module_uses(job: Job, table: Rows) -> Iterator[NodeEdit | Doubt]:
    """Yield edits that import the new module below the old one and use it instead."""
    added: set[tuple[Site, str]] = set()
    for use, row in _iter_module_uses(job, table):
        binding = use.binding
        package, _, leaf = row.new_module.rpartition(".")
        if binding is None:
            continue
        if _find_clash(binding, leaf, {row.new_module}):
            yield _make_doubt(binding, f"{leaf} already means something else here", "rename by hand")
            continue
        for site in binding.sites:
            if (site, row.new_module) not in added:
                added.add((site, row.new_module))
                yield NodeEdit(site.node, make_import_below(package, leaf))
        yield make_rename(use.parts[-1], use.dotted, f"{leaf}.{row.new_name}")


def _make_doubt(binding: Binding, message: str, fix: str) -> Doubt:
    node = binding.sites[0].statement if binding.sites else binding.uses[0].parts[0]
    return Doubt(node, binding.scope.qualname, binding.name, f"{binding.name} was not translated: {message}.", fix)
