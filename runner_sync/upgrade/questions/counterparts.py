"""What upstream does in two methods of its class, where one copy got its part back and another is without.

Comes in: drafts and a ``ModuleJob``. Goes out: the drafts with questions. May touch: nothing.

What a copy lacks of its base can come with an upgrade, because the copy is taken to be older than that base or because
upstream moved it; it is asked about there. To another copy of the class its counterpart is still something that omni
took out, and no merge asks about it::

    vllm-ascend  execute_model    if self.balances: self.loads.begin()     came, and is asked about
                 sample_tokens    if self.balances: self.loads.end()       omni's copy never had it

Counterparts have the same test, or call the same method of the same object.
"""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from runner_sync.compose.member_text import canonical
from runner_sync.confidence import CONTESTED
from runner_sync.lineage import nodes_of
from runner_sync.model import TITLES, ReviewItem
from runner_sync.statements import Node, below, enclosing, lines_of
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.questions.reviews import Shown, review


@dataclass(frozen=True, slots=True)
class _Came:
    """What came into a copy, as one question says: the tests and the calls that the copy had not before."""

    item: ReviewItem
    tests: frozenset[str]
    calls: frozenset[str]

    @classmethod
    def by(cls, item: ReviewItem, before: Collection[str]) -> _Came:
        news = [node for node in nodes_of(textwrap.dedent(item.chosen)) if node.canon not in before]
        tests = {node.canon for node in news if node.keyword == "if"}
        return cls(item, frozenset(tests), frozenset(node.called for node in news if _is_of_part(node.called)))

    def has(self, node: Node) -> bool:
        """Whether ``node`` is a counterpart of something that came."""
        return node.canon in self.tests or node.called in self.calls


def _is_of_part(called: str) -> bool:
    """Whether a call is of an object that the runner keeps; without it, a method of the runner says what it does."""
    return called.startswith("self.") and called.count(".") > 1


def ask_about_counterparts(drafts: Sequence[Draft], job: ModuleJob) -> list[Draft]:
    """The drafts with one question for each copy that is without counterparts of what came into others of its class."""
    came = [(draft, one) for draft in drafts for one in _came_into(draft)]
    return [
        draft.asking(*_question(draft, job, [one for other, one in came if _is_beside(draft, other)]))
        for draft in drafts
    ]


def _is_beside(draft: Draft, other: Draft) -> bool:
    return draft.owner == other.owner != "" and draft.name != other.name


def _came_into(draft: Draft) -> Iterator[_Came]:
    """What each question tells that omni had not, and the copy has now from upstream."""
    before = {*canonical(draft.before)}
    for item in draft.reviews if draft.kind == "copy" and not draft.removed else ():
        if not item.from_gpu and not item.omni.strip() and item.chosen.strip():
            yield _Came.by(item, before)


def _question(draft: Draft, job: ModuleJob, came: Sequence[_Came]) -> Iterator[ReviewItem]:
    if not came or draft.kind != "copy" or draft.upstream is None or draft.removed:
        return
    missing = _without(draft, draft.upstream, came)
    if missing:
        ids = ", ".join(dict.fromkeys(one.item.id for one, _ in missing))
        title = TITLES[job.module.upstreams[0].project]
        reason = f"{title} has this beside what came with {ids}, and omni's copy has not: take both or neither"
        shown = Shown(upstream="\n".join(text for _, text in missing))
        yield review(draft, job.path, reason=reason, confidence=CONTESTED, shown=shown)


def _without(draft: Draft, upstream: str, came: Sequence[_Came]) -> list[tuple[_Came, str]]:
    """The statements of upstream's that the draft is without and does not ask about, each with its counterpart."""
    nodes, known = nodes_of(upstream), {*canonical(draft.text)}
    asked = {line.strip() for item in draft.reviews for line in item.upstream.split("\n")}
    known |= {node.canon for node in nodes if all(line.strip() in asked for line in node.lines)}
    found: list[tuple[_Came, str]] = []
    seen: set[int] = set()
    for k, node in enumerate(nodes):
        one = next((one for one in came if one.has(node)), None)
        if one is None or k in seen or node.canon in known:
            continue
        whole = below(nodes, _outermost(nodes, k, known))
        seen.update(whole)
        found.append((one, lines_of(upstream, [nodes[i] for i in whole])))
    return found


def _outermost(nodes: Sequence[Node], index: int, known: Collection[str]) -> int:
    """The outermost of the statements around a node, and itself, that are not ``known``."""
    top = index
    for head in enclosing(nodes, index):
        if nodes[head].canon in known or nodes[head].defines:
            break
        top = head
    return top
