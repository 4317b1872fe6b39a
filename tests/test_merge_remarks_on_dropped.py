"""Comments that upstream put in the place of statements which omni has dropped, too."""

from __future__ import annotations

import pytest

from runner_sync.merge import FOLLOW, merge
from runner_sync.model import Triple

SNAPSHOT = "    # Take them now, because the next step overwrites them.\n    taken = self.take(rows)\n"
BASE = f"def run(self, rows):\n    out = self.fill(rows)\n{SNAPSHOT}    return Later(out, taken=taken)\n"
REMARK = "    # They are served by the connector.\n"
UPSTREAM = BASE.replace(SNAPSHOT, REMARK).replace(", taken=taken", "")
OMNI = BASE.replace(SNAPSHOT, "").replace(
    "    return Later(out, taken=taken)", "    out.taken = mine\n    return Later(out)"
)


@pytest.mark.parametrize(
    ("base", "omni", "comes"),
    [
        pytest.param(BASE, OMNI, False, id="omni gives the value otherwise"),
        pytest.param(BASE, OMNI.replace("out.taken = mine", "self.log(rows)"), True, id="omni does not give it"),
        pytest.param(
            BASE, BASE.replace("    out", "    self.log(rows)\n    out"), True, id="omni had what was dropped"
        ),
        pytest.param(
            BASE.replace(", taken=taken", ", note=self.note"),
            OMNI,
            True,
            id="what was dropped was not for the next one",
        ),
        pytest.param(
            BASE.replace(SNAPSHOT, "    taken = rows\n" + SNAPSHOT.replace("taken = ", "self.taken = ")).replace(
                "taken=taken", "rows"
            ),
            OMNI,
            True,
            id="nothing local was set",
        ),
    ],
)
def test_a_comment_in_the_place_of_what_omni_gives_otherwise_stays_out(base: str, omni: str, comes: bool) -> None:
    """``# R3 is served by the V2 runner …`` of vllm-ascend 0.30.0rc1, where `sample_tokens` still serves it."""
    assert (REMARK in merge(Triple(base, omni, UPSTREAM), policy=FOLLOW).text) == comes
