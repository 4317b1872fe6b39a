"""One function by two names: imported or called through its module, called itself or through another method."""

from __future__ import annotations

import pytest

from runner_sync.merge import rename_in
from runner_sync.upgrade.from_upstream.spelling import call_as_upstream
from runner_sync.upgrade.import_forms import spell_as_upstream

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


FROM = "from pkg.work.tools import step, stop\n"
THROUGH = CALLED.replace("step(rows)", "step(rows, tools.LIMIT)")


@pytest.mark.parametrize(
    ("mine", "theirs", "text", "upstream", "expected"),
    [
        pytest.param(
            "from pkg.work import tools\n", FROM, CALLED, CALLED.replace("tools.", ""), "step(rows)", id="a member"
        ),
        pytest.param(
            "import pkg.work.tools as t\n",
            FROM,
            CALLED.replace("tools", "t"),
            CALLED.replace("tools.", ""),
            "step(rows)",
            id="a member of a module under another name",
        ),
        pytest.param(
            "from pkg.work import tools\n",
            FROM,
            THROUGH,
            CALLED.replace("tools.", ""),
            "step(rows, tools.LIMIT)",
            id="only what upstream names",
        ),
        pytest.param(
            "from pkg.work.tools import step, LIMIT\n",
            THEIRS,
            UNIT.replace("tools_of(rows)", "LIMIT"),
            THROUGH,
            "tools.step(rows, tools.LIMIT)",
            id="a constant",
        ),
        pytest.param(
            "from pkg.work import tools\nstep = tools.step\n",
            FROM,
            CALLED,
            CALLED.replace("tools.", ""),
            None,
            id="the module has the name for its own",
        ),
        pytest.param(
            "from pkg.work import tools\nfrom pkg.other import step\n",
            FROM,
            CALLED,
            CALLED.replace("tools.", ""),
            None,
            id="or imports another of that name",
        ),
        pytest.param(MINE + "from own import tools\n", THEIRS, UNIT, CALLED, None, id="another module of that name"),
        pytest.param(
            MINE + "if True:\n    from pkg.work import tools\n",
            THEIRS,
            UNIT,
            CALLED,
            None,
            id="imported on a condition",
        ),
        pytest.param(MINE + "def step(rows): ...\n", THEIRS, UNIT, CALLED, None, id="defined again"),
        pytest.param(
            f"try:\n    {FROM}except ImportError:\n    step = None\n", THEIRS, UNIT, CALLED, None, id="or None"
        ),
        pytest.param(
            MINE, "if True:\n    from pkg.work import tools\n", UNIT, CALLED, None, id="theirs on a condition"
        ),
        pytest.param(MINE, THEIRS + "step = tools.other\n", UNIT, CALLED, None, id="theirs of that name"),
        pytest.param(
            MINE,
            THEIRS,
            UNIT,
            CALLED.replace("return", "tools = self.tools\n        return"),
            None,
            id="a local of theirs",
        ),
        pytest.param(
            "from pkg.work import tools\n",
            FROM,
            CALLED.replace("return tools.step(rows)", "tools.step = rows"),
            CALLED.replace("tools.", ""),
            None,
            id="replaced in its module",
        ),
        pytest.param(
            "import pkg.work\n", "import pkg.work as w\n", "pkg.work.go()\n", "w.go()\n", None, id="a package"
        ),
    ],
)
def test_forms_of_imports(mine: str, theirs: str, text: str, upstream: str, expected: str | None) -> None:
    made = spell_as_upstream(text, mine, upstream=upstream, upstream_module=theirs)
    assert made == (text if expected is None else f"    def run(self, rows):\n        return {expected}\n")


@pytest.mark.parametrize(
    ("canon", "expected"),
    [
        ("total = step(rows, step=t.stop)", "total = tools.step(rows, step=stop)"),
        ("self.step(rows, 'step')", "self.step(rows, 'step')"),
        ("t.stop_all(steps)", "t.stop_all(steps)"),
    ],
)
def test_forms_in_canonical_statements(canon: str, expected: str) -> None:
    assert rename_in(canon, {"step": "tools.step", "t.stop": "stop"}) == expected


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
