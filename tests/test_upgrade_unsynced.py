"""Conditions and wrappers that came in as newer than a copy: one question about what hangs together."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import pytest

from runner_sync.lineage import Origin
from runner_sync.model import BaseRef, ReviewItem
from runner_sync.profile import NPU
from runner_sync.upgrade.base import Base
from runner_sync.upgrade.draft import Draft, Stage
from runner_sync.upgrade.from_upstream.unsynced import ask_about_unsynced
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.revision import ModuleRevision

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
    made = "".join(textwrap.indent(textwrap.dedent(text), " " * 8) for text in came)
    reviews = questions_about(made, *(text for text in (*came, left_out) if text))
    return [(item.chosen.split("\n")[0], item.reason.rpartition("omni had removed it")[2]) for item in reviews]


def asked_about(made: str, *unsynced: str) -> list[tuple[str, int]]:
    """What each question shows, and its line, where the text has got ``made`` and ``unsynced`` may have come in."""
    return [(item.chosen, item.line) for item in questions_about(made, *unsynced)]


def questions_about(came: str, *unsynced: str) -> Sequence[ReviewItem]:
    made = BEFORE + came
    draft = Draft("Runner.update", (Stage(BEFORE), Stage(made, "upstream")), "copy", "updated")
    ref = BaseRef("vllm-ascend", "1.0", "runner.py", "Runner.update", "inferred", 0.9)
    side = ModuleRevision("1.0", made, "runner.py")
    base = Base(ref, side, Origin("1.0", made, 0.9, frozenset()), "copy", BEFORE, unsynced)
    return ask_about_unsynced(draft, ModuleJob(NPU, NPU.modules[0], "runner.py", BEFORE), base).reviews


IS_SPARSE = "is_sparse = self.config.is_sparse"


@pytest.mark.parametrize(
    ("came", "questions"),
    [
        ((FIRST,), [(IS_SPARSE, "")]),
        ((FIRST, SECOND), [(IS_SPARSE, "; 1 more below depends on it")]),
        ((FIRST, SECOND, THIRD), [(IS_SPARSE, "; 2 more below depend on it")]),
        ((FIRST, OTHER), [(IS_SPARSE, ""), ("if self.traces is not None:", "")]),
        (
            (FIRST, OTHER, THIRD),
            [(IS_SPARSE, "; 1 more below depends on it"), ("if self.traces is not None:", "")],
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


EARLY = "        if self.traces is not None:\n            self.traces.begin()\n"
LATE = "        if self.traces is not None:\n            self.traces.wait()\n            self.traces.clear()\n"


def test_a_condition_that_upstream_split_since_is_asked_about_at_each_part() -> None:
    parts = [(textwrap.dedent(EARLY).rstrip(), 6), (textwrap.dedent(LATE).rstrip(), 9)]
    assert asked_about(EARLY + "        self.count(rows)\n" + LATE, OTHER) == parts


@pytest.mark.parametrize(
    ("came", "is_asked"),
    [
        pytest.param(OTHER.replace("clear()", "clear(rows)"), True, id="the suite"),
        pytest.param(OTHER.replace("traces", "kept"), False, id="both"),
    ],
)
def test_a_condition_that_upstream_changed_since_is_asked_about(came: str, is_asked: bool) -> None:
    """The block for encoder producers of vllm-ascend 0.12.0rc1, where 0.14.0rc1 keeps what its ``with`` gives."""
    assert asked_about(came, OTHER) == [(textwrap.dedent(came).rstrip(), 6)] * is_asked


def test_a_condition_that_omni_had_is_no_question_wherever_else_it_came(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("test_upgrade_unsynced.BEFORE", BEFORE + OTHER.replace("clear", "begin"))
    assert asked_about(OTHER.replace("clear()", "clear(rows)"), OTHER) == []


def test_a_condition_that_came_whole_is_asked_about_once() -> None:
    assert [text for text, _ in asked_about(EARLY + OTHER, OTHER)] == [textwrap.dedent(OTHER)]


def test_a_condition_with_what_it_reads_is_asked_about_as_it_was() -> None:
    assert [text for text, _ in asked_about(FIRST + EARLY, FIRST)] == [textwrap.dedent(FIRST)]


WRAPPER = """\
        try:
            ...
        finally:
            if self.pool is not None:
                self.pool.release()
"""


def test_a_wrapper_is_asked_about_with_what_it_wraps_here() -> None:
    came = WRAPPER.replace("...", "self.omni(rows)")
    own = "        try:\n            self.own(rows)\n        finally:\n            self.close()\n"
    assert asked_about(own + came, WRAPPER) == [(textwrap.dedent(came).strip(), 10)]


@pytest.mark.parametrize(
    "came",
    [
        pytest.param("", id="it did not come in"),
        pytest.param(
            "        try:\n            self.omni(rows)\n        finally:\n            self.close()\n", id="another"
        ),
    ],
)
def test_a_wrapper_that_is_not_there_is_no_question(came: str) -> None:
    assert asked_about(came, WRAPPER) == []
