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
OWN = "        self.own = self.sizes({})\n        return"
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


BASE = PLAIN.replace("sizes", "model.sizes")
TWO = {"npu_sizes": METHOD, "raw_sizes": METHOD.replace("npu", "raw")}


@pytest.mark.parametrize("arguments", ["", "2", "layer=2"])
def test_omnis_own_call_of_the_method_stays(arguments: str) -> None:
    text, expected = (side.replace("        return", OWN.format(arguments)) for side in (PLAIN, PASSING))
    assert call_as_upstream(text, base=BASE, upstream=PASSING, methods=TWO) == expected


@pytest.mark.parametrize(
    ("text", "base", "upstream"),
    [
        pytest.param(PLAIN.replace("self.step(", "self.walk("), BASE, PASSING, id="omni lacks the statement"),
        pytest.param(PLAIN, "    def run(self, rows):\n        self.end()\n", PASSING, id="the base lacks it"),
        pytest.param(PLAIN.replace("sizes()", "sizes(2)"), BASE, PASSING, id="omni passes an argument"),
        pytest.param(
            PLAIN.replace("return", "self.step(rows, self.sizes())\n        return"), BASE, BASE, id="unchanged"
        ),
        pytest.param(
            PLAIN,
            BASE.replace("rows, self", "0, self"),
            BASE.replace("        return", "        self.note(self.npu_sizes())\n        return"),
            id="upstream calls it in a new statement",
        ),
        pytest.param(
            PLAIN.replace("return", "if rows:\n            return self.step(rows, self.sizes())\n        return"),
            BASE,
            PASSING,
            id="omni has two such statements",
        ),
    ],
)
def test_a_statement_without_its_counterpart_keeps_the_call(text: str, base: str, upstream: str) -> None:
    assert call_as_upstream(text, base=base, upstream=upstream, methods=TWO) == text


def test_each_statement_gets_the_method_that_upstream_calls_in_it() -> None:
    more = "self.step(rows, self.sizes())\n        return self.end(self.sizes())"
    text = PLAIN.replace("return self.step(rows, self.sizes())", more)
    base = text.replace("sizes", "model.sizes")
    upstream = text.replace("rows, self.sizes", "rows, self.raw_sizes").replace("end(self.sizes", "end(self.npu_sizes")
    assert call_as_upstream(text, base=base, upstream=upstream, methods=TWO) == upstream
