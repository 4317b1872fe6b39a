"""Changes of a statement that omni does not have in a method, but in a helper which the method calls.

Comes in: decisions of a merge, a draft and a ``ModuleJob``. Goes out: the decisions, those with the helper in their
reason. May touch: nothing.

omni has taken the statement out of the method, so that the merge finds nothing to change there::

    base      if self.cache and is_last():                  omni    self._update_cache(rows)
    upstream  if self.cache and is_last() and not pooled:           def _update_cache(self, rows):
                                                                        if self.cache and is_last():
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from runner_sync.compose.member_text import self_names
from runner_sync.merge import Decision, Reason
from runner_sync.units import texts
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.job import ModuleJob

SHORT = 30
"""A text of fewer characters than this stands in many methods."""


def naming_helpers(
    decisions: Sequence[Decision], draft: Draft, job: ModuleJob, theirs: Mapping[str, str]
) -> list[Decision]:
    """The decisions; where a helper of omni's class has what the other side changed, it is named.

    ``theirs`` are the methods of the other side's class by name: one that has the statement there, too, is no place
    that omni moved it to.
    """
    units = texts.unit_texts(job.text, job.path)
    called = {name: units.get(f"{draft.owner}.{name}", "") for name in sorted(self_names(draft.text) - {draft.member})}
    return [_naming(item, {name: text for name, text in called.items() if text}, theirs) for item in decisions]


def _naming(item: Decision, helpers: Mapping[str, str], theirs: Mapping[str, str]) -> Decision:
    names = tuple(_having(item.base, helpers, theirs)) if item.reason.kind in _MORE and not item.omni else ()
    if not names:
        return item
    return replace(item, reason=Reason("statement of a helper changed", names, detail=_MORE[item.reason.kind]))


_MORE = {"removed statement changed": "", "removed part changed": ", and added to it"}


def _having(text: str, helpers: Mapping[str, str], theirs: Mapping[str, str]) -> Iterator[str]:
    """The helpers that have the statements, whatever their layout, and that are not alike on the other side."""
    words = _words(text)
    if len(words) < SHORT:
        return
    for name, helper in helpers.items():
        if words in _words(helper) and words not in _words(theirs.get(name, "")):
            yield name


def _words(text: str) -> str:
    """The words and operators of a text, without brackets, commas and layout, which formatting may change."""
    return f" {' '.join(_WORD.findall(text))} "


_WORD = re.compile(r"\w+|[^\w\s()\[\],'\":]+")
