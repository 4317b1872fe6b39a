"""The three trees as one Python program that is read and never run.

Comes in: `Tree`s of vllm-omni, vllm-ascend and vLLM. Goes out: modules, the meaning of a dotted name in them (through
re-exports, packages, star imports and every branch of a conditional import), and the monkey patches that the trees
apply to each other. May touch: the trees, by reading. Nothing is imported.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from runner_sync.errors import PYTHON, InputError, UnresolvedConflict, unparsable
from runner_sync.model import PACKAGES, TITLES, Project
from runner_sync.naming import module_name, paths_of, project_of
from runner_sync.profile.vllm import BUILT
from runner_sync.references import Reference, alternatives, followed
from runner_sync.syntax import dotted_name
from runner_sync.trees import Tree
from runner_sync.unmerged import conflicts
from runner_sync.verify.answers import Answers, remembered
from runner_sync.verify.trees import modules
from runner_sync.verify.trees.modules import Binding, Module, PlacedImport
from runner_sync.verify.trees.start_up_patches import Patch, find_patches, is_patching, possible_names
from runner_sync.verify.trees.surroundings import Surroundings


@dataclass(frozen=True, slots=True, eq=False)
class Definition:
    """One meaning of a name. ``external`` is outside the trees; ``missing`` is provably absent from them.

    Every name from an unparsable module is ``external``, with ``module`` set to that module.
    """

    kind: Literal["class", "function", "module", "value", "external", "missing"]
    name: str
    module: Module | None = None
    node: ast.AST | None = None
    binding: Binding | None = None

    @property
    def value(self) -> ast.expr | None:
        """The expression that the name is bound to, if a statement assigns one."""
        return self.binding.value if self.binding is not None else None

    @property
    def last_name(self) -> str:
        """The last part of the dotted name."""
        return self.name.rpartition(".")[2]

    @property
    def place(self) -> str:
        """``path:line`` of the definition, for messages."""
        if self.module is None:
            return self.name
        return f"{self.module.path}:{getattr(self.node, 'lineno', 1)}"


class World:
    """The modules and names of several trees, parsed on demand and cached."""

    def __init__(self, trees: Mapping[Project, Tree], *, surroundings: Sequence[str]) -> None:
        """Take the trees by project. A project without a tree counts as external: nothing is proved about it.

        ``surroundings`` are the folders whose modules get runners passed, and may set attributes on them.
        """
        self.trees = dict(trees)
        known = {project: tree.source.version for project, tree in trees.items()}
        self._versions = {PACKAGES[project]: version for project, version in known.items() if version}
        self.surroundings = Surroundings(trees, surroundings)
        self.unread: dict[str, InputError] = {}
        """Errors of files that do not parse, by path: upstream files, and the omni files that `readable` was asked
        about. Other omni files raise their error."""
        self._built: dict[str, Module] = {}
        self.answers = Answers()

    def with_omni(self, omni: Tree) -> World:
        """Return a world with the same upstreams and another omni tree. Unchanged files are not parsed again."""
        trees: dict[Project, Tree] = {**self.trees, "vllm-omni": omni}
        other = World(trees, surroundings=self.surroundings.folders)
        other._built = self._built
        return other

    def tree_of(self, name: str) -> Tree | None:
        """Return the tree that holds module ``name``, or ``None`` if the module is external."""
        project = project_of(name)
        return self.trees.get(project) if project else None

    @remembered
    def module(self, name: str) -> Module | None:
        """Return the module ``name``, or ``None`` if no tree has it. Raises `InputError` if an omni module does not
        parse."""
        tree = self.tree_of(name)
        if tree is None:
            return None
        texts = ((path, tree.read(path)) for path in paths_of(name))
        known = ((path, text) for path, text in texts if text is not None)
        return next((self._parse(name, path, tree, text=text) for path, text in known), None)

    def module_at(self, path: str) -> Module:
        """Return the module of the omni file ``path``. Raises `InputError` if the file is missing or is not Python."""
        module = self.module(module_name(path))
        if module is None:
            raise InputError(f"{path}: not found in the omni tree; give the path of a runner module relative to it")
        return module

    def existing(self, paths: Sequence[str]) -> list[str]:
        """Return the omni files of ``paths`` that this world has, because an older tree may lack some."""
        return [path for path in paths if self.module(module_name(path)) is not None]

    def beside(self, paths: Sequence[str]) -> list[str]:
        """Return the other omni modules in the folders of ``paths`` that parse: the runners' mixins and helpers.

        Leaves out any ``__init__.py``.
        """
        tree = self.trees.get("vllm-omni")
        folders = sorted({path.rpartition("/")[0] for path in paths})
        candidates = [(path, folder) for folder in folders for path in (tree.paths(f"{folder}/") if tree else ())]
        near = [path for path, folder in candidates if path.rpartition("/")[0] == folder and path not in paths]
        return self.readable(path for path in near if not path.endswith("/__init__.py"))

    def readable(self, paths: Iterable[str]) -> list[str]:
        """Return the omni paths of ``paths`` that parse."""
        return [path for path in paths if self._is_readable(path)]

    def _is_readable(self, path: str) -> bool:
        try:
            return self.module(module_name(path)) is not None
        except InputError as error:
            self.unread[path] = error
            return False

    @remembered
    def resolve(self, module: Module, dotted: str) -> list[Definition]:
        """Return everything that ``dotted`` (``a`` or ``a.b.c``) can mean at the top level of ``module``."""
        head, *rest = dotted.split(".")
        found = self._lookup(module, head, set())
        for part in rest:
            found = [inner for outer in found for inner in self.member(outer, part)]
        return found

    def bases(self, module: Module, expression: ast.expr) -> list[Definition]:
        """Return what a base class of ``module`` may be: as `resolve`, but through aliases and conditional
        expressions."""
        return [definition for definition, _ in followed(Reference(module, expression), self._follow_base)]

    def _follow_base(
        self, module: Module, dotted: str
    ) -> Iterator[tuple[Definition | Reference[Module, Definition], str]]:
        head, _, rest = dotted.partition(".")
        held = [one for one in self.resolve(module, head) if one.kind == "value"] if rest else []
        found = held or (self.resolve(module, dotted) if dotted else [])
        # A name that may also hold the result of a call, say, proves nothing by its other values.
        is_known = all(_is_followable(one) for one in found)
        for one in found or [Definition("external", dotted)]:
            if one.value is None or one.module is None or not is_known:
                yield one, ""
                continue
            for part, condition in alternatives(one.value):
                name = dotted_name(part) or ""
                yield Reference(one.module, f"{name}.{rest}" if name and rest else name, one), condition

    def lookup(self, module_name: str, name: str = "") -> list[Definition]:
        """Return what ``from module_name import name`` binds; without ``name``, the module itself."""
        return self._lookup_import(module_name, name, set())

    def imported(self, imported: PlacedImport) -> list[Definition]:
        """Return what an import statement binds its name to."""
        return self._resolve_import(imported, set())

    def patches_of(self, name: str) -> list[Definition]:
        """Return what start-up patches put in place of the dotted ``name`` (a function, or an attribute of a class)."""
        patches = self._find_patches().get(name.rpartition(".")[2], ())
        return [
            d for patch in patches if name in self._resolve_targets(patch) for d in self._resolve_replacement(patch)
        ]

    def class_patches(self, class_name: str) -> dict[str, list[Definition]]:
        """Return the attributes of the class ``class_name`` (dotted) that start-up patches replace, with the
        replacements."""
        found: dict[str, list[Definition]] = {}
        for patch in self._find_patches().get(class_name.rpartition(".")[2], ()):
            if f"{class_name}.{patch.attribute}" in self._resolve_targets(patch):
                found.setdefault(patch.attribute, []).extend(self._resolve_replacement(patch))
        return found

    def _parse(self, name: str, path: str, tree: Tree, *, text: str) -> Module:
        project, is_package = tree.source.project, path.endswith("/__init__.py")
        built = self._built.get(path)
        if built is not None and built.text == text:
            return built
        try:
            built = modules.build(name, path, project, text=text, is_package=is_package, versions=self._versions)
        except SyntaxError as error:
            if project == "vllm-omni" and (found := conflicts(text)):
                raise UnresolvedConflict(path, found[0][0]) from error
            if project == "vllm-omni":
                raise unparsable(f"{path}:{error.lineno or 1}", error.msg) from error
            broken = modules.build(name, path, project, text="", is_package=is_package)
            broken.dynamic = True
            broken.error = self.unread[path] = _make_upstream_error(path, tree, text=text, error=error)
            return broken
        self._built[path] = built
        return built

    def _is_namespace(self, name: str) -> bool:
        tree = self.tree_of(name)
        return tree is not None and any(True for _ in tree.paths(name.replace(".", "/") + "/"))

    def _lookup(self, module: Module, name: str, seen: set[tuple[str, str]]) -> list[Definition]:
        if (module.name, name) in seen:
            return []
        seen.add((module.name, name))
        found: list[Definition] = []
        for binding in module.bindings.get(name, ()):
            found.extend(self._resolve_binding(module, name, binding, seen=seen))
        if not found:
            found.extend(self._lookup_in_stars(module, name, seen))
        return found

    def _resolve_binding(
        self, module: Module, name: str, binding: Binding, *, seen: set[tuple[str, str]]
    ) -> list[Definition]:
        imported = binding.imported
        if binding.kind == "import" and imported is not None:
            return self._resolve_import(imported, seen)
        kind = "value" if binding.kind == "import" else binding.kind
        return [Definition(kind, f"{module.name}.{name}", module, binding.node, binding)]

    def _resolve_import(self, imported: PlacedImport, seen: set[tuple[str, str]]) -> list[Definition]:
        if not imported.name:
            return self._lookup_import(imported.dotted, "", seen)
        return self._lookup_import(imported.module, imported.name, seen)

    def _lookup_in_stars(self, module: Module, name: str, seen: set[tuple[str, str]]) -> list[Definition]:
        found: list[Definition] = []
        for star in module.stars:
            inner = self.module(star)
            if inner is None or inner.exports(name):
                found.extend(d for d in self._lookup_import(star, name, seen) if d.kind != "missing")
        return found

    def _lookup_import(self, module_name: str, name: str, seen: set[tuple[str, str]]) -> list[Definition]:
        full = f"{module_name}.{name}" if name else module_name
        if self.tree_of(module_name) is None or BUILT.search(full):
            return [Definition("external", full)]
        module = self.module(module_name)
        if module is None:
            inner = self.module(full) if name else None
            if inner is not None:
                return [Definition("module", full, inner, inner.node)]
            return [Definition("external" if self._is_namespace(module_name) else "missing", module_name)]
        if not name:
            return [Definition("module", module_name, module, module.node)]
        return self._lookup(module, name, seen) or self._lookup_submodule(module, name)

    def _lookup_submodule(self, module: Module, name: str) -> list[Definition]:
        full = f"{module.name}.{name}"
        inner = self.module(full) if module.is_package else None
        if inner is not None:
            return [Definition("module", full, inner, inner.node)]
        if module.error is not None:
            return [Definition("external", full, module, module.node)]
        if module.dynamic or (module.is_package and self._is_namespace(full)) or self._has_open_star(module):
            return [Definition("external", full)]
        return [Definition("missing", full, module, module.node)]

    def _has_open_star(self, module: Module) -> bool:
        return any(
            self.tree_of(star) is None or BUILT.search(star) or self.module(star) is None for star in module.stars
        )

    def member(self, outer: Definition, name: str) -> list[Definition]:
        """Return what ``outer.name`` means: ``external``, that is unknown, unless ``outer`` is a module."""
        if outer.kind == "module" and outer.module is not None:
            return self._lookup(outer.module, name, set()) or self._lookup_submodule(outer.module, name)
        return [Definition("external", f"{outer.name}.{name}")]

    @remembered
    def _find_patches(self) -> dict[str, list[Patch]]:
        """Return the start-up patches, by the attribute that they replace, and by the names that its class may have."""
        found: dict[str, list[Patch]] = {}
        patching: tuple[Project, ...] = ("vllm-ascend", "vllm-omni")
        for project in patching:
            tree = self.trees.get(project)
            for path in tree.paths(f"{PACKAGES[project]}/") if tree else ():
                module = self.module(module_name(path)) if is_patching(path) else None
                for patch in find_patches(module) if module is not None else ():
                    for name in {patch.attribute, *possible_names(patch)}:
                        found.setdefault(name, []).append(patch)
        return found

    @remembered
    def _resolve_targets(self, patch: Patch) -> set[str]:
        return {f"{owner.name}.{patch.attribute}" for owner in self.resolve(patch.module, patch.owner)}

    def _resolve_replacement(self, patch: Patch) -> list[Definition]:
        text = ast.unparse(patch.value) if patch.value is not None else ""
        found = self.resolve(patch.module, text) if re.fullmatch(r"[\w.]+", text) else []
        return [d for d in found if d.kind == "function"] or [Definition("external", text, patch.module, patch.node)]


def _is_followable(definition: Definition) -> bool:
    """Whether a definition holds no value, or only names and attributes that lead on."""
    value = definition.value
    return value is None or all(dotted_name(part) is not None for part, _ in alternatives(value))


def _make_upstream_error(path: str, tree: Tree, *, text: str, error: SyntaxError) -> InputError:
    if found := conflicts(text):
        return UnresolvedConflict(path, found[0][0])
    # The file may be sound: only Python 3.14 and later reads `except A, B:`.
    where = f"{path}:{error.lineno or 1} of {TITLES[tree.source.project]} {tree.source.ref}"
    remedy = "repair it, or run with the Python that it is written for"
    return InputError(f"{where} does not parse with {PYTHON} ({error.msg}); {remedy}.")
