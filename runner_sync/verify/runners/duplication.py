"""Tells whether two methods do the same: equal statements, and globals that mean the same in both modules.

Comes in: readings and functions. Goes out: yes or no. May touch: nothing.
"""

from __future__ import annotations

import ast
import builtins
import copy
import re

from runner_sync.naming import Import
from runner_sync.profile import Profile
from runner_sync.syntax import Function, first_line, is_string, walk
from runner_sync.verify.runners.ancestry import find_ancestry
from runner_sync.verify.runners.job import Library
from runner_sync.verify.runners.parity import translate_to_npu
from runner_sync.verify.runners.reading import ClassText, Reading

_BUILTINS = frozenset(dir(builtins))
_EVERYWHERE = frozenset({"__import__", "__build_class__", "__debug__", "__builtins__"})
"""Names with two underscores that mean the same in every module."""


def has_same_globals(reading: Reading, function: Function, other: Reading) -> bool:
    """Whether every global that ``function`` reads is bound alike in both modules, or unbound in one.

    ``logger`` may differ. A name that depends on the module or class around it (``__name__``, ``__class__``) never
    counts as the same.
    """
    read = _find_reads(function)
    if any(name.startswith("__") and name.endswith("__") and name not in _EVERYWHERE for name in read):
        return False
    for name in sorted(read - _BUILTINS):
        origin, other_origin = _find_origin(reading, name), _find_origin(other, name)
        if origin is not None and other_origin is not None and origin != other_origin and name != "logger":
            return False
    return True


def _find_reads(function: Function) -> set[str]:
    from runner_sync.statements import mentions  # few checks reach two methods that may be equal

    annotated = [node.annotation for node in walk(function) if isinstance(node, ast.arg | ast.AnnAssign)]
    annotations = {id(n) for part in (*annotated, function.returns) if part is not None for n in walk(part)}
    return {
        mention.name
        for mention in mentions([function])
        if mention.kind == "reads" and id(mention.node) not in annotations
    }


def _find_origin(reading: Reading, name: str) -> frozenset[Import | str] | None:
    """Return where a module-level name comes from, an own definition by its text; ``None`` if it is not bound."""
    if name in reading.imports:
        return frozenset(reading.imports[name])
    if name in reading.functions:
        return frozenset({ast.dump(reading.functions[name])})
    if name in reading.classes:
        return frozenset({ast.dump(reading.classes[name].node)})
    return None


def is_equal_translated(
    reading: Reading, function: Function, other: Reading, twin: Function, *, profile: Profile
) -> bool:
    """Whether the NPU and GPU functions are equal after GPU names are translated; docstrings do not count."""
    if not _may_be_equal(reading, function, other, twin, profile=profile):
        return False
    if reading.text_of(function) == translate_to_npu(other.text_of(twin), profile):
        return True
    if _squeeze_function(reading, function) != translate_to_npu(_squeeze_function(other, twin), profile):
        return False
    return _unparse_plainly(function) == translate_to_npu(_unparse_plainly(twin), profile)


def are_equal(reading: Reading, function: Function, other: Reading, twin: Function) -> bool:
    """Whether two functions have the same decorators, parameters and statements; layout does not count.

    timid: compares texts, so two spellings of one string differ.
    """
    if not _may_be_equal(reading, function, other, twin):
        return False
    if reading.text_of(function) == other.text_of(twin):
        return True
    return _squeeze_function(reading, function) == _squeeze_function(other, twin) and _unparse_plainly(
        function
    ) == _unparse_plainly(twin)


def is_inherited(library: Library, owner: ClassText, function: Function) -> bool:
    """Whether ``owner`` would run the same without its own definition: RS103 asks to delete that."""
    mro = find_ancestry(library, owner)
    below = mro.find(function.name, after=owner) if not mro.is_open else None
    if below is None:
        return False
    same = are_equal(owner.reading, function, below.reading, below.methods[function.name][-1])
    return same and has_same_globals(owner.reading, function, below.reading)


def _may_be_equal(
    reading: Reading, function: Function, other: Reading, twin: Function, *, profile: Profile | None = None
) -> bool:
    """Whether both functions have equally many statements, the last of one type and with the same first line.

    A cheap test that rules out nearly all pairs. ``profile`` translates the twin's line to NPU names first.
    """
    code, twin_code = _find_code(function), _find_code(twin)
    if len(code) != len(twin_code) or not code or type(code[-1]) is not type(twin_code[-1]):
        return False
    line, twin_line = reading.lines[code[-1].lineno - 1], other.lines[twin_code[-1].lineno - 1]
    return "".join(line.split()) == "".join((translate_to_npu(twin_line, profile) if profile else twin_line).split())


def _unparse_plainly(function: Function) -> str:
    """Return the function unparsed from its syntax tree.

    Squeezed texts are equal even for ``(x,)`` and ``(x)``, and for strings that differ only in blanks.
    """
    plain = copy.copy(function)
    plain.body = _find_code(function) or function.body
    plain.returns = None
    return ast.unparse(plain)


def _squeeze_function(reading: Reading, function: Function) -> str:
    """Return a function's source without docstring, return type, own-line comments, blanks and trailing commas."""
    body = _find_code(function)
    head = _squeeze_lines(reading.lines[first_line(function) - 1 : function.body[0].lineno - 1])
    code = _squeeze_lines(reading.lines[first_line(body[0]) - 1 : function.end_lineno]) if body else ""
    return re.sub(r"->.*:$", ":", head) + code


def _squeeze_lines(lines: list[str]) -> str:
    text = " ".join(line for line in lines if not line.lstrip().startswith("#"))
    # Remove blanks that do not separate two words, and commas in front of a closing bracket.
    return re.sub(r"\s+(?=\W)|(?<=\W)\s+|,(?=\s*[)\]}])", "", re.sub(r"\s+", " ", text))


def _find_code(function: Function) -> list[ast.stmt]:
    return function.body[1:] if is_string(function.body[0]) else function.body
