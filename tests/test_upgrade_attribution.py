"""Who brought what is new in a unit."""

from __future__ import annotations

from runner_sync.upgrade.attribution import brought_by, regions
from runner_sync.upgrade.draft import Stage

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
    assert [(region.start, region.lines, region.source) for region in regions(stages)] == [
        (2, ("    first = one()",), "upstream"),
        (4, ("    self.keep()",), "gpu"),
    ]
    assert (brought_by("upstream", stages), brought_by("gpu", stages)) == (1, 1)


def test_a_deletion_is_of_the_stage_that_made_it() -> None:
    without = OLD.replace("    third = 3\n", "")
    stages = [Stage(OLD), Stage(OLD.replace("first = 1", "first = 0"), "upstream"), Stage(without, "gpu")]
    found = [(region.start, region.lines, region.source) for region in regions(stages)]
    assert found == [(4, (), "gpu")]


def test_a_first_change_need_not_be_upstreams() -> None:
    stages = [Stage(OLD), Stage(MERGED, "gpu")]
    assert {region.source for region in regions(stages)} == {"gpu"}
    assert (brought_by("upstream", stages), brought_by("gpu", stages)) == (0, 1)


def test_what_a_later_stage_wrote_again_counts_once() -> None:
    again = MERGED.replace("one()", "two()")
    stages = [Stage(OLD), Stage(MERGED, "upstream"), Stage(again, "gpu")]
    assert (brought_by("upstream", stages), brought_by("gpu", stages)) == (0, 1)


def test_nothing_changed() -> None:
    stages = [Stage(OLD), Stage(OLD, "upstream")]
    assert list(regions(stages)) == []
    assert brought_by("upstream", stages) == 0
