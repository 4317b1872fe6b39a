"""The GPU twin without a mixin: what goes with it, and what looks like it and stays."""

from __future__ import annotations

import textwrap

import pytest

from runner_sync.sync.mixing import given_names, without

NAMES = frozenset({"send", "attach", "_pending", "_connector"})

CASES = {
    "a statement that calls it goes": (
        """
        self.send(rows)
        self.total = rows
        """,
        "self.total = rows",
    ),
    "a condition on it goes with its suite": (
        """
        if hasattr(self, "_connector"):
            for row in rows:
                self.note(row)
        self.total = rows
        """,
        "self.total = rows",
    ),
    "a suite that holds nothing else goes": (
        """
        with self.timed():
            for row in rows:
                self.send(row)
        self.total = rows
        """,
        "self.total = rows",
    ),
    "a suite that holds more stays": (
        """
        with self.timed():
            self.send(rows)
            self.total = rows
        """,
        """
        with self.timed():
            self.total = rows
        """,
    ),
    "a branch of its own becomes empty": (
        """
        if rows:
            self.send(rows)
        else:
            self.total = rows
        """,
        """
        if rows:
            pass
        else:
            self.total = rows
        """,
    ),
    "what it wrapped is returned as before": ("return self.attach(self.finish(rows))", "return self.finish(rows)"),
    "a local that served only it goes": (
        """
        known = {"a", "b"}
        if self.kind in known:
            self.send(rows)
        return rows
        """,
        "return rows",
    ),
    "a local that serves others stays": (
        """
        known = {"a", "b"}
        if self.kind in known:
            self.send(known)
        return known
        """,
        """
        known = {"a", "b"}
        return known
        """,
    ),
    "another object's method of that name stays": ("return channel.send(rows)", "return channel.send(rows)"),
    "a call with two arguments is no wrapper": (
        """
        if rows:
            return self.attach(rows, 1)
        return rows
        """,
        "return rows",
    ),
    "a method of nothing else stays whole": ("self.send(rows)", "self.send(rows)"),
}


def method(body: str) -> str:
    return textwrap.indent(
        "def finish(self, rows):\n" + textwrap.indent(textwrap.dedent(body).strip("\n"), "    "), "    "
    )


@pytest.mark.parametrize("name", CASES)
def test_without(name: str) -> None:
    before, after = CASES[name]
    assert without(method(before), NAMES) == method(after)


def test_names_are_those_that_a_class_gives_to_its_instances() -> None:
    text = """
class Mixin:
    limit: int = 4

    def __init__(self):
        self._pending = {}

    def send(self, rows):
        other.total = rows
        self._pending[0] = rows

class Other:
    def receive(self):
        self.rows = 0
"""
    assert given_names(text, "Mixin") == {"_pending", "send"}
