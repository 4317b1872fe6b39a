"""The parameters of a function and their defaults."""

from __future__ import annotations

import ast

import pytest

from runner_sync.signatures import defaults_of
from runner_sync.statements import parse_function


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ("a, b=1", {"a": "", "b": "1"}),
        ("a, b=1, /, c=2", {"a": "", "b": "1", "c": "2"}),
        ("a=1, *rest, b, c=None, **more", {"a": "1", "b": "", "c": "None"}),
        ("a, /, *, b", {"a": "", "b": ""}),
        ("*rest, **more", {}),
        ("", {}),
    ],
    ids=["by place", "by place only", "by keyword only", "none has a default", "only the rest", "no parameter"],
)
def test_every_named_parameter_has_its_own_default(parameters: str, expected: dict[str, str]) -> None:
    function = parse_function(f"def run({parameters}):\n    pass\n")
    assert function is not None
    found = defaults_of(function)
    assert {name: "" if default is None else ast.unparse(default) for name, default in found.items()} == expected
    assert [*found] == [*expected]
