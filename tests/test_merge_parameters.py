"""Parameters that one side calls by another name, and what must not be taken for that."""

from __future__ import annotations

import re

import pytest

from runner_sync.merge import FOLLOW, PORT, Policy, follow_parameters, merge
from runner_sync.model import Triple

BASE = """\
@inference_mode()
def run(
    self,
    rows: "Rows",
    size: int = 1,
    *,
    is_last: bool = False,
) -> None:
    self.start(rows, size=size)
    if is_last:
        self.stop(rows)
    self.keep(is_last)
    return self.pack(rows)
"""
UPSTREAM = BASE.replace("rows: ", "batch: ").replace("(rows", "(batch")
OWN = "    self.note(rows=rows, late=lambda: rows)\n"
LAST = "    return self.pack"


def add(text: str, own: str = OWN) -> str:
    """The method as omni has it: with a line of its own, and without quotes."""
    return text.replace(LAST, own + LAST).replace('"', "")


@pytest.mark.parametrize("policy", [FOLLOW, PORT])
def test_what_omni_added_follows_upstreams_new_name(policy: Policy) -> None:
    result = merge(Triple(BASE, add(BASE), UPSTREAM), policy=policy)
    assert result.text == add(UPSTREAM, OWN.replace("=rows", "=batch").replace(": rows", ": batch"))
    assert result.decisions == ()


def test_a_parameter_that_is_given_by_keyword_is_followed() -> None:
    upstream = BASE.replace("is_last", "is_final")
    result = merge(Triple(BASE, add(BASE, "    self.note(is_last)\n"), upstream))
    assert result.text == add(upstream, "    self.note(is_final)\n")
    assert result.decisions == ()


def test_a_new_parameter_beside_it_comes_in() -> None:
    upstream = UPSTREAM.replace("size: int", "plan: Plan, size: int").replace("size=size", "plan, size=size")
    result = merge(Triple(BASE, add(BASE), upstream))
    assert "batch: Rows, plan: Plan, size: int = 1" in re.sub(r"\s+", " ", result.text)
    assert "self.note(rows=batch, late=lambda: batch)" in result.text


def test_a_name_of_omnis_own_stays() -> None:
    omni = add(UPSTREAM.replace("batch", "items"), "    self.note(items)\n")
    upstream = BASE.replace(LAST, "    self.check(rows)\n" + LAST)
    result = merge(Triple(BASE, omni, upstream))
    assert result.text == omni.replace(LAST, "    self.check(items)\n" + LAST)
    assert result.decisions == ()


def test_a_name_that_both_sides_have_now_is_one() -> None:
    own = "    self.note(batch)\n"
    assert merge(Triple(BASE, add(UPSTREAM, own), UPSTREAM)).decisions == ()
    upstream = UPSTREAM.replace(LAST, "    self.check(batch)\n" + LAST)
    result = merge(Triple(BASE, add(UPSTREAM, own), upstream))
    assert result.text == add(UPSTREAM, own + "    self.check(batch)\n")
    assert result.decisions == ()


@pytest.mark.parametrize(
    ("base", "upstream"),
    [
        pytest.param(BASE, UPSTREAM.replace('batch: "Rows"', "batch: list"), id="another hint"),
        pytest.param(
            BASE.replace("size: int", "size").replace("size=size", "size"),
            BASE.replace("size: int = 1", "rate = 2").replace("size=size", "rate"),
            id="another default",
        ),
        pytest.param(
            BASE, UPSTREAM.replace("self.s", "self.t").replace("pack(batch)", "pack(batch, 1)"), id="used otherwise"
        ),
        pytest.param(
            BASE,
            UPSTREAM.replace("(\n    self,", "(\n    self,\n    rows: Table,"),
            id="the old name is another parameter",
        ),
        pytest.param(
            BASE, UPSTREAM.replace("    self.start(", "    rows = self.order()\n    self.start("), id="and a local"
        ),
    ],
)
def test_another_parameter_is_not_followed(base: str, upstream: str) -> None:
    assert "self.note(rows=rows, late=lambda: rows)" in merge(Triple(base, add(base), upstream)).text


def test_nothing_gets_a_name_that_omni_has_for_something_else() -> None:
    own = "    batch = self.order(rows)\n    self.note(batch)\n"
    assert own in merge(Triple(BASE, add(BASE, own), UPSTREAM)).text


def test_a_method_that_is_no_copy_follows_the_name_alone() -> None:
    own = 'def run(self, rows: Rows, size: int = 1):\n    """Of rows."""\n    return super().run(rows, size)\n'
    assert follow_parameters(own, BASE, UPSTREAM) == own.replace("rows: ", "batch: ").replace("(rows", "(batch")
    assert follow_parameters(own, BASE, BASE) == own
    other = own.replace("rows: Rows", "table").replace("(rows", "(table")
    assert follow_parameters(other, BASE, UPSTREAM) == other
