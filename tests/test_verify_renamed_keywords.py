"""A call with an unknown keyword that leaves out one parameter: that may only have a new name (RS306, RS302)."""

from __future__ import annotations

import pytest
from verify_samples import find, npu, world

HEAD = "from vllm.helping import aid"
NEW = "def aid(a, b=1, *, name): ..."

RENAMED = {
    "a new name": (NEW, "aid(1, key=2)", ["RS306"]),
    "a new name, by position before": ("def aid(first, b=1, *, key=None): ...", "aid(a=1)", ["RS306"]),
    "two keywords": ("def aid(a, *, name): ...", "aid(1, b=2, key=2)", ["RS302", "RS306", "RS306"]),
    "two parameters": ("def aid(a, *, name, more): ...", "aid(1, key=2)", ["RS302", "RS306"]),
    "one that is only asserted": (
        "def aid(a, *, name=None):\n    assert name is not None",
        "aid(1, key=2)",
        ["RS302", "RS306"],
    ),
    "too many by position as well": ("def aid(*, name): ...", "aid(1, key=2)", ["RS302", "RS306"]),
    "an optional one": ("def aid(a, b=1, *, name=None): ...", "aid(1, key=2)", ["RS306"]),
    "nothing but a parameter": ("def aid(a, b=1, *, name, key=None): ...", "aid(1, key=2)", ["RS302"]),
}


@pytest.mark.parametrize("name", RENAMED)
def test_a_keyword_with_a_new_name_is_one_finding(name: str) -> None:
    now, call, expected = RENAMED[name]
    text = npu(f"def m(self):\n    {call}", head=HEAD)
    found = find(world(npu=text, **{"vllm/helping.py": now}))
    assert sorted(finding.code for finding in found) == expected


def test_its_fix_names_both() -> None:
    [found] = find(world(npu=npu("def m(self):\n    aid(1, key=2)", head=HEAD), **{"vllm/helping.py": NEW}))
    assert found.message == (
        "`aid` (vllm/helping.py:1) does not take the keyword `key`, and requires `name`, which is not given."
    )
    assert found.fix == "Write `name=` for `key=` if that is its new name, as vllm/helping.py:1 declares it."
