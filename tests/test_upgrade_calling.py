"""Ports whose signature somebody still calls as it was, and changes that every call fits."""

from __future__ import annotations

import pytest

from runner_sync.upgrade.calling import unfit
from runner_sync.upgrade.job import Draft, Stage

OLD = "    def fetch(self, rows, total):\n        return rows\n"
NEW = "    def fetch(self, rows, staged, total):\n        return rows\n"


def caller(arguments: str) -> str:
    return f"    def run(self, rows):\n        return self.fetch({arguments})\n"


CASES = {
    "one argument less than it takes now": (OLD, NEW, "rows, 1", "rows, 1", {"Runner.fetch": "Runner.run"}),
    "a call that was brought along": (OLD, NEW, "rows, 1", "rows, None, 1", {}),
    "a parameter with a default": (OLD, OLD.replace("total", "total, step=0"), "rows, 1", "rows, 1", {}),
    "a keyword that is gone": (OLD, NEW.replace("total", "count"), "rows, total=1", "rows, total=1", ...),
    "a call that never fitted": (OLD, NEW, "rows", "rows", {}),
    "another body": (OLD, OLD.replace("return rows", "return total"), "rows, 1", "rows, 1", {}),
    "a star that may give it": (OLD, NEW, "*rows", "*rows", {}),
}


@pytest.mark.parametrize("name", CASES)
def test_signatures_that_are_still_called_as_they_were(name: str) -> None:
    was, now, called, calls, found = CASES[name]
    drafts = [
        Draft("Runner.fetch", [Stage(was), Stage(now, "gpu")]),
        Draft("Runner.run", [Stage(caller(called)), Stage(caller(calls), "gpu")]),
    ]
    before = {draft.name: draft.before for draft in drafts}
    assert unfit(drafts, before) == ({"Runner.fetch": "Runner.run"} if found is ... else found)


def test_calls_of_another_class_are_its_own() -> None:
    drafts = [Draft("Runner.fetch", [Stage(OLD), Stage(NEW, "gpu")]), Draft("Other.run", [Stage(caller("rows, 1"))])]
    assert unfit(drafts, {draft.name: draft.before for draft in drafts}) == {}
