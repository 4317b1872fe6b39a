"""Whether another call takes what it is given now, where the texts at hand tell."""

from __future__ import annotations

import pytest

from runner_sync.merge import merge
from runner_sync.model import Triple
from runner_sync.upgrade.questions.answered import drop_answered

TAKES = {"OwnOutput": frozenset({"rows", "ids", "payload", "stats"}), "Closed": frozenset({"rows", "ids"})}


@pytest.mark.parametrize(
    ("own", "more", "is_left"),
    [
        pytest.param("OwnOutput(rows=rows, payload=payload, ids=ids", "stats=stats", False, id="fields of a base"),
        pytest.param(
            "dict(rows=rows, payload=payload, ids=ids", "stats=stats", False, id="a call that takes everything"
        ),
        pytest.param("Closed(rows=rows, ids=ids", "stats=stats", False, id="a field that is set on the record"),
        pytest.param("self.send(Closed(rows=rows, ids=ids", "stats=stats", True, id="a record without the field"),
        pytest.param("Unknown(rows=rows, ids=ids", "stats=stats", True, id="a class that no text shows"),
        pytest.param("OwnOutput(rows=rows, payload=payload, ids=ids", "**more", True, id="keywords that nothing shows"),
        pytest.param("OwnOutput(rows, ids=ids", "stats=stats", True, id="a value by position"),
        pytest.param("self.own(rows=rows, ids=ids", "stats=stats", True, id="a method"),
    ],
)
def test_a_call_that_takes_what_it_is_given_is_no_question(own: str, more: str, is_left: bool) -> None:
    """`num_nans_in_logits=` of vllm-ascend 0.29.0rc1, a field of the base of `OmniModelRunnerOutput`."""
    given = f"{'rows=rows' if 'rows=rows' in own else 'rows'}, ids=ids"
    head, bracket = ("self.send(", "))") if own.startswith("self.send") else ("made = ", ")")
    calls = (f"Output({given}", own.removeprefix("self.send("), f"Output({given}, {more}")
    base, omni, upstream = (f"def run(self, rows):\n    {head}{call}{bracket}\n    return rows\n" for call in calls)
    asked = merge(Triple(base, omni, upstream)).decisions
    assert [item.reason.kind for item in asked] == ["arguments of another call"]
    assert [*drop_answered(asked, TAKES)] == ([*asked] if is_left else [])


def test_another_question_about_such_a_call_is_left() -> None:
    base, omni, upstream = (f"made = OwnOutput(rows={value})\n" for value in ("1", "2", "3"))
    asked = merge(Triple(base, omni, upstream)).decisions
    assert [*drop_answered(asked, TAKES)] == [*asked] != []
