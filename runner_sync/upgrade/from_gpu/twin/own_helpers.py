"""Follows passages of the twin that NPU keeps in methods of its own.

Comes in: drafts of a class and the twin's texts of their methods. Goes out: the twin's texts with NPU's calls in place
of such passages, and what changed in a passage as the change of NPU's method. May touch: nothing.

A merge of the two runners would miss a change in the passage, because the caller has nothing of it::

    GPU   if self.cache is not None:               NPU   self._keep(hidden)
              self.cache.write(hidden)                   _keep:  if self.cache is not None:
                                                                     self.cache.write(hidden)

Leaves alone: a method that the twin calls, or that vllm-ascend has; one that is called twice, or in a larger statement;
a passage that shares too little with the method.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from runner_sync.edits import Places, apply, lines_of, margin
from runner_sync.lineage import FEWEST, list_nodes
from runner_sync.lineage.expanding import Use, find_arguments, find_use
from runner_sync.lineage.inlined import IN_PLACE
from runner_sync.merge import align
from runner_sync.model import ReviewItem
from runner_sync.statements import Node, below, enclosing, first_function, in_suite, parses, said
from runner_sync.statements.dataflow import attributes_set, reads, sets
from runner_sync.statements.likeness import similarity
from runner_sync.syntax import Function, names_in
from runner_sync.texts.member_text import is_same, self_names, self_names_of, split_head
from runner_sync.thresholds import SIMILAR
from runner_sync.upgrade.draft import Draft


@dataclass(frozen=True, slots=True)
class Carried:
    """What changed in a passage of the twin's method ``user``, as two texts of the NPU method that holds it.

    ``refused`` says why the change cannot be made there, if so; ``kept`` are locals that the passage newly sets and the
    rest of ``user`` reads.
    """

    user: str
    old: str
    new: str
    refused: str = ""
    kept: Sequence[str] = ()


@dataclass(slots=True)
class Folded:
    """The twin's texts by unit, with calls of NPU's methods in place of passages.

    ``carried`` are the changes by the unit of NPU's method; ``replaced`` are, by the unit of the caller, the methods
    whose passage the twin no longer has.
    """

    old: dict[str, str]
    new: dict[str, str]
    carried: dict[str, list[Carried]] = field(default_factory=dict)
    replaced: dict[str, list[str]] = field(default_factory=dict)


def fold_passages(drafts: Sequence[Draft], old: Mapping[str, str], new: Mapping[str, str]) -> Folded:
    """Put calls in place of the changed passages that the drafts have in methods of their own."""
    made = Folded(dict(old), dict(new))
    for user in drafts:
        then, now = old.get(user.name), new.get(user.name)
        if not user.owner or user.removed or then is None or now is None or is_same(then, now):
            continue
        nodes = list_nodes(then)
        found = [
            (helper, _find_passage(helper.nodes, nodes)) for helper in _list_own_helpers(user, drafts, (then, now))
        ]
        for helper, _ in sorted(found, key=lambda one: -one[1].share if one[1] is not None else 0):
            _fold(user, helper, made)
    return made


def explain_replaced(draft: Draft, replaced: Collection[str]) -> Draft:
    """Say in the question about each call of a ``replaced`` method that went what the method is."""

    def explain(item: ReviewItem) -> ReviewItem:
        gone = [name for name in replaced if f"self.{name}(" in item.omni and f"self.{name}(" not in item.chosen]
        held = f"; NPU keeps in {' and '.join(gone)} what the GPU runner had in line here"
        return replace(item, reason=item.reason + held) if gone else item

    return draft.with_each_question(explain)


def append_own_helpers(user: Draft, drafts: Sequence[Draft], twins: Sequence[str]) -> str:
    """Return the text of a method and of NPU's own methods that it calls, to compare it with its ``twins``."""
    return "\n".join([user.text, *(helper.text_for_caller for helper in _list_own_helpers(user, drafts, twins))])


@dataclass(frozen=True, slots=True)
class _Helper:
    """A method that another one calls in the statement ``use.user``, and its names by the caller's (``names``)."""

    draft: Draft
    function: Function
    use: Use
    names: Mapping[str, str]

    @property
    def text_for_caller(self) -> str:
        """The method in the words of its caller."""
        return _reword(self.draft.text, {own: its for its, own in self.names.items()})

    @property
    def nodes(self) -> Sequence[Node]:
        """The statements of the method in the words of its caller."""
        return list_nodes(self.text_for_caller)


def _list_own_helpers(user: Draft, drafts: Sequence[Draft], twins: Sequence[str]) -> list[_Helper]:
    """Return methods of the class that a method calls in a statement of its own, and none of its twins."""
    names = self_names(user.text) - self_names_of(twins) - {user.member}
    caller = first_function(user.text) if names else None
    found = []
    for draft in drafts:
        is_own = draft.owner == user.owner and draft.upstream is None and not draft.removed and draft.member in names
        function = first_function(draft.text) if is_own else None
        use = find_use(caller, draft.member) if caller is not None and function is not None else None
        if function is not None and use is not None and not isinstance(use.user, ast.Return):
            found.append(_Helper(draft, function, use, _map_names(function, use)))
    return found


def _fold(user: Draft, helper: _Helper, made: Folded) -> None:
    """Put the call of one helper in place of its passage in ``made``, if the passage changed."""
    then, now = list_nodes(made.old[user.name]), list_nodes(made.new[user.name])
    passage = _find_passage(helper.nodes, then)
    if passage is None:
        return
    own, call = helper.draft, textwrap.dedent(lines_of(user.text, *_get_rows(helper.use.user)))
    successor = _find_successor(passage, then, now)
    if successor is None:
        made.replaced.setdefault(user.name, []).append(own.member)
    elif said(then, passage.tops) == said(now, successor):
        return
    else:
        sides = ((made.old[user.name], then, passage.tops), (made.new[user.name], now, successor))
        names = _drop_changed(helper.names, sides)
        texts = [_reword(_write_as_helper(helper, _read_lines(*side)), names) for side in sides]
        if not all(map(parses, texts)) or own.name in made.old:
            return
        carried = Carried(user.name, texts[0], texts[1], _explain_exit(user, *sides), _find_kept(*sides))
        made.carried.setdefault(own.name, []).append(carried)
        made.new[user.name] = _replace(made.new[user.name], now, successor, call)
    made.old[user.name] = _replace(made.old[user.name], then, passage.tops, call)


@dataclass(frozen=True, slots=True)
class _Passage:
    """Statements of one suite: the indices of the suite's head, of the statements, and of those that a helper has.

    ``share`` is the part of both that these are.
    """

    suite: int
    tops: Sequence[int]
    shared: Collection[int]
    share: float


def _find_passage(helper: Sequence[Node], nodes: Sequence[Node]) -> _Passage | None:
    """Return the statements of a method that are most like those of a helper, or ``None``.

    At least half of both must be versions of each other, and half of these the same.
    """
    wanted = [k for k, node in enumerate(helper) if k and _counts(node)]
    pairs = [pair for pair in align(helper, nodes) if pair.left in wanted and _counts(nodes[pair.right])]
    pairs = [p for p in pairs if p.equal or similarity(helper[p.left], nodes[p.right]) >= SIMILAR]
    equal = {pair.right: pair.equal for pair in pairs}
    suites = sorted({parent for k in equal for parent, _ in _list_tops(nodes, k)})
    runs = (run for suite in suites for run in _iter_runs(nodes, suite, equal, len(wanted)))
    # Of several, the first; `max` keeps that one.
    return max((run for run in runs if run.share > IN_PLACE), key=lambda run: run.share, default=None)


def _iter_runs(nodes: Sequence[Node], suite: int, equal: Mapping[int, bool], wanted: int) -> Iterator[_Passage]:
    """Yield the runs of statements in a suite that begin and end with versions of the helper's, half of them the same.

    ``equal`` has those versions, and whether they are the same; ``wanted`` is how many statements the helper has.
    """
    tops, shared = _list_statements(nodes, suite), defaultdict[int, list[int]](list)
    for k in equal:
        for parent, top in _list_tops(nodes, k):
            shared[top] += [k] if parent == suite else []
    sizes = {top: sum(_counts(nodes[k]) for k in below(nodes, top)) for top in tops}
    for i, first in enumerate(tops):
        inside: list[int] = []
        size = alike = 0
        for j, last in enumerate(tops[i:] if shared[first] else (), start=i + 1):
            inside += shared[last]
            size, alike = size + sizes[last], alike + sum(equal[k] for k in shared[last])
            if shared[last] and len(inside) >= FEWEST and 2 * alike >= len(inside):
                yield _Passage(suite, tops[i:j], tuple(inside), 2 * len(inside) / (wanted + size))


def _list_statements(nodes: Sequence[Node], suite: int) -> list[int]:
    return [k for k in in_suite(nodes, suite) if not nodes[k].is_clause]


def _counts(node: Node) -> bool:
    return node.is_telling and not node.is_clause and node.keyword not in ("return", "def")


def _list_tops(nodes: Sequence[Node], index: int) -> Iterator[tuple[int, int]]:
    """Yield the head of each suite around a node with the statement of that suite that holds it."""
    for k in chain([index], enclosing(nodes, index)):
        if not nodes[k].is_clause and k:
            yield nodes[k].parent, k


def _find_successor(passage: _Passage, then: Sequence[Node], now: Sequence[Node]) -> Sequence[int] | None:
    """Return the statements that the twin has in place of the passage; ``None`` if it kept less than half of it."""
    partners = {pair.left: pair.right for pair in align(then, now)}
    kept = [partners[k] for k in passage.shared if k in partners]
    suite = partners.get(passage.suite)
    tops = [top for k in kept for parent, top in _list_tops(now, k) if parent == suite]
    if 2 * len(kept) < len(passage.shared) or suite is None or len(tops) < len(kept):
        return None
    run, taken = _list_statements(now, suite), set(partners.values())
    first, last = run.index(min(tops)), run.index(max(tops))
    while first and passage.tops[0] not in partners and run[first - 1] not in taken:
        first -= 1
    while last + 1 < len(run) and passage.tops[-1] not in partners and run[last + 1] not in taken:
        last += 1
    return run[first : last + 1]


_Side = tuple[str, Sequence[Node], Sequence[int]]
"""A text of the twin, its statements, and those of the passage in its suite."""


def _explain_exit(user: Draft, old: _Side, new: _Side) -> str:
    """Say that a passage newly leaves its caller, which code in a method cannot; empty if it does not."""
    more = _count_exits(new) - _count_exits(old)
    return f"a new `{min(more)}` there leaves {user.member}, and here it would only leave this method" if more else ""


def _count_exits(side: _Side) -> Counter[str]:
    """Count the statements that leave a passage for good: ``return``, and what ends a turn of a loop around it."""
    _, nodes, tops = side
    inside = _list_inside(nodes, tops)
    loops = {k for k in inside if nodes[k].is_loop}
    ends = [k for k in inside if nodes[k].keyword in ("break", "continue") and loops.isdisjoint(enclosing(nodes, k))]
    return Counter(nodes[k].keyword for k in (*ends, *(k for k in inside if nodes[k].keyword == "return")))


def _find_kept(old: _Side, new: _Side) -> list[str]:
    """Return the locals that a passage newly sets and the rest of its caller reads."""
    before, after = ({name for k in _list_inside(*side[1:]) for name in sets(side[1][k])} for side in (old, new))
    _, nodes, tops = new
    behind = {name for node in nodes[below(nodes, tops[-1])[-1] + 1 :] for name in reads(node)}
    return sorted((after - before) & behind)


def _list_inside(nodes: Sequence[Node], tops: Sequence[int]) -> list[int]:
    return [k for top in tops for k in below(nodes, top)]


def _drop_changed(names: Mapping[str, str], sides: Iterable[_Side]) -> dict[str, str]:
    """Return the helper's names without those for what a passage sets itself: ``self.cache`` is no parameter then."""
    inside = [nodes[k] for _, nodes, tops in sides for k in _list_inside(nodes, tops)]
    changed = {path for node in inside for path in (*sets(node), *attributes_set(node))}
    return {
        its: own
        for its, own in names.items()
        if its.isidentifier() or not any(re.search(rf"(?<![\w.]){re.escape(path)}\b", its) for path in changed)
    }


def _read_lines(text: str, nodes: Sequence[Node], tops: Sequence[int]) -> str:
    """Return the dedented lines of statements."""
    return textwrap.dedent(lines_of(text, *_find_rows(nodes, tops)))


def _find_rows(nodes: Sequence[Node], tops: Sequence[int]) -> tuple[int, int]:
    return nodes[tops[0]].start, max(nodes[k].end for k in _list_inside(nodes, tops))


def _replace(text: str, nodes: Sequence[Node], tops: Sequence[int], call: str) -> str:
    """Return a text with a call in place of statements."""
    first, last = _find_rows(nodes, tops)
    lines = text.split("\n")
    made = textwrap.indent(call, margin(lines[first - 1])).split("\n")
    return "\n".join([*lines[: first - 1], *made, *lines[last:]])


def _write_as_helper(helper: _Helper, passage: str) -> str:
    """Return the passage under the head of the helper, and with its final return."""
    head, body = split_head(helper.draft.text)
    last = helper.function.body[-1]
    end = [lines_of(helper.draft.text, *_get_rows(last))] if isinstance(last, ast.Return) else []
    return "\n".join([head.rstrip("\n"), textwrap.indent(passage, margin(body.lstrip("\n"))), *end, ""])


def _get_rows(stmt: ast.stmt) -> tuple[int, int]:
    return stmt.lineno, stmt.end_lineno or stmt.lineno


def _map_names(function: Function, use: Use) -> dict[str, str]:
    """Return the helper's names by the caller's: its parameters, and what it returns."""
    names = {ast.unparse(value): name for name, value in (find_arguments(function, use.call) or {}).items()}
    last = function.body[-1]
    if isinstance(use.user, ast.Assign) and isinstance(last, ast.Return):
        sides = [side.elts if isinstance(side, ast.Tuple) else [side] for side in (use.user.targets[0], last.value)]
        both = zip(*sides, strict=False) if len(sides[0]) == len(sides[1]) else ()
        names |= {a.id: b.id for a, b in both if isinstance(a, ast.Name) and isinstance(b, ast.Name)}
    return {its: own for its, own in names.items() if its != own and not _is_constant(its)}


def _is_constant(expression: str) -> bool:
    return not names_in(ast.parse(expression, mode="eval"))


def _reword(text: str, names: Mapping[str, str]) -> str:
    """Return a method with other names, or other expressions in place of names, in its body."""
    function = first_function(text) if parses(text) else None
    if function is None:
        return text
    places = Places(text)
    found = _find_expressions(function.body, names)
    return apply(text, [places.instead_of(node, names[ast.unparse(node)]) for node in found])


def _find_expressions(nodes: Iterable[ast.AST], names: Collection[str]) -> Iterator[ast.expr]:
    """Yield the outermost of the expressions ``names``."""
    for node in nodes:
        if isinstance(node, ast.expr) and ast.unparse(node) in names:
            yield node
        else:
            yield from _find_expressions(ast.iter_child_nodes(node), names)
