"""Which commits a derived module may have been aligned with its twin at."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest

from runner_sync.lineage.alignment import Change, since_alignment

STEPS = {line[:4]: f"    self.{line}(rows)\n" for line in ("keep_rows", "note_rows", "send_rows", "drop_rows")}


def text(names: str) -> str:
    return "".join(STEPS[name] for name in names.split())


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
        (
            [("made", "keep", "keep"), ("grown", "keep", "keep note"), ("aligned", "keep note", "keep note")],
            ["aligned"],
        ),
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
    found, is_aligned = since_alignment(changes(*commits))
    assert ([change.commit for change in found], is_aligned) == (expected, True)


def test_short_lines_stand_everywhere_and_align_nothing() -> None:
    before, after = (
        Change("a", "", "x\n", "", "x\nelse:\n"),
        Change("b", "x\n", "x\nelse:\n", "x\nelse:\n", "x\nelse:\n"),
    )
    assert since_alignment([after, before]) == ([before], True)


def test_a_history_that_begins_later_says_so() -> None:
    own = Change("own", text("keep"), text("keep drop"), text("keep note"), text("keep note"))
    assert since_alignment([own]) == ([own], False)
    assert since_alignment([]) == ([], False)


def test_nothing_older_than_the_alignment_is_read() -> None:
    def endless() -> Iterator[Change]:
        yield from list(changes(("made", "keep", "keep note"), ("aligned", "keep note", "keep note")))[:1]
        raise AssertionError("read on")

    found, _ = since_alignment(endless())
    assert [change.commit for change in found] == ["aligned"]


def test_a_twin_that_there_was_not_yet_is_no_candidate() -> None:
    assert since_alignment(changes(("alone", "keep", ""), ("both", "keep note", "note")))[0][0].commit == "both"
