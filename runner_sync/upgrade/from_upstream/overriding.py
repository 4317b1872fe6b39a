"""Updates the signature of omni's own override of an upstream method, with which upstream's callers must agree.

Comes in: the draft of such an override, a ``ModuleJob`` and its base. Goes out: the draft, with a stage and a question
if the signature has grown. May touch: nothing.
"""

from __future__ import annotations

from dataclasses import replace

from runner_sync import lineage, merge
from runner_sync.confidence import INFERRED
from runner_sync.fitting.overrides import accepts_keywords, follow_signature, has_same_parameters
from runner_sync.upgrade.base import Base
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.questions.reviews import Shown, ask


def follow_overridden(draft: Draft, job: ModuleJob, base: Base) -> Draft:
    """Add the parameters that upstream's callers newly pass to the override, and pass them to the overridden method.

    A parameter that upstream renamed gets the new name, without a question.

    Compares an override that takes the parameters of vLLM's method with that method, because it was written before
    vllm-ascend defined the method. Returns the draft unchanged if nothing is new, or if the inherited method would not
    accept the arguments. Names a base only if the override is modelled on it, because texts with nothing in common have
    no closest one.
    """
    upstream = draft.upstream
    assert upstream is not None
    vllm = job.hierarchy.of(draft.owner).vllm.get(draft.member)
    before = vllm if vllm is not None and has_same_parameters(draft.text, vllm) else base.origin.text
    renamed, known = (merge.follow_parameters(text, before, upstream) for text in (draft.text, before))
    draft = draft.with_stage(renamed, "upstream") if renamed != draft.text else draft
    grown = follow_signature(draft.text, known, upstream)
    parent = job.hierarchy.with_twin.get(draft.owner) or job.hierarchy.of(draft.owner)
    inherited = parent.members.get(draft.member)
    if grown is None or (grown.passed and inherited is not None and not accepts_keywords(inherited, grown.added)):
        return draft
    said = ", ".join(grown.added)
    done = "accepts and passes on" if grown.passed else "accepts, but does not use,"
    reason = f"upstream's callers now pass {said}, which this override {done} now"
    shown = Shown(base=before, omni=draft.text, upstream=upstream, chosen=grown.text)
    ref = base.ref if lineage.share(draft.text, base.origin.text) >= lineage.MODELLED else draft.base
    asked = ask(draft, job.path, reason=reason, confidence=INFERRED, shown=shown)
    return replace(asked.with_stage(grown.text, "upstream"), base=ref)
