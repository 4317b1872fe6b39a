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


@pytest.mark.parametrize(
    ("shared", "is_asked"),
    [
        pytest.param("outputs = self.empty(rows)", False, id="a call that both have as well"),
        pytest.param("outputs = self.empty(rows, 1)", True, id="a second one of its own"),
    ],
)
def test_a_call_that_omni_shares_with_upstream_is_not_in_the_place_of_another(shared: str, is_asked: bool) -> None:
    early = "    if not rows:\n        {}\n        return outputs\n    if self.cached:"
    old, new = (text.replace("    if self.cached:", early.format("outputs = self.empty(rows)")) for text in (OLD, NEW))
    own = OWN.format("outputs = self.fetch(step, list(ids))").replace("    outputs = None\n", "")
    omni = own.replace("    if self.own_cache:", early.format("outputs = self.empty(rows)"), 1)
    omni = omni.replace("    if self.cached:", "    if self.own_cache:")
    if is_asked:
        omni = omni.replace("    self.send(outputs)", f"    {shared}\n    self.send(outputs)")
    result = merge(Triple(old, omni, new), policy=PORT)
    assert result.text == omni
    assert [item.reason.kind for item in result.decisions] == ["removed statement changed"] * is_asked
