"""Carry omni's change of a statement over to the statements into which upstream turned it.

Comes in: a statement as base and omni have it, and upstream's new statements. Goes out: the new statement with omni's
change. May touch: nothing.

- ``carry_over``: upstream passes the arguments of a call to another function, or collects them in a dictionary first;
  an argument that omni added to the old call goes there.
- ``merge_surrounded``: one side put more around the expression that the other side changed.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runner_sync.edits import Places, apply
from runner_sync.merge.phrases.trees import gives_twice, parse_or_empty, parse_statement
from runner_sync.syntax import calls_in, walk
from runner_sync.thresholds import FEWEST_ARGUMENTS, TAKEN_ARGUMENTS


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument: its value and its keyword (``**`` for a mapping, empty for a positional argument)."""

    keyword: str
    value: str

    def in_call(self) -> str:
        return self.value if not self.keyword else f"{'**' if self.is_mapping else f'{self.keyword}='}{self.value}"

    def in_dict(self) -> str:
        return f"**{self.value}" if self.is_mapping else f'"{self.keyword}": {self.value}'

    @property
    def is_mapping(self) -> bool:
        return self.keyword == "**"


def merge_surrounded(base: str, omni: str, upstream: str, *, compound: bool) -> str | None:
    """Merge a statement where one side put more around the condition or value that the other side changed.

    Base ``if a or b``, with the sides ``if (a or b) and c`` and ``if a``, becomes ``if (a) and c``. Omni's text wins if
    its expression contains upstream's, which contains the base's. ``None`` if neither side has the base's expression
    unchanged, exactly once, with more around it. `is_order_guessed` tells whether the result is doubtful.
    """
    mains = [_find_main_expression(text, compound=compound) for text in (base, omni, upstream)]
    base_main, omni_main, upstream_main = mains
    if base_main is None or omni_main is None or upstream_main is None or isinstance(base_main, ast.Constant):
        return None
    if (
        _contains(omni_main, upstream_main)
        and _contains(upstream_main, base_main)
        and _strip_main_expression(omni, omni_main) == _strip_main_expression(upstream, upstream_main)
    ):
        return omni
    for (text, outer), (other, inner) in (
        ((upstream, upstream_main), (omni, omni_main)),
        ((omni, omni_main), (upstream, upstream_main)),
    ):
        places = _find_equal(base_main, outer)
        frames = {
            _strip_main_expression(statement, main)
            for statement, main in ((text, outer), (other, inner), (base, base_main))
        }
        is_new = isinstance(inner, _NO_OPERAND) and not isinstance(base_main, _NO_OPERAND)
        if len(places) != 1 or places[0] is outer or len(frames) > 1 or is_new:
            continue
        part = ast.get_source_segment(other, inner) or ""
        wanted = ast.dump(_NodeReplacer(places[0], inner).visit(outer))
        return _replace_part(text, places[0], part, wanted, compound=compound)
    return None


def is_handed_on(base: str, now: str) -> bool:
    """Whether a simple statement has the same value as before as the only argument of a call: ``return f(rows)`` for
    ``return rows``."""
    old, new = (_find_main_expression(text, compound=False) for text in (base, now))
    match new:
        case ast.Call(args=[ast.expr() as only], keywords=[]) if old is not None:
            return ast.dump(only) == ast.dump(old)
    return False


def is_order_guessed(base: str, omni: str, upstream: str, *, compound: bool) -> bool:
    """Whether both sides put something around the base's condition or value, so that which is inside is a guess.

    It is none for a condition with two ``and`` or two ``or``, whose order does not matter, and for a tuple, which stays
    outside. A base ``a and b`` may also have more operands: ``not (a and b)`` and ``a and b and c`` leave it open.
    """
    mains = [_find_main_expression(text, compound=compound) for text in (base, omni, upstream)]
    old, own, new = mains
    if old is None or own is None or new is None:
        return False
    if not all(_contains(side, old) or _extends(side, old) for side in (own, new)):
        return False
    if isinstance(own, ast.BoolOp) and isinstance(new, ast.BoolOp) and type(own.op) is type(new.op):
        operands = all(
            _extends(side, old) or any(ast.dump(value) == ast.dump(old) for value in side.values) for side in (own, new)
        )
        return not operands or not _is_condition(omni, compound=compound)
    return not isinstance(own, _NO_OPERAND) and not isinstance(new, _NO_OPERAND)


def _extends(whole: ast.expr, part: ast.expr) -> bool:
    """Whether ``whole`` has the operands of an ``and`` or ``or`` and more."""
    if not (isinstance(whole, ast.BoolOp) and isinstance(part, ast.BoolOp) and type(whole.op) is type(part.op)):
        return False
    return Counter(map(ast.dump, part.values)) < Counter(map(ast.dump, whole.values))


def _is_condition(text: str, *, compound: bool) -> bool:
    return hasattr(parse_statement(f"{text}\n    pass" if compound else text), "test")


def _replace_part(text: str, place: ast.expr, part: str, wanted: str, *, compound: bool) -> str | None:
    """Replace a node of ``text`` by ``part``, in brackets if only then the main expression is ``wanted`` (a dump).

    ``None`` if brackets do not help either.
    """
    for new in (part, f"({part})"):
        made = _replace_node(text, place, new)
        main = _find_main_expression(made, compound=compound)
        if main is not None and ast.dump(main) == wanted:
            return made
    return None


def _find_equal(part: ast.expr, whole: ast.expr) -> list[ast.expr]:
    """Return the nodes in ``whole``, itself included, that are equal to ``part``."""
    return [node for node in walk(whole) if isinstance(node, ast.expr) and ast.dump(node) == ast.dump(part)]


def _contains(whole: ast.expr, part: ast.expr) -> bool:
    """Whether an expression contains another one and is not equal to it."""
    return any(node is not whole for node in _find_equal(part, whole))


_NO_OPERAND = ast.Tuple | ast.Lambda | ast.NamedExpr | ast.Yield | ast.YieldFrom | ast.Starred
"""Expressions that must not become operands, because the meaning would change (``f(a), b``, ``f((a, b))``)."""


def _find_main_expression(text: str, *, compound: bool) -> ast.expr | None:
    """Return the condition (``test``) or value of a statement, with line numbers of ``text``; ``None`` without one."""
    statement = parse_statement(f"{text}\n    pass" if compound else text)
    main = getattr(statement, "test", None) or getattr(statement, "value", None)
    return main if isinstance(main, ast.expr) else None


def _strip_main_expression(text: str, main: ast.expr) -> str:
    """Return the statement with ``…`` for its condition or value, without blanks."""
    return "".join(_replace_node(text, main, "…").replace("(…)", "…").split())


def _replace_node(text: str, node: ast.expr, new: str) -> str:
    return apply(text, [Places(text).instead_of(node, new)])


class _NodeReplacer(ast.NodeTransformer):
    """Replaces one node by another."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old = old
        self.new = new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else super().visit(node)


def carry_over(base: str, omni: str, candidates: Sequence[str]) -> tuple[int, str] | None:
    """Return ``(index, text)``: the candidate with most arguments of the old call, with the arguments that omni added.

    ``None`` if omni did more than add arguments to one call, or if no candidate has `TAKEN_ARGUMENTS` of its arguments.
    """
    added = _find_added(base, omni)
    if added is None:
        return None
    old, extra = added
    best: tuple[float, int, ast.Call | ast.Dict] | None = None
    for index, text in enumerate(candidates):
        for holder in _find_holders(text):
            share = _measure_share(old, _list_arguments(holder))
            if share >= TAKEN_ARGUMENTS and (best is None or share > best[0]):
                best = share, index, holder
    if best is None:
        return None
    _, index, holder = best
    grown = _append_arguments(candidates[index], holder, extra)
    return (index, grown) if grown is not None else None


def _find_added(base: str, omni: str) -> tuple[list[Argument], list[Argument]] | None:
    """Return the old arguments and omni's added arguments of the only call in which the two statements differ.

    ``None`` if they differ in more than added arguments.
    """
    before, after = parse_or_empty(base), parse_or_empty(omni)
    for call in calls_in(after):
        omni_arguments = _list_arguments(call)
        for other in calls_in(before):
            base_arguments = _list_arguments(other)
            extra = [argument for argument in omni_arguments if argument not in base_arguments]
            if not extra or ast.unparse(call.func) != ast.unparse(other.func):
                continue
            if [argument for argument in omni_arguments if argument in base_arguments] != base_arguments:
                continue
            call.args, call.keywords = other.args, other.keywords
            return (base_arguments, extra) if ast.unparse(after) == ast.unparse(before) else None
    return None


def _find_holders(text: str) -> Iterator[ast.Call | ast.Dict]:
    for node in walk(parse_or_empty(text)):
        if isinstance(node, ast.Call | ast.Dict):
            yield node


def _list_arguments(node: ast.Call | ast.Dict) -> list[Argument]:
    if isinstance(node, ast.Dict):
        return [
            Argument("**" if key is None else str(getattr(key, "value", "?")), ast.unparse(value))
            for key, value in zip(node.keys, node.values, strict=True)
        ]
    return [
        *(Argument("", ast.unparse(value)) for value in node.args),
        *(Argument(one.arg or "**", ast.unparse(one.value)) for one in node.keywords),
    ]


def _measure_share(old: Sequence[Argument], new: Sequence[Argument]) -> float:
    """Return the share of ``old`` in ``new``, compared by value: a positional argument may have become a keyword."""
    common = (Counter(a.value for a in old) & Counter(a.value for a in new)).total()
    return common / len(old) if common >= FEWEST_ARGUMENTS else 0.0


def _append_arguments(text: str, holder: ast.Call | ast.Dict, extra: Sequence[Argument]) -> str | None:
    """Return ``text`` with ``extra`` behind the last element of ``holder``.

    ``None`` if ``holder`` already has such a keyword or a mapping with that key, or if a positional argument cannot
    stand there.
    """
    names = {argument.keyword for argument in _list_arguments(holder)} - {"", "**"}
    if any(argument.keyword in names for argument in extra):
        return None
    positional = any(not argument.keyword for argument in extra)
    elements: list[ast.expr | ast.keyword]
    if isinstance(holder, ast.Call):
        elements, rows = [*holder.args, *holder.keywords], [argument.in_call() for argument in extra]
        positional = positional and bool(holder.keywords)
    else:
        elements, rows = [*holder.values], [argument.in_dict() for argument in extra]
    if positional:
        return None
    grown = apply(text, [Places(text).behind(elements[-1], "".join(f", {row}" for row in rows))])
    tree = parse_or_empty(grown)
    return grown if tree.body and not gives_twice(tree) else None
