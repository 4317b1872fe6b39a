"""A keyword that omni's call gives in a mapping is not given once more by name."""

from __future__ import annotations

import pytest
from merge_samples import kinds

from runner_sync.merge import merge
from runner_sync.model import Triple

BASE = "def f(self, rows):\n    return Output(ids=rows, stats=self.stats)\n"
UPSTREAM = BASE.replace("self.stats)", "self.stats, routed=None)")


@pytest.mark.parametrize(
    ("name", "kind"), [("Output", "both changed a part"), ("OmniOutput", "removed statement changed")]
)
def test_a_keyword_that_a_mapping_may_give_is_left_out_and_asked_about(name: str, kind: str) -> None:
    """``ModelRunnerOutput(…)`` in ``sample_tokens`` of vllm-ascend 0.20.2rc1."""
    omni = BASE.replace("Output(", f"{name}(").replace("stats)", 'stats, **({} if old() else {"routed": self.routed}))')
    result = merge(Triple(BASE, omni, UPSTREAM))
    assert (result.text, kinds(result)) == (omni, [kind])


@pytest.mark.parametrize("mapping", ['{"other": 1}', "more", "{**more}"])
def test_a_mapping_without_that_key_is_no_obstacle(mapping: str) -> None:
    omni = BASE.replace("Output(", "OmniOutput(").replace("stats)", f"stats, **{mapping})")
    assert "routed=None" in merge(Triple(BASE, omni, UPSTREAM)).text
