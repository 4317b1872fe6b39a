"""What some code is ready for: the errors that it catches, and where a question has been answered with yes.

Comes in: ``ast`` nodes. Goes out: the code in which an error is handled, or that runs after such an answer only. May
touch: nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from runner_sync.syntax import Try, suites_of, walk

_ANY = frozenset({"Exception", "BaseException"})
IMPORT_ERRORS = _ANY | {"ImportError", "ModuleNotFoundError"}
ATTRIBUTE_ERRORS = _ANY | {"AttributeError", "FrozenInstanceError"}
KEY_ERRORS = _ANY | {"KeyError", "LookupError"}
CALL_ERRORS = _ANY | {"TypeError"}
UNPACKING_ERRORS = CALL_ERRORS | {"ValueError"}
INDEX_ERRORS = CALL_ERRORS | {"IndexError", "LookupError"}
DEVICE_ERRORS = IMPORT_ERRORS | {"AssertionError", "AttributeError", "RuntimeError"}
"""What torch raises for a device that it was not built for, and Python for names that torch does not have then."""

_CLASS = re.compile(r"_*[A-Z]\w*[a-z]")


def guarded(nodes: Iterable[ast.AST], errors: frozenset[str]) -> Iterator[ast.stmt]:
    """The statements in which one of ``errors`` is caught, or that stand under a version switch: both its branches."""
    for node in nodes:
        if isinstance(node, ast.If) and is_switch(node.test):
            yield from (*node.body, *node.orelse)
        else:
            yield from caught(node, errors)


def caught(node: ast.AST, errors: frozenset[str]) -> Sequence[ast.stmt]:
    """The statements in which ``node``, a ``try`` or a ``with suppress(…)``, catches one of ``errors``."""
    if isinstance(node, Try) and any(_catches(handler, errors) for handler in node.handlers):
        return node.body
    if isinstance(node, ast.With | ast.AsyncWith) and _suppresses(node, errors):
        return node.body
    return ()


def _catches(handler: ast.ExceptHandler, errors: frozenset[str]) -> bool:
    """Whether a handler catches one of ``errors`` (a bare ``except`` catches all)."""
    return handler.type is None or _may_be(handler.type, errors)


def _suppresses(statement: ast.With | ast.AsyncWith, errors: frozenset[str]) -> bool:
    from runner_sync.statements.leaving import swallowing  # few checks come to code with a `with`

    return any(_may_be(kind, errors) for call in swallowing(statement) for kind in call.args)


def _may_be(kind: ast.expr, errors: frozenset[str]) -> bool:
    """Whether an expression names one of ``errors``; timid: what is no name of a class (``*_ERRORS``) may be any."""
    if isinstance(kind, ast.Tuple):
        return any(_may_be(part, errors) for part in kind.elts)
    word = ast.unparse(kind).rpartition(".")[2]
    return word in errors or _CLASS.fullmatch(word) is None


_SWITCH = re.compile(
    r"(?<![A-Za-z])version(?![a-z])|Version(?![a-z])|(?<![A-Z])VERSION(?![A-Z])|\bTYPE_CHECKING\b|\bfind_spec\b"
)
"""``version`` as a word of a name: in ``vllm_version_is``, ``LooseVersion`` or ``VLLM_VERSION``, not ``conversion``."""


def is_switch(test: ast.expr) -> bool:
    """Whether a condition tests a version or for type checking, so that one branch is not meant for these trees."""
    return any(_SWITCH.search(word) for node in walk(test) for word in _words_of(node))


def _words_of(node: ast.AST) -> tuple[str, ...]:
    match node:
        case ast.Name(id=word) | ast.Attribute(attr=word) | ast.keyword(arg=str(word)) | ast.Constant(value=str(word)):
            return (word,)
    return ()


Question = Callable[[ast.expr], bool | None]
"""Whether an expression without ``not``, ``and`` or ``or`` that is true means yes, or no; ``None``: it asks another."""


def holding(nodes: Iterable[ast.AST], is_asked: Question) -> Iterator[ast.AST]:
    """The code among ``nodes`` and below that runs only where the question was answered with yes."""
    for node in nodes:
        match node:
            case ast.If(test=test, body=body, orelse=other) | ast.While(test=test, body=body, orelse=other):
                yield from (part for part in body if tells(test, is_asked, by=True))
                yield from (part for part in other if tells(test, is_asked, by=False))
            case ast.IfExp(test=test, body=one, orelse=another):
                yield from (part for part, by in ((one, True), (another, False)) if tells(test, is_asked, by=by))
            case ast.BoolOp(op=operator, values=values):
                goes_on = isinstance(operator, ast.And)
                told = (n for n, value in enumerate(values) if tells(value, is_asked, by=goes_on))
                yield from values[next(told, len(values)) + 1 :]
        for suite in suites_of([node]):
            told = (n for n, statement in enumerate(suite) if _is_over_without(statement, is_asked))
            yield from suite[next(told, len(suite)) + 1 :]


def tells(test: ast.expr, is_asked: Question, *, by: bool) -> bool:
    """Whether a condition that comes out true (``by`` false: untrue) answers the question with yes."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=other):
            return tells(other, is_asked, by=not by)
        case ast.NamedExpr(value=other):
            return tells(other, is_asked, by=by)
        case ast.BoolOp(op=operator, values=values):
            told = [tells(value, is_asked, by=by) for value in values]
            return any(told) if isinstance(operator, ast.And) == by else all(told)
    return is_asked(test) is by


def _is_over_without(statement: ast.stmt, is_asked: Question) -> bool:
    """Whether what follows a statement runs only after a yes. An exit by ``raise`` says that the answer is needed, and
    not that the code does without."""
    from runner_sync.statements.leaving import always_leaves, is_broken_out_of  # as above

    if isinstance(statement, ast.While):
        return tells(statement.test, is_asked, by=False) and not is_broken_out_of(statement)
    if not isinstance(statement, ast.If):
        return False
    branches = ((statement.body, False), (statement.orelse, True))
    return any(
        always_leaves(body) and not isinstance(body[-1], ast.Raise) and tells(statement.test, is_asked, by=by)
        for body, by in branches
    )
