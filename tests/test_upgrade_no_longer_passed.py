"""Keywords that a port takes from a call: its question names them."""

from __future__ import annotations

import pytest

from runner_sync.upgrade.from_gpu.asking.no_longer_passed import explain

CALL = "out = self.talker(rows, **given)\n"
SEED = 'given["seed"] = seed\n'
GENERATOR = 'given["generator"] = generator\n'


@pytest.mark.parametrize(
    ("was", "now", "names"),
    [
        pytest.param("send(rows, to=stage, at=1)\n", "send(rows, at=1)\n", "to", id="a keyword"),
        pytest.param("send(rows, to=stage)\n", "send(rows, stage=stage)\n", "to", id="a keyword with another name now"),
        pytest.param(SEED, GENERATOR, "seed", id="a key"),
        pytest.param(
            f"if seed is not None:\n    {SEED}", f"if generator:\n    {GENERATOR}", "seed", id="a key under a condition"
        ),
        pytest.param("f(a=1, b=2, c=3, d=4)\n", "f()\n", "a, b, c and 1 more", id="many"),
    ],
)
def test_what_is_no_longer_passed_is_named(was: str, now: str, names: str) -> None:
    """``seed`` of ``_talker_mtp_forward`` in vllm-omni 0.20.0, which one of the talkers still takes."""
    assert explain(was, now, now + CALL) == f"; the new code no longer passes {names}"


@pytest.mark.parametrize(
    ("was", "now", "after"),
    [
        pytest.param("send(rows, to=stage)\n", "send(rows, to=last)\n", "", id="another value"),
        pytest.param("send(rows, to=stage)\n", "send(rows, stage)\n", "", id="by position"),
        pytest.param("send(rows, to=stage)\n", "send(rows, **given)\n", "", id="perhaps in a dict"),
        pytest.param("send(rows, to=stage)\n", "deliver(rows)\n", "", id="another call"),
        pytest.param("send(rows, to=stage)\n", "", "", id="no call"),
        pytest.param(SEED, GENERATOR, "note(given)\n", id="a key of what is no keywords"),
        pytest.param(SEED, GENERATOR, SEED + CALL, id="a key that is set elsewhere"),
        pytest.param(SEED, "given = {}\n", CALL, id="a dict that is made anew"),
        pytest.param("given[row] = 1\n", GENERATOR, CALL, id="a key that is computed"),
        pytest.param("", "send(rows)\n", "", id="nothing stood there"),
        pytest.param("    send(to=stage)\nclose()\n", "    send()\nclose()\n", "", id="the end of a block and more"),
        pytest.param("else:\n    send(to=stage)\n", "send()\n", "", id="no statement"),
    ],
)
def test_nothing_is_said_of_what_may_still_be_passed(was: str, now: str, after: str) -> None:
    assert explain(was, now, now + after) == ""
