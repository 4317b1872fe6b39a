"""Questions about what omni moved into a block of its own, and upstream replaced outside of that block."""

from __future__ import annotations

import pytest

from runner_sync.merge import PORT, Decision, merge
from runner_sync.model import Triple

OLD = '    if hasattr(self.model, "flush"):\n        self.model.flush(list(ids))\n'
NEW = '    flush = getattr(self.model, "flush", None)\n    if callable(flush):\n        flush(ids[:n])\n'
NEEDS_OUTPUT = NEW.replace("ids[:n]", "ids[:n], output")
"""This form cannot stand in omni's block, where nothing has set what it reads."""

UNIT = "def run(self, batch):\n{}{}{}    return output\n"
MODEL, POST = "    output = self.model(batch)\n", "    output = self.post(output)\n"
BASE = UNIT.format(MODEL, OLD, POST)


def _indent(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


OMNI = UNIT.format("    hidden = self.npu_model(pad, batch)\n", "    with self.after():\n", _indent(OLD + POST))


def _asked(omni: str, upstream: str) -> list[Decision]:
    """Return the questions of a port about a replacement outside of a block."""
    decisions = merge(Triple(BASE, omni, upstream), policy=PORT).decisions
    return [asked for asked in decisions if asked.reason.kind == "replaced outside of a block"]


def test_a_replacement_that_stands_in_front_of_omnis_block_is_asked_about() -> None:
    (asked,) = _asked(OMNI, UNIT.format(MODEL, NEEDS_OUTPUT, POST))
    assert asked.reason.names == ("with self.after()",)
    assert _indent(asked.omni) == OLD
    assert _indent(asked.upstream) == NEEDS_OUTPUT
    assert asked.chosen == 'flush = getattr(self.model, "flush", None)'


def test_a_replacement_that_is_left_out_with_its_block_is_asked_about() -> None:
    """A new ``try`` around statements of another form does not come, and omni's flush was lost with it."""
    upstream = UNIT.format("    try:\n", _indent(MODEL + NEW), f"    finally:\n        self.unset()\n{POST}")
    (asked,) = _asked(OMNI, upstream)
    assert _indent(asked.omni) == OLD
    assert _indent(asked.upstream) == NEW
    assert not asked.chosen


@pytest.mark.parametrize(
    ("omni", "upstream"),
    [
        pytest.param(OMNI, UNIT.format(MODEL, NEW, POST), id="the replacement stands in the block"),
        pytest.param(OMNI, UNIT.format(MODEL, "", POST), id="removed without a replacement"),
        pytest.param(OMNI, UNIT.format(MODEL, "    self.log(batch)\n", POST), id="nothing of it in what was added"),
        pytest.param(
            UNIT.format("    hidden = self.npu_model(batch)\n", OLD, POST), UNIT.format(MODEL, NEW, POST), id="no block"
        ),
        pytest.param(OMNI, UNIT.format(MODEL, OLD.replace("list(ids)", "ids[:n]"), POST), id="changed in place"),
    ],
)
def test_no_question_about_a_block(omni: str, upstream: str) -> None:
    assert not _asked(omni, upstream)
