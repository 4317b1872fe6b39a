"""An inlined helper speaks of the arguments that its caller passes."""

from __future__ import annotations

import ast

import pytest

from runner_sync.upgrade.from_gpu.twin.arguments import with_arguments


def body(params: str, call: str, *lines: str) -> list[str]:
    """The body of a helper with these parameters and lines, once it is inlined for ``call``."""
    helper = f"    def _build(self{params}):\n" + "".join(f"        {line}\n" for line in lines)
    tree = ast.parse(call, mode="eval").body
    assert isinstance(tree, ast.Call)
    made = with_arguments(helper, tree)
    ast.parse("class R:\n" + made)
    return [line.strip() for line in made.split("\n")[1:-1]]


@pytest.mark.parametrize(
    ("params", "call", "made"),
    [
        pytest.param(", rows", "self._build(rows)", ["keep(rows)"], id="the same name"),
        pytest.param(", rows", "self._build(lines)", ["keep(lines)"], id="another name"),
        pytest.param(", rows", "self._build(rows=self.lines)", ["keep(self.lines)"], id="an attribute, by keyword"),
        pytest.param(", /, rows", "self._build(lines)", ["keep(lines)"], id="behind positional-only ones"),
        pytest.param(", *, rows", "self._build(rows=lines)", ["keep(lines)"], id="keyword only"),
        pytest.param(", rows", "self._build(a + b)", ["rows = a + b", "keep(rows)"], id="an expression"),
        pytest.param(", rows=None", "self._build()", ["rows = None", "keep(rows)"], id="a default"),
        pytest.param(", *, rows=0", "self._build()", ["rows = 0", "keep(rows)"], id="a default of a keyword"),
        pytest.param(", rows=None", "self._build(*lines)", ["keep(rows)"], id="noop: with a star"),
        pytest.param(", rows=None", "self._build(**lines)", ["keep(rows)"], id="noop: with two stars"),
        pytest.param(", rows", "self._build()", ["keep(rows)"], id="noop: not passed"),
    ],
)
def test_each_parameter_is_bound(params: str, call: str, made: list[str]) -> None:
    assert body(params, call, "keep(rows)") == made


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(["rows = sorted(rows)"], id="the body assigns the parameter"),
        pytest.param(["lines = 1", "keep(rows, lines)"], id="the body has a local of the argument's name"),
        pytest.param(["keep(f'{rows}')"], id="in an f-string"),
        pytest.param(["keep(lambda: rows)"], id="in a nested function"),
    ],
)
def test_where_an_argument_cannot_replace_its_parameter_it_is_assigned(lines: list[str]) -> None:
    assert body(", rows", "self._build(lines)", *lines) == ["rows = lines", *lines]


def test_an_assignment_stands_below_the_docstring() -> None:
    assert body(", n=2", "self._build()", '"""Doc."""', "keep(n)") == ['"""Doc."""', "n = 2", "keep(n)"]


def test_noop_without_a_call() -> None:
    helper = "    def _build(self, rows):\n        keep(rows)\n"
    assert with_arguments(helper, None) == helper
