"""What a call reaches: a function, or a constructor that is written, generated or inherited.

Comes in: functions and classes. Goes out: `Callee`s, or ``None`` if they are unknown. May touch: nothing else.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from runner_sync import signatures
from runner_sync.signatures import Signature
from runner_sync.syntax import Function, is_name, is_super
from runner_sync.verify.trees.calling.wrappers import Visible
from runner_sync.verify.trees.classes import Classes, ClassInfo, Mro, is_record
from runner_sync.verify.trees.functions import find_asserted, is_plain, nodes_of, returns_of
from runner_sync.verify.trees.known import all_known
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.values import generated


@dataclass(frozen=True, slots=True, eq=False)
class Callee:
    """One function or constructor that a call can reach.

    ``function`` is the one whose ``return`` gives the call its value: ``None`` for a constructor, which gives an
    instance.
    """

    name: str
    place: str
    signature: Signature
    function: Function | None
    module: Module
    info: ClassInfo | None

    @property
    def is_omnis(self) -> bool:
        """Whether the callee stands in omni code."""
        return self.module.is_omnis

    @property
    def label(self) -> str:
        """Name and place, for messages; the place of a parent's fields is said to be that."""
        parent = self.info.name if self.function is None and self.info is not None else self.name
        whose = f"fields of `{parent}`, " if parent != self.name else ""
        return f"`{self.name}` ({whose}{self.place})"

    def placed(self, call: ast.Call) -> dict[str, ast.expr]:
        """Return the argument that a call gives to each parameter, by position or name.

        Empty for a call with ``*args``, because its positions are unknown.
        """
        if any(isinstance(argument, ast.Starred) for argument in call.args):
            return {}
        arguments = dict(zip(self.signature.positional, call.args, strict=False))
        return arguments | {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}


def values_of(callee: Callee) -> list[ast.expr | None]:
    """Return what the ``return`` statements of a callee give; empty if a call gives something else, as a generator."""
    function = callee.function
    return list(returns_of(function)) if function is not None and is_plain(function) else []


def functions_of(callees: Sequence[Callee]) -> list[Function]:
    """Return the functions that give calls of ``callees`` their values; empty if one of them is a constructor."""
    return all_known(callee.function for callee in callees)


@functools.lru_cache(maxsize=1024)
def make_function(name: str, value: ast.Lambda) -> ast.FunctionDef:
    """Return ``def name(…): return …`` for ``name = lambda …``, always the same node."""
    body: list[ast.stmt] = [ast.copy_location(ast.Return(value.body), value)]
    return ast.copy_location(ast.FunctionDef(name, value.args, body, []), value)


def from_function(function: Function, module: Module, info: ClassInfo | None, *, through_class: bool) -> Callee | None:
    """Return the callee for a function, or ``None`` if a decorator may change its parameters."""
    if not signatures.is_as_written(function):
        return None
    bound = info is not None and signatures.is_bound(function, through_class=through_class)
    signature = _read_signature(function, bound=bound)
    return Callee(function.name, f"{module.path}:{function.lineno}", signature, function, module, info)


def _read_signature(function: Function, *, bound: bool) -> Signature:
    """Return the parameters of a function; a parameter that it asserts not to be ``None`` counts as required."""
    written = signatures.of_function(function, bound=bound)
    return replace(written, required=written.required | find_asserted(function))


def from_wrapper(function: Function, visible: Visible, info: ClassInfo | None, *, through_class: bool) -> Callee | None:
    """Return the callee for a decorated function, or ``None`` for a property.

    Callers see the signature of ``visible``: of the function itself, of a wrapper, or of both.
    """
    if signatures.decorator_names(function) & {"property", "cached_property"}:
        return None
    bound = info is not None and signatures.is_bound(function, through_class=through_class)
    if visible.signature is not None:
        signature = _drop_first(visible.signature) if bound else visible.signature
    else:
        assert visible.function is not None
        signature = _read_signature(visible.function, bound=bound)
    # The names in a wrapper belong to its own module, not to the class.
    owner = info if visible.function is function else None
    return Callee(function.name, visible.place, signature, visible.function, visible.module, owner)


def _drop_first(signature: Signature) -> Signature:
    """Return the signature of a method without the parameter for its object."""
    first, rest = signature.positional[:1], signature.positional[1:]
    return replace(signature, positional=rest, required=signature.required - {*first})


def find_constructors(classes: Classes, info: ClassInfo) -> list[Callee]:
    """Return the constructor of a class for each of its MROs; empty if one is unknown."""
    return all_known(_find_constructor(mro, info) for mro in classes.mros(info))


def _find_constructor(mro: Mro, info: ClassInfo) -> Callee | None:
    if mro.open or mro.has_method("__new__"):
        return None
    for part in mro.classes:
        decorators = signatures.decorator_names(part.node)
        if is_record(part):
            return Callee(info.name, part.place, signatures.of_fields(part.fields.values()), None, part.module, part)
        is_made = "dataclass" in decorators or part in generated.find_structs(mro.classes)
        if is_made and "__init__" not in part.methods:
            return _make_generated(info, mro.classes[mro.classes.index(part) :])
        if decorators - {"dataclass", "final", "runtime_checkable"}:
            return None
        written = part.methods.get("__init__", [])
        if ("__init__" in part.written or written) and not (len(written) == 1 and _leaves_all_to_parent(written[0])):
            return _make_written(info, part)
    return None


def _leaves_all_to_parent(function: Function) -> bool:
    """Whether ``__init__(self, *args, **kwargs)`` uses both only for ``super().__init__(*args, **kwargs)``.

    The next class of the MRO then decides what is accepted.
    """
    parameters = function.args
    names = [a.arg for a in (parameters.vararg, parameters.kwarg) if a is not None]
    if len(names) != 2 or len(signatures.named_parameters(function)) != 1 or function.decorator_list:
        return False
    args, kwargs = names
    used = [node.id for node in nodes_of(function) if isinstance(node, ast.Name) and node.id in names]
    for statement in function.body:
        match statement:
            case ast.Expr(
                ast.Call(ast.Attribute(value, "__init__"), [ast.Starred(first)], [ast.keyword(None, second)])
            ) if is_super(value):
                return is_name(first, args) and is_name(second, kwargs) and sorted(used) == sorted(names)
    return False


def _make_written(info: ClassInfo, part: ClassInfo) -> Callee | None:
    functions = part.methods.get("__init__", [])
    callee = from_function(functions[0], part.module, part, through_class=False) if len(functions) == 1 else None
    return Callee(info.name, callee.place, callee.signature, None, part.module, info) if callee else None


def _make_generated(info: ClassInfo, classes: Sequence[ClassInfo]) -> Callee | None:
    """Return the generated constructor of the dataclass or struct ``classes[0]``, which derives from the other classes.

    The callee has the name of ``info``, the class that is called.
    """
    signature = generated.make_signature(classes)
    made = classes[0]
    return Callee(info.name, made.place, signature, None, made.module, made) if signature is not None else None
