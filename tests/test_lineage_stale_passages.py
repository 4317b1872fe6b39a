"""Passages that a unit has as an earlier revision of its twin had them, beside what it has of a later one."""

from __future__ import annotations

import pytest

from runner_sync.lineage.stale_passages import as_followed

OLD = """\
def __init__(self, size):
    self.size = size
    self.rows = self.make(size, of="rows")
    if size:
        self.note("made")
    self.begin()
"""
LATER = """\
def __init__(self, size):
    self.size = size
    # May be wider than this stage.
    self.width = self.width_of("rows")
    self.rows = self.make(self.width, of="rows")
    if size:
        self.note("made")
    self.begin()
    self.keep_rows()
"""
MADE = '    self.rows = self.make(size, of="rows")\n'
WIDER = LATER[LATER.index("    # May") : LATER.index("    if size")]
NPU = OLD + "    self.keep_rows()\n    self.own()\n"


def test_a_passage_that_the_unit_has_in_the_older_form_alone_follows_that() -> None:
    assert as_followed(LATER, [OLD], npu=NPU, now=LATER) == LATER.replace(WIDER, MADE)


def test_the_last_revision_with_that_form_counts() -> None:
    oldest = OLD.replace("size, of", "size, kind=None, of")
    assert as_followed(LATER, [oldest, OLD], npu=NPU, now=LATER) == LATER.replace(WIDER, MADE)


def test_each_passage_follows_its_own_revision() -> None:
    oldest = OLD.replace('self.note("made")', 'self.note("rows", "made")')
    mine = NPU.replace('self.note("made")', 'self.note("rows", "made")')
    made = as_followed(LATER, [oldest, OLD], npu=mine, now=LATER)
    assert made == LATER.replace(WIDER, MADE).replace('self.note("made")', 'self.note("rows", "made")')


@pytest.mark.parametrize(
    ("mine", "now", "delivered"),
    [
        pytest.param(NPU.replace(MADE, WIDER), LATER, (), id="the later form"),
        pytest.param(NPU.replace(MADE, "    self.rows = None\n"), LATER, (), id="a form of its own"),
        pytest.param(
            NPU.replace(MADE, MADE + '    self.width = self.width_of("rows")\n'), LATER, (), id="some of both"
        ),
        pytest.param(NPU + MADE, LATER, (), id="twice, and nobody knows which is meant"),
        pytest.param(NPU, LATER + MADE, (), id="the twin has the older form again"),
        pytest.param(
            NPU,
            LATER,
            ("self.width = self.width_of('rows')", "self.rows = self.make(self.width, of='rows')"),
            id="it comes from somebody else",
        ),
    ],
)
def test_what_the_unit_does_not_follow_stays(mine: str, now: str, delivered: tuple[str, ...]) -> None:
    assert as_followed(LATER, [OLD], npu=mine, now=now, delivered=delivered) == LATER


def test_what_the_twin_only_gained_or_lost_since_is_no_passage() -> None:
    """Whether the unit lacks a gain on purpose is another question; a loss that it kept may be its own."""
    gained = OLD.replace("    self.begin()\n", "    self.check()\n    self.begin()\n")
    assert as_followed(gained, [OLD], npu=OLD, now=gained) == gained
    assert as_followed(OLD, [gained], npu=gained, now=OLD) == OLD


def test_so_does_a_condition_alone() -> None:
    later = LATER.replace("    if size:", "    if size > 1:")
    assert as_followed(later, [OLD], npu=NPU, now=later) == LATER.replace(WIDER, MADE)


@pytest.mark.parametrize(
    "later",
    [
        pytest.param(OLD.replace("    if size:", "    while size:"), id="a loop for a condition"),
        pytest.param(
            OLD.replace('    if size:\n        self.note("made")', "    if size > 1:\n        self.tell()"), id="all"
        ),
        pytest.param(
            OLD.replace('    if size:\n        self.note("made")', '    if size > 1: self.note("made")'), id="row"
        ),
        pytest.param(OLD.replace("def __init__(self, size)", "def __init__(self, size, of)"), id="the signature"),
    ],
)
def test_another_head_or_suite_is_no_passage(later: str) -> None:
    assert as_followed(later, [OLD], npu=OLD + "    self.own()\n", now=later) == later
