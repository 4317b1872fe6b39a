"""How many values a function returns, whether it returns any, and in which order.

Comes in: a `Callee` of a `Program`, or functions. Goes out: the possible tuple sizes, ``None`` if they are unknown, and
similar answers. May touch: nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Set

from runner_sync.signatures import decorator_names, positional_parameters
from runner_sync.statements import always_leaves
from runner_sync.syntax import Function, generic_of, is_name, is_none, is_nothing
from runner_sync.verify.trees.calling.callees import Callee
from runner_sync.verify.trees.classes import is_record
from runner_sync.verify.trees.functions import is_plain, nodes_of, results_of, returns_of
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.values.annotations import (
    excludes_tuples,
    find_entered_type,
    members_of,
    tuple_parts,
    unquote,
)

_MAX_DEPTH = 4
"""Nested calls that are followed to learn what they return; beyond that it counts as unknown."""

_DICTIONARIES = frozenset({"dict", "Dict", "Mapping", "TypedDict"})
_NO_TUPLES = ast.Constant | ast.JoinedStr | ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.Compare


def sizes(program: Program, callee: Callee, depth: int = 0) -> frozenset[int] | None:
    """Return the sizes of all tuples that the callee can return, or ``None`` if one is unknown."""
    function = callee.function
    if function is None:
        return _find_instance_size(callee)
    if not is_plain(function) or depth > _MAX_DEPTH:
        return None
    declared = declared_size(function)
    found: set[int] = set()
    for value in results_of(function):
        known = _find_expression_sizes(program, callee, value, depth=depth)
        if known is None and declared is None:
            return None
        found |= known if known is not None else {declared or 0}
    return frozenset(found) if found else None


def sizes_of_all(program: Program, callees: Iterable[Callee]) -> list[int]:
    """Return the sizes of all tuples that any of ``callees`` can return, in order; empty if one is unknown."""
    return sorted(_unite_sizes(sizes(program, callee) for callee in callees) or ())


def returns_value(function: Function) -> bool | None:
    """Whether a plain function always, never or (``None``) sometimes returns a value."""
    if not is_plain(function):
        return None
    kinds = {not is_nothing(value) for value in returns_of(function)}
    if kinds == {True}:
        return True
    return None if True in kinds else False


def is_result_known(function: Function) -> bool:
    """Whether a result tells the caller nothing: every returned value is ``self``, or the same constant."""
    own = next((parameter.arg for parameter in positional_parameters(function)), "")
    values = [value for value in returns_of(function) if value is not None]
    is_known = all(isinstance(value, ast.Constant) or (own and is_name(value, own)) for value in values)
    return is_known and len({ast.dump(value) for value in values}) == 1


def may_return_none(program: Program, callee: Callee, depth: int = 0) -> bool | None:
    """Whether a callee may return ``None``: ``True`` if a ``return`` does, ``False`` if none can, else ``None``."""
    function = callee.function
    if function is None:
        return False
    if not is_plain(function) or depth > _MAX_DEPTH:
        return None
    values = {_may_give_none(program, callee, value, depth=depth) for value in returns_of(function)}
    if True in values:
        return True
    return False if None not in values and always_leaves(function.body) else None


def find_moved_values(before: Function, after: Function) -> dict[int, str]:
    """Return the positions of the returned tuple whose value had another position ``before``, with that value.

    Empty unless every ``return`` has the same values as ``before``, all in the same new order.
    """
    was, now = tuples_of(before), tuples_of(after)
    if len(was) != len(now) or len({len(values) for values in (*was, *now)}) != 1:
        return {}
    pairs = list(zip(was, now, strict=True))
    # `return None, None` fits any order.
    telling = [pair for pair in pairs if len(set(pair[0])) == len(pair[0]) and sorted(pair[0]) == sorted(pair[1])]
    if not telling:
        return {}
    old, new = telling[0]
    order = [old.index(value) for value in new]
    if any(other != [one[place] for place in order] for one, other in pairs):
        return {}
    return {place: new[place] for place, source in enumerate(order) if place != source}


def returns_nothing(function: Function, *, is_told: bool = False) -> bool:
    """Whether a plain function that does something has only bare ``return``s, and no annotation of a value.

    ``False`` for ``return None``, and for a body to override: empty, or always raising. With ``is_told`` (another
    version of the function returns a value), ``return None`` counts as bare.
    """
    says_none = is_nothing(function.returns)
    does = any(
        not isinstance(s, ast.Pass | ast.Raise | ast.Return) and not _is_constant_statement(s) for s in function.body
    )
    returned = list(returns_of(function))
    comes_back = bool(returned) or not always_leaves(function.body)
    is_bare = all(value is None or (is_told and is_none(value)) for value in returned)
    return says_none and does and comes_back and is_bare and is_plain(function)


def is_single(program: Program, callee: Callee) -> bool:
    """Whether each ``return`` of a callee has a value that is no tuple, by its expression or the annotation."""
    function = callee.function
    if function is None or not is_plain(function) or returns_value(function) is not True:
        return False
    values = results_of(function)
    if any(isinstance(value, ast.Tuple) for value in values):
        return False
    is_declared = excludes_tuples(program.classes, callee.module, function.returns)
    return is_declared or all(isinstance(value, _NO_TUPLES) for value in values)


def wraps(before: Function, after: Function) -> bool:
    """Whether every returned tuple contains the value that the function returned alone ``before``: first ``x``, then
    ``x, y``."""
    # timid: callers may use a declared tuple as a whole, of any size.
    is_tuple = before.returns is not None and "tuple" in ast.unparse(before.returns).lower()
    was = _read_single_values(before) if not is_tuple else set()
    now = tuples_of(after)
    has_value = any(value in was and not _is_literal(value) for values in now for value in values)
    return has_value and tuple_size(after) is not None and all(not was.isdisjoint(values) for values in now)


def unwraps(before: Function, after: Function) -> bool:
    """The reverse of `wraps`: whether every value that a function returns alone was in a returned tuple ``before``."""
    now = _read_single_values(after)
    was = {value for values in tuples_of(before) for value in values}
    return bool(now) and now <= was and not all(_is_literal(value) for value in now)


def gives_dictionary(function: Function) -> bool:
    """Whether each ``return`` of a plain function gives a dictionary, by its expression or the annotation."""
    declared = unquote(function.returns)
    name = ast.unparse(generic_of(declared)) if declared else ""
    is_declared = name.split(".")[-1] in _DICTIONARIES
    values = list(returns_of(function)) if is_plain(function) else []
    # timid: a tuple in a `return` outweighs the annotation.
    return bool(values) and all(_makes_dictionary(v) or (is_declared and not isinstance(v, ast.Tuple)) for v in values)


def tuple_size(function: Function) -> int | None:
    """Return the size of the tuple in every ``return`` of a plain function; ``None`` if they differ or one is no
    tuple."""
    sizes_found = {len(values) for values in tuples_of(function)}
    return sizes_found.pop() if len(sizes_found) == 1 else None


def yielded_sizes(function: Function) -> frozenset[int] | None:
    """Return the sizes of the tuples that a generator yields, or ``None`` if one is unknown."""
    nodes = nodes_of(function)
    if any(isinstance(node, Function | ast.Lambda) and node is not function for node in nodes):
        # timid: a ``yield`` may belong to the inner function.
        return None
    yields = [node for node in nodes if isinstance(node, ast.Yield | ast.YieldFrom)]
    values = [node.value for node in yields if isinstance(node, ast.Yield)]
    tuples = [value for value in values if isinstance(value, ast.Tuple) and not _has_star(value)]
    return frozenset(len(value.elts) for value in tuples) if tuples and len(tuples) == len(yields) else None


def yielded_sizes_of_all(callees: Iterable[Callee]) -> list[int]:
    """Return the sizes of all tuples that any of ``callees`` yields, in order; empty if one is unknown."""
    return sorted(_unite_sizes(yielded_sizes(c.function) if c.function is not None else None for c in callees) or ())


def yielded_values(function: Function) -> set[str]:
    """Return the texts of what a function yields, and of the values in a yielded tuple."""
    values = [node.value for node in nodes_of(function) if isinstance(node, ast.Yield) and node.value is not None]
    return {ast.unparse(part) for value in values for part in (value.elts if isinstance(value, ast.Tuple) else [value])}


def entered_size(function: Function) -> int | None:
    """Return the size of the tuple that a context manager gives ``with``; ``None`` if it may give anything else."""
    entered = find_entered_type(function)
    declared = [tuple_parts(one) for one in members_of(entered) if not is_none(one)]
    sizes_found = frozenset(len(parts) for parts in declared if parts is not None) if None not in declared else None
    if entered is None:
        sizes_found = yielded_sizes(function) if "contextmanager" in decorator_names(function) else None
    return next(iter(sizes_found)) if sizes_found is not None and len(sizes_found) == 1 else None


def enters_single(program: Program, callee: Callee, kept: Set[str]) -> bool:
    """Whether a context manager gives ``with`` no tuple, by its annotation, or yields only values among ``kept``."""
    function = callee.function
    if function is None or any(
        isinstance(node, ast.Yield) and isinstance(node.value, ast.Tuple) for node in nodes_of(function)
    ):
        return False
    entered = find_entered_type(function)
    given = yielded_values(function)
    is_kept = entered is None and bool(given) and given <= kept and not all(map(_is_literal, given))
    return is_kept or excludes_tuples(program.classes, callee.module, entered)


def declared_size(function: Function) -> int | None:
    """Return the size of a ``-> tuple[A, B]`` annotation, or ``None``."""
    parts = tuple_parts(function.returns)
    return len(parts) if parts is not None else None


def _unite_sizes(parts: Iterable[frozenset[int] | None]) -> frozenset[int] | None:
    """Return the union of several sets of sizes, or ``None`` if one of them is unknown."""
    found = frozenset[int]()
    for part in parts:
        if part is None:
            return None
        found |= part
    return found


def _find_instance_size(callee: Callee) -> frozenset[int] | None:
    info = callee.info
    if info is not None and is_record(info):
        return frozenset({len(info.fields)})
    return None


def _find_expression_sizes(
    program: Program, callee: Callee, value: ast.expr | None, *, depth: int
) -> frozenset[int] | None:
    if is_nothing(value):
        # `None` has no size: unpacking it fails in any version, so the caller must test for it.
        return frozenset()
    if isinstance(value, ast.Tuple):
        return None if _has_star(value) else frozenset({len(value.elts)})
    if isinstance(value, ast.IfExp):
        parts = [_find_expression_sizes(program, callee, v, depth=depth) for v in (value.body, value.orelse)]
        return _unite_sizes(parts)
    if isinstance(value, ast.Call) and callee.info is not None and callee.function is not None:
        reached = program.reached(program.frame(callee.info, callee.function), value)
        parts = [sizes(program, inner, depth + 1) for inner in reached]
        return _unite_sizes(parts) if parts else None
    return None


def _may_give_none(program: Program, callee: Callee, value: ast.expr | None, *, depth: int) -> bool | None:
    if is_nothing(value):
        return True
    if isinstance(value, ast.IfExp):
        parts = {_may_give_none(program, callee, part, depth=depth) for part in (value.body, value.orelse)}
        return True if True in parts else None if None in parts else False
    if isinstance(value, ast.Call) and callee.info is not None and callee.function is not None:
        reached = program.reached(program.frame(callee.info, callee.function), value)
        called = {may_return_none(program, inner, depth + 1) for inner in reached}
        if called and None not in called:
            return True in called
    is_told = isinstance(value, ast.Tuple) or (callee.function is not None and declared_size(callee.function))
    return False if is_told else None


def tuples_of(function: Function) -> list[list[str]]:
    """Return the values of every ``return`` as texts; empty if one is no tuple, or has a ``*`` in it."""
    values = results_of(function) if is_plain(function) else ()
    tuples = [[ast.unparse(e) for e in v.elts] for v in values if isinstance(v, ast.Tuple) and not _has_star(v)]
    return tuples if len(tuples) == len(values) else []


def _read_single_values(function: Function) -> set[str]:
    """Return the texts of all values that a plain function returns; empty if a ``return`` is bare or gives a tuple."""
    values = results_of(function) if is_plain(function) else ()
    texts = {ast.unparse(value) for value in values if value is not None and not isinstance(value, ast.Tuple)}
    is_whole = all(value is not None and not isinstance(value, ast.Tuple) for value in values)
    return texts if is_whole else set()


def _is_literal(text: str) -> bool:
    return isinstance(ast.parse(text, mode="eval").body, ast.Constant)


def _makes_dictionary(value: ast.expr | None) -> bool:
    made = isinstance(value, ast.Call) and is_name(value.func, "dict")
    return made or isinstance(value, ast.Dict | ast.DictComp)


def _has_star(value: ast.Tuple) -> bool:
    return any(isinstance(element, ast.Starred) for element in value.elts)


def _is_constant_statement(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
