"""Which built-in types an expression holds, by the values that an attribute is assigned, or by annotations.

Comes in: a `Program`, a frame of it and an expression in it. Goes out: types, or ``None`` if they are unknown. May
touch: nothing. NumPy's array counts as built in.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from runner_sync.syntax import dotted_name, generic_of, is_none, last_word
from runner_sync.verify.trees.classes import Assignment
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.steps import Step
from runner_sync.verify.trees.values.annotations import find_property_type, members_of
from runner_sync.verify.trees.values.elements import (
    Loop,
    find_annotations,
    find_key_annotations,
    find_loop_annotations,
)

# The attributes of NumPy's array, as far as code names them.
_OF_ARRAYS = (
    "T", "all", "any", "argmax", "argmin", "argpartition", "argsort", "astype", "base", "byteswap", "choose", "clip",
    "compress", "conj", "conjugate", "copy", "ctypes", "cumprod", "cumsum", "data", "device", "diagonal", "dot",
    "dtype", "dump", "dumps", "fill", "flags", "flat", "flatten", "getfield", "imag", "item", "itemset", "itemsize",
    "mT", "max", "mean", "min", "nbytes", "ndim", "newbyteorder", "nonzero", "partition", "prod", "ptp", "put",
    "ravel", "real", "repeat", "reshape", "resize", "round", "searchsorted", "setfield", "setflags", "shape", "size",
    "sort", "squeeze", "std", "strides", "sum", "swapaxes", "take", "to_device", "tobytes", "tofile", "tolist",
    "tostring", "trace", "transpose", "var", "view", "__array__", "__getitem__", "__iter__", "__len__", "__setitem__",
)  # fmt: skip
_ARRAY = type("ndarray", (), dict.fromkeys(_OF_ARRAYS))
_BY_NAME: dict[str, type] = {
    "list": list, "dict": dict, "set": set, "frozenset": frozenset, "tuple": tuple, "int": int, "float": float,
    "bool": bool, "str": str, "bytes": bytes, "np.ndarray": _ARRAY, "numpy.ndarray": _ARRAY,
}  # fmt: skip
_BY_DISPLAY: dict[type[ast.expr], type] = {
    ast.List: list, ast.ListComp: list, ast.Dict: dict, ast.DictComp: dict, ast.Set: set, ast.SetComp: set,
    ast.Tuple: tuple, ast.JoinedStr: str,
}  # fmt: skip
# The last words of bases that are below a built-in type.
_DERIVED = ("IntEnum", "IntFlag", "StrEnum", "NamedTuple", "namedtuple", "Dict", "dict", "List", "Counter", "ndarray")


def find_held_types(program: Program, frame: Frame, node: ast.expr) -> frozenset[type] | None:
    """Return the types of all values that an attribute of ``self`` or of a constructed object is assigned (``None``
    adds none), in every MRO; ``None`` if one is unknown or not built in."""
    if not isinstance(node, ast.Attribute) or frame.info is None:
        return None
    mros = program.mros_of(frame, node.value, only_exact=True)
    if not mros or any(mro.open or mro.has_method(node.attr) for mro in mros):
        return None
    return _unite(_read_assignment(a) for mro in mros for _, a in program.assignments(mro, node.attr))


def find_declared_types(program: Program, frame: Frame, node: ast.expr) -> frozenset[type] | None:
    """Return the types that the annotations of an expression name, as its own or as the elements of a container;
    ``None`` if one is unknown or not built in."""
    # timid: an attribute of the runner may be assigned more than its annotation says.
    may_be_assigned = frame.is_of_self(node) and not all(
        find_property_type(mro, node.attr) for mro in program.mros_of(frame, node.value)
    )
    found = find_annotations(program, frame, node, 0) if not may_be_assigned else None
    return _unite(_read_annotation(annotation) for _, annotation in found or ())


def find_types(program: Program, frame: Frame, node: ast.expr) -> frozenset[type] | None:
    """Return the types that an expression holds by assignments, else by annotations; ``None`` if unknown."""
    return find_held_types(program, frame, node) or find_declared_types(program, frame, node)


def find_key_types(program: Program, frame: Frame, node: ast.expr) -> frozenset[type] | None:
    """Return the types of the keys of a dictionary by its annotations; ``None`` if one is unknown or not built in."""
    return _unite(_read_annotation(annotation) for _, annotation in find_key_annotations(program, frame, node) or ())


def find_index_types(program: Program, frame: Frame, node: ast.expr) -> frozenset[type] | None:
    """Return the types of what a subscript asks for: a constant, a local that counts, or an annotated value."""
    match node:
        case ast.Constant(value=value):
            return frozenset({type(value)})
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int())):
            return frozenset({int})
        case ast.Name(id=name) if frame.bound.get(name) and name not in frame.imports:
            return _unite(_read_bound(program, frame, bound, node) for bound in frame.bound_before(node))
    return find_declared_types(program, frame, node)


def _read_bound(program: Program, frame: Frame, bound: ast.AST, read: ast.Name) -> set[type] | None:
    """Return the types that one binding of a local gives it."""
    if not isinstance(bound, Loop):
        return {*(find_declared_types(program, frame, read) or ())} or None
    if _counts(frame, bound, read.id):
        return {int}
    found = find_loop_annotations(program, frame, bound, read.id)
    return {*(_unite(_read_annotation(annotation) for _, annotation in found or ()) or ())} or None


def _counts(frame: Frame, loop: Loop, name: str) -> bool:
    """Whether a loop gives a local whole numbers: ``for i in range(n)``, ``for i, row in enumerate(rows)``."""
    match loop.target, loop.iter:
        case ast.Name(id=target), ast.Call(func=ast.Name(id="range")):
            return target == name and not frame.binds("range")
        case ast.Tuple(elts=[ast.Name(id=target), _]), ast.Call(func=ast.Name(id="enumerate")):
            return target == name and not frame.binds("enumerate")
    return False


def was_derived(step: Step, node: ast.Attribute) -> bool:
    """Whether the object of an attribute was of a class below a built-in one, so that a value of such a class also fits
    what is declared now: ``Mode(str, Enum)`` and ``str``."""
    infos = [i.info for i in step.old.infer(step.before, node.value) or ()]
    bases = [b for mro in step.old.classes.mros_of(infos) for info in mro.classes for b in info.node.bases]
    words = (last_word(base.func if isinstance(base, ast.Call) else base) for base in bases)
    return any(word.endswith(_DERIVED) or word in _BY_NAME for word in words)


def _unite(parts: Iterable[set[type] | None]) -> frozenset[type] | None:
    """Return the union of several sets of types; ``None`` if one is unknown, or all are empty."""
    found: set[type] = set()
    for kinds in parts:
        if kinds is None:
            return None
        found |= kinds
    return frozenset(found) or None


def _read_assignment(assignment: Assignment) -> set[type] | None:
    annotation = assignment.annotation
    return _read_annotation(annotation) if annotation is not None else _read_value(assignment.value)


def _read_annotation(annotation: ast.expr | None) -> set[type] | None:
    kinds = [_read_member(one) for one in members_of(annotation) if not is_none(one)]
    known = {kind for kind in kinds if kind is not None}
    return known if None not in kinds and members_of(annotation) else None


def _read_member(annotation: ast.expr) -> type | None:
    return _BY_NAME.get(dotted_name(generic_of(annotation)) or "")


def _read_value(value: ast.expr | None) -> set[type] | None:
    if isinstance(value, ast.Constant):
        return set() if value.value is None else {type(value.value)}
    kind = _BY_DISPLAY.get(type(value)) if value is not None else None
    return {kind} if kind is not None else None
