"""The tests above each statement of a method."""

from __future__ import annotations

import ast
import time
from itertools import combinations, product

import pytest

from runner_sync.texts.paths import is_excluded, is_on_every_path, statements_under

METHOD = """\
    def run(self, rows):
        if not rows:
            return self.none()
        elif rows > 1:
            with self.lock:
                self.many()
        for row in rows:
            if row:
                continue
            self.empty()
        if self.is_last:
            self.last()
        else:
            raise ValueError
        self.end()
"""


def test_each_statement_stands_under_its_tests() -> None:
    found = {ast.unparse(node): dict(under) for node, under in statements_under(METHOD)}
    some = {"rows": True}
    assert {said: under for said, under in found.items() if "(" in said and "\n" not in said} == {
        "return self.none()": {"rows": False},
        "self.many()": some | {"rows > 1": True},
        "self.empty()": some | {"row": False},
        "self.last()": some | {"self.is_last": True},
        "self.end()": some | {"self.is_last": True},
    }


@pytest.mark.parametrize("text", ["rows = 1\n", "def run(:\n"])
def test_what_is_no_method_has_no_statements(text: str) -> None:
    assert list(statements_under(text)) == []


A, NOT_A, B, NOT_B = ("a", True), ("a", False), ("b", True), ("b", False)


@pytest.mark.parametrize(
    ("ways", "expected"),
    [
        ([], False),
        ([[]], True),
        ([[A]], False),
        ([[A], [NOT_A]], True),
        ([[A], [NOT_B]], False),
        ([[A, B], [A, NOT_B], [NOT_A]], True),
        ([[A, B], [NOT_A, NOT_B]], False),
        ([[A, B], [NOT_A], [NOT_B]], True),
        ([[A, B], [NOT_A, B], [A, NOT_B]], False),
    ],
)
def test_both_outcomes_of_a_test_are_every_path(ways: list[list[tuple[str, bool]]], expected: bool) -> None:
    assert is_on_every_path([frozenset(way) for way in ways]) == expected


def test_a_thousand_ways_take_no_longer_than_they_are_many() -> None:
    """All outcomes of ten tests, and all but one."""
    tests = [[(name, True), (name, False)] for name in "abcdefghij"]
    ways = [frozenset(way) for way in product(*tests)]
    began = time.process_time()
    assert is_on_every_path(ways)
    assert not is_on_every_path(ways[1:])
    assert time.process_time() - began < 5


def pigeons(holes: int) -> list[frozenset[tuple[str, bool]]]:
    """Ways of which one is always open: a pigeon has no hole, or two share one, for there is one too many of them."""
    birds = range(holes + 1)
    without = [frozenset((f"{bird} {hole}", False) for hole in range(holes)) for bird in birds]
    pairs = product(combinations(birds, 2), range(holes))
    return [*without, *(frozenset((f"{bird} {hole}", True) for bird in pair) for pair, hole in pairs)]


def test_what_takes_too_long_to_find_out_is_no_every_path() -> None:
    assert is_on_every_path(pigeons(3))
    assert not is_on_every_path(pigeons(3)[1:])
    assert not is_on_every_path(pigeons(12))


@pytest.mark.parametrize(("under", "expected"), [([NOT_A], True), ([A], False), ([NOT_B], False), ([], False)])
def test_one_path_excludes_another(under: list[tuple[str, bool]], expected: bool) -> None:
    assert is_excluded(frozenset(under), frozenset([A])) == expected
