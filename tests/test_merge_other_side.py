"""Which of several equal statements is the new one: both sides say the same one, or it would come twice."""

from __future__ import annotations

import pytest

from runner_sync.merge import FOLLOW, PORT, Policy, merge
from runner_sync.model import Triple

OLD = """    def stage_of(self, request):
        info = request.info
        if info is None:
            return None
        return info.get("stage")
"""
NEW = OLD.replace(
    "        if info", "        if info is None:\n            info = self.find(request)\n        if info", 1
)


@pytest.mark.parametrize("policy", [FOLLOW, PORT], ids=["follow", "port"])
@pytest.mark.parametrize(
    "omni",
    [
        pytest.param(NEW, id="nothing of omni's own"),
        pytest.param("    @torch.inference_mode()\n" + NEW, id="a decorator"),
        pytest.param(NEW.replace("request)", "request: Request)", 1), id="an annotation"),
        pytest.param(NEW.replace("        info = req", "        self.note(1)\n        info = req"), id="in front"),
        pytest.param(NEW.replace("        return info", "        self.note(2)\n        return info"), id="behind"),
    ],
)
def test_a_condition_that_omni_took_over_before_an_equal_one_comes_no_more(omni: str, policy: Policy) -> None:
    upstream = NEW.replace('"stage"', '"stage", 0')
    result = merge(Triple(OLD, omni, upstream), policy=policy)
    assert result.text == omni.replace('"stage"', '"stage", 0')


def body(*statements: str) -> str:
    return "def run(self, rows):\n" + "".join(f"    {line}\n" for line in statements)


SEND = "self.send(rows)"


@pytest.mark.parametrize("policy", [FOLLOW, PORT], ids=["follow", "port"])
@pytest.mark.parametrize(
    ("base", "omni", "upstream", "made"),
    [
        pytest.param([SEND], ["self.note(rows)", SEND, SEND], [SEND, SEND], None, id="omni took the second one over"),
        pytest.param([SEND], [SEND, SEND, "self.note(rows)"], [SEND, SEND], None, id="own code behind"),
        pytest.param(
            [SEND],
            ["self.note(rows)", SEND],
            [SEND, SEND],
            ["self.note(rows)", SEND, SEND],
            id="noop: omni has one of them, and gets the other",
        ),
        pytest.param(
            ["self.open(rows)", SEND, "self.close(rows)"],
            [SEND, "self.open(rows)", SEND, "self.close(rows)"],
            ["self.open(rows)", SEND, "self.close(rows)", SEND],
            [SEND, "self.open(rows)", SEND, "self.close(rows)", SEND],
            id="noop: each side has its own at another end",
        ),
    ],
)
def test_what_both_sides_added_to_equal_statements_stands_once(
    policy: Policy, base: list[str], omni: list[str], upstream: list[str], made: list[str] | None
) -> None:
    result = merge(Triple(body(*base), body(*omni), body(*upstream)), policy=policy)
    assert result.text == body(*(made or omni))
