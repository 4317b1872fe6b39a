"""Drop heads and clauses that cannot stand, once it is settled which statements stay.

Comes in: a ``Weave`` with its parents. Goes out: the strands that stay, and ``Doubt`` values. May touch: ``kept``,
``owner`` and ``parent`` of the strands.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from runner_sync.confidence import CONTESTED, REBUILT
from runner_sync.merge.matching.own_forms import find_moved, find_own_form, find_own_setter
from runner_sync.merge.reason import Reason
from runner_sync.merge.weave import Doubt, Strand, Weave, pick_node, strands_in_suite, strands_inside
from runner_sync.statements import ROOT, WRAPPERS, Node
from runner_sync.statements.dataflow import binds, reads

HOLLOW = Reason("suite around nothing")
ORPHAN = Reason("branch of a removed condition")
PARTIAL = Reason("suite around other statements")
EMPTIED = Reason("both emptied")


def drop_partial_wrappers(weave: Weave, strands: Sequence[Strand]) -> list[Doubt]:
    """Drop upstream's new ``try`` and ``with`` where omni edited, moved or dropped a statement inside.

    For a text that is no copy: there the suite would enclose other statements than in upstream. Omni's statements
    inside stay, one suite further out.
    """
    doubts = []
    for strand in strands:
        node = pick_node(weave, strand)
        if strand.sides != "u" or not strand.kept or node.keyword not in WRAPPERS:
            continue
        old = [other for other in strands_in_suite(weave, strand, "u") if other.base is not None]
        if all(weave.is_unedited(other, "o") for other in old):
            continue
        _drop_suite(strand, [other for other in strands if other.kept])
        for other in strands:
            if other.parent is strand:
                other.parent = strand.parent
        doubts.append(Doubt(strand, PARTIAL, REBUILT))
    return doubts


def prune(weave: Weave, strands: list[Strand]) -> tuple[list[Strand], list[Doubt]]:
    """Drop strands that cannot stand: heads without a suite, and clauses without their statement.

    Returns the strands that stay, and the doubts. A new upstream head or clause is a doubt if omni has nothing of what
    it encloses, or lacks the statement of the clause. If omni has nothing of what one branch encloses, and no other
    branch has anything of omni's, the whole statement goes, or stays without this branch if what it sets is read. A
    head that all three texts have stays, with a doubt, even if each side removed a different part of its suite and
    nothing is left.
    """
    doubts: list[Doubt] = []
    hollow: set[Strand] = set()
    may_stay_empty = _find_heads_kept_empty(weave)
    exits = _find_heads_around_exits(weave)
    while True:
        kept = [s for s in strands if s.kept]
        held = _Held.collect(weave, kept)
        dropped = _drop_new_suites(weave, kept, held, exits)
        doubts += dropped
        both = [s for s in kept if s.kept and s in may_stay_empty and s not in held.full and s not in hollow]
        hollow |= set(both)
        doubts += [Doubt(s, EMPTIED, CONTESTED) for s in both]
        held.full.update(hollow)
        gone = [s for s in kept if s.kept and _cannot_stand(weave, s, held)]
        if not gone and not dropped:
            return kept, doubts
        doubts += [doubt for s in gone if s.sides == "u" and (doubt := _make_doubt_about_suite(weave, s)) is not None]
        for strand in gone:
            strand.kept = False
            _drop_edits_under(weave, strand, kept)
        _move_to_outer_suites(weave, kept)


def _drop_new_suites(weave: Weave, kept: Sequence[Strand], held: _Held, exits: Collection[Strand]) -> list[Doubt]:
    """Drop upstream's new suites that hold nothing or lack the statement of their clause; return a doubt about each."""
    new = [s for s in kept if s.sides == "u"]
    empty = [s for s in new if s not in held.full and (s in held.owners or s in exits)]
    orphans = [s for s in new if _is_orphan(weave, s, held.alive)]
    for suite in (*empty, *orphans):
        _drop_suite(suite, kept)
    halved = _find_owners_of_emptied(weave, kept, held)
    for suite in halved:
        if not _is_read_outside(weave, suite, kept):
            _drop_suite(suite, kept)
    reasons = ((empty, HOLLOW), (orphans, ORPHAN), (halved, HOLLOW))
    return [Doubt(suite, reason, REBUILT) for suites, reason in reasons for suite in suites]


def _make_doubt_about_suite(weave: Weave, suite: Strand) -> Doubt | None:
    """Return a doubt if omni has something of what a new upstream suite encloses, at another place or in its own form.

    The suite may be meant for omni's statement, too. Without one, there is no need to ask about an empty suite.
    """
    inside = (strand for strand in strands_inside(weave, suite, "u") if strand.sides == "bu")
    nodes = (weave.base[strand.in_base] for strand in inside)
    found = (own for node in nodes if node.is_telling and not node.is_comment for own in _find_own(weave, node))
    own = next(found, None)
    return Doubt(suite, PARTIAL, REBUILT, own) if own is not None else None


def _find_own(weave: Weave, node: Node) -> Iterator[Strand]:
    yield from find_moved(weave, node)
    yield from filter(None, (find_own_form(weave, node), find_own_setter(weave, node)))


def _drop_edits_under(weave: Weave, clause: Strand, strands: Sequence[Strand]) -> None:
    """Drop edited omni statements that upstream removed, directly under a clause that is gone with its statement.

    They would run unconditionally. Each becomes a doubt, as for any statement that upstream removed.
    """
    for strand in strands if pick_node(weave, clause).is_clause else ():
        if strand.parent is clause and strand.sides == "bo" and weave.is_edited(strand, "o"):
            strand.kept = False


def _move_to_outer_suites(weave: Weave, strands: Sequence[Strand]) -> None:
    """Move statements below a removed head into the next suite around it; upstream's comments go with the head."""
    for strand in strands:
        if strand.parent is not None and not strand.parent.kept and _is_remark(weave, strand):
            strand.kept = False
        while strand.parent is not None and not strand.parent.kept:
            gone = strand.parent
            # The suite of a `try`'s `else` goes to the end of the `try`, in front of its `finally`.
            strand.parent = gone.owner if gone.owner is not None and gone.owner.kept else gone.parent
        if strand.owner is not None and not strand.owner.kept:
            strand.owner = None


def _find_heads_kept_empty(weave: Weave) -> set[Strand]:
    """Return the heads of all three texts, which may stay empty because each side removed or moved a part.

    An empty ``else`` does nothing, so it goes.
    """
    shared = [strand for strand in weave.of_base if strand.sides == "bou"]
    return {s for s in shared if (node := pick_node(weave, s)).compound and not node.one_line and node.canon != "else"}


def _find_heads_around_exits(weave: Weave) -> set[Strand]:
    """Return upstream's new heads that contain only ``break``, ``return`` and the like.

    If such an exit was paired with one that omni removed, the head is empty although omni may want it; so it is a
    doubt.
    """
    inside: dict[int, list[Node]] = defaultdict(list)
    for node in weave.upstream:
        if not node.is_comment:
            inside[node.parent].append(node)
    heads = (k for k, nodes in inside.items() if k != ROOT and not any(node.is_telling for node in nodes))
    return {weave.of_upstream[k] for k in heads if weave.of_upstream[k].sides == "u"}


def _find_owners_of_emptied(weave: Weave, kept: Sequence[Strand], held: _Held) -> list[Strand]:
    """Return new upstream statements with a branch around base statements that are all gone, and nothing of omni's.

    For example, the new ``else`` is around the only statement that the new ``if`` was written for.
    """
    holding = {head for s in kept if s.omni is not None for head in _list_heads(s)}
    owners = [s.owner for s in kept if s.sides == "u" and s not in held.full and _encloses_base(weave, s)]
    return [s for s in dict.fromkeys(owners) if s is not None and s.kept and s.sides == "u" and s not in holding]


def _is_read_outside(weave: Weave, suite: Strand, kept: Sequence[Strand]) -> bool:
    """Whether a kept statement outside a new upstream statement reads a name that only new code inside it sets."""
    inside = {*strands_inside(weave, suite, "u")}
    made = {name for strand in inside if strand.sides == "u" for name in binds(pick_node(weave, strand))}
    return any(strand.kept and strand not in inside and made & reads(pick_node(weave, strand)) for strand in kept)


def _encloses_base(weave: Weave, strand: Strand) -> bool:
    """Whether an ``else`` or ``elif`` of upstream's ``if`` was put around statements of the base."""
    owner = strand.owner
    if not pick_node(weave, strand).is_clause or owner is None or pick_node(weave, owner).keyword != "if":
        return False
    return any(inside.base is not None for inside in strands_in_suite(weave, strand, "u"))


def _list_heads(strand: Strand) -> Iterator[Strand]:
    """Yield the heads of the suites around a strand, and the statements whose clauses they are."""
    head = strand.parent
    while head is not None:
        yield head
        if head.owner is not None:
            yield head.owner
        head = head.parent


def _is_remark(weave: Weave, strand: Strand) -> bool:
    """Whether a strand is a comment that only upstream has; such a comment goes with its suite."""
    return strand.sides == "u" and pick_node(weave, strand).is_comment


def _drop_suite(suite: Strand, strands: Sequence[Strand]) -> None:
    """Drop a new upstream suite with its clauses and all statements in them that only upstream has."""
    suite.kept = False
    out = {suite}
    for strand in strands:
        if strand.sides == "u" and (strand.owner in out or strand.parent in out):
            strand.kept = False
            out.add(strand)


def _is_orphan(weave: Weave, strand: Strand, alive: set[Strand]) -> bool:
    return pick_node(weave, strand).is_clause and (strand.owner is None or strand.owner not in alive)


@dataclass(frozen=True, slots=True)
class _Held:
    """The strands that stay (``alive``), and which of them hold others.

    ``full`` are heads with a statement below them, ``owners`` statements with a clause. ``caught`` are the ``try``
    statements with an ``except``, ``finished`` those with a ``finally``.
    """

    alive: set[Strand]
    full: set[Strand]
    owners: set[Strand]
    caught: set[Strand]
    finished: set[Strand]

    @classmethod
    def collect(cls, weave: Weave, kept: Sequence[Strand]) -> _Held:
        """Collect the sets from the strands that stay so far."""
        statements = [(s, pick_node(weave, s)) for s in kept if not pick_node(weave, s).is_comment]
        owners = [(s.owner, node.keyword) for s, node in statements if s.owner is not None]
        return cls(
            alive=set(kept),
            full={s.parent for s, _ in statements if s.parent is not None},
            owners={owner for owner, _ in owners},
            caught={owner for owner, keyword in owners if keyword == "except"},
            finished={owner for owner, keyword in owners if keyword == "finally"},
        )

    def is_incomplete_try(self, weave: Weave, strand: Strand) -> bool:
        """Whether a strand is a ``try`` without ``except`` and ``finally``, or the ``else`` of one without ``except``.

        Neither is Python (language reference, "The try statement").
        """
        canon, owner = pick_node(weave, strand).canon, strand.owner
        if canon == "try":
            return strand not in self.caught | self.finished
        of_try = owner is not None and pick_node(weave, owner).canon == "try"
        return canon == "else" and of_try and owner not in self.caught


def _cannot_stand(weave: Weave, strand: Strand, held: _Held) -> bool:
    node = pick_node(weave, strand)
    if _is_orphan(weave, strand, held.alive):
        return True
    if held.is_incomplete_try(weave, strand):
        return True
    return node.compound and not node.one_line and strand not in held.full and strand not in held.owners
