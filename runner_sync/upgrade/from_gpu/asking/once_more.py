"""Asks about statements that the twin changed everywhere and the port changed only in some places.

Comes in: a ported draft and the texts of the port. Goes out: the draft with a question. May touch: nothing.

    twin, old   pick(rows)               twin, new   pick(rows, device)
    NPU         pick(rows)               ported      pick(rows, device)
                if self.last:                        if self.last:
                    pick(rows)                           pick(rows)       asked about
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher

from runner_sync.confidence import CONTESTED
from runner_sync.model import Triple
from runner_sync.statements import flatten
from runner_sync.statements.likeness import word_similarity
from runner_sync.texts.member_text import canonical
from runner_sync.thresholds import REPLACING, SHORT_STATEMENT
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.questions.reviews import Shown, ask

HERE = "the GPU runner changed this statement everywhere; the NPU runner still has the old form here"

ADDED = "upstream added this statement in a form that the GPU runner has replaced everywhere"
"""The NPU runner did not have the statement before this upgrade, or no longer has its own occurrence."""


def ask_about_old_form_elsewhere(draft: Draft, job: ModuleJob, sides: Triple) -> Draft:
    """Ask about each statement that the port left in its old form somewhere, unless the port already asks about it.

    ``sides.omni`` is the text before the port.
    """
    before, after = Counter(canonical(sides.omni)), Counter(canonical(draft.text))
    added = before - Counter(canonical(draft.before)) if draft.before else Counter[str]()
    for old, new in _find_changed_everywhere(sides):
        if not after[old] or after[new] <= before[new]:
            continue
        nodes = [node for node in flatten(draft.text) if node.canon == old]
        source = next(node.text for node in flatten(sides.upstream) if node.canon == new)
        is_own = after[old] > added[old]
        had = nodes[0].text if is_own else ""
        shown = Shown(base=had, omni=had, upstream=source, chosen=nodes[0].text)
        if any((it.omni, it.upstream, it.chosen) == (shown.omni, source, shown.chosen) for it in draft.reviews):
            continue
        reason, line = HERE if is_own else ADDED, nodes[0].start
        draft = ask(draft, job.path, reason=reason, confidence=CONTESTED, shown=shown, line=line, from_gpu=True)
    return draft


def _find_changed_everywhere(sides: Triple) -> Iterator[tuple[str, str]]:
    """Yield old and new form of each statement whose old form the twin no longer has anywhere."""
    old, new = canonical(sides.base), canonical(sides.upstream)
    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    pairs = (
        pair
        for tag, i1, i2, j1, j2 in codes
        if tag == "replace" and i2 - i1 == j2 - j1
        for pair in zip(old[i1:i2], new[j1:j2], strict=True)
    )
    for was, now in dict.fromkeys(pairs):
        if len(was) > SHORT_STATEMENT and was not in new and now not in old and word_similarity(was, now) >= REPLACING:
            yield was, now
