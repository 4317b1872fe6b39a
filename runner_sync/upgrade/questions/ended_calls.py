"""Asks where upstream ended a call on an object, and a copy lacks another call on the same object.

Comes in: drafts and a ``ModuleJob``. Goes out: the drafts with questions. May touch: nothing.

No merge asks about this: omni had the ended call as upstream had it, and left the other one out before. But the other
method may do by now what the ended call did::

    vllm-ascend, old    self.loads.begin(); self.loads.fetch()    omni    self.loads.fetch()
    vllm-ascend, new    self.loads.begin()                        result  (nothing)

In vllm-ascend 0.18, ``EplbUpdator.forward_before`` took over ``take_update_info_from_eplb_process``; omni's
``_dummy_run`` of 0.16.0 called only the latter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from runner_sync.confidence import CONTESTED
from runner_sync.lineage import nodes_of
from runner_sync.model import TITLES, ReviewItem
from runner_sync.statements import Node, enclosing
from runner_sync.upgrade.base import base_text
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.questions.reviews import Shown, review


def ask_about_ended_calls(drafts: Sequence[Draft], job: ModuleJob) -> list[Draft]:
    """Return the drafts, each copy with one question per object whose call ended while another call is left out."""
    return [draft.asking(*_questions(draft, job)) if _is_copy(draft) else draft for draft in drafts]


def _is_copy(draft: Draft) -> bool:
    return draft.kind == "copy" and draft.base is not None and draft.upstream is not None and not draft.removed


def _questions(draft: Draft, job: ModuleJob) -> Iterator[ReviewItem]:
    base, upstream = base_text(draft, job), draft.upstream
    if base is None or upstream is None:
        return
    old, new = _calls(base), nodes_of(upstream)
    still = _calls(draft.text) | {node.called for node in new}
    ended = (old & _calls(draft.before)) - still
    left_out = old - _calls(draft.before) - _calls(draft.text)
    asked = {line.strip() for item in draft.reviews for line in item.upstream.split("\n")}
    for call in sorted(ended):
        places = [
            k
            for k, node in enumerate(new)
            if node.called in left_out and _object(node.called) == _object(call) and node.lines[0].strip() not in asked
        ]
        if places:
            yield _question(draft, job, call, new, places)


def _calls(text: str) -> set[str]:
    """The calls that are statements of their own, of methods of an object that the runner keeps: ``self.x.f``."""
    return {node.called for node in nodes_of(text) if node.called.startswith("self.") and node.called.count(".") > 1}


def _object(called: str) -> str:
    return called.rpartition(".")[0]


def _question(draft: Draft, job: ModuleJob, ended: str, nodes: Sequence[Node], places: Sequence[int]) -> ReviewItem:
    """The question about ``ended``. It shows the calls at ``places`` of upstream's text under their conditions."""
    title = TITLES[job.module.upstreams[0].project]
    names = ", ".join(dict.fromkeys(nodes[k].called for k in places))
    reason = f"{title} no longer calls {ended}, and omni's copy does not call {names}: does that do the same by now?"
    shown = Shown(upstream="\n".join(dict.fromkeys(_under_its_heads(nodes, k) for k in places)))
    return review(draft, job.path, reason=reason, confidence=CONTESTED, shown=shown)


def _under_its_heads(nodes: Sequence[Node], index: int) -> str:
    """The lines of a statement below the heads of the suites that it stands in, as far as its function."""
    heads = [k for k in enclosing(nodes, index) if not nodes[k].defines]
    chain = [*reversed(heads), index]
    return "\n".join("    " * depth + line for depth, k in enumerate(chain) for line in nodes[k].lines)
