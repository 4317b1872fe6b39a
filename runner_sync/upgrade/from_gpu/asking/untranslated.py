"""Finds names in ported lines that have no NPU form (RS490), or one that the release at hand may not have.

Comes in: a draft that a port changed, or its text, and the findings of the GPU module's translation. Goes out: the
draft with questions, or the end of a reason. May touch: nothing.

The profile maps a GPU name to its NPU name in some releases; only a tree tells whether this release has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from runner_sync.confidence import DOUBTFUL
from runner_sync.model import Finding
from runner_sync.texts.member_text import has_code_word
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.lines import strip_lines
from runner_sync.upgrade.questions.reviews import Shown, ask


def ask_about_untranslated(draft: Draft, path: str, *, before: str, doubts: Iterable[Finding]) -> Draft:
    """Ask one question per name, at the first line with it that is not in ``before``."""
    known = {*strip_lines(before)}
    for symbol, finding in {doubt.symbol: doubt for doubt in doubts}.items():
        word = re.compile(rf"(?<![\w.]){re.escape(symbol)}(?!\w)")
        for number, line in enumerate(strip_lines(draft.text), start=1):
            if line not in known and word.search(line.partition("#")[0]):
                reason = f"{finding.code}: {finding.message.rstrip('.')}: {finding.fix}"
                shown = Shown(omni=line, upstream=line, chosen=line)
                draft = ask(draft, path, reason=reason, confidence=DOUBTFUL, shown=shown, line=number, from_gpu=True)
                break
    return draft


def explain_unconfirmed(text: str, job: ModuleJob) -> str:
    """Return the end of a reason: translated names, with their attributes, in ``text`` that no tree at hand
    confirms."""
    if job.upstream.new is not None:
        return ""
    package = job.module.anchor.path.partition("/")[0]
    words = {row.new_name for row in job.profile.names if row.new_module.partition(".")[0] == package}
    found = {used for word in words for used in _find_uses(text, word) - _find_uses(job.text, word)}
    named = sorted(name for name in found if not any(other.startswith(f"{name}.") for other in found))
    if not named:
        return ""
    title = job.upstream_title
    return f"; it uses {' and '.join(named)} of {title}, which could not be checked without a {title}"


def _find_uses(text: str, word: str) -> set[str]:
    """Return the uses of a name in ``text``, each with its attributes: ``Graph``, ``Graph.clear``."""
    found = re.findall(rf"(?<![\w.]){re.escape(word)}\b(?:\.\w+)*", text)
    return {used for used in found if has_code_word(text, used)}
