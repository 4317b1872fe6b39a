"""RS304 behind a `hasattr` that is never true: what runs all the same, and what never does."""

from __future__ import annotations

import pytest
from verify_samples import GPU, TREES, find, npu, symbols, world

OLD = TREES["vllm/runner.py"].replace("self.state = None", "self.state = self.gone = None")
MIXED = GPU + "    def copy(self):\n        return self.gone.x\n"
HEAD = "from vllm.runner import State\n"
PLAIN = "def initialize(self, config, pool=None):\n"
ANY = "def initialize(self, config, pool=None, state=None):\n"
STATE = "def initialize(self, config, pool=None, state: State = None):\n"
GONE = [("RS304", "gone")]


def broken(body: str) -> list[tuple[str, str]]:
    run, gpu = npu(body, head=HEAD), MIXED if "copy" in body else TREES["vllm_omni/gpu.py"]
    return symbols(find(world(npu=run, gpu=gpu), world(npu=run, gpu=gpu, vllm=OLD)))


@pytest.mark.parametrize(
    "body",
    [
        PLAIN + "    if hasattr(self, 'rows'):\n        self.copy()\n",
        PLAIN + "    if self.sp and hasattr(self, 'rows'):\n        self.copy()\n",
        PLAIN + "    if hasattr(self, 'rows'):\n        return self.gone.x\n",
        STATE + "    if hasattr(state, 'rows') and state.rows:\n        return self.gone.x\n",
        PLAIN + "    if hasattr(self, 'rows'):\n        self.more()\ndef more(self):\n    self.copy()\n",
    ],
)
def test_code_that_never_runs(body: str) -> None:
    assert broken(body) == []


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(PLAIN + "    self.copy()\n", id="no test"),
        pytest.param(
            PLAIN + "    if hasattr(self, 'sp'):\n        self.copy()\n",
            id="what it has",
        ),
        pytest.param(
            PLAIN + "    if self.sp or hasattr(self, 'rows'):\n        self.copy()\n",
            id="one of two",
        ),
        pytest.param(
            PLAIN + "    if hasattr(self, 'rows'):\n        pass\n    else:\n        self.copy()\n",
            id="the else",
        ),
        pytest.param(
            PLAIN + "    if not hasattr(self, 'rows'):\n        self.copy()\n",
            id="its contrary",
        ),
        pytest.param(
            PLAIN + "    if hasattr(self, 'rows'):\n        self.copy()\n    self.copy()\n",
            id="another call",
        ),
        pytest.param(
            ANY + "    if hasattr(state, 'rows'):\n        self.copy()\n",
            id="unknown object",
        ),
        pytest.param(
            STATE + "    if hasattr(state, 'logits'):\n        self.copy()\n",
            id="a known field",
        ),
        pytest.param(
            PLAIN + "    if hasattr(self, 'rows'):\n        self.copy()\ndef load(self):\n    self.rows = 1\n",
            id="set elsewhere",
        ),
    ],
)
def test_code_that_runs(body: str) -> None:
    assert broken(body) == GONE
