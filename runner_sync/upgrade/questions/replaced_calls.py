"""Asks about upstream calls that omni has replaced by another call in a copy, if upstream changed the called method.

Comes in: drafts and a ``ModuleJob``. Goes out: the drafts with questions. May touch: nothing.

The statement itself is unchanged on both sides, so no merge asks about it::

    vllm-ascend    hidden = self._model_forward(ids, positions)    omni    hidden = self.model(ids, positions)

vllm-ascend 0.29.0rc1 gave ``_model_forward`` a ``finally`` that ends what its callers have begun since then.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile

from runner_sync.confidence import CONTESTED
from runner_sync.model import ReviewItem
from runner_sync.statements import Node, flatten, parse_unit, parses
from runner_sync.statements.dataflow import attributes_set, binds
from runner_sync.statements.likeness import similarity
from runner_sync.texts.member_text import canonical, self_names
from runner_sync.texts.rewording import is_only_reworded
from runner_sync.thresholds import REPLACING
from runner_sync.upgrade.base import find_base_text
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.questions.reviews import Shown, make_review


def ask_about_replaced_calls(
    drafts: Sequence[Draft], job: ModuleJob, *, old: Mapping[str, str], new: Mapping[str, str]
) -> list[Draft]:
    """Ask about each changed method of upstream's class that a copy no longer calls.

    ``old`` and ``new`` are the methods of upstream's class, then and now. If omni has a copy of the called method, only
    changes since the base of that copy count. If it lacked statements of its base, what changes in the copy counts.
    """
    copies = [(draft, find_base_text(draft, job)) for draft in drafts if draft.follows_upstream]
    known = {draft.member: base for draft, base in copies if base is not None}
    late = [draft for draft, base in copies if base is not None and draft.member in new and _has_caught_up(draft, base)]
    old = {**old, **known, **{draft.member: draft.before for draft in late}}
    new = {**new, **{draft.member: _find_merged_text(draft) for draft in late}}
    return [
        draft.with_questions(*_ask_about_calls(draft, job, old, new)) if draft.follows_upstream else draft
        for draft in drafts
    ]


def _has_caught_up(draft: Draft, base: str) -> bool:
    """Whether the upgrade brought the body of a copy statements that its base had before."""
    return not set(canonical(base)).isdisjoint(
        set(canonical(_find_merged_text(draft))[1:]) - set(canonical(draft.before))
    )


def _find_merged_text(draft: Draft) -> str:
    """Return the text of a copy with upstream's change, without what was ported from the GPU runner."""
    return [*takewhile(lambda stage: stage.source != "gpu", draft.stages)][-1].text


def _has_gained(old: str, new: str) -> bool:
    """Whether the body of a method has a new statement that is more than an old one with fewer arguments."""
    if is_only_reworded(old, new):
        return False
    was, now = set(canonical(old)), set(canonical(new)[1:])
    gone = [tree for canon in sorted(was - now) if (tree := _parse_statement(canon)) is not None]
    for canon in sorted(now - was):
        tree = _parse_statement(canon)
        longer = next((one for one in gone if tree is not None and _has_lost_arguments(one, tree)), None)
        if longer is None:
            return True
        gone.remove(longer)
    return False


def _parse_statement(canon: str) -> ast.AST | None:
    """Return the syntax tree of a statement; ``None`` for the head of a suite."""
    return parse_unit(canon).body[0] if parses(canon) else None


def _has_lost_arguments(old: object, new: object) -> bool:
    """Whether ``new`` is ``old`` except that calls in it have lost arguments."""
    if isinstance(old, ast.Call) and isinstance(new, ast.Call):
        left = iter([*old.args, *old.keywords])
        return _has_lost_arguments(old.func, new.func) and all(
            any(_has_lost_arguments(a, b) for a in left) for b in [*new.args, *new.keywords]
        )
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(_has_lost_arguments, old, new))
    if isinstance(old, ast.AST) and isinstance(new, ast.AST):
        values = zip(ast.iter_fields(old), ast.iter_fields(new), strict=False)
        return type(old) is type(new) and all(_has_lost_arguments(a, b) for (_, a), (_, b) in values)
    return old == new


def _ask_about_calls(
    draft: Draft, job: ModuleJob, old: Mapping[str, str], new: Mapping[str, str]
) -> Iterator[ReviewItem]:
    base, upstream = find_base_text(draft, job), draft.upstream
    if base is None or upstream is None:
        return
    called = old.keys() & new.keys() & self_names(base) & self_names(upstream)
    given_up = called - self_names(draft.before) - self_names(draft.text)
    # Most methods are called by no copy, or still called, so that it does not matter how they changed.
    wanted = {name for name in given_up if _has_gained(old[name], new[name])}
    if not wanted:
        return
    upstream_statements = {*canonical(base), *canonical(upstream)}
    own = [node for node in flatten(draft.text) if not node.is_comment and node.canon not in upstream_statements]
    for name in sorted(wanted):
        calls = [node for node in flatten(base) if not node.is_comment and f"self.{name}(" in node.canon]
        pair = _find_replacement(calls, own)
        if pair is None:
            continue
        title = job.upstream_title
        reason = f"{title} changed {name}, which omni replaces by its own call here: does that call need the change?"
        shown = Shown(base=old[name], omni=pair.text, upstream=new[name], chosen=pair.text)
        yield make_review(draft, job.path, reason=reason, confidence=CONTESTED, shown=shown, line=pair.start)


def _find_replacement(calls: Sequence[Node], own: Sequence[Node]) -> Node | None:
    """Return the omni statement most similar to one of ``calls`` that sets the same names, if alike (`REPLACING`)."""
    alike = [
        (call, at, node)
        for call in calls
        for at, node in enumerate(own)
        if _list_set_names(call) == _list_set_names(node) != ()
    ]
    pairs = [(similarity(call, node), -at, node) for call, at, node in alike]
    best = max(pairs, key=lambda pair: pair[:2], default=None)
    return best[2] if best is not None and best[0] >= REPLACING else None


def _list_set_names(node: Node) -> tuple[str, ...]:
    """Return the names and attributes that a statement sets."""
    return (*sorted(binds(node)), *sorted(attributes_set(node)))
