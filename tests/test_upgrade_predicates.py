"""Conditions that a port left for a method which tests the same."""

from __future__ import annotations

import pytest

from runner_sync.merge import Decision, Reason
from runner_sync.profile import NPU
from runner_sync.upgrade.draft import Draft, Stage
from runner_sync.upgrade.job import Hierarchy, Inherited, ModuleJob, ModuleRevision, Upstream
from runner_sync.upgrade.questions.predicates import drop_met_conditions

RUN = """\
    def run(self, rows, always):
        if {}:
            # for the next step
            self.note(rows)
        return rows
"""
DUE = """\
    def is_due(self, force, limit=0):
        \"\"\"Whether the rows are due.\"\"\"
        # always, or with rows
        return force or self.rows > limit
"""
CALL = "self.is_due(always, limit=2)"
LEFT = "if always or self.rows > 2"


def is_asked(test: str, *, left: str = LEFT, own: str = "", inherited: str | None = None, upstream: str = "") -> bool:
    """Whether a question is left about ``note``, which left the condition ``left`` and stands under ``test``."""
    text, owner = RUN.format(test), "NPUARModelRunner"
    job = ModuleJob(
        NPU,
        NPU.modules[1],
        "runner.py",
        f"class {owner}:\n{own}{text}",
        upstream=Upstream(new=ModuleRevision("1", f"class NPUModelRunner:\n{upstream}    rows = 0\n", "a.py")),
        hierarchy=Hierarchy(inherited={owner: Inherited({"is_due": inherited})}),
    )
    item = Decision(4, 4, Reason("outside of its condition", (left,)), 0.5, "", "", "", "self.note(rows)")
    draft = Draft(f"{owner}.run", (Stage(text),))
    return drop_met_conditions([item], text, draft, job) == [item]


@pytest.mark.parametrize(
    ("test", "left", "method", "asked"),
    [
        pytest.param(CALL, LEFT, DUE, False, id="it returns the condition"),
        pytest.param("self.is_due(force=always, limit=2)", LEFT, DUE, False, id="by keyword"),
        pytest.param(CALL, "if always and self.rows > 2", DUE, True, id="it returns another condition"),
        pytest.param("self.is_due(rows, limit=2)", LEFT, DUE, True, id="for another value"),
        pytest.param("self.is_due(always)", "if always or self.rows > limit", DUE, True, id="for a default"),
        pytest.param("self.is_due(*rows, limit=2)", LEFT, DUE, True, id="for values that nobody knows"),
        pytest.param(f"not {CALL}", LEFT, DUE, True, id="the opposite"),
        pytest.param("self.rows", LEFT, DUE, True, id="an attribute"),
        pytest.param(CALL, LEFT, DUE.replace("        return", "        count()\n        return"), True, id="more"),
        pytest.param(CALL, LEFT, DUE.replace("    def", "    @wrapped\n    def"), True, id="a decorated method"),
        pytest.param(
            "self.is_due(always)",
            "if rows",
            "    def is_due(self, *rows):\n        return rows\n",
            True,
            id="all values",
        ),
        pytest.param(CALL, LEFT, "", True, id="a method that no text shows"),
    ],
)
def test_a_method_that_tests_the_same_is_the_condition(test: str, left: str, method: str, asked: bool) -> None:
    """`_should_build_dummy_attn_metadata` of vllm-ascend 0.27.1rc1, in `_dummy_run`."""
    assert is_asked(test, left=left, upstream=method) is asked


def test_the_method_is_the_one_that_the_class_has() -> None:
    other = DUE.replace("force or", "force and")
    assert not is_asked(CALL, own=DUE, inherited=other, upstream=other)
    assert not is_asked(CALL, inherited=DUE, upstream=other)
    assert is_asked(CALL, own=other, upstream=DUE)
    assert is_asked(CALL, inherited=other, upstream=DUE)
