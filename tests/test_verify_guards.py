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
    "asked for": "if hasattr(self, 'gone'):\n    return self.gone",
    "asked for in front": "return hasattr(self, 'gone') and self.gone",
    "lacked or": "return not hasattr(self, 'gone') or self.gone",
    "asked for behind": "return self.gone if hasattr(self, 'gone') else 1",
    "in the other branch": "if not hasattr(self, 'gone'):\n    y()\nelse:\n    y(self.gone)",
    "left without": "if not hasattr(self, 'gone'):\n    return 1\nreturn self.gone",
    "raised without": "if not hasattr(self, 'gone'):\n    raise ValueError\nreturn self.gone",
    "gone on without": "for x in y:\n    if not hasattr(self, 'gone'):\n        continue\n    x(self.gone)",
    "left without, in both branches of a branch": (
        "if not hasattr(self, 'gone'):\n    if y:\n        return 1\n    else:\n        return 2\nreturn self.gone"
    ),
    "left without, in a with": "if not hasattr(self, 'gone'):\n    with y:\n        return 1\nreturn self.gone",
    "left without, in a try": (
        "if not hasattr(self, 'gone'):\n    try:\n        return y()\n    except KeyError:\n        return 1\n"
        "return self.gone"
    ),
    "left without, within a with": "with y:\n    if not hasattr(self, 'gone'):\n        return 1\nreturn self.gone",
    "left without, within a try": (
        "try:\n    if not hasattr(self, 'gone'):\n        return 1\nexcept KeyError:\n    return 2\nreturn self.gone"
    ),
    "left without, whatever else is so": (
        "if y:\n    if not hasattr(self, 'gone'):\n        return 1\n"
        "elif not hasattr(self, 'gone'):\n    return 2\nreturn self.gone"
    ),
    "left with or gone on with": "if hasattr(self, 'gone'):\n    y()\nelse:\n    return 1\nreturn self.gone",
    "left a loop with": "while True:\n    if hasattr(self, 'gone'):\n        break\n    wait()\nreturn self.gone",
    "insisted on": "assert hasattr(self, 'gone')\nreturn self.gone",
    "insisted on by a name": "has = not hasattr(self, 'gone')\nif has:\n    return 1\nreturn self.gone",
    "a name made from itself": "has = y\nhas = has and hasattr(self, 'gone')\nif has:\n    return self.gone",
    "a value that is there": "if getattr(self, 'gone', None):\n    return self.gone",
    "a value that is not None": "if getattr(self, 'gone', None) is not None:\n    return self.gone",
    "a value that is None": "if (g := getattr(self, 'gone', None)) is None:\n    return 1\nreturn self.gone + g",
    "a value by a name": "g = getattr(self, 'gone', None)\nif g is None or y:\n    return 1\nreturn self.gone",
    "a value like another": "if getattr(self, 'gone', 0) == 1:\n    return self.gone",
    "a value unlike another": "if getattr(self, 'gone', 'a') != 'b':\n    return 1\nreturn self.gone",
    "a value that is no marker": "if getattr(self, 'gone', NONE) is not NONE:\n    return self.gone",
    "a value of a kind": "if isinstance(getattr(self, 'gone', None), int):\n    return self.gone",
    "a truth": "if bool(getattr(self, 'gone', None)):\n    return self.gone",
    "a value compared in a way not understood": "if getattr(self, 'gone', 0) > y:\n    return self.gone",
    "the other side of it": "if getattr(self, 'gone', 0) > y:\n    return 1\nreturn self.gone",
    "handed on": "if not y(hasattr(self, 'gone')):\n    return 1\nreturn self.gone",
    "in a comprehension": "return [self.gone for x in y if x if hasattr(self, 'gone')]",
    "in a further loop of it": "return [z for x in y if hasattr(self, 'gone') for z in self.gone]",
    "a case": "match y:\n    case 1 if hasattr(self, 'gone'):\n        return self.gone",
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
    "left with": "if hasattr(self, 'gone'):\n    return 1\nreturn self.gone",
    "left with, by name": "has = hasattr(self, 'gone')\nif has:\n    return 1\nreturn self.gone",
    "gone on with": "for x in y:\n    if hasattr(self, 'gone'):\n        continue\n    x(self.gone)",
    "in the branch without": "if not hasattr(self, 'gone'):\n    return self.gone",
    "in the else of it": "if hasattr(self, 'gone'):\n    y()\nelse:\n    y(self.gone)",
    "lacked and": "return not hasattr(self, 'gone') and self.gone",
    "had or": "return hasattr(self, 'gone') or self.gone",
    "the other of two": "return 1 if hasattr(self, 'gone') else self.gone",
    "in front of the test": "return self.gone and hasattr(self, 'gone')",
    "in front of the filter": "return [x for x in self.gone if hasattr(self, 'gone')]",
    "left without, at times": ("if not hasattr(self, 'gone'):\n    if y:\n        return 1\nreturn self.gone"),
    "left without, if nothing swallows it": (
        "if not hasattr(self, 'gone'):\n    with suppress(KeyError):\n        return 1\nreturn self.gone"
    ),
    "left without, in one branch": "if y:\n    if not hasattr(self, 'gone'):\n        return 1\nreturn self.gone",
    "left without, unless caught": (
        "try:\n    assert hasattr(self, 'gone')\nexcept AssertionError:\n    y()\nreturn self.gone"
    ),
    "left a loop without": "while True:\n    if not hasattr(self, 'gone'):\n        break\n    y()\nreturn self.gone",
    "left a loop by two ways": (
        "while True:\n    if hasattr(self, 'gone'):\n        break\n    if y:\n        break\nreturn self.gone"
    ),
    "insisted that it lacks": "assert not hasattr(self, 'gone')\nreturn self.gone",
    "without a value": "if getattr(self, 'gone', None):\n    return 1\nreturn self.gone",
    "with None": "if getattr(self, 'gone', None) is None:\n    return self.gone",
    "by a default that is true": "if getattr(self, 'gone', True):\n    return self.gone",
    "like the default": "if getattr(self, 'gone', 0) == 0:\n    return self.gone",
    "not of a kind": "if isinstance(getattr(self, 'gone', None), int):\n    return 1\nreturn self.gone",
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
