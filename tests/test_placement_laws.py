"""Whatever both sides do to a method, what either added or left alone stands once, in order, and under its conditions,
or is asked about.

Methods are made at random as for the nesting laws; here the sides also move statements within a suite.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations, permutations

import pytest
from test_nesting_laws import EXITS, Body, Maker, Statement, method

from runner_sync.merge import FOLLOW, PORT, Policy, merge
from runner_sync.model import Triple

CONDITIONS = ("if", "for")
LEAST_COMPARED = 25
"""Merges out of fifty that ask nothing; there are 33 to 43."""


class Mover(Maker):
    """A maker that also moves statements within their suite, now and then."""

    def moved(self, body: Body) -> Body:
        one, *rest = body
        inner = tuple(replace(each, body=self.moved(each.body) if each.body else ()) for each in (one, *rest))
        if len(inner) < 2 or self._random.random() < 0.8:
            return inner
        taken = self._random.randrange(len(inner))
        others = [each for place, each in enumerate(inner) if place != taken]
        others.insert(self._random.randint(0, len(others)), inner[taken])
        return tuple(others)


class Brancher(Maker):
    """A maker that also takes loops away from around what leaves them, and puts statements into a ``try``."""

    def branched(self, body: Body, *, in_loop: bool = False) -> Body:
        """The suite with some loops opened and some statements tried; what would leave no loop goes."""
        done = list[Statement]()
        for one in body:
            luck = self._random.random()
            if one.text in EXITS and not in_loop:
                continue
            if one.is_loop and luck < 0.5:
                done += self.branched(one.body, in_loop=in_loop)
                continue
            inner = one.body and (self.branched(one.body, in_loop=in_loop or one.is_loop) or (Statement("pass"),))
            clause = Statement(self._random.choice(("finally:", f"except {next(self._names)}:")), (Statement("pass"),))
            tried = (Statement("try:", (replace(one, body=inner),)), clause)
            done += tried if luck > 0.85 else tried[0].body
        return tuple(done)


class Shifter(Maker):
    """A maker of ``if`` with ``else`` and of ``try`` that moves statements into other suites, also those of clauses."""

    def with_clauses(self, body: Body) -> Body:
        """The suite with an ``else`` behind some heads, and a ``finally`` behind others in a ``try``."""
        done = list[Statement]()
        for one in body:
            head = replace(one, body=self.with_clauses(one.body))
            is_open = bool(one.body) and not head.has_exit and self._random.random() < 0.9
            if not is_open:
                done.append(head)
            elif one.text.startswith(CONDITIONS):
                done += [head, Statement("else:", self._few())]
            else:
                done += [Statement("try:", (head, *self._few())), Statement("finally:", self._few())]
        return tuple(done)

    def _few(self) -> Body:
        return tuple(self._made(3, in_loop=False) for _ in range(self._random.randint(1, 2)))

    def shifted(self, body: Body) -> Body:
        """The suite with two to four statements moved to any other place, removed, added or replaced."""
        for _ in range(self._random.randint(2, 4)):
            steps = self._random.choice(("move", "move", "remove", "add", "replace", "replace"))
            simple = [place for place, one in _places(body) if not one.body and one.text not in (*EXITS, "pass")]
            place = self._random.choice(simple) if simple and steps != "add" else None
            one = dict(_places(body))[place] if place is not None and steps == "move" else self._made(3, in_loop=False)
            body = _without(body, place) if place is not None else body
            if steps == "replace" and place is not None:
                body = _with(body, place, one)
            elif steps != "remove":
                body = _with(body, self._random.choice([other for other, _ in _places(body)]), one)
        return body


_Path = tuple[int, ...]
"""The number of a statement in its suite, behind those of the heads around it."""


def _places(body: Body, above: _Path = ()) -> Iterator[tuple[_Path, Statement]]:
    """Every statement that is no clause, and all in the suites of clauses."""
    for number, one in enumerate(body):
        if one.text not in ("else:", "finally:"):
            yield (*above, number), one
        yield from _places(one.body, (*above, number))


def _changed(body: Body, path: _Path, change: Callable[[Body, int], Body]) -> Body:
    """The suite with ``change`` made to the suite that a place is in."""
    first, *rest = path
    if not rest:
        return change(body, first)
    inner = _changed(body[first].body, tuple(rest), change) or (Statement("pass"),)
    return (*body[:first], replace(body[first], body=inner), *body[first + 1 :])


def _without(body: Body, path: _Path) -> Body:
    return _changed(body, path, lambda suite, at: suite[:at] + suite[at + 1 :]) or (Statement("pass"),)


def _with(body: Body, path: _Path, one: Statement) -> Body:
    """The suite with a statement in front of a place."""
    return _changed(body, path, lambda suite, at: (*suite[:at], one, *suite[at:]))


def _told_apart(text: str) -> str:
    """The method with so much in each statement that no two are versions of one."""
    return re.sub(r"\b([bou]\d+)\(a", r"\1(\1_rows, \1_size", text)


@dataclass(frozen=True)
class _Place:
    """Where a named statement stands: its number in the text, the heads around it, those of them that are conditions,
    and the named statements of its suite."""

    number: int
    heads: tuple[str, ...]
    conditions: tuple[str, ...]
    suite: tuple[str, ...]


def _named(text: str) -> Iterator[tuple[str, _Place]]:
    """Every statement of a method by the name that it calls."""
    count = iter(range(len(text)))

    def visit(
        body: list[ast.stmt], above: tuple[str, ...], conditions: tuple[str, ...]
    ) -> Iterator[tuple[str, _Place]]:
        heads = [ast.unparse(one).split("\n")[0] for one in body]
        names = [found[0] if (found := re.search(r"\b[bou]\d+(?=\()", head)) else "" for head in heads]
        for one, head, name in zip(body, heads, names, strict=True):
            if name:
                yield name, _Place(next(count), above, conditions, tuple(filter(None, names)))
            inner = (*conditions, name) if head.startswith(CONDITIONS) else conditions
            yield from visit(getattr(one, "body", []), (*above, name), inner)

    yield from visit(ast.parse(text).body[:1], (), ())


Places = Mapping[str, _Place]


def _is_once(base: Places, omni: Places, upstream: Places, name: str, times: int) -> bool:
    """Whether a statement stands as often as it should: what a side added once, what a side removed not at all. A new
    head goes with what it was put around."""
    mine = omni if name in omni else upstream
    if name in base or (name in omni and name in upstream):
        return times == (name in omni and name in upstream)
    around = _below(mine, name) if name in mine else set()
    is_around_nothing = bool(around) and all(inner not in omni or inner not in upstream for inner in around)
    return times == 1 or (times == 0 and is_around_nothing and around <= base.keys())


def _is_moved(base: Places, side: Places, name: str) -> bool:
    both = [other for other in base if other in side]
    before = [base[other].number < base[name].number for other in both]
    return name in both and before != [side[other].number < side[name].number for other in both]


def _is_in_order(base: Places, mine: Places, theirs: Places, now: Places, name: str) -> bool:
    """Whether an addition of one side stands where it did to all that both have and the other has not moved."""
    shared = (s for s in mine if s in theirs and s in now and not (s in base and _is_moved(base, theirs, s)))
    return all((mine[s].number < mine[name].number) == (now[s].number < now[name].number) for s in shared)


def _is_under_its_conditions(mine: Places, theirs: Places, now: Places, name: str) -> bool:
    """Whether an addition runs under what it did, and under more only with its neighbours on both sides, or above one
    of the other side's."""
    suite = mine[name].suite
    at = suite.index(name)
    near = [next((s for s in half if s in theirs and s in now), "") for half in (suite[:at][::-1], suite[at + 1 :])]
    for more in set(now[name].conditions) - set(mine[name].conditions):
        last = max((now[s].number for s in theirs if s in now and more in now[s].conditions), default=-1)
        together = all(s and more in now[s].conditions for s in near)
        parents = [above for above in mine if above in theirs and name in _below(mine, above)]
        inside = any(above in now and more in now[above].conditions for above in parents)
        if not (together or inside or last > now[name].number):
            return False
    return True


def _below(side: Places, above: str) -> set[str]:
    return {name for name in side if above in side[name].heads}


@pytest.mark.parametrize("first", range(0, 400, 50))
def test_what_nobody_is_asked_about_stands_once_and_in_its_place(first: int) -> None:
    compared = 0
    for seed in range(first, first + 50):
        body = Mover(seed, "b").body()
        sides = [(maker := Mover(seed, side)).moved(maker.edited(body)) for side in "ou"]
        triple = Triple(*(_told_apart(method(one)) for one in (body, *sides)))
        result = merge(triple, policy=FOLLOW)
        if result.decisions or not result.parses:
            continue
        compared += 1
        rows = [list(_named(text)) for text in (triple.base, triple.omni, triple.upstream, result.text)]
        base, omni, upstream, now = map(dict, rows)
        times = Counter(name for name, _ in rows[3])
        told = f"seed {seed}:\n{triple.base}\n{triple.omni}\n{triple.upstream}\n{result.text}"
        assert [n for n in base | omni | upstream if not _is_once(base, omni, upstream, n, times[n])] == [], told
        for mine, theirs in ((omni, upstream), (upstream, omni)):
            added = [name for name in mine if name in now and name not in base and name not in theirs]
            assert [name for name in added if not _is_in_order(base, mine, theirs, now, name)] == [], told
            assert [name for name in added if not _is_under_its_conditions(mine, theirs, now, name)] == [], told
    assert compared >= LEAST_COMPARED, "the law says nothing where everything is a question"


@pytest.mark.parametrize("policy", [FOLLOW, PORT], ids=["follow", "port"])
@pytest.mark.parametrize("first", range(0, 200, 50))
def test_a_result_is_python(first: int, policy: Policy) -> None:
    for seed in range(first, first + 50):
        body = Brancher(seed, "b").body()
        sides = [(maker := Brancher(seed, side)).branched(maker.edited(body)) for side in "ou"]
        triple = Triple(*map(method, (body, *sides)))
        assert merge(triple, policy=policy).parses, f"seed {seed}:\n{triple.base}\n{triple.omni}\n{triple.upstream}"


@pytest.mark.parametrize("policy", [FOLLOW, PORT], ids=["follow", "port"])
@pytest.mark.parametrize("first", range(0, 250, 50))
def test_what_moved_into_other_suites_is_python_and_no_addition_is_lost_or_doubled(first: int, policy: Policy) -> None:
    for seed in range(first, first + 50):
        maker = Shifter(seed, "b")
        body = maker.with_clauses(maker.body())
        sides = [Shifter(seed, side).shifted(body) for side in "ou"]
        triple = Triple(*(_told_apart(method(one)) for one in (body, *sides)))
        result = merge(triple, policy=policy)
        told = f"seed {seed}:\n{triple.base}\n{triple.omni}\n{triple.upstream}\n{result.text}"
        assert result.parses, told
        times = Counter(re.findall(r"\b[ou]\d+(?=\()", result.text))
        assert max(times.values(), default=1) == 1, told
        asked = "\n".join(item.omni + item.upstream for item in result.decisions)
        added = re.findall(r"\b[ou]\d+(?=\()", triple.omni + triple.upstream)
        assert [name for name in added if name not in times and f"{name}(" not in asked] == [], told


def _call(name: str) -> str:
    return f"    self.{name}_run({name}_rows, {name}_size)"


def _order_due(base: str, omni: str, upstream: str, first: str, second: str) -> bool:
    """Whether the first of two statements comes first where each side's change of their order is made."""
    orders = [text.index(first) < text.index(second) for text in (base, omni, upstream)]
    return orders[2] if orders[1] == orders[0] else orders[1]


@pytest.mark.parametrize("policy", [FOLLOW, PORT], ids=["follow", "port"])
@pytest.mark.parametrize("omni", ["".join(order) for order in permutations("abcd")])
def test_an_order_that_is_no_side_s_is_asked_about(omni: str, policy: Policy) -> None:
    for upstream in map("".join, permutations("abcd")):
        texts = ("\n".join(["def run(self):", *map(_call, order)]) + "\n" for order in ("abcd", omni, upstream))
        result = merge(Triple(*texts), policy=policy)
        now = "".join(re.findall(r"self\.(\w)_run", result.text))
        assert sorted(now) == list("abcd")
        is_due = all(_order_due("abcd", omni, upstream, *pair) for pair in combinations(now, 2))
        assert is_due or result.decisions, (omni, upstream, now)


@pytest.mark.parametrize("policy", [FOLLOW, PORT], ids=["follow", "port"])
@pytest.mark.parametrize("order", ["".join(order) for order in permutations("abcd")])
@pytest.mark.parametrize(("front", "behind"), [("x", ""), ("", "x")])
def test_an_order_that_one_side_or_both_changed_alike_is_no_question(
    front: str, behind: str, order: str, policy: Policy
) -> None:
    """One or the other side, or the other side of both, edits a statement that nobody moved, ``x``."""
    was, now = ("\n".join(["def run(self):", *map(_call, (*front, *rows, *behind))]) + "\n" for rows in ("abcd", order))
    was_edited, now_edited = (text.replace("x_size)", "x_size, more)") for text in (was, now))
    assert was_edited != was
    for triple in (
        Triple(was, now, was_edited),
        Triple(was, was_edited, now),
        Triple(was, now, now_edited),
        Triple(was, now_edited, now),
    ):
        result = merge(triple, policy=policy)
        assert (result.text, result.decisions) == (now_edited, ())


@pytest.mark.parametrize("policy", [FOLLOW, PORT], ids=["follow", "port"])
@pytest.mark.parametrize("order", ["".join(order) for order in permutations("abcd")])
def test_an_order_beside_an_edit_of_what_was_moved_is_right_or_asked_about(order: str, policy: Policy) -> None:
    was, now = ("\n".join(["def run(self):", *map(_call, rows)]) + "\n" for rows in ("abcd", order))
    was_edited, now_edited = (text.replace("d_size)", "d_size, x)") for text in (was, now))
    for triple in (Triple(was, now, was_edited), Triple(was, was_edited, now), Triple(was, now, now_edited)):
        result = merge(triple, policy=policy)
        assert result.decisions or result.text == now_edited
        if result.text == now_edited:
            assert "on the other side" not in {decision.reason.kind for decision in result.decisions}


@pytest.mark.parametrize("policy", [FOLLOW, PORT], ids=["follow", "port"])
@pytest.mark.parametrize("head", ["if self.ready:", "with self.lock:", "try:"])
@pytest.mark.parametrize(("first", "last"), list(combinations(range(5), 2)))
def test_a_block_that_upstream_put_around_statements_is_around_those_that_omni_keeps(
    first: int, last: int, head: str, policy: Policy
) -> None:
    """Whatever omni removed and moved; or there is a question."""
    inside = [f"    {_call(name)}" for name in "abcd"[first:last]]
    clause = ["    finally:", "        self.clean_up()"] if head == "try:" else []
    new = [*map(_call, "abcd"[:first]), f"    {head}", *inside, *clause, *map(_call, "abcd"[last:])]
    for names in (names for size in range(1, 5) for names in permutations("abcd", size)):
        rows = [*map(_call, "abcd")], [*map(_call, names)], new
        base, omni, upstream = ("\n".join(["def run(self):", *lines]) + "\n" for lines in rows)
        result = merge(Triple(base, omni, upstream), policy=policy)
        around = re.findall(r"^        self\.(\w)_run", result.text, re.MULTILINE)
        assert result.decisions or set(around) == set(names) & set("abcd"[first:last]), (names, result.text)


@pytest.mark.parametrize(
    ("taken_out", "added", "asked"),
    [
        pytest.param(True, False, ["on the other side"], id="changed places"),
        pytest.param(False, False, [], id="nothing taken out"),
        pytest.param(False, True, [], id="something added"),
    ],
)
def test_what_omni_put_into_a_loop_of_which_upstream_took_the_end_out(
    taken_out: bool, added: bool, asked: list[str]
) -> None:
    a, b, c, x = map(_call, "abcx")
    rows = ["def run(self):", "    for row in rows:", f"    {a}", f"    {b}", c]
    omni = [*rows[:-1], f"    {c}"]
    upstream = [rows[0], *([x] if added else []), *rows[1:3], b if taken_out else rows[3], c]
    texts = ("\n".join(lines) + "\n" for lines in (rows, omni, upstream))
    assert [decision.reason.kind for decision in merge(Triple(*texts)).decisions] == asked
