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


KEEPS = """\
def forward(self, rows):
    if self.is_short(rows):
        out = self.run_short(rows)
        self.last = out
        return out
    out = self.run(rows)
    self.update(out)
    self.last = out
    return out
"""
PLAIN = KEEPS.replace("        self.last = out\n", "").replace("    self.last = out\n", "")
IDLE = PLAIN.replace(
    "    out = self.run(rows)\n", "    if self.is_idle:\n        return self.run_idle(rows)\n    out = self.run(rows)\n"
)


def missing(omni: str, upstream: str, base: str = PLAIN) -> list[str]:
    """The new returns that lack omni's statement, each with that."""
    made = [one for one in merge(Triple(base, omni, upstream)).decisions if one.reason.kind == LACKS]
    return [f"{one.chosen}: {', '.join(one.reason.names)}" for one in made]


LACKS = "exit without omni's statement"


def test_a_new_return_without_what_omni_has_before_all_others_is_asked_about() -> None:
    assert missing(KEEPS, IDLE) == ["return self.run_idle(rows): self.last = out"]


def test_a_function_inside_has_returns_of_its_own() -> None:
    inner = "    def again(one):\n        return one\n    self.later(again)\n"
    head = "def forward(self, rows):\n"
    base, omni, upstream = (text.replace(head, head + inner) for text in (PLAIN, KEEPS, IDLE))
    assert missing(omni, upstream, base) == ["return self.run_idle(rows): self.last = out"]
    assert not missing(KEEPS, PLAIN.replace(head, head + inner))


@pytest.mark.parametrize(
    ("omni", "upstream"),
    [
        pytest.param(KEEPS.replace("        self.last = out\n", ""), IDLE, id="one return does without"),
        pytest.param(KEEPS.replace("self.last = out", "self.last = rows", 1), IDLE, id="another one before one return"),
        pytest.param(
            KEEPS.replace("    self.last = out\n    return", "    self.last = out\n    self.tell(out)\n    return"),
            IDLE,
            id="not directly before one return",
        ),
        pytest.param(
            KEEPS,
            IDLE.replace("        return self.run_idle(", "        self.last = out\n        return self.run_idle("),
            id="the new return has it, too",
        ),
        pytest.param(KEEPS, IDLE.replace("return self.run_idle(rows)", "raise self.error"), id="no return"),
        pytest.param(KEEPS, PLAIN.replace("self.update(out)", "self.update(out, 1)"), id="no new return"),
    ],
)
def test_a_new_return_is_not_asked_about_where_nothing_is_due(omni: str, upstream: str) -> None:
    assert not missing(omni, upstream)


def test_a_statement_before_the_only_return_is_not_due_at_all_returns() -> None:
    base = "def run(self, rows):\n    out = self.step(rows)\n    self.update(out)\n    return out\n"
    omni = base.replace("    return", "    self.last = out\n    return")
    upstream = base.replace("    out =", "    if not rows:\n        return None\n    out =")
    assert not missing(omni, upstream, base)


ONE = "def run(self, rows):\n    self.prepare(rows)\n    return self.forward(rows)\n"


@pytest.mark.parametrize(
    ("early", "asked"),
    [
        pytest.param("self.forward(rows, 0)", ["return self.forward(rows, 0): self.finish()"], id="the same call"),
        pytest.param("self.pool(rows)", [], id="another call"),
        pytest.param("rows", [], id="no call"),
    ],
)
def test_a_new_return_of_what_the_only_other_one_returns(early: str, asked: list[str]) -> None:
    """``_run_generation_model``, where NPU ends a dump of data before it calls the model."""
    omni = ONE.replace("    return", "    self.finish()\n    return")
    upstream = ONE.replace("    self.prepare", f"    if self.is_idle:\n        return {early}\n    self.prepare")
    assert missing(omni, upstream, ONE) == asked
    had = upstream.replace(f"        return {early}", f"        self.finish()\n        return {early}")
    assert not missing(omni, had, ONE)


def test_a_statement_that_all_have_before_their_returns_is_not_omnis_own() -> None:
    assert not missing(KEEPS.replace("self.update(out)", "self.update(out, 1)"), IDLE, KEEPS)
