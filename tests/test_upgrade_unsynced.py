"""Conditions that came in as newer than a copy: one question about what hangs together."""

from __future__ import annotations

import textwrap

import pytest

from runner_sync.lineage import Origin
from runner_sync.model import BaseRef
from runner_sync.profile import NPU
from runner_sync.upgrade.base import Base
from runner_sync.upgrade.draft import Draft, Stage
from runner_sync.upgrade.from_upstream.unsynced import asking_about_unsynced
from runner_sync.upgrade.job import ModuleJob, ModuleRevision

BEFORE = """    def update(self, rows):
        self.begin(rows)
        for row in rows:
            self.add(row)
        self.end(rows)
"""
FIRST = """\
        is_sparse = self.config.is_sparse
        if is_sparse:
            sparse_rows: list[Row] = []
"""
SECOND = """\
            if is_sparse:
                sparse_rows.append(row)
"""
OTHER = """\
        if self.traces is not None:
            self.traces.clear()
"""
THIRD = """\
        if sparse_rows:
            self.flush(sparse_rows)
"""


def asked(*came: str, left_out: str = "") -> list[tuple[str, str]]:
    """The first line and the last words of each question, where ``came`` and not what is ``left_out``."""
    made = BEFORE + "".join(textwrap.indent(textwrap.dedent(text), " " * 8) for text in came)
    draft = Draft("Runner.update", (Stage(BEFORE), Stage(made, "upstream")), "copy", "updated")
    texts = tuple(text for text in (*came, left_out) if text)
    ref = BaseRef("vllm-ascend", "1.0", "runner.py", "Runner.update", "inferred", 0.9)
    side = ModuleRevision("1.0", made, "runner.py")
    base = Base(ref, side, Origin("1.0", made, 0.9, frozenset()), "copy", BEFORE, texts)
    reviews = asking_about_unsynced(draft, ModuleJob(NPU, NPU.modules[0], "runner.py", BEFORE), base).reviews
    return [(item.chosen.split("\n")[0], item.reason.rpartition("omni had removed it")[2]) for item in reviews]


IS_SPARSE = "is_sparse = self.config.is_sparse"


@pytest.mark.parametrize(
    ("came", "questions"),
    [
        ((FIRST,), [(IS_SPARSE, "")]),
        ((FIRST, SECOND), [(IS_SPARSE, ", with 1 more below that hangs on it")]),
        ((FIRST, SECOND, THIRD), [(IS_SPARSE, ", with 2 more below that hang on it")]),
        ((FIRST, OTHER), [(IS_SPARSE, ""), ("if self.traces is not None:", "")]),
        (
            (FIRST, OTHER, THIRD),
            [(IS_SPARSE, ", with 1 more below that hangs on it"), ("if self.traces is not None:", "")],
        ),
    ],
    ids=["one", "two", "three", "of two things", "of two things in turns"],
)
def test_what_reads_a_local_of_a_condition_is_asked_about_with_it(
    came: tuple[str, ...], questions: list[tuple[str, str]]
) -> None:
    assert asked(*came) == questions


def test_what_did_not_come_in_is_no_question() -> None:
    assert asked(FIRST, left_out=OTHER) == [(IS_SPARSE, "")]
