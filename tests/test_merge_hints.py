"""Upstream's new assignments, whatever type hints it writes."""

from __future__ import annotations

import pytest

from runner_sync.merge import PORT, merge
from runner_sync.merge.preparing.hints import without_new_hints
from runner_sync.model import Triple


def method(*lines: str) -> str:
    return "".join(["    def run(self, rows):\n", *(f"        {line}\n" for line in lines)])


BEGIN, STEP, END = "self.begin(rows)", "self.step(rows, self.config)", "return self.end(rows)"
PLAIN = "limits = self.config.limits"
HINTED = "limits: Limits = self.config.limits"
OTHER = "limits: Any = self.config.limits"
BASE = method(BEGIN, STEP, END)


@pytest.mark.parametrize(
    ("own", "new"), [(PLAIN, HINTED), (HINTED, PLAIN), (OTHER, HINTED)], ids=["upstream", "omni", "both"]
)
def test_an_assignment_that_both_sides_added_stands_once_as_omni_has_it(own: str, new: str) -> None:
    omni = method(BEGIN, own, "self.note(limits)", STEP, END)
    merged = merge(Triple(BASE, omni, method(BEGIN, new, STEP, "self.check(limits)", END)))
    assert merged.text == method(BEGIN, own, "self.note(limits)", STEP, "self.check(limits)", END)
    assert merged.decisions == ()


def test_a_hint_goes_to_no_name_in_front_of_the_assignment() -> None:
    omni, upstream = method(BEGIN, "y: int = 1", END), method(BEGIN, "if self.ready: y = 1", END)
    assert without_new_hints(Triple(BASE, omni, upstream)) == (Triple(BASE, omni, upstream), {})


def test_an_assignment_that_only_upstream_added_has_its_hint() -> None:
    omni = method(BEGIN, STEP, "self.note(rows)", END)
    merged = merge(Triple(BASE, omni, method(BEGIN, HINTED, STEP, "self.check(limits)", END)))
    assert merged.text == method(BEGIN, HINTED, STEP, "self.note(rows)", "self.check(limits)", END)


def test_a_returned_value_that_upstream_names_with_a_hint_is_named() -> None:
    """As `_update_states` of vllm-ascend 0.30.0rc2 would be with a hint: omni's call returned before the new one."""
    base = method(BEGIN, "return super().update(rows)")
    omni = method(BEGIN, "return Omni.update(self, rows)")
    upstream = method(BEGIN, "state: State = super().update(rows)", "self.track(rows)", "return state")
    merged = merge(Triple(base, omni, upstream))
    assert merged.text == method(BEGIN, "state = Omni.update(self, rows)", "self.track(rows)", "return state")


def test_a_hint_does_not_pair_an_assignment_with_what_mentions_the_same() -> None:
    base = method(BEGIN, "if self.is_late:", "    self.config.limits.on = False", END)
    omni = method(BEGIN, PLAIN, "if self.is_late:", "    limits.on = False", "    self.note(limits)", END)
    upstream = method(BEGIN, HINTED, "self.check(limits)", END)
    merged = merge(Triple(base, omni, upstream)).text
    plain = merge(Triple(base, omni, method(BEGIN, PLAIN, "self.check(limits)", END))).text
    assert merged == plain


@pytest.mark.parametrize(
    ("base", "new"),
    [
        pytest.param(method(PLAIN, STEP), method(HINTED, STEP), id="the base has it without"),
        pytest.param(method(HINTED, STEP), method(HINTED, BEGIN, STEP), id="the base has it"),
        pytest.param(method(OTHER, STEP), method(HINTED, STEP), id="another hint in the base"),
        pytest.param(method(HINTED, STEP), method(f"{HINTED}.of(rows)", STEP), id="another value in the base"),
        pytest.param(BASE, method(BEGIN, "limits: Limits", STEP, END), id="no value"),
        pytest.param(BASE, method("limits: dict[", "    str, int", "] = self.limits", STEP), id="on three lines"),
        pytest.param(BASE, method("limits: (Limits) = self.limits", STEP), id="in brackets"),
        pytest.param("class State:\n    a: int\n", "class State:\n    a: int\n    b: int = 0\n", id="a field"),
    ],
)
def test_a_hint_stays_where_it_is_no_form_of_a_new_assignment(base: str, new: str) -> None:
    triple = Triple(base, base, new)
    assert without_new_hints(triple) == (triple, {})


def test_statements_of_other_revisions_are_known_without_their_hints() -> None:
    """Upstream's new text is one of the other revisions."""
    base = method(BEGIN, "return super().update(rows)")
    omni = method(BEGIN, "return Omni.update(self, rows)")
    upstream = method(BEGIN, "state: State = super().update(rows)", "self.track(rows)", "return state")
    known = {"state: State = super().update(rows)", "self.track(rows)", "return state"}
    merged = merge(Triple(base, omni, upstream), heritage=known)
    assert merged.text == method(BEGIN, "state = Omni.update(self, rows)", "self.track(rows)", "return state")


def test_a_port_has_the_hints_of_the_twin() -> None:
    omni = method(BEGIN, STEP, "self.note(rows)", END)
    merged = merge(Triple(BASE, omni, method(BEGIN, HINTED, STEP, "self.check(limits)", END)), policy=PORT)
    assert HINTED in merged.text
