"""A call that one side made one of another function, of which the other side changed the arguments."""

from __future__ import annotations

import pytest

from runner_sync.merge import merge
from runner_sync.model import Triple

BASE = """def run(self):
    self.memory = request(rows, cache)
    return self.memory
"""
ANOTHER = ("request(", "request_tolerant(")
MORE = ("cache)", "cache, weights)")


def asked(omni: tuple[str, str], upstream: tuple[str, str], base: str = BASE) -> tuple[str, list[tuple[str, ...]]]:
    """The merged text, and the functions that a question of this kind names."""
    result = merge(Triple(base, base.replace(*omni), base.replace(*upstream)))
    kinds = [item.reason.names for item in result.decisions if item.reason.kind == "arguments of another call"]
    return result.text, kinds


@pytest.mark.parametrize(
    "more",
    [
        pytest.param(MORE, id="one more"),
        pytest.param(("cache)", "cache, weights=weights)"), id="a keyword"),
        pytest.param(("rows, cache", "rows"), id="one less"),
    ],
)
@pytest.mark.parametrize("is_omnis", [True, False], ids=["omni calls another", "upstream calls another"])
def test_arguments_that_come_to_another_call_are_a_question(more: tuple[str, str], is_omnis: bool) -> None:
    """Found in vllm-omni 0.30.0 on vLLM 0.32.0: `request_memory_tolerant` is omni's, and takes two arguments."""
    text, names = asked(*((ANOTHER, more) if is_omnis else (more, ANOTHER)))
    assert BASE.replace(*ANOTHER).replace(*more) == text
    assert names == [("request_tolerant",)]


@pytest.mark.parametrize(
    ("omni", "upstream", "base"),
    [
        pytest.param(("rows, c", "row, c"), MORE, BASE, id="both give other values to one function"),
        pytest.param(("request(rows, cache)", "keep(request(rows, cache))"), MORE, BASE, id="a call around it"),
        pytest.param(ANOTHER, ("rows,", "lines,"), BASE, id="another value"),
        pytest.param(
            ANOTHER, ("size(rows)", "size(rows, 1)"), BASE.replace("rows,", "size(rows),"), id="a call inside"
        ),
    ],
)
def test_other_changes_of_a_call_are_none(omni: tuple[str, str], upstream: tuple[str, str], base: str) -> None:
    assert asked(omni, upstream, base) == (base.replace(*omni).replace(*upstream), [])


CONFLICT = """def run(self):
    merged, left = self._merged(rows, staged, kept)
    return merged, left
"""


@pytest.mark.parametrize("is_omnis", [True, False], ids=["omni calls another", "upstream calls another"])
def test_of_two_calls_with_other_arguments_one_stands_whole(is_omnis: bool) -> None:
    """vllm-omni 504698de calls a new helper by keywords, where NPU had left out one argument of the old call."""
    fewer = CONFLICT.replace("rows, staged, kept", "rows, kept")
    another = CONFLICT.replace("self._merged(rows, staged, kept)", "self._sources(rows=rows, staged=staged, kept=kept)")
    sides = (another, fewer) if is_omnis else (fewer, another)
    result = merge(Triple(CONFLICT, *sides))
    assert result.text in sides
    assert [item.reason.kind for item in result.decisions] == ["both changed a part"]


WRAPS = pytest.mark.parametrize("is_omnis", [True, False], ids=["omni wraps", "upstream wraps"])


def wrapped(statement: str, inner: str, more: str, *, is_omnis: bool) -> tuple[str, list[str], list[str]]:
    """The merged text, both sides, and the kinds of the questions; ``…`` stands for the arguments of a call."""
    base, *sides = (f"def run(self):\n    {statement}\n".replace("…", new) for new in ("rows", inner, more))
    result = merge(Triple(base, *(sides if is_omnis else sides[::-1])))
    return result.text, sides, [item.reason.kind for item in result.decisions]


@WRAPS
@pytest.mark.parametrize(
    ("inner", "more"),
    [
        pytest.param("gather(rows)", "rows, meta=meta", id="a keyword"),
        pytest.param("gather(rows)", "rows, **more", id="a mapping"),
        pytest.param("list(rows)", "rows, total", id="an argument"),
        pytest.param("rows[0]", "rows, meta=meta", id="an element"),
    ],
)
@pytest.mark.parametrize(
    "statement",
    [
        "logits = self.compute(…)",
        "return self.compute(…).float()",
        "self.logits = self.compute(…)",
        "if self.compute(…):\n        self.note()",
        "for row in self.compute(…):\n        self.note()",
        "with self.compute(…):\n        self.note()",
        "logits = keep(self.compute(…), size)",
    ],
)
def test_a_new_argument_stays_with_its_call(statement: str, inner: str, more: str, is_omnis: bool) -> None:
    """The new brackets of `gather(rows)` look like the old ones of `compute(rows)`."""
    text, _, kinds = wrapped(statement, inner, more, is_omnis=is_omnis)
    assert (text, kinds) == (f"def run(self):\n    {statement}\n".replace("…", more.replace("rows", inner)), [])


@WRAPS
@pytest.mark.parametrize(
    ("inner", "more"),
    [
        pytest.param("list(rows)", "total, rows", id="an argument in front"),
        pytest.param("list(rows)", "*rows", id="a star"),
        pytest.param("list(rows)", "lines, total", id="another value, too"),
    ],
)
def test_a_changed_argument_whose_place_is_unclear_is_a_question(inner: str, more: str, is_omnis: bool) -> None:
    text, sides, kinds = wrapped("logits = self.compute(…)", inner, more, is_omnis=is_omnis)
    assert text in sides
    assert kinds == ["both changed a part"]


@WRAPS
@pytest.mark.parametrize(
    ("more", "kinds"),
    [
        pytest.param("rows, n=len(rows)", ["both changed a part"], id="a keyword reads the value"),
        pytest.param("rows, rows.shape[0]", ["both changed a part"], id="an argument reads the value"),
        pytest.param("rows, n=len(lines)", [], id="it reads another one"),
        pytest.param("rows, n=self.rows", [], id="it reads an attribute"),
    ],
)
def test_a_new_argument_that_reads_the_changed_value_is_a_question(more: str, kinds: list[str], is_omnis: bool) -> None:
    """``n=len(rows)`` may have to be ``n=4`` behind ``rows[:4]``."""
    text, _, asked_for = wrapped("logits = self.compute(…)", "rows[:4]", more, is_omnis=is_omnis)
    assert text == f"def run(self):\n    logits = self.compute({more.replace('rows', 'rows[:4]', 1)})\n"
    assert asked_for == kinds


def test_a_comment_on_a_changed_value_stays_or_is_shown() -> None:
    base = "def run(self):\n    out = f(a)\n    return out\n"
    sides = [base.replace("f(a)", new) for new in ("f(\n        # own\n        g(a),\n    )", "f(a, m=1)")]
    assert "# own" in merge(Triple(base, *sides)).text
    (item,) = merge(Triple(base, *sides[::-1])).decisions
    assert "# own" in item.upstream


@pytest.mark.parametrize("is_omnis", [True, False], ids=["omni unwraps", "upstream unwraps"])
def test_an_argument_of_a_removed_call_does_not_go_to_the_call_around_it(is_omnis: bool) -> None:
    base = "def go(self):\n    out = run(find(rows))\n    return out\n"
    sides = [base.replace("find(rows)", new) for new in ("rows", "find(rows, 1)")]
    result = merge(Triple(base, *(sides if is_omnis else sides[::-1])))
    assert result.text in sides
    assert [item.reason.kind for item in result.decisions] == ["both changed a part"]


@pytest.mark.parametrize(
    ("own", "new", "made"),
    [
        pytest.param("gather(a), b", "a, b, meta=m", "gather(a), b, meta=m", id="wrapped before another"),
        pytest.param("a, b, own=t", "a, b, meta=m", "a, b, meta=m, own=t", id="both add a keyword"),
        pytest.param("a, c", "a, b, meta=m", "a, c, meta=m", id="another value"),
    ],
)
def test_arguments_of_one_call_merge(own: str, new: str, made: str) -> None:
    base, *sides, wanted = (f"def run(self):\n    out = compute({value})\n" for value in ("a, b", own, new, made))
    result = merge(Triple(base, *sides))
    assert result.text == wanted
    assert not result.decisions
