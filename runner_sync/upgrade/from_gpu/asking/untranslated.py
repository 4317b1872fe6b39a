"""RS490: asks about GPU names in ported lines that have no NPU form.

Comes in: a draft that a port changed, and the findings of the GPU module's translation. Goes out: the draft with
questions. May touch: nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from runner_sync.confidence import DOUBTFUL
from runner_sync.model import Finding
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.lines import strip_lines
from runner_sync.upgrade.questions.reviews import Shown, make_review


def ask_about_untranslated(draft: Draft, path: str, *, before: str, doubts: Iterable[Finding]) -> Draft:
    """Ask one question per name, at the first line with it that is not in ``before``."""
    known = {*strip_lines(before)}
    items = []
    for symbol, finding in {doubt.symbol: doubt for doubt in doubts}.items():
        word = re.compile(rf"(?<![\w.]){re.escape(symbol)}(?!\w)")
        for number, line in enumerate(strip_lines(draft.text), start=1):
            if line not in known and word.search(line.partition("#")[0]):
                reason = f"{finding.code}: {finding.message.rstrip('.')}: {finding.fix}"
                item = make_review(
                    draft,
                    path,
                    reason=reason,
                    confidence=DOUBTFUL,
                    shown=Shown(omni=line, upstream=line, chosen=line),
                    line=number,
                    from_gpu=True,
                )
                items.append(item)
                break
    return draft.with_questions(*items)
