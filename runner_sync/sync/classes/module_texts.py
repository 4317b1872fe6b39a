"""Read from module texts what modules bind, and what the classes of a derived module inherit.

Comes in: trees and module texts. Goes out: ``Inherited`` values. May touch: the trees, by reading.

``verify.trees.world`` answers the same questions and more, but parses every module on the way, which took 0.4 to 0.9 s
longer on three pairs of releases, whose upgrades take 2 to 3 s. An upgrade needs the unit texts of those modules
anyway, so it reads them. It sees only the first branch of a conditional base. A test compares the answers of both.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from runner_sync import mro
from runner_sync.errors import InputError
from runner_sync.fitting.constructors import find_added_fields
from runner_sync.model import Project
from runner_sync.naming import absolute, imported_by, module_name, paths_of, project_of
from runner_sync.references import Reference, followed
from runner_sync.syntax import module_of
from runner_sync.texts.member_text import find_called_parents
from runner_sync.texts.names import defined_names
from runner_sync.trees import Tree
from runner_sync.units import BaseClass, BaseOrigin, class_bases, has_class, texts

if TYPE_CHECKING:
    from runner_sync.upgrade import Inherited

_OPEN = ("import *", "__getattr__")
"""Code by which a module gets names that its text does not show."""


@dataclass
class ModuleTexts:
    """The texts of the trees' modules.

    ``upgraded`` has texts, by path, that replace files of the omni tree. ``relocated`` maps former dotted names of
    modules to present ones.
    """

    trees: Mapping[Project, Tree]
    upgraded: dict[str, str] = field(default_factory=dict)
    relocated: Mapping[str, str] = field(default_factory=dict)

    def find_module(self, dotted: str) -> tuple[str, str] | None:
        """Return ``(path, text)`` of a dotted module name, or ``None`` if no tree has it."""
        dotted = self.relocated.get(dotted, dotted)
        project = project_of(dotted)
        if project is None or project not in self.trees:
            return None
        for path in paths_of(dotted):
            text = self.upgraded[path] if path in self.upgraded else self.trees[project].read(path)
            if text is not None:
                return path, text
        return None

    def _tree_of(self, dotted: str) -> Tree | None:
        project = project_of(dotted)
        return self.trees.get(project) if project is not None else None

    def as_before(self) -> ModuleTexts:
        """Return the module texts as they were before this run."""
        return replace(self, upgraded={})

    def lacks(self, dotted: str, name: str) -> bool:
        """Whether a module is known not to bind ``name``, or, if ``name`` is empty, not to exist.

        False in doubt: if the project is not at hand, the module does not parse, or its text does not show all its
        names (``import *``, ``__getattr__``).
        """
        if self._tree_of(dotted) is None or self.find_module(f"{dotted}.{name}") is not None:
            return False
        found = self.find_module(dotted)
        if found is None or not name:
            return found is None
        try:
            return not any(word in found[1] for word in _OPEN) and name not in defined_names(found[1])
        except SyntaxError:
            return False

    def moved_to(self, dotted: str, name: str) -> str:
        """Return the only module in the package of ``dotted`` that defines ``name``.

        Empty if there are more or none, or if ``dotted`` has the name.
        """
        tree, package = self._tree_of(dotted), dotted.rpartition(".")[0]
        if tree is None or not package or not self.lacks(dotted, name):
            return ""
        folder = package.replace(".", "/")
        siblings = [path for path in tree.paths(f"{folder}/") if path.rpartition("/")[0] == folder]
        definition = re.compile(rf"^(?:class|(?:async )?def) {re.escape(name)}\b", re.MULTILINE)
        found = [path for path in siblings if definition.search(tree.read(path) or "")]
        return module_name(found[0]) if len(found) == 1 else ""

    def find_class(self, dotted: str, name: str) -> Class | None:
        """Return the class that ``from dotted import name`` binds, through re-exports; ``None`` if no text shows it."""
        return next((found for found, _ in followed(Reference(dotted, name), self._find_meanings)), None)

    def _find_meanings(self, dotted: str, name: str) -> Iterator[tuple[Class | Reference[str, Class], str]]:
        """Yield what a module says about a name; the first statement counts for a conditional name."""
        source = self.find_module(dotted)
        if source is None or not name:
            return
        path, text = source
        found = Class(module_name(path), name, text)
        if found.is_there:
            yield found, ""
            return
        try:
            for module, inner in _find_namesakes(text, path, name):
                yield Reference(module or dotted, inner), ""
        except InputError:  # the module does not parse
            return

    def find_inherited(self, text: str, class_name: str, dotted: str) -> Inherited:
        """Find what ``class_name`` of module ``dotted``, whose text is ``text``, inherits according to its MRO.

        ``upstream`` and ``vllm`` include members of vllm-ascend's and vLLM's classes that a nearer base overrides.
        """
        from runner_sync.upgrade import Inherited  # ``check`` needs no upgrade

        members: dict[str, str | None] = {}
        upstream: set[str] = set()
        vllm: dict[str, str] = {}
        hidden: dict[str, str] = {}
        parents = self.find_ancestors(text, class_name, dotted)
        for owner in parents:
            project = project_of(owner.module)
            for member, body in texts.members(owner.text, owner.name, owner.module).items():
                nearer = members.get(member) if project == "vllm-omni" else None
                if nearer and find_called_parents(nearer, member).isdisjoint(("super()", owner.name)):
                    hidden.setdefault(member, body)
                members.setdefault(member, body if project == "vllm-omni" else None)
                if project == "vllm-ascend":
                    upstream.add(member)
                elif project == "vllm":
                    vllm.setdefault(member, body)
        return Inherited(members, frozenset(owner.name for owner in parents), {}, frozenset(upstream), vllm, hidden)

    def find_ancestors(self, text: str, class_name: str, dotted: str) -> list[Class]:
        """Return the classes that ``class_name`` of module ``dotted`` inherits from, nearest first by its MRO."""
        return mro.linearise(Class(dotted, class_name, text), self._find_parents)[1:]

    def find_given_names(self, dotted: str, name: str, *, have: Collection[str] = ()) -> frozenset[str]:
        """Return the names that a class and its omni bases, except those in ``have``, give their instances."""
        from runner_sync.upgrade import find_instance_names

        owner = self.find_class(dotted, name)
        classes = mro.linearise(owner, self._find_parents) if owner is not None else []
        omnis = [one for one in classes if project_of(one.module) == "vllm-omni" and one.name not in have]
        return frozenset[str]().union(*(find_instance_names(one.text, one.name) for one in omnis))

    def find_reached(self, text: str, class_name: str, dotted: str, *, member: str) -> Iterator[Class]:
        """Yield the classes whose ``member`` runs when that of ``class_name`` calls ``super()``.

        That is the next class of the MRO that has it and, as long as each version calls ``super()`` in turn, those
        behind it.
        """
        for owner in self.find_ancestors(text, class_name, dotted):
            body = texts.members(owner.text, owner.name, owner.module).get(member)
            if body is not None:
                yield owner
                if "super()" not in find_called_parents(body, member):
                    return

    def _find_parents(self, owner: Class) -> Iterator[Class]:
        """Yield the base classes found in the trees; for a conditional base, that of the first branch."""
        for base in texts.bases_of(owner.text, owner.name, owner.module) if owner.is_there else ():
            for origin in base.origins[:1] or [BaseOrigin("", base.expression, "")]:
                found = self._resolve_class(origin, owner)
                if found is not None:
                    yield found

    def find_branches(self, text: str, class_name: str, dotted: str) -> Iterator[tuple[BaseClass, BaseOrigin, Class]]:
        """Yield the classes, as far as the trees have them, that conditional bases of a class may be."""
        owner = Class(dotted, class_name, text)
        for base in texts.bases_of(text, class_name, dotted) if owner.is_there else ():
            for origin in base.origins if len(base.origins) > 1 else ():
                found = self._resolve_class(origin, owner)
                if found is not None:
                    yield base, origin, found

    def _resolve_class(self, origin: BaseOrigin, owner: Class) -> Class | None:
        """Return the class that ``origin``, the binding of a base of ``owner``, names; ``None`` if no text shows it."""
        if origin.module:
            return self.find_class(absolute(origin.module, owner.module), origin.name)
        found = Class(owner.module, origin.name, owner.text)
        return found if found.is_there else self.find_class(owner.module, origin.name)

    def find_constructors(self, text: str, dotted: str) -> dict[str, frozenset[str]]:
        """Map the omni classes that module ``dotted`` imports to the keywords of their generated constructors."""
        found = {}
        for node in module_of(text).body:
            if not isinstance(node, ast.ImportFrom):
                continue
            for entry in imported_by(node):
                module = absolute(entry.module, dotted)
                owner = self.find_class(module, entry.name) if project_of(module) == "vllm-omni" else None
                fields = self._find_constructor_fields(owner) if owner is not None else None
                if fields is not None:
                    found[entry.bound] = fields
        return found

    def _find_constructor_fields(self, owner: Class) -> frozenset[str] | None:
        """Return the fields that a class and its bases add to the generated constructor.

        Returns ``None`` if there are none, a base is not at hand, or one of the classes has its own constructor or is
        closed to other attributes.
        """
        found: set[str] = set()
        for one in mro.linearise(owner, self._find_parents):
            added = find_added_fields(one.text, one.name)
            if added is None or len(texts.bases_of(one.text, one.name, one.module)) > len([*self._find_parents(one)]):
                return None
            found |= set(added)
        return frozenset(found) or None

    def base_expressions(self, text: str, class_name: str, dotted: str) -> tuple[str, ...]:
        """Return the base expressions of a class; empty if the module has no such class."""
        module = texts.parsed(text, dotted)
        return tuple(b.expression for b in class_bases(module, class_name)) if has_class(module, class_name) else ()


class Class(NamedTuple):
    """A class called ``name`` in ``module`` with the text ``text``; ``is_there`` says whether it exists."""

    module: str
    name: str
    text: str

    @property
    def is_there(self) -> bool:
        # Most modules merely import the class, which the text shows without parsing it.
        if not re.search(rf"\bclass[\s\\]+{re.escape(self.name)}\b", self.text):
            return False
        try:
            return has_class(texts.parsed(self.text, self.module), self.name)
        except InputError:
            return False


def _find_namesakes(text: str, path: str, name: str) -> Iterator[tuple[str, str]]:
    """Yield the modules and names that ``name`` of a module may stand for.

    It may be bound by the module's own imports and aliases or by star imports, or be a member of a module beside it.
    """
    origins = [(origin.module, origin.name) for origin in texts.origins_of(text, name, path)]
    stars = [] if origins else [(module, name) for module in texts.star_imports(text, path)]
    is_package = path.endswith("/__init__.py")
    importer = module_name(path)
    for module, inner in [*origins, *stars]:
        yield absolute(module, importer, is_package=is_package) if module else "", inner
    head, _, rest = name.partition(".")
    if rest and not origins:
        yield f"{importer}.{head}", rest
