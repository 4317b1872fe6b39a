"""One function by two names: imported or called through its module, called itself or through another method."""

from __future__ import annotations

import pytest

from runner_sync.upgrade.from_upstream.spelling import call_as_upstream, spell_as_upstream

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


PLAIN = "    def run(self, rows):\n        return self.step(rows, self.sizes())\n"
PASSING = PLAIN.replace("sizes", "npu_sizes")
METHOD = '    def npu_sizes(self):\n        """Bridge."""\n        return self.sizes()\n'


@pytest.mark.parametrize(
    ("text", "upstream", "method", "expected"),
    [
        pytest.param(PLAIN, PASSING, METHOD, PASSING, id="through a method that passes it on"),
        pytest.param(PLAIN, PASSING, METHOD.replace("self.sizes()", "self.sizes()[1:]"), PLAIN, id="that does more"),
        pytest.param(
            PLAIN, PASSING, METHOD.replace("return", "self.note()\n        return"), PLAIN, id="and does more"
        ),
        pytest.param(PLAIN, PASSING, METHOD.replace("(self)", "(self, rows)"), PLAIN, id="that takes more"),
        pytest.param(PLAIN, f"{PASSING}        self.sizes()\n", METHOD, PLAIN, id="upstream calls both"),
        pytest.param(f"{PLAIN}        self.npu_sizes()\n", PASSING, METHOD, None, id="omni calls both"),
        pytest.param(PLAIN, PASSING, "    npu_sizes = sizes\n", PLAIN, id="no method"),
    ],
)
def test_calls_that_another_method_passes_on(text: str, upstream: str, method: str, expected: str | None) -> None:
    base = PLAIN.replace("sizes", "model.sizes")
    made = call_as_upstream(text, base=base, upstream=upstream, methods={"npu_sizes": method})
    assert made == (text if expected is None else expected)


def test_a_call_that_the_base_made_is_no_form_of_omnis() -> None:
    assert call_as_upstream(PLAIN, base=PLAIN, upstream=PASSING, methods={"npu_sizes": METHOD}) == PLAIN
