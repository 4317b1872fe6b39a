"""Who brought what is new in a unit."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from runner_sync.model import BaseRef, How
from runner_sync.profile import ASCEND_RUNNER, NPU
from runner_sync.upgrade.attribution import count_statements_from, find_regions
from runner_sync.upgrade.draft import Draft, Stage
from runner_sync.upgrade.job import ModuleJob, Upstream
from runner_sync.upgrade.outcomes import make_result
from runner_sync.upgrade.revision import ModuleRevision

OLD = """\
def run(self):
    first = 1
    second = 2
    third = 3
    fourth = 4
    return third
"""

MERGED = OLD.replace("first = 1", "first = one()").replace("    second = 2\n", "")
PORTED = MERGED.replace("    fourth = 4\n", "    self.keep()\n")


def test_each_region_is_of_the_stage_that_changed_it() -> None:
    stages = [Stage(OLD), Stage(MERGED, "upstream"), Stage(PORTED, "gpu")]
    assert [(region.start, region.lines, region.source) for region in find_regions(stages)] == [
        (2, ("    first = one()",), "upstream"),
        (4, ("    self.keep()",), "gpu"),
    ]
    assert (count_statements_from("upstream", stages), count_statements_from("gpu", stages)) == (1, 1)


def test_a_deletion_is_of_the_stage_that_made_it() -> None:
    without = OLD.replace("    third = 3\n", "")
    stages = [Stage(OLD), Stage(OLD.replace("first = 1", "first = 0"), "upstream"), Stage(without, "gpu")]
    found = [(region.start, region.lines, region.source) for region in find_regions(stages)]
    assert found == [(4, (), "gpu")]


def test_a_first_change_need_not_be_upstreams() -> None:
    stages = [Stage(OLD), Stage(MERGED, "gpu")]
    assert {region.source for region in find_regions(stages)} == {"gpu"}
    assert (count_statements_from("upstream", stages), count_statements_from("gpu", stages)) == (0, 1)


def test_what_a_later_stage_wrote_again_counts_once() -> None:
    again = MERGED.replace("one()", "two()")
    stages = [Stage(OLD), Stage(MERGED, "upstream"), Stage(again, "gpu")]
    assert (count_statements_from("upstream", stages), count_statements_from("gpu", stages)) == (0, 1)


def test_what_a_later_stage_took_back_counts_for_nobody() -> None:
    stages = [Stage(OLD), Stage(MERGED, "gpu"), Stage(OLD.replace("third = 3", "third = 4"), "gpu")]
    assert count_statements_from("gpu", stages) == 1


def test_nothing_changed() -> None:
    stages = [Stage(OLD), Stage(OLD, "upstream")]
    assert list(find_regions(stages)) == []
    assert count_statements_from("upstream", stages) == 0


@pytest.mark.parametrize(
    ("how", "then", "cause"),
    [
        pytest.param(
            "composite", "one()", "before 0.2 → 0.3: a1b2 brought first = one()", id="upstream had it by then"
        ),
        pytest.param("composite", "two()", "0.2 → 0.3", id="upstream changed it since"),
        pytest.param("inferred", "one()", "0.2 → 0.3", id="one base for all of it"),
    ],
)
def test_what_is_older_than_the_base_of_a_composite_copy_is_not_said_to_come_after_it(
    how: How, then: str, cause: str
) -> None:
    """A reviewer who looks between the two revisions would find nothing."""

    def causes(_unit: str, added: Sequence[str], since: str, *, gone: bool = False) -> str:
        assert not gone
        return f"a1b2 brought {added[0].strip()}" if not since else ""

    def inside(method: str) -> str:
        return "class NPUModelRunner:\n" + "".join(f"    {line}\n" for line in method.split("\n") if line)

    now = OLD.replace("first = 1", "first = one()")
    draft = Draft(
        "OmniNPUModelRunner.run",
        (Stage(OLD), Stage(now, "upstream")),
        base=BaseRef("vllm-ascend", "0.2", ASCEND_RUNNER, "NPUModelRunner.run", how, 0.8),
        upstream=now,
    )
    upstream = Upstream(
        new=ModuleRevision("0.3", inside(now), ASCEND_RUNNER),
        bases=(ModuleRevision("0.2", inside(OLD.replace("first = 1", f"first = {then}")), ASCEND_RUNNER),),
        causes=causes,
    )
    module = NPU.modules[0]
    made = make_result([draft], ModuleJob(NPU, module, "runner.py", inside(OLD), upstream), inside(now), {})
    assert [hunk.cause for hunk in made.units[0].hunks] == [f"vllm-ascend {cause}"]


SHUT = OLD.replace("second = 2\n    third = 3", "with self.timed():\n        second = 2\n        third = 3")
SPLIT = OLD.replace("third = 3", "third = (\n        self.third()\n        if first\n        else second\n    )")
SHORT = OLD.replace("third = 3", "third = (\n        self.third()\n    )")
AGAIN = OLD.replace("    fourth", "    if first:\n        third = 5\n    fourth")


@pytest.mark.parametrize(
    ("old", "new", "then", "is_older"),
    [
        pytest.param(SHUT, OLD, SHUT, False, id="un-indented"),
        pytest.param(SHUT, OLD, OLD, True, id="un-indented by then"),
        pytest.param(SPLIT, SHORT, SPLIT, False, id="shortened"),
        pytest.param(
            AGAIN, AGAIN.replace("third = 3", "third = 5"), AGAIN, False, id="the new line stands elsewhere, too"
        ),
        pytest.param(OLD, SHUT, SHUT, True, id="a block by then"),
    ],
)
def test_a_change_is_older_than_the_base_only_if_the_base_has_not_what_went(
    old: str, new: str, then: str, is_older: bool
) -> None:
    def inside(method: str) -> str:
        return "class NPUModelRunner:\n" + "".join(f"    {line}\n" for line in method.split("\n") if line)

    base = BaseRef("vllm-ascend", "0.2", ASCEND_RUNNER, "NPUModelRunner.run", "composite", 0.8)
    draft = Draft("OmniNPUModelRunner.run", (Stage(old), Stage(new, "upstream")), base=base)
    upstream = Upstream(
        new=ModuleRevision("0.3", inside(new + "#"), ASCEND_RUNNER),
        bases=(ModuleRevision("0.2", inside(then), ASCEND_RUNNER),),
    )
    made = make_result([draft], ModuleJob(NPU, NPU.modules[0], "runner.py", inside(old), upstream), inside(new), {})
    assert {hunk.cause for hunk in made.units[0].hunks} == {f"vllm-ascend {'before ' if is_older else ''}0.2 → 0.3"}


COUNTED = OLD.replace("third = 3", "if self.on:\n        third = 3").replace("second = 2", "second = self.count(first)")
RENAMED = COUNTED.replace("second", "total").replace("first", "start")


@pytest.mark.parametrize(
    ("was", "now", "causes"),
    [
        pytest.param(OLD, OLD.replace("    second = 2\n", ""), ["took out second = 2"], id="lines went"),
        pytest.param(
            OLD,
            OLD.replace("    second = 2\n", "").replace("fourth = 4", "fourth = 5"),
            ["took out second = 2", "brought fourth = 5"],
            id="and others changed",
        ),
        pytest.param(OLD, OLD.replace("second = 2", "second = 3"), ["brought second = 3"], id="a line is another"),
        pytest.param(
            COUNTED,
            COUNTED.replace("    if self.on:\n        third", "    third"),
            ["took out if self.on:"],
            id="a condition went",
        ),
        pytest.param(
            RENAMED,
            RENAMED.replace("    total = self.count(start)\n", ""),
            ["took out second = self.count(first)"],
            id="omni has other names for the locals",
        ),
        pytest.param(
            COUNTED.replace("self.count(", "self.sum("),
            COUNTED.replace("    second = self.count(first)\n", ""),
            ["took out second = self.sum(first)"],
            id="omni calls another method",
        ),
    ],
)
def test_what_only_went_names_the_commit_that_took_it_out(was: str, now: str, causes: list[str]) -> None:
    def named(_unit: str, lines: Sequence[str], _since: str, *, gone: bool = False) -> str:
        return f"{'took out' if gone else 'brought'} {lines[0].strip()}"

    def inside(method: str) -> str:
        return "class NPUModelRunner:\n" + "".join(f"    {line}\n" for line in method.split("\n") if line)

    followed = BaseRef("vllm-ascend", "0.2", ASCEND_RUNNER, "NPUModelRunner.run", "inferred", 0.8)
    draft = Draft("OmniNPUModelRunner.run", (Stage(was), Stage(now, "upstream")), base=followed, upstream=now)
    base = ModuleRevision("0.2", inside(COUNTED if "self." in was else OLD), ASCEND_RUNNER)
    upstream = Upstream(new=ModuleRevision("0.3", inside(now)), bases=(base,), causes=named)
    (unit,) = make_result([draft], ModuleJob(NPU, NPU.modules[0], "runner.py", was, upstream), now, {}).units
    assert [hunk.cause.partition(": ")[2] for hunk in unit.hunks] == causes
