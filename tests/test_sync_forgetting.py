"""Between two phases of a run: what is freed, and what stays."""

from __future__ import annotations

import gc
import weakref

from runner_sync.statements import flatten
from runner_sync.sync import memo
from runner_sync.sync.forgetting import forget_answers
from runner_sync.syntax import lasting_module_of, module_of


def test_trees_and_nodes_of_a_phase_are_freed() -> None:
    kept = [weakref.ref(one) for one in (module_of("a = 1\n"), lasting_module_of("b = 2\n"), *flatten("c = 3\n"))]
    assert all(one() is not None for one in kept)
    forget_answers()
    assert [one() for one in kept] == [None, None, None]


def test_objects_that_refer_to_each_other_are_freed_although_the_collector_is_off() -> None:
    class Phase:
        pass

    phase = Phase()
    phase.own = phase  # type: ignore[attr-defined]
    gone = weakref.ref(phase)
    was_on = gc.isenabled()
    gc.disable()
    try:
        del phase
        forget_answers()
    finally:
        (gc.enable if was_on else gc.disable)()
    assert gone() is None


def test_what_cannot_change_within_a_run_stays() -> None:
    memo._program_digest()
    forget_answers()
    assert memo._program_digest.cache_info().currsize == 1
