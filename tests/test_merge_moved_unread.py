"""A statement that upstream moved and omni does not have, and whose value nothing of omni's reads."""

from __future__ import annotations

import pytest

from runner_sync.merge import FOLLOW, PORT, Policy, merge
from runner_sync.model import Triple

READY = "    ready = self.is_ready()\n"
STATE = "    state = self.copy_state(rows)\n"
BASE = (
    f"def run(self, rows):\n    self.begin(rows)\n{STATE}{READY}    self.send(rows, state, ready)\n    self.end(rows)\n"
)
MOVED = BASE.replace(STATE + READY, READY + STATE).replace("send(rows,", "send_all(rows.copy(),")
OWN = "def run(self, rows):\n    self.begin(rows)\n    self.own_send(rows)\n    self.end(rows)\n"
WITHOUT = BASE.replace(READY, "").replace(", ready", "")


@pytest.mark.parametrize("policy", [pytest.param(FOLLOW, id="a copy"), pytest.param(PORT, id="a port")])
@pytest.mark.parametrize(
    ("base", "asked"),
    [
        pytest.param(BASE, [], id="moved"),
        pytest.param(WITHOUT, [READY], id="new"),
        pytest.param(BASE.replace("is_ready()", "is_ready(rows)"), [READY], id="moved and changed"),
    ],
)
def test_only_a_new_statement_is_asked_about(base: str, asked: list[str], policy: Policy) -> None:
    result = merge(Triple(base, OWN, MOVED), policy=policy)
    unread = [one.upstream for one in result.decisions if one.reason.kind == "read only in what was left out"]
    assert (result.text, unread) == (OWN, [line.strip() for line in asked])
