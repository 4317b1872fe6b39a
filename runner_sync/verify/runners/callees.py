"""Finds the omni functions that a call may run.

Comes in: the library of omni files, a `Scope`, a call in it. Goes out: the `Scope`s of the functions. May touch: what
the library reads.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from runner_sync.naming import Import, imported_by
from runner_sync.syntax import Function, parameter_names, walk_suites
from runner_sync.verify.answers import answered_once
from runner_sync.verify.runners.ancestry import find_ancestry
from runner_sync.verify.runners.job import Library
from runner_sync.verify.runners.reading import ClassText, Reading, dotted


class Scope(NamedTuple):
    """A function, and the classes whose objects may be its ``self``; none for a function at module level."""

    reading: Reading
    function: Function
    receivers: tuple[ClassText, ...] = ()


def find_callees(library: Library, scope: Scope, call: ast.Call) -> list[Scope]:
    """Return what ``self.method(…)`` or ``function(…)`` may run; empty if that cannot be told.

    A runner and its twin may both be ``self``: the version of each that has one is returned.
    """
    match dotted(call.func).split("."):
        case ["self", name]:
            return [one for receiver in scope.receivers for one in find_methods(library, receiver, name)]
        case [name] if name and name not in parameter_names(scope.function):
            return _find_functions(library, scope, name)
    return []


def find_methods(library: Library, receiver: ClassText, name: str) -> list[Scope]:
    """Return the methods of that name that an object of a class runs, if one of omni's classes defines it."""
    owner = find_ancestry(library, receiver).find(name)
    return [Scope(owner.reading, f, (receiver,)) for f in owner.methods[name]] if owner is not None else []


def _find_functions(library: Library, scope: Scope, name: str) -> list[Scope]:
    """Return the function of that name in the module, or the functions that the function or the module imports."""
    imported = [*_find_own_imports(scope, name)] or scope.reading.imports.get(name, [])
    if not imported:
        own = scope.reading.functions.get(name)
        return [Scope(scope.reading, own)] if own is not None else []
    found = [_find_imported(library, entry) for entry in imported]
    known = [one for one in found if one is not None]
    return known if len(known) == len(found) else []


def _find_imported(library: Library, entry: Import) -> Scope | None:
    """Return an imported function. timid: only of a module that asks for a GPU itself; others are not parsed."""
    stem = entry.module.replace(".", "/")
    reading = read_apart(library, f"{stem}.py") or read_apart(library, f"{stem}/__init__.py")
    if reading is None or not may_ask_for_gpu(library, reading):
        return None
    function = reading.functions.get(entry.name)
    return Scope(reading, function) if function is not None else None


def may_ask_for_gpu(library: Library, reading: Reading) -> bool:
    """Whether a file has the text of such a question; tells without parsing it."""
    gpu = library.job.profile.device[0]
    return re.search(rf"\bis_{gpu}(?:_alike)?\(|\btorch\.{gpu}\.is_available\(", reading.text) is not None


@answered_once
def read_apart(library: Library, path: str) -> Reading | None:
    """Return an omni file that the rules do not check: its conflicts and comments are no matter of theirs.

    ``None`` for a file that is not there, not omni's, or does not parse as far as it is asked for.
    """
    is_omnis = path.partition("/")[0] == library.job.profile.package
    text = library.job.read(path) if library.job.read is not None and is_omnis else None
    return Reading(path, text) if text is not None else None


def _find_own_imports(scope: Scope, name: str) -> Iterator[Import]:
    """Yield the imports inside a function that bind a name."""
    for node in walk_suites(scope.function):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from (entry for entry in imported_by(node, scope.reading.path) if entry.bound == name)
