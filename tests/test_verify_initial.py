"""An attribute that `__init__` reads, and that only a later method sets now (RS304)."""

from __future__ import annotations

import pytest
from verify_samples import find, npu, symbols, world

ASCEND = """\
from vllm.runner import GPUModelRunner

class NPUModelRunner(GPUModelRunner):
    def __init__(self, config):
        super().__init__(config)
        {start}
    def load_model(self):
        self.size = 2
    def prepare_sizes(self):
        self.size = 3
{more}
"""
READS = "def __init__(self, config):\n    super().__init__(config)\n    {read}\n"
READ = READS.format(read="self.rows = self.size + 1")


def ascend(start: str = "pass", more: str = "") -> str:
    return ASCEND.format(start=start, more=more)


def told(body: str, new: str, old: str) -> list[tuple[str, str]]:
    return symbols(find(world(npu=npu(body), ascend=new), world(npu=npu(body), ascend=old)))


SET = ascend("self.size = 1")
START = "    def start(self):\n        self.prepare_sizes()"


def test_an_attribute_that_only_a_later_method_sets() -> None:
    found = find(world(npu=npu(READ), ascend=ascend()), world(npu=npu(READ), ascend=SET))
    assert symbols(found) == [("RS304", "size")]
    assert found[0].message == "`self.size` is read in `__init__`, and only `load_model` sets it now, which runs later."


@pytest.mark.parametrize(
    ("body", "new", "old"),
    [
        pytest.param(READ, ascend("self.prepare_sizes()"), SET, id="a method that __init__ calls sets it"),
        pytest.param(READ, ascend("self.start()", START), SET, id="through another method"),
        pytest.param(READ, ascend(more="    size = 4"), SET, id="a default of the class"),
        pytest.param(READ, ascend(more="    @property\n    def size(self):\n        return 1"), SET, id="a property"),
        pytest.param(READ, ascend(), ascend(), id="before, too"),
        pytest.param(READ, ascend(more="def grow(runner):\n    runner.size = 1"), SET, id="others set it"),
        pytest.param(READS.format(read="self.size = 1\n    print(self.size)"), ascend(), SET, id="omni sets it"),
        pytest.param(READS.format(read="self.rows = getattr(self, 'size', 1)"), ascend(), SET, id="a default"),
        pytest.param(
            READS.format(read="if hasattr(self, 'size'):\n        print(self.size)"), ascend(), SET, id="asked for"
        ),
        pytest.param("def run(self):\n    return self.size", ascend(), SET, id="another method reads it"),
        pytest.param(READS.format(read="self.late = lambda: self.size"), ascend(), SET, id="read later"),
    ],
)
def test_an_attribute_that_may_be_there(body: str, new: str, old: str) -> None:
    assert told(body, new, old) == []
