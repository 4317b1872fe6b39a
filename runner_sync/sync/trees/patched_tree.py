"""Replace or add files in a tree, for example a result before it is written, or modules under later names.

Comes in: a tree and texts by path. Goes out: a ``PatchedTree``, which is a tree, too. May touch: the tree, by reading.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from runner_sync.model import Source
from runner_sync.sources.layout import is_below
from runner_sync.trees import Remembering, Tree, peek


@dataclass(frozen=True, eq=False)
class PatchedTree:
    """``tree`` with the files of ``texts`` in place of its own or besides them."""

    tree: Tree
    texts: dict[str, str]

    @property
    def source(self) -> Source:
        return self.tree.source

    def read(self, path: str) -> str | None:
        return self.texts[path] if path in self.texts else self.tree.read(path)

    def peek(self, path: str) -> str | None:
        return self.texts[path] if path in self.texts else peek(self.tree, path)

    def paths(self, prefix: str = "") -> Iterable[str]:
        return [path for path in self._paths if is_below(path, prefix)]

    def remembered(self, what: str, find: Callable[[str], bytes]) -> dict[str, bytes]:
        """Return ``find`` of every text by path, using what ``tree`` remembers for files that are not replaced."""
        known = self.tree.remembered(what, find) if isinstance(self.tree, Remembering) else {}
        missing = self.texts.keys() | set(self.paths()) - known.keys()
        return {path: find(self.read(path) or "") if path in missing else known[path] for path in self.paths()}

    @cached_property
    def _paths(self) -> list[str]:
        return sorted({*self.tree.paths(), *self.texts})
