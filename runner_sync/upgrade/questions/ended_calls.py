"""Asks about a call on an object that upstream ended, if a copy lacks another call on the same object.

Comes in: drafts and a ``ModuleJob``. Goes out: the drafts with questions. May touch: nothing.

No merge asks about this: omni had the ended call as upstream had it, and left the other call out before. But the other
method may by now do the work of the ended call::

    vllm-ascend, old    self.loads.begin(); self.loads.fetch()    omni    self.loads.fetch()
    vllm-ascend, new    self.loads.begin()                        result  (nothing)

In vllm-ascend 0.18, ``EplbUpdator.forward_before`` took over ``take_update_info_from_eplb_process``; omni's
``_dummy_run`` of 0.16.0 called only the latter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from runner_sync.confidence import CONTESTED
from runner_sync.lineage import list_nodes
from runner_sync.model import ReviewItem
from runner_sync.statements import Node, enclosing
from runner_sync.upgrade.base import find_base_text
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.lines import strip_lines
from runner_sync.upgrade.questions.objects_used import get_object, is_on_kept_object
from runner_sync.upgrade.questions.reviews import Shown, make_review


def ask_about_ended_calls(drafts: Sequence[Draft], job: ModuleJob) -> list[Draft]:
    """Ask, in each copy, about each ended call if the copy leaves out another call on the same object."""
    return [draft.with_questions(*_ask_about_copy(draft, job)) if draft.follows_upstream else draft for draft in drafts]


def _ask_about_copy(draft: Draft, job: ModuleJob) -> Iterator[ReviewItem]:
    base, upstream = find_base_text(draft, job), draft.upstream
    if base is None or upstream is None:
        return
    old, new = _find_kept_object_calls(base), list_nodes(upstream)
    still = _find_kept_object_calls(draft.text) | {node.called for node in new}
    ended = (old & _find_kept_object_calls(draft.before)) - still
    left_out = old - _find_kept_object_calls(draft.before) - _find_kept_object_calls(draft.text)
    asked = {line for item in draft.reviews for line in strip_lines(item.upstream)}
    for call in sorted(ended):
        places = [
            k
            for k, node in enumerate(new)
            if node.called in left_out
            and get_object(node.called) == get_object(call)
            and node.lines[0].strip() not in asked
        ]
        if places:
            yield _make_question(draft, job, call, new, places)


def _find_kept_object_calls(text: str) -> set[str]:
    """Return calls that are whole statements on an object that the runner keeps, such as ``self.x.f``."""
    return {node.called for node in list_nodes(text) if is_on_kept_object(node.called)}


def _make_question(
    draft: Draft, job: ModuleJob, ended: str, nodes: Sequence[Node], places: Sequence[int]
) -> ReviewItem:
    """Return the question about ``ended``, showing the calls at ``places`` of upstream's text under their
    conditions."""
    title = job.upstream_title
    names = ", ".join(dict.fromkeys(nodes[k].called for k in places))
    reason = f"{title} no longer calls {ended}: is its work done by {names} now, which omni's copy does not call?"
    shown = Shown(upstream="\n".join(dict.fromkeys(_show_under_heads(nodes, k) for k in places)))
    return make_review(draft, job.path, reason=reason, confidence=CONTESTED, shown=shown)


def _show_under_heads(nodes: Sequence[Node], index: int) -> str:
    """Return the lines of a statement below the heads of its enclosing suites, up to its function."""
    heads = [k for k in enclosing(nodes, index) if not nodes[k].defines]
    chain = [*reversed(heads), index]
    return "\n".join("    " * depth + line for depth, k in enumerate(chain) for line in nodes[k].lines)
