"""Two opposite conditions of base and upstream that omni has as an ``if`` and an ``else``."""

from __future__ import annotations

import pytest

from runner_sync.merge import FOLLOW, PORT, Policy, merge
from runner_sync.merge.preparing.complementary import with_else_as_condition
from runner_sync.model import Triple

BASE = """def run(self, batch, rows):
    self.begin(batch)
    if self.cache is not None:
        rows = self.cached(batch, self.limit)
    if self.cache is None:
        made = build(batch, self.limit)
    return made
"""
SECOND = "    if self.cache is None:"
MORE = "    if self.cache is None or rows is None:"
OMNI = BASE.replace(SECOND, "    else:")


CHANGED = BASE.replace(SECOND, MORE)
SIDES = (BASE, OMNI, CHANGED)


@pytest.mark.parametrize("policy", [FOLLOW, PORT])
@pytest.mark.parametrize("between", ["", "    note(batch)\n"])
@pytest.mark.parametrize(
    ("test", "opposite"),
    [
        ("self.cache is not None", "self.cache is None"),
        ("self.is_cached", "not self.is_cached"),
        ("not self.is_late", "self.is_late"),
        ("self.kind == 'rows'", "self.kind != 'rows'"),
        ("self.kind not in KINDS", "self.kind in KINDS"),
    ],
)
def test_an_else_gets_the_new_form_of_the_opposite_condition(
    test: str, opposite: str, between: str, policy: Policy
) -> None:
    """Also where base and upstream have something in between."""

    def written(text: str) -> str:
        text = text.replace("self.cache is not None", test).replace("self.cache is None", opposite)
        return text.replace("self.limit)\n    if", f"self.limit)\n{between}    if")

    merged = merge(Triple(written(BASE), written(OMNI), written(CHANGED)), policy=policy)
    assert merged.text == written(CHANGED).replace(between, "")
    assert merged.decisions == ()


def test_omnis_own_edits_of_both_branches_stay() -> None:
    def edited(text: str) -> str:
        return text.replace("self.limit)", "self.limit, npu=True)").replace(
            "rows = self.cached", "rows, _ = self.cached"
        )

    merged = merge(Triple(BASE, edited(OMNI), CHANGED), policy=PORT)
    assert merged.text == edited(CHANGED)
    assert merged.decisions == ()


CACHED = "rows = self.cached(batch, self.limit)"


@pytest.mark.parametrize(
    ("base", "omni", "upstream"),
    [
        pytest.param(BASE, OMNI, BASE.replace("begin", "start"), id="the condition is unchanged"),
        pytest.param(BASE, OMNI, BASE.replace(SECOND, "    while rows is None:"), id="it is no condition now"),
        pytest.param(BASE, OMNI.replace("is not None", "is not NONE"), CHANGED, id="omni asks something else"),
        pytest.param(BASE, OMNI.replace(CACHED, "self.cache = None"), CHANGED, id="omni sets what it asks about"),
        pytest.param(BASE, OMNI.replace(CACHED, "del self.cache"), CHANGED, id="omni deletes what it asks about"),
        pytest.param(
            BASE, OMNI.replace("made = build(batch, self.limit)", "self.drop(rows)"), CHANGED, id="other work"
        ),
        pytest.param(BASE, OMNI.replace("else:", "elif rows:"), CHANGED, id="another branch"),
        pytest.param(BASE, OMNI.replace("else:", "elif rows:\n        pass\n    else:"), CHANGED, id="a third branch"),
        pytest.param(BASE, OMNI.replace("else:", "else:  # ours"), CHANGED, id="a comment on the else"),
        pytest.param(BASE, OMNI + OMNI.partition("begin(batch)\n")[2], CHANGED, id="omni has it twice"),
        pytest.param(OMNI, OMNI, CHANGED, id="the base has an else, too"),
        pytest.param(*(text.replace("self.cache is", "self.cache() is") for text in SIDES), id="a call"),
        pytest.param(
            *(text.replace("is not None", "> 0").replace("is None", "<= 0") for text in SIDES), id="no number"
        ),
    ],
)
def test_nothing_is_rewritten(base: str, omni: str, upstream: str) -> None:
    triple = Triple(base, omni, upstream)
    assert with_else_as_condition(triple) == triple


@pytest.mark.parametrize(
    "does", ["self.rows.pop()", "clear(self.rows)", "clear(rows=self.rows)", "self.rows[0] = batch"]
)
def test_nothing_is_rewritten_where_the_branch_may_change_the_object_that_is_asked(does: str) -> None:
    base, omni, upstream = (
        text.replace("self.cache is not None", "self.rows").replace("self.cache is None", "not self.rows")
        for text in SIDES
    )
    triple = Triple(base, omni.replace(CACHED, f"{CACHED}\n        {does}"), upstream)
    assert with_else_as_condition(triple) == triple


def test_nothing_is_rewritten_for_a_third_partys_condition() -> None:
    triple = Triple(*SIDES)
    assert with_else_as_condition(triple, {MORE.strip().removesuffix(":")}) == triple
