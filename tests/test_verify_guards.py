"""Which questions make a member safe to read (RS304): loops that wait for it, and questions after several names."""

from __future__ import annotations

import pytest
from verify_samples import find, npu, symbols, world

SAFE = {
    "waited for": "while not hasattr(self, 'gone'):\n    wait()\nreturn self.gone",
    "waited for with more": "while not hasattr(self, 'gone') or self.sp:\n    wait()\nreturn self.gone",
    "waited for in a loop": "for x in y:\n    while not hasattr(self, 'gone'):\n        wait()\n    x(self.gone)",
    "waited for, with a loop that breaks": (
        "while not hasattr(self, 'gone'):\n    for x in y:\n        break\nreturn self.gone"
    ),
    "in the loop": "while hasattr(self, 'gone'):\n    self.gone()",
    "all of several": "if all(hasattr(self, n) for n in ('gone', 'x')):\n    return self.gone",
    "all of a list": "if all([hasattr(self, n) for n in ['gone', 'x']]):\n    return self.gone",
    "not all of several": "if not all(hasattr(self, n) for n in ('gone', 'x')):\n    return\nreturn self.gone",
    "all of them by a name": "has = all(hasattr(self, n) for n in {'gone'})\nif has:\n    return self.gone",
    "any that lacks": "if any(not hasattr(self, n) for n in ('gone', 'x')):\n    return\nreturn self.gone",
    "all waited for": "while not all(hasattr(self, n) for n in ('gone', 'x')):\n    wait()\nreturn self.gone",
}
UNSAFE = {
    "waited for another": "while not hasattr(self, 'other'):\n    wait()\nreturn self.gone",
    "waited for on another": "while not hasattr(self.config, 'gone'):\n    wait()\nreturn self.gone",
    "not waited for": "while not hasattr(self, 'gone'):\n    break\nreturn self.gone",
    "waited for or else": "while not hasattr(self, 'gone') and self.sp:\n    wait()\nreturn self.gone",
    "behind what it is used up in": "while hasattr(self, 'gone'):\n    drop()\nreturn self.gone",
    "in front": "self.gone()\nwhile not hasattr(self, 'gone'):\n    wait()",
    "others": "if all(hasattr(self, n) for n in ('other', 'x')):\n    return self.gone",
    "any of several": "if any(hasattr(self, n) for n in ('gone', 'x')):\n    return self.gone",
    "some of several": "if all(hasattr(self, n) for n in ('gone', 'x') if n in y):\n    return self.gone",
    "of other names": "if all(hasattr(self, m) for n in ('gone', 'x')):\n    return self.gone",
    "outside the branch": "if all(hasattr(self, n) for n in ('gone', 'x')):\n    pass\nreturn self.gone",
}


def told(body: str) -> list[tuple[str, str]]:
    return symbols(find(world(npu=npu("def m(self, y):\n    " + body.replace("\n", "\n    ")))))


@pytest.mark.parametrize("name", SAFE)
def test_a_question_that_makes_it_safe(name: str) -> None:
    assert not told(SAFE[name])


@pytest.mark.parametrize("name", UNSAFE)
def test_a_question_that_does_not(name: str) -> None:
    assert told(UNSAFE[name]) == [("RS304", "gone")]
