"""Where a function tests that an attribute exists, or of what kind it is, before it reads it.

Comes in: a function. Goes out: `Guards`, which tell whether a read is tested, and what conditions test of an
expression. May touch: nothing.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runner_sync.statements.leaving import is_broken_out_of
from runner_sync.syntax import blocks_of, children, is_name, last_word, walk
from runner_sync.verify.expecting import tells
from runner_sync.verify.trees.assignments import assignments_of
from runner_sync.verify.trees.functions import FunctionNode, nodes_of, places_of

_COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_EXITS = ast.Return | ast.Raise | ast.Continue | ast.Break
_KIND_TESTS = frozenset({"callable", "isinstance", "hasattr", "iscoroutinefunction"})


@dataclass(frozen=True, slots=True)
class _Test:
    """``hasattr(owner, "attribute")``, or ``getattr`` with a default. ``owner`` is the last part of a dotted name."""

    owner: str
    attribute: str


class Guards:
    """The conditions of one function that test for attributes, and the code that they guard.

    ``hasattr(x, "a")`` and ``getattr(x, "a", default)`` in a condition, or a name there that one of them was assigned
    to, guard ``x.a`` in both branches. They also guard the code that follows, where a branch ends in ``return``,
    ``raise``, ``continue`` or ``break``, and behind ``while not hasattr(x, "a"):``. A function that sets ``a`` with
    ``setattr`` may read it anywhere.
    """

    def __init__(self, function: FunctionNode) -> None:
        nodes = nodes_of(function)
        self._set = {name for node in nodes for name in _named(node, {"setattr", "delattr"})}
        tests = {id(node): found for node in nodes if (found := _tests(node))}
        held: dict[str, set[_Test]] = {}
        for node in nodes if tests else ():
            for target, value, _ in assignments_of(node):
                if isinstance(target, ast.Name) and value is not None:
                    held.setdefault(target.id, set()).update(t for n in walk(value) for t in tests.get(id(n), ()))
        self._covered: dict[_Test, set[int]] = {}
        for condition in _conditions(function) if tests else ():
            inside = walk(condition.test)
            asked = {test for n in inside for test in tests.get(id(n), ())}
            asked |= {t for n in inside if isinstance(n, ast.Name) for t in held.get(n.id, ())}
            covered = {id(n) for part in condition.region() for n in walk(part)} if asked else set()
            for test in asked:
                self._covered.setdefault(test, set()).update(covered)

    def is_covered(self, value: ast.expr, attribute: str) -> bool:
        """Whether ``value`` stands where the function has tested that it has the attribute, or the function sets it."""
        return attribute in self._set or id(value) in self._covered.get(_Test(last_word(value), attribute), ())


def questions(function: FunctionNode, node: ast.expr) -> frozenset[str]:
    """What the conditions that guard ``node`` test of the same expression: ``callable`` and the like, ``None``,
    ``truth``.

    ``return self.size() if callable(self.size) else self.size`` is right whatever ``size`` is. An expression that is
    itself the condition is not guarded by its own test for truth.
    """
    told = _questions_of(function).get(ast.unparse(node), ())
    asked = ((c, question) for c, part, question in told if part is not node or question != "truth")
    return frozenset(question for condition, question in asked if condition.covers(node))


@functools.lru_cache(maxsize=4096)
def _questions_of(function: FunctionNode) -> dict[str, list[tuple[_Condition, ast.expr, str]]]:
    """What the conditions of a function ask, by the text of the expression that they ask it of."""
    found: dict[str, list[tuple[_Condition, ast.expr, str]]] = {}
    for condition in _conditions(function):
        for part, question in _asked(condition.test):
            found.setdefault(ast.unparse(part), []).append((condition, part, question))
    return found


def deciding(function: FunctionNode, node: ast.AST) -> list[ast.expr]:
    """The tests and iterables that decide whether ``node`` runs: those around it, and those in statements before it
    that may leave the block.

    A condition does not decide on itself, but each part of an ``and`` does on the next.
    """
    places = places_of(function)
    place = places.get(id(node))
    regions = [region for outer in nodes_of(function) for region in _decisions(outer)]
    around = [test for test, region in regions if any(places[id(part)].holds(place) for part in region)]
    leaving = [inner for statement in _in_front(function.body, node) for inner in walk(statement)]
    return around + [test for inner in leaving if _may_leave(inner) for test, _ in _decisions(inner)]


def _in_front(block: Sequence[ast.stmt], node: ast.AST) -> list[ast.stmt]:
    """The statements before ``node``, in all blocks around it, that may leave their block."""
    for number, statement in enumerate(block):
        if any(inner is node for inner in walk(statement)):
            before = [other for other in block[:number] if _may_leave(other)]
            blocks = [statement.body] if isinstance(statement, FunctionNode) else blocks_of(statement)
            return before + [other for inner in blocks for other in _in_front(inner, node)]
    return []


def _may_leave(part: ast.AST, *, is_looped: bool = False) -> bool:
    """Whether ``part`` may leave its block, so that what follows need not run; ``is_looped``: it stands in a loop of
    that block, which ``break`` and ``continue`` do not go beyond."""
    match part:
        case ast.Return() | ast.Raise() | ast.Assert():
            return True
        case ast.Continue() | ast.Break():
            return not is_looped
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.expr():
            return False
    is_looped = is_looped or isinstance(part, ast.For | ast.AsyncFor | ast.While)
    return any(_may_leave(inner, is_looped=is_looped) for inner in children(part))


def _decisions(node: ast.AST) -> Iterator[tuple[ast.expr, Sequence[ast.AST]]]:
    """Each test or iterable of ``node``, with the code that runs depending on it."""
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


def is_chosen(function: FunctionNode, node: ast.AST, value: ast.expr) -> bool:
    """Whether ``node`` stands under a condition that tests more than whether ``value`` is truthy or ``None``.

    ``if self.config.method == "eagle":`` may choose among the classes that ``value`` can be of.
    """
    text = ast.unparse(value)
    places = places_of(function)
    choices = (outer for outer in nodes_of(function) if isinstance(outer, ast.Match))
    return any(c.covers(node) for c in _conditions(function) if not _is_presence(c.test, text)) or any(
        places[id(choice)].holds(places.get(id(node))) for choice in choices
    )


def _is_presence(condition: ast.expr, text: str) -> bool:
    """Whether a condition tests nothing but the truth of the expression ``text``, or whether it is ``None``."""
    match condition:
        case ast.BoolOp(values=parts):
            return all(_is_presence(part, text) for part in parts)
        case ast.UnaryOp(op=ast.Not(), operand=part):
            return _is_presence(part, text)
        case ast.Compare(left=part, comparators=[ast.Constant(value=None)]):
            return ast.unparse(part) == text
    return ast.unparse(condition) == text


def _asked(condition: ast.expr) -> Iterator[tuple[ast.expr, str]]:
    """The expressions that a condition tests, each with the test: ``truth``, ``None``, ``callable`` and the like."""
    if isinstance(condition, ast.BoolOp):
        for part in condition.values:
            yield from _asked(part)
    elif isinstance(condition, ast.UnaryOp) and isinstance(condition.op, ast.Not):
        yield from _asked(condition.operand)
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


def _tests(node: ast.AST) -> list[_Test]:
    """The attributes that a call tests for: by name, or each of some, ``all(hasattr(self, n) for n in ("a", "b"))``.

    An object that fails ``any(not hasattr(…) …)`` has them all, too.
    """
    if not isinstance(node, ast.Call):
        return []
    match node:
        case ast.Call(
            func=ast.Name(id="all" | "any" as quantifier),
            args=[ast.GeneratorExp(elt, [each]) | ast.ListComp(elt, [each])],
        ):
            asked = elt.operand if isinstance(elt, ast.UnaryOp) and isinstance(elt.op, ast.Not) else elt
            is_decisive = (asked is elt) == (quantifier == "all") and not each.ifs
            return _tests_of_each(asked, each) if is_decisive else []
    if len(node.args) == 3 or is_name(node.func, "hasattr"):
        return [_Test(last_word(node.args[0]), name) for name in _named(node, {"hasattr", "getattr"})]
    return []


def _tests_of_each(asked: ast.expr, each: ast.comprehension) -> list[_Test]:
    match asked, each:
        case (
            ast.Call(func=ast.Name(id="hasattr"), args=[owner, ast.Name(id=name)]),
            ast.comprehension(target=ast.Name(id=bound), iter=ast.Tuple(elts) | ast.List(elts) | ast.Set(elts)),
        ) if name == bound:
            texts = (one.value for one in elts if isinstance(one, ast.Constant))
            return [_Test(last_word(owner), text) for text in texts if isinstance(text, str)]
    return []


def _named(node: ast.AST, functions: set[str]) -> Iterator[str]:
    """The attribute name in a call of one of ``functions``: ``a`` in ``hasattr(x, "a")``."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in functions:
        name = node.args[1] if len(node.args) > 1 else None
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            yield name.value


@dataclass(frozen=True, slots=True)
class _Condition:
    """A ``test``, the ``node`` that it belongs to, and whether it ``lasts``: guards the statements behind, too."""

    test: ast.expr
    node: ast.stmt | ast.expr
    function: FunctionNode
    lasts: bool = False

    def region(self) -> list[ast.AST]:
        """The code that it guards, the condition included."""
        end = self.node.end_lineno or 0
        nodes = nodes_of(self.function) if self.lasts else ()
        return [self.node, *(other for other in nodes if isinstance(other, ast.stmt) and other.lineno > end)]

    def covers(self, node: ast.AST) -> bool:
        """Whether ``node`` is in the code that it guards."""
        places = places_of(self.function)
        place = places.get(id(node))
        if place is None:
            return False
        return places[id(self.node)].holds(place) or (self.lasts and place.line > (self.node.end_lineno or 0))


@functools.lru_cache(maxsize=4096)
def _conditions(function: FunctionNode) -> tuple[_Condition, ...]:
    return tuple(condition for node in nodes_of(function) for condition in _conditions_of(node, function))


def _conditions_of(node: ast.AST, function: FunctionNode) -> Iterator[_Condition]:
    if isinstance(node, ast.If):
        leaves = any(branch and isinstance(branch[-1], _EXITS) for branch in (node.body, node.orelse))
        yield _Condition(node.test, node, function, lasts=leaves)
    elif isinstance(node, ast.While):
        is_had = tells(node.test, lambda part: True if _tests(part) else None, by=False)
        yield _Condition(node.test, node, function, lasts=is_had and not is_broken_out_of(node))
    elif isinstance(node, ast.IfExp):
        yield _Condition(node.test, node, function)
    elif isinstance(node, ast.Assert):
        yield _Condition(node.test, node, function, lasts=True)
    elif isinstance(node, ast.BoolOp):
        yield _Condition(node, node, function)
    elif isinstance(node, _COMPREHENSIONS):
        yield from (_Condition(test, node, function) for part in node.generators for test in part.ifs)
