"""Which changes of a hidden method concern an override that has parts of it."""

from __future__ import annotations

import textwrap

import pytest

from runner_sync.upgrade.questions.concerned import is_concerned

METHOD = """\
def sample(self, rows):
    self.begin(rows)
    n = self.n
    if self.cache:
        self.cache.put(rows)
    at = rows[1:] - 1
    with self.lock:
        self.fill(rows, n)
    for row in rows:
        if row.done:
            continue
        self.note(row)
    if not rows:
        return EMPTY
    return self.finish(rows, at)
"""


def check(mine: str, old: str, new: str) -> bool:
    """Whether the change of ``old`` to ``new`` in METHOD concerns an override with the body ``mine``."""
    assert METHOD.count(old) == 1
    override = "def sample(self, rows):\n" + textwrap.indent(textwrap.dedent(mine), "    ")
    return is_concerned(override, old=METHOD, new=METHOD.replace(old, new))


PUT = "        self.cache.put(rows)\n"


@pytest.mark.parametrize(
    ("mine", "old", "new"),
    [
        pytest.param(
            "if self.cache and self.stage:\n    self.save(rows)\n",
            PUT,
            f"{PUT}        self.cache.flush()\n",
            id="in a block with a condition of its own",
        ),
        pytest.param(
            "self.cache.put(rows)\n",
            PUT,
            f"{PUT}        self.cache.flush()\n",
            id="in a block that it has unconditionally",
        ),
        pytest.param(
            "for k, row in enumerate(rows):\n    self.note(row)\n",
            "        self.note(row)\n",
            "        self.note(row)\n        self.drop(row)\n",
            id="in a loop with a head of its own",
        ),
        pytest.param("self.cache.put(rows)\n", "if self.cache:", "if self.cache and n:", id="the head of a block"),
        pytest.param("self.fill(rows, 1)\nself.end()\n", "with self.lock:", "with self.stream:", id="a context"),
        pytest.param("self.take(n)\n", "    n = self.n\n", "    n = self.n\n    n = n + self.pad\n", id="a local"),
        pytest.param("at = self.own(rows)\n", "rows[1:] - 1", "rows[1:] - self.pad", id="a value that it makes itself"),
        pytest.param("return None\n", "self.finish(rows, at)", "self.finish(rows, at), n", id="what it returns"),
        pytest.param("if not rows:\n    return 1\n", "return EMPTY", "return NOTHING", id="an early return"),
        pytest.param(
            "for row in rows:\n    if row.done:\n        self.log(row)\n", "continue", "break", id="the end of a turn"
        ),
        pytest.param(
            "self.begin(rows)\n",
            "    self.begin(rows)\n",
            "    try:\n        self.begin(rows)\n    except E:\n        pass\n",
            id="a try around",
        ),
    ],
)
def test_a_part_that_the_override_has_in_another_form(mine: str, old: str, new: str) -> None:
    assert check(mine, old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(PUT, f"{PUT}        self.cache.flush()\n", id="new in a block"),
        pytest.param("if self.cache:", "if self.cache and n:", id="a head"),
        pytest.param("with self.lock:", "with self.stream:", id="a context"),
        pytest.param("rows[1:] - 1", "rows[1:] - self.pad", id="a value"),
        pytest.param("    n = self.n\n", "    n = self.n\n    n = n + self.pad\n", id="a local"),
        pytest.param("return EMPTY", "return NOTHING", id="an early return"),
        pytest.param("continue", "break", id="the end of a turn"),
        pytest.param(
            "        self.note(row)\n",
            "        try:\n            self.note(row)\n        except E:\n            pass\n",
            id="a try",
        ),
    ],
)
def test_a_part_that_it_lacks(old: str, new: str) -> None:
    assert not check("self.begin(rows)\nself.own(rows)\n", old, new)


def test_a_text_that_does_not_parse() -> None:
    assert is_concerned("def sample(", old=METHOD, new=METHOD)
