"""Rename keywords of calls whose callee gets a new name.

Comes in: a `Job` and rows of names. Goes out: edits of the keywords that the profile lists for calls of the new names,
or doubts. May touch: libcst only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial

import libcst as cst

from runner_sync.profile import NameRewrite
from runner_sync.transforms.job import Doubt, Job, NodeEdit
from runner_sync.transforms.renames import find_renamed_uses


def rename_keywords(job: Job, rows: Iterable[NameRewrite], *, definitions: bool = False) -> Iterator[NodeEdit | Doubt]:
    """Yield edits of the calls that refer to the new name of a row, whether or not they are renamed in this run."""
    rows = list(rows)
    listed = job.profile.keywords
    keywords = {row.new_name: {key.name: key.new_name for key in listed if key.call == row.new_name} for row in rows}
    callees = find_renamed_uses(job, rows, definitions=definitions) if any(keywords.values()) else {}
    for call in job.code.calls:
        if call.callee in callees:
            yield from _rename_in_call(call.node, call.scope.qualname, keywords[callees[call.callee]])


def _rename_in_call(call: cst.Call, unit: str, keywords: Mapping[str, str]) -> Iterator[NodeEdit | Doubt]:
    given = {arg.keyword.value for arg in call.args if arg.keyword}
    for arg in call.args:
        new = keywords.get(arg.keyword.value, "") if arg.keyword else ""
        if new and new in given:
            yield Doubt(arg, unit, new, f"{new} is given under its old and its new name.", "drop one of the two")
        elif new and arg.keyword:
            yield NodeEdit(arg, partial(_replace_keyword, name=new))


def _replace_keyword(arg: cst.Arg, *, name: str) -> cst.Arg:
    return arg.with_changes(keyword=cst.Name(name))
