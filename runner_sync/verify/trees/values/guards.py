"""What the conditions of a function ask about an expression, and which of them decide whether a node runs.

Comes in: a function and a node of it. Goes out: conditions and the questions in them. May touch: nothing.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runner_sync.statements.leaving import always_leaves, is_broken_out_of, may_leave
from runner_sync.syntax import Comprehension, Function, blocks_of, last_word, walk
from runner_sync.verify.expecting import is_answered
from runner_sync.verify.trees.functions import nodes_of, places_of
from runner_sync.verify.trees.values.tested import find_tests

_KIND_TESTS = frozenset({"callable", "isinstance", "hasattr", "iscoroutinefunction"})


def find_tests_of(function: Function, node: ast.expr) -> frozenset[str]:
    """Return what the conditions that guard ``node`` test of the same expression: ``None``, ``truth``, ``callable`` and
    the like.

    ``return self.size() if callable(self.size) else self.size`` is right whatever ``size`` is. A test for truth does
    not guard its own expression.
    """
    tests = _group_questions(function).get(ast.unparse(node), ())
    guarding = ((c, question) for c, part, question in tests if part is not node or question != "truth")
    return frozenset(question for condition, question in guarding if condition.covers(node))


@functools.lru_cache(maxsize=4096)
def _group_questions(function: Function) -> dict[str, list[tuple[_Condition, ast.expr, str]]]:
    """Return what the conditions of a function ask, by the text of the expression that they test."""
    found: dict[str, list[tuple[_Condition, ast.expr, str]]] = {}
    for condition in _find_conditions(function):
        for part, question in _find_questions(condition.test):
            found.setdefault(ast.unparse(part), []).append((condition, part, question))
    return found


def find_deciding_tests(function: Function, node: ast.AST) -> list[ast.expr]:
    """Return the tests and iterables that decide whether ``node`` runs.

    They stand around it, or in statements before it that may leave the block. A condition does not decide on itself,
    but each part of an ``and`` decides on the next.
    """
    places = places_of(function)
    place = places.get(id(node))
    regions = [region for outer in nodes_of(function) for region in _find_decisions(outer)]
    around = [test for test, region in regions if any(places[id(part)].holds(place) for part in region)]
    leaving = [inner for statement in _find_leaving_before(function.body, node) for inner in walk(statement)]
    return around + [test for inner in leaving if may_leave(inner) for test, _ in _find_decisions(inner)]


def _find_leaving_before(block: Sequence[ast.stmt], node: ast.AST) -> list[ast.stmt]:
    """Return the statements before ``node``, in all blocks around it, that may leave their block."""
    for number, statement in enumerate(block):
        if any(inner is node for inner in walk(statement)):
            before = [other for other in block[:number] if may_leave(other)]
            blocks = [statement.body] if isinstance(statement, Function) else blocks_of(statement)
            return before + [other for inner in blocks for other in _find_leaving_before(inner, node)]
    return []


def _find_decisions(node: ast.AST) -> Iterator[tuple[ast.expr, Sequence[ast.AST]]]:
    """Yield each test or iterable of ``node``, with the code that depends on it."""
    match node:
        case ast.If(test=test, body=body, orelse=other) | ast.While(test=test, body=body, orelse=other):
            yield test, [*body, *other]
        case ast.For(iter=test, body=body, orelse=other) | ast.AsyncFor(iter=test, body=body, orelse=other):
            yield test, [*body, *other]
        case ast.IfExp(test=test, body=one, orelse=another):
            yield test, [one, another]
        case ast.Assert(test=test):
            yield test, []
        case ast.BoolOp(values=values):
            yield from ((value, values[number:]) for number, value in enumerate(values[:-1], start=1))
        case ast.Match(subject=subject, cases=cases):
            yield subject, cases
        case ast.match_case(guard=ast.expr() as guard, body=body):
            yield guard, body
        case ast.ListComp(elt=made) | ast.SetComp(elt=made) | ast.GeneratorExp(elt=made) | ast.DictComp(value=made):
            made_of = [made, node.key] if isinstance(node, ast.DictComp) else [made]
            yield from ((test, made_of) for part in node.generators for test in (part.iter, *part.ifs))


def is_chosen(function: Function, node: ast.AST, value: ast.expr) -> bool:
    """Whether ``node`` stands under a condition that tests more than whether ``value`` is truthy or ``None``.

    ``if self.config.method == "eagle":`` may choose among the classes that ``value`` can have.
    """
    text = ast.unparse(value)
    places = places_of(function)
    choices = (outer for outer in nodes_of(function) if isinstance(outer, ast.Match))
    return any(c.covers(node) for c in _find_conditions(function) if not _is_presence_test(c.test, text)) or any(
        places[id(choice)].holds(places.get(id(node))) for choice in choices
    )


def _is_presence_test(condition: ast.expr, text: str) -> bool:
    """Whether a condition tests nothing but the truth of the expression ``text``, or whether it is ``None``."""
    match condition:
        case ast.BoolOp(values=parts):
            return all(_is_presence_test(part, text) for part in parts)
        case ast.UnaryOp(op=ast.Not(), operand=part):
            return _is_presence_test(part, text)
        case ast.Compare(left=part, comparators=[ast.Constant(value=None)]):
            return ast.unparse(part) == text
    return ast.unparse(condition) == text


def _find_questions(condition: ast.expr) -> Iterator[tuple[ast.expr, str]]:
    """Yield the expressions that a condition tests, each with the test: ``truth``, ``None``, ``callable`` and the
    like."""
    if isinstance(condition, ast.BoolOp):
        for part in condition.values:
            yield from _find_questions(part)
    elif isinstance(condition, ast.UnaryOp) and isinstance(condition.op, ast.Not):
        yield from _find_questions(condition.operand)
    elif isinstance(condition, ast.Name | ast.Attribute):
        yield condition, "truth"
    elif isinstance(condition, ast.Compare) and is_identity(condition):
        yield condition.left, "None"
    elif isinstance(condition, ast.Call) and condition.args:
        test = last_word(condition.func)
        if test in _KIND_TESTS:
            yield condition.args[0], test


def is_identity(node: ast.Compare) -> bool:
    """Whether ``node`` compares with ``is`` or ``is not`` only."""
    return all(isinstance(operator, ast.Is | ast.IsNot) for operator in node.ops)


@dataclass(frozen=True, slots=True)
class _Condition:
    """A ``test``, the ``node`` that it belongs to, and whether it ``lasts``: decides on the statements behind, too.

    Either outcome counts here: the author thought of the question.
    """

    test: ast.expr
    node: ast.stmt | ast.expr
    function: Function
    lasts: bool = False

    def covers(self, node: ast.AST) -> bool:
        """Whether ``node`` is in the code that the condition guards."""
        places = places_of(self.function)
        place = places.get(id(node))
        if place is None:
            return False
        return places[id(self.node)].holds(place) or (self.lasts and place.line > (self.node.end_lineno or 0))


@functools.lru_cache(maxsize=4096)
def _find_conditions(function: Function) -> tuple[_Condition, ...]:
    return tuple(condition for node in nodes_of(function) for condition in _read_conditions(node, function))


def _read_conditions(node: ast.AST, function: Function) -> Iterator[_Condition]:
    if isinstance(node, ast.If):
        leaves = always_leaves(node.body) or always_leaves(node.orelse)
        yield _Condition(node.test, node, function, lasts=leaves)
    elif isinstance(node, ast.While):
        is_had = is_answered(node.test, lambda part: True if find_tests(part) else None, by=False)
        yield _Condition(node.test, node, function, lasts=is_had and not is_broken_out_of(node))
    elif isinstance(node, ast.IfExp):
        yield _Condition(node.test, node, function)
    elif isinstance(node, ast.Assert):
        yield _Condition(node.test, node, function, lasts=True)
    elif isinstance(node, ast.BoolOp):
        yield _Condition(node, node, function)
    elif isinstance(node, Comprehension):
        yield from (_Condition(test, node, function) for part in node.generators for test in part.ifs)
