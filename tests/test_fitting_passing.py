"""A parameter that a method newly requires reaches it from every call."""

from __future__ import annotations

import textwrap

import pytest

from runner_sync.fitting.passing import add_parameter, has_call_without, has_local, newly_required, pass_local

BEFORE = "    def forward(self, ids, rows=None, **more):\n        return ids\n"
NOW = "    def forward(self, padded: int, ids=None, rows=None, **more):\n        return ids[:padded]\n"
(PADDED,) = newly_required("forward", BEFORE, NOW)


def method(body: str) -> str:
    return "    def run(self, padded, ids, x):\n" + textwrap.indent(body, " " * 8)


@pytest.mark.parametrize(
    ("before", "now", "names"),
    [
        pytest.param(BEFORE, NOW, ["padded"], id="a new first one"),
        pytest.param(BEFORE, BEFORE.replace("ids,", "ids, *, padded,"), ["padded"], id="by keyword only"),
        pytest.param(BEFORE, BEFORE.replace("rows=None", "rows=None, padded=0"), [], id="with a default"),
        pytest.param(NOW, NOW.replace("ids=None", "ids"), [], id="taken before, required now"),
        pytest.param(BEFORE.replace("ids,", "*ids,"), NOW, [], id="it took anything by place"),
        pytest.param("    forward = None\n", NOW, [], id="it was no function"),
    ],
)
def test_what_is_newly_required(before: str, now: str, names: list[str]) -> None:
    assert [parameter.name for parameter in newly_required("forward", before, now)] == names


PASSED = {
    "in a dictionary that is empty": (
        "given = {}\nreturn self.forward(**given)\n",
        'given = {"padded": padded}\nreturn self.forward(**given)\n',
    ),
    "in front of what stands behind it": (
        "return self.forward(ids=ids, rows=x)\n",
        "return self.forward(padded=padded, ids=ids, rows=x)\n",
    ),
    "on a line of its own": (
        "return self.forward(\n    ids=ids,\n)\n",
        "return self.forward(\n    padded=padded,\n    ids=ids,\n)\n",
    ),
    "in the dictionary that is made for the call": (
        "given = dict(\n    ids=ids,\n    **x,\n)\nreturn self.forward(**given)\n",
        "given = dict(\n    padded=padded,\n    ids=ids,\n    **x,\n)\nreturn self.forward(**given)\n",
    ),
    "in a dictionary in braces": (
        "given = {'rows': x}\nreturn self.forward(**given)\n",
        "given = {\"padded\": padded, 'rows': x}\nreturn self.forward(**given)\n",
    ),
    "in a call that gives nothing": ("return self.forward()\n", "return self.forward(padded=padded)\n"),
    "in brackets behind a blank": ("return self.forward ()\n", "return self.forward (padded=padded)\n"),
    "of a function in brackets": ("return (self.forward)()\n", "return (self.forward)(padded=padded)\n"),
    "behind what is no parameter of it": (
        "return self.forward(other=x)\n",
        "return self.forward(other=x, padded=padded)\n",
    ),
}


@pytest.mark.parametrize("name", PASSED)
def test_a_call_passes_the_local_of_that_name(name: str) -> None:
    before, after = PASSED[name]
    mended = pass_local(method(before), NOW, PADDED)
    assert mended is not None
    assert mended.text == method(after)
    assert "padded" in mended.statement
    assert mended.text.split("\n")[mended.line - 1] == mended.statement.split("\n")[0]
    assert pass_local(mended.text, NOW, PADDED) is None


LEFT = {
    "given by place": "return self.forward(padded, ids)\n",
    "given by keyword": "return self.forward(ids=ids, padded=1)\n",
    "values by a star": "return self.forward(*x)\n",
    "keywords from elsewhere": "return self.forward(**x)\n",
    "a dictionary that others fill": "given = {}\nx(given)\nreturn self.forward(**given)\n",
    "of another object": "return self.model.forward(ids=ids)\n",
    "another method": "return self.forward_all(ids=ids)\n",
}


@pytest.mark.parametrize("name", LEFT)
def test_other_calls_are_left_alone(name: str) -> None:
    assert not has_call_without(method(LEFT[name]), NOW, PADDED)
    assert pass_local(method(LEFT[name]), NOW, PADDED) is None


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        pytest.param("(self, *, ids, x)", "(self, *, padded: int, ids, x)", id="in its order"),
        pytest.param("(self, *, x)", "(self, *, x, padded: int)", id="by keyword only"),
        pytest.param("(self, ids, x=1)", "(self, ids, x=1, *, padded: int)", id="callers by place stay right"),
        pytest.param("(self, *ids)", None, id="takes anything by place"),
        pytest.param("(self, **x)", None, id="takes anything by keyword"),
    ],
)
def test_a_helper_takes_it_by_keyword(head: str, expected: str | None) -> None:
    body = ":\n        return self.forward(ids=1)\n"
    grown = add_parameter(f"    def run{head}{body}", PADDED)
    assert grown == (f"    def run{expected}{body}" if expected else None)


def test_a_call_that_takes_a_generator_without_brackets_is_left() -> None:
    """It takes nothing else, so that the call would be no Python; whoever asks hears that it lacks the parameter."""
    now = "    def forward(self, ids, *, padded: int):\n        return ids[:padded]\n"
    text = method("return self.forward(x for x in ids)\n")
    assert has_call_without(text, now, PADDED)
    assert pass_local(text, now, PADDED) is None
    in_brackets = pass_local(method("return self.forward((x for x in ids))\n"), now, PADDED)
    assert in_brackets is not None
    assert "self.forward((x for x in ids), padded=padded)" in in_brackets.text


def without(body: str) -> str:
    return "    def run(self, ids, rows):\n" + textwrap.indent(body, " " * 8)


UNSET = {
    "set below the call": "out = self.forward(ids=ids)\npadded = len(out)\nreturn padded\n",
    "set in its own statement": "padded = self.forward(ids=ids)\nreturn padded\n",
    "set below the dictionary made for it": "given = {}\npadded = 1\nreturn self.forward(**given)\n",
    "deleted above the call": "padded = 1\ndel padded\nreturn self.forward(ids=ids)\n",
    "given a type and no value": "padded: int\nreturn self.forward(ids=ids)\n",
}
OF_ANOTHER = {
    "the variable of a comprehension": "out = self.forward(ids=ids)\nreturn [padded for padded in rows], out\n",
    "the local of a function in it": "def f():\n    padded = 1\n    f(padded)\nreturn f, self.forward(ids=ids)\n",
    "the parameter of a lambda": "rows.sort(key=lambda padded: padded.size)\nreturn self.forward(ids=ids)\n",
    "the parameter of a function inside": "def size(padded):\n    return padded\nreturn self.forward(ids=ids), size\n",
}


@pytest.mark.parametrize("name", UNSET | OF_ANOTHER)
def test_what_is_not_set_at_the_call_is_not_passed(name: str) -> None:
    text = without((UNSET | OF_ANOTHER)[name])
    assert has_call_without(text, NOW, PADDED)
    assert pass_local(text, NOW, PADDED) is None
    assert has_local(text, "padded") == (name in UNSET)


def test_it_is_passed_in_the_first_call_where_it_is_set() -> None:
    text = without("self.forward(ids=rows)\npadded = len(ids)\nreturn self.forward(ids=ids)\n")
    mended = pass_local(text, NOW, PADDED)
    assert mended is not None
    assert mended.text == text.replace("return self.forward(ids=ids)", "return self.forward(padded=padded, ids=ids)")
    assert pass_local(mended.text, NOW, PADDED) is None


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("padded = len(ids)\nreturn [self.forward(ids=row) for row in rows]\n", id="in a comprehension"),
        pytest.param("for padded in rows:\n    self.forward(ids=ids)\n", id="set by a loop"),
        pytest.param("if rows:\n    padded = 1\nelse:\n    padded = 2\nself.forward(ids=ids)\n", id="in both branches"),
        pytest.param("with self.pad(ids) as padded:\n    self.forward(ids=ids)\n", id="opened"),
        pytest.param("self.keep(lambda: self.forward(ids=ids))\npadded = 1\n", id="read later, in a lambda"),
    ],
)
def test_what_is_set_at_the_call_is_passed(body: str) -> None:
    mended = pass_local(without(body), NOW, PADDED)
    assert mended is not None
    assert "padded=padded" in mended.statement
