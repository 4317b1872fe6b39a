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
