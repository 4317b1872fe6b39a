"""New returns of upstream's in the form in which omni has all others of the same value."""

from __future__ import annotations

import pytest

from runner_sync.fitting.handing_over import hand_over_returns

UPSTREAM = """    def run(self, rows):
        if rows is None:
            return EMPTY
        if not rows.left:
            return EMPTY
        return self.step(rows)
"""
BEFORE = """    def run(self, rows):
        if rows is None:
            return self.attach(EMPTY)
        return self.attach(self.step(rows))
"""
NEW = "        if not rows.left:\n            return EMPTY\n"
LAST = "        return self.attach(self.step(rows))\n"
NOW = BEFORE.replace(LAST, NEW + LAST)
NAMED = """    def run(self, rows):
        if rows is None:
            if self.waits:
                output = EMPTY
            else:
                output = self.step(rows)
            return self.attach(output)
        return self.attach(self.step(rows))
"""
PREPARED = NAMED.replace("            return", "            self.note(output)\n            return")


def check(before: str, now: str, upstream: str = UPSTREAM, *, elsewhere: str = "") -> tuple[int, list[bool]]:
    """How many more returns go through ``attach``, and whether omni does more in front of the others like each."""
    text, handed = hand_over_returns(before, now, upstream, elsewhere=elsewhere)
    again = hand_over_returns(before, text, upstream, elsewhere=elsewhere)
    assert again == (text, [])
    return text.count("self.attach(") - now.count("self.attach("), [one.is_prepared for one in handed]


def test_a_new_return_goes_through_the_method_that_all_others_of_its_value_go_through() -> None:
    text, (handed,) = hand_over_returns(BEFORE, NOW, UPSTREAM, elsewhere="")
    assert text == NOW.replace("return EMPTY\n", "return self.attach(EMPTY)\n")
    assert (handed.line, handed.end_line, handed.method) == (5, 5, "attach")


@pytest.mark.parametrize(
    ("before", "prepared"),
    [
        pytest.param(BEFORE, False, id="the value itself"),
        pytest.param(NAMED, False, id="a name that a branch sets to it"),
        pytest.param(PREPARED, True, id="a name, and more is done with it"),
    ],
)
def test_the_value_may_have_a_name_where_it_is_handed_over(before: str, prepared: bool) -> None:
    assert check(before, before.replace(LAST, NEW + LAST)) == (1, [prepared])


def test_a_return_over_several_lines_goes_through_as_a_whole() -> None:
    step = "self.step(\n                rows,\n                'ä',\n            )"
    upstream = UPSTREAM.replace("self.step(rows)", step).replace("return EMPTY", f"return {step}")
    before = BEFORE.replace("self.step(rows)", step)
    new = f"        if not rows.left:\n            return {step}\n"
    now = before.replace("        return self.attach(self.step", f"{new}        return self.attach(self.step")
    assert check(before, now, upstream)[0] == 1


LATE = "        def late():\n            return EMPTY\n"
OFF = "            if self.off:\n                return None\n"
OTHER = NOW.replace("return EMPTY", "return NOTHING")


@pytest.mark.parametrize(
    ("before", "now", "upstream", "elsewhere"),
    [
        pytest.param(
            BEFORE, OTHER, UPSTREAM.replace("EMPTY\n        return", "NOTHING\n        return"), "", id="else"
        ),
        pytest.param(BEFORE, NOW, UPSTREAM.replace("EMPTY", "NOTHING"), "", id="it is not upstream's"),
        pytest.param(BEFORE, NOW, UPSTREAM, "self.attach(rows)", id="upstream knows the method"),
        pytest.param(
            BEFORE.replace("self.attach(EMPTY)", "EMPTY"),
            NOW.replace("self.attach(EMPTY)", "EMPTY"),
            UPSTREAM,
            "",
            id="no other goes through it",
        ),
        pytest.param(
            BEFORE.replace("        if", "        if self.off:\n            return EMPTY\n        if"),
            NOW.replace("        if rows is", "        if self.off:\n            return EMPTY\n        if rows is"),
            UPSTREAM,
            "",
            id="only some go through it",
        ),
        pytest.param(
            BEFORE.replace("(EMPTY)", "(EMPTY, rows)"), NOW.replace("(EMPTY)", "(EMPTY, rows)"), UPSTREAM, "", id="args"
        ),
        pytest.param(
            BEFORE.replace("return self.attach(EMPTY)", "self.attach(EMPTY)"),
            NOW.replace("return self.attach(EMPTY)", "self.attach(EMPTY)"),
            UPSTREAM,
            "",
            id="the call is no return",
        ),
        pytest.param(
            PREPARED.replace("            return", f"{OFF}            return"),
            PREPARED.replace("            return", f"{OFF}            return").replace(LAST, NEW + LAST),
            UPSTREAM,
            "",
            id="another return between the name and the call",
        ),
        pytest.param(BEFORE, BEFORE.replace(LAST, LATE + LAST), UPSTREAM, "", id="of a function in it"),
    ],
)
def test_a_return_stays_bare(before: str, now: str, upstream: str, elsewhere: str) -> None:
    assert check(before, now, upstream, elsewhere=elsewhere) == (0, [])


def test_one_value_through_two_methods_stays_bare() -> None:
    close = "        if self.late:\n            return self.close(EMPTY)\n        if self.last:\n"
    close += "            return self.close(self.step(rows))\n"
    before = BEFORE.replace("        if rows", f"{close}        if rows")
    assert check(before, before.replace(LAST, NEW + LAST)) == (0, [])
