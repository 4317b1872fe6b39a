"""A field that an object's class no longer takes, where code copies the object with `dataclasses.replace` (RS306), and
objects that are no dataclass any more (RS319)."""

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


PLAIN = RECORDS.replace("@dataclass\n", "", 1)


@pytest.mark.parametrize(
    ("new", "below"),
    [
        pytest.param(PLAIN, "", id="a plain class"),
        pytest.param(PLAIN.replace("Output:", "Output(NamedTuple):"), "from typing import NamedTuple", id="a record"),
        pytest.param(PLAIN.replace("Output:", "Output(Struct):"), "from msgspec import Struct", id="a struct"),
        pytest.param(PLAIN, "class Wide(Output):\n    pass", id="with a subclass"),
    ],
)
@pytest.mark.parametrize("function", ["replace", "asdict", "astuple", "fields"])
def test_an_object_that_is_no_dataclass_any_more(new: str, below: str, function: str) -> None:
    text = new.format(names="()", below="")
    assert told(f"return dataclasses.{function}(out)", f"{below}\n{text}") == [("RS319", f"{function}(Output)")]


WIDE = "@dataclass\nclass Wide(Output):\n    extra: int = 0\n"
WRITTEN = PLAIN.replace("    rows: int\n", "    def __init__(self, rows=0, names=(), count=0): ...\n    rows: int\n")


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        pytest.param(PLAIN, ["replace(Output)"], id="a plain class"),
        pytest.param(WRITTEN, ["replace(Output)"], id="a constructor"),
        pytest.param(PLAIN.replace("Output:", "Output(msgspec.Struct):"), ["replace(Output)"], id="a struct"),
        pytest.param(records(below=WIDE), [], id="a dataclass"),
        pytest.param(PLAIN.replace("    names: list = {names}\n", ""), ["replace(Output)"], id="without the field"),
    ],
)
def test_a_subclass_that_is_a_dataclass_has_no_fields_of_a_plain_base(new: str, expected: list[str]) -> None:
    text = new.replace("{below}", WIDE).replace("{names}", "()")
    assert [s for c, s in told("return replace(out, names=[])", "import msgspec\n" + text) if c == "RS319"] == expected
    assert told("return replace(out, extra=1)", text if "Struct" not in text else records(below=WIDE)) == []


@pytest.mark.parametrize(
    ("body", "new", "given"),
    [
        pytest.param("return replace(out)", records(), "out: Output", id="a dataclass"),
        pytest.param("return replace(out)", PLAIN, "out", id="of an unknown class"),
        pytest.param("return copy.copy(out)", PLAIN, "out: Output", id="a function for any object"),
        pytest.param("return self.replace(out)", PLAIN, "out: Output", id="a method of that name"),
        pytest.param("return replace(out)", PLAIN.replace("Output:", "Output(Unknown):"), "out: Output", id="a base"),
        pytest.param("return replace(out)", PLAIN.replace("class Out", "@config\nclass Out"), "out: Output", id="made"),
        pytest.param(
            "return replace(out)",
            PLAIN.replace("{below}", "@dataclass\nclass Wide(Output):\n    extra: int = 0\n"),
            "out: Output",
            id="a subclass is one",
        ),
        pytest.param(
            "try:\n        return replace(out)\n    except TypeError:\n        return out",
            PLAIN,
            "out: Output",
            id="caught",
        ),
    ],
)
def test_an_object_that_may_be_a_dataclass(body: str, new: str, given: str) -> None:
    assert told(body, new.format(names="()", below="") if "{names}" in new else new, given) == []
