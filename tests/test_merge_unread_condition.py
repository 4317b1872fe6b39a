"""A condition that upstream now computes in another way, and that omni does not have: whether it is a question."""

from __future__ import annotations

import pytest

from runner_sync.merge import merge
from runner_sync.model import Triple

TEXT = """def sample(self, rows):
    drafts = self.find_drafts(rows)
    {}
    if is_padded:
        self.propose(drafts)
    return self.send(rows)
"""
OLD = TEXT.format("is_padded = self.drafter and self.drafter.is_eager()")
NEW = TEXT.format("is_padded = self.drafter and (self.drafter.is_eager() or self.drafter.uses_gpu())")
OMNI = "def sample(self, rows):\n    self.keep(rows)\n    return self.send(rows)\n"


def list_kinds(base: str, omni: str, upstream: str) -> list[str]:
    result = merge(Triple(base, omni, upstream))
    assert result.text == omni
    return [item.reason.kind for item in result.decisions]


def test_noop_a_condition_that_nothing_of_omnis_reads_is_no_question() -> None:
    """`use_padded_batch` of vllm-ascend 0.22.1rc1, which the generation runner never had."""
    assert list_kinds(OLD, OMNI, NEW) == []


@pytest.mark.parametrize(
    ("old", "new", "omni"),
    [
        pytest.param(OLD, NEW, OMNI.replace("keep(rows)", "keep(is_padded)"), id="omni reads it"),
        pytest.param(
            TEXT.format("is_padded = self.begin(rows)"),
            TEXT.format("is_padded = self.begin(rows, 1)"),
            OMNI,
            id="a call",
        ),
        pytest.param(
            TEXT.format("self.is_padded = rows and self.a"),
            TEXT.format("self.is_padded = rows and self.b"),
            OMNI,
            id="an attribute",
        ),
        pytest.param(
            TEXT.format("self.begin(rows and self.a)"),
            TEXT.format("self.begin(rows and self.b)"),
            OMNI,
            id="no assignment",
        ),
    ],
)
def test_other_statements_that_omni_does_not_have_are(old: str, new: str, omni: str) -> None:
    assert "removed statement changed" in list_kinds(old, omni, new)


def test_a_condition_that_new_code_of_upstreams_reads_is_part_of_its_question() -> None:
    new = NEW.replace("    return", "    self.skip(is_padded)\n    return")
    (item,) = merge(Triple(OLD, OMNI, new)).decisions
    assert item.reason.kind == "removed part changed"
    assert item.upstream.startswith("is_padded = ")
