"""What GPU code reads and no tree defines."""

from __future__ import annotations

import pytest
from verify_samples import TextTree

from runner_sync.model import Source
from runner_sync.sync.classes.undefined import Attributes

VLLM = {"vllm/__init__.py": "", "vllm/runner.py": "class GPUModelRunner:\n    size = 1\n", "vllm/models/m.py": ""}
HEAD = "from vllm.outputs import Output\nimport torch\n"

# What a method says, another file of vLLM, and what is undefined.
READS = {
    "nobody has it": ("self.late", "", {"late"}),
    "nor the class": ("Output.late()", "", {"late"}),
    "a method": ("self.late()", "class A:\n    def late(self): ...", set()),
    "a field": ("self.late", "class A:\n    late: int\n", set()),
    "set by a worker": ("self.late", "runner.late = 1", set()),
    "set by setattr": ("self.late", "setattr(runner, 'late', 1)", set()),
    "set in the same text": ("self.late = 1; self.late", "", set()),
    "asked for in the same text": ("hasattr(self, 'late') and self.late", "", set()),
    "only imported under this name": ("self.late", "from vllm.late import x", {"late"}),
    "only called": ("self.late()", "runner.late()", {"late"}),
    "a class of another project": ("torch.Tensor.late, Tensor.late", "", set()),
    "another object": ("batch.late, self.batch_now().late", "def batch_now(): ...", set()),
    "what every class has": ("self.__class__, Output.__name__, Output._fields", "", set()),
}


def tree(text: str) -> TextTree:
    return TextTree(Source("vllm", "path", "vllm"), VLLM | {"vllm/other.py": text})


@pytest.mark.parametrize("name", READS)
def test_undefined(name: str) -> None:
    body, other, expected = READS[name]
    text = f"{HEAD}class R:\n    def m(self, batch):\n        {body}\n"
    assert Attributes([tree(other)], ["vllm/v1"]).find_undefined(text, []) == expected


def test_known_words_are_not_looked_for() -> None:
    class Unread(TextTree):
        def read(self, path: str) -> str | None:
            raise AssertionError(path)

    unread = Unread(Source("vllm", "path", "vllm"), VLLM)
    assert Attributes([unread], []).find_undefined("class R:\n    def m(self): self.late\n", ["x.late"]) == frozenset()


def test_a_comment_makes_nothing_known() -> None:
    attributes, text = Attributes([tree("")], []), f"{HEAD}class R:\n    def m(self): self.late\n"
    assert attributes.find_undefined(
        text, ["def m(self):\n    # runner-sync: review R1 it uses .late\n    pass\n"]
    ) == {"late"}
    assert attributes.find_undefined(text, ["# what comes first\nself.late()  # or so\n"]) == frozenset()


def test_a_name_is_looked_up_once() -> None:
    reads: list[str] = []

    class Counting(TextTree):
        def read(self, path: str) -> str | None:
            reads.append(path)
            return super().read(path)

    attributes = Attributes([Counting(Source("vllm", "path", "vllm"), VLLM)], ["vllm/models"])
    text = f"{HEAD}class R:\n    def m(self): self.late, self.size\n"
    assert [attributes.find_undefined(text, []) for _ in range(2)] == [{"late"}] * 2
    assert reads == ["vllm/models/m.py", "vllm/__init__.py", "vllm/runner.py"]
