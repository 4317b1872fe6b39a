"""One function by two names: a from-import here, a call through its module upstream."""

from __future__ import annotations

import pytest

from runner_sync.upgrade.from_upstream.spelling import spell_as_upstream

MINE = "from pkg.work.tools import step, stop as halt\nfrom pkg import other\n"
THEIRS = "from pkg.work import tools\nimport pkg.flat as flat\n"
UNIT = "    def run(self, rows):\n        return step(rows, tools_of(rows))\n"
CALLED = "    def run(self, rows):\n        return tools.step(rows)\n"


@pytest.mark.parametrize(
    ("text", "upstream", "theirs", "expected"),
    [
        pytest.param(UNIT, CALLED, THEIRS, UNIT.replace("step(", "tools.step("), id="called through its module"),
        pytest.param(UNIT, CALLED.replace("tools.", ""), THEIRS, UNIT, id="upstream does not call it so"),
        pytest.param(UNIT, CALLED, THEIRS.replace("pkg.work", "pkg.play"), UNIT, id="another module of that name"),
        pytest.param(UNIT, CALLED, f"{THEIRS}from pkg.work.tools import step\n", UNIT, id="upstream has both"),
        pytest.param(
            UNIT.replace("return", "step = self.step\n        return"), CALLED, THEIRS, None, id="a local of that name"
        ),
        pytest.param(
            UNIT.replace("return", "tools = self.tools\n        return"), CALLED, THEIRS, None, id="a local module"
        ),
        pytest.param(UNIT.replace("rows)", "rows, step)"), CALLED, THEIRS, None, id="a parameter of that name"),
        pytest.param(UNIT, CALLED.replace("tools.", "my_tools."), THEIRS, UNIT, id="a module whose name ends so"),
        pytest.param(
            UNIT.replace("step(", "halt("),
            CALLED.replace("step", "stop"),
            THEIRS,
            UNIT.replace("step(", "tools.stop("),
            id="imported as",
        ),
        pytest.param(
            'def run(rows):\n    """é step"""\n    return "é", step(rows), rows.step\n',
            CALLED,
            THEIRS,
            'def run(rows):\n    """é step"""\n    return "é", tools.step(rows), rows.step\n',
            id="only the name",
        ),
    ],
)
def test_spelling(text: str, upstream: str, theirs: str, expected: str | None) -> None:
    made = spell_as_upstream(text, MINE, upstream=upstream, upstream_module=theirs)
    assert made == (text if expected is None else expected)


@pytest.mark.parametrize("statement", ["import pkg.work.tools as tools", "from pkg.work import tools"])
def test_both_ways_to_import_a_module(statement: str) -> None:
    made = spell_as_upstream(UNIT, MINE, upstream=CALLED, upstream_module=f"{statement}\n")
    assert made == UNIT.replace("step(", "tools.step(")
