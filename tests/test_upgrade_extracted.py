"""Code that upstream took out of a method into a new one that cannot stand in its place, around an addition of
omni's."""

from __future__ import annotations

import pytest
from extracted_samples import BASE, CALLING, FIX, INSIDE, TAKEN, upgraded

ENDS = "    if rows is None:\n        return 0, None\n"
HELPER = f"\ndef _masked(self, rows):\n{ENDS}{TAKEN}    return total, mask\n"
NEW = CALLING + HELPER
QUESTION = "upstream took the code around omni's additions out into _masked; they stand outside of it now"


@pytest.mark.parametrize(
    ("omni", "addition"),
    [
        pytest.param(INSIDE, FIX.strip(), id="inside a block that went"),
        pytest.param(
            BASE.replace("    with", "    total = self.t.more(total)\n    with"),
            "total = self.t.more(total)",
            id="between two statements that went",
        ),
    ],
)
def test_an_addition_inside_code_that_was_taken_out_is_a_question(omni: str, addition: str) -> None:
    text, asked = upgraded(omni, BASE, NEW)
    assert addition in text
    assert (QUESTION, addition, "total, mask = self._masked(rows)") in asked


@pytest.mark.parametrize(
    ("new", "chosen"),
    [
        pytest.param(
            f"{CALLING}\ndef _masked(self, rows):\n    return self._inner(rows)\n{HELPER.replace('_masked', '_inner')}",
            "total, mask = self._masked(rows)",
            id="it only calls another new method",
        ),
        pytest.param(
            CALLING + HELPER.replace("mask ", "m ").replace("(mask)", "(m)").replace(", mask", ", m"),
            "total, mask = self._masked(rows)",
            id="it has another name for a local",
        ),
        pytest.param(
            CALLING.replace("_masked(rows)", "_masked")
            + HELPER.replace("\ndef _masked(self, rows)", "\n@property\ndef _masked(self)"),
            "total, mask = self._masked",
            id="it is a property",
        ),
    ],
)
def test_code_that_was_taken_out_is_known_in_another_form(new: str, chosen: str) -> None:
    assert (QUESTION, FIX.strip(), chosen) in upgraded(INSIDE, BASE, new)[1]


@pytest.mark.parametrize(
    ("omni", "old", "new"),
    [
        pytest.param(
            BASE.replace("    self.log", "    self.t.see(mask)\n    self.log"),
            BASE,
            NEW,
            id="it stands behind that code",
        ),
        pytest.param(
            BASE.replace("    total =", "    self.t.see(rows)\n    total ="), BASE, NEW, id="it stands in front of it"
        ),
        pytest.param(INSIDE, BASE + HELPER, NEW, id="the method was there before"),
        pytest.param(
            INSIDE, BASE, CALLING + "\ndef _masked(self, rows):\n    return self.made(rows)\n", id="it has other code"
        ),
        pytest.param(
            INSIDE,
            BASE,
            f"{CALLING}\ndef _masked(self, rows):\n    return self.more(rows)\n{HELPER.replace('_masked', '_inner')}",
            id="another new method has it, which nothing calls",
        ),
        pytest.param(INSIDE, BASE, BASE + HELPER, id="the method is not called here"),
    ],
)
def test_an_addition_that_keeps_its_place_is_no_question(omni: str, old: str, new: str) -> None:
    assert QUESTION not in [reason for reason, _, _ in upgraded(omni, old, new)[1]]


def test_an_addition_that_moves_along_with_its_neighbours_has_not_changed_places() -> None:
    base = BASE.replace("    with self.lock:\n        mask", "    mask").replace("        self.cache", "    self.cache")
    omni = base.replace("    self.cache", f"{FIX[4:]}    self.cache")
    taken = base[base.index("    total") : base.index("    self.log")]
    new = base.replace(taken, "    total, mask = self.helper._masked(rows)\n")
    text, asked = upgraded(omni, base, f"{new}\ndef _masked(self, rows):\n{taken}    return total, mask\n")
    assert "mask = self.make(total)\n        mask = self.t.fix(mask)\n        self.cache(mask)" in text
    assert not any("changed places" in reason for reason, *_ in asked)
