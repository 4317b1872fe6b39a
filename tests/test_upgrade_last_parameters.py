"""A parameter that a port adds stands behind those that vllm-ascend's callers may pass by place."""

from __future__ import annotations

import pytest

from runner_sync.statements import parses
from runner_sync.upgrade.from_gpu.merging.last_parameters import put_new_parameters_last

BEFORE = "    def run(self, total, profile=0):\n        pass\n"


def check(text: str, expected: str, before: str = BEFORE) -> None:
    made = put_new_parameters_last(text, before)
    assert made == expected
    assert parses(made)
    assert put_new_parameters_last(made, before) == made


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("total, talker=0, profile=0", "total, profile=0, talker=0", id="one"),
        pytest.param("total, a=0, b=1, profile=0", "total, profile=0, a=0, b=1", id="two"),
        pytest.param("total, talker=0, profile=0, **rest", "total, profile=0, talker=0, **rest", id="before others"),
        pytest.param("total, talker=0, profile=0, *, key", "total, profile=0, talker=0, *, key", id="before keywords"),
        pytest.param(
            "total, talker: bool = False, profile: int = 0",
            "total, profile: int = 0, talker: bool = False",
            id="with hints",
        ),
        pytest.param(
            "\n        total,\n        talker={},  # new\n        profile=0,\n    ",
            "\n        total,\n        profile=0,\n        talker={},  # new\n    ",
            id="on lines",
        ),
        pytest.param(
            "\n        total,  # all\n        talker=(1, 2),  # new\n        profile=0  # last\n    ",
            "\n        total,  # all\n        profile=0,  # last\n        talker=(1, 2)  # new\n    ",
            id="with comments",
        ),
    ],
)
def test_a_new_parameter_comes_last(text: str, expected: str) -> None:
    check(*(f"    def run(self, {parameters}):\n        pass\n" for parameters in (text, expected)))


@pytest.mark.parametrize(
    "parameters",
    [
        pytest.param("total, profile=0", id="nothing new"),
        pytest.param("total, profile=0, talker=0", id="last already"),
        pytest.param("total, talker, profile=0", id="without a default"),
        pytest.param("total, profile=0, *, talker=0", id="by keyword only"),
        pytest.param("profile, talker=0, total=0", id="old ones in another order"),
        pytest.param("total, talker=0", id="an old one is gone"),
        pytest.param("total, /, talker=0, profile=0", id="by place only"),
    ],
)
def test_noop_places_that_are_right_or_cannot_be_told(parameters: str) -> None:
    text = f"    def run(self, {parameters}):\n        pass\n"
    check(text, text)


def test_noop_no_function() -> None:
    check("    rows = 1\n", "    rows = 1\n")
