"""Puts parameters that a port adds to an override of vllm-ascend's method behind those that vllm-ascend passes.

Comes in: the method before and after the merge. Goes out: its text. May touch: nothing.

The merge puts the twin's new parameter where the twin has it. NPU may have more behind it, and vllm-ascend's callers
may pass these by place::

    NPU      def run(self, total, profile=0):         merged   def run(self, total, talker=0, profile=0):
    twin     def run(self, total, talker=0):          made     def run(self, total, profile=0, talker=0):

timid: only parameters with a default, in a signature in which no old parameter changed its place.
"""

from __future__ import annotations

import ast
import re

from runner_sync.edits import Edit, Places, apply
from runner_sync.signatures import defaults_of, positional_parameters
from runner_sync.statements import parse_function
from runner_sync.syntax import Function


def put_new_parameters_last(text: str, before: str) -> str:
    """Return ``text`` with its parameters that ``before`` lacks behind those that may be passed by place."""
    function, old = parse_function(text), parse_function(before)
    if function is None or old is None or function.args.posonlyargs:
        return text
    known, parameters = [one.arg for one in positional_parameters(old)], positional_parameters(function)
    kept, new = ([one for one in parameters if (one.arg in known) == is_known] for is_known in (True, False))
    defaults = defaults_of(function)
    if [one.arg for one in kept] != known or any(defaults[one.arg] is None for one in new):
        return text
    places = Places(text)
    spans = {one.arg: _find_span(one, function, places) for one in parameters}
    comments = {name: found for name, span in spans.items() if (found := _find_comment(text, span[1])) is not None}
    parts = [spans, comments] if len(comments) == len(spans) else [spans]
    return apply(
        text,
        [
            Edit(*part[slot.arg], text[slice(*part[one.arg])])
            for slot, one in zip(parameters, [*kept, *new], strict=True)
            for part in parts
            if slot is not one
        ],
    )


def _find_comment(text: str, end: int) -> tuple[int, int] | None:
    """Return start and end offset of the comment behind a parameter, maybe empty; ``None`` if its line goes on."""
    found = _BEHIND.match(text, end)
    return found.span(1) if found is not None else None


_BEHIND = re.compile(r"(?:[ \t]*,)?([ \t]*(?:#[^\n]*)?)(?=\n)")


def _find_span(parameter: ast.arg, function: Function, places: Places) -> tuple[int, int]:
    """Return start and end offset of a parameter with its hint and default."""
    default = defaults_of(function)[parameter.arg]
    return places.start(parameter), places.end(default if default is not None else parameter)
