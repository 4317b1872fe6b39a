"""What a method assigns only after it has read it (RS304, RS312): who lacks the attribute never gets there."""

from __future__ import annotations

import pytest
from verify_samples import find, npu, symbols, world

RENEWED = {
    "by its own condition": "if self.late:\n        self.late = False",
    "by the first half of its condition": "if self.late and rows:\n        self.late = False",
    "in the other branch": "if self.late:\n        pass\n    else:\n        self.late = 1",
    "behind a statement that reads it": "rows = self.late\n    self.late = rows",
    "behind a loop over it": "for row in self.late:\n        print(row)\n    self.late = []",
    "by its own value": "self.late = self.late + 1",
    "by counting": "self.late += 1",
    "inside of what it is entered for": "with self.late:\n        self.late = None",
    "in a loop behind the read": "for row in rows:\n        print(self.late)\n        self.late = row",
}

GIVEN = {
    "in another branch than it is read": "if rows:\n        self.late = 1\n    else:\n        print(self.late)",
    "behind a condition that may not ask for it": "if rows and self.late:\n        pass\n    self.late = 1",
    "behind what may not read it": "if rows:\n        print(self.late)\n    self.late = 1",
    "behind a loop that may not turn": "for row in rows:\n        print(self.late)\n    self.late = 1",
    "where it was missed": "try:\n        print(self.late)\n    except AttributeError:\n        self.late = 1",
    "behind a try": "try:\n        print(self.late)\n    except AttributeError:\n        pass\n    self.late = 1",
    "behind a with that lets it pass": "with suppress(Exception):\n        print(self.late)\n    self.late = 1",
    "where it is asked for by name": "if getattr(self, 'late', None) is None:\n        self.late = 1",
    "behind a function that reads it later": "rows = lambda: self.late\n    self.late = rows",
    "behind another object's": "print(rows.late)\n    self.late = 1",
    "before it is read": "self.late = 1\n    self.late += 1",
}


@pytest.mark.parametrize("body", RENEWED.values(), ids=RENEWED)
def test_what_only_renews_an_attribute_does_not_define_it(body: str) -> None:
    found = find(world(npu=npu(f"def m(self, rows):\n    {body}\ndef n(self):\n    return self.late")))
    assert ("RS304", "late") in symbols([finding for finding in found if finding.unit.endswith(".n")])


@pytest.mark.parametrize("body", GIVEN.values(), ids=GIVEN)
def test_what_gives_an_attribute_to_who_lacks_it_defines_it(body: str) -> None:
    text = npu(
        f"def m(self, rows):\n    {body}\ndef n(self):\n    return self.late", head="from contextlib import suppress"
    )
    assert symbols(find(world(npu=text))) == []


def test_an_attribute_that_somebody_else_defines_may_be_renewed() -> None:
    text = npu("def m(self):\n    if self.sp:\n        self.sp = False")
    assert symbols(find(world(npu=text))) == []


def test_an_override_hides_what_gives_an_attribute_though_a_method_that_runs_renews_it() -> None:
    upstream = (
        "from vllm.runner import GPUModelRunner\nclass NPUModelRunner(GPUModelRunner):\n"
        "    def load(self):\n        self.cache = 0\n"
    )
    for renews in ("if self.cache:\n        self.cache = 2", "self.cache += 1"):
        text = npu(f"def load(self):\n    pass\ndef m(self):\n    {renews}")
        assert symbols(find(world(npu=text, ascend=upstream))) == [("RS312", "cache")]


def test_who_counts_on_what_nobody_defines_reads_it() -> None:
    assert symbols(find(world(npu=npu("def m(self):\n    self.gone += 1")))) == [("RS304", "gone")]


DECLARED = {
    "in the class": ("late: int", "", True),
    "in the class, of any type": ("late: Any", "from typing import Any", True),
    "in a method": ("def n(self):\n        self.late: int", "", True),
    "for type checkers only": (
        "if TYPE_CHECKING:\n        def late(self): ...",
        "from typing import TYPE_CHECKING",
        True,
    ),
    "with a value": ("late: int = 0", "", False),
    "with a value in a method": ("def n(self):\n        self.late: int = 0", "", False),
    "as a method": ("def late(self): ...", "", False),
}


@pytest.mark.parametrize("name", DECLARED)
def test_a_declaration_gives_nothing(name: str) -> None:
    member, head, is_missing = DECLARED[name]
    mixin = f"{head}\nclass Needs:\n    {member}\n"
    text = npu("def m(self):\n    return self.late", bases="Needs, OmniGPUModelRunner, NPUModelRunner", head=mixin)
    assert symbols(find(world(npu=text))) == ([("RS304", "late")] if is_missing else [])


@pytest.mark.parametrize("head", ["@dataclass\nclass Needs:", "@traced\nclass Needs:", "class Needs(Protocol):"])
def test_a_declaration_may_make_a_field(head: str) -> None:
    text = npu(
        "def m(self):\n    return self.late",
        bases="Needs, OmniGPUModelRunner, NPUModelRunner",
        head=f"from typing import Protocol\n{head}\n    late: int\n",
    )
    assert symbols(find(world(npu=text))) == []


def test_what_a_mixin_declares_hides_neither_the_class_nor_the_method_that_its_host_has() -> None:
    mixin = (
        "from typing import TYPE_CHECKING, Any\nclass Needs:\n    batch: Any\n    if TYPE_CHECKING:\n"
        "        def prepare(self, tokens, rows=None) -> tuple[int, int]: ...\n"
    )
    text = npu(
        "def m(self):\n    a, b, c = self.prepare(1)\n    self.batch.gone(a, b, c)\n    return self.prepare(1, rows=2)",
        bases="Needs, OmniGPUModelRunner, NPUModelRunner",
        head=mixin,
    )
    assert symbols(find(world(npu=text))) == [("RS308", "Batch.gone"), ("RS306", "prepare(rows=)")]


PARENT = {
    "nothing has it": ("return super().gone()", [("RS304", "gone")]),
    "only the class itself has it, which is called": (
        "return super().m()\ndef n(self):\n    self.m()",
        [("RS304", "m")],
    ),
    "only the class itself has it, which nobody calls": ("return super().m()", []),
    "only objects have it": ("return super().sp", [("RS304", "sp")]),
    "vLLM has it": ("return super()._make_buffer(1)", []),
    "vllm-ascend has it": ("return super().start()", []),
    "a condition asks for it": ("if hasattr(super(), 'gone'):\n        super().gone()", []),
    "its absence is expected": ("try:\n        super().gone()\n    except AttributeError:\n        pass", []),
    "every class has it": ("return super().__repr__()", []),
}


@pytest.mark.parametrize("name", PARENT)
def test_what_nothing_behind_a_class_defines(name: str) -> None:
    body, expected = PARENT[name]
    assert symbols(find(world(npu=npu(f"def m(self):\n    {body}")))) == expected


@pytest.mark.parametrize("base", ["torch.nn.Module", "Outside", "object"])
def test_what_stands_behind_a_class_may_be_out_of_sight(base: str) -> None:
    text = npu(
        "pass",
        head="import torch\nfrom outside import Outside\n"
        f"class Other({base}):\n    def n(self):\n        super().gone()\n",
    )
    assert symbols(find(world(npu=text))) == []


SISTERS = """

class A(R):
    {first}
class B(R):
    {second}
"""
SETS, PLAIN = "def set(self):\n        self.sp = 1", "size = 1"
REPLACED = "def m(self): ...\n    def set(self): ..."


@pytest.mark.parametrize(
    ("first", "second", "is_told"),
    [
        (PLAIN, SETS, True),
        (SETS, PLAIN, True),
        (SETS, SETS, False),
        (SETS, REPLACED, False),
        (SETS, "def m(self):\n        super().m()", True),
    ],
)
def test_a_class_that_lacks_what_its_sister_sets(first: str, second: str, is_told: bool) -> None:
    text = npu("def m(self):\n    return self.sp") + SISTERS.format(first=first, second=second)
    upstream = "from vllm.runner import GPUModelRunner, State\nclass NPUModelRunner(GPUModelRunner):\n    {}\n"
    old = world(npu=text, ascend=upstream.format("def start(self):\n        self.sp = 1"))
    new = world(npu=text, ascend=upstream.format("pass"))
    assert symbols(find(new, old)) == ([("RS304", "sp")] if is_told else [])
    assert symbols(find(new)) == []
