"""Items that are one decision name each other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from runner_sync.model import ReviewItem
from runner_sync.upgrade.draft import Draft, Stage
from runner_sync.upgrade.questions.partners import name_partners


def draft(name: str, identity: str, chosen: str, *, is_new: bool = False, from_gpu: bool = True) -> Draft:
    made = Draft(name, (Stage("" if is_new else "x"), Stage(chosen, "gpu")), outcome="added" if is_new else "updated")
    return made.asking(ReviewItem(identity, name, "p", 1, 1, "why", 0.5, "", "", chosen, chosen, from_gpu=from_gpu))


def reasons(*drafts: Draft) -> dict[str, str]:
    return {item.id: item.reason for one in name_partners(drafts) for item in one.reviews}


HELPER = draft("Runner.keep", "R1", "def keep(self): return self.flag()", is_new=True)
FLAG = draft("Runner.flag", "R2", "def flag(self): return 1", is_new=True)
CALL = draft("Runner.run", "R3", "self.keep()")


def test_a_ported_member_and_what_brings_its_calls_name_each_other() -> None:
    assert reasons(HELPER, FLAG, CALL) == {
        "R1": "why; belongs with R2, R3",
        "R2": "why; belongs with R1",
        "R3": "why; belongs with R1",
    }


def test_so_does_what_would_call_it_and_was_left_out() -> None:
    left_out = draft("Runner.run", "R3", "")
    asked = replace(left_out, reviews=(replace(left_out.reviews[0], upstream="self.flag()"),))
    assert reasons(FLAG, asked) == {"R2": "why; belongs with R3", "R3": "why; belongs with R2"}


def test_what_stays_as_it_is_does_not_belong_to_what_it_would_call() -> None:
    stays = draft("Runner.run", "R3", "self.own()")
    asked = replace(stays, reviews=(replace(stays.reviews[0], upstream="self.flag()"),))
    assert set(reasons(FLAG, asked).values()) == {"why"}


def test_of_many_partners_the_first_ones_are_named() -> None:
    calls = [draft(f"Runner.run{k}", f"R{k + 3}", "self.flag()") for k in range(4)]
    assert reasons(FLAG, *calls)["R2"] == "why; belongs with R3, R4, R5 and 1 more"


@pytest.mark.parametrize(
    ("member", "call"),
    [
        pytest.param(FLAG, draft("Runner.run", "R3", "self.flags()"), id="another name"),
        pytest.param(FLAG, draft("Runner.run", "R3", "other.flag()"), id="of another object"),
        pytest.param(FLAG, draft("Other.run", "R3", "self.flag()"), id="of another class"),
        pytest.param(FLAG, draft("Runner.run", "R3", "self.flag()", from_gpu=False), id="no port"),
        pytest.param(replace(FLAG, outcome="updated"), draft("Runner.run", "R3", "self.flag()"), id="was there before"),
        pytest.param(FLAG, draft("Runner.flag", "R3", "self.flag()"), id="itself"),
    ],
)
def test_what_is_no_partner_is_not_named(member: Draft, call: Draft) -> None:
    assert set(reasons(member, call).values()) == {"why"}
