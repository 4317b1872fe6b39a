"""What the classes of a derived module inherit, read over the trees.

Comes in: trees and module texts. Goes out: ``Ancestry`` values and missing mixins. May touch: the trees, by reading.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from runner_sync.compose.names import defined_names
from runner_sync.errors import InputError
from runner_sync.model import Tree
from runner_sync.sync import texts
from runner_sync.sync.job import Ancestry
from runner_sync.units import class_bases, has_class

_OPEN = ("import *", "__getattr__")
"""What makes a module have names that its text does not show."""


@dataclass
class Program:
    """The trees as modules; ``overlay`` are upgraded texts that stand in for files of the omni tree, ``relocated``
    dotted names of modules that have moved."""

    omni: Tree
    others: Mapping[str, Tree]
    overlay: dict[str, str] = field(default_factory=dict)
    relocated: Mapping[str, str] = field(default_factory=dict)

    def module(self, dotted: str) -> tuple[str, str] | None:
        """``(path, text)`` of a dotted module name, or ``None`` when no tree has it."""
        dotted = self.relocated.get(dotted, dotted)
        top = dotted.split(".")[0]
        tree = self.omni if top == "vllm_omni" else self.others.get(top)
        if tree is None:
            return None
        stem = dotted.replace(".", "/")
        for path in (f"{stem}.py", f"{stem}/__init__.py"):
            text = self.overlay.get(path) or tree.read(path)
            if text is not None:
                return path, text
        return None

    def lacks(self, dotted: str, name: str) -> bool:
        """Whether a module of a known tree does not exist or does not bind ``name`` (empty: only whether it exists)."""
        top = dotted.split(".")[0]
        if (top != "vllm_omni" and self.others.get(top) is None) or self.module(f"{dotted}.{name}") is not None:
            return False
        found = self.module(dotted)
        if found is None or not name:
            return found is None
        return not any(word in found[1] for word in _OPEN) and name not in defined_names(found[1])

    def ancestry(self, text: str, class_name: str, dotted: str) -> Ancestry:
        """Members that ``class_name`` of a module inherits, the nearest base first, as Python's MRO would find them.

        The linearisation is depth first without the class itself; for the runners' bases (no diamonds with overrides
        on both arms) it gives the members that C3 gives.
        """
        climb = _Climb(self)
        climb.visit(text, class_name, dotted, own=True)
        return Ancestry(climb.found, frozenset(climb.names), {}, frozenset(climb.upstream), climb.vllm)

    def bases(self, text: str, class_name: str, dotted: str) -> tuple[str, ...]:
        """Base expressions of a class; empty when the module has no such class."""
        module = texts.parsed(text, dotted)
        return tuple(b.expression for b in class_bases(module, class_name)) if has_class(module, class_name) else ()


@dataclass
class _Climb:
    """One walk through the bases of a class."""

    program: Program
    found: dict[str, str | None] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    upstream: set[str] = field(default_factory=set)
    vllm: dict[str, str] = field(default_factory=dict)

    def visit(self, text: str, class_name: str, dotted: str, *, own: bool) -> None:
        try:
            module = texts.parsed(text, dotted)
        except InputError:
            return
        if not has_class(module, class_name):
            return
        if not own:
            self._take(text, class_name, dotted)
        for base in texts.bases_of(text, class_name):
            for origin in base.origins[:1]:
                where = _absolute(origin.module, dotted) if origin.module else dotted
                target = self.program.module(where) if origin.module else (dotted, text)
                if target is not None:
                    self.visit(target[1], origin.name, where, own=False)

    def _take(self, text: str, class_name: str, dotted: str) -> None:
        self.names.add(class_name)
        top = dotted.split(".")[0]
        for member, body in texts.members(text, class_name, dotted).items():
            self.found.setdefault(member, body if top == "vllm_omni" else None)
            if top == "vllm_ascend":
                self.upstream.add(member)
            elif top == "vllm":
                self.vllm.setdefault(member, body)


def _absolute(module: str, importer: str) -> str:
    level = len(module) - len(module.lstrip("."))
    if not level:
        return module
    package = importer.rsplit(".", level)[0]
    return ".".join(part for part in (package, module.lstrip(".")) if part)
