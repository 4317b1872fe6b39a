"""Classes of a world: their members, what methods assign to ``self``, base classes and MROs.

Comes in: a `World`. Goes out: `ClassInfo` and `Mro` (a linearisation of a class, one per branch of a conditional base).
May touch: nothing else.
"""

from __future__ import annotations

import ast
import enum
import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from runner_sync import mro
from runner_sync.signatures import Field, fields_of
from runner_sync.statements.assigning import ASSIGNING, assigned_by, assignments_of
from runner_sync.syntax import Function, for_typing, generic_of, is_name, statements_of
from runner_sync.verify.answers import remembered
from runner_sync.verify.trees.functions import nodes_of
from runner_sync.verify.trees.instance import is_for_instances, may_be_instance, self_name
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.set_by_name import find_set_names
from runner_sync.verify.trees.world import Definition, World

# Bases that neither add nor hide an attribute that a runner could read.
_PLAIN_BASES = frozenset({"object", "ABC", "abc.ABC", "Generic", "Protocol", "typing.Protocol", "typing.Generic"})
# The base class that makes the constructor and slots from annotations.
_STRUCT = "msgspec.Struct"
# Methods of a dictionary that do not change it.
_READERS = frozenset({"items", "keys", "values", "get", "copy"})

_ENUMS = frozenset({"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"})
_ENUM_MEMBERS = frozenset({"name", "value", *dir(enum.IntFlag), *dir(enum.StrEnum)})

_MAX_MROS = 8
"""Linearisations of one class that are read: enough for three conditional bases of two branches. Releases have one such
base."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """One write of an attribute: in a class body (``function`` is ``None``) or through ``self`` in a method."""

    value: ast.expr | None
    annotation: ast.expr | None
    function: Function | None
    node: ast.AST

    @property
    def is_bare(self) -> bool:
        """Whether this is an annotation without a value: ``rows: list[Row]``."""
        return self.value is None and isinstance(self.node, ast.AnnAssign)


@dataclass(slots=True, eq=False, repr=False)
class ClassInfo:
    """A class as its statement shows it. ``open``: it can have attributes that no statement names."""

    name: str
    module: Module
    node: ast.ClassDef
    methods: dict[str, list[Function]] = field(default_factory=dict)
    written: dict[str, list[Assignment]] = field(default_factory=dict)
    open: bool = False

    @property
    def place(self) -> str:
        """``path:line`` of the class statement."""
        return self.place_of(self.node)

    def place_of(self, node: ast.AST) -> str:
        """Return ``path:line`` of a node in the class; of the class statement for a node without a line."""
        return f"{self.module.path}:{getattr(node, 'lineno', self.node.lineno)}"

    @property
    def label(self) -> str:
        """Name and place, for messages."""
        return f"`{self.name}` ({self.place})"

    @property
    def is_omnis(self) -> bool:
        """Whether the class stands in omni code."""
        return self.module.is_omnis

    @property
    def key(self) -> tuple[str, str]:
        """Module and name, which a class shares with the same class of another world."""
        return self.module.name, self.name

    @property
    def has_getattr(self) -> bool:
        """Whether objects of the class may have attributes that nothing sets."""
        return "__getattr__" in self.methods or "__getattribute__" in self.methods

    def has(self, name: str) -> bool:
        """Whether the class body or a method defines, assigns or declares a member of that name."""
        return name in self.methods or name in self.written

    def written_in_body(self, name: str) -> list[Assignment]:
        """Return the assignments and annotations of a name in the class body, outside of methods."""
        return [assignment for assignment in self.written.get(name, ()) if assignment.function is None]

    @property
    def fields(self) -> dict[str, Field]:
        """The fields that the class body declares (NamedTuple, dataclass, struct)."""
        return fields_of(self.node)


Method = tuple[ClassInfo, Function]
"""A method, with the class that defines it."""


@dataclass(frozen=True, slots=True, eq=False)
class Mro:
    """One linearisation, the class itself first. ``open``: an object may have attributes that no class here shows.

    ``is_foreign``: the class itself may have such attributes, because a base is unknown. A ``__getattr__`` makes an MRO
    ``open`` but not foreign, because it supplies attributes of objects only.
    """

    classes: tuple[ClassInfo, ...]
    open: bool
    is_foreign: bool

    @property
    def head(self) -> ClassInfo:
        """The class whose MRO this is."""
        return self.classes[0]

    def find(self, method: str, *, after: ClassInfo | None = None) -> tuple[ClassInfo, list[Function]] | None:
        """Return the class that ``self.method`` (or ``super().method`` from ``after``) reaches, with its
        definitions."""
        for info in self.classes if after is None else self.behind(after):
            if method in info.methods:
                return info, info.methods[method]
            if method in info.written:
                return info, []
        return None

    def reached(self, method: str, *, after: ClassInfo | None = None) -> list[Method]:
        """Return the methods that `find` reaches, each with its class; empty for a value, and if the MRO lacks
        ``after``."""
        found = self.find(method, after=after) if after is None or after in self else None
        return [(found[0], function) for function in found[1]] if found is not None else []

    def first_with(self, method: str) -> ClassInfo | None:
        """Return the first class that defines a method of that name."""
        return next((info for info in self.classes if method in info.methods), None)

    def behind(self, info: ClassInfo) -> tuple[ClassInfo, ...]:
        """Return the classes behind ``info``, which its ``super()`` reaches."""
        return self.classes[self.classes.index(info) + 1 :]

    def has(self, name: str) -> bool:
        """Whether some class of the MRO has a member of that name."""
        return any(info.has(name) for info in self.classes)

    def has_method(self, name: str) -> bool:
        """Whether some class of the MRO has a method of that name, overridden or not."""
        return any(name in info.methods for info in self.classes)

    def written(self, name: str) -> list[tuple[ClassInfo, Assignment]]:
        """Return all assignments and annotations of an attribute in the MRO's classes, whether they can run or not."""
        return [(info, assignment) for info in self.classes for assignment in info.written.get(name, ())]

    def writes(self) -> Iterator[tuple[ClassInfo, str, Assignment]]:
        """Yield all assignments and annotations of every attribute: class, attribute, assignment."""
        rows = ((info, name, writes) for info in self.classes for name, writes in info.written.items())
        return ((info, name, write) for info, name, writes in rows for write in writes)

    def __contains__(self, info: object) -> bool:
        return info in self.classes


def classes_in(mros: Iterable[Mro]) -> list[ClassInfo]:
    """Return the classes of several MROs of one world, each once, in order."""
    return list(dict.fromkeys(info for mro in mros for info in mro.classes))


class Classes:
    """Class information of one world, computed once per class."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._mros: dict[ClassInfo, list[Mro]] = {}

    def info(self, definition: Definition) -> ClassInfo | None:
        """Return the class that ``definition`` is, or ``None`` if it is not a class."""
        if definition.module is None or not isinstance(definition.node, ast.ClassDef):
            return None
        return self.info_of(definition.module, definition.node)

    @remembered
    def info_of(self, module: Module, node: ast.ClassDef) -> ClassInfo:
        """Return the information of a class statement, with the patches that the trees apply to the class."""
        info = _read_class(module, node)
        self._apply_patches(info)
        return info

    def mros(self, info: ClassInfo) -> list[Mro]:
        """Return the possible MROs of a class, one for each branch of its conditional bases (at most eight).

        The shortest comes first: a branch for one device (`NPUModelRunner310`) derives from the general class.
        """
        if info not in self._mros:
            self._mros[info] = [Mro((), True, True)]  # the answer for a class among its own bases
            found = itertools.islice(self._linearise(info), _MAX_MROS)
            self._mros[info] = sorted(found, key=lambda mro: len(mro.classes))
        return self._mros[info]

    def mros_of(self, infos: Iterable[ClassInfo]) -> list[Mro]:
        """Return the possible MROs of several classes."""
        return [mro for info in infos for mro in self.mros(info)]

    def _linearise(self, info: ClassInfo) -> Iterator[Mro]:
        choices = [self._find_base_mros(info, base) for base in info.node.bases]
        is_open = info.open or any(
            k.arg == "metaclass" and "ABCMeta" not in ast.unparse(k.value) for k in info.node.keywords
        )
        for combination in itertools.product(*choices):
            parts = [list(part.classes) for part in combination if part is not None]
            merged, is_agreed = mro.merge([*parts, [part[0] for part in parts if part]])
            known = all(part is not None for part in combination)
            is_unsure = is_open or not known or not is_agreed
            opened = is_unsure or info.has_getattr or any(part.open for part in combination if part)
            is_foreign = is_unsure or any(part.is_foreign for part in combination if part)
            yield Mro((info, *merged), opened, is_foreign)

    def _find_base_mros(self, info: ClassInfo, base: ast.expr) -> list[Mro | None]:
        expression = generic_of(base)
        text = ast.unparse(expression)
        if text in _PLAIN_BASES or text.split(".")[-1] in {"NamedTuple", *_ENUMS}:
            return [Mro((), False, False)]
        found: list[Mro | None] = []
        definitions = self.world.bases(info.module, expression)
        if definitions and all(definition.name == _STRUCT for definition in definitions):
            return [Mro((), False, False)]
        for definition in definitions:
            inner = self.info(definition)
            found.extend(self.mros(inner) if inner is not None else [None])
        return found or [None]

    def _apply_patches(self, info: ClassInfo) -> None:
        for attribute, replacements in self.world.class_patches(f"{info.module.name}.{info.name}").items():
            for definition in replacements:
                if isinstance(definition.node, Function):
                    info.methods.setdefault(attribute, []).append(definition.node)
                else:
                    # timid: the replacement cannot be read, so the signature is unknown.
                    info.written.setdefault(attribute, []).append(Assignment(None, None, None, info.node))
                    info.methods.pop(attribute, None)


def _read_class(module: Module, node: ast.ClassDef) -> ClassInfo:
    info = ClassInfo(node.name, module, node)
    unseen = for_typing(node.body)
    for statement in statements_of(node.body):
        if id(statement) in unseen and not isinstance(statement, ast.AnnAssign):
            continue
        if isinstance(statement, Function):
            info.methods.setdefault(statement.name, []).append(statement)
        for name, value, annotation in _find_class_writes(statement):
            info.written.setdefault(name, []).append(Assignment(value, annotation, None, statement))
    for function in [function for functions in info.methods.values() for function in functions]:
        _read_method(info, function)
    if any(ast.unparse(base).split(".")[-1] in _ENUMS for base in node.bases):
        info.written |= {name: [Assignment(None, None, None, node)] for name in _ENUM_MEMBERS - info.written.keys()}
    return info


def _find_class_writes(statement: ast.stmt) -> Iterator[tuple[str, ast.expr | None, ast.expr | None]]:
    """Yield name, value and annotation of each attribute that a statement of a class body sets, without methods."""
    if isinstance(statement, ast.ClassDef):
        yield statement.name, None, None
    yield from (one for one in assigned_by(statement) if "." not in one.name)


_WRITING = ASSIGNING | {ast.Call, ast.Attribute}
"""The kinds of node that may set an attribute, or give access to ``__dict__``."""


def _read_method(info: ClassInfo, function: Function) -> None:
    if self_name(function) is None:
        return
    only_read: set[int] = set()
    for node in nodes_of(function):
        if type(node) not in _WRITING:
            continue
        for target, value, annotation in assignments_of(node):
            if isinstance(target, ast.Attribute) and is_for_instances(function, target.value):
                info.written.setdefault(target.attr, []).append(Assignment(value, annotation, function, node))
        if isinstance(node, ast.Call):
            _read_setattr(info, function, node)
        if isinstance(node, ast.Attribute) and node.attr in _READERS:
            only_read.add(id(node.value))
        elif _is_instance_dict(node, function) and id(node) not in only_read:
            info.open = True


def _is_instance_dict(node: ast.AST, function: Function) -> bool:
    """Whether ``node`` is ``self.__dict__`` or ``vars(self)``."""
    if isinstance(node, ast.Call):
        return is_name(node.func, "vars") and bool(node.args) and may_be_instance(function, node.args[0])
    return isinstance(node, ast.Attribute) and node.attr == "__dict__" and may_be_instance(function, node.value)


def _read_setattr(info: ClassInfo, function: Function, call: ast.Call) -> None:
    names = find_set_names(function, call)
    for name in names or ():
        info.written.setdefault(name, []).append(Assignment(None, None, function, call))
    info.open = info.open or names is None


def is_record(info: ClassInfo) -> bool:
    """Whether a class is a ``NamedTuple`` by its own bases."""
    return any(ast.unparse(base).endswith("NamedTuple") for base in info.node.bases)


def is_struct(info: ClassInfo) -> bool:
    """Whether a class is a ``msgspec.Struct`` by its own bases."""
    return any(ast.unparse(base) in (_STRUCT, "Struct") for base in info.node.bases)


def is_protocol(info: ClassInfo) -> bool:
    """Whether a class is a ``Protocol`` by its own bases: a value annotated with it may be of any class."""
    return any(ast.unparse(generic_of(base)).split(".")[-1] == "Protocol" for base in info.node.bases)
