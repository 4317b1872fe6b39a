"""Move additions that read a local behind its definition, or that set one in front of its reader.

Comes in: the merged tree as children by parent. Goes out: the tree with such additions moved. May touch: the given
tree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from runner_sync.merge.weave import Strand
from runner_sync.statements import Node
from runner_sync.statements.dataflow import binds, reads, sets
from runner_sync.thresholds import SMALL_ADDITION


class Tree:
    """A merged tree: ``children`` and ``clauses`` by head or statement (``None`` for the unit).

    ``new`` are the strands that omni lacks, ``own`` all nodes of omni's text.
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

    def has_omni_order(self, reader: Strand, setter: Strand, name: str) -> bool:
        """Whether omni's own text already has ``reader``, which reads the name, above ``setter``."""
        if reader.omni is None or setter.omni is None or reader.omni > setter.omni:
            return False
        return reader.omni < len(self.own) and name in reads(self.own[reader.omni])

    def inside(self, key: Strand) -> Iterator[Strand]:
        """Yield ``key`` and everything below it, in order."""
        yield key
        for child in [*self.children.get(key, []), *self.clauses.get(key, [])]:
            yield from self.inside(child)

    def read_by(self, key: Strand) -> frozenset[str]:
        """Return the names read when the statement and all below it run.

        Empty for a function, because its body does not run there.
        """
        if self.node[key].defines:
            return frozenset()
        below = [*self.children.get(key, []), *self.clauses.get(key, [])]
        return reads(self.node[key]).union(*(self.read_by(k) for k in below))

    def bound_by(self, key: Strand) -> frozenset[str]:
        """Return the names bound by the statement or inside it; a nested function or class binds only its name."""
        return self._collect_names(key, binds)

    def set_by(self, key: Strand) -> frozenset[str]:
        """Return the names of ``bound_by`` that are bound outright, unlike ``total`` in ``total += 1``."""
        return self._collect_names(key, sets)

    def _collect_names(self, key: Strand, collect: Callable[[Node], frozenset[str]]) -> frozenset[str]:
        if self.node[key].defines:
            return frozenset({self.node[key].defines})
        below = [*self.children.get(key, []), *self.clauses.get(key, [])]
        return collect(self.node[key]).union(*(self._collect_names(k, collect) for k in below))

    def set_by_new(self, key: Strand) -> frozenset[str]:
        """Return the names of ``set_by`` that are set by a statement that omni lacks."""
        return self._collect_set(key, [k for k in self._find_setters(key) if k in self.new])

    def set_by_omni(self, key: Strand) -> frozenset[str]:
        """Return the names of ``set_by`` that are set by a statement that omni has."""
        return self._collect_set(key, [k for k in self._find_setters(key) if k not in self.new])

    def _find_setters(self, key: Strand) -> Iterable[Strand]:
        return [key] if self.node[key].defines else self.inside(key)

    def _collect_set(self, key: Strand, keys: Iterable[Strand]) -> frozenset[str]:
        return frozenset(name for k in keys for name in sets(self.node[k])) & self.set_by(key)


def put_before_readers(tree: Tree, movable: set[Strand]) -> None:
    """Move each movable statement that sets a local in front of a statement that reads the local too early.

    It must stand behind the reader, in the same suite or one around it, and read only locals that are set at the new
    place. Leaves the two alone if omni's own text has them in that order, or if an earlier statement may have bound the
    local.
    """
    for key in list(tree.children):
        if key is not None and tree.node[key].defines:
            locals_ = frozenset(name for k in tree.inside(key) if k != key for name in binds(tree.node[k]))
            _Walk(tree, movable, locals_).walk_suite(key, set(binds(tree.node[key])), [])


def put_back_before_readers(tree: Tree, order: Mapping[Strand, int]) -> None:
    """Move new statements behind an omni ``with`` back into it, in front of statements that read what they set.

    The ``order`` of the merge gives their place. The whole run of new statements moves, because one may need another.
    It stays if one of them reads what omni's statements bind.
    """
    for suite in list(tree.children.values()):
        for child in [key for key in suite if key in tree.new]:
            end = suite.index(child) + 1 if child in suite else 0
            start = end
            while start and suite[start - 1] in tree.new:
                start -= 1
            place = _find_place_in_with(tree, suite[:start], suite[start:end], order)
            if place is not None:
                inner, at = place
                inner[at:at] = suite[start:end]
                del suite[start:end]


def _find_place_in_with(
    tree: Tree, before: Sequence[Strand], run: Sequence[Strand], order: Mapping[Strand, int]
) -> tuple[list[Strand], int] | None:
    """Return the ``(suite, index)`` inside the preceding ``with`` to which a run of new statements must go.

    The ``order`` gives the place; ``None`` if the run must not move.
    """
    while before and run and tree.node[before[-1]].is_with:
        inner = tree.children.get(before[-1], [])
        at = next((k for k, key in enumerate(inner) if order[key] > order[run[-1]]), len(inner))
        if order[before[-1]] > order[run[-1]]:
            return None
        if at < len(inner):
            is_read = any(tree.set_by(run[-1]) & tree.read_by(key) for key in inner[at:])
            is_bound = any(tree.bound_by(key) & tree.read_by(new) for key in inner[at:] for new in run)
            is_new = all(key in tree.new for new in run for key in tree.inside(new))
            return (inner, at) if is_read and is_new and not is_bound else None
        before = inner
    return None


def put_before_branches(tree: Tree, movable: set[Strand]) -> None:
    """Move movable statements at the start of a new upstream branch out in front of it.

    Moves only a run that binds a name which is read behind the branch or in its other clauses, where it might not be
    set. The run ends at what holds a statement that upstream has in the branch, where omni's form of it belongs, too.
    """
    for key in list(tree.children):
        if key is not None and tree.node[key].defines:
            _clear_branches(tree, movable, key, frozenset())


def _clear_branches(tree: Tree, movable: set[Strand], key: Strand, behind: frozenset[str]) -> None:
    """Apply ``put_before_branches`` to one suite; ``behind`` are the names read behind it."""
    suite = tree.children.get(key, [])
    for branch in list(reversed(suite)):
        clauses = tree.clauses.get(branch, [])
        elsewhere = behind.union(*(tree.read_by(clause) for clause in clauses))
        if branch in tree.new and (tree.node[branch].is_condition or tree.node[branch].keyword == "try"):
            inner = tree.children.get(branch, [])
            start = next((k for k, child in enumerate(inner) if not _is_remark(tree, child)), 0)
            of_upstream = {child for child in inner if any(one.upstream is not None for one in tree.inside(child))}
            end = _find_run_end(inner, start - 1, movable - of_upstream)
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
class _Walk:
    """One walk through a function in execution order. ``locals_`` are all names bound in it."""

    tree: Tree
    movable: set[Strand]
    locals_: frozenset[str]

    def walk_suite(self, key: Strand, known: set[str], around: list[_Place]) -> None:
        """Walk one suite.

        ``known`` are the names bound so far. ``around`` are the suites around this one, outermost first, each with its
        statement that holds this suite.
        """
        tree, suite = self.tree, self.tree.children.get(key, [])
        index = 0
        while index < len(suite):
            child = suite[index]
            if tree.node[child].defines:
                known |= tree.bound_by(child)
                index += 1
                continue
            source = self._find_later_setter(child, known, [*around, (suite, child)])
            if source is not None:
                owner, (target, before), fetched = source
                owner.remove(fetched)
                target.insert(target.index(before), fetched)
                known |= tree.bound_by(fetched)
                index = suite.index(child)
                continue
            known |= binds(tree.node[child])
            self.walk_suite(child, known, [*around, (suite, child)])
            for clause in tree.clauses.get(child, []):
                known |= binds(tree.node[clause])
                self.walk_suite(clause, known, [*around, (suite, child)])
            index = suite.index(child) + 1

    def _find_later_setter(
        self, child: Strand, known: set[str], around: list[_Place]
    ) -> tuple[list[Strand], _Place, Strand] | None:
        """Find a later statement that sets a local which ``child`` reads and nothing above binds.

        Returns ``(suite, place, statement)``: the suite that holds the statement, and the place to move it to. ``None``
        if it must not move.
        """
        for name in sorted((reads(self.tree.node[child]) & self.locals_) - known):
            for depth in range(len(around) - 1, -1, -1):
                suite, holder = around[depth]
                later = next((k for k in suite[suite.index(holder) + 1 :] if name in self.tree.set_by(k)), None)
                if later is not None and not self.tree.has_omni_order(child, later, name):
                    ready = (self.tree.read_by(later) & self.locals_) - self.tree.set_by(later) <= known
                    place = self._find_innermost_certain(around[depth:])
                    return (suite, place, later) if later in self.movable and ready else None
        return None

    def _find_innermost_certain(self, around: list[_Place]) -> _Place:
        """Return the innermost place that runs whenever the outermost one does: only ``with`` may stand in between."""
        inner = around[0]
        for place in around[1:]:
            if not self.tree.node[inner[1]].is_with:
                break
            inner = place
        return inner


def put_behind_bindings(tree: Tree, movable: set[Strand]) -> None:
    """Move each movable statement, with the movable run behind it, behind a later sibling that sets a local it reads.

    Moves only if nothing above binds the name and the other side's statements set it there. Moves once for each name:
    otherwise two statements that read each other's locals would swap places forever.
    """
    moved: set[tuple[Strand, str]] = set()
    for key in list(tree.children):
        if key is None or not tree.node[key].defines:
            continue
        known = set(binds(tree.node[key]))
        _put_behind_bindings_in(tree, key, known, movable, moved)


def _put_behind_bindings_in(
    tree: Tree, key: Strand, known: set[str], movable: set[Strand], moved: set[tuple[Strand, str]]
) -> None:
    suite = tree.children.get(key, [])
    ahead = _Ahead(tree, [] if movable.isdisjoint(suite) else suite)
    index = 0
    while index < len(suite):
        child = suite[index]
        target = _find_later_binding(tree, suite, index, known, ahead) if child in movable else None
        if target is not None and (child, target[1]) not in moved:
            end = _find_run_end(suite, index, movable)
            run = suite[index:end]
            at = max(target[0], end - 1)
            suite[index : at + 1] = [*suite[end : at + 1], *run]
            moved.add((child, target[1]))
            continue
        if not tree.node[child].defines:
            known |= binds(tree.node[child])
            _put_behind_bindings_in(tree, child, known, movable, moved)
            for clause in tree.clauses.get(child, []):
                known |= binds(tree.node[clause])
                _put_behind_bindings_in(tree, clause, known, movable, moved)
        known |= tree.bound_by(child)
        ahead.leave(child)
        index += 1


class _Ahead:
    """Counts how many statements still ahead in a suite set each name.

    Counting once matters: asking each statement for every name would take minutes in a suite of thousands.
    """

    def __init__(self, tree: Tree, suite: Sequence[Strand]) -> None:
        self.setters = {key: (tree.set_by_omni(key), tree.set_by_new(key)) for key in suite}
        self.omnis, self.new = (Counter(name for one in self.setters.values() for name in one[k]) for k in (0, 1))

    def leave(self, key: Strand) -> None:
        """Stop counting a statement that the walk has passed."""
        omnis, new = self.setters.get(key, ((), ()))
        self.omnis.subtract(omnis)
        self.new.subtract(new)


def _find_run_end(suite: list[Strand], index: int, movable: set[Strand]) -> int:
    """Return the end of the run of movable statements that follow ``index``."""
    end = index + 1
    while end < len(suite) and suite[end] in movable:
        end += 1
    return end


def _find_later_binding(
    tree: Tree, suite: list[Strand], index: int, known: set[str], ahead: _Ahead
) -> tuple[int, str] | None:
    """Return the ``(index, name)`` of the first later sibling that sets a name which a small statement needs.

    The other side must set the name, and nothing above may bind it. ``None`` if there is no such sibling.
    """
    child = suite[index]
    if sum(1 for _ in tree.inside(child)) > SMALL_ADDITION:
        return None
    first = reads(tree.node[child]) if not tree.node[child].defines else frozenset()
    wanted = (first | (tree.read_by(child) - tree.set_by(child))) - known
    side, setters = (0, ahead.omnis) if child in tree.new else (1, ahead.new)
    for name in sorted(wanted):
        if setters[name] > (name in ahead.setters[child][side]):
            later = range(index + 1, len(suite))
            return next(k for k in later if name in ahead.setters[suite[k]][side]), name
    return None
