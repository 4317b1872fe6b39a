"""Asks about places where the GPU twin uses a newly ported member and the NPU unit does not.

Comes in: drafts, a ``ModuleJob`` and the GPU side. Goes out: the drafts with questions. May touch: nothing.

A helper comes to NPU because one unit calls it. If another unit of the twin has long called it, too, that call is not a
change and is not ported. For example vllm-omni 0.22.0 keeps the outputs named by ``_deferred_prefix_cache_mm_keys`` out
of the cache in ``_maybe_update_prefix_cache`` and saves them in ``sample_tokens``: with the first alone they are lost.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from runner_sync.confidence import CONTESTED
from runner_sync.model import ReviewItem
from runner_sync.statements import parse_unit
from runner_sync.syntax import Function, blocks_of, walk
from runner_sync.texts.member_text import canonical, self_names, self_names_of
from runner_sync.thresholds import LONGEST_USE
from runner_sync.upgrade.draft import Draft, list_members, list_owners
from runner_sync.upgrade.from_gpu.twin.gpu_side import GpuSide
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.questions.reviews import make_not_ported_review


def ask_about_other_uses(drafts: Sequence[Draft], job: ModuleJob, side: GpuSide) -> list[Draft]:
    """Ask where a unit uses a newly ported member less often than its twin and no other question mentions the member.

    Asks nothing with ``--only``. The file gets a comment, because half a feature may be worse than none.
    """
    if job.settings.only:
        return [*drafts]
    ported: dict[str, set[str]] = {}
    for owner in list_owners(drafts):
        members = list_members(drafts, owner)
        known = self_names_of(draft.before for draft in members)
        ported[owner] = {d.member for d in members if not d.before and d.text and d.name in side.new} - known
    return [
        draft
        if draft.removed
        else draft.with_questions(*_find_other_uses(draft, ported.get(draft.owner, set()), job, side))
        for draft in drafts
    ]


def _find_other_uses(draft: Draft, ported: AbstractSet[str], job: ModuleJob, side: GpuSide) -> Iterator[ReviewItem]:
    twin = side.new.get(draft.name, "")
    asked = "\n".join(item.upstream + item.reason for item in draft.reviews)
    for name in sorted(ported & self_names(twin) - {draft.member}):
        if _count_uses(twin, name) > _count_uses(draft.text, name) and not re.search(rf"\b{name}\b", asked):
            passages = "\n".join(_quote_uses(twin, name))
            why = f"the GPU runner uses {name} here, too; this upgrade ported {name}, but not this use of it"
            item = make_not_ported_review(draft, job.path, why=why, confidence=CONTESTED, upstream=passages)
            yield replace(item, in_file=True)


def _count_uses(text: str, name: str) -> int:
    return len(re.findall(rf"\bself\.{name}\b", "\n".join(canonical(text))))


def _quote_uses(text: str, name: str) -> Iterator[str]:
    """Yield the statements of a method that use ``self.name``, each with the block around it if that is short."""
    lines = text.split("\n")
    done = 0
    for statement in _find_users(parse_unit(text).body, name):
        end = statement.end_lineno or statement.lineno
        if statement.lineno > done:
            yield "\n".join(lines[statement.lineno - 1 : end])
            done = end


def _find_users(body: Sequence[ast.stmt], name: str) -> Iterator[ast.stmt]:
    """Yield statements that use the attribute ``name``: a short compound one whole, otherwise the users inside it."""
    for statement in body:
        if not any(isinstance(node, ast.Attribute) and node.attr == name for node in walk(statement)):
            continue
        inner = [*blocks_of(statement)] or [getattr(statement, "body", [])]
        found = [user for block in inner for user in _find_users(block, name)]
        is_short = (statement.end_lineno or statement.lineno) - statement.lineno < LONGEST_USE
        is_scope = isinstance(statement, Function | ast.ClassDef)
        yield from found if found and (is_scope or not is_short) else [statement]
