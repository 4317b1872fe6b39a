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
UNREAD = "read only in what was left out"
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
    unread = [one.upstream for one in result.decisions if one.reason.kind == UNREAD]
    assert (result.text, unread) == (OWN, [line.strip() for line in asked])


def test_a_moved_statement_is_shown_with_a_new_one_that_reads_it() -> None:
    """`use_pp_spec_decode` of vllm-ascend 0.25.1rc1 reads `pp`, which had been set further down."""
    now = MOVED.replace(READY, f"{READY}    late = ready and self.late\n").replace(", ready)", ", ready, late)")
    asked = [one.upstream for one in merge(Triple(BASE, OWN, now)).decisions if one.reason.kind == UNREAD]
    assert asked == ["ready = self.is_ready()\nlate = ready and self.late"]
