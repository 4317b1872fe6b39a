"""Settled strands → text, with the line of every strand.

Comes in: strands in order with their contents and parents. Goes out: ``Emitted``. May touch: ``parent`` of the
strands.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from runner_sync.merge.phrases.contents import Content
from runner_sync.merge.placing.blanks import at_the_start, below_a_comment_that_went
from runner_sync.merge.placing.remarks import is_on, put_above_their_statements
from runner_sync.merge.placing.reordering import (
    Tree,
    put_back_before_readers,
    put_before_branches,
    put_before_readers,
    put_behind_bindings,
)
from runner_sync.merge.placing.rulers import enclose_their_block
from runner_sync.merge.weave import LAST_CLAUSES, Strand, Weave, any_node
from runner_sync.statements import INDENT, Node


@dataclass(frozen=True, slots=True)
class Emitted:
    """The ``lines`` of the text, and for each written strand: ``place``, its (first, last) 1-based line; ``above``, the
    head of its suite.

    ``as_merged`` are the written strands in the order of the merge, before some were moved to where their locals are
    set or read. A pair of rulers around nothing is not written.
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
    """Order the kept strands as a tree, and print it. ``indent`` is the column of the outermost ones.

    In a copy, statements of upstream's alone at either end of a block of omni's go outside its rulers.
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
    """All strands below a head, in the order of the text."""
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
    """Move additions of one side behind the other side's statement that sets what they read, and in front of the one
    that reads what they set; in place.

    Upstream's additions only in a text that is no copy: in a copy, upstream's order is right.
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
        put_back_before_readers(tree, {strand: k for k, strand in enumerate(strands)})
    for key, suite in tree.children.items():
        children[key] = suite


def _as_chosen(weave: Weave, strand: Strand, chosen: Content) -> Node:
    """The node whose text was chosen for a strand, for what it binds and reads."""
    theirs = weave.upstream[strand.upstream] if strand.upstream is not None else None
    return theirs if theirs is not None and theirs.lines == chosen.lines else any_node(weave, strand)


def heads_first(strands: Sequence[Strand]) -> list[Strand]:
    """The strands in order, but every new suite of one side behind the head of the other side's that it was nested in.

    Where both sides put a suite around the same statements, the order of additions (`sequence`) knows nothing of that.
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
    """``{parent: strands}`` in order, ``None`` for the unit; clauses left out. Where the parent of a strand comes later
    in order, the next head around it becomes its parent."""
    seen: set[Strand] = set()
    children: dict[Strand | None, list[Strand]] = defaultdict(list)
    for strand in strands:
        strand.parent = next((head for head in strand.around() if head in seen), None)
        seen.add(strand)
        if strand.owner is None:
            children[strand.parent].append(strand)
    return children


def _clauses(weave: Weave, strands: Sequence[Strand]) -> dict[Strand | None, list[Strand]]:
    """``{statement: clauses}``, in an order that the grammar allows: each side may have added another clause."""
    clauses: dict[Strand | None, list[Strand]] = defaultdict(list)
    for strand in strands:
        if strand.owner is not None:
            clauses[strand.owner].append(strand)
    for found in clauses.values():
        found.sort(key=lambda clause: _rank(any_node(weave, clause)))
    return clauses


def _rank(clause: Node) -> int:
    return LAST_CLAUSES.index(clause.canon) if clause.canon in LAST_CLAUSES else -1


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
        """The blank lines in front of ``strand``; directly behind an addition of upstream's at least as many as
        upstream has there."""
        if self.last is None or is_on(self.weave, self.last, strand) or self._takes_the_place_below(self.last, strand):
            return 0 if self.last is not None else content.blanks
        if strand.about is not None and strand.sides == "u":
            content = replace(content, blanks=max(content.blanks, self._blanks_above_its_statement(strand)))
        if self.last is head:
            return at_the_start(self.weave, strand, content.blanks)
        above, here = self.last.upstream, strand.upstream
        if self.last.sides != "u" or above is None or here != above + 1:
            return max(content.blanks, below_a_comment_that_went(self.weave, strand, self.place))
        return max(content.blanks, self.weave.upstream[here].blanks)

    def _blanks_above_its_statement(self, comment: Strand) -> int:
        """The blank lines that omni has above the statement that a comment was moved to."""
        about = comment
        while about.about is not None:
            about = about.about
        return any_node(self.weave, about).blanks

    def _takes_the_place_below(self, comment: Strand, strand: Strand) -> bool:
        """Whether a statement of upstream's follows a comment of omni's own that has a statement directly below it in
        omni's text: it takes the place of that one, and no blank line comes in between."""
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
