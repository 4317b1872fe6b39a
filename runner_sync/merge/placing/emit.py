"""Print settled strands as text, and record the lines of each strand.

Comes in: strands in order with their contents and parents. Goes out: ``Emitted``. May touch: ``parent`` of the strands.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from runner_sync.merge.phrases.contents import Content
from runner_sync.merge.placing.blanks import count_blanks_of_removed_comment, limit_blanks_at_start
from runner_sync.merge.placing.remarks import is_directly_above, put_above_their_statements
from runner_sync.merge.placing.reordering import (
    Tree,
    put_back_before_readers,
    put_before_branches,
    put_before_readers,
    put_behind_bindings,
)
from runner_sync.merge.placing.rulers import enclose_their_block
from runner_sync.merge.weave import LAST_CLAUSES, Strand, Weave, pick_node
from runner_sync.statements import INDENT, Node


@dataclass(frozen=True, slots=True)
class Emitted:
    """The printed text, and where each strand was written.

    ``place`` is the first and last line of a strand (1-based), ``above`` the head of its suite. ``as_merged`` lists the
    written strands in the order of the merge, before `reordering` moved some of them. A pair of rulers around nothing
    is not written.
    """

    lines: tuple[str, ...]
    place: Mapping[Strand, tuple[int, int]]
    above: Mapping[Strand, Strand | None]
    as_merged: Sequence[Strand]

    def around(self, strand: Strand) -> Iterator[Strand]:
        """Yield the heads above a strand in the text, innermost first."""
        head = self.above[strand]
        while head is not None:
            yield head
            head = self.above[head]

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


def print_strands(
    weave: Weave, strands: Sequence[Strand], contents: Mapping[Strand, Content], *, indent: int, is_copy: bool
) -> Emitted:
    """Arrange the kept strands as a tree and print it from column ``indent``.

    In a copy, upstream's own statements at either end of an omni block go outside its rulers.
    """
    strands = heads_first(strands)
    children, clauses = _group_by_parent(strands), _group_clauses(weave, strands)
    as_merged = [*_walk(children, clauses, None)]
    _settle_order(weave, strands, children, clauses, contents, is_copy=is_copy)
    put_above_their_statements(weave, children.values())
    enclose_their_block(weave, children, clauses, is_copy=is_copy)
    printer = _Printer(weave, contents, children, clauses)
    for strand in printer.children.get(None, []):
        printer.write(strand, indent, None)
    written = [strand for strand in as_merged if strand in printer.place]
    return Emitted(tuple(printer.lines), printer.place, printer.above, written)


def _walk(
    children: Mapping[Strand | None, list[Strand]], clauses: Mapping[Strand | None, list[Strand]], above: Strand | None
) -> Iterator[Strand]:
    """Yield all strands below a head in the order of the text."""
    for child in children.get(above, []):
        yield child
        yield from _walk(children, clauses, child)
        for clause in clauses.get(child, []):
            yield clause
            yield from _walk(children, clauses, clause)


def _settle_order(
    weave: Weave,
    strands: Sequence[Strand],
    children: dict[Strand | None, list[Strand]],
    clauses: dict[Strand | None, list[Strand]],
    contents: Mapping[Strand, Content],
    *,
    is_copy: bool,
) -> None:
    """Move additions in place so that each local is set before it is read.

    Moves omni's additions. Moves upstream's only if the text is no copy, because in a copy upstream's order is right.
    """
    tree = Tree(
        children,
        clauses,
        {s: _find_chosen_node(weave, s, contents[s]) for s in strands},
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


def _find_chosen_node(weave: Weave, strand: Strand, chosen: Content) -> Node:
    """Return the node whose text was chosen for a strand, for its definitions and uses."""
    upstream = weave.upstream[strand.upstream] if strand.upstream is not None else None
    return upstream if upstream is not None and upstream.lines == chosen.lines else pick_node(weave, strand)


def heads_first(strands: Sequence[Strand]) -> list[Strand]:
    """Order the strands so that a new suite comes behind the other side's head around it.

    Where both sides put a suite around the same statements, `sequence` does not know which is nested in which.
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


def _group_by_parent(strands: Sequence[Strand]) -> dict[Strand | None, list[Strand]]:
    """Group the strands by parent, in order and without clauses; ``None`` stands for the unit.

    If the parent of a strand comes later, the next head around the strand becomes its parent.
    """
    seen: set[Strand] = set()
    children: dict[Strand | None, list[Strand]] = defaultdict(list)
    for strand in strands:
        strand.parent = next((head for head in strand.around() if head in seen), None)
        seen.add(strand)
        if strand.owner is None:
            children[strand.parent].append(strand)
    return children


def _group_clauses(weave: Weave, strands: Sequence[Strand]) -> dict[Strand | None, list[Strand]]:
    """Group the clauses by statement, in an order that the grammar allows: each side may have added one."""
    clauses: dict[Strand | None, list[Strand]] = defaultdict(list)
    for strand in strands:
        if strand.owner is not None:
            clauses[strand.owner].append(strand)
    for group in clauses.values():
        group.sort(key=lambda clause: _rank_clause(pick_node(weave, clause)))
    return clauses


def _rank_clause(clause: Node) -> int:
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

    def _count_blanks_above(self, strand: Strand, content: Content, head: Strand | None) -> int:
        """Return the number of blank lines in front of ``strand``.

        Directly behind an upstream addition there are at least as many as in upstream's text.
        """
        if (
            self.last is None
            or is_directly_above(self.weave, self.last, strand)
            or self._replaces_statement_below(self.last, strand)
        ):
            return 0 if self.last is not None else content.blanks
        if strand.about is not None and strand.sides == "u":
            content = replace(content, blanks=max(content.blanks, self._count_blanks_above_target(strand)))
        if self.last is head:
            return limit_blanks_at_start(self.weave, strand, content.blanks)
        last_index, index = self.last.upstream, strand.upstream
        if self.last.sides != "u" or last_index is None or index != last_index + 1:
            return max(content.blanks, count_blanks_of_removed_comment(self.weave, strand, self.place))
        return max(content.blanks, self.weave.upstream[index].blanks)

    def _count_blanks_above_target(self, comment: Strand) -> int:
        """Return the blank lines above the statement that a comment was moved to."""
        target = comment
        while target.about is not None:
            target = target.about
        return pick_node(self.weave, target).blanks

    def _replaces_statement_below(self, comment: Strand, strand: Strand) -> bool:
        """Whether an upstream statement follows omni's own comment where omni has a statement directly below it.

        The upstream statement replaces the omni one, so no blank line separates it from the comment.
        """
        if comment.sides != "o" or strand.upstream is None or pick_node(self.weave, strand).is_comment:
            return False
        below = next(iter(self.weave.omni[comment.in_omni + 1 :]), None)
        return self.weave.omni[comment.in_omni].is_comment and below is not None and not below.blanks

    def write(self, strand: Strand, column: int, above: Strand | None) -> None:
        content = self.contents[strand]
        if self.lines:
            self.lines += [""] * self._count_blanks_above(strand, content, above)
        self.last = strand
        margin = " " * column
        first = len(self.lines) + 1
        for k, line in enumerate(content.lines):
            self.lines.append(line if k in content.frozen or not line else margin + line)
        self.place[strand] = (first, len(self.lines))
        self.above[strand] = above
        node = pick_node(self.weave, strand)
        inner = self.children.get(strand, [])
        for child in inner:
            self.write(child, column + INDENT, strand)
        if node.compound and not node.one_line and all(pick_node(self.weave, s).is_comment for s in inner):
            self.lines.append(f"{margin}{' ' * INDENT}pass")
        for clause in self.clauses.get(strand, []):
            self.write(clause, column, above)
