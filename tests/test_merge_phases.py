"""The verdicts of a merge come in phases, and each phase turns only those that it says."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Any

import pytest
from merge_samples import CASES, GAPS, folders, read_case
from test_nesting_laws import method
from test_placement_laws import Mover

from runner_sync.merge import FOLLOW, PORT, Policy, merge
from runner_sync.merge import engine as room
from runner_sync.merge.keeping import resolve
from runner_sync.merge.keeping.resolve import PHASES, Pass, Phase
from runner_sync.merge.keeping.settling import Settling
from runner_sync.merge.weave import Weave
from runner_sync.model import Triple

Turns = dict[str, set[tuple[str, str]]]
"""By the name of a pass which verdicts it has turned, as in ``("u", "out")``, and whether it has changed the doubts."""

ASKED = ("", "asked")


@pytest.fixture
def turns(monkeypatch: pytest.MonkeyPatch) -> Turns:
    """What the passes of all merges of a test have done."""
    found: Turns = defaultdict(set)

    def watched(settle: Pass) -> Pass:
        def run(settling: Settling) -> None:
            weave, asked = settling.weave, list(settling.doubts)
            verdicts = {strand: strand.kept for strand in (*weave.of_base, *weave.of_omni, *weave.of_upstream)}
            settle(settling)
            found[settle.__name__] |= {
                (strand.sides, "back" if strand.kept else "out")
                for strand, was in verdicts.items()
                if strand.kept != was
            } | ({ASKED} if settling.doubts != asked else set())

        return run

    phases = [replace(phase, passes=tuple(map(watched, phase.passes))) for phase in PHASES]
    monkeypatch.setattr(resolve, "PHASES", phases)
    return found


def _may(phase: Phase) -> set[tuple[str, str]]:
    return {*((sides, "out") for sides in phase.out), *((sides, "back") for sides in phase.back)}


def _unsaid(turns: Turns) -> dict[str, set[tuple[str, str]]]:
    """By phase what its passes have turned that it does not say."""
    done = {phase: {turn for settle in phase.passes for turn in turns[settle.__name__]} for phase in PHASES}
    return {phase.name: left for phase in PHASES if (left := done[phase] - _may(phase) - {ASKED})}


def test_a_phase_turns_only_the_verdicts_that_it_says_and_no_pass_is_idle(turns: Turns) -> None:
    for root in (CASES, GAPS):
        for name in folders(root):
            read_case(root / name).run()
    assert _unsaid(turns) == {}
    assert [settle.__name__ for phase in PHASES for settle in phase.passes if not turns[settle.__name__]] == []


@pytest.mark.parametrize("policy", [FOLLOW, PORT], ids=["follow", "port"])
def test_a_phase_turns_only_those_whatever_the_sides_do_to_a_method(policy: Policy, turns: Turns) -> None:
    for seed in range(150):
        body = Mover(seed, "b").body()
        sides = [(maker := Mover(seed, side)).moved(maker.edited(body)) for side in "ou"]
        merge(Triple(*map(method, (body, *sides))), policy=policy)
    assert _unsaid(turns) == {}
    assert turns["judge_each"]
    assert turns["keep_needed_suites"]


def test_each_statement_of_a_side_is_where_its_strand_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to the end of a merge: a comment that omni keeps to itself is no longer upstream's."""
    weaves: list[Weave] = []
    written = room._write_result

    def watched(triple: Triple, weave: Weave, *others: Any, **named: Any) -> room.Merged:
        weaves.append(weave)
        return written(triple, weave, *others, **named)

    monkeypatch.setattr(room, "_write_result", watched)
    for root in (CASES, GAPS):
        for name in folders(root):
            read_case(root / name).run()
    merge(Triple("# old\na()\nb()\n", "# old\na()\nown()\n", "# new\na()\nb()\nc()\n"), policy=PORT)
    places = [(weave.side(side)[1], side) for weave in weaves for side in "bou"]
    assert len(places) > 100
    assert [side for of, side in places if any(side not in s.sides or s.on(side) != k for k, s in enumerate(of))] == []
