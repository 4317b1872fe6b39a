"""Removes blocks from omni's own methods that came from upstream's method and that upstream has dropped.

Comes in: drafts that followed upstream, and a ``ModuleJob``. Goes out: the drafts without such blocks, with a question
each. May touch: nothing.

A method with mostly omni code is not merged, so it keeps code that upstream removes. A compound statement that equals
an upstream statement word for word, except for local names, was copied, and goes as in a copy. For example, vllm-ascend
0.28.0rc1 takes the time of a step in its worker, and no longer in ``sample_tokens``::

    upstream before   if config.need_timing and hasattr(self, "_started"):
                          self._sync_device()
                          result.time_ms = time.perf_counter() - self._started
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from runner_sync import lineage
from runner_sync.confidence import INFERRED
from runner_sync.edits import lines_of
from runner_sync.rulers import is_review
from runner_sync.statements import Node, below, parses
from runner_sync.statements.dataflow import binds, uses
from runner_sync.texts.assignment import find_locals
from runner_sync.upgrade.base import name_in_upstream
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.questions.reviews import Shown, make_review
from runner_sync.upgrade.revision import ModuleRevision


def remove_dropped_blocks(drafts: Sequence[Draft], job: ModuleJob) -> list[Draft]:
    """Remove the blocks that upstream had and has dropped from omni's own methods, with a question each."""
    if job.upstream.new is None or not job.upstream.is_followed:
        return [*drafts]
    followed = {draft.base.ref for draft in drafts if draft.kind == "copy" and draft.base is not None}
    if job.upstream.recorded not in {None, job.upstream.new.ref}:
        # Copies that were upgraded alone tell nothing of the other methods.
        followed = followed - {job.upstream.new.ref} | {job.upstream.recorded or ""}
    since = max((k for k, side in enumerate(job.upstream.bases) if side.ref in followed), default=0)
    recent = job.upstream.bases[since:]

    def free_draft(draft: Draft) -> Draft:
        is_own = draft.chosen and draft.kind == "override" and not draft.removed
        while is_own and (shorter := _remove_first_block(draft, job, recent)) is not None:
            draft = shorter
        return draft

    return [free_draft(draft) for draft in drafts]


def _remove_first_block(draft: Draft, job: ModuleJob, recent: Sequence[ModuleRevision]) -> Draft | None:
    """Return the draft without the first block that upstream has dropped; ``None`` if there is no such block.

    ``recent`` are the revisions since the one that the module's copies follow. Omni kept blocks dropped earlier through
    an upgrade.
    """
    found = next(_find_dropped(draft, job, recent), None)
    rest = found[0].remove_from(draft.text) if found is not None else ""
    if found is None or not parses(rest):
        return None
    block, upstream_block, side = found
    assert job.upstream.new is not None
    reason = (
        f"{job.upstream_title} removed this block between {side.ref} and {job.upstream.new.ref}; "
        "omni had the same block, and it was removed here, too"
    )
    old = side.units[name_in_upstream(draft.name, job.module)]
    idle = _find_idle_assignments(rest, draft.text, _collect_forms(old) - _collect_forms(draft.upstream or ""))
    lines = rest.split("\n")
    for node in reversed(idle):
        del lines[node.start - 1 : node.end]
    first = block.first - sum(len(node.lines) for node in idle if node.start < block.first)
    line = next((k for k in range(first, len(lines)) if lines[k - 1].strip()), first)
    shown = Shown(base=upstream_block.text, omni="\n".join([*(node.text for node in idle), block.text]))
    item = make_review(draft, job.path, reason=reason, confidence=INFERRED, shown=shown, line=line)
    return draft.with_stage_and_moved_questions("\n".join(lines), "upstream").with_questions(item)


def _find_dropped(
    draft: Draft, job: ModuleJob, recent: Sequence[ModuleRevision]
) -> Iterator[tuple[_Block, _Block, ModuleRevision]]:
    """Yield each block that upstream has dropped: omni's, upstream's, and the last revision that has it."""
    if draft.upstream is None:
        return
    name, forms_now = name_in_upstream(draft.name, job.module), _collect_forms(draft.upstream)
    for block in _find_blocks(draft.text):
        for side in reversed(recent) if forms_now.isdisjoint(block.telling) else ():
            old = side.units
            for other in _find_blocks(old.get(name, "")):
                is_same = block.is_renamed(other) and block.comments <= lineage.comments(old[name])
                if is_same and not _has_moved(block, old, job):
                    yield block, other, side


def _find_idle_assignments(rest: str, text: str, dropped: frozenset[str]) -> list[Node]:
    """Return assignments of ``rest`` to locals that only the removed block read, and that upstream has dropped, too.

    ``text`` is the unit with the block. ``dropped`` holds the statements that upstream has dropped.
    """
    locals_before, nodes = find_locals(text), lineage.list_nodes(rest)
    read = {name for node in nodes for name in uses(node)}
    read_by_block = {name for node in lineage.list_nodes(text) for name in uses(node)} - read
    plain = [node for node in nodes if not (node.compound or node.is_clause or node.one_line)]
    return [
        node
        for node in plain
        if (bound := binds(node)) and bound <= read_by_block and _blank_locals(node.canon, locals_before) in dropped
    ]


def _has_moved(block: _Block, old: Mapping[str, str], job: ModuleJob) -> bool:
    """Whether another unit of upstream's module gained most of the block; ``old`` are the module's units before."""
    assert job.upstream.new is not None
    now = job.upstream.new.units
    changed = [(text, old.get(name, "")) for name, text in now.items() if text != old.get(name)]
    return any(
        2 * len(block.telling & _collect_forms(text) - _collect_forms(before)) > len(block.telling)
        for text, before in changed
    )


@dataclass(frozen=True, slots=True)
class _Block:
    """A compound statement with everything in it.

    ``forms`` are its statements with ``_`` for locals, ``telling`` those of them that are not common, ``names`` the
    locals in order. ``comments`` are the comments in it and directly above it. ``first`` and ``last`` are lines.
    """

    forms: tuple[str, ...]
    telling: frozenset[str]
    names: tuple[str, ...]
    comments: frozenset[str]
    first: int
    last: int
    text: str

    def is_renamed(self, other: _Block) -> bool:
        """Whether both blocks are equal except for a one-to-one renaming of locals."""
        pairs = set(zip(self.names, other.names, strict=False))
        return self.forms == other.forms and len(pairs) == len(set(self.names)) == len(set(other.names))

    def remove_from(self, text: str) -> str:
        """Return ``text`` without the block, and without the blank line above it if one follows below."""
        lines = text.split("\n")
        above, below_it = lines[: self.first - 1], lines[self.last :]
        if above and not above[-1].strip() and (not below_it or not below_it[0].strip()):
            above.pop()
        return "\n".join([*above, *below_it])


@lru_cache(maxsize=128)
def _find_blocks(text: str) -> Sequence[_Block]:
    """Return the compound statements of a method that have ``lineage.FEWEST`` telling statements and occur once."""
    nodes, local_names = lineage.list_nodes(text), find_locals(text)
    found: list[_Block] = []
    for k, node in enumerate(nodes):
        block_nodes = [nodes[i] for i in below(nodes, k)] if k and node.compound and not node.is_clause else []
        statements = [one for one in block_nodes if not one.is_comment]
        telling = frozenset(_blank_locals(one.canon, local_names) for one in statements if one.is_telling)
        if len(telling) < lineage.FEWEST:
            continue
        start = k
        while nodes[start - 1].is_comment and not nodes[start].blanks and nodes[start - 1].parent == node.parent:
            start -= 1
        first, last = nodes[start].start, max(one.end for one in block_nodes)
        around = (one.text.strip() for one in (*nodes[start:k], *block_nodes) if one.is_comment)
        comments = frozenset(comment for comment in around if not is_review(comment))
        names = tuple(name for one in statements for name in _LOCAL.findall(one.canon) if name in local_names)
        lines = textwrap.dedent(lines_of(text, first, last))
        forms = tuple(_blank_locals(one.canon, local_names) for one in statements)
        found.append(_Block(forms, telling, names, comments, first, last, lines))
    return [one for one in found if sum(one.forms == other.forms for other in found) == 1]


@lru_cache(maxsize=256)
def _collect_forms(text: str) -> frozenset[str]:
    """Return the telling statements of a unit with ``_`` for locals."""
    local = find_locals(text)
    return frozenset(_blank_locals(node.canon, local) for node in lineage.list_nodes(text) if node.is_telling)


def _blank_locals(canon: str, local: frozenset[str]) -> str:
    return _LOCAL.sub(lambda name: "_" if name[0] in local else name[0], canon)


_LOCAL = re.compile(r"(?<![.\w])[A-Za-z_]\w*(?!=(?!=))")
"""A name that is neither an attribute nor a keyword of a call."""
