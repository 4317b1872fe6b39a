"""Blocks that a method of omni's own has from upstream's, and that upstream has dropped.

Comes in: drafts that followed upstream, and a ``ModuleJob``. Goes out: the drafts without such blocks, with a question
each. May touch: nothing.

A method that is mostly omni's is not merged, so what upstream removes stays in it. A compound statement that is
upstream's word for word, but for the names of locals, was copied: it goes as it does in copies. For example,
vllm-ascend 0.28.0rc1 takes the time of a step in its worker, and no longer in ``sample_tokens``::

    upstream before   if config.need_timing and hasattr(self, "_started"):
                          self._sync_device()
                          result.time_ms = time.perf_counter() - self._started
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from runner_sync import lineage
from runner_sync.compose.assignment import locals_of
from runner_sync.confidence import INFERRED
from runner_sync.model import TITLES
from runner_sync.statements import Node, below, parses
from runner_sync.statements.dataflow import binds, uses
from runner_sync.units import texts
from runner_sync.upgrade.base import upstream_name
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.from_upstream.moved_on import moved_to
from runner_sync.upgrade.job import ModuleJob, ModuleRevision
from runner_sync.upgrade.questions.reviews import Shown, review


def without_dropped_blocks(drafts: Sequence[Draft], job: ModuleJob) -> list[Draft]:
    """The drafts; methods of omni's own without the blocks that upstream had and has dropped, with a question each."""
    if job.upstream.new is None or not job.upstream.is_followed:
        return [*drafts]
    followed = {draft.base.ref for draft in drafts if draft.kind == "copy" and draft.base is not None}
    since = max((k for k, side in enumerate(job.upstream.bases) if side.ref in followed), default=0)
    recent = job.upstream.bases[since:]

    def freed(draft: Draft) -> Draft:
        is_own = draft.chosen and draft.kind == "override" and not draft.removed
        while is_own and (shorter := _without_one(draft, job, recent)) is not None:
            draft = shorter
        return draft

    return [freed(draft) for draft in drafts]


def _without_one(draft: Draft, job: ModuleJob, recent: Sequence[ModuleRevision]) -> Draft | None:
    """The draft without the first block that upstream has dropped; ``None`` without one.

    ``recent`` are the revisions from the one on that the module's copies follow: omni kept what upstream dropped before
    that through an upgrade.
    """
    if draft.upstream is None:
        return None
    name, now = upstream_name(draft.name, job.module), _forms(draft.upstream)
    for block in _blocks(draft.text):
        if not now.isdisjoint(block.telling):
            continue
        for side in reversed(recent):
            old = texts.unit_texts(side.text, side.path)
            theirs = next((one for one in _blocks(old.get(name, "")) if block.is_renamed(one)), None)
            if theirs is not None and block.comments <= lineage.comments(old[name]) and not _moved(block, old, job):
                rest = block.taken_out(draft.text)
                if not parses(rest):
                    return None
                dropped = frozenset(_forms(old[name])) - now
                return _freed(draft, job, side, block, theirs, rest, _idle(rest, draft.text, dropped))
    return None


def _idle(rest: str, text: str, dropped: frozenset[str]) -> list[Node]:
    """The assignments of ``rest`` to locals that only the block read which ``text`` has besides, and that upstream has
    dropped, too (``dropped``: its statements)."""
    local, nodes = locals_of(text), lineage.nodes_of(rest)
    read = {name for node in nodes for name in uses(node)}
    had = {name for node in lineage.nodes_of(text) for name in uses(node)} - read
    plain = [node for node in nodes if not (node.compound or node.is_clause or node.one_line)]
    return [node for node in plain if (made := binds(node)) and made <= had and _form(node.canon, local) in dropped]


def _moved(block: _Block, old: Mapping[str, str], job: ModuleJob) -> bool:
    """Whether another unit of upstream's module got most of the block; ``old`` are its units before."""
    assert job.upstream.new is not None
    now = texts.unit_texts(job.upstream.new.text, job.upstream.new.path)
    changed = [(text, old.get(name, "")) for name, text in now.items() if text != old.get(name)]
    return any(2 * len(block.telling & _forms(text) - _forms(before)) > len(block.telling) for text, before in changed)


def _freed(
    draft: Draft, job: ModuleJob, side: ModuleRevision, block: _Block, theirs: _Block, rest: str, idle: Sequence[Node]
) -> Draft:
    """The draft with ``rest`` as its text, without a block that is ``theirs`` in the revision ``side``, and without the
    ``idle`` statements of ``rest``."""
    reason = f"{_what_became(theirs, draft, job, side)}, and omni had it word for word: it is gone here, too"
    lines = rest.split("\n")
    for node in reversed(idle):
        del lines[node.start - 1 : node.start - 1 + len(node.lines)]
    first = block.first - sum(len(node.lines) for node in idle if node.start < block.first)
    rest = "\n".join(lines)
    line = next((k for k in range(first, len(lines)) if lines[k - 1].strip()), first)
    shown = Shown(base=theirs.text, omni="\n".join([*(node.text for node in idle), block.text]))
    item = review(draft, job.path, reason=reason, confidence=INFERRED, shown=shown, line=line)
    return draft.advanced(rest, "upstream").asking(item)


def _what_became(theirs: _Block, draft: Draft, job: ModuleJob, side: ModuleRevision) -> str:
    """What upstream did with a block that it had in the revision ``side``: dropped it, or moved it on, it seems."""
    now = job.upstream.new
    assert now is not None
    whose, name = TITLES[job.module.upstreams[0].project], upstream_name(draft.name, job.module)
    old, new = (texts.unit_texts(one.text, one.path) for one in (side, now))
    found = moved_to(theirs.text, name, old=old, new=new)
    if found is None:
        return f"{whose} dropped this between {side.ref} and {now.ref}"
    method, asked = found
    shown = f"in this module its new code alone reads {asked} now"
    return f"{whose} seems to have moved this to {method} between {side.ref} and {now.ref} ({shown})"


@dataclass(frozen=True, slots=True)
class _Block:
    """A compound statement with all in it: its statements with ``_`` for locals (``forms``; ``telling``: those that are
    not common) and those locals in order; the comments in it and directly above; its first and last line."""

    forms: tuple[str, ...]
    telling: frozenset[str]
    names: tuple[str, ...]
    comments: frozenset[str]
    first: int
    last: int
    text: str

    def is_renamed(self, other: _Block) -> bool:
        """Whether both say the same, each local of one being one local of the other."""
        pairs = set(zip(self.names, other.names, strict=False))
        return self.forms == other.forms and len(pairs) == len(set(self.names)) == len(set(other.names))

    def taken_out(self, text: str) -> str:
        """``text`` without the block, and without the blank line above it where one stands below, too."""
        lines = text.split("\n")
        above, below_it = lines[: self.first - 1], lines[self.last :]
        if above and not above[-1].strip() and (not below_it or not below_it[0].strip()):
            above.pop()
        return "\n".join([*above, *below_it])


def _blocks(text: str) -> Iterator[_Block]:
    """The compound statements of a method with at least ``lineage.FEWEST`` telling statements, that occur once."""
    nodes, local = lineage.nodes_of(text), locals_of(text)
    found: list[_Block] = []
    for k, node in enumerate(nodes):
        whole = [nodes[i] for i in below(nodes, k)] if k and node.compound and not node.is_clause else []
        said = [one for one in whole if not one.is_comment]
        telling = frozenset(_form(one.canon, local) for one in said if one.is_telling)
        if len(telling) < lineage.FEWEST:
            continue
        start = k
        while nodes[start - 1].is_comment and not nodes[start].blanks and nodes[start - 1].parent == node.parent:
            start -= 1
        first, last = nodes[start].start, max(one.start + len(one.lines) - 1 for one in whole)
        remarks = frozenset(one.text.strip() for one in (*nodes[start:k], *whole) if one.is_comment)
        names = tuple(name for one in said for name in _LOCAL.findall(one.canon) if name in local)
        lines = textwrap.dedent("\n".join(text.split("\n")[first - 1 : last]))
        forms = tuple(_form(one.canon, local) for one in said)
        found.append(_Block(forms, telling, names, remarks, first, last, lines))
    yield from (one for one in found if sum(one.forms == other.forms for other in found) == 1)


def _forms(text: str) -> frozenset[str]:
    """The telling statements of a unit with ``_`` for locals."""
    local = locals_of(text)
    return frozenset(_form(node.canon, local) for node in lineage.nodes_of(text) if node.is_telling)


def _form(canon: str, local: frozenset[str]) -> str:
    return _LOCAL.sub(lambda name: "_" if name[0] in local else name[0], canon)


_LOCAL = re.compile(r"(?<![.\w])[A-Za-z_]\w*(?!=(?!=))")
"""A name that is no attribute and no keyword of a call."""
