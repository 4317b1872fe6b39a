"""Which commits a derived module may have been aligned with its twin at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import pytest

from runner_sync.lineage.alignment import Change, aligned_with, since_alignment

STEPS = {line[:4]: f"    self.{line}(rows)\n" for line in ("keep_rows", "note_rows", "send_rows", "drop_rows")}


def text(names: str) -> str:
    """A module with two methods that take these steps."""
    steps = "".join(STEPS[name] for name in names.split())
    return f"    def first(self):\n{steps}    def second(self):\n{steps}" if names else ""


def changes(*commits: tuple[str, str, str]) -> Iterator[Change]:
    """Commits oldest first, each its name and the steps that the derived module and its twin have after it."""
    states = [("", "", ""), *commits]
    pairs = list(pairwise(states))
    for (_, mine_before, twin_before), (commit, mine, twin) in reversed(pairs):
        yield Change(commit, text(mine_before), text(mine), text(twin_before), text(twin))


@pytest.mark.parametrize(
    ("commits", "expected"),
    [
        # The last commit to the derived module alone that brought a step of the twin's.
        ([("made", "keep", "keep note"), ("aligned", "keep note", "keep note")], ["aligned"]),
        ([("grown", "keep", "keep note"), ("aligned", "keep note", "keep note")], ["aligned"]),
        # One that brought something of its own alone, or took something out, compared nothing.
        ([("made", "keep", "keep"), ("own", "keep drop", "keep note")], ["made", "own"]),
        ([("made", "keep drop", "keep"), ("out", "keep", "keep note")], ["made", "out"]),
        # Neither did one that changed both, however much.
        ([("made", "keep", "keep note"), ("both", "keep send", "keep note send")], ["made", "both"]),
        # What happened to the twin alone is no candidate, and of one twin the oldest is enough.
        ([("made", "keep", "keep"), ("grown", "keep", "keep note")], ["made"]),
        ([("made", "keep", "keep"), ("own", "keep drop", "keep")], ["made"]),
    ],
)
def test_candidates_reach_back_to_the_last_alignment(commits: list[tuple[str, str, str]], expected: list[str]) -> None:
    found = since_alignment(changes(("twin", "", "keep"), *commits))
    assert [change.commit for change in found] == expected


def test_a_commit_that_made_both_aligned_nothing() -> None:
    """It may be an import of a release, or all that a shallow clone has."""
    assert since_alignment(changes(("import", "keep", "keep"), ("both", "keep note", "keep note"))) == []
    assert since_alignment([]) == []


def test_what_one_method_got_aligns_nothing_else() -> None:
    """Someone ported one finding; the other methods lack what they lacked."""
    aligned, one = text("keep note"), text("keep").replace(STEPS["keep"], STEPS["keep"] + STEPS["note"], 1)
    made = Change("made", "", text("keep"), aligned, aligned)
    found = since_alignment([Change("port", text("keep"), one, aligned, aligned), made])
    assert [change.commit for change in found] == ["made"]
    grown = text("keep note send")
    found = since_alignment([Change("port", text("keep"), one, grown, grown), made])
    assert [change.commit for change in found] == ["made", "port"]


HELPER = "    def spread(self, rows):\n        return self.spread_evenly(rows)\n\n"
TWIN = (
    f"    def first(self):\n        self.rows = self.spread(self.rows)\n\n{HELPER}"
    "    def second(self):\n        self.keep_rows(rows)\n        self.spread(self.totals)\n"
)
CALLED, ALSO_CALLED = "        self.rows = self.spread(self.rows)\n", "        self.spread(self.totals)\n"
KEPT = STEPS["keep"]


@pytest.mark.parametrize(
    ("brought", "aligns"),
    [
        pytest.param([HELPER, CALLED], False, id="a new function and the call of it are one port"),
        pytest.param([HELPER, CALLED, ALSO_CALLED], True, id="two definitions that call it were both looked at"),
        pytest.param([CALLED, ALSO_CALLED], True, id="the function was there: two ports"),
        pytest.param([HELPER, KEPT], True, id="the calls of it stood there before"),
    ],
)
def test_a_new_function_is_one_port_with_what_calls_it(brought: list[str], aligns: bool) -> None:
    """Otherwise one mend, put into a helper, settled what all the other methods lack."""
    before = TWIN
    for part in brought:
        before = before.replace(part, "        pass\n" if part != HELPER else "")
    commits = [Change("port", before, TWIN, TWIN, TWIN), Change("made", "", before, "twin", "twin")]
    found = since_alignment(commits)
    assert [change.commit for change in found] == (["port"] if aligns else ["made", "port"])
    assert [change.commit for change in since_alignment(commits, catches_up=False)] == ["port"]


def test_one_that_calls_itself_counts() -> None:
    loop = "    def halve(self, rows):\n        return rows[1:] and self.halve(rows[1:])\n"
    twin = TWIN + loop
    before = TWIN.replace(CALLED, "        pass\n")
    assert since_alignment([Change("port", before, twin, twin, twin)]) != []


def test_a_decorator_is_not_the_definitions_above_it() -> None:
    above = "    def above(self):\n        self.send_rows(rows)\n\n"
    twin = TWIN.replace(HELPER, f"{above}    @staticmethod\n{HELPER}")
    before = TWIN.replace(HELPER, above).replace(CALLED, "        pass\n")
    assert since_alignment([Change("port", before, twin, twin, twin)]) == []


def test_short_lines_stand_everywhere_and_align_nothing() -> None:
    before = text("keep")
    longer = before.replace(STEPS["keep"], STEPS["keep"] + "    else:\n")
    short = Change("short", before, longer, longer, longer)
    assert since_alignment([short]) == []
    telling = text("keep note")
    assert since_alignment([replace(short, npu=telling, twin_before=telling, twin=telling)]) != []


def test_nothing_older_than_the_alignment_is_read() -> None:
    def endless() -> Iterator[Change]:
        yield from list(changes(("made", "keep", "keep note"), ("aligned", "keep note", "keep note")))[:1]
        raise AssertionError("read on")

    assert [change.commit for change in since_alignment(endless())] == ["aligned"]


def test_a_twin_that_there_was_not_yet_is_no_candidate() -> None:
    commits = (("alone", "keep", ""), ("twin", "keep", "note"), ("aligned", "keep note", "note"))
    assert [change.commit for change in since_alignment(changes(*commits))] == ["aligned"]


def unit(*names: str) -> str:
    return "def run(self, rows):\n" + "".join(f"    self.{name}(rows)\n" for name in names)


OWN = [f"own_step_{k}" for k in range(12)]
COMMON = [f"step_{k}" for k in range(6)]


@pytest.mark.parametrize(
    ("gained", "expected"),
    [
        pytest.param(["kept", "left"], 1, id="as much as it lacks: somebody brought that"),
        pytest.param([], 0, id="nothing that it has or lacks: the older one"),
        pytest.param(["kept", "left", "left_too"], 0, id="less than it lacks, though a larger share of all"),
        pytest.param(["kept", "kept_too", "left"], 1, id="more than it lacks"),
    ],
)
def test_a_revision_is_nearer_if_the_unit_has_as_much_of_what_it_gained_as_it_lacks(
    gained: list[str], expected: int
) -> None:
    mine = unit(*COMMON, *OWN, "kept", "kept_too")
    old = unit(*COMMON)
    later = unit(*COMMON, *gained)
    assert aligned_with(mine, [old, later], now=unit(*COMMON, *gained, "newest")) == expected
