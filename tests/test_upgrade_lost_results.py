"""A port that returns nothing where NPU returned a value: its question says if nothing keeps that value."""

from __future__ import annotations

import pytest

from runner_sync.upgrade.from_gpu.asking.lost_results import explain

TWIN = """\
def run(self, rows):
    if not rows:
        self.idle = True
        return None
    out = f(rows)
    self.state = State(out)
    return None
"""
WAS, NOW = ["out = f(rows)", "return Output(out)"], ["return None"]
WITHOUT = "def run(self, rows):\n    self.idle = f(rows)\n    return None\n"


@pytest.mark.parametrize(("now", "word"), [(NOW, "return None"), (["g(rows)", "return"], "return")])
def test_a_result_that_nothing_keeps_is_said_to_be_lost(now: list[str], word: str) -> None:
    """``execute_model`` of the generation runner returned its output itself until 0.14.0."""
    twin = TWIN.replace("return None", word)
    end = "; this returned a value before, and this method does not set self.state for later, as the GPU runner does"
    assert explain(WAS, now, after=WITHOUT, twin=twin) == end


@pytest.mark.parametrize(
    ("was", "now", "after", "twin"),
    [
        pytest.param(WAS, NOW, TWIN, TWIN, id="the port keeps it"),
        pytest.param(WAS, NOW, WITHOUT, WITHOUT, id="the twin keeps nothing either"),
        pytest.param(WAS, ["return Other(out)"], WITHOUT, TWIN, id="another value is returned"),
        pytest.param(WAS, [*NOW, "return out"], WITHOUT, TWIN, id="one way still returns a value"),
        pytest.param(["return None"], NOW, WITHOUT, TWIN, id="nothing was returned before"),
        pytest.param(WAS, ["out = f(rows)"], WITHOUT, TWIN, id="the return stands elsewhere"),
    ],
)
def test_nothing_is_said_of_other_returns(was: list[str], now: list[str], after: str, twin: str) -> None:
    assert explain(was, now, after=after, twin=twin) == ""
