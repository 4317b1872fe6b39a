"""Settled strands → text that parses, with the line of every strand.

Comes in: strands in order with their contents and parents. Goes out: ``Emitted``. May touch: nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from runner_sync.merge.confidence import CONTESTED, REBUILT
from runner_sync.merge.contents import Content
from runner_sync.merge.dataflow import Tree, put_before_branches, put_before_readers, put_behind_bindings
from runner_sync.merge.reason import Reason
from runner_sync.merge.remarks import is_on, put_above_their_statements
from runner_sync.merge.rulers import enclose_their_block
from runner_sync.merge.weave import Doubt, Strand, Weave, any_node
from runner_sync.statements import INDENT, ROOT, Node


@dataclass(frozen=True, slots=True)
class Emitted:
    """``lines`` of the text, and ``place[id(strand)]`` = (first, last) 1-based line of each strand."""

    lines: tuple[str, ...]
    place: Mapping[int, tuple[int, int]]

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


HOLLOW = Reason("suite around nothing")
ORPHAN = Reason("branch of a removed condition")
PARTIAL = Reason("suite around other statements")
EMPTIED = Reason("both emptied")

WRAPPERS = ("try", "with ", "async with ")


def without_partial_wrappers(weave: Weave, strands: Sequence[Strand]) -> list[Doubt]:
    """Leave out upstream's new ``try`` and ``with`` where omni has edited, moved or dropped a statement inside.

    For a text that is built in another way: what such a suite begins and ends would be around something else.
    """
    doubts = []
    for strand in strands:
        node = any_node(weave, strand)
        if strand.sides != "u" or not strand.kept or not node.canon.startswith(WRAPPERS) or node.is_clause:
            continue
        inside = [weave.of_upstream[k] for k, n in enumerate(weave.upstream) if n.parent == strand.upstream]
        old = [other for other in inside if other.base is not None and not any_node(weave, other).is_comment]
        if all(_is_unedited(weave, other) for other in old):
            continue
        _leave_out(strand, [other for other in strands if other.kept])
        for other in strands:
            if other.parent is strand:
                other.parent = strand.parent
        doubts.append(Doubt(strand, PARTIAL, REBUILT))
    return doubts


def _is_unedited(weave: Weave, strand: Strand) -> bool:
    if strand.omni is None or strand.base is None:
        return False
    return weave.omni[strand.omni].canon == weave.base[strand.base].canon


def prune(weave: Weave, strands: list[Strand]) -> tuple[list[Strand], list[Doubt]]:
    """Leave out strands that cannot stand: suites without a statement, clauses without their statement.

    Returns the strands that stay, and doubts about upstream's new suites that were left out because omni has nothing
    of what they enclose, or not the condition that they are a branch of. A suite of which each side has kept another
    part stays without both, and is asked about: what its head does it does for upstream and for omni.
    """
    doubts: list[Doubt] = []
    hollow: set[int] = set()
    emptied = _emptied_by_both(weave)
    while True:
        kept = [s for s in strands if s.kept]
        alive = {id(s) for s in kept}
        full = {id(s.parent) for s in kept if s.parent is not None and not any_node(weave, s).is_comment}
        owners = {id(s.owner) for s in kept if s.owner is not None and not any_node(weave, s).is_comment}
        empty = [s for s in kept if s.sides == "u" and id(s) in owners and id(s) not in full]
        orphans = [s for s in kept if s.sides == "u" and _is_orphan(weave, s, alive)]
        for strands_, reason in ((empty, HOLLOW), (orphans, ORPHAN)):
            for strand in strands_:
                doubts.append(Doubt(strand, reason, REBUILT))
                _leave_out(strand, kept)
        both = [s for s in kept if s.kept and id(s) in emptied and id(s) not in full and id(s) not in hollow]
        hollow |= {id(s) for s in both}
        doubts += [Doubt(s, EMPTIED, CONTESTED) for s in both]
        full |= hollow
        gone = [s for s in kept if s.kept and _cannot_stand(weave, s, alive=alive, full=full, owners=owners)]
        if not gone and not empty and not orphans:
            return kept, doubts
        for strand in gone:
            strand.kept = False
        for strand in kept:
            if strand.parent is not None and not strand.parent.kept and _is_remark(weave, strand):
                strand.kept = False
            while strand.parent is not None and not strand.parent.kept:
                strand.parent = strand.parent.parent
            if strand.owner is not None and not strand.owner.kept:
                strand.owner = None


def _emptied_by_both(weave: Weave) -> set[int]:
    """Heads under which each side still has a statement of the base that the other one has taken out."""
    inside: dict[int, set[str]] = defaultdict(set)
    for node, strand in zip(weave.base, weave.of_base, strict=True):
        if not node.is_comment:
            inside[node.parent].add(strand.sides)
    heads = (weave.of_base[parent] for parent, sides in inside.items() if parent != ROOT and {"bo", "bu"} <= sides)
    return {id(head) for head in heads if head.sides == "bou"}


def _is_remark(weave: Weave, strand: Strand) -> bool:
    """A comment that upstream alone has: it goes with the suite that it stands in."""
    return strand.sides == "u" and any_node(weave, strand).is_comment


def _leave_out(suite: Strand, strands: Sequence[Strand]) -> None:
    """A new suite of upstream's with its clauses and all that upstream alone has in them."""
    suite.kept = False
    out = {id(suite)}
    for strand in strands:
        if strand.sides == "u" and (id(strand.owner) in out or id(strand.parent) in out):
            strand.kept = False
            out.add(id(strand))


def _is_orphan(weave: Weave, strand: Strand, alive: set[int]) -> bool:
    return any_node(weave, strand).is_clause and (strand.owner is None or id(strand.owner) not in alive)


def _cannot_stand(weave: Weave, strand: Strand, *, alive: set[int], full: set[int], owners: set[int]) -> bool:
    node = any_node(weave, strand)
    if _is_orphan(weave, strand, alive):
        return True
    if node.canon == "try" and id(strand) not in owners:
        return True
    return node.compound and not node.one_line and id(strand) not in full and id(strand) not in owners


def emit(
    weave: Weave, strands: Sequence[Strand], contents: Mapping[int, Content], *, indent: int, tight: bool
) -> Emitted:
    """Write the kept strands down as a tree. ``indent`` is the column of the outermost ones.

    ``tight`` is whether what upstream alone has at either end of a block of omni's stays outside of its rulers.
    """
    strands = heads_first(strands)
    children, clauses = _children(strands), _clauses(strands)
    _settle_order(weave, strands, children, clauses, contents, tight=tight)
    put_above_their_statements(weave, children.values())
    enclose_their_block(weave, children, clauses, tight=tight)
    printer = _Printer(weave, contents, children, clauses)
    for strand in printer.children.get(0, []):
        printer.write(strand, indent)
    return Emitted(tuple(printer.lines), printer.place)


def _settle_order(
    weave: Weave,
    strands: Sequence[Strand],
    children: dict[int, list[Strand]],
    clauses: dict[int, list[Strand]],
    contents: Mapping[int, Content],
    *,
    tight: bool,
) -> None:
    """Additions of one side go behind the statement of the other that now binds what they read, and before the one that
    reads what they bind.

    Those of upstream only where the text is built in another way, which is when it is not ``tight``: else its order is
    right.
    """
    by_key = {id(s): s for s in strands}
    tree = Tree(
        {key: [id(s) for s in suite] for key, suite in children.items()},
        {key: [id(s) for s in suite] for key, suite in clauses.items()},
        {id(s): _as_chosen(weave, s, contents[id(s)]) for s in strands},
        new={id(s) for s in strands if s.omni is None},
    )
    additions = {id(s) for s in strands if s.sides == "o"}
    around_shared = {id(s.parent) for s in strands if len(s.sides) > 1}
    put_before_branches(tree, additions - around_shared)
    put_behind_bindings(tree, additions)
    put_before_readers(tree, additions)
    if not tight:
        put_behind_bindings(tree, set(tree.new))
    for key, suite in tree.children.items():
        children[key] = [by_key[k] for k in suite]


def _as_chosen(weave: Weave, strand: Strand, chosen: Content) -> Node:
    """The node whose text was chosen: what a statement binds and reads is what stands there now."""
    theirs = weave.upstream[strand.upstream] if strand.upstream is not None else None
    return theirs if theirs is not None and theirs.lines == chosen.lines else any_node(weave, strand)


def heads_first(strands: Sequence[Strand]) -> list[Strand]:
    """The strands with every suite of omni's behind the head of the suite of upstream's that it went into.

    Both put a suite around the same statements; the order of additions at one place has omni's first.
    """
    places = {id(strand): k for k, strand in enumerate(strands)}
    waiting: dict[int, list[Strand]] = defaultdict(list)
    wrappers = {id(strand.parent) for strand in strands if len(strand.sides) > 1}
    behind: dict[int, int] = {}
    out: dict[int, Strand] = {}

    def put(strand: Strand) -> None:
        if id(strand) in out:
            return
        out[id(strand)] = strand
        for follower in waiting.pop(id(strand), []):
            put(follower)

    for k, strand in enumerate(strands):
        above = strand.parent
        head = behind.get(id(above)) or behind.get(id(strand.owner))
        if strand.sides == "o" and id(strand) in wrappers and above is not None and above.sides == "u":
            head = id(above)
        if head is None or places.get(head, -1) < k:
            put(strand)
        else:
            behind[id(strand)] = head
            waiting[head].append(strand)
    for follower in [one for followers in waiting.values() for one in followers]:
        put(follower)
    return list(out.values())


def _children(strands: Sequence[Strand]) -> dict[int, list[Strand]]:
    """Strands by ``id`` of the parent (0 for none), in order. A parent that comes later cannot be one: climb."""
    seen: set[int] = set()
    children: dict[int, list[Strand]] = defaultdict(list)
    for strand in strands:
        parent = strand.parent
        while parent is not None and id(parent) not in seen:
            parent = parent.parent
        seen.add(id(strand))
        if strand.owner is None:
            children[id(parent) if parent is not None else 0].append(strand)
    return children


def _clauses(strands: Sequence[Strand]) -> dict[int, list[Strand]]:
    clauses: dict[int, list[Strand]] = defaultdict(list)
    for strand in strands:
        if strand.owner is not None:
            clauses[id(strand.owner)].append(strand)
    return clauses


@dataclass
class _Printer:
    weave: Weave
    contents: Mapping[int, Content]
    children: Mapping[int, list[Strand]]
    clauses: Mapping[int, list[Strand]]
    lines: list[str] = field(default_factory=list)
    place: dict[int, tuple[int, int]] = field(default_factory=dict)
    last: Strand | None = None

    def write(self, strand: Strand, column: int) -> None:
        content = self.contents[id(strand)]
        if self.lines:
            self.lines += [""] * (
                0 if self.last is not None and is_on(self.weave, self.last, strand) else content.blanks
            )
        self.last = strand
        margin = " " * column
        first = len(self.lines) + 1
        for k, line in enumerate(content.lines):
            self.lines.append(line if k in content.frozen or not line else margin + line)
        self.place[id(strand)] = (first, len(self.lines))
        node = any_node(self.weave, strand)
        inner = self.children.get(id(strand), [])
        for child in inner:
            self.write(child, column + INDENT)
        if node.compound and not node.one_line and all(any_node(self.weave, s).is_comment for s in inner):
            self.lines.append(f"{margin}{' ' * INDENT}pass")
        for clause in self.clauses.get(id(strand), []):
            self.write(clause, column)
