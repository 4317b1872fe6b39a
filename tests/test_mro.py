"""The order in which methods are looked up."""

from __future__ import annotations

from collections import Counter

import pytest

from runner_sync import mro

HIERARCHIES = {
    "alone": ({}, "R"),
    "one after the other": ({"R": "A", "A": "B"}, "R A B"),
    "diamond": ({"R": "A B", "A": "C", "B": "C"}, "R A B C"),
    "no order": ({"R": "A B", "B": "A"}, "R A B"),
    "its own base": ({"R": "R A"}, "R A"),
    "a circle": ({"R": "A", "A": "B", "B": "R C"}, "R A B C"),
    "a circle that is entered twice": ({"R": "A B", "A": "B", "B": "A C"}, "R A B C"),
}


@pytest.mark.parametrize("name", HIERARCHIES)
def test_nearest_first(name: str) -> None:
    bases, expected = HIERARCHIES[name]
    assert " ".join(mro.linearise("R", lambda one: bases.get(one, "").split())) == expected


def test_the_bases_of_a_class_that_many_inherit_from_are_followed_once() -> None:
    """Eighteen diamonds upon each other took twelve seconds, twice as long as seventeen."""
    asked: Counter[str] = Counter()

    def bases(name: str) -> list[str]:
        asked[name] += 1
        kind, level = name[0], int(name[1:])
        return [f"L{level}", f"R{level}"] if kind == "D" else [f"D{level - 1}"] if level else []

    assert len(mro.linearise("D30", bases)) == 93
    assert set(asked.values()) == {1}
