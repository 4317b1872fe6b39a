"""An override that hides the only call of what sets a module up (RS321)."""

from __future__ import annotations

import pytest
from verify_samples import find, npu, world

SPACE = """\
_manager = None
def current():
    {asks}
    return _manager
def set_up(size):
    global _manager
    _manager = {value}
"""
INSISTS = "assert _manager is not None"
RUNNER = """\
from vllm.runner import GPUModelRunner
from vllm.space import set_up
class NPUModelRunner(GPUModelRunner):
    def start(self):
        {start}
    def other(self):
        {other}
"""
OWN = "def start(self):\n    return 1"


def told(
    own: str = OWN,
    *,
    asks: str = INSISTS,
    value: str = "size",
    start: str = "set_up(1)",
    other: str = "pass",
    head: str = "",
    beside: str = "",
) -> list[str]:
    files = {"vllm/space.py": SPACE.format(asks=asks, value=value), "vllm/beside.py": beside}
    trees = world(npu=npu(own, head=head), ascend_patch="", ascend=RUNNER.format(start=start, other=other), **files)
    return [finding.symbol for finding in find(trees) if finding.code == "RS321"]


ELSEWHERE = """\
from vllm.space import set_up{bound}
class Other:
    def {method}(self):
        {call}
"""
TOLD: dict[str, dict[str, str]] = {
    "an assertion": {},
    "an error": {"asks": "if _manager is None:\n        raise RuntimeError"},
    "a call by the module's name": {"start": "from vllm import space\n        space.set_up(1)"},
    "a call by the same method of a class that does not run": {
        "beside": ELSEWHERE.format(bound="", method="start", call="set_up(2)")
    },
    "an import elsewhere": {"beside": "from vllm.space import set_up"},
}
LEFT: dict[str, dict[str, str]] = {
    "it is called here": {"own": "def start(self):\n    set_up(1)", "head": "from vllm.space import set_up"},
    "it is called behind": {"own": "def start(self):\n    super().start()"},
    "nothing is hidden": {"own": "def run(self):\n    return 1"},
    "another method calls it": {"other": "set_up(1)"},
    "another module calls it": {"beside": "from vllm.space import set_up\nset_up(2)"},
    "another method of another class calls it": {"beside": ELSEWHERE.format(bound="", method="run", call="set_up(2)")},
    "a function of that name calls it": {"beside": "def start():\n    set_up(2)"},
    "another module imports it under another name": {
        "beside": ELSEWHERE.format(bound=" as ready", method="start", call="ready(2)")
    },
    "another module patches it": {"beside": "patch('vllm.space.set_up')"},
    "a module that does not parse mentions it": {"beside": "set_up("},
    "nobody insists on it": {"asks": "pass"},
    "it has something in its place": {"asks": "if _manager is None:\n        return 1"},
    "it only resets": {"value": "None"},
    "the hidden method does not call it": {"start": "pass"},
    "the hidden method has one of its own": {"start": "self.set_up(1)"},
}


@pytest.mark.parametrize("name", TOLD)
def test_a_set_up_that_is_hidden(name: str) -> None:
    assert told(**TOLD[name]) == ["set_up"]


@pytest.mark.parametrize("name", LEFT)
def test_a_set_up_that_is_done_or_not_needed(name: str) -> None:
    assert told(**LEFT[name]) == []


def test_what_was_so_on_the_old_target_is_not_new() -> None:
    files = {"vllm/space.py": SPACE.format(asks=INSISTS, value="size")}
    now, before = (
        world(npu=npu(OWN), ascend=RUNNER.format(start=start, other="pass"), **files) for start in ("set_up(1)", "pass")
    )
    (found,) = find(now, before)
    assert "(vllm_ascend/runner.py:5)" in found.message
    assert find(now, now) == []
