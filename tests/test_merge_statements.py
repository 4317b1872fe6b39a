"""The text of one statement that both sides changed: its parts, its blanks, and what is asked about it."""

from __future__ import annotations

import ast

import pytest

from runner_sync.merge import (
    PORT,
    Merged,
    merge,
)
from runner_sync.merge.phrases.contents import is_between
from runner_sync.model import Triple
from runner_sync.statements import flatten


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("self.metadata, SHARED, ids=self.input_ids, defer=not self.is_cleared", True),
        ("self.metadata, SHARED, defer=self.is_deferred", True),
        ("self.metadata, SHARED, ids=self.input_ids, defer=not self.is_cleared, rows=self.rows", False),
        ("self.metadata, SHARED, ids=self.omni_ids, defer=not self.is_cleared", False),
        ("self.omni_metadata, SHARED, defer=self.is_deferred", False),
        ("self.metadata, SHARED", False),
    ],
)
def test_what_has_no_part_of_its_own_is_between_two_revisions(arguments: str, expected: bool) -> None:
    rows = ("defer=not self.is_cleared", "ids=self.input_ids, defer=self.is_deferred")
    shared = "num_tokens=num_tokens, num_reqs=num_reqs, model=self.model, config=self.config, eager=self.eager"
    older, base = (f"self.run_forward(self.metadata, {shared}, {row})" for row in rows)
    (mine,) = flatten(f"self.run_forward({arguments.replace('SHARED', shared)})\n")
    assert is_between(mine, *flatten(f"{base}\n"), {older, older.replace("run", "stop")}) == expected


@pytest.mark.parametrize(
    ("row", "follows"),
    [
        pytest.param("ids=self.input_ids, late=self.late", True, id="with a part of the older one"),
        pytest.param("defer=self.is_deferred", False, id="with one part less"),
        pytest.param("ids=self.omni_ids, late=self.late", False, id="with a part of omni's own"),
    ],
)
def test_a_call_with_older_parts_follows_the_base_that_upstream_still_has(row: str, follows: bool) -> None:
    shared = "num_tokens=num_tokens, num_reqs=num_reqs, model=self.model, config=self.config, eager=self.eager"
    rows = ("late=self.late", "ids=self.input_ids, defer=self.is_deferred", row)
    older, base, omni = (f"self.run_forward(self.metadata, {shared}, {one})\nself.end()\n" for one in rows)
    merged = merge(Triple(base, omni, base), heritage=frozenset({older.split("\n")[0]})).text
    assert (merged.split() == base.split()) is follows


def test_a_merged_statement_is_shown_without_blanks_around_dots() -> None:
    texts = (
        "out = record(self.ids, count=1, size=self.size)\n",
        "out = record(self.ids, count=2, size=self.size)\n",
        "out = record(self.ids, count=3, size=self.size, last=self.rows.last)\n",
    )
    (decision,) = merge(Triple(*texts)).decisions
    assert "self.rows.last" in decision.chosen


@pytest.mark.parametrize(
    ("base", "omni", "upstream", "expected"),
    [
        pytest.param(
            "out = g(-1, x[a:b], k=1)",
            ("k=1", "k=1, o=2"),
            ("x[", "y["),
            "out = g(-1, y[a:b], k=1, o=2)",
            id="a sign, a slice and a keyword",
        ),
        pytest.param(
            "out = g({a: -b}, x[a + 1 : b], lambda: c, *d, **e)",
            ("*d", "*d, *o"),
            ("x[", "y["),
            "out = g({a: -b}, y[a + 1 : b], lambda: c, *d, *o, **e)",
            id="the same signs between other neighbours",
        ),
        pytest.param("f(a, k=1, m = 2)", ("m = 2", "m = 3"), ("a,", "b,"), "f(b, k=1, m = 3)", id="each as it is"),
        pytest.param(
            "f(a, k = 1)", ("k = 1", "k=1, o=2"), ("a,", "b,"), "f(b, k=1, o=2)", id="omni's before upstream's"
        ),
        pytest.param("f(a, x, k=1)", ("f(a, x", "f(x"), ("k=1", "k=2"), "f(x, k=2)", id="first in its brackets now"),
        pytest.param(
            "f(\n    a,\n    c, k=1,\n)", ("a,", "b,"), ("k=1", "k=2"), "f(b, c, k=2,)", id="lines that are gone"
        ),
        pytest.param("f(a, k=1)  # b", ("a,", "b,"), ("k=1", "k=2"), "f(b, k=2)  # b", id="a comment behind it"),
        pytest.param(
            "f(a, 1. if b else c, d)", ("(a", "(o"), ("d)", "u)"), "f(o, 1. if b else c, u)", id="a bare point"
        ),
        pytest.param(
            "while (a or b) and f(x, k=1): pass",
            ("k=1", "k=1, o=2"),
            ("x,", "y,"),
            "while (a or b) and f(y, k=1, o=2): pass",
            id="brackets behind a keyword",
        ),
        pytest.param(
            "await (f(a, b, c))", ("a,", "o,"), ("c)", "u)"), "await (f(o, b, u))", id="and one that calls nothing"
        ),
        pytest.param(
            "if not (f(a, b) or c): pass", ("a,", "o,"), ("c)", "u)"), "if not (f(o, b) or u): pass", id="not"
        ),
        pytest.param(
            "from . import (a, b, c)", ("b,", "b, o,"), ("(a", "(u, a"), "from . import (u, a, b, o, c)", id="an import"
        ),
    ],
)
def test_a_merged_statement_has_the_blanks_of_its_sides(
    base: str, omni: tuple[str, str], upstream: tuple[str, str], expected: str
) -> None:
    texts = (f"async def run():\n    {text}\n" for text in (base, base.replace(*omni), base.replace(*upstream)))
    merged = merge(Triple(*texts)).text.replace(":\n        pass", ": pass")
    assert merged == f"async def run():\n    {expected}\n"


def step(statement: str) -> str:
    return f"def run(self, a, b, c):\n    {statement}\n    return c\n"


@pytest.mark.parametrize(
    ("base", "omni", "upstream", "merged", "asked"),
    [
        pytest.param(
            "out = self.finish(a)",
            "out = self.finish(a), self.stage",
            "out = self.attach(self.finish(a))",
            "out = self.attach(self.finish(a)), self.stage",
            [],
            id="a tuple is no operand of what is put around its first part",
        ),
        pytest.param(
            "out = self.finish(a)",
            "out = self.finish(a) + self.rest(b)",
            "out = self.attach(self.finish(a))",
            "out = self.attach(self.finish(a) + self.rest(b))",
            ["both put more around"],
            id="a sum is one, but may belong around it",
        ),
        pytest.param(
            "out = a, b",
            "out = a, c",
            "out = self.attach((a, b))",
            "out = self.attach((a, c))",
            [],
            id="and so is another tuple in the place of the base's",
        ),
        pytest.param(
            "self.give(a, key=b)",
            "self.give(a, key=b, own=1)",
            "self.give(a, key=b, own=2)",
            "self.give(a, key=b, own=1)",
            ["both changed a part"],
            id="a keyword that both gave, with other values, stands once",
        ),
        pytest.param(
            "self.give(a, key=b)",
            "self.give(a, key=b, own=1)",
            "self.give(a, key=b, new=2)",
            "self.give(a, key=b, new=2, own=1)",
            [],
            id="keywords of each",
        ),
        pytest.param(
            'out = {"a": 1, "b": 2}',
            'out = {"a": 1, "b": 2, "c": 3}',
            'out = {"b": 2, "a": 5}',
            'out = {"a": 1, "b": 2, "c": 3}',
            ["both changed a part"],
            id="no key that all have is lost to another order",
        ),
        pytest.param(
            "out = [a, b]",
            "out = [a, b, c]",
            "out = [b, a]",
            "out = [a, b, c]",
            ["both changed a part"],
            id="no element stands twice for another order",
        ),
        pytest.param(
            "self.give(a, k0=0, k1=1, k2=2)",
            "self.give(a, k1=1, k2=2)",
            "self.give(a, k0=0, k2=2, k1=1)",
            "self.give(a, k2=2, k1=1)",
            [],
            id="no keyword that all have is lost to another order",
        ),
        pytest.param(
            "(a, b, c) = self.state",
            "(a, b) = self.state",
            "(a, b, c, d) = self.state",
            "(a, b, d) = self.state",
            [],
            id="behind a name that omni took out upstream's stands by itself",
        ),
        pytest.param(
            "(a, b, c) = self.state",
            "(a, own, b,  # omni's\n    ) = self.state",
            "(a, b, c,  # the last\n    d) = self.state",
            "(a, own, b,  # omni's\n    d) = self.state",
            [],
            id="and remarks stay with their names",
        ),
        pytest.param(
            "self.give(a, b, c)",
            "self.give(a, b)",
            "self.give(a, b, c, d)",
            "self.give(a, b)",
            ["both changed a part"],
            id="but an argument without a name is what its place makes it",
        ),
        pytest.param(
            "self.give(a, k0=0, k1=1)",
            "self.give(a, k0=0)",
            "self.give(a, k0=0, k1=5, k2=2)",
            "self.give(a, k0=0)",
            ["both changed a part"],
            id="a keyword that omni took out and upstream gave another value",
        ),
    ],
)
def test_of_a_statement_that_both_changed_nothing_is_lost_or_doubled(
    base: str, omni: str, upstream: str, merged: str, asked: list[str]
) -> None:
    result = merge(Triple(step(base), step(omni), step(upstream)))
    assert (result.text, result.parses) == (step(merged), True)
    assert [decision.reason.kind for decision in result.decisions] == asked


RECORD = "self.state = State(rows, total, slots)"


@pytest.mark.parametrize(
    ("base", "omni", "upstream", "merged"),
    [
        pytest.param(
            RECORD,
            "self.state = State(rows, own, more, total)",
            "self.state = State(rows, total, slots, step)",
            "self.state = State(rows, own, more, total, step)",
            id="a record",
        ),
        pytest.param(
            RECORD,
            "self.state = State(rows, own, more, total,  # omni's\n    )",
            "self.state = State(rows, total, slots,  # the last\n    step)",
            "self.state = State(rows, own, more, total,  # omni's\n    step)",
            id="with remarks",
        ),
        pytest.param(
            RECORD,
            "self.state = State(rows, own, more, total)",
            "self.state = State(rows, total, step)",
            None,
            id="but not where a field is gone",
        ),
        pytest.param(
            RECORD,
            "self.state = State(rows, own, more, total)",
            "self.state = State(rows, total, slots, self.step())",
            None,
            id="nor where a value has no name",
        ),
        pytest.param(
            RECORD.replace("State(", "make_state("),
            "self.state = make_state(rows, own, more, total)",
            "self.state = make_state(rows, total, slots, step)",
            None,
            id="and not the arguments of a function",
        ),
    ],
)
def test_in_a_port_names_passed_to_a_class_are_its_fields(
    base: str, omni: str, upstream: str, merged: str | None
) -> None:
    """``ExecuteModelState`` of vllm-omni 0.30.0: NPU's has other fields, and the GPU runner's got one more."""
    result = merge(Triple(step(base), step(omni), step(upstream)), policy=PORT)
    assert result.text == step(merged or omni)
    assert ["both changed a part"] * (merged is None) == [item.reason.kind for item in result.decisions]


@pytest.mark.parametrize("is_omnis", [True, False], ids=["in this order", "the other way round"])
@pytest.mark.parametrize(
    ("base", "one", "other", "is_asked"),
    [
        pytest.param("if a:", "if a and c:", "if not a:", True, id="a condition and its negation"),
        pytest.param("if a:", "if a or c:", "if a and b:", True, id="or and and"),
        pytest.param("if a:", "if a and c:", "if a and b:", False, id="two and"),
        pytest.param("if a:", "if b or a:", "if a or c:", False, id="two or"),
        pytest.param("if a:", "if (a or b) and c:", "if a and b:", True, id="an or in an and"),
        pytest.param("if a or b:", "if (a or b) and c:", "if a:", False, id="a shorter condition"),
        pytest.param("a = f(b)", "a = f(b) + 8", "a = f(b) * 2", True, id="a sum and a product"),
        pytest.param("a = f(b)", "a = g(f(b))", "a = h(f(b))", True, id="two calls"),
        pytest.param("a = f(b)", "a = f(b).float()", "a = f(b).squeeze(0)", True, id="two methods of it"),
        pytest.param("a = f(b)", "a = g(f(b))", "a = h(b)", False, id="a call and another function"),
        pytest.param("if a and b:", "if a and b and c:", "if not (a and b):", True, id="a third operand and not"),
        pytest.param("if a or b:", "if a or b or c:", "if (a or b) and d:", True, id="a third operand and another"),
        pytest.param("if a and b:", "if (a and b) and c:", "if d and (a and b):", False, id="two and around two"),
        pytest.param("x = a", "x = a or b", "x = a or c", True, id="the first true value"),
    ],
)
def test_what_both_sides_put_around_one_expression_is_a_question(
    base: str, one: str, other: str, is_asked: bool, is_omnis: bool
) -> None:
    tail = "\n        c()" if base.endswith(":") else ""
    sides = (step(text + tail) for text in (base, *((one, other) if is_omnis else (other, one))))
    kinds = [decision.reason.kind for decision in merge(Triple(*sides)).decisions]
    assert kinds == (["both put more around"] if is_asked else [])


def appended(text: str, *, also: str = "") -> Merged:
    """``text`` with a last element of omni's in its brackets, upstream's merged into it, which has another one."""
    omni, upstream = (text.replace("rows", f"rows, {side}{also}") for side in ("mine", "theirs"))
    return merge(Triple(text, omni, upstream))


@pytest.mark.parametrize(
    "text",
    [
        "pack(ids, rows)\n",
        "a = self.pack(ids, rows)\n",
        "if pack(ids, rows, k=1):\n    f()\n",
        "f(g(ids, *rows))\n",
        "a = torch.max(ids, rows)\n",
        "union(ids, rows)\n",
    ],
)
def test_arguments_without_names_that_both_sides_add_at_one_place_are_a_question(text: str) -> None:
    result = appended(text)
    assert "rows, theirs, mine" in result.text
    assert [item.reason.kind for item in result.decisions] == ["both added an argument"]


@pytest.mark.parametrize(
    ("text", "also"),
    [
        pytest.param("a = [ids, rows]\n", "", id="a list"),
        pytest.param("a = (ids, rows)\n", "", id="a tuple"),
        pytest.param("a = {ids, rows}\n", "", id="a set"),
        pytest.param("a = {ids: 1, 'k': rows}\n", ": 1", id="a dictionary"),
        pytest.param("from a import (ids, rows)\n", "", id="names of an import"),
        pytest.param("def run(ids, rows):\n    pass\n", "", id="parameters"),
        pytest.param("class Run(ids, rows):\n    pass\n", "", id="bases"),
        pytest.param("pack(ids, rows)\n", "=1", id="keywords"),
        pytest.param("a = self.State(ids, rows)\n", "", id="fields of a record"),
        pytest.param("pack([ids, rows])\n", "", id="a list that is an argument"),
        pytest.param("a = max(ids, rows)\n", "", id="the largest of them"),
        pytest.param("a = self.known.union(ids, rows)\n", "", id="all of them"),
    ],
)
def test_elements_of_which_each_says_what_it_is_are_none(text: str, also: str) -> None:
    result = appended(text, also=also)
    assert f"theirs{also}" in result.text
    assert "mine" in result.text
    assert result.decisions == ()


def test_an_argument_that_both_sides_add_is_no_question() -> None:
    base = "pack(ids, rows)\nstart()\n"
    both = base.replace("rows", "rows, mine")
    assert merge(Triple(base, both, both.replace("start()", "stop()"))).decisions == ()


@pytest.mark.parametrize(
    ("head", "body"),
    [
        pytest.param("lambda a, b", "total", id="two parameters"),
        pytest.param("lambda a, b=lambda c, d: c", "total", id="one in another"),
        pytest.param("lambda", "total", id="none"),
    ],
)
def test_a_lambda_in_brackets_becomes_no_tuple(head: str, body: str) -> None:
    """Not even where the other elements of the call end in a comma behind the same word."""
    base = f"out = run(({head}: {body}), {body},)\n"
    omni, upstream = base.replace("), total", "), omni, total"), base.replace("total,)", "total, u=1)")
    called = ast.parse(merge(Triple(base, omni, upstream)).text).body[0].value  # type: ignore[attr-defined]
    assert isinstance(called.args[0], ast.Lambda)
    assert [ast.unparse(argument) for argument in called.args[1:]] == ["omni", "total"]
