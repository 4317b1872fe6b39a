"""Unpackings that follow a record, and tuples that only look like one."""

from __future__ import annotations

import ast

import pytest

from runner_sync.compose.records import fields, fit_unpackings

STATE = {"State": ("output", "logits", "metadata", "common", "hidden", "positions", "stats")}


def method(target: str, value: str = "self.state") -> str:
    return f"    def sample(self):\n        {target} = {value}\n        return logits\n"


LINES = """(
            output,
            logits,
            metadata,
            hidden,  # [Omni]
            positions
        )"""

LINES_COMPLETE = """(
            output,
            logits,
            metadata,
            common,
            hidden,  # [Omni]
            positions,
            stats,
        )"""

FITTED = {
    "in between and behind": (
        "output, logits, metadata, hidden, positions",
        "output, logits, metadata, common, hidden, positions, stats",
    ),
    "in brackets": (
        "(output, logits, metadata, common, positions, stats)",
        "(output, logits, metadata, common, hidden, positions, stats)",
    ),
    "with a name that is not used": (
        "output, logits, _metadata, common, hidden, positions",
        "output, logits, _metadata, common, hidden, positions, stats",
    ),
    "on lines of their own": (LINES, LINES_COMPLETE),
}

LEFT = {
    "complete": "output, logits, metadata, common, hidden, positions, stats",
    "another order": "logits, output, metadata, common, hidden",
    "another name": "output, logits, metadata, common, extra",
    "too few to tell": "output, logits, metadata",
    "with a star": "output, logits, metadata, common, *rest",
}


@pytest.mark.parametrize("name", FITTED)
def test_an_unpacking_takes_the_new_fields(name: str) -> None:
    before, after = FITTED[name]
    fitted = fit_unpackings(method(before), STATE)
    assert fitted is not None
    assert fitted.text == method(after)
    assert fitted.record == "State"
    assert fitted.statement.strip().startswith(after[:6])
    ast.parse("class _:\n" + fitted.text)
    assert fit_unpackings(fitted.text, STATE) is None


@pytest.mark.parametrize("name", LEFT)
def test_other_tuples_are_left_alone(name: str) -> None:
    assert fit_unpackings(method(LEFT[name]), STATE) is None


def test_only_attributes_of_self_are_records() -> None:
    assert fit_unpackings(method("output, logits, metadata, common, hidden", "self.take_state()"), STATE) is None


def test_fields_of_a_record() -> None:
    text = "class State(NamedTuple):\n    'What is handed over.'\n    output: int\n    stats: int | None = None\n"
    assert fields(text, "State") == ("output", "stats")
    assert fields(text, "Other") == ()
