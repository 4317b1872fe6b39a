"""Which files may have a class that derives from another one, found by words."""

from __future__ import annotations

import pytest
from verify_samples import TextTree

from runner_sync.model import Source
from runner_sync.verify.trees.surroundings import Surroundings

# A text, and whether it may have a class that derives from `Runner`.
DERIVING = {
    "among the bases": ("class Mine(Other, Runner): ...", True),
    "on a line of its own": ("class Mine(\n    base.Runner,\n): ...", True),
    "under another name": ("from base import Runner as Base\n", True),
    "under another name, behind a word that ends in as": ("from alias import Runner as Base\n", True),
    "a word that holds it": ("class Mine(RunnerBase): ...\nfrom base import OldRunner as Base\n", False),
    "the class itself": ("class Runner(Base): ...", False),
    "a word that ends in class": ("subclass Mine(Runner)", False),
    "behind such a word": ("# a subclass of\nclass Mine(Runner): ...", True),
    "only called": ("runner = Runner()\n", False),
}


@pytest.mark.parametrize("name", DERIVING)
def test_deriving(name: str) -> None:
    text, expected = DERIVING[name]
    trees = {"vllm": TextTree(Source("vllm", "path", "vllm"), {"vllm/__init__.py": "", "vllm/other.py": text})}
    around = Surroundings(trees, ["vllm"])
    assert around.deriving_from("Runner") == (["vllm/other.py"] if expected else [])
    assert around.has_subclass("Runner") == expected


# A text, and whether it assigns `late` on something else than `self`, or reads it from something else.
ELSEWHERE = {
    "on another object": ("runner.late = 1", True, True),
    "on self": ("self.late = 1", False, False),
    "on what ends in self": ("myself.late = 1", True, True),
    "of the parent": ("super().late()", False, False),
    "read of another object": ("runner.late()", False, True),
    "a longer name": ("runner.later = 1", False, False),
    "with an annotation": ("runner.late: int = 1", True, True),
    "compared": ("runner.late == 1", False, True),
    "with others": ("runner.late, runner.c = 1, 2", True, True),
    "with others in brackets": ("(runner.late, *b[0]) = rows", True, True),
    "as the last of several": ("b, runner.late = 1, 2", True, True),
    "in a chain": ("runner.late, b = c = rows", True, True),
    "an argument": ("f(runner.late, b=1)", False, True),
    "an argument above one": ("f(\n    runner.late,\n    b=1,\n)\nc = 1", False, True),
    "a value": ("rows = runner.late, b\nc = 1", False, True),
    "an index": ("rows[runner.late, b] = 1", False, True),
    "compared with others": ("(runner.late, b) == rows", False, True),
    "an annotation": ("def f(a=runner.late, b: int = 1): ...", False, True),
}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_elsewhere(name: str) -> None:
    text, is_written, is_reached = ELSEWHERE[name]
    trees = {"vllm": TextTree(Source("vllm", "path", "vllm"), {"vllm/__init__.py": "", "vllm/other.py": text})}
    around = Surroundings(trees, ["vllm"])
    assert (around.is_written_elsewhere("late"), around.is_used_elsewhere("late")) == (is_written, is_reached)


FAR = {
    "a key of two words": 'item["num tokens"] = 1',
    "and in a text that is not all ASCII": '# “why”\nitem["num tokens"] = 1',
}


@pytest.mark.parametrize("name", FAR)
def test_what_stands_far_from_the_runners_is_found(name: str) -> None:
    trees = {"vllm": TextTree(Source("vllm", "path", "vllm"), {"vllm/near/a.py": "", "vllm/far.py": FAR[name]})}
    around = Surroundings(trees, ["vllm/near"])
    assert around.may_give_key("num tokens")
    assert not around.may_give_key("tokens")


def test_a_name_that_is_built_is_found_by_how_it_begins() -> None:
    text = 'getattr(self, f"to_{kind}")'
    trees = {"vllm": TextTree(Source("vllm", "path", "vllm"), {"vllm/near/a.py": "", "vllm/far.py": text})}
    around = Surroundings(trees, ["vllm/near"])
    assert around.may_build_name("vllm", "to_list")
    assert not around.may_build_name("vllm", "two_lists")


# A text, and whether it writes `late` on a runner or worker that it was given.
ON_RUNNER = {
    "a runner": ("model_runner.late = 1", True),
    "a worker with an annotation": ("Worker1.late: int = 1", True),
    "an attribute": ("self.runner.late, b = 1, 2", True),
    "a name that ends in self": ("runner_self.late = 1", True),
    "by name": ("setattr(rows, 'late', 1)", True),
    "by name over lines": ('setattr(\n    self,\n    "late",\n    1,\n)', True),
    "self": ("self.late = 1\nrunner.b = 1", False),
    "another object": ("rows.late = 1\nrunner.b = 1", False),
    "a longer name": ("runner.later = 1", False),
    "compared": ("runner.late == 1", False),
    "read": ("late = runner.late", False),
    "asked by name": ('setattr(f(), "late", 1)\ngetattr(runner, "late")', False),
}


@pytest.mark.parametrize("name", ON_RUNNER)
def test_written_on_a_runner(name: str) -> None:
    text, expected = ON_RUNNER[name]
    trees = {"vllm": TextTree(Source("vllm", "path", "vllm"), {"vllm/__init__.py": "", "vllm/other.py": text})}
    assert Surroundings(trees, ["vllm"]).is_set_on_runner("late") == expected
