"""The weave of three node sequences: its strands, each of which is one statement as the three sides have it.

Comes in and goes out: values. May touch: nothing.

The sequences are aligned base↔omni and base↔upstream (`classify`), put in one order (`sequence`) and nested
(`nesting`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile

from runner_sync.merge.reason import Reason
from runner_sync.statements import Node, ancestors, below, in_suite, siblings

Nodes = Sequence[Node]

LAST_CLAUSES = ("except", "else", "finally")
"""Clauses that a statement has at most once and that stand last, in this order; ``except`` is the bare one."""


@dataclass(eq=False)
class Strand:
    """One statement as the three sides have it: its index on each side, or ``None`` where a side lacks it.

    ``kept`` is the verdict so far (`resolve`); it means nothing for a strand of the base alone. ``carried`` is the text
    of a strand from or to which a change was carried over. With ``moved``, omni has the statement at another place than
    the base. ``about`` is the strand that an omni comment must stand directly above: a statement that upstream moved,
    or the next comment on it.
    """

    base: int | None = None
    omni: int | None = None
    upstream: int | None = None
    kept: bool = True
    parent: Strand | None = None
    owner: Strand | None = None
    carried: str = ""
    moved: bool = False
    about: Strand | None = None

    @property
    def in_base(self) -> int:
        """Return the index in the base, which must have the strand."""
        assert self.base is not None
        return self.base

    @property
    def in_omni(self) -> int:
        """Return the index in omni, which must have the strand."""
        assert self.omni is not None
        return self.omni

    @property
    def in_upstream(self) -> int:
        """Return the index in upstream, which must have the strand."""
        assert self.upstream is not None
        return self.upstream

    def around(self) -> Iterator[Strand]:
        """Yield the heads around the strand in the result so far, innermost first."""
        head = self.parent
        while head is not None:
            yield head
            head = head.parent

    def on(self, side: str) -> int:
        """Return the index on one side (``"b"``, ``"o"`` or ``"u"``), which must have the strand."""
        if side == "b":
            return self.in_base
        return self.in_omni if side == "o" else self.in_upstream

    @property
    def sides(self) -> str:
        """Return the sides that have the strand, as a subset of ``"bou"``."""
        first = "" if self.base is None else "b"
        second = first if self.omni is None else f"{first}o"
        return second if self.upstream is None else f"{second}u"


@dataclass
class Weave:
    """The nodes of the three sides, and the strand of every node.

    ``joined`` are clauses that form one strand, whatever is inside, because their statement has only one such clause.
    """

    base: Nodes
    omni: Nodes
    upstream: Nodes
    of_base: list[Strand] = field(default_factory=list)
    of_omni: list[Strand] = field(default_factory=list)
    of_upstream: list[Strand] = field(default_factory=list)
    joined: set[Strand] = field(default_factory=set)

    def side(self, side: str) -> tuple[Nodes, list[Strand]]:
        """Return the nodes of one side (``"b"``, ``"o"`` or ``"u"``), and the strand of each."""
        if side == "b":
            return self.base, self.of_base
        return (self.omni, self.of_omni) if side == "o" else (self.upstream, self.of_upstream)

    def is_edited(self, strand: Strand, side: str) -> bool:
        """Whether a side (``"o"`` or ``"u"``) has a base statement with another text."""
        return self._has_base_text(strand, side) is False

    def is_unedited(self, strand: Strand, side: str) -> bool:
        """Whether a side (``"o"`` or ``"u"``) has a base statement with the same text."""
        return self._has_base_text(strand, side) is True

    def _has_base_text(self, strand: Strand, side: str) -> bool | None:
        """Whether a side has the base's text of a statement; ``None`` unless both have the statement."""
        nodes, index = (self.omni, strand.omni) if side == "o" else (self.upstream, strand.upstream)
        if strand.base is None or index is None:
            return None
        return self.base[strand.base].canon == nodes[index].canon

    @cached_property
    def omni_calls(self) -> Mapping[str, Sequence[Strand]]:
        """Map each name to omni's statements that set it to the result of a call; the strands must be complete."""
        found = defaultdict[str, list[Strand]](list)
        for node, strand in zip(self.omni, self.of_omni, strict=True):
            for name in dict.fromkeys(node.facts.targets) if node.facts.called else ():
                found[name].append(strand)
        return found


@dataclass(frozen=True, slots=True)
class Doubt:
    """A choice about a strand that a person must look at; it has no line yet.

    ``instead`` is the strand that now stands for this one. ``left_out`` are related upstream strands that did not come
    in, or came in beside it.
    """

    strand: Strand
    reason: Reason
    confidence: float
    instead: Strand | None = None
    left_out: tuple[Strand, ...] = ()


def pick_node(weave: Weave, strand: Strand) -> Node:
    """Return a node of the strand: omni's, else upstream's, else the base's."""
    if strand.omni is not None:
        return weave.omni[strand.omni]
    if strand.upstream is not None:
        return weave.upstream[strand.upstream]
    assert strand.base is not None
    return weave.base[strand.base]


def heads_around(weave: Weave, strand: Strand, side: str) -> Iterator[Strand]:
    """Yield the heads around a strand on one side, innermost first; nothing if the side lacks the strand."""
    nodes, strands = weave.side(side)
    yield from (strands[k] for k in ancestors(nodes, strand.on(side))) if side in strand.sides else ()


def strands_inside(weave: Weave, strand: Strand, side: str) -> list[Strand]:
    """Return a strand that one side has, and all that is inside it and its clauses there, in order."""
    nodes, strands = weave.side(side)
    return [strands[k] for k in below(nodes, strand.on(side))]


def strands_in_suite(weave: Weave, head: Strand, side: str) -> list[Strand]:
    """Return the statements and clauses directly in the suite of a head that one side has."""
    nodes, strands = weave.side(side)
    return [strands[k] for k in in_suite(nodes, head.on(side))]


def find_nearest_sibling(nodes: Nodes, index: int, step: int) -> int | None:
    """Return the index of the statement directly before (-1) or behind (1) another in its suite, if any."""
    return next((k for k in siblings(nodes, index, step=step) if not nodes[k].is_clause), None)


def other_side(side: str) -> str:
    """Return ``"u"`` for ``"o"``, else ``"o"``."""
    return "u" if side == "o" else "o"


def find_beside(weave: Weave, strand: Strand, side: str, step: int, wanted: Callable[[Strand], bool]) -> Strand | None:
    """Return the nearest ``wanted`` strand before (-1) or behind (1) another in its suite on one side, if any."""
    nodes, strands = weave.side(side)
    return next((strands[k] for k in siblings(nodes, strand.on(side), step=step) if wanted(strands[k])), None)


def is_old(strand: Strand) -> bool:
    """Whether the base has a strand."""
    return strand.base is not None


def take_until(heads: Iterable[Strand], others: Collection[Strand]) -> list[Strand]:
    """Return the innermost ``heads`` before the first that is among the ``others``."""
    return list(takewhile(lambda head: head not in others, heads))


def index_omni_only(weave: Weave) -> dict[str, Strand]:
    """Return ``{text: strand}`` of the telling statements that only omni has, exactly once.

    Upstream may have the same text, unpaired, at another place.
    """
    counted = Counter(node.canon for node in weave.omni)
    return {
        node.canon: strand
        for node, strand in zip(weave.omni, weave.of_omni, strict=True)
        if strand.sides == "o" and counted[node.canon] == 1
        if node.is_telling and not node.is_clause
    }


def split_into_runs(strands: Sequence[Strand]) -> list[list[Strand]]:
    """Return the runs of consecutive strands between those that both omni and upstream have."""
    runs: list[list[Strand]] = [[]]
    for strand in strands:
        if strand.omni is not None and strand.upstream is not None:
            runs.append([])
        else:
            runs[-1].append(strand)
    return runs
