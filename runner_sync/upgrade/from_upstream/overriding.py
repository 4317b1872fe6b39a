"""Updates omni's own overrides of an upstream method where the two methods must agree.

Comes in: the draft of such an override, a ``ModuleJob`` and its base. Goes out: the draft with a stage for shared
statements and a stage for the signature, each with questions. May touch: nothing.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import replace

from runner_sync import lineage, merge
from runner_sync.confidence import INFERRED
from runner_sync.fitting.overrides import accepts_keywords, follow_signature, has_same_parameters
from runner_sync.model import ReviewItem, Triple
from runner_sync.statements import Node, flatten
from runner_sync.texts.member_text import canonical
from runner_sync.upgrade.base import Base
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.job import Inherited, ModuleJob
from runner_sync.upgrade.questions.reviews import Shown, make_review


def follow_overridden(draft: Draft, job: ModuleJob, base: Base) -> Draft:
    """Return the draft with changes of the upstream method that it overrides: shared statements, then the signature."""
    return _update_signature(_update_shared_statements(draft, job, base), job, base)


def _update_shared_statements(draft: Draft, job: ModuleJob, base: Base) -> Draft:
    """Update the statements (unpackings, calls) that an override shares with upstream's method.

    Returns the draft unchanged if the merge does not parse, changes nothing, or leaves anything to decide.
    """
    assert draft.upstream is not None
    sides = Triple(base.origin.text, draft.text, draft.upstream)
    result = merge.merge(sides, policy=merge.TOUCH_UP)
    if not result.parses or canonical(result.text) == canonical(draft.text) or result.decisions:
        return draft
    asked = draft.with_questions(*_ask_about_shared_statements(draft, job, sides, result.text))
    return replace(asked.with_stage(result.text, "upstream"), base=base.ref)


def _ask_about_shared_statements(draft: Draft, job: ModuleJob, sides: Triple, text: str) -> list[ReviewItem]:
    """Return one question per run of updated statements, showing the most similar upstream statements."""
    reason = (
        "upstream changed a statement that omni's override shares with upstream's method; the change was applied here"
    )
    base, omni, upstream, made = (
        [node for node in flatten(side) if not node.is_comment]
        for side in (sides.base, sides.omni, sides.upstream, text)
    )
    rows = difflib.SequenceMatcher(None, [n.canon for n in omni], [n.canon for n in made], autojunk=False).get_opcodes()
    items = []
    for tag, i1, i2, j1, j2 in rows:
        if tag != "equal":
            was, now = omni[i1:i2], made[j1:j2]
            shown = Shown(
                _find_closest(was, base), _join_texts(was), _find_closest(now, upstream), chosen=_join_texts(now)
            )
            line = (now or made[j1 - 1 :])[0].start
            items.append(make_review(draft, job.path, reason=reason, confidence=INFERRED, shown=shown, line=line))
    return items


def _find_closest(nodes: Sequence[Node], side: Sequence[Node]) -> str:
    """Return for each of ``nodes`` the most similar statement of ``side``, as one text."""
    canons = {node.canon: node for node in side}
    found = [difflib.get_close_matches(node.canon, canons, n=1) for node in nodes]
    return _join_texts([canons[canon] for match in found for canon in match])


def _join_texts(nodes: Sequence[Node]) -> str:
    return "\n".join(node.text for node in nodes)


def _update_signature(draft: Draft, job: ModuleJob, base: Base) -> Draft:
    """Add the parameters that upstream's callers newly pass to the override, and pass them to the overridden method.

    Compares an override that takes the parameters of vLLM's method with that method, because it was written before
    vllm-ascend defined the method. Returns the draft unchanged if nothing is new, or if the inherited method would not
    accept the arguments. Names a base only if the override is modelled on it, because texts with nothing in common have
    no closest one.
    """
    assert draft.upstream is not None
    hierarchy, nothing = job.hierarchy, Inherited()
    vllm = hierarchy.inherited.get(draft.owner, nothing).vllm.get(draft.member)
    before = vllm if vllm is not None and has_same_parameters(draft.text, vllm) else base.origin.text
    grown = follow_signature(draft.text, before, draft.upstream)
    parents = (hierarchy.with_twin.get(draft.owner), hierarchy.inherited.get(draft.owner, nothing))
    inherited = next(parent for parent in parents if parent is not None).members.get(draft.member)
    if grown is None or (grown.passed and inherited is not None and not accepts_keywords(inherited, grown.added)):
        return draft
    said = ", ".join(grown.added)
    done = "accepts and passes on" if grown.passed else "accepts, but does not use,"
    reason = f"upstream's callers now pass {said}, which this override {done} now"
    item = make_review(
        draft,
        job.path,
        reason=reason,
        confidence=INFERRED,
        shown=Shown(base=before, omni=draft.text, upstream=draft.upstream, chosen=grown.text),
    )
    known = base.ref if lineage.share(draft.text, base.origin.text) >= lineage.MODELLED else draft.base
    return replace(draft.with_questions(item).with_stage(grown.text, "upstream"), base=known)
