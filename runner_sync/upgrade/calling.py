"""Ports that change a signature which somebody still calls as it was.

Comes in: the drafts of a class. Goes out: those whose port has to be taken back. May touch: nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from runner_sync.signatures import is_bound, misfits, of_call, of_function
from runner_sync.statements import parse_unit
from runner_sync.syntax import walk
from runner_sync.upgrade.job import Draft


def unfit(drafts: Sequence[Draft], before: Mapping[str, str]) -> dict[str, str]:
    """``{unit: unit that calls it}`` of the units whose signature has changed so that a call of another no longer fits.

    ``before`` are the texts of the same units as the calls fitted them. Calls are those on ``self`` within one class.
    """
    found: dict[str, str] = {}
    here = [draft for draft in drafts if not draft.removed]
    for draft in here:
        was = before.get(draft.name)
        if was is None or _head(was) == _head(draft.text):
            continue
        for other in here:
            fitted = not _misfit(was, member=draft.member, caller=before.get(other.name, other.text))
            if other.owner == draft.owner and fitted and _misfit(draft.text, member=draft.member, caller=other.text):
                found[draft.name] = other.name
    return found


def _misfit(text: str, *, member: str, caller: str) -> bool:
    """Whether a call of ``member`` in ``caller`` does not fit its text."""
    function = _function(text)
    if function is None:
        return False
    signature = of_function(function, bound=is_bound(function))
    return any(misfits(signature, of_call(call)) for call in _calls(caller, member))


def _head(text: str) -> str:
    function = _function(text)
    return ast.unparse(function.args) if function is not None else ""


@lru_cache(maxsize=1024)
def _function(text: str) -> ast.FunctionDef | None:
    try:
        body = parse_unit(text).body
    except SyntaxError:
        return None
    return next((node for node in body if isinstance(node, ast.FunctionDef)), None)


def _calls(text: str, member: str) -> Iterator[ast.Call]:
    function = _function(text)
    for node in walk(function) if function is not None else ():
        if isinstance(node, ast.Call) and ast.unparse(node.func) == f"self.{member}":
            yield node
