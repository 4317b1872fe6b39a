"""Where a value is read: in the value of the next assignment to its name, and behind a copy of itself (RS311)."""

from __future__ import annotations

import pytest
from verify_samples import find, npu, symbols, world

ASCEND = """\
from vllm.runner import GPUModelRunner

class NPUModelRunner(GPUModelRunner):
    def options(self, n):
        made = {{"rows": n}}
        if n == 0:
            return {early}
        return made
"""

NEEDS = {
    "in the next value": "made = self.options(n)\nmade = {**made, 'more': 1}\nreturn made",
    "in the next value, below its head": "made = self.options(n)\nmade = {\n    **made,\n    'b': 1,\n}\nreturn made",
    "behind a copy of itself": "made = self.options(n)\nif n:\n    made = copy(made)\n    made.rows = 1\nreturn made",
    "behind a copy of a module": "made = self.options(n)\nmade = copy.copy(made)\nreturn made.items()",
}
LEFT = {
    "the next value is another": "made = self.options(n)\nmade = {\n    'more': 1,\n}\nreturn made.items()",
    "a copy of another": "made = self.options(n)\nmade = copy(n)\nreturn made.items()",
    "a copy that is asked for": "made = self.options(n)\nmade = copy(made)\nreturn made.items() if made else 0",
    "a loop binds it": "made = self.options(n)\nfor made in n:\n    print(\n        made.rows\n    )",
}


def told(body: str) -> list[tuple[str, str]]:
    text = npu("def m(self, n):\n    " + body.replace("\n", "\n    "), head="from copy import copy\n")
    return symbols(find(*(world(npu=text, ascend=ASCEND.format(early=early)) for early in ("None", "{}"))))


@pytest.mark.parametrize("name", NEEDS)
def test_a_value_that_may_be_none_now_is_needed(name: str) -> None:
    assert told(NEEDS[name]) == [("RS311", "options")]


@pytest.mark.parametrize("name", LEFT)
def test_a_value_that_may_be_none_now_is_not(name: str) -> None:
    assert told(LEFT[name]) == []
