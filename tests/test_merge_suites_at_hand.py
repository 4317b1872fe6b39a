"""A port into a suite that already has what upstream only now comes to."""

from __future__ import annotations

from textwrap import indent

import pytest

from runner_sync.merge import PORT, merge
from runner_sync.merge.preparing.suites_at_hand import with_suites_at_hand
from runner_sync.model import Triple

OLD = """
if at < len(rows):
    row = rows[at]
    if row is not None:
        out[name] = row.clone()
"""
NEW = """
row = rows[at] if at < len(rows) else rows[0]
if row is not None:
    out[name] = row.clone()
"""
MINE = """
row = rows[at] if at < len(rows) else rows[0]
out[name] = row.clone()
"""


def method(suite: str, *, name: str = "collect") -> str:
    return f"""def {name}(self, batch, at):
    out = {{}}
    for name, rows in batch.items():
        if rows.is_whole:
            out[name] = rows
        elif rows.is_list:
{indent(suite.strip(), " " * 12)}
        else:
            self.note(name)
    return out
"""


def test_a_condition_that_only_upstream_has_comes_with_the_change() -> None:
    triple = Triple(method(OLD), method(MINE), method(NEW))
    assert with_suites_at_hand(triple) == Triple(method(MINE), method(MINE), method(NEW))
    merged = merge(triple, policy=PORT)
    assert merged.text == method(NEW)


def test_it_comes_at_the_indentation_that_omni_has() -> None:
    def deeper(suite: str) -> str:
        return method(suite).replace("    out = {}\n", "    with self.lock:\n        self.step()\n    out = {}\n")

    triple = Triple(method(OLD), deeper(MINE), method(NEW))
    assert merge(triple, policy=PORT).text == deeper(NEW)


@pytest.mark.parametrize(
    "mine",
    [
        pytest.param(MINE + "self.count(row)\n", id="a statement of its own"),
        pytest.param("row = rows[at]\nout[name] = row.clone()\n", id="nothing that is new"),
        pytest.param("out[name] = row.clone()\n" + MINE.strip().split("\n")[0], id="another order"),
        pytest.param("if row is not None:\n" + indent(MINE.strip(), "    "), id="another nesting"),
        pytest.param(OLD, id="the base's suite"),
        pytest.param(NEW, id="the new suite"),
    ],
)
def test_another_suite_of_omnis_is_no_base(mine: str) -> None:
    triple = Triple(method(OLD), method(mine), method(NEW))
    assert with_suites_at_hand(triple) == triple


@pytest.mark.parametrize(
    "new",
    [
        pytest.param(NEW + "self.count(row)\n", id="a statement more"),
        pytest.param(NEW.replace("if row is not None", "while row"), id="a loop more"),
        pytest.param(NEW + "else:\n    self.count(row)\n", id="a clause more"),
    ],
)
def test_more_than_a_condition_is_merged_as_ever(new: str) -> None:
    triple = Triple(method(OLD), method(MINE), method(new))
    assert with_suites_at_hand(triple) == triple


def test_a_suite_that_stands_twice_is_left() -> None:
    twice = [method(suite) + method(suite) for suite in (OLD, MINE, NEW)]
    assert with_suites_at_hand(Triple(*twice)) == Triple(*twice)
