"""Names the helper of a method in decisions about a statement that omni has in the helper instead of the method.

Comes in: decisions of a merge, a draft and a ``ModuleJob``. Goes out: the decisions, some with the helper in their
reason. May touch: nothing.

omni has moved the statement out of the method, so the merge finds nothing to change there::

    base      if self.cache and is_last():                  omni    self._update_cache(rows)
    upstream  if self.cache and is_last() and not pooled:           def _update_cache(self, rows):
                                                                        if self.cache and is_last():
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from runner_sync.merge import Decision, Reason
from runner_sync.texts.member_text import self_names
from runner_sync.units import texts
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.job import ModuleJob

SHORT = 30
"""A text of fewer characters than this stands in many methods."""


def name_helpers(
    decisions: Sequence[Decision], draft: Draft, job: ModuleJob, theirs: Mapping[str, str]
) -> list[Decision]:
    """Name a helper of omni's class in each decision about a change to a statement that the helper has.

    ``theirs`` are the methods of the other side's class by name. A helper that has the statement on the other side,
    too, does not count, because omni did not move it there.
    """
    units = texts.unit_texts(job.text, job.path)
    called = {name: units.get(f"{draft.owner}.{name}", "") for name in sorted(self_names(draft.text) - {draft.member})}
    return [_name_helper(item, {name: text for name, text in called.items() if text}, theirs) for item in decisions]


def _name_helper(item: Decision, helpers: Mapping[str, str], theirs: Mapping[str, str]) -> Decision:
    names = tuple(_find_helpers(item.base, helpers, theirs)) if item.reason.kind in _DETAILS and not item.omni else ()
    if not names:
        return item
    return replace(item, reason=Reason("statement of a helper changed", names, detail=_DETAILS[item.reason.kind]))


_DETAILS = {"removed statement changed": "", "removed part changed": ", and added to them"}


def _find_helpers(text: str, helpers: Mapping[str, str], theirs: Mapping[str, str]) -> Iterator[str]:
    """Yield the helpers that have the statements in any layout, while their namesakes on the other side do not."""
    words = _normalize(text)
    if len(words) < SHORT:
        return
    for name, helper in helpers.items():
        if words in _normalize(helper) and words not in _normalize(theirs.get(name, "")):
            yield name


def _normalize(text: str) -> str:
    """Return the words and operators of a text, without brackets, commas and layout, which formatting may change."""
    return f" {' '.join(_WORD.findall(text))} "


_WORD = re.compile(r"\w+|[^\w\s()\[\],'\":]+")
