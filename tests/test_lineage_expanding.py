"""The body of a method in place of its call, where that does the same."""

from __future__ import annotations

import pytest

from runner_sync.lineage.expanding import expand_call
from runner_sync.statements import parses

RUN = """\
def run(self, rows):
    self.begin(rows)
    total = self._count(rows)
    self.log(total)
    return self.end(rows)
"""
COUNT = """\
def _count(self, rows):
    total = self.add(rows)
    self.keep(total)
    return total
"""
DONE = RUN.replace("    total = self._count(rows)\n", "    total = self.add(rows)\n    self.keep(total)\n")


def calling(line: str, text: str = RUN) -> str:
    return text.replace("    total = self._count(rows)\n", line)


@pytest.mark.parametrize(
    ("text", "helper", "expected"),
    [
        pytest.param(RUN, COUNT, DONE, id="same names"),
        pytest.param(
            RUN, COUNT.replace("total", "n").replace("rows", "batch"), DONE, id="other names for parameter and result"
        ),
        pytest.param(calling("    total = self._count(rows=rows)\n"), COUNT, DONE, id="by keyword"),
        pytest.param(
            RUN,
            COUNT.replace("rows):", "rows, most=8):").replace("add(rows)", "add(rows, most)"),
            DONE.replace("add(rows)", "add(rows, 8)"),
            id="a default",
        ),
        pytest.param(
            RUN,
            COUNT.replace("rows):\n", 'rows):\n    """Count."""\n    # The sum.\n'),
            DONE.replace("    total =", "    # The sum.\n    total ="),
            id="a docstring goes, a comment comes",
        ),
        pytest.param(
            calling("    total = self._count(self.rows)\n"),
            COUNT.replace("rows", "batch"),
            DONE.replace("    total = self.add(rows)", "    batch = self.rows\n    total = self.add(batch)"),
            id="an argument that may change is evaluated first",
        ),
        pytest.param(
            calling("    total = self._count(self.next())\n"),
            COUNT.replace("rows", "batch"),
            DONE.replace("    total = self.add(rows)", "    batch = self.next()\n    total = self.add(batch)"),
            id="an argument with a side effect is evaluated once",
        ),
        pytest.param(
            calling("    total = self._count(self.next())\n"),
            "def _count(self, batch):\n    self.keep()\n    return self.sum()\n",
            calling("    batch = self.next()\n    self.keep()\n    total = self.sum()\n"),
            id="and even if it is not used",
        ),
        pytest.param(
            calling("    n = 2\n    total = self._count(rows, n)\n"),
            COUNT.replace("rows):", "rows, size):").replace("add(rows)", "add(n + size for n in rows)"),
            calling("    n = 2\n    size = n\n    total = self.add(n + size for n in rows)\n    self.keep(total)\n"),
            id="an argument that the body names something else",
        ),
        pytest.param(
            calling("    total = self._count(batch)\n").replace("end(rows)", "end()"),
            COUNT.replace("add(rows)", 'add(f"{rows}")'),
            calling('    rows = batch\n    total = self.add(f"{rows}")\n    self.keep(total)\n').replace(
                "end(rows)", "end()"
            ),
            id="a parameter in a formatted string",
        ),
        pytest.param(
            calling("    total, self.most = self._count(rows)\n"),
            COUNT.replace("return total", "return total, max(rows)"),
            DONE.replace("    self.log", "    self.most = max(rows)\n    self.log"),
            id="one of two results is a value",
        ),
        pytest.param(
            calling("    a, b = self._count(rows)\n").replace("log(total)", "log(a, b)"),
            "def _count(self, rows):\n    b = self.add(rows)\n    a = self.keep(b)\n    return b, a\n",
            calling("    b = self.add(rows)\n    a = self.keep(b)\n    a, b = b, a\n").replace(
                "log(total)", "log(a, b)"
            ),
            id="results that change places are assigned at once",
        ),
        pytest.param(
            calling("    self._count(rows)\n").replace("log(total)", "log()"),
            COUNT,
            DONE.replace("log(total)", "log()"),
            id="a result that nothing takes",
        ),
        pytest.param(
            RUN.replace("end", "_end"),
            "def _end(self, rows):\n    if rows:\n        return self.last(rows)\n    return None\n",
            RUN.replace(
                "    return self.end(rows)\n", "    if rows:\n        return self.last(rows)\n    return None\n"
            ),
            id="the end of the method, with its returns",
        ),
        pytest.param(
            RUN.replace("    total =", "    with self.lock:\n        total ="),
            COUNT.replace("keep(total)", 'keep("""\n  a\n""")'),
            RUN.replace(
                "    total = self._count(rows)\n",
                '    with self.lock:\n        total = self.add(rows)\n        self.keep("""\n  a\n""")\n',
            ),
            id="deeper, with a string of several lines",
        ),
        pytest.param(
            RUN.replace("log(total)", "log(total)\n    n = 1\n    self.log(n)"),
            COUNT.replace("    total =", "    n = len(rows)\n    total =").replace("add(rows)", "add(n)"),
            DONE.replace("log(total)", "log(total)\n    n = 1\n    self.log(n)").replace(
                "    total = self.add(rows)", "    n = len(rows)\n    total = self.add(n)"
            ),
            id="a local of both that is set again before it is read",
        ),
    ],
)
def test_the_body_stands_in_place_of_the_call(text: str, helper: str, expected: str) -> None:
    name = "_end" if "_end" in text else "_count"
    made = expand_call(text, name, helper)
    assert made == expected
    assert parses(made)
    assert expand_call(made, name, helper) == made


KEPT_LATER = COUNT.replace("    self.keep", "    self.later(lambda: rows)\n    self.keep")
LOCAL = COUNT.replace("    total =", "    n = len(rows)\n    total =").replace("add(rows)", "add(n)")


@pytest.mark.parametrize(
    ("text", "helper"),
    [
        pytest.param(
            RUN, COUNT.replace("    self.keep", "    if not rows:\n        return 0\n    self.keep"), id="ends early"
        ),
        pytest.param(RUN, "@torch.no_grad()\n" + COUNT, id="decorated"),
        pytest.param(RUN, COUNT.replace("rows):", "*rows):"), id="starred parameter"),
        pytest.param(RUN, COUNT.replace("def", "async def"), id="async"),
        pytest.param(RUN, COUNT.replace("    self.keep", "    yield total\n    self.keep"), id="generator"),
        pytest.param(RUN, COUNT.replace("self.keep", "super().keep"), id="another super()"),
        pytest.param(RUN, COUNT.replace("self.keep", "self.__keep"), id="private to its class"),
        pytest.param(RUN, COUNT.replace("self.keep", "self._count"), id="calls itself"),
        pytest.param(RUN, COUNT.replace("rows):", "rows, size):"), id="argument missing"),
        pytest.param(RUN, COUNT.replace("rows):", "rows, size=default):"), id="default from its own module"),
        pytest.param(RUN, "def _count(self, rows): return self.add(rows)\n", id="on one line"),
        pytest.param(RUN, COUNT.replace("    return total\n", ""), id="no result, but one is taken"),
        pytest.param(calling("    total = self._count(*rows)\n"), COUNT, id="starred argument"),
        pytest.param(calling("    total = self._count(rows := self.rows)\n"), COUNT, id="argument that is assigned"),
        pytest.param(calling("    total = self._count(rows) + 1\n"), COUNT, id="part of a statement"),
        pytest.param(calling("    if self._count(rows):\n        total = 1\n"), COUNT, id="a condition"),
        pytest.param(calling("    total = other._count(rows)\n"), COUNT, id="of another object"),
        pytest.param(calling("    total = self._count(rows)\n    self._count(rows)\n"), COUNT, id="called twice"),
        pytest.param(
            calling("    def later():\n        total = self._count(rows)\n"), COUNT, id="called in a function"
        ),
        pytest.param(calling("    total = self._count(rows)  # all\n"), COUNT, id="with a comment"),
        pytest.param(calling("    n = 1\n    total = self._count(rows)\n    self.log(n)\n"), LOCAL, id="local of both"),
        pytest.param(
            calling("    n = 1\n    total = self._count(rows)\n    if rows:\n        n = 2\n    self.log(n)\n"),
            LOCAL,
            id="local of both, set again on one path",
        ),
        pytest.param(
            calling("    n = 1\n    for row in rows:\n        self.log(n)\n        total = self._count(rows)\n"),
            LOCAL,
            id="local of both in a loop",
        ),
        pytest.param(
            calling("    n = 1\n    total = self._count(rows)\n    self.log(lambda: n)\n"),
            LOCAL,
            id="local of both, read by a function",
        ),
        pytest.param(RUN, COUNT.replace("    total =", "    rows = rows.copy()\n    total ="), id="its own rows"),
        pytest.param(
            calling("    total = self._count(rows, self.rows)\n"),
            COUNT.replace("rows):", "size, rows):").replace("add(rows)", "add(rows, size)"),
            id="parameters that change places",
        ),
        pytest.param(
            calling("    keep = 1\n    total = self._count(rows)\n"), COUNT.replace("self.keep", "keep"), id="a global"
        ),
        pytest.param(
            calling("    total = self._count(rows)\n    rows = 1\n"), KEPT_LATER, id="local read by a function later on"
        ),
        pytest.param(
            calling(
                "    n = 1\n    try:\n        total = self._count(rows)\n    except ValueError:\n        total = n\n"
            ),
            LOCAL,
            id="local of both in a try",
        ),
        pytest.param(
            calling("    total = self._count(self.one(), rows)\n"),
            COUNT.replace("rows):", "rows, n):").replace("add(rows)", "add(f'{rows}', n)"),
            id="an argument overwritten before it is evaluated",
        ),
        pytest.param(
            calling("    self.rows[n] = self._count(rows)\n"),
            LOCAL,
            id="a target that reads what the body sets",
        ),
    ],
)
def test_the_call_stays(text: str, helper: str) -> None:
    assert expand_call(text, "_count", helper) == text


def test_a_global_must_not_be_a_local_of_the_code_to_merge_with() -> None:
    helper = COUNT.replace("self.keep", "keep")
    assert expand_call(RUN, "_count", helper) != RUN
    assert expand_call(RUN, "_count", helper, taken={"keep"}) == RUN
