"""Determine which calls a signature accepts, and whether it accepts all calls of another or promises a value.

Comes in: a function node (or a class whose constructor is generated) and a call node. Goes out: `Signature` and the
`Misfit`s of the call. May touch: nothing. The rules are those of the Python reference, section "Calls".
"""

from __future__ import annotations

import ast
import functools
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeGuard

from runner_sync.syntax import Function, decorator_name, is_name, string_of, walk

# Decorators that keep the parameters as written.
TRANSPARENT = frozenset(
    {
        "staticmethod", "classmethod", "abstractmethod", "override", "overload", "final", "contextmanager",
        "asynccontextmanager", "inference_mode", "no_grad", "lru_cache", "cache", "capture", "instrument", "deprecated",
        "disable",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Signature:
    """Parameters as a caller sees them: without a bound ``self`` or ``cls``. ``required`` ones have no default."""

    positional: tuple[str, ...]
    positional_only: frozenset[str]
    keyword_only: tuple[str, ...]
    required: frozenset[str]
    var_positional: bool
    var_keyword: bool

    @property
    def names(self) -> tuple[str, ...]:
        """All parameters but ``*args`` and ``**kwargs``, in order."""
        return (*self.positional, *self.keyword_only)

    @property
    def keywords(self) -> frozenset[str]:
        """The names that may be passed as keywords."""
        return frozenset(self.names) - self.positional_only


@dataclass(frozen=True, slots=True)
class Arguments:
    """What a call passes: the number of values by position, and the keywords.

    ``open_positional``/``open_keyword``: a ``*``/``**`` argument may pass more.
    """

    positional: int
    keywords: tuple[str, ...]
    open_positional: bool
    open_keyword: bool


@dataclass(frozen=True, slots=True)
class Misfit:
    """One way in which a call does not fit. ``name`` is the keyword or parameter, or empty."""

    kind: Literal["unknown keyword", "by position only", "too many positional", "missing", "given twice"]
    name: str
    text: str


def of_function(function: Function, *, bound: bool) -> Signature:
    """Return the signature of ``function``; ``bound`` drops the first parameter (``self``, ``cls``)."""
    arguments = function.args
    names = [parameter.arg for parameter in positional_parameters(function)]
    required = {name for name, default in defaults_of(function).items() if default is None}
    dropped = names[:1] if bound else []
    return Signature(
        tuple(names[len(dropped) :]),
        frozenset(a.arg for a in arguments.posonlyargs) - set(dropped),
        tuple(a.arg for a in arguments.kwonlyargs),
        frozenset(required - set(dropped)),
        arguments.vararg is not None,
        arguments.kwarg is not None,
    )


def of_method(function: Function) -> Signature:
    """Return the signature of a function as its callers see it: without the first parameter where that is bound."""
    return of_function(function, bound=is_bound(function))


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a dataclass, a ``NamedTuple`` or a ``msgspec.Struct``, declared by ``node``.

    ``is_given``: the constructor takes it; ``by_keyword``: only as a keyword. Either is ``None`` if the option that
    decides it (``init``, ``kw_only``) is not a constant.
    """

    node: ast.AnnAssign
    name: str
    has_default: bool
    by_keyword: bool | None
    is_given: bool | None


def fields_of(owner: ast.ClassDef) -> dict[str, Field]:
    """Return the fields declared in a class body, by name; a field declared twice keeps its first position."""
    by_keyword = class_option(owner, "kw_only")
    found: dict[str, Field] = {}
    for statement in owner.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            annotation = ast.unparse(statement.annotation)
            if annotation.split(".")[-1].strip("'\"") == "KW_ONLY":
                by_keyword = True
            elif "ClassVar" not in annotation:
                found[statement.target.id] = _make_field(statement, statement.target.id, by_keyword)
    return found


def _make_field(node: ast.AnnAssign, name: str, by_keyword: bool | None) -> Field:
    value = node.value
    if not isinstance(value, ast.Call) or decorator_name(value) != "field":
        return Field(node, name, value is not None, by_keyword, True)
    has_default = any(keyword.arg in ("default", "default_factory") for keyword in value.keywords)
    keyword = option(value, "kw_only", default=by_keyword)
    return Field(node, name, has_default, keyword, option(value, "init", default=True))


def class_option(owner: ast.ClassDef, name: str) -> bool | None:
    """Return the option ``name`` of a class, from ``@dataclass(…)`` or its head (``class Row(Struct, kw_only=True)``).

    ``False`` if the option is not given, ``None`` if it is not a constant or may come from a ``**``.
    """
    decorators = find_dataclass_decorators(owner)
    return option(decorators[0] if decorators else owner, name, default=False)


def option(holder: ast.expr | ast.ClassDef, name: str, *, default: bool | None) -> bool | None:
    """Return the option ``name`` of ``@dataclass(…)``, ``field(…)`` or a class head.

    ``default`` if it is not given, ``None`` if it is not a constant or may come from a ``**``.
    """
    if not isinstance(holder, ast.Call | ast.ClassDef):
        return default
    given = {keyword.arg: keyword.value for keyword in holder.keywords}
    value = given.get(name, ast.Constant(None if None in given else default))
    return bool(value.value) if isinstance(value, ast.Constant) and value.value is not None else None


def of_fields(fields: Iterable[Field]) -> Signature:
    """Return the signature of the constructor generated from ``fields``."""
    given = [field for field in fields if field.is_given]
    return Signature(
        tuple(field.name for field in given if not field.by_keyword),
        frozenset(),
        tuple(field.name for field in given if field.by_keyword),
        frozenset(field.name for field in given if not field.has_default),
        False,
        False,
    )


def arguments_of(call: ast.Call) -> list[ast.expr]:
    """Return all arguments of a call, by position and by keyword, with those behind ``*`` and ``**``."""
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def positional_parameters(function: Function | ast.Lambda) -> list[ast.arg]:
    """Return the parameters that a call can give by position, ``self`` included."""
    return [*function.args.posonlyargs, *function.args.args]


def named_parameters(function: Function) -> list[ast.arg]:
    """Return all parameters but ``*args`` and ``**kwargs``, in order."""
    return [*positional_parameters(function), *function.args.kwonlyargs]


def defaults_of(function: Function) -> dict[str, ast.expr | None]:
    """Return the default of each of the `named_parameters`; ``None`` for a parameter that has none."""
    arguments, parameters = function.args, named_parameters(function)
    required = len(parameters) - len(arguments.kwonlyargs) - len(arguments.defaults)
    defaults = [*[None] * required, *arguments.defaults, *arguments.kw_defaults]
    return {parameter.arg: default for parameter, default in zip(parameters, defaults, strict=True)}


def decorator_names(definition: Function | ast.ClassDef) -> set[str]:
    """Return the last words of the names of the decorators: ``inference_mode`` for ``@torch.inference_mode()``."""
    return {decorator_name(decorator) for decorator in definition.decorator_list}


def find_dataclass_decorators(owner: ast.ClassDef) -> list[ast.expr]:
    """Return the ``@dataclass`` decorators of a class, of which there may be one."""
    return [decorator for decorator in owner.decorator_list if decorator_name(decorator) == "dataclass"]


def is_bound(function: Function, *, through_class: bool = False) -> bool:
    """Whether ``self.method(…)``, or with ``through_class`` ``Class.method(…)``, passes the first parameter."""
    names = decorator_names(function)
    if "staticmethod" in names:
        return False
    return "classmethod" in names or not through_class


def is_as_written(function: Function) -> bool:
    """Whether callers see the parameters as written: no decorator can change them, or make a property."""
    return decorator_names(function) <= TRANSPARENT


def promises_value(function: Function) -> bool:
    """Whether a function declares that it returns a value that is not ``None``."""
    words = ast.unparse(function.returns) if function.returns is not None else "None"
    return not any(word in words for word in ("None", "Optional", "Any", "object", "NoReturn", "Never"))


def accepts(signature: Signature, other: Signature) -> bool:
    """Whether every call that fits ``other`` also fits ``signature``, and passes each value to the same parameter."""
    pairs = list(zip(signature.positional, other.positional, strict=False))
    is_renamed = any(name != other_name and other_name not in other.positional_only for name, other_name in pairs)
    is_moved = bool(set(other.positional[len(pairs) :]) & set(signature.keyword_only))
    is_moved = is_moved or (other.var_positional and len(signature.positional) > len(pairs))
    is_shorter = len(signature.positional) < len(other.positional) or other.var_positional
    is_narrower = bool(other.keywords - signature.keywords) or other.var_keyword
    always_given = other.required | {name for name, other_name in pairs if other_name in other.required}
    return (
        not is_renamed
        and not is_moved
        and (signature.var_positional or not is_shorter)
        and (signature.var_keyword or not is_narrower)
        and signature.required <= always_given
    )


def of_call(call: ast.Call, function: Function | None = None) -> Arguments:
    """Return what ``call`` passes, including the keys of ``**{"key": …}``.

    If the enclosing ``function`` is given, the keys of ``**options`` are included where `dictionaries_for` finds the
    dictionary.
    """
    stars = [a for a in call.args if isinstance(a, ast.Starred)]
    names = [k.arg for k in call.keywords if k.arg is not None]
    given = [k.value for k in call.keywords if k.arg is None]
    is_open = False
    for star, known in zip(given, dictionaries_for(function, call), strict=True):
        dictionary = star if isinstance(star, ast.Dict) else known
        keys = _list_keys(dictionary) if dictionary is not None else [None]
        names += [name for name in keys if name is not None]
        is_open = is_open or None in keys
    return Arguments(len(call.args) - len(stars), tuple(names), bool(stars), is_open)


def dictionaries_for(function: Function | None, call: ast.Call) -> list[ast.Dict | ast.Call | None]:
    """Return, for each ``**star`` of ``call`` in order, the ``{…}`` or ``dict(…)`` that creates it.

    ``None`` unless ``star`` is a local of ``function`` that is assigned once, from such an expression, and otherwise
    only passed on as ``**star``: then no key can have been added or removed.
    """
    stars = [keyword.value for keyword in call.keywords if keyword.arg is None]
    known = _find_dictionaries(function) if function is not None and stars else {}
    return [known.get(star.id) if isinstance(star, ast.Name) else None for star in stars]


@functools.lru_cache(maxsize=4096)
def _find_dictionaries(function: Function) -> dict[str, ast.Dict | ast.Call]:
    """Return the locals of ``function`` that `dictionaries_for` finds, with the expression that creates each."""
    nodes = walk(function)
    spread = {id(k.value) for node in nodes if isinstance(node, ast.Call) for k in node.keywords if k.arg is None}
    used = Counter(node.id for node in nodes if isinstance(node, ast.Name) and id(node) not in spread)
    parameters = {node.arg for node in nodes if isinstance(node, ast.arg)}
    made: dict[str, list[ast.expr | None]] = {}
    for node in nodes:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            made.setdefault(_get_target(node), []).append(node.value)
    single = {n: v[0] for n, v in made.items() if len(v) == used[n] == 1 and n not in parameters}
    return {name: value for name, value in single.items() if _is_dictionary(value)}


def _is_dictionary(value: ast.expr | None) -> TypeGuard[ast.Dict | ast.Call]:
    return isinstance(value, ast.Dict) or (
        isinstance(value, ast.Call) and is_name(value.func, "dict") and not value.args
    )


def _get_target(statement: ast.Assign | ast.AnnAssign) -> str:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else ""


def _list_keys(mapping: ast.Dict | ast.Call) -> list[str | None]:
    """Return the keys of a ``{…}`` or ``dict(…)``; ``None`` for ``**more`` and for a key that is not a string
    constant."""
    if isinstance(mapping, ast.Call):
        return [keyword.arg for keyword in mapping.keywords]
    return [string_of(key) for key in mapping.keys]


def misfits(signature: Signature, arguments: Arguments) -> list[Misfit]:
    """Return every way in which the call does not fit, most specific first.

    A parameter that a star argument may supply is not missing, nor is one that the call passes by keyword instead of by
    position, or the reverse.
    """
    keywords = signature.keywords
    by_position = [n for n in arguments.keywords if n in signature.positional_only and not signature.var_keyword]
    found = [
        Misfit("unknown keyword", name, f"does not take the keyword `{name}`")
        for name in arguments.keywords
        if name not in keywords and name not in by_position and not signature.var_keyword
    ]
    if by_position:
        text = f"takes {join_quoted(by_position)} by position only"
        found.append(Misfit("by position only", ", ".join(by_position), text))
    filled = set(signature.positional[: arguments.positional])
    missing = [] if arguments.open_keyword else _find_missing(signature, arguments, filled | set(by_position))
    surplus = arguments.positional - len(signature.positional)
    if surplus > 0 and not signature.var_positional:
        by_keyword = [one.name for one in missing if one.name in signature.keyword_only][:surplus]
        number = len(signature.positional)
        plural = "" if number == 1 else "s"
        text = f"takes at most {number} positional argument{plural}, {arguments.positional} are given"
        hint = f"; it takes {join_quoted(by_keyword)} by keyword only" if by_keyword else ""
        found.append(Misfit("too many positional", "", f"{text}{hint}"))
        missing = [one for one in missing if one.name not in by_keyword]
    found += [
        Misfit("given twice", name, f"gets `{name}` twice, by position and by keyword")
        for name in arguments.keywords
        if name in filled and name in keywords
    ]
    return found + missing


def join_quoted(names: Sequence[str]) -> str:
    """Return ``a``, ``b`` and ``c``, each in backquotes."""
    quoted = [f"`{name}`" for name in names]
    return " and ".join(part for part in (", ".join(quoted[:-1]), quoted[-1]) if part)


def _find_missing(signature: Signature, arguments: Arguments, filled: set[str]) -> list[Misfit]:
    given = filled | (set(arguments.keywords) & signature.keywords)
    if arguments.open_positional:
        given |= set(signature.positional)
    return [
        Misfit("missing", name, f"requires `{name}`, which is not given")
        for name in signature.names
        if name in signature.required and name not in given
    ]
