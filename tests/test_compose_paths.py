"""The tests above each statement of a method."""

from __future__ import annotations

import ast

import pytest

from runner_sync.compose.paths import excludes, is_on_every_path, statements_under

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
    ],
)
def test_both_outcomes_of_a_test_are_every_path(ways: list[list[tuple[str, bool]]], expected: bool) -> None:
    assert is_on_every_path([frozenset(way) for way in ways]) == expected


@pytest.mark.parametrize(("under", "expected"), [([NOT_A], True), ([A], False), ([NOT_B], False), ([], False)])
def test_one_path_excludes_another(under: list[tuple[str, bool]], expected: bool) -> None:
    assert excludes(frozenset(under), frozenset([A])) == expected
