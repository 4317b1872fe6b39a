"""Whether two methods do the same: equal statements, and globals that mean the same in both modules.

Comes in: readings and functions. Goes out: answers. May touch: nothing.
"""

from __future__ import annotations

import ast
import builtins
import copy
import re

from runner_sync.naming import Import
from runner_sync.profile import Profile
from runner_sync.syntax import Function, first_line, is_string, walk
from runner_sync.verify.runners.parity import in_npu_words
from runner_sync.verify.runners.reading import Reading

_BUILTINS = frozenset(dir(builtins))
_EVERYWHERE = frozenset({"__import__", "__build_class__", "__debug__", "__builtins__"})
"""Names with two underscores that mean the same in every module."""


def same_globals(reading: Reading, function: Function, other: Reading) -> bool:
    """Whether every global that ``function`` reads is bound alike in both modules, or unbound in one; ``logger`` may
    differ. What tells the module or class around it (``__name__``, ``__class__``) never is."""
    read = _reads(function)
    if any(name.startswith("__") and name.endswith("__") and name not in _EVERYWHERE for name in read):
        return False
    for name in sorted(read - _BUILTINS):
        mine, theirs = _origin(reading, name), _origin(other, name)
        if mine is not None and theirs is not None and mine != theirs and name != "logger":
            return False
    return True


def _reads(function: Function) -> set[str]:
    from runner_sync.statements import mentions  # few checks come to two methods that may be equal

    stated = [node.annotation for node in walk(function) if isinstance(node, ast.arg | ast.AnnAssign)]
    annotations = {id(n) for part in (*stated, function.returns) if part is not None for n in walk(part)}
    return {found.name for found in mentions([function]) if found.kind == "reads" and id(found.node) not in annotations}


def _origin(reading: Reading, name: str) -> frozenset[Import | str] | None:
    """Where a module-level name comes from; its own definition counts by its text. ``None`` when it is not bound."""
    if name in reading.imports:
        return frozenset(reading.imports[name])
    if name in reading.functions:
        return frozenset({ast.dump(reading.functions[name])})
    if name in reading.classes:
        return frozenset({ast.dump(reading.classes[name].node)})
    return None


def says_the_same(reading: Reading, function: Function, other: Reading, twin: Function, *, profile: Profile) -> bool:
    """Whether the NPU function and the GPU one are equal once GPU names are translated; docstrings do not count."""
    if not _may_be_equal(reading, function, other, twin, profile=profile):
        return False
    if reading.text_of(function) == in_npu_words(other.text_of(twin), profile):
        return True
    if _squeezed(reading, function) != in_npu_words(_squeezed(other, twin), profile):
        return False
    return _canonical(function) == in_npu_words(_canonical(twin), profile)


def are_equal(reading: Reading, function: Function, other: Reading, twin: Function) -> bool:
    """Whether two functions have the same decorators, parameters and statements; layout does not count.

    timid: texts are compared, so that two ways to write one string are two strings.
    """
    if not _may_be_equal(reading, function, other, twin):
        return False
    if reading.text_of(function) == other.text_of(twin):
        return True
    return _squeezed(reading, function) == _squeezed(other, twin) and _canonical(function) == _canonical(twin)


def _may_be_equal(
    reading: Reading, function: Function, other: Reading, twin: Function, *, profile: Profile | None = None
) -> bool:
    """Whether both have equally many statements and the same first line of the last one, that of the twin in the NPU
    words of ``profile``: a cheap test that rules out nearly all."""
    mine, theirs = _undocumented(function), _undocumented(twin)
    if len(mine) != len(theirs) or not mine or type(mine[-1]) is not type(theirs[-1]):
        return False
    line, wanted = reading.lines[mine[-1].lineno - 1], other.lines[theirs[-1].lineno - 1]
    return "".join(line.split()) == "".join((in_npu_words(wanted, profile) if profile else wanted).split())


def _canonical(function: Function) -> str:
    """The function unparsed from its syntax tree: squeezed texts are equal even for ``(x,)`` and ``(x)``, and for
    strings that differ in blanks."""
    plain = copy.copy(function)
    plain.body = _undocumented(function) or function.body
    plain.returns = None
    return ast.unparse(plain)


def _squeezed(reading: Reading, function: Function) -> str:
    """Source of a function without docstring, return annotation, own-line comments, blanks and trailing commas."""
    body = _undocumented(function)
    head = _squeeze(reading.lines[first_line(function) - 1 : function.body[0].lineno - 1])
    code = _squeeze(reading.lines[first_line(body[0]) - 1 : function.end_lineno]) if body else ""
    return re.sub(r"->.*:$", ":", head) + code


def _squeeze(lines: list[str]) -> str:
    text = " ".join(line for line in lines if not line.lstrip().startswith("#"))
    # A blank counts only between two words, and a comma only if no bracket closes behind it.
    return re.sub(r"\s+(?=\W)|(?<=\W)\s+|,(?=\s*[)\]}])", "", re.sub(r"\s+", " ", text))


def _undocumented(function: Function) -> list[ast.stmt]:
    return function.body[1:] if is_string(function.body[0]) else function.body
