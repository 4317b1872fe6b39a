"""What calls leave out: a parameter that is given or nothing works (RS302)."""

from __future__ import annotations

import pytest
from verify_samples import ascend, find, npu, symbols, world

INSISTS = {
    "an assertion": ("assert rows is not None", True),
    "an assertion of its truth": ("assert rows", True),
    "an error": ("if rows is None:\n        raise ValueError", True),
    "behind another statement": ("size = 1\n    assert rows is not None", True),
    "behind a return for another reason": ("if not self.on:\n        return 1\n    assert rows is not None", True),
    "a value of its own": ("rows = rows or self.rows\n    assert rows is not None", False),
    "a value of its own in a branch": ("if rows is None:\n        rows = 1\n    assert rows is not None", False),
    "a return without it": ("if not rows:\n        return 1\n    assert rows is not None", False),
    "an assertion in a branch": ("if self.on:\n        assert rows is not None", False),
    "an assertion in an inner function": ("def add():\n        assert rows is not None\n    return add", False),
    "an assertion of something else": ("assert rows is None", False),
    "an error in a branch of it": ("if rows is None:\n        self.n = 1", False),
}


@pytest.mark.parametrize("name", INSISTS)
def test_a_parameter_that_has_to_be_given(name: str) -> None:
    body, is_told = INSISTS[name]
    method = "def fill(self, n, rows=None):\n    {}\n    return n"
    call = npu("def work(self):\n    return self.fill(1)")
    old, new = (world(npu=call, ascend=ascend(method.format(text))) for text in ("pass", body))
    assert symbols(find(new, old)) == ([("RS302", "fill(rows)")] if is_told else [])
    given = npu("def work(self):\n    return self.fill(1, rows=[1])")
    assert find(world(npu=given, ascend=ascend(method.format(body)))) == []


def test_it_is_said_why_a_default_does_not_do() -> None:
    upstream = ascend("def fill(self, n, *, rows=None):\n    assert rows is not None\n    return n")
    (found,) = find(world(npu=npu("def work(self):\n    return self.fill(1)"), ascend=upstream))
    assert found.message.endswith("requires `rows`, which is not given: it refuses the default `None`.")


def test_a_default_that_is_not_none_is_no_refusal() -> None:
    upstream = ascend("def fill(self, n, rows=()):\n    assert rows is not None\n    return n")
    assert find(world(npu=npu("def work(self):\n    return self.fill(1)"), ascend=upstream)) == []
