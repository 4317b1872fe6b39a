"""Model scopes and bindings, and trace every use of a name to its import.

Comes in and goes out: values that hold libcst nodes, inside this package only. May touch: libcst only.

`walk` fills them. Scopes follow the language reference, "Naming and binding": a class body is no enclosing scope, and
``global`` and ``nonlocal`` redirect. The origin of a name is certain only if imports of one origin alone bind it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import libcst as cst

from runner_sync.naming import absolute
from runner_sync.transforms.concrete_tree import get_dotted_name


@dataclass(eq=False, slots=True)
class Scope:
    """One namespace; ``kind`` is module, class, function or comprehension."""

    qualname: str
    kind: str
    parent: Scope | None
    bindings: dict[str, Binding] = field(default_factory=dict)
    redirected: dict[str, Scope] = field(default_factory=dict)

    def lookup(self, name: str) -> Binding | None:
        """Return the binding that ``name`` refers to in this scope; ``None`` if nothing in the module binds it."""
        for scope in self.iter_visible():
            if name in scope.redirected:
                return scope.redirected[name].lookup(name)
            if name in scope.bindings:
                return scope.bindings[name]
        return None

    def iter_visible(self) -> Iterator[Scope]:
        """Yield this scope and the enclosing scopes in which a name is looked up, innermost first."""
        scope: Scope | None = self
        while scope is not None:
            if scope.kind != "class" or scope is self:
                yield scope
            scope = scope.parent


@dataclass(eq=False, slots=True)
class Site:
    """One place that binds a name: ``node`` is the statement line of an import, or the definition itself."""

    node: cst.CSTNode
    statement: cst.CSTNode
    module: str = ""
    name: str = ""
    aliased: bool = False


@dataclass(eq=False, slots=True)
class Binding:
    """A name in a scope. ``origins`` holds the dotted names that it may stand for, with ``""`` if it may not be
    imported."""

    name: str
    scope: Scope
    origins: set[str] = field(default_factory=set)
    sites: list[Site] = field(default_factory=list)
    uses: list[Use] = field(default_factory=list)

    @property
    def origin(self) -> str:
        """The one dotted name that this name stands for, ``""`` if that is not certain."""
        return next(iter(self.origins)) if len(self.origins) == 1 else ""


@dataclass(eq=False, slots=True)
class Use:
    """A name or attribute chain that is read; ``parts`` are its nodes, root first (one string for a quoted annotation).

    ``guarded``: a ``hasattr`` asks about it or decides whether it runs. ``stored``: it is assigned to.
    """

    parts: tuple[cst.CSTNode, ...]
    dotted: str
    scope: Scope
    guarded: bool
    stored: bool = False
    binding: Binding | None = None

    @property
    def origin(self) -> str:
        """The full dotted name of what is used, ``""`` if the origin of its root is not certain."""
        _, _, rest = self.dotted.partition(".")
        start = self.binding.origin if self.binding else ""
        return f"{start}.{rest}" if start and rest else start


@dataclass(eq=False, slots=True)
class CallSite:
    """A call; ``callee`` is ``None`` if the called expression is no plain name or attribute chain."""

    node: cst.Call
    callee: Use | None
    scope: Scope


@dataclass(eq=False, slots=True)
class Index:
    """Everything about one module that the rewrites need. ``module`` is its dotted name, ``""`` when unknown."""

    tree: cst.Module
    module: str
    top: Scope
    bindings: list[Binding] = field(default_factory=list)
    uses: list[Use] = field(default_factory=list)
    calls: list[CallSite] = field(default_factory=list)
    comparisons: list[tuple[cst.Comparison, Scope]] = field(default_factory=list)
    choices: list[tuple[cst.IfExp, Scope]] = field(default_factory=list)
    held: list[tuple[cst.CSTNode, cst.CSTNode, Scope]] = field(default_factory=list)
    """Names, attributes, items, parameters and keys, each with the value assigned to it."""
    parents: dict[cst.CSTNode, cst.CSTNode] = field(default_factory=dict)

    def take_apart(self) -> None:
        """Break the reference cycles (scope, bindings, uses), so that the tree is freed together with the index.

        Otherwise the garbage collector would have to search millions of nodes.
        """
        for binding in self.bindings:
            binding.uses.clear()
            binding.scope.bindings.clear()


def resolve_module(node: cst.ImportFrom, module: str) -> str:
    """Return the dotted name of the module that ``node`` imports from, relative to ``module``."""
    return absolute("." * len(node.relative) + get_dotted_name(node.module), module)
