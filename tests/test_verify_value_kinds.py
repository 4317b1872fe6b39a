"""Arguments and returned values that the target declares as another kind of thing now (RS319)."""

from __future__ import annotations

import pytest
from verify_samples import find, npu, symbols, world

TYPES = """\
from typing import Any, NamedTuple, Optional, Protocol
import torch
class Row:
    x = 1
class Wide(Row):
    y = 1
class Pair(NamedTuple):
    a: int
class Shape(Protocol):
    x: int
Rows = dict[str, Row]
"""
UTILS = TYPES + "def stage(config, funcs: {kind}, *, key: {kind} = None):\n    return config\n"
ASCEND = """\
from vllm.runner import GPUModelRunner
from vllm.types import Any, Optional, Row, Rows, Wide, Pair, Shape, torch
from vllm import utils
class NPUModelRunner(GPUModelRunner):
    def sync(self, n) -> {kind}:
        return self.made
    def run(self):
        {body}
"""
HEAD = "from vllm import utils\n"
PASS, BY_KEY = "utils.stage(1, self.config.funcs())", "utils.stage(1, 2, key=self.config.funcs())"
TAKE = "n, flag = self.sync(1)\nreturn flag"


def given(body: str, was: str, now: str, *, then: str = "utils.stage(1, self.rows())") -> list[tuple[str, str]]:
    """What is said of a call where a parameter was annotated otherwise, and upstream calls it otherwise ``then``."""
    return _told(body, (was, "int", PASS if "key" not in body else BY_KEY), (now, "int", then))


def taken(body: str, was: str, now: str, *, then: str = "n, mode = self.sync(1)") -> list[tuple[str, str]]:
    """The same of what a method hands back."""
    return _told(body, ("int", was, body.partition("\n")[0]), ("int", now, then))


def _told(body: str, was: tuple[str, str, str], now: tuple[str, str, str]) -> list[tuple[str, str]]:
    text = npu("def work(self):\n    " + body.replace("\n", "\n    "), head=HEAD)
    old, new = (
        world(
            npu=text,
            ascend=ASCEND.format(kind=back, body=does),
            **{"vllm/utils.py": UTILS.format(kind=kind), "vllm/types.py": TYPES},
        )
        for kind, back, does in (was, now)
    )
    return symbols(find(new, old))


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("tuple[int, ...]", "dict[str, int]"),
        ("tuple[int, ...]", "Rows"),
        ("Optional[list[int]]", "dict[str, int] | None"),
        ("torch.Tensor", "list[int]"),
        ("bool", "Row"),
        ("'Row'", "'int'"),
    ],
)
def test_an_argument_for_what_is_another_kind_of_thing_now(was: str, now: str) -> None:
    assert given(PASS, was, now) == [("RS319", "stage(funcs)")]


def test_an_argument_by_keyword() -> None:
    then = "utils.stage(1, 2, key=self.rows())"
    assert given(BY_KEY, "tuple[int, ...]", "Rows", then=then) == [("RS319", "stage(key)")]


@pytest.mark.parametrize(
    ("was", "now"),
    [
        pytest.param("dict[str, int]", "dict[int, int]", id="what is in it"),
        pytest.param("Rows", "dict[str, Row]", id="another name for it"),
        pytest.param("int", "float", id="one number for another"),
        pytest.param("tuple[int, ...]", "tuple[int, ...] | Rows", id="widened"),
        pytest.param("tuple[int, ...] | Rows", "Rows", id="narrowed"),
        pytest.param("Row", "Wide", id="an heir"),
        pytest.param("Wide", "Row", id="a base"),
        pytest.param("tuple[int, ...]", "Pair", id="a tuple with names"),
        pytest.param("tuple[int, ...]", "Shape", id="a Protocol"),
        pytest.param("tuple[int, ...]", "Any", id="anything"),
        pytest.param("tuple[int, ...]", "torch.Size", id="a class outside the trees"),
        pytest.param("tuple[int, ...]", "Unknown", id="a name that nobody knows"),
    ],
)
def test_what_may_still_be_the_same(was: str, now: str) -> None:
    assert given(PASS, was, now) == []


@pytest.mark.parametrize(
    ("was", "now", "told"),
    [
        pytest.param("a, funcs: set[str]", "a, rows: Row", ["stage(rows)"], id="renamed"),
        pytest.param("a, funcs: set[str]", "a, rows: set[int]", [], id="renamed, and of the same kind"),
        pytest.param("a, funcs: set[str]", "a, rows", [], id="renamed, and nothing is said of it"),
        pytest.param("a, b=0, funcs: set[str] = ()", "a, funcs: Row = 1", [], id="another place"),
    ],
)
def test_a_parameter_of_another_name(was: str, now: str, told: list[str]) -> None:
    text = npu(f"def work(self):\n    {PASS}", head=HEAD)
    old, new = (
        world(
            npu=text,
            ascend=ASCEND.format(kind="int", body=body),
            **{"vllm/utils.py": f"{TYPES}def stage({parameters}):\n    return 1\n", "vllm/types.py": TYPES},
        )
        for parameters, body in ((was, PASS), (now, "utils.stage(1, self.rows())"))
    )
    assert [finding.symbol for finding in find(new, old) if finding.code == "RS319"] == told


@pytest.mark.parametrize("then", [PASS, "pass", "utils.stage(*self.rows())"])
def test_upstream_passes_it_still_or_does_not_call_it(then: str) -> None:
    assert given(PASS, "tuple[int, ...]", "Rows", then=then) == []


def test_upstream_never_passed_it() -> None:
    assert given("utils.stage(1, self.config.other())", "tuple[int, ...]", "Rows") == []


def test_a_value_that_is_another_kind_of_thing_now() -> None:
    assert taken(TAKE, "tuple[int, bool]", "tuple[int, Row]") == [("RS319", "sync(flag)")]
    assert taken(TAKE, "tuple[int, bool]", "tuple[int, float]") == []
    single = taken("flag = self.sync(1)\nreturn flag", "bool", "Row", then="mode = self.sync(1)")
    assert single == [("RS319", "sync(flag)")]


def test_a_value_that_upstream_takes_so_or_nobody_reads() -> None:
    kinds = ("tuple[int, bool]", "tuple[int, Row]")
    assert taken(TAKE, *kinds, then="n, flag = self.sync(1)") == []
    assert taken(TAKE, *kinds, then="self.sync(1)") == []
    assert taken("n, flag = self.sync(1)\nreturn n", *kinds) == []


def test_nothing_is_said_without_the_old_target() -> None:
    text = npu(f"def work(self):\n    {PASS}", head=HEAD)
    files = {"vllm/utils.py": UTILS.format(kind="Rows"), "vllm/types.py": TYPES}
    assert find(world(npu=text, ascend=ASCEND.format(kind="int", body="utils.stage(1, self.rows())"), **files)) == []


def test_both_kinds_and_what_upstream_passes_are_named() -> None:
    text = npu(f"def work(self):\n    {PASS}", head=HEAD)
    old, new = (
        world(
            npu=text,
            ascend=ASCEND.format(kind="int", body=body),
            **{"vllm/utils.py": UTILS.format(kind=kind), "vllm/types.py": TYPES},
        )
        for kind, body in (("tuple[int, ...]", PASS), ("Rows", "utils.stage(1, self.rows())"))
    )
    (found,) = find(new, old)
    assert found.message == (
        "`funcs` of `stage` (vllm/utils.py:12) was `tuple[int, ...]` and is `Rows` now: vllm_ascend/runner.py:8 passes "
        "`self.rows()` there."
    )
