"""A field that an object's class no longer takes, where code copies the object with `dataclasses.replace` (RS306)."""

from __future__ import annotations

import pytest
from verify_samples import find, npu, symbols, world

RECORDS = """\
from dataclasses import dataclass, field
from vllm.runner import GPUModelRunner

@dataclass
class Output:
    rows: int
    names: list = {names}
    count: int = 0
{below}
class NPUModelRunner(GPUModelRunner):
    pass
"""
OPEN, CLOSED = "field(default_factory=list)", "field(default_factory=list, init=False)"
GONE = RECORDS.replace("    names: list = {names}\n", "")
HEAD = "import copy\nimport dataclasses\nfrom dataclasses import replace\nfrom vllm_ascend.runner import Output\n"


def records(names: str = OPEN, below: str = "", text: str = RECORDS) -> str:
    return text.format(names=names, below=below)


def told(body: str, new: str, given: str = "out: Output") -> list[tuple[str, str]]:
    text = npu(f"def m(self, {given}):\n    {body}", head=HEAD)
    return symbols(find(world(npu=text, ascend=new), world(npu=text, ascend=records())))


@pytest.mark.parametrize("call", ["replace(out, names=[])", "dataclasses.replace(out, count=1, names=[])"])
@pytest.mark.parametrize("new", [records(CLOSED), records(text=GONE)], ids=["not given any more", "gone"])
def test_a_field_that_the_class_no_longer_takes(call: str, new: str) -> None:
    assert told(f"return {call}", new) == [("RS306", "Output(names=)")]


BELOW = "@dataclass\nclass Wide(Output):\n    {field}\n"


@pytest.mark.parametrize(
    ("body", "new", "given"),
    [
        pytest.param("return replace(out, count=1)", records(CLOSED), "out: Output", id="another field"),
        pytest.param("return replace(out, other=1)", records(CLOSED), "out: Output", id="never a field"),
        pytest.param("return replace(out, names=[])", records(), "out: Output", id="still a field"),
        pytest.param("return replace(out, names=[])", records(CLOSED), "out", id="of an unknown class"),
        pytest.param("return out.replace(out, names=[])", records(CLOSED), "out: Output", id="a method of that name"),
        pytest.param(
            "return replace(out, names=[])",
            records(below=BELOW.format(field="names: list"), text=GONE),
            "out: Output",
            id="a subclass has the field",
        ),
        pytest.param(
            "try:\n        return replace(out, names=[])\n    except TypeError:\n        return out",
            records(CLOSED),
            "out: Output",
            id="caught",
        ),
    ],
)
def test_a_field_that_the_class_may_take(body: str, new: str, given: str) -> None:
    assert told(body, new, given) == []


def test_a_subclass_without_the_field_takes_it_no_more_than_its_base() -> None:
    new = records(CLOSED, below=BELOW.format(field="extra: int = 0"))
    assert told("return replace(out, names=[])", new) == [("RS306", "Output(names=)")]
