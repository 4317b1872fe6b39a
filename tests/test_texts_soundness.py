"""What a merge can leave that is wrong for certain: found where it is, and not where it only looks like it."""

from __future__ import annotations

import textwrap

import pytest

from runner_sync.texts.assignment import find_early_reads, find_unsure_reads
from runner_sync.texts.soundness import find_problems, find_repeated_tests, find_unreachable


def method(body: str) -> str:
    return "def run(self, rows):\n" + textwrap.indent(textwrap.dedent(body).strip("\n") + "\n", "    ")


IDLE = {
    "behind a return": ("return rows\nrows = 1", 3),
    "behind a with that returns": ("with self.lock:\n    return rows\nrows = 1", 4),
    "behind branches that all leave": ("if rows:\n    return 1\nelse:\n    raise ValueError\nrows = 1", 6),
    "behind a with that hands an error on": ("with record_function('run'):\n    return rows\nrows = 1", 4),
    "behind a return in a with that swallows an error": ("with suppress(KeyError):\n    return rows\n    rows = 1", 4),
    "behind a try of which every way leaves": (
        "try:\n    rows = self.f()\nexcept KeyError:\n    raise\nelse:\n    return rows\nrows = 1",
        8,
    ),
    "behind a try that leaves in the end": ("try:\n    self.f()\nfinally:\n    return rows\nrows = 1", 6),
    "behind a break": ("for row in rows:\n    break\n    self.note(row)", 4),
}

RUNS = {
    "behind a guard": "if rows:\n    return 1\nrows = 1",
    "behind one branch that stays": "if rows:\n    return 1\nelse:\n    rows = 2\nrows = 1",
    "behind a loop that returns": "for row in rows:\n    return row\nrows = 1",
    "behind a try that returns": "try:\n    return self.first(rows)\nexcept KeyError:\n    pass\nrows = 1",
    "behind a with that swallows an error": "with contextlib.suppress(KeyError):\n    return rows\nrows = 1",
    "behind a with of which one swallows": "with self.lock, suppress(KeyError):\n    return rows\nrows = 1",
    "behind a with that swallows on a condition": (
        "with suppress(KeyError) if rows else nullcontext():\n    return rows\nrows = 1"
    ),
    "behind an endless loop that ends": "while True:\n    if rows:\n        break\nrows = 1",
    "what makes a generator": "raise NotImplementedError\nyield rows",
    "what makes a generator, in a loop": "return\nfor row in rows:\n    yield row",
    "behind a function that returns": "def first():\n    return 1\nrows = 1",
}


@pytest.mark.parametrize("name", IDLE)
def test_statements_that_never_run_are_found(name: str) -> None:
    body, line = IDLE[name]
    assert find_unreachable(method(body)) == [line]


@pytest.mark.parametrize("name", RUNS)
def test_statements_that_may_run_are_left_alone(name: str) -> None:
    assert find_unreachable(method(RUNS[name])) == []


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        pytest.param("if rows:\n    a()\nelif rows:\n    b()", [4], id="in an elif"),
        pytest.param("if rows:\n    a()\nelse:\n    if rows:\n        b()\n    c()", [5], id="in an else"),
        pytest.param("if rows:\n    a()\nelif late:\n    b()\nelif rows:\n    c()", [6], id="behind another branch"),
        pytest.param("if rows:\n    a()\nelif not rows:\n    b()", [], id="another test"),
        pytest.param("if rows:\n    a()\nelse:\n    b()\n    if rows:\n        c()", [], id="something runs before it"),
        pytest.param("if self.f():\n    a()\nelif self.f():\n    b()", [], id="a call may return something else"),
        pytest.param(
            "if self.x:\n    a()\nelif self.f():\n    b()\nelif self.x:\n    c()", [], id="a call in between may set it"
        ),
        pytest.param(
            "if self.f():\n    a()\nelif self.x:\n    b()\nelif self.x:\n    c()", [6], id="a call in front of both"
        ),
        pytest.param("if n:\n    a()\nelif (n := m):\n    b()\nelif n:\n    c()", [], id="it is set in between"),
        pytest.param("if (n := rows):\n    a()\nelif (n := rows):\n    b()", [], id="it sets something"),
        pytest.param("if rows:\n    if rows:\n        a()", [], id="it is in the same branch"),
        pytest.param("if rows:\n    a()\nif rows:\n    b()", [], id="it stands behind"),
    ],
)
def test_a_test_that_is_repeated_in_its_else_is_found(body: str, lines: list[int]) -> None:
    assert find_repeated_tests(method(body)) == lines


def test_problems_say_what_is_wrong_with_what() -> None:
    text = method("self.note(total)\ntotal = length(rows)\nreturn total\nidle = 1")
    assert find_problems(text, {"len"}) == {("unset", "total"), ("unknown", "length"), ("idle", "idle = 1")}
    assert sorted(map(str, find_problems(text, {"len", "length"}))) == [
        "`idle = 1` would never run",
        "`total` would be read before it is set",
    ]


EARLY = {
    "read above its only assignment": ("self.note(total)\ntotal = len(rows)", {"total": 2}),
    "read in its own assignment": ("total = total + 1", {"total": 2}),
    "set only in a branch that returns": ("if rows:\n    total = 1\n    return total\nself.note(total)", {"total": 5}),
    "set only in a branch that raises": (
        "for row in rows:\n    if row:\n        total = 1\n        raise ValueError\n    self.note(total)",
        {"total": 6},
    ),
    "set only before a continue": (
        "for row in rows:\n    if row:\n        total = 1\n        break\n    else:\n        self.note(total)",
        {"total": 7},
    ),
    "set only in a case that returns": (
        "match rows:\n    case [total]:\n        return total\nreturn total",
        {"total": 5},
    ),
    "deleted and set nowhere": ("self.note(rows)\ndel total", {"total": 3}),
    "read once it is deleted": ("total = 1\ndel total\nself.note(total)", {"total": 4}),
    "updated above its assignment": ("total += 1\ntotal = len(rows)", {"total": 2}),
    "read above the generator that sets it": ("self.note(total)\nany((total := row) for row in rows)", {"total": 2}),
    "set in a generator of a lambda, which has its own": (
        "test = lambda: any((total := row) for row in rows)\nself.note(total)\ntotal = test()",
        {"total": 3},
    ),
    "given a type and no value": ("total: int\nself.note(total)", {"total": 3}),
    "given a type above its assignment": ("total: int\nself.note(total)\ntotal = 1", {"total": 3}),
    "read in a comprehension that runs at once": ("rows = [row + total for row in rows]\ntotal = 1", {"total": 2}),
}

IN_TIME = {
    "set in a branch above": "if rows:\n    total = 1\nself.note(total)",
    "a parameter": "self.note(rows)\nrows = 1",
    "a module's name": "self.note(np)",
    "a comprehension's variable": "rows = [row for row in rows]\nrow = 1",
    "given a type and a value": "total: int = 1\nself.note(total)",
    "given a type, then a value": "total: int\ntotal = 1\nself.note(total)",
    "given a type once it has a value": "total = 1\ntotal: int\nself.note(total)",
    "given a type, then a value in a branch": "total: int\nif rows:\n    total = 1\nself.note(total)",
    "an attribute that is given a type": "self.total: int\nself.note(self.total)",
    "bound by a with": "with self.open() as file:\n    self.note(file)",
    "set where an error that is swallowed may come behind it": (
        "with suppress(KeyError):\n    total = 1\n    raise KeyError\nself.note(total)"
    ),
    "set before a break": "for row in rows:\n    total = row\n    break\nself.note(total)",
    "set in an earlier round of an endless loop": (
        "while True:\n    if rows:\n        break\n    total = rows = 1\nself.note(total)"
    ),
    "set in a round that goes on to the next": (
        "while True:\n    if rows:\n        total = 1\n        continue\n    break\nself.note(total)"
    ),
    "set in one of two branches that go on": "if rows:\n    total = 1\nelse:\n    rows = 2\nself.note(total)",
    "set where an error may come behind it": "try:\n    total = 1\n    self.f()\nexcept OSError:\n    self.f(total)",
    "set in a handler": "try:\n    return self.f()\nexcept KeyError as error:\n    total = error\nself.note(total)",
    "set in the case that is left": "match rows:\n    case [total]:\n        pass\nreturn total",
    "set by a condition": "if (total := len(rows)) > 1:\n    return total\nself.note(total)",
    "set by a condition in a generator": "if any((total := row) for row in rows):\n    return total\nself.note(rows)",
    "set by a condition in a generator in a generator": (
        "if any(any((total := one) for one in row) for row in rows):\n    return total\nself.note(rows)"
    ),
    "read in a generator that may run later": "sums = (row + total for row in rows)\ntotal = 1\nself.note(sums)",
    "read in a function that runs later": "key = lambda row: row + total\ntotal = 1\nrows.sort(key=key)",
    "deleted in one of two branches": "total = 1\nif rows:\n    del total\nself.note(total)",
    "set again once it is deleted": "total = 1\ndel total\ntotal = 2\nself.note(total)",
    "the parameter of a lambda": "rows.sort(key=lambda total: total.size)\ntotal = 1",
    "behind a return nothing is read": "return rows\nself.note(total)\ntotal = 1",
    "behind branches that all leave": "if rows:\n    return 1\nelse:\n    raise KeyError\nself.note(total)\ntotal = 1",
}


@pytest.mark.parametrize("name", EARLY)
def test_locals_read_before_they_are_set_are_found(name: str) -> None:
    body, found = EARLY[name]
    assert find_early_reads(method(body)) == found


@pytest.mark.parametrize("name", IN_TIME)
def test_locals_that_may_be_set_are_left_alone(name: str) -> None:
    assert find_early_reads(method(IN_TIME[name])) == {}


SOMETIMES = {
    "set in a branch above": ("if rows:\n    total = 1\nself.note(total)", {"total": 4}),
    "set in a loop": ("for row in rows:\n    total = row\nself.note(total)", {"total": 4}),
    "set in one of two branches that go on": (
        "if rows:\n    total = 1\nelse:\n    rows = 2\nself.note(total)",
        {"total": 6},
    ),
    "set behind what may fail": (
        "try:\n    self.f()\n    total = 1\nexcept OSError:\n    pass\nself.note(total)",
        {"total": 7},
    ),
    "set behind what may fail and is swallowed": (
        "with suppress(OSError):\n    self.f()\n    total = 1\nself.note(total)",
        {"total": 5},
    ),
    "deleted in a branch": ("total = 1\nif rows:\n    del total\nself.note(total)", {"total": 5}),
    "set behind a break": ("while True:\n    if rows:\n        break\n    total = 1\nself.note(total)", {"total": 6}),
    "set in a round of a loop that may end without one": (
        "while rows:\n    if self.f():\n        continue\n    total = 1\nself.note(total)",
        {"total": 6},
    ),
    "set in all cases but another may come": (
        "match rows:\n    case [_]:\n        total = 1\n    case _ if self.f():\n        total = 2\nself.note(total)",
        {"total": 7},
    ),
    "set in one case": ("match rows:\n    case [total]:\n        pass\nreturn total", {"total": 5}),
}

ALWAYS = {
    "set in all branches": "if rows:\n    total = 1\nelse:\n    total = 2\nself.note(total)",
    "the other branch leaves": "if rows:\n    total = 1\nelse:\n    return\nself.note(total)",
    "the handler leaves": "try:\n    total = self.f()\nexcept OSError:\n    raise\nself.note(total)",
    "set by the handler, too": "try:\n    total = self.f()\nexcept OSError:\n    total = 0\nself.note(total)",
    "set finally": "try:\n    self.f()\nfinally:\n    total = 0\nself.note(total)",
    "bound by a with": "with self.open() as file:\n    total = 1\nself.note(file, total)",
    "read where it is set": "for row in rows:\n    self.note(row)",
    "an endless loop ends with it": "while True:\n    total = self.f()\n    if total:\n        break\nself.note(total)",
    "another round of an endless loop sets it": (
        "while True:\n    if self.f():\n        continue\n    total = 1\n    break\nself.note(total)"
    ),
    "set in all cases, the last of which takes the rest": (
        "match rows:\n    case [total]:\n        pass\n    case _:\n        total = 1\nself.note(total)"
    ),
    "set in all cases, the last of which takes the rest by a name": (
        "match rows:\n    case [_]:\n        total = 1\n    case (1 | _) as total:\n        pass\nself.note(total)"
    ),
    "set before": "total = 0\nfor row in rows:\n    total += row\nself.note(total)",
}


@pytest.mark.parametrize("name", SOMETIMES)
def test_locals_that_some_path_does_not_set_are_found(name: str) -> None:
    body, found = SOMETIMES[name]
    assert find_unsure_reads(method(body)) == found


@pytest.mark.parametrize("name", ALWAYS)
def test_locals_that_every_path_sets_are_left_alone(name: str) -> None:
    assert find_unsure_reads(method(ALWAYS[name])) == {}
