"""An ``else`` behind a branch that exits: upstream adds or removes it, and omni's branch goes on."""

from __future__ import annotations

import pytest

from runner_sync.merge import FOLLOW, PORT, Policy, merge
from runner_sync.merge.preparing.else_behind_exit import with_else_as_in_base
from runner_sync.model import Triple

OPEN = """\
def run(self, rows):
    if not rows.size:
        self.check(rows)
        if not self.has_group():
            # nothing to do
            return EMPTY
        return self.forward(rows, self.config)
    self.start(rows)
    if not self.has_group():
        return EMPTY
    return self.forward(rows, self.config)
"""
CLOSED = OPEN.replace(
    "        return self.forward(rows, self.config)\n",
    "        else:\n            # to the group\n            return self.forward(rows, self.config)\n",
    1,
)
OWN = """\
def run(self, rows):
    if not rows.size:
        self.check(rows)
        ids = self.ids
        if not self.has_group():
            out = EMPTY
        else:
            out = self.forward(rows, self.config)
        if ids:
            out = self.with_ids(out, ids)
        return self.attach(out)
    self.start(rows)
    if not self.has_group():
        return self.attach(EMPTY)
    return self.attach(self.forward(rows, self.config))
"""


@pytest.mark.parametrize("old", [OPEN, CLOSED], ids=["new", "removed"])
@pytest.mark.parametrize("policy", [FOLLOW, PORT], ids=["follow", "port"])
def test_the_branches_of_omnis_version_stay_branches(old: str, policy: Policy) -> None:
    new = (CLOSED if old == OPEN else OPEN).replace("self.start(rows)", "self.start(rows, 1)")
    result = merge(Triple(old, OWN, new), policy=policy)
    assert result.text.replace("            # to the group\n", "") == OWN.replace(
        "self.start(rows)", "self.start(rows, 1)"
    )


@pytest.mark.parametrize(("old", "new"), [(OPEN, CLOSED), (CLOSED, OPEN)])
def test_where_omni_exits_too_upstreams_form_comes_in(old: str, new: str) -> None:
    wrapped = old.replace("return EMPTY", "return self.attach(EMPTY)")
    assert merge(Triple(old, wrapped, new)).text == new.replace("return EMPTY", "return self.attach(EMPTY)")


def test_upstream_is_read_in_the_bases_form() -> None:
    remark = "        # to the group\n        return"
    plain = OPEN.replace("        return self.forward", f"{remark} self.forward", 1)
    assert with_else_as_in_base(Triple(OPEN, OWN, CLOSED)).upstream == plain
    closed = CLOSED.replace("            # to the group\n", "")
    assert with_else_as_in_base(Triple(CLOSED, OWN, OPEN)).upstream == closed
    assert with_else_as_in_base(Triple(OPEN, OPEN, CLOSED)).upstream == CLOSED


def test_a_branch_that_goes_on_gets_no_else_from_the_base() -> None:
    """Without the exit, upstream does both."""
    new = OPEN.replace("            return EMPTY", "            self.note(EMPTY)", 1)
    result = merge(Triple(CLOSED, OWN, new))
    assert "self.note(EMPTY)" in result.text or result.decisions
