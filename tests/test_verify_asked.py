"""``hasattr(self, …)`` of what upstream had and has no longer (RS304): nothing fails, and nothing happens."""

from __future__ import annotations

import pytest
from verify_samples import find, npu, world

ASCEND = """\
from vllm.runner import GPUModelRunner

class NPUModelRunner(GPUModelRunner):
    def __init__(self, config):
        super().__init__(config)
        self.{name} = 1
"""
OLD, NEW = ASCEND.format(name="rows"), ASCEND.format(name="lines")
IN_VAIN = {
    "a condition": 'if hasattr(self, "rows"):\n    print(self.rows)',
    "one of two conditions": 'if self.config and hasattr(self, "rows"):\n    print(self.rows)',
}
READY = {
    "another branch": 'if hasattr(self, "rows"):\n    print(self.rows)\nelse:\n    print(self.config)',
    "the new name in turn": 'if hasattr(self, "lines"):\n    print(1)\nelif hasattr(self, "rows"):\n    pass',
    "the new name before": 'if hasattr(self, "lines"):\n    print(1)\nif hasattr(self, "rows"):\n    print(2)',
    "that it is not there": 'if not hasattr(self, "rows"):\n    print(self.config)',
    "one of two is enough": 'if hasattr(self, "rows") or self.config:\n    print(self.config)',
    "of another object": 'if hasattr(self.config, "rows"):\n    print(self.config)',
    "never there": 'if hasattr(self, "columns"):\n    print(1)',
    "set by itself": 'if hasattr(self, "rows"):\n    print(self.rows)\nself.rows = 1',
}


def method(body: str) -> str:
    return npu("def m(self):\n    " + body.replace("\n", "\n    "))


@pytest.mark.parametrize("name", IN_VAIN)
def test_a_question_that_is_always_answered_with_no(name: str) -> None:
    text = method(IN_VAIN[name])
    (finding,) = find(world(npu=text, ascend=NEW), world(npu=text, ascend=OLD))
    assert (finding.code, finding.severity, finding.symbol) == ("RS304", "warning", "rows")
    assert not find(world(npu=text, ascend=OLD), world(npu=text, ascend=OLD))
    assert not find(world(npu=text, ascend=NEW)), "without the old trees nobody knows that it was there"


@pytest.mark.parametrize("name", READY)
def test_a_question_of_who_is_ready_for_both(name: str) -> None:
    text = method(READY[name])
    assert not find(world(npu=text, ascend=NEW), world(npu=text, ascend=OLD))


def test_what_another_module_sets_on_the_runner() -> None:
    text = method(IN_VAIN["a condition"])
    setting = NEW + "def patch(runner):\n    runner.rows = 1\n"
    assert not find(world(npu=text, ascend=setting), world(npu=text, ascend=OLD))
