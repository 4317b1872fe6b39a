"""Classes are found by their first words, and nothing else is taken for one."""

from __future__ import annotations

import pytest

from runner_sync.sync.trees.class_heads import defines, find_class_heads, find_class_text

TOP = "class Runner(Base):\n    pass\n"

AT_TOP = {
    "first line": TOP,
    "later line": f"x = 1\n{TOP}",
    "no bases": "class Runner:\n    pass\n",
    "below another of that name": f"if x:\n    class Runner: ...\n{TOP}",
    "at the end": "class Runner",
}
ELSEWHERE = {
    "inside a statement": "if x:\n    class Runner: ...\n",
    "a longer name": "class Runner2: ...\n",
    "a longer name with a letter of another script": "class Runnerä: ...\n",
    "the end of a longer name": "class MyRunner: ...\n",
    "a comment": "# class Runner: ...\n",
    "a word before": "subclass Runner\n",
}


@pytest.mark.parametrize("name", AT_TOP)
def test_a_class_at_the_top_is_found(name: str) -> None:
    assert defines("Runner", AT_TOP[name])


@pytest.mark.parametrize("name", ELSEWHERE)
def test_what_is_no_class_at_the_top(name: str) -> None:
    assert not defines("Runner", ELSEWHERE[name])
    assert find_class_text("Runner", ELSEWHERE[name]) == ""


def test_heads_at_every_level_are_found() -> None:
    text = "if x:\n    class Runner: ...\n# class Runner\nclass Runner_: ...\nclass Runner: ...\n"
    assert [text[at - 1] for at in find_class_heads("Runner", text)] == [" ", "\n"]


@pytest.mark.parametrize("after", ["", "def run(): ...\n", "@wraps\ndef run(): ...\n"])
def test_the_text_of_a_class_ends_where_its_module_goes_on(after: str) -> None:
    own = "class Runner(\n    Base\n):\n    # comment\n\n# comment\n    def run(self):\n        pass\n"
    assert find_class_text("Runner", f"import a\n{own}{after}") == own
