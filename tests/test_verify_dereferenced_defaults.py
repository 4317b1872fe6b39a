"""An argument that is new and `None` by default, and that what is called takes for an object (RS325)."""

from __future__ import annotations

from typing import Any

import pytest
from verify_samples import find, npu, world

RUNNER = """\
from elsewhere import Thing
from vllm.runner import GPUModelRunner
class Drafter:
    def draft(self, rows, limit):
        {drafts}
class Other:
    def draft(self, rows, most):
        {others}
class Idle:
    def stop(self):
        pass
class Open:
    def draft(self, rows, *more):
        pass
class Far(Thing):
    pass
def shorten(rows, limit):
    return rows[: limit.rows]
class NPUModelRunner(GPUModelRunner):
    def __init__(self, config):
        super().__init__(config)
        self.drafter: {held} = None
        self.wide = False
    def pad(self, tokens, {takes}):
        {does}
    def execute(self, rows, wide):
        self.pad(rows, {passes})
"""
OLD = {
    "takes": "*, key=1",
    "does": "pass",
    "passes": "key=2",
    "drafts": "return limit.rows",
    "others": "return most[0]",
    "held": "Drafter | Idle | None",
}
NEW = OLD | {"takes": "*, key=1, limit=None", "passes": "limit=rows"}
OWN = "def execute(self, rows, wide):\n    self.pad(rows)"
HANDS = {"does": "self.drafter.draft(tokens, limit)"}
TRIES = "def execute(self, rows, wide):\n    try:\n        self.pad(rows)\n    except {}:\n        pass"


def lines(*statements: str) -> dict[str, str]:
    """What the function does, statement by statement."""
    return {"does": "\n        ".join(statements)}


TOLD: dict[str, dict[str, Any]] = {
    "an attribute": {"new": lines("self.rows = limit.rows")},
    "an attribute that is set": {"new": lines("limit.rows = 1")},
    "an item": {"new": lines("self.rows = limit[0]")},
    "a call": {"new": lines("limit()")},
    "by position": {"new": {"takes": "limit=None, key=1", "passes": "rows", **lines("limit.clear()")}},
    "under a condition on something else": {"new": lines("if self.wide:", "    limit.clear()")},
    "under a condition on what is given": {"new": lines("if tokens:", "    limit.clear()")},
    "in a condition": {"new": lines("if limit.rows:", "    limit.clear()")},
    "by a function": {"new": lines("shorten(tokens, limit)")},
    "by a function, by keyword": {"new": lines("shorten(rows=tokens, limit=limit)")},
    "by an object": {"new": HANDS},
    "by an object whose kind is asked": {
        "new": lines("if isinstance(self.drafter, Idle):", "    pass", "else:", "    self.drafter.draft(1, limit)"),
    },
    "by each of several objects": {"new": {"held": "Drafter | Other | Idle", **HANDS}},
    "after it was handed to something unknown": {"new": lines("print(limit)", "limit.clear()")},
}
LEFT: dict[str, dict[str, Any]] = {
    "it is given here": {"own": "def execute(self, rows, wide):\n    self.pad(rows, limit=2)"},
    "what is given may hold it": {"own": "def execute(self, rows, wide, **more):\n    self.pad(rows, **more)"},
    "the hidden method does not pass it": {"new": {"passes": "key=2"}},
    "the hidden method passes it in one of two calls": {"new": {"passes": "limit=rows)\n        self.pad(2"}},
    "the hidden method passes nothing": {"new": {"passes": "limit=None"}},
    "the hidden method passes nothing in one of two calls": {
        "new": {"passes": "limit=rows)\n        self.pad(2, limit=None"}
    },
    "it is not new": {"old": {"takes": "*, key=1, limit=None"}},
    "another default": {"new": {"takes": "*, limit=()"}},
    "nothing is hidden": {"own": "def run(self, rows):\n    self.pad(rows)"},
    "a failing call is expected": {"own": TRIES.format("TypeError")},
    "a failing attribute is expected": {"own": TRIES.format("AttributeError")},
    "only kept": {"new": lines("self.limit = limit")},
    "only handed on to something unknown": {"new": lines("self.config.pad(limit)")},
    "what each object has": {"new": lines("self.rows = limit.__class__")},
    "as a key": {"new": lines("self.rows = tokens[limit]", "limit.clear()")},
    "None is asked for": {"new": lines("if limit is not None:", "    limit.clear()")},
    "None is asked for elsewhere": {"new": lines("limit.clear() if self.wide else None", "assert tokens or not limit")},
    "it has to be given": {"new": lines("assert limit is not None", "limit.clear()")},
    "its truth is asked for": {"new": lines("if limit:", "    limit.clear()")},
    "its truth is asked for with others": {"new": lines("if self.wide and limit:", "    limit.clear()")},
    "another value in its place": {"new": lines("limit = limit or tokens", "limit.clear()")},
    "another value in its place by a function": {"new": lines("limit = self.config(limit)", "limit.clear()")},
    "its kind is asked for": {"new": lines("if isinstance(limit, str):", "    limit.strip()")},
    "its kind is noted": {"new": lines("self.wide = isinstance(limit, str)", "if self.wide:", "    limit.strip()")},
    "a function tells whether it is there": {"new": lines("if self.config.has(limit):", "    limit.clear()")},
    "under another name it may be asked for": {
        "new": lines("self.limit = limit", "if self.limit is not None:", "    limit.clear()")
    },
    "an import has the name": {"new": lines("from vllm.runner import helper as limit", "limit.clear()")},
    "an inner function has the name": {"new": lines("def inner(limit):", "    limit.clear()", "self.inner = inner")},
    "an inner function that nobody need call": {"new": lines("self.inner = lambda: limit.clear()")},
    "under a condition on what is left out, too": {"new": lines("if key > 1:", "    limit.clear()")},
    "behind such a condition": {"new": lines("if not key:", "    return", "limit.clear()")},
    "under a condition made of such": {"new": lines("many = key > 1", "if many:", "    limit.clear()")},
    "under a condition set by such": {
        "new": lines("many = False", "if key:", "    many = True", "if many:", "    limit.clear()")
    },
    "under a condition on a constant": {
        "own": "def execute(self, rows, wide):\n    self.pad(rows, key=1)",
        "new": lines("if key > 1:", "    limit.clear()"),
    },
    "a failure in it is expected": {"new": lines("try:", "    limit.clear()", "except AttributeError:", "    pass")},
    "a failing call in it is expected": {"new": lines("try:", "    limit()", "except TypeError:", "    pass")},
    "it is handed round": {"new": lines("self.pad(tokens, limit=limit)")},
    "what it is handed to asks": {"new": {**HANDS, "drafts": "return limit.rows if limit else 0"}},
    "one of those that it is handed to asks": {
        "new": {**HANDS, "held": "Drafter | Other | Idle", "others": "return most and most.rows"}
    },
    "nobody knows what it is handed to": {"new": {**HANDS, "held": "Unknown | Drafter"}},
    "nobody knows what one of those has": {"new": {**HANDS, "held": "Far | Drafter"}},
    "nothing has what it is handed to": {"new": {**HANDS, "held": "Idle"}},
    "one of those takes it with others": {"new": {**HANDS, "held": "Drafter | Open"}},
    "it is handed on where it is there": {"new": lines("if limit:", "    shorten(tokens, limit)")},
    "a value is lost, which says more": {
        "own": "def execute(self, rows, wide):\n    self.pad(1, rows)",
        "old": {"takes": "rows=1", "does": "self.rows = rows"},
        "new": {"takes": "rows=1, limit=None", "passes": "rows, limit=rows", **lines("rows = limit.rows")},
    },
}


def told(*, own: str = OWN, **changed: dict[str, str]) -> list[str]:
    old, new = OLD | changed.get("old", {}), NEW | lines("limit.clear()") | changed.get("new", {})
    now, before = (world(npu=npu(own), ascend=RUNNER.format(**given)) for given in (new, old))
    return [finding.symbol for finding in find(now, before) if finding.code == "RS325"]


@pytest.mark.parametrize("name", TOLD)
def test_a_default_that_is_taken_for_an_object(name: str) -> None:
    assert told(**TOLD[name]) == ["pad(limit)"]


@pytest.mark.parametrize("name", LEFT)
def test_a_default_that_does_no_harm_or_may_do_none(name: str) -> None:
    assert told(**LEFT[name]) == []


def test_the_message_says_who_fails() -> None:
    given = NEW | HANDS
    new, old = (world(npu=npu(OWN), ascend=RUNNER.format(**rows)) for rows in (given, OLD))
    [finding] = find(new, old)
    assert finding.severity == "error"
    assert "vllm_ascend/runner.py:5 (Drafter.draft) reads `rows` of a value that is `None` then." in finding.message
