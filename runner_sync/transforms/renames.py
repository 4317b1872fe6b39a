"""Renames imported names: the engine behind every rewrite that is a table of names.

Comes in: a `Job` and rows ``(name, module) → (new_name, new_module)``. Goes out: edits of the import and of every use
that resolves to it (isinstance, annotations, quoted annotations, attributes of it), or a doubt. May touch: libcst only.

A binding is renamed completely or not at all, so that an import and its uses stay consistent. Of rows with the same
source the first one counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import libcst as cst

from runner_sync.profile import NameRewrite
from runner_sync.transforms.imports import Move, line_after
from runner_sync.transforms.job import Doubt, Job, NodeEdit, reworded
from runner_sync.transforms.scopes import Binding, Scope, Site, Use

Rows = dict[str, list[NameRewrite]]


def rename_imported(job: Job, rows: Iterable[NameRewrite], *, definitions: bool = False) -> Iterator[NodeEdit | Doubt]:
    """Edits that apply ``rows``; with ``definitions`` also to a class that this module itself defines."""
    table = _by_origin(rows, within=job.code.module)
    moves: dict[cst.CSTNode, list[NameRewrite]] = {}
    for binding in _candidates(job, table, definitions=definitions):
        decided = _decide(binding, table)
        if isinstance(decided, Doubt):
            yield decided
            continue
        for site in binding.sites:
            if isinstance(site.statement, cst.ImportAlias):
                moves.setdefault(site.node, []).append(decided[f"{site.module}.{site.name}"])
        yield from _renamed(binding, decided)
    for line, moved in moves.items():
        yield NodeEdit(line, Move(tuple(moved), within=job.code.module))
    yield from _renamed_through_modules(job, table)


def uses_after(job: Job, rows: Iterable[NameRewrite], *, definitions: bool = False) -> dict[Use, str]:
    """The uses that refer to a row's new name after `rename_imported`, each with that name; also those that do
    already."""
    table = _by_origin(rows, within=job.code.module)
    new = {f"{row.new_module}.{row.new_name}": row.new_name for rows_of in table.values() for row in rows_of}
    found = {use: new[use.origin] for use in job.code.uses if use.origin in new}
    for binding in _candidates(job, table, definitions=definitions):
        decided = _decide(binding, table)
        if isinstance(decided, dict):
            name = next(iter(decided.values())).new_name
            found.update((use, name) for use in binding.uses if use.dotted == binding.name)
    found.update((use, row.new_name) for use, row in _module_uses(job, table))
    return found


def _by_origin(rows: Iterable[NameRewrite], *, within: str) -> Rows:
    table: Rows = {}
    for row in rows:
        table.setdefault(f"{row.module}.{row.name}", []).append(row)
    # timid: a module that itself defines the new name (the NPU twin) needs the old one to derive from.
    return {origin: listed for origin, listed in table.items() if all(row.new_module != within for row in listed)}


def _candidates(job: Job, table: Rows, *, definitions: bool = False) -> Iterator[Binding]:
    for binding in job.code.bindings:
        if any(origin in table for origin in binding.origins) and (definitions or not _is_defined(binding)):
            yield binding


def _decide(binding: Binding, table: Rows) -> dict[str, NameRewrite] | Doubt:
    """The row to apply for each origin of ``binding``, or a doubt that says why it must stay."""
    chosen: dict[str, NameRewrite] = {}
    for origin in sorted(binding.origins):
        if origin not in table:
            return _doubt(binding, f"{binding.name} is also bound to something else here", "rename by hand")
        chosen[origin] = table[origin][0]
    return _checked(binding, chosen)


def _is_defined(binding: Binding) -> bool:
    return any(isinstance(site.node, cst.ClassDef) for site in binding.sites)


def _checked(binding: Binding, chosen: dict[str, NameRewrite]) -> dict[str, NameRewrite] | Doubt:
    """``chosen``, or a doubt if the binding is imported in two ways or its new name is taken."""
    names = {row.new_name for row in chosen.values()}
    if len(names) > 1 or len({site.aliased for site in binding.sites}) > 1:
        return _doubt(binding, f"{binding.name} is imported in two ways", "rename by hand")
    new = {f"{row.new_module}.{row.new_name}" for row in chosen.values()}
    if not all(site.aliased for site in binding.sites) or not binding.sites:
        taken = _taken(binding, names.pop(), new)
        if taken:
            return _doubt(binding, f"{taken} already means something else here", "rename by hand")
    return chosen


def _taken(binding: Binding, name: str, origins: set[str]) -> str:
    """``name`` if, where ``binding`` is used, it is already bound to anything but ``origins``; else empty."""
    if name == binding.name:
        return ""
    scopes: set[Scope] = {binding.scope}
    for use in binding.uses:
        scopes.update(use.scope.visible())
    clashes = [scope for scope in scopes if name in scope.bindings and not scope.bindings[name].origins <= origins]
    return name if clashes else ""


def _renamed(binding: Binding, chosen: dict[str, NameRewrite]) -> Iterator[NodeEdit]:
    """Edits of the definitions and uses of ``binding``; its imports are moved line by line elsewhere."""
    new_name = next(iter(chosen.values())).new_name
    if new_name == binding.name or (binding.sites and all(site.aliased for site in binding.sites)):
        return
    for site in binding.sites:
        if isinstance(site.node, cst.ClassDef):
            yield NodeEdit(site.node, lambda node: node.with_changes(name=node.name.with_changes(value=new_name)))
    for use in binding.uses:
        yield reworded(use.parts[0], binding.name, new_name)


def _module_uses(job: Job, table: Rows) -> Iterator[tuple[Use, NameRewrite]]:
    """Uses through an imported module, such as ``forward_context.set_forward_context``, each with its row."""
    for use in job.code.uses:
        rows = table.get(use.origin) if "." in use.dotted else None
        if rows and use.binding and use.binding.sites and isinstance(use.parts[0], cst.Name):
            yield use, rows[0]


def _renamed_through_modules(job: Job, table: Rows) -> Iterator[NodeEdit | Doubt]:
    """Edits of uses through an imported module: the new module is imported below the old one and used instead."""
    added: set[tuple[Site, str]] = set()
    for use, row in _module_uses(job, table):
        binding = use.binding
        package, _, leaf = row.new_module.rpartition(".")
        if binding is None:
            continue
        if _taken(binding, leaf, {row.new_module}):
            yield _doubt(binding, f"{leaf} already means something else here", "rename by hand")
            continue
        for site in binding.sites:
            if (site, row.new_module) not in added:
                added.add((site, row.new_module))
                yield NodeEdit(site.node, line_after(package, leaf))
        yield reworded(use.parts[-1], use.dotted, f"{leaf}.{row.new_name}")


def _doubt(binding: Binding, message: str, fix: str) -> Doubt:
    node = binding.sites[0].statement if binding.sites else binding.uses[0].parts[0]
    return Doubt(node, binding.scope.qualname, binding.name, f"{binding.name} was not translated: {message}.", fix)
