"""Items, length and members of values that are of another type now (RS308)."""

from __future__ import annotations

import pytest
from verify_samples import find, npu, symbols, world

HOLDER = """\
from dataclasses import dataclass
from typing import NamedTuple
from vllm.runner import GPUModelRunner

class Plan:
    total: int = 0
class Rows:
    def __getitem__(self, key): ...
class Pair(NamedTuple):
    first: int
@dataclass
class Output:
    rows: {declared}
class NPUModelRunner(GPUModelRunner):
    def __init__(self, config):
        super().__init__(config)
        self.kept: {declared} = {value}
"""
HEAD = "from vllm_ascend.runner import Output\n"
VALUES = {"Plan": "Plan()", "Rows": "Rows()", "dict[str, int]": "{}", "list[int]": "[]", "set[int]": "set()"}


def told(use: str, was: str, now: str) -> list[tuple[str, str]]:
    """The findings for a use of ``out.rows``, and the same for an attribute of the runner."""
    found = []
    for text in (use, use.replace("out.rows", "self.kept")):
        own = npu(f"def m(self, out: Output, key):\n    {text}", head=HEAD)
        new, old = (
            world(npu=own, ascend=HOLDER.format(declared=one, value=VALUES.get(one, "None"))) for one in (now, was)
        )
        found.append([(code, symbol.replace("kept", "rows")) for code, symbol in symbols(find(new, old))])
    assert found[0] == found[1]
    return found[0]


WRONG = {
    "an item of an object": ("return out.rows['a']", "dict[str, int]", "Plan", "Plan.__getitem__"),
    "an item is set": ("out.rows['a'] = 1", "dict[str, int]", "Plan", "Plan.__setitem__"),
    "an item is deleted": ("del out.rows['a']", "dict[str, int]", "Plan", "Plan.__delitem__"),
    "its length": ("return len(out.rows)", "list[int]", "Plan", "Plan.__len__"),
    "a loop": ("for one in out.rows:\n        print(one)", "list[int]", "Plan", "Plan.__iter__"),
    "a comprehension": ("return [one for one in out.rows]", "list[int]", "Plan", "Plan.__iter__"),
    "a member": ("return key in out.rows", "set[int]", "Plan", "Plan.__contains__"),
    "no member": ("return key not in out.rows", "dict[str, int]", "Plan", "Plan.__contains__"),
    "a method": ("return out.rows.items()", "dict[str, int]", "Plan", "Plan.items"),
    "a key of a list": ("return out.rows['a']", "dict[str, int]", "list[int]", "rows['a']"),
    "a key of a set": ("return out.rows[key]", "dict[str, int]", "set[int]", "rows[key]"),
    "a slice of a dictionary": ("return out.rows[:2]", "list[int]", "dict[str, int]", "rows[:2]"),
    "a number of a dictionary": ("return out.rows[0]", "list[int]", "dict[str, int]", "rows[0]"),
    "the last of a dictionary": ("return out.rows[-1]", "list[int]", "dict[str, int]", "rows[-1]"),
    "a counted item of a dictionary": (
        "return [out.rows[i] for i, _ in enumerate(key)]",
        "list[int]",
        "dict[str, int]",
        "rows[i]",
    ),
    "each number of a dictionary": (
        "return [out.rows[i] for i in range(3)]",
        "list[int]",
        "dict[str, int]",
        "rows[i]",
    ),
    "an annotated key of a list": (
        "name: str = key\n    return out.rows[name]",
        "dict[str, int]",
        "list[int]",
        "rows[name]",
    ),
    "a number of a set": ("return out.rows[0]", "list[int]", "set[int]", "rows[0]"),
}
RIGHT = {
    "an object with items": ("return out.rows['a']", "dict[str, int]", "Rows"),
    "a loop over an object with items": ("return [one for one in out.rows]", "list[int]", "Rows"),
    "a member of an object with items": ("return key in out.rows", "list[int]", "Rows"),
    "a record": ("return [one for one in out.rows]", "list[int]", "Pair"),
    "it had none before": ("return out.rows['a']", "Plan", "Plan"),
    "an unknown class": ("return out.rows['a']", "dict[str, int]", "Unknown"),
    "one of two types": ("return out.rows['a']", "dict[str, int]", "list[int] | dict[str, int]"),
    "a number of a list": ("return out.rows[0]", "dict[int, int]", "list[int]"),
    "a number as a key": ("return out.rows[0]", "list[int]", "dict[int, int]"),
    "a key of any type": ("return out.rows[0]", "list[int]", "dict[Unknown, int]"),
    "a dictionary without a type of keys": ("return out.rows[0]", "list[int]", "dict"),
    "a counted item of a list": ("return [out.rows[i] for i, _ in enumerate(key)]", "dict[int, int]", "list[int]"),
    "what is bound twice": (
        "i = 0\n    for i in range(3):\n        i = key\n        print(out.rows[i])",
        "list[int]",
        "dict[str, int]",
    ),
    "a key that may be a number": ("return out.rows[key]", "dict[str, int]", "list[int]"),
    "it is asked for": (
        "if isinstance(out.rows, dict):\n        return out.rows['a']",
        "dict[str, int]",
        "list[int]",
    ),
    "caught": (
        "try:\n        return out.rows['a']\n    except TypeError:\n        return None",
        "dict[str, int]",
        "list[int]",
    ),
    "caught for an object": (
        "try:\n        return out.rows['a']\n    except TypeError:\n        return None",
        "dict[str, int]",
        "Plan",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_use_that_the_new_type_refuses(name: str) -> None:
    use, was, now, symbol = WRONG[name]
    assert told(use, was, now) == [("RS308", symbol)]


@pytest.mark.parametrize("name", RIGHT)
def test_a_use_that_may_fit_the_new_type(name: str) -> None:
    assert told(*RIGHT[name]) == []


@pytest.mark.parametrize(
    ("now", "expected"),
    [("class Row(NamedTuple):", []), ("@dataclass\nclass Row:", [("RS308", "Row._replace")])],
)
def test_the_members_of_a_record_that_became_a_plain_class(now: str, expected: list[tuple[str, str]]) -> None:
    text = "from dataclasses import dataclass\nfrom typing import NamedTuple\n{}\n    first: int = 0\n"
    own = npu("def m(self, row: Row):\n    return row._replace(first=1)", head="from vllm.rows import Row\n")
    heads = (now, "class Row(NamedTuple):")
    new, old = (world(npu=own, **{"vllm/rows.py": text.format(head)}) for head in heads)
    assert symbols(find(new, old)) == expected


SAMPLER = """\
class Output:
    {field}: list = []
class GPUModelRunner:
    def sample(self, logits){returns}:
        return self.sampler(logits)
"""


@pytest.mark.parametrize(
    ("between", "returns", "count"),
    [
        pytest.param("def sample(self, logits):\n    return self.other(logits)", " -> Output", 1, id="unannotated"),
        pytest.param("def sample(self, logits) -> object:\n    return self.other(logits)", " -> Output", 0, id="other"),
        pytest.param("def sample(self, logits):\n    return self.other(logits)", "", 0, id="no annotation at all"),
    ],
)
def test_what_an_override_returns_is_what_the_first_annotated_method_behind_it_says(
    between: str, returns: str, count: int
) -> None:
    """The override that runs, and the one that it hides, say nothing."""
    own = npu("def sample(self, logits):\n    return self.mine(logits)\ndef m(self):\n    return self.sample(1).ids")
    own = own.replace("from vllm.runner import helper\n", "")
    new, old = (
        world(
            npu=own,
            vllm=SAMPLER.format(field=field, returns=returns),
            ascend="from vllm.runner import GPUModelRunner\nclass NPUModelRunner(GPUModelRunner):\n    "
            + between.replace("\n", "\n    "),
        )
        for field in ("tokens", "ids")
    )
    found = [one for one in symbols(find(new, old)) if one[0] == "RS308"]
    assert found == [("RS308", "Output.ids")] * count


GIVEN = """\
class Plan:
    {field}: int = 0
class NPUModelRunner(GPUModelRunner):
    {marks}
    def plan(self){returns}:
        return self.make()
"""


@pytest.mark.parametrize(
    ("marks", "was", "now", "use", "expected"),
    [
        pytest.param("@property", "list[int]", "dict[str, int]", "[:2]", "plan[:2]", id="another type"),
        pytest.param("@cached_property", "dict[str, int]", "list[int]", "['a']", "plan['a']", id="a cached one"),
        pytest.param("@property", "dict[str, int]", "Plan", "['a']", "Plan.__getitem__", id="an object"),
        pytest.param("@property", "Plan", "Plan", ".rows", "Plan.rows", id="a field of an object"),
        pytest.param("@property", "list[int]", "list[str]", "[:2]", "", id="the same type"),
        pytest.param("@property", "list[int]", "", "[:2]", "", id="without an annotation"),
        pytest.param("@other", "list[int]", "dict[str, int]", "[:2]", "", id="an unknown decorator"),
        pytest.param("", "list[int]", "dict[str, int]", "()[:2]", "plan()[:2]", id="a method"),
        pytest.param("", "list[int]", "", "()[:2]", "", id="a method without an annotation"),
    ],
)
def test_what_a_property_gives(marks: str, was: str, now: str, use: str, expected: str) -> None:
    own = npu(f"def m(self):\n    return self.plan{use}")
    head = "from functools import cached_property\nfrom vllm.runner import GPUModelRunner\n"
    texts = (
        head + GIVEN.format(marks=marks, field=field, returns=f" -> {kind}" if kind else "")
        for kind, field in ((now, "columns"), (was, "rows"))
    )
    new, old = (world(npu=own, ascend=text) for text in texts)
    assert symbols(find(new, old)) == ([("RS308", expected)] if expected else [])


@pytest.mark.parametrize("setter", ["@plan.setter\n    def plan(self, value):\n        self.made = value"])
def test_a_property_that_code_sets_may_hold_anything(setter: str) -> None:
    own = npu("def m(self):\n    self.plan = [1]\n    return self.plan[:2]")
    head = "from vllm.runner import GPUModelRunner\n"
    texts = (
        head + GIVEN.format(marks="@property", field="rows", returns=f" -> {kind}") + f"    {setter}\n"
        for kind in ("dict[str, int]", "list[int]")
    )
    new, old = (world(npu=own, ascend=text) for text in texts)
    assert symbols(find(new, old)) == []
