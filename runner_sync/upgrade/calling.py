"""Ports that change a signature which somebody still calls as it was.

Comes in: the drafts of a class. Goes out: those whose port has to be taken back. May touch: nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from runner_sync.signatures import is_bound, misfits, of_call, of_function
from runner_sync.statements import parse_function
from runner_sync.syntax import calls_on_self
from runner_sync.upgrade.job import Draft


def unfit(drafts: Sequence[Draft], before: Mapping[str, str]) -> dict[str, str]:
    """``{unit: unit that calls it}`` of the units whose signature has changed so that a call of another no longer fits.

    ``before`` are the texts of the units that may have changed, as the calls fitted them. Calls are those
    on ``self`` within one class.
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
    function = parse_function(text)
    if function is None:
        return False
    signature = of_function(function, bound=is_bound(function))
    calls = calls_on_self(parse_function(caller), member)
    return any(misfits(signature, of_call(call)) for call in calls)


def _head(text: str) -> str:
    function = parse_function(text)
    return ast.unparse(function.args) if function is not None else ""
