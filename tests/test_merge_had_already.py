"""What a port adds and omni has already: asked about where omni has it behind another statement."""

from __future__ import annotations

import pytest

from runner_sync.merge import PORT, merge
from runner_sync.model import Triple

STATE = "    if self.state is not None:\n        raise StateError(rows)\n"
ROUTED = "    if self.is_routed:\n        capturer = Capturer.instance()\n        capturer.clear_buffer(rows)\n"
SENT = "    sent = self.find_requests(rows)\n    self.transfer_all(sent)\n"
END = "    total = self.count_up(rows)\n    self.finish_all(total)\n    return total\n"
HEAD = "def run(self, rows):\n"
BASE = HEAD + STATE + ROUTED + END


@pytest.mark.parametrize(
    ("omni", "upstream", "is_asked"),
    [
        pytest.param(ROUTED + STATE + SENT, STATE + SENT + ROUTED, False, id="behind the same, among others"),
        pytest.param(
            ROUTED + STATE + "    # omni\n" + SENT, STATE + SENT + ROUTED, False, id="with a remark of its own"
        ),
        pytest.param(SENT + STATE + ROUTED, STATE + SENT + ROUTED, True, id="in front of what it is behind"),
        pytest.param(STATE + ROUTED + SENT, STATE + SENT + ROUTED, True, id="behind another one"),
        pytest.param(
            ROUTED + STATE + "    self.note(rows)\n" + SENT, STATE + SENT + ROUTED, True, id="with one between"
        ),
    ],
)
def test_what_omni_has_already_is_asked_about_where_it_is_behind_another_statement(
    omni: str, upstream: str, is_asked: bool
) -> None:
    """What else stands in another order there is omni's, and was before."""
    text = HEAD + omni + END
    result = merge(Triple(BASE, text, HEAD + upstream + END), policy=PORT)
    assert result.text == text
    assert [one.reason.kind for one in result.decisions] == ["both added in another order"] * is_asked
