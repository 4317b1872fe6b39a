"""Read a module as if it defined itself the functions and records that it imports from its own package.

A copy of a module-level function follows it by its name. Where such a function moves into a module of helpers, the
module that had it imports it, and the copy would lose what it gains from then on.

    from vllm_omni.worker.helpers import as_tensor            def as_tensor(value):
                                                       →          ...

Comes in: the text of a module, a tree, and the names that a derived module defines. Goes out: the text. May touch: the
tree, by reading.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache

from runner_sync.model import Unit
from runner_sync.naming import Import, paths_of, project_of
from runner_sync.references import find_bindings
from runner_sync.sync.classes.completing import add_imports
from runner_sync.syntax import module_of
from runner_sync.texts.import_entries import list_always_imported, read_imports
from runner_sync.trees import Tree
from runner_sync.units import texts


@dataclass(frozen=True, slots=True)
class Definition:
    """A function or record that a module imports as ``entry``; ``module`` is the text of the file that defines it."""

    entry: Import
    module: str
    unit: Unit


def list_definitions(module_texts: Iterable[str]) -> frozenset[str]:
    """Return the names of the module-level functions and classes of ``module_texts``, told without parsing."""
    return frozenset[str]().union(*map(_find_defined, module_texts))


@lru_cache(maxsize=32)
def _find_defined(text: str) -> frozenset[str]:
    return frozenset(_DEFINED.findall(text))


_DEFINED = re.compile(r"^(?:class|(?:async )?def) (\w+)", re.MULTILINE)
_WORD = re.compile(r"\w+")


def complete_definitions(text: str, path: str, wanted: Collection[str], tree: Tree) -> tuple[str, list[Definition]]:
    """Return the module ``text`` of ``path`` with those of ``wanted`` at its end that it imports, and these.

    Raises ``SyntaxError`` or ``InputError`` if a module does not parse.
    """
    found = list[Definition]()
    while more := _find_definitions(text, path, wanted, tree):
        for one in more:  # what one of them uses may be wanted, too
            text = f"{_remove_import(text, one.entry.bound).rstrip()}\n\n\n{one.unit.text}"
            text = add_imports(text, one.unit.path, one.module)
        found += more
    return text, found


def _find_definitions(text: str, path: str, wanted: Collection[str], tree: Tree) -> list[Definition]:
    """Return those of ``wanted`` that the module ``text`` imports from the package of ``tree``, with their definitions.

    timid: an import under another name, or one that something else may replace (``try``, ``if``, an assignment), is
    not followed.
    """
    missing = set(wanted) - list_definitions([text])
    if missing.isdisjoint(_WORD.findall(text)):
        return []
    imports, certain = read_imports(text, path), list_always_imported(text)
    counts = Counter(binding.name for binding in find_bindings(module_of(text).body))
    names = sorted(name for name in missing & certain if counts[name] == 1)
    found = [(imports[name], find_definition(imports[name], tree)) for name in names]
    return [Definition(entry, *there) for entry, there in found if there is not None]


def find_definition(entry: Import, tree: Tree) -> tuple[str, Unit] | None:
    """Return the module text and the unit that ``entry`` leads to, through re-exports; ``None`` if no text shows it."""
    seen = set[Import]()
    while entry not in seen and entry.name == entry.bound and project_of(entry.module) == tree.source.project:
        seen.add(entry)
        place = next((path for path in paths_of(entry.module) if tree.read(path) is not None), None)
        if place is None:
            return None
        text = tree.read(place) or ""
        unit = texts.unit_table(text, place).get(entry.name)
        if unit is not None and unit.kind in ("function", "class"):
            return text, unit
        if (further := read_imports(text, place).get(entry.name)) is None:
            return None
        entry = further
    return None


def _remove_import(text: str, name: str) -> str:
    from runner_sync.compose.imports import remove_import

    return remove_import(text, read_imports(text)[name])
