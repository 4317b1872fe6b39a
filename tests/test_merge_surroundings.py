"""What the base has once and omni in several branches: a change goes to its like, to each of them, or to none."""

from __future__ import annotations

import pytest
from merge_samples import kinds

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


def test_both_branches_take_the_change_of_what_stood_before_the_condition() -> None:
    result = merged(FOLLOW, IN_BOTH)
    assert result.text == IN_BOTH.replace(PICK, CHANGED)
    (asked,) = result.decisions
    assert asked.reason.kind == "repeated statement followed"
    assert (asked.line, asked.omni, asked.upstream, asked.chosen) == (4, PICK, CHANGED, CHANGED)


def test_a_port_asks_about_all_its_passages_anyway() -> None:
    result = merged(PORT, IN_BOTH)
    assert (result.text, kinds(result)) == (IN_BOTH.replace(PICK, CHANGED), [])


def test_a_change_that_is_a_third_partys_stays_out() -> None:
    result = merged(PORT, IN_BOTH, foreign=frozenset({PICK, CHANGED}))
    assert (result.text, kinds(result)) == (IN_BOTH, [])
    assert merged(PORT, IN_BOTH, foreign=frozenset({PICK})).text == IN_BOTH.replace(PICK, CHANGED)


OTHERWISE = "    if self.is_npu:\n        {0}\n        load(rows)\n    else:\n        {0}\n        hold(rows)\n"


@POLICIES
@pytest.mark.parametrize(
    ("base", "omni"),
    [
        pytest.param(
            BEFORE.replace(f"    {PICK}\n", f"    {PICK}\n    store(rows)\n"),
            BEFORE.replace(f"    {PICK}\n", OTHERWISE.format(PICK)),
            id="under a condition of omni's own",
        ),
        pytest.param(
            BEFORE.replace(f"    {PICK}\n", f"    {PICK}\n    batch = self.cut(batch)\n"),
            IN_BOTH.replace("    if not", "    batch = self.cut(batch)\n    if not"),
            id="what it reads is set in between",
        ),
    ],
)
def test_neither_branch_takes_a_change_that_may_mean_something_else_there(policy: Policy, base: str, omni: str) -> None:
    result = merged(policy, omni, base=base)
    assert result.text.count(PICK) == 2
    assert "repeated statement changed" in kinds(result)


def test_neither_branch_takes_a_change_that_reads_what_is_not_set_there() -> None:
    upstream = BEFORE.replace(f"    {PICK}\n", f"    device = self.device_of(batch)\n    {CHANGED}\n")
    upstream = upstream.replace("batch.device", "device")
    result = merge(Triple(BEFORE, IN_BOTH, upstream), policy=PORT)
    assert result.text.count(PICK) == 2
    assert "repeated statement changed" in kinds(result)


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
