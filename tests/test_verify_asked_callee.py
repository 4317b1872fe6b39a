"""Calls behind a question to the callee itself: `"key" in inspect.signature(f).parameters` (RS302, RS306)."""

from __future__ import annotations

import pytest
from verify_samples import find, npu, symbols, world

SIGNATURE = "inspect.signature(helper).parameters"
READY = {
    "a branch": f"if 'gone' in {SIGNATURE}:\n    helper(1, gone=2)\nelse:\n    helper(1)",
    "the other branch": f"if 'gone' not in {SIGNATURE}:\n    helper(1)\nelse:\n    helper(1, gone=2)",
    "beside more": f"if y and 'gone' in {SIGNATURE}:\n    helper(1, gone=2)",
    "an expression": f"return helper(1, gone=2) if 'gone' in {SIGNATURE} else helper(1)",
    "and": f"'gone' in {SIGNATURE} and helper(1, gone=2)",
    "behind an exit": f"if 'gone' not in {SIGNATURE}:\n    return helper(1)\nreturn helper(1, gone=2)",
    "by a local": f"known = {SIGNATURE}\nif 'gone' in known:\n    helper(1, gone=2)",
    "by the answer": f"has = 'gone' in {SIGNATURE}\nif has:\n    helper(1, gone=2)",
    "by the other answer": f"lacks = 'gone' not in {SIGNATURE}\nif not lacks:\n    helper(1, gone=2)",
    "by both": f"known = {SIGNATURE}\nhas = 'gone' in known\nif has:\n    helper(1, gone=2)",
    "by the module": "if HAS:\n    helper(1, gone=2)",
    "by a function": "if supports_kw(helper, 'gone'):\n    helper(1, gone=2)",
    "of a method": "if 'gone' in inspect.signature(self.hook).parameters:\n    self.hook(gone=1)",
    "what is required then": f"if 'a' in {SIGNATURE}:\n    helper(1)\nelse:\n    helper()",
    "what is required, by exit": f"if 'a' not in {SIGNATURE}:\n    return helper()\nreturn helper(1)",
}
KEYWORD, MISSING = [("RS306", "helper(gone=)")], [("RS302", "helper(a)")]
UNREADY = {
    "the wrong branch": (f"if 'gone' in {SIGNATURE}:\n    helper(1)\nelse:\n    helper(1, gone=2)", KEYWORD),
    "behind the branch": (f"if 'gone' in {SIGNATURE}:\n    pass\nhelper(1, gone=2)", KEYWORD),
    "in front of it": (f"helper(1, gone=2)\nif 'gone' in {SIGNATURE}:\n    pass", KEYWORD),
    "of another keyword": (f"if 'key' in {SIGNATURE}:\n    helper(1, gone=2)", KEYWORD),
    "of another function": ("if 'gone' in signature(self.hook).parameters:\n    helper(1, gone=2)", KEYWORD),
    "of something else": ("if 'gone' in y:\n    helper(1, gone=2)", KEYWORD),
    "or": (f"if y or 'gone' in {SIGNATURE}:\n    helper(1, gone=2)", KEYWORD),
    "what must have it": (f"if 'gone' not in {SIGNATURE}:\n    raise TypeError\nhelper(1, gone=2)", KEYWORD),
    "by the wrong answer": (f"has = 'gone' in {SIGNATURE}\nif not has:\n    helper(1, gone=2)", KEYWORD),
    "set to something else, too": (f"has = 'gone' in {SIGNATURE}\nhas = y\nif has:\n    helper(1, gone=2)", KEYWORD),
    "made from itself": (f"has = 'gone' in {SIGNATURE}\nhas = has or y\nif has:\n    helper(1, gone=2)", KEYWORD),
    "required where it is": (f"if 'a' in {SIGNATURE}:\n    helper()\nelse:\n    helper(1)", MISSING),
}
HEAD = f"import inspect\nHAS = 'gone' in {SIGNATURE}"


def told(body: str) -> list[tuple[str, str]]:
    text = npu("def m(self, y):\n    " + body.replace("\n", "\n    "), head=HEAD)
    return symbols(find(world(npu=text)))


@pytest.mark.parametrize("name", READY)
def test_a_callee_that_is_asked(name: str) -> None:
    assert not told(READY[name])


@pytest.mark.parametrize("name", UNREADY)
def test_a_callee_that_is_not(name: str) -> None:
    body, expected = UNREADY[name]
    assert told(body) == expected
