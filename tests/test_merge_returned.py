"""A port into a method that returns at once what its twin names first."""

from __future__ import annotations

import pytest

from runner_sync.merge import PORT, merge
from runner_sync.merge.preparing.returned import with_values_returned_at_once
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
