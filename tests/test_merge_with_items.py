"""A ``with`` from which upstream removed an item."""

from __future__ import annotations

import pytest

from runner_sync.merge import FOLLOW, PORT, Policy, merge
from runner_sync.model import Triple

BODY = "        out = self.model(ids)\n    return out\n"
ITEMS = "        randomize(ids),\n        set_context(meta, slots=self.slots),\n"
BASE = f"def run(self, ids):\n    with (\n{ITEMS}    ):\n{BODY}"
FEWER = BASE.replace("        randomize(ids),\n", "")
OWN = f"def run(self, ids):\n    with set_context(meta, graph=self.graph):\n{BODY}"


@pytest.mark.parametrize("policy", [pytest.param(FOLLOW, id="a copy"), pytest.param(PORT, id="a port")])
def test_an_item_that_omni_does_not_have_goes_without_a_question(policy: Policy) -> None:
    result = merge(Triple(BASE, OWN, FEWER), policy=policy)
    assert (result.text, result.decisions) == (OWN, ())


@pytest.mark.parametrize(
    ("omni", "upstream"),
    [
        pytest.param(OWN.replace("with ", "with randomize(ids, 1), "), FEWER, id="omni edited it"),
        pytest.param(OWN.replace("with ", "with shuffle(ids), "), FEWER, id="omni may have another instead"),
        pytest.param(OWN, FEWER.replace("slots=self.slots", "slots=slots"), id="upstream changed the other, too"),
        pytest.param(OWN, FEWER.replace("(meta, slots=self.slots)", "(meta)"), id="an argument of the other went, too"),
    ],
)
def test_anything_else_is_asked_about(omni: str, upstream: str) -> None:
    assert merge(Triple(BASE, omni, upstream), policy=PORT).decisions


LOCKS = "def run(self, ids):\n    with lock(self.a), lock(self.b), randomize(ids):\n" + BODY


@pytest.mark.parametrize(
    ("base", "omni", "upstream"),
    [
        pytest.param(BASE, OWN, FEWER.replace("    with", "    randomize(ids)\n    with"), id="a call in front"),
        pytest.param(BASE, OWN, FEWER.replace("    with", "    self.randomize(ids)\n    with"), id="a method in front"),
        pytest.param(
            BASE,
            OWN,
            FEWER.replace("        out =", "        with randomize(ids):\n            out ="),
            id="upstream has it inside",
        ),
        pytest.param(
            BASE,
            OWN.replace("        out =", "        with randomize(ids):\n            out ="),
            FEWER,
            id="omni has it inside",
        ),
        pytest.param(
            LOCKS,
            LOCKS.replace("lock(self.a), lock(self.b), randomize(ids)", "lock(self.a, wait=True)"),
            LOCKS.replace("lock(self.a), ", "").replace(", randomize(ids)", ""),
            id="two items call the same",
        ),
    ],
)
@pytest.mark.parametrize("policy", [pytest.param(FOLLOW, id="a copy"), pytest.param(PORT, id="a port")])
def test_an_item_that_may_be_at_another_place_is_asked_about(
    base: str, omni: str, upstream: str, policy: Policy
) -> None:
    assert merge(Triple(base, omni, upstream), policy=policy).decisions


def test_an_item_that_omni_has_unchanged_goes() -> None:
    omni = BASE.replace("slots=self.slots", "slots=self.slots, graph=self.graph")
    result = merge(Triple(BASE, omni, FEWER), policy=PORT)
    assert "randomize" not in result.text
    assert "graph=self.graph" in result.text
