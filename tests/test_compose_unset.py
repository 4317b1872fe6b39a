"""Arguments whose values nothing sets: what omni had dropped, or never had, and upstream's call now names."""

from __future__ import annotations

import re

import pytest

from runner_sync.compose.unset import left_out

BEFORE = """\
    def run(self, rows):
        ids = self.ids(rows)
        return self.pack(rows, ids=ids)
"""
UPSTREAM = """\
    def run(self, rows):
        ids = self.ids(rows)
        routed = self.routed(rows)
        return self.pack(rows, ids=ids, routed=routed)
"""


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        pytest.param("self.pack(rows, ids=ids, routed=routed)", "self.pack(rows, ids=ids)", id="the last"),
        pytest.param("self.pack(rows, routed=routed, ids=ids)", "self.pack(rows, ids=ids)", id="one of them"),
        pytest.param("self.pack(routed=routed, ids=ids)", "self.pack(ids=ids)", id="the first"),
        pytest.param("self.pack(routed=routed)", "self.pack()", id="the only one"),
        pytest.param("self.pack(rows, routed=routed[:1])", "self.pack(rows)", id="read in a value"),
        pytest.param(
            "self.pack(\n            rows,\n            routed=routed,\n            **more,\n        )",
            "self.pack(\n            rows,\n            **more,\n        )",
            id="on lines of their own",
        ),
        pytest.param("self.pack(rows, ids=[ids for ids in routed])", "self.pack(rows)", id="read in a comprehension"),
    ],
)
def test_an_argument_that_nothing_sets_is_left_out(call: str, expected: str) -> None:
    text = BEFORE.replace("self.pack(rows, ids=ids)", call)
    mended = left_out(BEFORE, text, UPSTREAM)
    assert mended is not None
    assert mended.text == BEFORE.replace("self.pack(rows, ids=ids)", expected)
    assert re.fullmatch(r"left out: \w+=, for nothing here sets routed", mended.reason)
    assert (mended.line, mended.is_gone) == (3, True)
    assert left_out(BEFORE, mended.text, UPSTREAM) is None


@pytest.mark.parametrize(
    ("before", "text"),
    [
        pytest.param(BEFORE, UPSTREAM, id="it is set"),
        pytest.param(BEFORE, BEFORE, id="nothing new"),
        pytest.param(BEFORE, BEFORE.replace("ids=ids", "routed=other"), id="no local of upstream's"),
        pytest.param(
            BEFORE.replace("ids=ids", "routed=routed"),
            BEFORE.replace("ids=ids", "routed=routed"),
            id="it read it before",
        ),
        pytest.param(BEFORE, BEFORE.replace("ids=ids", "routed"), id="by position"),
        pytest.param(
            BEFORE,
            BEFORE.replace("self, rows):", "self, rows, routed):").replace("ids=ids", "r=routed"),
            id="parameter",
        ),
        pytest.param(
            BEFORE,
            BEFORE.replace("ids=ids", "routed, key=lambda routed: routed.size"),
            id="the parameter of a lambda of its own",
        ),
        pytest.param(
            BEFORE,
            BEFORE.replace("ids=ids", "routed, ids=[routed.id for routed in ids]"),
            id="the variable of a comprehension of its own",
        ),
        pytest.param(
            BEFORE,
            BEFORE.replace("self.pack(rows, ids=ids)", "self.pack(routed, lambda routed: self.pack(ids=routed))"),
            id="the parameter of a lambda around the call",
        ),
    ],
)
def test_what_stays(before: str, text: str) -> None:
    assert left_out(before, text, UPSTREAM) is None
