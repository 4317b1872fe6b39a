"""A method that returns at once what its twin, or upstream from now on, names first."""

from __future__ import annotations

import pytest

from runner_sync.merge import PORT, merge
from runner_sync.merge.preparing.returned import with_returned_values_named, with_values_returned_at_once
from runner_sync.model import Triple

NAMED = "        result = self.wait(rows, self.config)\n        return result\n"
AT_ONCE = "        return self.wait(rows, self.config)\n"
HANDED_ON = "        return self.hand_on(self.wait(rows, self.config))\n"


def method(end: str) -> str:
    return f"def run(self, rows):\n    if not rows:\n        self.note()\n{end}    self.step(rows)\n    return None\n"


BASE, OMNI = method(NAMED), method(AT_ONCE)
NEW = method(NAMED.replace("return result", "return self.hand_on(result)"))


def test_what_the_twin_does_with_the_named_value_is_done_to_the_returned_one() -> None:
    merged = merge(Triple(BASE, OMNI, NEW), policy=PORT)
    assert merged.text == method(HANDED_ON)
    assert merged.decisions == ()


def test_where_omni_returns_it_in_two_places_the_one_beside_the_same_statements_is_changed() -> None:
    later = f"    if self.is_late(rows):\n{AT_ONCE}"
    omni = OMNI.replace("    return None\n", f"{later}    return None\n")
    merged = merge(Triple(BASE, omni, NEW), policy=PORT)
    assert merged.text == omni.replace(AT_ONCE, HANDED_ON, 1)


@pytest.mark.parametrize(
    ("omni", "upstream"),
    [
        pytest.param(BASE, NEW, id="omni names it, too"),
        pytest.param(OMNI.replace("self.config", "self.own"), NEW, id="omni returns another value"),
        pytest.param(OMNI, NEW.replace("(result)", "(result, result.kept)"), id="read twice"),
        pytest.param(OMNI, NEW.replace("(result)", "(result.kept)"), id="only a part of it"),
        pytest.param(OMNI, NEW.replace("(result)", "(lambda: result)"), id="read later"),
        pytest.param(
            OMNI, NEW.replace("        return self.h", "        self.note(result)\n        return self.h"), id="apart"
        ),
    ],
)
def test_another_form_stays(omni: str, upstream: str) -> None:
    triple = Triple(BASE, omni, upstream)
    assert with_values_returned_at_once(triple) == triple


PARENTS, OMNIS = "super().run(rows)", "Omni.run(\n        self,\n        rows,\n    )"
COUNTED = "    result = {}\n    self.count(rows)\n    return result\n"


def step(end: str) -> str:
    return f"def run(self, rows):\n    if not rows:\n        return None\n    self.step(rows)\n{end}"


BEFORE, COPY = (step(f"    return {value}\n") for value in (PARENTS, OMNIS))
SINCE = step(COUNTED.format(PARENTS))


def test_what_upstream_does_before_it_returns_runs_behind_omnis_own_call() -> None:
    merged = merge(Triple(BEFORE, COPY, SINCE))
    assert merged.text == step(COUNTED.format(OMNIS))
    assert merged.decisions == ()


@pytest.mark.parametrize(
    ("base", "omni", "upstream"),
    [
        pytest.param(BEFORE, COPY.replace("Omni.run", "self.own"), SINCE, id="omni returns another value"),
        pytest.param(BEFORE, COPY, SINCE.replace("    self.count(rows)\n", ""), id="nothing in between"),
        pytest.param(BEFORE, COPY, SINCE.replace("return result", "return rows"), id="another return"),
        pytest.param(BEFORE, COPY.replace("step(rows)", "step(result)"), SINCE, id="omni has the name"),
        pytest.param(BEFORE, COPY.replace("return None", "return Omni.run(self, [])"), SINCE, id="two such returns"),
        pytest.param(SINCE, SINCE.replace(PARENTS, OMNIS), SINCE, id="named everywhere"),
    ],
)
def test_another_return_stays(base: str, omni: str, upstream: str) -> None:
    triple = Triple(base, omni, upstream)
    assert with_returned_values_named(triple) == triple


BRANCHES = (
    "def run(self, rows):\n    if self.fast:\n        out = self.one(rows)\n    else:\n        out = self.two(rows)\n"
)
MARK = "    if self.marked:\n        self.mark(out)\n"
NEW_CALL = "def run(self, rows):\n    return self.any_of(rows)\n"


def test_what_omni_does_before_its_return_stands_before_the_value_that_upstream_now_returns_at_once() -> None:
    result = merge(Triple(f"{BRANCHES}    return out\n", f"{BRANCHES}{MARK}    return out\n", NEW_CALL))
    assert result.text == f"def run(self, rows):\n    out = self.any_of(rows)\n{MARK}    return out\n"


@pytest.mark.parametrize(
    ("omni", "upstream"),
    [
        pytest.param(f"{BRANCHES}    return out\n", NEW_CALL, id="omni does nothing before it"),
        pytest.param(
            BRANCHES.replace("rows):\n", "rows):\n    self.begin()\n", 1) + "    return out\n",
            NEW_CALL,
            id="omni does something further up",
        ),
        pytest.param(f"{BRANCHES}{MARK}    return out\n", NEW_CALL.replace("rows)\n", "rows), 1\n"), id="two values"),
        pytest.param(
            f"{BRANCHES}{MARK}    return out\n",
            "def run(self, rows):\n    out = self.buffer\n    return self.any_of(rows, out)\n",
            id="upstream has the name for something else",
        ),
    ],
)
def test_any_other_value_is_returned_at_once(omni: str, upstream: str) -> None:
    result = merge(Triple(f"{BRANCHES}    return out\n", omni, upstream))
    assert upstream.splitlines()[-1] in result.text
