"""Arguments whose values nothing sets: what omni had dropped, or never had, and upstream's call now names."""

from __future__ import annotations

import re

import pytest

from runner_sync.fitting.unset import drop_unset_argument

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
        pytest.param(
            "self.pack(\n            rows,  # keep\n            routed=routed,  # new\n            ids=ids,\n        )",
            "self.pack(\n            rows,  # keep\n            ids=ids,\n        )",
            id="between remarks, its own and one that stays",
        ),
        pytest.param(
            "self.pack(\n            rows,  # keep\n            routed=routed)",
            "self.pack(\n            rows,  # keep\n            )",
            id="in front of the bracket, below a remark",
        ),
        pytest.param(
            'self.pack(rows, ids=ids, **({"routed": routed} if self.is_routed else {}))',
            "self.pack(rows, ids=ids)",
            id="behind two stars",
        ),
        pytest.param("self.pack(rows, ids=[ids for ids in routed])", "self.pack(rows)", id="read in a comprehension"),
    ],
)
def test_an_argument_that_nothing_sets_is_left_out(call: str, expected: str) -> None:
    text = BEFORE.replace("self.pack(rows, ids=ids)", call)
    mended = drop_unset_argument(BEFORE, text, UPSTREAM)
    assert mended is not None
    assert mended.text == BEFORE.replace("self.pack(rows, ids=ids)", expected)
    assert re.fullmatch(r"left out: (\w+=|the argument behind \*\*), because nothing here sets routed", mended.reason)
    assert (mended.line, mended.is_gone) == (3, True)
    assert drop_unset_argument(BEFORE, mended.text, UPSTREAM) is None


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
            BEFORE.replace("ids=ids", '**{"ids": ids}'),
            BEFORE.replace("ids=ids", '**{"ids": ids, "routed": routed}'),
            id="behind two stars, as before",
        ),
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
    assert drop_unset_argument(before, text, UPSTREAM) is None


CALL = "return self.pack(rows, ids=ids)"
SAME = UPSTREAM.replace("routed = self.routed(rows)", "routed = self.old_routed()")


@pytest.mark.parametrize(
    ("before", "base", "is_settled"),
    [
        pytest.param(BEFORE, SAME, True, id="omni had left it out"),
        pytest.param(BEFORE, UPSTREAM.replace("self.pack(rows", "self.pack(1"), True, id="of a call that has changed"),
        pytest.param(BEFORE, BEFORE, False, id="new in the call"),
        pytest.param(BEFORE, "", False, id="no base at hand"),
        pytest.param(BEFORE, SAME.replace("routed=routed", "routed=routed[:1]"), False, id="another value"),
        pytest.param(BEFORE, SAME.replace("self.pack", "self.put"), False, id="in another call"),
        pytest.param(BEFORE.replace(CALL, "return rows"), SAME, False, id="of a call that omni did not have"),
    ],
)
def test_what_omni_had_left_out_of_the_same_call_is_no_news(before: str, base: str, is_settled: bool) -> None:
    """``routed_experts=`` of vllm-ascend 0.25.1rc1, which vllm-omni 0.27.0 sets on the record instead."""
    mended = drop_unset_argument(before, BEFORE.replace("ids=ids", "ids=ids, routed=routed"), UPSTREAM, base=base)
    assert mended is not None
    assert (mended.text, mended.is_settled) == (BEFORE, is_settled)
