"""Settled strands → text, with the line of every strand.

Comes in: strands in order with their contents and parents. Goes out: ``Emitted``. May touch: ``parent`` of the
strands.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from runner_sync.merge.phrases.contents import Content
from runner_sync.merge.placing.blanks import at_the_start, below_a_comment_that_went
from runner_sync.merge.placing.remarks import is_on, put_above_their_statements
from runner_sync.merge.placing.reordering import Tree, put_before_branches, put_before_readers, put_behind_bindings
from runner_sync.merge.placing.rulers import enclose_their_block
from runner_sync.merge.weave import Strand, Weave, any_node
from runner_sync.statements import INDENT, Node


@dataclass(frozen=True, slots=True)
class Emitted:
    """``lines`` of the text, ``place[strand]`` = (first, last) 1-based line of one, ``above[strand]`` its suite.

    ``as_merged`` are the strands in the order of the merge, before some went to where their locals are set or read.
    All three are of what is written: rulers around nothing are not.
    """

    lines: tuple[str, ...]
    place: Mapping[Strand, tuple[int, int]]
    above: Mapping[Strand, Strand | None]
    as_merged: Sequence[Strand]

    def around(self, strand: Strand) -> Iterator[Strand]:
        """The heads that a strand was written below, the innermost first."""
        head = self.above[strand]
        while head is not None:
            yield head
            head = self.above[head]

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


def text_of(
    weave: Weave, strands: Sequence[Strand], contents: Mapping[Strand, Content], *, indent: int, is_copy: bool
) -> Emitted:
    """Write the kept strands down as a tree. ``indent`` is the column of the outermost ones.

    In a copy what upstream alone has at either end of a block of omni's stays outside of its rulers.
    """
    strands = heads_first(strands)
    children, clauses = _children(strands), _clauses(weave, strands)
    as_merged = [*_in_order(children, clauses, None)]
    _settle_order(weave, strands, children, clauses, contents, is_copy=is_copy)
    put_above_their_statements(weave, children.values())
    enclose_their_block(weave, children, clauses, is_copy=is_copy)
    printer = _Printer(weave, contents, children, clauses)
    for strand in printer.children.get(None, []):
        printer.write(strand, indent, None)
    written = [strand for strand in as_merged if strand in printer.place]
    return Emitted(tuple(printer.lines), printer.place, printer.above, written)


def _in_order(
    children: Mapping[Strand | None, list[Strand]], clauses: Mapping[Strand | None, list[Strand]], above: Strand | None
) -> Iterator[Strand]:
    for child in children.get(above, []):
        yield child
        yield from _in_order(children, clauses, child)
        for clause in clauses.get(child, []):
            yield clause
            yield from _in_order(children, clauses, clause)


def _settle_order(
    weave: Weave,
    strands: Sequence[Strand],
    children: dict[Strand | None, list[Strand]],
    clauses: dict[Strand | None, list[Strand]],
    contents: Mapping[Strand, Content],
    *,
    is_copy: bool,
) -> None:
    """Additions of one side go behind the statement of the other that now binds what they read, and before the one that
    reads what they bind.

    Those of upstream only where the text is no copy: else its order is right.
    """
    tree = Tree(
        children,
        clauses,
        {s: _as_chosen(weave, s, contents[s]) for s in strands},
        new={s for s in strands if s.omni is None},
        own=weave.omni,
    )
    additions = {s for s in strands if s.sides == "o"}
    around_shared = {s.parent for s in strands if len(s.sides) > 1}
    put_before_branches(tree, additions - around_shared)
    put_behind_bindings(tree, additions)
    put_before_readers(tree, additions)
    if not is_copy:
        put_behind_bindings(tree, set(tree.new))
    for key, suite in tree.children.items():
        children[key] = suite


def _as_chosen(weave: Weave, strand: Strand, chosen: Content) -> Node:
    """The node whose text was chosen: what a statement binds and reads is what stands there now."""
    theirs = weave.upstream[strand.upstream] if strand.upstream is not None else None
    return theirs if theirs is not None and theirs.lines == chosen.lines else any_node(weave, strand)


def heads_first(strands: Sequence[Strand]) -> list[Strand]:
    """The strands with every new suite of one side behind the head of the other's that it went into.

    Both put a suite around the same statements; the order of additions at one place knows nothing of that.
    """
    places = {strand: k for k, strand in enumerate(strands)}
    waiting: dict[Strand, list[Strand]] = defaultdict(list)
    wrappers = {strand.parent for strand in strands if len(strand.sides) > 1}
    behind: dict[Strand | None, Strand] = {}
    out: dict[Strand, None] = {}

    def put(strand: Strand) -> None:
        if strand in out:
            return
        out[strand] = None
        for follower in waiting.pop(strand, []):
            put(follower)

    for k, strand in enumerate(strands):
        above = strand.parent
        head = behind.get(above) or behind.get(strand.owner)
        if strand in wrappers and above is not None and {strand.sides, above.sides} == {"o", "u"}:
            head = above
        if head is None or places.get(head, -1) < k:
            put(strand)
        else:
            behind[strand] = head
            waiting[head].append(strand)
    for follower in [one for followers in waiting.values() for one in followers]:
        put(follower)
    return list(out)


def _children(strands: Sequence[Strand]) -> dict[Strand | None, list[Strand]]:
    """Strands by their parent (``None`` for none), in order. One that comes later cannot be it: the next above is."""
    seen: set[Strand] = set()
    children: dict[Strand | None, list[Strand]] = defaultdict(list)
    for strand in strands:
        strand.parent = next((head for head in strand.around() if head in seen), None)
        seen.add(strand)
        if strand.owner is None:
            children[strand.parent].append(strand)
    return children


def _clauses(weave: Weave, strands: Sequence[Strand]) -> dict[Strand | None, list[Strand]]:
    """The clauses of each statement in the order that they can stand in: each side may have added another one."""
    clauses: dict[Strand | None, list[Strand]] = defaultdict(list)
    for strand in strands:
        if strand.owner is not None:
            clauses[strand.owner].append(strand)
    for found in clauses.values():
        found.sort(key=lambda clause: _rank(any_node(weave, clause)))
    return clauses


_LAST_CLAUSES = ("except", "else", "finally")
"""Clauses that the grammar wants behind all others of their statement, in this order; ``except`` of whatever it is."""


def _rank(clause: Node) -> int:
    return _LAST_CLAUSES.index(clause.canon) if clause.canon in _LAST_CLAUSES else -1


@dataclass
class _Printer:
    weave: Weave
    contents: Mapping[Strand, Content]
    children: Mapping[Strand | None, list[Strand]]
    clauses: Mapping[Strand | None, list[Strand]]
    lines: list[str] = field(default_factory=list)
    place: dict[Strand, tuple[int, int]] = field(default_factory=dict)
    above: dict[Strand, Strand | None] = field(default_factory=dict)
    last: Strand | None = None

    def _blanks_above(self, strand: Strand, content: Content, head: Strand | None) -> int:
        """The blank lines in front of ``strand``: behind what upstream put there also those that upstream has there."""
        if self.last is None or is_on(self.weave, self.last, strand) or self._takes_the_place_below(self.last, strand):
            return 0 if self.last is not None else content.blanks
        if self.last is head:
            return at_the_start(self.weave, strand, content.blanks)
        above, here = self.last.upstream, strand.upstream
        if self.last.sides != "u" or above is None or here != above + 1:
            return max(content.blanks, below_a_comment_that_went(self.weave, strand, self.place))
        return max(content.blanks, self.weave.upstream[here].blanks)

    def _takes_the_place_below(self, comment: Strand, strand: Strand) -> bool:
        """Whether a statement stands where omni has another one, right below a comment of its own."""
        if comment.sides != "o" or strand.upstream is None or any_node(self.weave, strand).is_comment:
            return False
        below = next(iter(self.weave.omni[comment.in_omni + 1 :]), None)
        return self.weave.omni[comment.in_omni].is_comment and below is not None and not below.blanks

    def write(self, strand: Strand, column: int, above: Strand | None) -> None:
        content = self.contents[strand]
        if self.lines:
            self.lines += [""] * self._blanks_above(strand, content, above)
        self.last = strand
        margin = " " * column
        first = len(self.lines) + 1
        for k, line in enumerate(content.lines):
            self.lines.append(line if k in content.frozen or not line else margin + line)
        self.place[strand] = (first, len(self.lines))
        self.above[strand] = above
        node = any_node(self.weave, strand)
        inner = self.children.get(strand, [])
        for child in inner:
            self.write(child, column + INDENT, strand)
        if node.compound and not node.one_line and all(any_node(self.weave, s).is_comment for s in inner):
            self.lines.append(f"{margin}{' ' * INDENT}pass")
        for clause in self.clauses.get(strand, []):
            self.write(clause, column, above)
