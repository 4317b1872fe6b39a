"""Additions that a merge put on the wrong side of what they belong to.

Comes in: the merged tree as children by parent. Goes out: the tree with such additions moved behind the statement that
binds what they read, or before the one that reads what they bind. May touch: the tree that it is given.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from runner_sync.merge.weave import Strand
from runner_sync.statements import Node
from runner_sync.statements.dataflow import binds, reads, sets


class Tree:
    """A merged tree: ``children`` and ``clauses`` by the statement or head above, ``None`` is that of the unit.

    ``new`` are the keys that only upstream has, ``own`` what omni has at the places that the others name.
    """

    def __init__(
        self,
        children: Mapping[Strand | None, list[Strand]],
        clauses: Mapping[Strand | None, list[Strand]],
        node: Mapping[Strand, Node],
        *,
        new: Collection[Strand] = (),
        own: Sequence[Node] = (),
    ) -> None:
        self.children = {key: list(keys) for key, keys in children.items()}
        self.clauses = clauses
        self.node = node
        self.new = new
        self.own = own

    def stood_so(self, reader: Strand, setter: Strand, name: str) -> bool:
        """Whether omni's own text reads the name there, in front of what sets it."""
        if reader.omni is None or setter.omni is None or reader.omni > setter.omni:
            return False
        return reader.omni < len(self.own) and name in reads(self.own[reader.omni])

    def inside(self, key: Strand) -> Iterator[Strand]:
        """``key`` and everything below it, in order."""
        yield key
        for child in [*self.children.get(key, []), *self.clauses.get(key, [])]:
            yield from self.inside(child)

    def read_by(self, key: Strand) -> frozenset[str]:
        """Names that are read when the statement runs; the body of a function is not run where it stands."""
        if self.node[key].defines:
            return frozenset()
        below = [*self.children.get(key, []), *self.clauses.get(key, [])]
        return reads(self.node[key]).union(*(self.read_by(k) for k in below))

    def bound_by(self, key: Strand) -> frozenset[str]:
        """Names that the statement or anything inside it binds (nested functions count with their name only)."""
        return self._names(key, binds)

    def set_by(self, key: Strand) -> frozenset[str]:
        """Those of ``bound_by`` that are set behind it whatever was before."""
        return self._names(key, sets)

    def _names(self, key: Strand, of: Callable[[Node], frozenset[str]]) -> frozenset[str]:
        if self.node[key].defines:
            return frozenset({self.node[key].defines})
        below = [*self.children.get(key, []), *self.clauses.get(key, [])]
        return of(self.node[key]).union(*(self._names(k, of) for k in below))

    def newly_set_by(self, key: Strand) -> frozenset[str]:
        """Those of ``set_by`` that a statement of upstream's alone sets: what omni has, omni has put in order."""
        return self._set_in(key, [k for k in self._that_set(key) if k in self.new])

    def set_here_by(self, key: Strand) -> frozenset[str]:
        """Those of ``set_by`` that a statement of omni's sets."""
        return self._set_in(key, [k for k in self._that_set(key) if k not in self.new])

    def _that_set(self, key: Strand) -> Iterable[Strand]:
        return [key] if self.node[key].defines else self.inside(key)

    def _set_in(self, key: Strand, keys: Iterable[Strand]) -> frozenset[str]:
        return frozenset(name for k in keys for name in sets(self.node[k])) & self.set_by(key)


def put_before_readers(tree: Tree, movable: set[Strand]) -> None:
    """Move each movable statement that alone binds a local before the statement that reads it too early.

    Only a later sibling of the reader, or of a suite around it, whose own locals are all bound there; not where omni
    has the two in that order.
    """
    for key in list(tree.children):
        if key is not None and tree.node[key].defines:
            locals_ = frozenset(name for k in tree.inside(key) if k != key for name in binds(tree.node[k]))
            _Fetch(tree, movable, locals_).suite(key, set(binds(tree.node[key])), [])


def put_before_branches(tree: Tree, movable: set[Strand]) -> None:
    """Take additions at the start of a branch that upstream put around their neighbours out in front of it.

    Only those that bind what is read behind the branch or in its other clauses, where it would not be set.
    """
    for key in list(tree.children):
        if key is not None and tree.node[key].defines:
            _clear_branches(tree, movable, key, frozenset())


def _clear_branches(tree: Tree, movable: set[Strand], key: Strand, behind: frozenset[str]) -> None:
    suite = tree.children.get(key, [])
    for branch in list(reversed(suite)):
        clauses = tree.clauses.get(branch, [])
        elsewhere = behind.union(*(tree.read_by(clause) for clause in clauses))
        if branch in tree.new and (tree.node[branch].is_condition or tree.node[branch].keyword == "try"):
            inner = tree.children.get(branch, [])
            start = next((k for k, child in enumerate(inner) if not _is_remark(tree, child)), 0)
            end = _run_end(inner, start - 1, movable)
            bound = frozenset[str]().union(*(tree.bound_by(child) for child in inner[start:end]))
            if end > start and bound & elsewhere:
                at = suite.index(branch)
                suite[at:at] = inner[start:end]
                del inner[start:end]
        for part in (branch, *clauses):
            if not tree.node[part].defines:
                _clear_branches(tree, movable, part, behind)
        behind |= tree.read_by(branch)


def _is_remark(tree: Tree, key: Strand) -> bool:
    return key in tree.new and tree.node[key].is_comment


_Place = tuple[list[Strand], Strand]
"""A suite, and a statement in it."""


@dataclass(frozen=True, slots=True)
class _Fetch:
    """One walk through a function in the order its statements run. ``locals_`` are the names that it binds at all."""

    tree: Tree
    movable: set[Strand]
    locals_: frozenset[str]

    def suite(self, key: Strand, known: set[str], around: list[_Place]) -> None:
        """Walk one suite; ``around`` are the suites around it, each with the statement that this one is inside of."""
        tree, suite = self.tree, self.tree.children.get(key, [])
        index = 0
        while index < len(suite):
            child = suite[index]
            if tree.node[child].defines:
                known |= tree.bound_by(child)
                index += 1
                continue
            source = self._source(child, known, [*around, (suite, child)])
            if source is not None:
                owner, (target, before), fetched = source
                owner.remove(fetched)
                target.insert(target.index(before), fetched)
                known |= tree.bound_by(fetched)
                index = suite.index(child)
                continue
            known |= binds(tree.node[child])
            self.suite(child, known, [*around, (suite, child)])
            for clause in tree.clauses.get(child, []):
                known |= binds(tree.node[clause])
                self.suite(clause, known, [*around, (suite, child)])
            index = suite.index(child) + 1

    def _source(
        self, child: Strand, known: set[str], around: list[_Place]
    ) -> tuple[list[Strand], _Place, Strand] | None:
        """A later statement that binds what ``child`` reads and nothing before it binds: the suite to take it from,
        the statement to put it before, and its key."""
        for name in sorted((reads(self.tree.node[child]) & self.locals_) - known):
            for depth in range(len(around) - 1, -1, -1):
                suite, holder = around[depth]
                later = next((k for k in suite[suite.index(holder) + 1 :] if name in self.tree.set_by(k)), None)
                if later is not None and not self.tree.stood_so(child, later, name):
                    ready = (self.tree.read_by(later) & self.locals_) - self.tree.set_by(later) <= known
                    place = self._as_certain(around[depth:])
                    return (suite, place, later) if later in self.movable and ready else None
        return None

    def _as_certain(self, around: list[_Place]) -> _Place:
        """The innermost of the places that is reached whenever the outermost one is: a ``with`` is no condition."""
        inner = around[0]
        for place in around[1:]:
            if self.tree.node[inner[1]].keyword not in ("with", "async with"):
                break
            inner = place
        return inner


SMALL = 8
"""Statements, nested ones counted; what is larger stays where the sides have it."""


def put_behind_bindings(tree: Tree, movable: set[Strand]) -> None:
    """Move each movable statement behind the sibling of the other side's that first binds a local it reads.

    Only where nothing before it binds that name and a later sibling does, and once for each name.
    """
    moved: set[tuple[Strand, str]] = set()
    for key in list(tree.children):
        if key is None or not tree.node[key].defines:
            continue
        known = set(binds(tree.node[key]))
        _order_suite(tree, key, known, movable, moved)


def _order_suite(
    tree: Tree, key: Strand, known: set[str], movable: set[Strand], moved: set[tuple[Strand, str]]
) -> None:
    suite = tree.children.get(key, [])
    ahead = _Ahead(tree, [] if movable.isdisjoint(suite) else suite)
    index = 0
    while index < len(suite):
        child = suite[index]
        target = _later_binding(tree, suite, index, known, ahead) if child in movable else None
        if target is not None and (child, target[1]) not in moved:
            end = _run_end(suite, index, movable)
            run = suite[index:end]
            at = max(target[0], end - 1)
            suite[index : at + 1] = [*suite[end : at + 1], *run]
            moved.add((child, target[1]))
            continue
        if not tree.node[child].defines:
            known |= binds(tree.node[child])
            _order_suite(tree, child, known, movable, moved)
            for clause in tree.clauses.get(child, []):
                known |= binds(tree.node[clause])
                _order_suite(tree, clause, known, movable, moved)
        known |= tree.bound_by(child)
        ahead.leave(child)
        index += 1


class _Ahead:
    """How many statements set each name, of those of a suite that a walk has not left behind yet.

    Asking each of them for every name that is looked for would take a suite of thousands minutes.
    """

    def __init__(self, tree: Tree, suite: Sequence[Strand]) -> None:
        self.setters = {key: (tree.set_here_by(key), tree.newly_set_by(key)) for key in suite}
        self.omnis, self.new = (Counter(name for one in self.setters.values() for name in one[k]) for k in (0, 1))

    def leave(self, key: Strand) -> None:
        """The walk goes on behind this statement."""
        omnis, new = self.setters.get(key, ((), ()))
        self.omnis.subtract(omnis)
        self.new.subtract(new)


def _run_end(suite: list[Strand], index: int, movable: set[Strand]) -> int:
    end = index + 1
    while end < len(suite) and suite[end] in movable:
        end += 1
    return end


def _later_binding(
    tree: Tree, suite: list[Strand], index: int, known: set[str], ahead: _Ahead
) -> tuple[int, str] | None:
    child = suite[index]
    if sum(1 for _ in tree.inside(child)) > SMALL:
        return None
    first = reads(tree.node[child]) if not tree.node[child].defines else frozenset()
    wanted = (first | (tree.read_by(child) - tree.set_by(child))) - known
    side, setters = (0, ahead.omnis) if child in tree.new else (1, ahead.new)
    for name in sorted(wanted):
        if setters[name] > (name in ahead.setters[child][side]):
            later = range(index + 1, len(suite))
            return next(k for k in later if name in ahead.setters[suite[k]][side]), name
    return None
