"""Code that upstream took out of a method into a new one, around an addition of omni's: it stays in place."""

from __future__ import annotations

import pytest
from extracted_samples import BASE, CALLING, FIX, HELPER, INSIDE, TAKEN, upgraded

NEW = CALLING + HELPER
NOTE = (
    "upstream took the code around omni's additions out into _masked and calls that; the code stays in place here, "
    "with upstream's changes to it"
)
CHANGED = "upstream changed _masked, whose code this copy has in place of the call; the change went into that code"
NOT_MERGED = "upstream changed _masked, whose code this copy has in place of the call; that code stays as it is"


def kept(omni: str, old: str, new: str, *, is_locked: bool = False) -> tuple[str, list[str]]:
    """The upgraded method without comments, and the reasons of what is asked."""
    text, asked = upgraded(omni, old, new, is_locked=is_locked)
    rows = [row for row in text.splitlines(keepends=True)[1:] if not row.lstrip().startswith("#")]
    return "".join(row.removeprefix("    ") for row in rows), [reason for reason, *_ in asked]


@pytest.mark.parametrize(
    ("omni", "old", "new", "expected"),
    [
        pytest.param(INSIDE, BASE, NEW, INSIDE, id="nothing else changed"),
        pytest.param(
            INSIDE,
            BASE,
            NEW.replace("make(total)", "make(total, 2)"),
            INSIDE.replace("make(total)", "make(total, 2)"),
            id="upstream changed the passage",
        ),
        pytest.param(
            INSIDE,
            BASE,
            NEW.replace("log(total, mask)", "log(mask)"),
            INSIDE.replace("log(total, mask)", "log(mask)"),
            id="upstream changed what is around it",
        ),
        pytest.param(
            INSIDE,
            BASE,
            CALLING + HELPER.replace("mask ", "m ").replace("(mask)", "(m)").replace(", mask", ", m"),
            INSIDE,
            id="it has another name for a local",
        ),
        pytest.param(
            INSIDE,
            BASE,
            f"{CALLING}\ndef _masked(self, rows):\n    return self._inner(rows)\n{HELPER.replace('_masked', '_inner')}",
            INSIDE,
            id="it only calls another new method",
        ),
        pytest.param(
            BASE.replace("    return", "    self.t.note(mask)\n    return"),
            BASE,
            "def run(self, rows):\n    return self._masked(rows)\n"
            + BASE.replace("def run", "\ndef _masked").replace("log(total, mask)", "log(mask)"),
            BASE.replace("    return", "    self.t.note(mask)\n    return").replace("log(total, mask)", "log(mask)"),
            id="the rest of the method, with its return",
        ),
        pytest.param(
            BASE.replace("count(rows)", "count(rows, self.t)"),
            BASE,
            NEW.replace("make(total)", "make(total, 2)"),
            BASE.replace("count(rows)", "count(rows, self.t)").replace("make(total)", "make(total, 2)"),
            id="omni edited the first statement of the passage",
        ),
    ],
)
def test_the_passage_stays_in_place_with_upstreams_changes(omni: str, old: str, new: str, expected: str) -> None:
    text, asked = kept(omni, old, new)
    assert text == expected
    assert [reason for reason in asked if reason.replace("_inner", "_masked") == NOTE] == asked
    assert len(asked) == 1


IDLE = """\
def run(self, rows):
    if not rows:
        if self.outer:
            self.dummy(rows)
        if not self.group:
            return NOTHING
        return self.without(rows)
    if self.sizes(rows):
        if not self.group:
            return NOTHING
        return self.without(rows)
    return self.go(rows)
"""
WORK = IDLE[IDLE.index("        if self.outer") : IDLE.index("    if self.sizes")]
IDLE_CALLING = IDLE.replace(WORK, "        return self._masked(rows)\n", 1)
IDLE_HELPER = f"\ndef _masked(self, rows):\n{WORK}".replace("\n    ", "\n")


@pytest.mark.parametrize("end", ["", "    self.t.note(rows)\n"], ids=["only returns", "and an addition"])
def test_a_suite_with_early_returns_stays_in_place(end: str) -> None:
    """The suite for no work in ``execute_model``, whose returns omni hands on; the method has some of it twice."""
    wrapped = WORK.replace("return NOTHING", "return self.t.wrap(NOTHING)").replace(
        "        if not self.group", f"    {end}        if not self.group" if end else "        if not self.group"
    )
    omni = IDLE.replace(WORK, wrapped, 1)
    text, asked = kept(omni, IDLE, IDLE_CALLING + IDLE_HELPER.replace("dummy(rows)", "dummy(rows, 1)"))
    assert text == omni.replace("dummy(rows)", "dummy(rows, 1)")
    assert asked == [NOTE]


def test_a_return_behind_the_passage_is_none_inside_it() -> None:
    omni = IDLE.replace("return self.go(rows)", "return self.t.wrap(self.go(rows))")
    text, asked = kept(omni, IDLE, IDLE_CALLING + IDLE_HELPER)
    assert "return self._masked(rows)" in text
    assert NOTE not in asked


TWICE = """\
def run(self, rows):
    with self.watch("run"):
        made = self.make(rows)
    if self.counts:
        assert self.done is not None
        self.done.record()
    self.log(made)
    if self.counts:
        assert self.done is not None
        self.done.wait()
    return self.end(made)
"""
TAKEN_ONCE = TWICE[TWICE.index("    with") : TWICE.index("    self.log")]


@pytest.mark.parametrize("at", ["self.log(made)", "return self.end(made)"])
def test_what_the_old_method_has_once_more_further_down_is_no_part_of_the_passage(at: str) -> None:
    """``sample_tokens`` tests ``need_accepted_tokens`` after sampling and again at its end."""
    new = TWICE.replace(TAKEN_ONCE, "    made = self._masked(rows)\n")
    helper = f"\ndef _masked(self, rows):\n{TAKEN_ONCE}    return made\n"
    text, asked = kept(TWICE.replace(at, f"self.t.note(made)\n    {at}"), TWICE, new + helper)
    assert text == new.replace(at, f"self.t.note(made)\n    {at}")
    assert asked == []


def test_what_it_has_once_more_inside_the_passage_belongs_to_it() -> None:
    own = TWICE.replace("        self.done.record()", "        self.t.note(made)\n        self.done.record()")
    new = TWICE.replace(TAKEN_ONCE, "    made = self._masked(rows)\n")
    helper = f"\ndef _masked(self, rows):\n{TAKEN_ONCE}    return made\n".replace("record()", "record(1)")
    text, asked = kept(own, TWICE, new + helper)
    assert text == own.replace("record()", "record(1)")
    assert asked == [NOTE]


def test_the_note_shows_the_addition_and_the_new_method() -> None:
    _, asked = upgraded(INSIDE, BASE, NEW)
    assert asked == [(NOTE, FIX.strip(), FIX.strip())]


def test_an_addition_in_place_is_not_said_to_stand_outside_of_another_new_method() -> None:
    more = "    self.note(rows)\n    self.tell(rows)\n"
    old, omni = (text.replace("    self.begin", f"{more[:20]}    self.begin") for text in (BASE, INSIDE))
    old, omni = (text.replace("    return", f"{more[20:]}    return") for text in (old, omni))
    new = f"{CALLING}\ndef _notes(self, rows):\n{more}{HELPER}".replace(
        "    self.begin", "    self._notes(rows)\n    self.begin"
    )
    text, asked = kept(omni, old, new)
    assert f"self.make(total)\n{FIX}" in text
    assert asked == [NOTE]


OUTSIDE = BASE.replace("    self.log", "    self.t.see(mask)\n    self.log")


@pytest.mark.parametrize(
    ("omni", "old", "new"),
    [
        pytest.param(OUTSIDE, BASE, NEW, id="the addition stands behind the passage"),
        pytest.param(
            BASE.replace("    total =", "    rest = self.t.rest(rows)\n    total ="),
            BASE,
            NEW,
            id="it stands in front of it and is no statement of the passage",
        ),
        pytest.param(INSIDE, BASE + HELPER, NEW, id="the method was there before"),
        pytest.param(
            INSIDE,
            BASE,
            NEW.replace(f"{TAKEN}    return", f"    if not rows:\n        return 0, 0\n{TAKEN}    return"),
            id="it returns early",
        ),
        pytest.param(
            INSIDE, BASE, NEW.replace("    self.log", "    self._masked(rows)\n    self.log"), id="it is called twice"
        ),
        pytest.param(
            INSIDE,
            BASE,
            NEW.replace("    self.begin", "    size = 1\n    self.begin")
            .replace("end(rows)", "end(rows, size)")
            .replace("    total = self.count(rows)", "    size = len(rows)\n    total = self.count(rows)"),
            id="a local of it is one of the caller",
        ),
        pytest.param(INSIDE, BASE, CALLING + HELPER.replace("self.", "self.my_"), id="it has other code"),
        pytest.param(f"{INSIDE}\ndef _masked(self, rows):\n    return 0, 0\n", BASE, NEW, id="omni overrides it"),
        pytest.param(BASE.replace("mask ", "m ").replace("mask)", "m)"), BASE, NEW, id="omni renamed a local"),
    ],
)
def test_the_method_is_called(omni: str, old: str, new: str) -> None:
    text, asked = kept(omni, old, new)
    assert "self._masked(rows)" in text
    assert NOTE not in asked


@pytest.mark.parametrize(
    ("new", "expected", "reasons"),
    [
        pytest.param(
            NEW.replace("log(total, mask)", "log(mask)"),
            INSIDE.replace("log(total, mask)", "log(mask)"),
            [],
            id="another part changed",
        ),
        pytest.param(
            NEW.replace("make(total)", "make(total, 2)"),
            INSIDE.replace("make(total)", "make(total, 2)"),
            [CHANGED],
            id="its code changed",
        ),
        pytest.param(
            BASE.replace("make(total)", "make(total, 2)"),
            INSIDE.replace("make(total)", "make(total, 2)"),
            [],
            id="upstream took it back",
        ),
        pytest.param(
            NEW.replace(f"{TAKEN}    return", f"    if not rows:\n        return 0, 0\n{TAKEN}    return"),
            INSIDE,
            [NOT_MERGED],
            id="it returns early now",
        ),
    ],
)
def test_the_next_upgrade_changes_the_code_in_place(new: str, expected: str, reasons: list[str]) -> None:
    text, asked = kept(INSIDE, NEW, new, is_locked=True)
    assert (text, asked) == (expected, reasons)


def test_the_next_upgrade_asks_at_the_changed_statement() -> None:
    changed = NEW.replace("self.cache(mask)", "self.cache(mask, 2)")
    _, asked = upgraded(INSIDE, NEW, changed, is_locked=True)
    assert asked == [(CHANGED, "self.cache(mask, 2)", "self.cache(mask, 2)")]


def test_a_method_that_the_copy_does_not_have_in_place_is_none_to_put_there() -> None:
    omni = CALLING.replace("    total, mask = self._masked(rows)\n", "    total, mask = self.t.masked(rows)\n")
    text, asked = kept(omni, NEW, NEW.replace("make(total)", "make(total, 2)"), is_locked=True)
    assert text == omni
    assert not {NOTE, CHANGED, NOT_MERGED} & {*asked}
