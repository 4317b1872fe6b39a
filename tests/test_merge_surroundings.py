"""What the base has once and omni in several branches: upstream's change of it goes to its like, or to none."""

from __future__ import annotations

import pytest

from runner_sync.merge import FOLLOW, PORT, Merged, Policy, merge
from runner_sync.model import Triple

PICK = "rows = pick(batch, self.limit)"
CHANGED = "rows = pick(batch, self.limit, batch.device)"
BEFORE = f"""\
def run(self, batch):
    check(self.kind)
    {PICK}
    if not self.is_last:
        send(batch.tensors, self.group)
        scores = None
    else:
        scores = self.model.scores(rows)
    return scores
"""
IN_BOTH = f"""\
def run(self, batch):
    check(self.kind)
    if not self.is_last:
        {PICK}
        send(batch.tensors, self.group)
        scores = None
    else:
        {PICK}
        scores = self.model.scores(rows)
    return scores
"""
POLICIES = pytest.mark.parametrize("policy", [FOLLOW, PORT])


def merged(policy: Policy, omni: str, *, base: str = BEFORE, foreign: frozenset[str] = frozenset()) -> Merged:
    return merge(Triple(base, omni, base.replace(PICK, CHANGED)), policy=policy, foreign=foreign)


def kinds(result: Merged) -> list[str]:
    return [decision.reason.kind for decision in result.decisions]


@POLICIES
def test_neither_branch_takes_the_change_of_what_stood_before_the_condition(policy: Policy) -> None:
    result = merged(policy, IN_BOTH)
    assert result.text == IN_BOTH
    (asked,) = result.decisions
    assert asked.reason.kind == "repeated statement changed"
    assert (asked.line, asked.omni, asked.upstream, asked.chosen) == (4, PICK, CHANGED, PICK)


def test_it_is_asked_about_where_the_old_form_alone_is_a_third_partys() -> None:
    assert kinds(merged(PORT, IN_BOTH, foreign=frozenset({PICK}))) == ["repeated statement changed"]
    assert kinds(merged(PORT, IN_BOTH, foreign=frozenset({PICK, CHANGED}))) == []


@POLICIES
def test_the_branch_that_the_base_has_it_in_takes_the_change(policy: Policy) -> None:
    base = IN_BOTH.replace(f"        {PICK}\n        send", "        send")
    result = merged(policy, IN_BOTH, base=base)
    assert result.text == base.replace(PICK, CHANGED).replace("        send", f"        {PICK}\n        send")
    assert kinds(result) == []


@POLICIES
@pytest.mark.parametrize("at", [0, 1])
def test_the_branch_with_the_same_neighbours_takes_the_change(policy: Policy, at: int) -> None:
    """Omni has put a condition of its own around the statement."""
    base = f"def run(self, batch):\n    {PICK}\n    log(rows)\n    return rows\n"
    logs = "        log(rows)\n"
    branches = [f"        {PICK}\n{logs}", f"        {PICK}\n        note(rows)\n"]
    first, second = branches[at], branches[1 - at]
    omni = f"def run(self, batch):\n    if self.is_npu:\n{first}    else:\n{second}    return rows\n"
    result = merged(policy, omni, base=base)
    assert result.text == omni.replace(f"{PICK}\n{logs}", f"{CHANGED}\n{logs}")
    assert kinds(result) == []


@POLICIES
def test_every_branch_takes_the_change_where_the_base_has_it_in_each(policy: Policy) -> None:
    omni = IN_BOTH.replace("check(self.kind)", "check(self.kind, self.device)")
    result = merged(policy, omni, base=IN_BOTH)
    assert result.text == omni.replace(PICK, CHANGED)


@POLICIES
@pytest.mark.parametrize(
    "omni",
    [
        pytest.param(BEFORE.replace("        send", f"        {PICK}\n        send"), id="before the condition, too"),
        pytest.param(BEFORE.replace("        send", "        again = pick(batch, 1)\n        send"), id="another one"),
        pytest.param(BEFORE.replace("    check(self.kind)\n", "    check(self.kind, 1)\n"), id="once"),
    ],
)
def test_the_place_of_the_base_takes_the_change(policy: Policy, omni: str) -> None:
    result = merged(policy, omni)
    assert result.text == omni.replace(PICK, CHANGED, 1)
    assert kinds(result) == []


@POLICIES
def test_what_upstream_left_alone_stands_as_omni_has_it(policy: Policy) -> None:
    upstream = BEFORE.replace("check(self.kind)", "check(self.kind, self.device)")
    result = merge(Triple(BEFORE, IN_BOTH, upstream), policy=policy)
    assert result.text == IN_BOTH.replace("check(self.kind)", "check(self.kind, self.device)")
    assert kinds(result) == []
