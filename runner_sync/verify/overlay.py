"""Writes a scratch copy of the files that a type checker needs to check the NPU runners.

Comes in: a `World` and the checked paths. Goes out: files in a directory that the caller owns: the checked modules with
one branch chosen for conditional bases, and every module of the three trees that their imports reach. May touch: that
directory.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

from runner_sync.naming import imported_by
from runner_sync.syntax import lasting_module_of
from runner_sync.verify.trees import modules
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.world import World

# On four pairs of releases the files that imports reach in two steps (about 400) gave the same new diagnostics as the
# whole closure (about 3000), in a fifth of the time; one step lost half of them.
_STEPS = 2


def write(world: World, names: Sequence[str], root: Path) -> None:
    """Write the overlay for the modules at paths ``names`` under ``root``. Raises InputError as `World` does."""
    checked = {world.module_at(path).path for path in names}
    for module in find_reached(world, names):
        target = root / module.path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(
            choose_else_branches(module.text) if module.path in checked else module.text, encoding="utf-8"
        )


def find_reached(world: World, names: Sequence[str], steps: int = _STEPS) -> list[Module]:
    """Return the modules at ``names`` and those that imports reach from there in ``steps`` steps, by name."""
    found: dict[str, Module] = {}
    pending = {world.module_at(path).name for path in names}
    for _ in range(steps + 1):
        fresh = [module for name in sorted(pending) if name not in found and (module := world.module(name))]
        found.update((module.name, module) for module in fresh)
        pending = {name for module in fresh for name in _find_imported_names(module)}
    return [found[name] for name in sorted(found)]


def choose_else_branches(text: str) -> str:
    """Make the ``else`` branch of a conditional import the only one, e.g. ``if is_310p():`` becomes ``if False:``.

    Type checkers give a class with two possible bases no attributes. Lines keep their numbers.
    """
    lines = text.split("\n")
    for statement in lasting_module_of(text).body:
        if isinstance(statement, ast.If) and _binds_same_names(statement) and statement.test.lineno == statement.lineno:
            lines[statement.lineno - 1] = "if False:"
    return "\n".join(lines)


def _binds_same_names(statement: ast.If) -> bool:
    first, second = (list(_find_bound_names(block)) for block in (statement.body, statement.orelse))
    same_line = statement.body[0].lineno > (statement.test.end_lineno or 0) == statement.lineno
    return bool(first) and sorted(first) == sorted(second) and same_line


def _find_bound_names(block: Sequence[ast.stmt]) -> Iterator[str]:
    for statement in block:
        if isinstance(statement, ast.ImportFrom):
            yield from (entry.bound for entry in imported_by(statement))


def _find_imported_names(module: Module) -> Iterator[str]:
    for name in (*module.stars, *(imported.module for _, imported in modules.imports_of(module))):
        parts = name.split(".")
        yield from (".".join(parts[:length]) for length in range(1, len(parts) + 1))
    for _, imported in modules.imports_of(module):
        if imported.name:
            yield f"{imported.module}.{imported.name}"
