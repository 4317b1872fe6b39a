"""A call of upstream's that omni makes by another function: whether a change of its arguments is a question."""

from __future__ import annotations

import pytest

from runner_sync.merge import PORT, merge
from runner_sync.model import Triple

SOURCES = """def run(self, rows):
    step, ids = self.begin(rows)
    if self.cached:
        staged, outputs = self.sources(
            {},
        )
    self.send(outputs)
"""
OLD = SOURCES.format("hidden=rows, staged=staged")
NEW = SOURCES.format("staged=staged, step=step, ids=ids")
OWN = """def run(self, rows):
    step, ids = self.begin(rows)
    outputs = None
    if self.own_cache:
        {}
    self.send(outputs)
"""


@pytest.mark.parametrize(
    ("own", "is_asked"),
    [
        pytest.param("outputs = self.fetch(step, list(ids))", False, id="gives both"),
        pytest.param("outputs = self.fetch(step)", True, id="gives one of two"),
        pytest.param("outputs = self.fetch(rows, step, list(ids))", True, id="gives what upstream no longer does"),
        pytest.param("found, outputs = self.fetch(step, list(ids))", True, id="sets another name, too"),
        pytest.param("found = self.fetch(step, list(ids))", True, id="sets another name"),
        pytest.param("outputs = step, ids", True, id="is no call"),
    ],
)
def test_arguments_that_omni_gives_to_a_call_of_its_own(own: str, is_asked: bool) -> None:
    """`_prefix_cache_materialize` of vllm-omni 0.32.0rc1 gets the step that the twin newly gives to a helper."""
    omni = OWN.format(own)
    result = merge(Triple(OLD, omni, NEW), policy=PORT)
    assert result.text == omni
    assert [item.reason.kind for item in result.decisions] == ["removed statement changed"] * is_asked


def test_another_value_is_a_question() -> None:
    new = NEW.replace("step=step", "step=self.step + 1")
    (asked,) = merge(Triple(OLD, OWN.format("outputs = self.fetch(step, list(ids))"), new), policy=PORT).decisions
    assert "step=self.step + 1" in asked.upstream
