"""What the text of a member tells: which of a class's methods it reaches."""

from __future__ import annotations

import pytest

from runner_sync.texts.member_text import find_reached

METHODS = {
    "pack": "def pack(self, rows):\n    return self.count(rows)\n",
    "count": "def count(self, rows):\n    return self.count(rows[1:]) + 1\n",
    "send": "def send(self):\n    self.pack(self.rows)\n",
}


@pytest.mark.parametrize(
    ("text", "reached"),
    [
        ("def run(self):\n    self.send()\n", {"send", "pack", "count"}),
        ("def run(self):\n    return self.count(rows)\n", {"count"}),
        ("def run(self):\n    pack(rows)\n    other.send()\n", set()),
    ],
    ids=["through others", "a method that calls itself", "no method of the class"],
)
def test_methods_are_reached_directly_or_through_others(text: str, reached: set[str]) -> None:
    assert find_reached(text, METHODS) == reached
