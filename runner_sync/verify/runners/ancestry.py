"""Finds the methods of omni's classes that run on a runner, from its MRO as far as the omni tree shows it.

Comes in: a class and the library of omni files. Goes out: the omni classes of its MRO in order, and the methods that
can run. May touch: nothing. Classes outside omni do not count.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from runner_sync import mro
from runner_sync.syntax import Function, is_super, self_attributes_set, walk
from runner_sync.verify.answers import answered_once
from runner_sync.verify.runners.job import Library
from runner_sync.verify.runners.reading import ClassText, Reading


@dataclass(slots=True, eq=False)
class Ancestry:
    """The omni classes of an MRO, the class itself first.

    ``is_open`` says that a base cannot be followed, so that more omni classes may belong to the MRO.
    """

    classes: tuple[ClassText, ...]
    is_open: bool
    _live: list[tuple[ClassText, Function]] = field(default_factory=list)

    def find(self, method: str, *, after: ClassText | None = None) -> ClassText | None:
        """Return the first omni class that defines ``method``; with ``after``, the first behind that class."""
        start = 0 if after is None else self.classes.index(after) + 1
        return next((c for c in self.classes[start:] if method in c.methods), None)

    def assigns(self, name: str) -> bool:
        """Whether a class body assigns ``name`` (``_sample = Other._sample``), or a live method sets it on ``self``."""
        if any(name in c.assigned for c in self.classes):
            return True
        mentioning = {id(c) for c in self.classes if name in c.reading.plain_attributes}
        return bool(mentioning) and any(
            name in self_attributes_set(function) for c, function in self.live() if id(c) in mentioning
        )

    def live(self) -> list[tuple[ClassText, Function]]:
        """Return the methods that can run: the first of each name, and those they call by ``super()`` or class name."""
        if not self._live:
            pending = [
                (c, function)
                for c in self.classes
                for name, functions in c.methods.items()
                if self.find(name) is c
                for function in functions
            ]
            self._live = self._follow_parents(pending)
        return self._live

    def is_live(self, owner: ClassText, function: Function) -> bool:
        """Whether this method of ``owner`` can run. Parses nothing more if no class before ``owner`` overrides it."""
        if owner not in self.classes:
            return False
        return self.find(function.name) is owner or any(live is function for _, live in self.live())

    def _follow_parents(self, pending: list[tuple[ClassText, Function]]) -> list[tuple[ClassText, Function]]:
        seen: dict[int, tuple[ClassText, Function]] = {}
        while pending:
            owner, function = pending.pop()
            if id(function) not in seen:
                seen[id(function)] = (owner, function)
                pending.extend(self._find_parent_calls(owner, function))
        return list(seen.values())

    def _find_parent_calls(self, owner: ClassText, function: Function) -> Iterator[tuple[ClassText, Function]]:
        text = owner.reading.text_of(function)
        named = {c.name: c for c in self.classes if f"{c.name}." in text}
        if "super(" not in text and not named:
            return
        for node in walk(function):
            if not isinstance(node, ast.Attribute):
                continue
            if is_super(node.value):
                reached = self.find(node.attr, after=owner)
            elif isinstance(node.value, ast.Name) and node.value.id in named:
                reached = self.find_from(named[node.value.id], node.attr)
            else:
                continue
            yield from ((reached, f) for f in reached.methods[node.attr]) if reached is not None else ()

    def find_from(self, start: ClassText, method: str) -> ClassText | None:
        """Return the class whose method ``Start.method(self, …)`` calls."""
        return next((c for c in self.classes[self.classes.index(start) :] if method in c.methods), None)


@answered_once
def find_ancestry(library: Library, head: ClassText) -> Ancestry:
    """Return the MRO of ``head``; the bases as written if C3 finds no order or they form a circle."""

    def bases(owner: ClassText) -> list[ClassText]:
        found = (library.find_class(owner.reading, base) for base in owner.node.bases)
        return [one for one in found if one is not None]

    classes = tuple(mro.linearise(head, bases))
    is_open = any(library.meaning(c.reading, base).is_open for c in classes for base in c.node.bases)
    return Ancestry(classes, is_open)


def find_writer(library: Library, owner: ClassText, method: str) -> ClassText:
    """Return the class that defines ``method`` in the tree: ``owner``, or the base that its file has it from.

    The text of a GPU class may have been completed by methods that omni moved out of it.
    """
    text = library.job.read(owner.reading.path) if library.job.read is not None else None
    if text is None or text == owner.reading.text:
        return owner
    written = Reading(owner.reading.path, text).classes.get(owner.name)
    if written is None or method in written.methods:
        return owner
    return find_ancestry(library, written).find(method, after=written) or owner
