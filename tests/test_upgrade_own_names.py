"""A question about a use of what omni does not set tells under which name omni makes it."""

from __future__ import annotations

import pytest

from runner_sync import merge
from runner_sync.merge import Decision, Reason
from runner_sync.upgrade.from_upstream.ascend import OWN_NAME, UNSET_BY_OMNI, _name_omni_form

OWN = {"record": "output"}


@pytest.mark.parametrize(
    ("kind", "name", "detail"),
    [
        pytest.param(UNSET_BY_OMNI, "record", ", but computes in its own form as output", id="the value"),
        pytest.param(UNSET_BY_OMNI, "rows", "", id="another one"),
        pytest.param(OWN_NAME, "record", "", id="another question"),
    ],
)
def test_the_name_that_omni_has_for_it(kind: merge.Kind, name: str, detail: str) -> None:
    """``model_runner_output`` of vllm-ascend 0.27.1rc1 is ``output`` in omni's generation runner."""
    item = Decision(1, 1, Reason(kind, (name,)), 0.6, "", "", "", "")
    assert _name_omni_form(item, OWN).reason.detail == detail
