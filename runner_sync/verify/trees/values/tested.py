"""Where a function has tested that an object has an attribute, so that it may read it.

Comes in: a function. Goes out: `Guards`, which tell whether a read is tested. May touch: nothing.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runner_sync.statements.assigning import assignments_of
from runner_sync.syntax import Function, is_name, is_none, last_word, string_of, walk
from runner_sync.verify.answers import remembered
from runner_sync.verify.expecting import find_after_yes, is_answered, may_decide
from runner_sync.verify.trees.functions import nodes_of

_SAME = ast.Is | ast.Eq
_OTHER = ast.IsNot | ast.NotEq


@dataclass(frozen=True, slots=True)
class _Test:
    """``hasattr(owner, "attribute")``, or ``getattr`` with a default. ``owner`` is the last part of a dotted name."""

    owner: str
    attribute: str


class Guards:
    """The tests of one function for attributes, and the code that they guard.

    ``hasattr(x, "a")`` and ``getattr(x, "a", default)`` in a condition, or a name there that holds one of them, guard
    ``x.a`` if the outcome means that ``x`` has it: in that branch, and behind another branch that always leaves. A
    condition that is not understood guards both branches. A function that sets ``a`` with ``setattr`` may read it
    anywhere.
    """

    def __init__(self, function: Function) -> None:
        nodes = nodes_of(function)
        self._set = {name for node in nodes for name in _read_attribute(node, {"setattr", "delattr"})}
        self._tests = {id(node): found for node in nodes if (found := find_tests(node))}
        self._made = {test for found in self._tests.values() for test in found}
        self._held: dict[str, list[ast.expr]] = {}
        for node in nodes if self._tests else ():
            for target, value, _ in assignments_of(node):
                if isinstance(target, ast.Name) and value is not None:
                    self._held.setdefault(target.id, []).append(value)
        self._deciding = [node for node in nodes if self._tests and may_decide(node)]

    def is_covered(self, value: ast.expr, attribute: str) -> bool:
        """Whether the function has tested that ``value`` has the attribute, or sets it."""
        test = _Test(last_word(value), attribute)
        return attribute in self._set or (test in self._made and id(value) in self._find_covered(test))

    @remembered
    def _find_covered(self, test: _Test) -> set[int]:
        """Return the ids of the nodes that a test guards, found when first asked for: many guard no read."""
        # A condition that is not understood may mean either, so both guesses are tried.
        guesses = (_Question(test, self._tests, self._held, guess=guess) for guess in (True, False))
        parts = (part for question in guesses for part in find_after_yes(self._deciding, question, insists=True))
        return {id(inner) for part in parts for inner in walk(part)}


@functools.lru_cache(maxsize=16384)
def _read_contents(part: ast.expr) -> tuple[frozenset[str], frozenset[int]]:
    """Return the names in an expression, and the ids of its calls; cached for all questions about a function."""
    nodes = walk(part)
    names = frozenset(node.id for node in nodes if isinstance(node, ast.Name))
    return names, frozenset(id(node) for node in nodes if isinstance(node, ast.Call))


class _Question:
    """Whether a condition tests for one attribute, and which outcome says that it is there."""

    def __init__(
        self, test: _Test, tests: dict[int, list[_Test]], held: dict[str, list[ast.expr]], *, guess: bool
    ) -> None:
        self._calls = {place for place, found in tests.items() if test in found}
        self._held = {
            name: asking for name, values in held.items() if (asking := [v for v in values if self._has_test(v)])
        }
        self._guess = guess
        self._open: set[str] = set()

    def __call__(self, part: ast.expr) -> bool | None:
        """Return the truth value of ``part`` that means yes; the guess, if the test is not understood; ``None``, if it
        tests nothing."""
        names, _ = _read_contents(part)
        if not self._has_test(part) and not names & self._held.keys() - self._open:
            return None
        match part:
            case ast.Name(id=name):
                self._open.add(name)  # `has = has or hasattr(…)` refers to itself
                answer = self._answer_for_values(self._held[name])
                self._open.remove(name)
                return answer
            case ast.Call(func=ast.Name(id="bool"), args=[argument]):
                return self._answer_for_values([argument])
            case ast.Call(func=ast.Name(id="callable" | "isinstance"), args=[argument, *_]):
                defaults = self._find_defaults(argument)
                return True if defaults and all(map(is_none, defaults)) else self._guess
            case ast.Compare(left=left, ops=[operator], comparators=[other]):
                return self._answer_for_comparison(operator, self._find_defaults(left), other)
            case ast.Call() if id(part) in self._calls:
                return self._answer_for_call(part)
        return self._guess

    def _answer_for_values(self, values: Sequence[ast.expr]) -> bool:
        answers = {by for value in values for by in (True, False) if is_answered(value, self, by=by)}
        return answers.pop() if len(answers) == 1 else self._guess

    def _has_test(self, node: ast.expr) -> bool:
        """Whether a test for the attribute stands in an expression."""
        _, calls = _read_contents(node)
        return not calls.isdisjoint(self._calls)

    def _answer_for_call(self, call: ast.Call) -> bool:
        if is_name(call.func, "getattr"):
            default = call.args[2]
            # A value that cannot be distinguished from the default says nothing.
            return not default.value if isinstance(default, ast.Constant) else self._guess
        return not is_name(call.func, "any")

    def _answer_for_comparison(self, operator: ast.cmpop, defaults: list[ast.expr], other: ast.expr) -> bool:
        """Return the outcome of a comparison that means yes.

        ``getattr(x, "a", None) is not None`` is true only with the attribute, ``… is None`` false only then.
        """
        is_default = {ast.unparse(default) == ast.unparse(other) for default in defaults}
        if len(is_default) != 1 or not isinstance(operator, _SAME | _OTHER):
            return self._guess
        if True not in is_default and not all(isinstance(one, ast.Constant) for one in (*defaults, other)):
            return self._guess
        return isinstance(operator, _OTHER) if True in is_default else isinstance(operator, _SAME)

    def _find_defaults(self, node: ast.expr) -> list[ast.expr]:
        """Return the defaults of the ``getattr`` that an expression is, or that the name was assigned."""
        if isinstance(node, ast.NamedExpr):
            return self._find_defaults(node.value)
        values = self._held.get(node.id, []) if isinstance(node, ast.Name) else [node]
        calls = [one for one in values if isinstance(one, ast.Call) and id(one) in self._calls]
        return [call.args[2] for call in calls if is_name(call.func, "getattr")]


def find_tests(node: ast.AST) -> list[_Test]:
    """Return the attributes that a call tests for: one by name, or several: ``all(hasattr(self, n) for n in ("a",
    "b"))``.

    An object that fails ``any(not hasattr(…) …)`` has them all, too.
    """
    if not isinstance(node, ast.Call):
        return []
    match node:
        case ast.Call(
            func=ast.Name(id="all" | "any" as quantifier),
            args=[ast.GeneratorExp(elt, [each]) | ast.ListComp(elt, [each])],
        ):
            operand = elt.operand if isinstance(elt, ast.UnaryOp) and isinstance(elt.op, ast.Not) else elt
            is_decisive = (operand is elt) == (quantifier == "all") and not each.ifs
            return _find_tests_of_each(operand, each) if is_decisive else []
    if len(node.args) == 3 or is_name(node.func, "hasattr"):
        return [_Test(last_word(node.args[0]), name) for name in _read_attribute(node, {"hasattr", "getattr"})]
    return []


def _find_tests_of_each(operand: ast.expr, each: ast.comprehension) -> list[_Test]:
    match operand, each:
        case (
            ast.Call(func=ast.Name(id="hasattr"), args=[owner, ast.Name(id=name)]),
            ast.comprehension(target=ast.Name(id=bound), iter=ast.Tuple(elts) | ast.List(elts) | ast.Set(elts)),
        ) if name == bound:
            texts = (one.value for one in elts if isinstance(one, ast.Constant))
            return [_Test(last_word(owner), text) for text in texts if isinstance(text, str)]
    return []


def _read_attribute(node: ast.AST, functions: set[str]) -> Iterator[str]:
    """Yield the attribute name in a call of one of ``functions``: ``a`` in ``hasattr(x, "a")``."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in functions:
        name = string_of(node.args[1]) if len(node.args) > 1 else None
        if name is not None:
            yield name
