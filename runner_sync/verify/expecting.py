"""Finds the code that expects an error, or that runs only after a question was answered with yes.

Comes in: ``ast`` nodes. Goes out: the code that an error handler covers, or that runs only after such an answer. May
touch: nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from runner_sync.syntax import Comprehension, Try, suites_of, walk

_ANY = frozenset({"Exception", "BaseException"})
IMPORT_ERRORS = _ANY | {"ImportError", "ModuleNotFoundError"}
ATTRIBUTE_ERRORS = _ANY | {"AttributeError", "FrozenInstanceError"}
KEY_ERRORS = _ANY | {"KeyError", "LookupError"}
CALL_ERRORS = _ANY | {"TypeError"}
UNPACKING_ERRORS = CALL_ERRORS | {"ValueError"}
INDEX_ERRORS = CALL_ERRORS | {"IndexError", "LookupError"}
DEVICE_ERRORS = IMPORT_ERRORS | {"AssertionError", "AttributeError", "RuntimeError"}
"""What torch raises for a device that it was not built for, and Python for names that such a torch lacks."""

_CLASS = re.compile(r"_*[A-Z]\w*[a-z]")


def find_guarded(nodes: Iterable[ast.AST], errors: frozenset[str]) -> Iterator[ast.stmt]:
    """Yield the statements in which one of ``errors`` is caught, and both branches of every version switch."""
    for node in nodes:
        if isinstance(node, ast.If) and is_version_switch(node.test):
            yield from (*node.body, *node.orelse)
        else:
            yield from find_caught(node, errors)


def find_caught(node: ast.AST, errors: frozenset[str]) -> Sequence[ast.stmt]:
    """Return the statements in which ``node``, a ``try`` or ``with suppress(…)``, catches one of ``errors``."""
    if isinstance(node, Try) and any(_catches(handler, errors) for handler in node.handlers):
        return node.body
    if isinstance(node, ast.With | ast.AsyncWith) and _suppresses(node, errors):
        return node.body
    return ()


def _catches(handler: ast.ExceptHandler, errors: frozenset[str]) -> bool:
    """Whether a handler catches one of ``errors`` (a bare ``except`` catches all)."""
    return handler.type is None or _may_name_error(handler.type, errors)


def _suppresses(statement: ast.With | ast.AsyncWith, errors: frozenset[str]) -> bool:
    from runner_sync.statements.leaving import swallowing  # few checks reach code with a `with`

    return any(_may_name_error(kind, errors) for call in swallowing(statement) for kind in call.args)


def _may_name_error(kind: ast.expr, errors: frozenset[str]) -> bool:
    """Whether an expression names one of ``errors``. timid: whatever is no class name (``*_ERRORS``) may."""
    if isinstance(kind, ast.Tuple):
        return any(_may_name_error(part, errors) for part in kind.elts)
    word = ast.unparse(kind).rpartition(".")[2]
    return word in errors or _CLASS.fullmatch(word) is None


_SWITCH = re.compile(
    r"(?<![A-Za-z])version(?![a-z])|Version(?![a-z])|(?<![A-Z])VERSION(?![A-Z])|\bTYPE_CHECKING\b|\bfind_spec\b"
)
"""``version`` as a word of a name: in ``vllm_version_is``, ``LooseVersion`` or ``VLLM_VERSION``, not ``conversion``."""


def is_version_switch(test: ast.expr) -> bool:
    """Whether a condition tests a version or for type checking, so that one branch is not meant for these trees."""
    return any(_SWITCH.search(word) for node in walk(test) for word in _find_words(node))


def _find_words(node: ast.AST) -> tuple[str, ...]:
    match node:
        case ast.Name(id=word) | ast.Attribute(attr=word) | ast.keyword(arg=str(word)) | ast.Constant(value=str(word)):
            return (word,)
    return ()


Question = Callable[[ast.expr], bool | None]
"""Whether a true expression (without ``not``, ``and``, ``or``) means yes or no; ``None`` for another question."""


def find_after_yes(nodes: Iterable[ast.AST], is_asked: Question, *, insists: bool = False) -> Iterator[ast.AST]:
    """Yield the code among ``nodes`` and below that runs only after the question was answered with yes.

    With ``insists``, an ``assert`` and an exit by ``raise`` also count. Otherwise they do not, because they only demand
    a yes; the code cannot do without it.
    """
    for node in nodes:
        match node:
            case ast.If(test=test, body=body, orelse=other) | ast.While(test=test, body=body, orelse=other):
                yield from (part for part in body if is_answered(test, is_asked, by=True))
                yield from (part for part in other if is_answered(test, is_asked, by=False))
            case ast.IfExp(test=test, body=one, orelse=another):
                yield from (part for part, by in ((one, True), (another, False)) if is_answered(test, is_asked, by=by))
            case ast.BoolOp(op=operator, values=values):
                goes_on = isinstance(operator, ast.And)
                answering = (n for n, value in enumerate(values) if is_answered(value, is_asked, by=goes_on))
                yield from values[next(answering, len(values)) + 1 :]
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                steps, filters = _split_comprehension(node)
                answering = (
                    n for n, step in enumerate(steps) if id(step) in filters and is_answered(step, is_asked, by=True)
                )
                yield from steps[next(answering, len(steps)) + 1 :]
            case ast.match_case(guard=ast.expr() as guard, body=body):
                yield from (part for part in body if is_answered(guard, is_asked, by=True))
        for suite in suites_of([node]):
            answering = (n for n, statement in enumerate(suite) if _is_yes_after(statement, is_asked, insists=insists))
            yield from suite[next(answering, len(suite)) + 1 :]


def may_decide(node: ast.AST) -> bool:
    """Whether `find_after_yes` can yield anything for a node; callers with many questions keep only these nodes."""
    return hasattr(node, "body") or isinstance(node, ast.BoolOp | Comprehension)


def _split_comprehension(node: Comprehension) -> tuple[list[ast.expr], set[int]]:
    """Return the parts of a comprehension in the order in which they run, and the ids of its conditions."""
    steps = [step for part in node.generators for step in (part.iter, *part.ifs)]
    made = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    return steps + made, {id(test) for part in node.generators for test in part.ifs}


def is_answered(test: ast.expr, is_asked: Question, *, by: bool) -> bool:
    """Whether a condition answers the question with yes if its value is true (``by`` false: untrue)."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=other):
            return is_answered(other, is_asked, by=not by)
        case ast.NamedExpr(value=other):
            return is_answered(other, is_asked, by=by)
        case ast.BoolOp(op=operator, values=values):
            answers = [is_answered(value, is_asked, by=by) for value in values]
            return any(answers) if isinstance(operator, ast.And) == by else all(answers)
    return is_asked(test) is by


def _is_yes_after(statement: ast.stmt, is_asked: Question, *, insists: bool) -> bool:
    """Whether code behind a statement runs only after a yes: every other way through it leaves the suite."""
    from runner_sync.statements.leaving import always_leaves, breaks_of, is_endless, may_swallow  # as above

    def is_told(suite: Iterable[ast.stmt]) -> bool:
        return any(_is_yes_after(inner, is_asked, insists=insists) for inner in suite)

    def leaves(suite: Sequence[ast.stmt]) -> bool:
        return always_leaves(suite) and (insists or not isinstance(suite[-1], ast.Raise))

    match statement:
        case ast.Assert(test=test):
            return insists and is_answered(test, is_asked, by=True)
        case ast.If(test=test, body=body, orelse=other):
            ways = ((body, True), (other, False))
            return all(is_answered(test, is_asked, by=by) or leaves(suite) or is_told(suite) for suite, by in ways)
        case ast.With(body=body) | ast.AsyncWith(body=body):
            return is_told(body) and not may_swallow(statement)
        case ast.Try() | ast.TryStar():
            handlers = [handler.body for handler in statement.handlers]
            is_each_told = is_told([*statement.body, *statement.orelse])
            is_each_told = is_each_told and all(always_leaves(suite) or is_told(suite) for suite in handlers)
            return is_each_told or is_told(statement.finalbody)
        case ast.For() | ast.AsyncFor() | ast.While():
            is_end_told = isinstance(statement, ast.While) and is_answered(statement.test, is_asked, by=False)
            if is_end_told or is_endless(statement) or leaves(statement.orelse) or is_told(statement.orelse):
                breaks = [*breaks_of(statement)]
                held = find_after_yes(walk(statement), is_asked, insists=insists) if breaks else ()
                return {*breaks} <= {node for part in held for node in walk(part)}
    return False
