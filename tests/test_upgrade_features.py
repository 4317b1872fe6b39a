"""Which ported statements beside each other belong to a mixin that the class gets."""

from __future__ import annotations

import pytest

from runner_sync.profile import NPU
from runner_sync.upgrade.draft import Draft, Stage
from runner_sync.upgrade.from_gpu.asking.ported_passages import list_questions
from runner_sync.upgrade.job import Hierarchy, ModuleJob

JOB = ModuleJob(NPU, NPU.modules[0], "r.py", "", hierarchy=Hierarchy(added_mixins={"R": {"M": frozenset({"hand"})}}))

BEFORE = "def run(self, rows):\n    first(rows)\n    return rows\n"
HANDED = "    if rows:\n        self.hand(rows)\n"
OTHER = "    # kept\n    if self.cache:\n        self.cache.keep(rows)\n"


def passages(added: str, *, before: str = BEFORE, after: str = "", job: ModuleJob = JOB) -> list[str]:
    """The text of each question, if ``added`` comes in front of the return."""
    after = after or before.replace("    return", f"{added}    return")
    asked = list_questions(Draft("R.run", (Stage(before),)), job, after=after, twin=after)
    return [item.chosen for item in asked]


@pytest.mark.parametrize(
    ("added", "first"),
    [
        pytest.param(HANDED + OTHER, "if rows:", id="the feature first"),
        pytest.param(OTHER + HANDED, "# kept", id="the feature last"),
        pytest.param(HANDED + "\n" + OTHER, "if rows:", id="with a blank line"),
    ],
)
def test_a_statement_without_a_name_of_the_mixin_is_a_question_of_its_own(added: str, first: str) -> None:
    one, other = passages(added)
    assert one.startswith(first)
    assert ("hand" in one) is not ("hand" in other)
    assert ("# kept" in one) is ("self.cache" in one)


def test_a_near_change_of_something_else_is_not_part_of_it_either() -> None:
    before = BEFORE.replace("    return", "    last(rows)\n    return")
    after = before.replace("first(rows)", "first(rows, 1)").replace("return rows", "return self.hand(rows)")
    assert passages("", before=before, after=after) == ["first(rows, 1)", "return self.hand(rows)"]


@pytest.mark.parametrize(
    ("added", "job"),
    [
        pytest.param(HANDED + OTHER, ModuleJob(NPU, NPU.modules[0], "r.py", ""), id="no mixin comes"),
        pytest.param(OTHER + "    last(rows)\n", JOB, id="nothing uses it"),
        pytest.param(HANDED + HANDED.replace("rows", "self.rows"), JOB, id="both use it"),
        pytest.param(
            "    got = self.hand(rows)\n    if got:\n        self.keep(got)\n", JOB, id="it reads what it gives"
        ),
        pytest.param("    with self.cache:\n        self.hand(rows)\n        self.keep(rows)\n", JOB, id="one block"),
    ],
)
def test_what_belongs_together_stays_one_question(added: str, job: ModuleJob) -> None:
    assert len(passages(added, job=job)) == 1


def test_a_block_around_what_stands_is_not_cut() -> None:
    after = BEFORE.replace("    first(rows)\n", "    last(rows)\n    if self.hand(rows):\n        first(rows)\n")
    assert len(passages("", after=after)) == 1
