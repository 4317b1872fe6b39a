"""Asks about new upstream code that came into a copy while its other end was left out of a copy of the same class.

Comes in: drafts and a ``ModuleJob``. Goes out: the drafts with questions. May touch: nothing.

No merge asks about the end that came, and the question about the other end may be about something else::

    came        if self.is_split: self._receive_last_rows_into_batch()
    left out    self.is_sampled.wait()
                if self.is_split: self._broadcast_last_rows(rows)

Ends are two calls that upstream first makes in these methods since the copies: of methods whose names are equal but for
opposite verbs, or of two methods of one object, of which nothing else there was called before. A call that omni dropped
from its copy is an end, too, if the copy calls nothing else of its object: without the new call, nothing waited for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from runner_sync.confidence import CONTESTED
from runner_sync.lineage import list_nodes
from runner_sync.model import ReviewItem
from runner_sync.statements import Node, below, lines_of
from runner_sync.statements.calls import names_called
from runner_sync.texts.member_text import canonical, find_called_parents
from runner_sync.thresholds import FEWEST_WORDS
from runner_sync.upgrade.base import find_base_text
from runner_sync.upgrade.draft import Draft, list_members
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.lines import strip_lines
from runner_sync.upgrade.questions.objects_used import get_object, is_on_kept_object
from runner_sync.upgrade.questions.reviews import Shown, make_review

OPPOSITES = (
    frozenset({"send", "broadcast", "put", "push", "save", "write", "submit", "start", "begin", "open", "acquire"}),
    frozenset({"receive", "recv", "get", "pop", "load", "read", "wait", "stop", "end", "close", "release"}),
)
"""Verbs of the two ends of an exchange or of a span."""


class _LeftOut(NamedTuple):
    """A call of upstream's that a copy lacks: a new one that ``item`` left out, or one that omni had dropped."""

    draft: Draft
    called: str
    item: ReviewItem | None = None

    @property
    def by(self) -> str:
        """What left it out."""
        return self.item.id if self.item is not None else "omni's copy"


def ask_about_other_ends(drafts: Sequence[Draft], job: ModuleJob) -> list[Draft]:
    """Ask once about each new statement that came unasked while a question left out its other end."""
    bases = {draft.name: text for draft in drafts if (text := find_base_text(draft, job)) and draft.follows_upstream}
    copies = [draft for draft in drafts if draft.name in bases]
    left_out = [
        *(one for draft in copies for one in _find_left_out(draft, bases[draft.name])),
        *(one for draft in copies for one in _find_dropped(draft, bases[draft.name], _list_texts(draft, drafts, job))),
    ]
    if not left_out:
        return [*drafts]
    return [
        draft.with_questions(*_ask(draft, job, left_out, bases)) if draft.name in bases else draft for draft in drafts
    ]


def _find_left_out(draft: Draft, base: str) -> Iterator[_LeftOut]:
    """Yield the new calls of upstream's in the passages that questions have left out."""
    known = {*names_called(base), *names_called(draft.text)}
    for item in draft.reviews:
        if not item.from_gpu and item.keeps_omni:
            yield from (_LeftOut(draft, called, item) for called in names_called(item.upstream) if called not in known)


def _list_texts(draft: Draft, drafts: Sequence[Draft], job: ModuleJob) -> list[str]:
    """Return the texts in which omni may make the calls of a copy: its own, and omni's other methods of the class."""
    own = [one.text for one in list_members(drafts, draft.owner) if not one.follows_upstream]
    return [draft.before, draft.text, *own, *job.hierarchy.of(draft.owner).omnis.values()]


def _find_dropped(draft: Draft, base: str, texts: Sequence[str]) -> Iterator[_LeftOut]:
    """Yield the calls on kept objects that upstream makes as before, and of whose objects the copy calls nothing."""
    if find_called_parents(draft.text, draft.member):
        return
    used = {get_object(one) for text in texts for one in names_called(text)}
    for called in {*names_called(base)} & {*names_called(draft.upstream or "")}:
        if is_on_kept_object(called) and get_object(called) not in used:
            yield _LeftOut(draft, called)


def _ask(draft: Draft, job: ModuleJob, left_out: Sequence[_LeftOut], bases: Mapping[str, str]) -> Iterator[ReviewItem]:
    nodes, seen = list_nodes(draft.text), set[str]()
    for index, node in _find_taken(draft, nodes, bases[draft.name]):
        other = next((one for one in left_out if _are_two_ends(draft, node.called, one, bases)), None)
        if other is None or (key := other.item.id if other.item is not None else other.called) in seen:
            continue
        seen.add(key)
        text = lines_of(draft.text, [nodes[k] for k in below(nodes, index)])
        reason = (
            f"{job.upstream_title} has {other.called} in {other.draft.member} "
            f"{_name_relation(node.called, other.called)}, and {other.by} left it out: take both or neither"
        )
        shown = Shown(upstream=text, chosen=text)
        yield make_review(draft, job.path, reason=reason, confidence=CONTESTED, shown=shown, line=node.start)


def _find_taken(draft: Draft, nodes: Sequence[Node], base: str) -> Iterator[tuple[int, Node]]:
    """Yield the statements that are a new call of upstream's and came without a question, with their indices."""
    known = {*canonical(draft.before), *canonical(base)}
    upstream, called_before = {*canonical(draft.upstream or "")}, {*names_called(base)}
    asked = {line for item in draft.reviews for line in strip_lines(item.chosen)}
    for index, node in enumerate(nodes):
        is_new = node.called and node.called not in called_before and node.canon in upstream - known
        if is_new and node.lines[0].strip() not in asked:
            yield index, node


def _are_two_ends(draft: Draft, called: str, other: _LeftOut, bases: Mapping[str, str]) -> bool:
    """Whether a call that came in a draft and one left out of a copy of its class are two ends."""
    if draft.owner != other.draft.owner or called == other.called:
        return False
    (owner, _, name), (other_owner, _, other_name) = called.rpartition("."), other.called.rpartition(".")
    if owner != other_owner:
        return False
    if _are_opposite(name, other_name):
        return True
    if other.item is None and not {*name.split("_")} & {*other_name.split("_")} - {""}:
        return False
    texts = (bases[draft.name], bases[other.draft.name] if other.item is not None else draft.before)
    used = (one for text in texts for one in names_called(text))
    return is_on_kept_object(called) and not any(one.startswith(f"{owner}.") for one in used)


def _name_relation(called: str, other: str) -> str:
    """Return how the call that was left out is related to the one that came."""
    owner, _, name = called.rpartition(".")
    is_opposite = _are_opposite(name, other.rpartition(".")[2])
    return "as a counterpart of this" if is_opposite else f"as another call on {owner}"


def _are_opposite(name: str, other: str) -> bool:
    """Whether names differ in opposite verbs at one place, and one may say more at its end."""
    words, others = (one.strip("_").split("_") for one in (name, other))
    differing = [pair for pair in zip(words, others, strict=False) if pair[0] != pair[1]]
    if len(differing) != 1 or min(len(words), len(others)) <= FEWEST_WORDS:
        return False
    (one, two), (first, second) = differing[0], OPPOSITES
    return (one in first and two in second) or (one in second and two in first)
