"""Few revisions of a long history that have what the units may have been copied from."""

from __future__ import annotations

import pytest

from runner_sync.lineage.cover import cover
from runner_sync.lineage.timeline import Timeline, methods, nearest
from runner_sync.model import Revision


def history(bodies: list[dict[str, str]]) -> Timeline:
    revisions = (Revision(f"{k:040}", f"text {k}", "runner.py", "") for k in range(len(bodies)))
    return Timeline(tuple(revisions), tuple(bodies))


def test_copies_of_one_method_in_two_modules_are_near_their_own_revisions() -> None:
    texts = [f"def run(self):\n    self.step_{k}()\n    self.step_{k + 1}()\n" for k in range(0, 60, 2)]
    known = history([{"run": text} for text in texts])
    assert {3, 25} <= set(nearest(known, [("run", texts[3]), ("run", texts[25])]))


def test_one_revision_serves_all_methods_that_did_not_change_in_it() -> None:
    bodies = [{"run": "def run(self): old()", "stop": "def stop(self): a()"}]
    bodies += [{"run": "def run(self): new()", "stop": "def stop(self): a()"}] * 3
    bodies += [{"run": "def run(self): new()", "stop": "def stop(self): b()"}]
    wanted = [("run", "def run(self): new()"), ("stop", "def stop(self): a()")]
    assert nearest(history(bodies), wanted) == [0, 4]


def test_a_cover_takes_the_one_that_has_most_and_of_equals_the_first() -> None:
    assert cover("abcd", [set("ab"), set("abc"), set("cd"), set("d")]) == [1, 2]
    assert cover("", [set("a")]) == []


def test_a_module_without_definitions_has_no_methods() -> None:
    assert (methods(""), methods("x = 1\n")) == ({}, {})


def run(*steps: str) -> dict[str, str]:
    return {
        "run": "def run(self):\n" + "".join(f"    self.{step}_step()\n" for step in steps),
        "stop": "def stop(): ...",
    }


STEPS = history(
    [run("a", "b", "c", "d"), run("a", "b", "c", "d"), run("a", "c", "d"), run("b", "a", "d"), run("a", "d"), run("d")]
)


@pytest.mark.parametrize(
    ("gone", "since", "expected"),
    [
        pytest.param(["  self.c_step()"], 0, [3], id="once"),
        pytest.param(["self.a_step()", "self.c_step()"], 0, [3, 5], id="two commits"),
        pytest.param(["self.b_step()"], 0, [4], id="it came back in between"),
        pytest.param(["self.b_step()"], 4, [], id="it went before"),
        pytest.param(["self.d_step()"], 0, [], id="it is there"),
        pytest.param(["", "    )", "self.omnis_step()"], 0, [], id="never upstream's"),
    ],
)
def test_lines_that_went_are_of_the_commit_that_took_them_out(gone: list[str], since: int, expected: list[int]) -> None:
    named = STEPS.revisions[since].commit
    assert STEPS.losses("run", gone, named) == [STEPS.revisions[k] for k in expected]
    assert STEPS.losses("stop", gone, named) == []
