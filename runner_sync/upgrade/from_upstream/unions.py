"""Spells upstream's type unions as omni does: ``X | None`` and ``A | B`` for ``Optional[X]`` and ``Union[A, B]``.

Comes in: upstream's unit, omni's unit and module. Goes out: upstream's unit. May touch: nothing.

vllm-omni's linter asks for PEP 604 (ruff's UP007 and UP045); vllm-ascend's did not until 0.15.0rc1, so people respelled
their copies. Base and upstream are respelled before a merge. A signature in omni's spelling can then gain an upstream
parameter, and new code needs no import from ``typing`` that omni never had.
"""

from __future__ import annotations

import ast
import builtins
import re

from runner_sync.edits import Edit, Places, apply
from runner_sync.statements import parse_unit
from runner_sync.statements.hints import generic_arguments
from runner_sync.syntax import Function, last_word, walk

_TYPING = re.compile(r"\b(?:Optional|Union)\[")
_PIPE = re.compile(r"\| None\b|\bNone \|")


def respell_unions(text: str, *, unit: str, module: str) -> str:
    """Return ``text`` with its unions written with ``|``.

    Returns ``text`` unchanged if omni's ``unit`` uses ``Optional`` or ``Union``, or omni's ``module`` does not mostly
    use ``|``.
    """
    if not _TYPING.search(text) or _TYPING.search(unit) or len(_PIPE.findall(module)) <= len(_TYPING.findall(module)):
        return text
    places = Places(text)
    edits = [
        places.instead_of(annotation, _respell(annotation, places))
        for annotation in _find_annotations(parse_unit(text))
        if "#" not in places.source(annotation)  # a comment between the lines would be lost
    ]
    return apply(text, edits)


def _find_annotations(tree: ast.Module) -> list[ast.expr]:
    """Return all annotations of parameters, return values and variables; none is nested in another."""
    functions = [node.returns for node in walk(tree) if isinstance(node, Function)]
    variables = [node.annotation for node in walk(tree) if isinstance(node, ast.arg | ast.AnnAssign)]
    return [annotation for annotation in (*functions, *variables) if annotation is not None]


def _respell(node: ast.expr, places: Places) -> str:
    """Return the source of an annotation, with ``|`` for each union that can be evaluated at run time."""
    if isinstance(node, ast.Subscript):
        members = generic_arguments(node)
        kind = last_word(node.value)
        if kind in ("Optional", "Union") and all(_is_type(member) for member in members):
            parts = [_respell(member, places) for member in members]
            return " | ".join(parts if kind == "Union" else [*parts, "None"])
    begin = places.start(node)
    inner = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
    edits = [Edit(places.start(one) - begin, places.end(one) - begin, _respell(one, places)) for one in inner]
    return apply(places.source(node), edits)


def _is_type(node: ast.expr) -> bool:
    """Whether ``node | None`` can be evaluated; false for a string and for a builtin function used as a type."""
    if isinstance(node, ast.Constant):
        return node.value is None
    named = getattr(builtins, node.id, type) if isinstance(node, ast.Name) else type
    return isinstance(named, type)
