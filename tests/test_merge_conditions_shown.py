"""The conditions that a question about what was left out shows around that."""

from __future__ import annotations

import textwrap

import pytest

from runner_sync.merge import PORT, Decision, merge
from runner_sync.model import Triple

UNIT = "def run(self, batch):\n    rows = self.rows(batch)\n{}    self.send(rows)\n    return rows\n"
PLAIN = UNIT.format("")
OLD = "batch = deepcopy(batch)\nbatch.cached.token_ids = []\n"
NEW = "cached = batch.cached\nbatch = replace(batch, cached=replace(cached, token_ids=[]))\n"


def _below(heads: str, inside: str) -> str:
    """``inside`` below heads, one to a line, each in the suite of the one above."""
    for head in reversed(heads.split("\n")):
        inside = f"{head}\n{textwrap.indent(inside, '    ')}"
    return inside


def _in_unit(heads: str, inside: str) -> str:
    return UNIT.format(textwrap.indent(_below(heads, inside) if heads else inside, "    "))


def _asked(base: str, omni: str, upstream: str) -> Decision:
    (item,) = merge(Triple(base, omni, upstream)).decisions
    assert not item.chosen
    return item.under_conditions()


@pytest.mark.parametrize("heads", ["if self.group > 1 and not self.is_last:", "if self.group:\n    for _ in batch:"])
def test_what_changed_in_a_block_that_omni_does_not_have_is_shown_below_its_condition(heads: str) -> None:
    """``if pp_group.world_size > 1 and …`` in ``execute_model`` of vllm-ascend 0.25.1rc1 and 0.29.0rc1."""
    heads = textwrap.dedent(heads.replace("\n    ", "\n"))
    item = _asked(_in_unit(heads, OLD), PLAIN, _in_unit(heads, NEW))
    assert f"{item.upstream}\n" == _below(heads, NEW)
    assert f"{item.base}\n" == _below(heads, OLD.split("\n")[1] + "\n")
    assert not item.omni
    assert item.under_conditions() == item


def test_each_side_is_shown_below_its_own_conditions() -> None:
    item = _asked(_in_unit("if self.group:", OLD), PLAIN, _in_unit("if self.group and not self.is_last:", NEW))
    assert item.base.startswith("if self.group:\n    batch = ")
    assert item.upstream.startswith("if self.group and not self.is_last:\n    cached = ")


def test_what_stood_in_an_else_is_shown_with_its_condition() -> None:
    sides = [
        _in_unit("", f"if self.group:\n    self.note(rows)\nelse:\n{textwrap.indent(s, '    ')}") for s in (OLD, NEW)
    ]
    item = _asked(sides[0], PLAIN, sides[1])
    assert item.upstream.startswith("if self.group:\n    # …\nelse:\n    cached = batch.cached\n")


@pytest.mark.parametrize(
    ("head", "omni"),
    [
        pytest.param("if self.group:", "if self.group:", id="omni has the condition"),
        pytest.param("with self.group:", "", id="no condition"),
        pytest.param("", "", id="none"),
    ],
)
def test_what_is_under_no_condition_that_omni_lacks_is_shown_alone(head: str, omni: str) -> None:
    own = "self.own(rows)\nself.keep(batch)\n"
    mine = _in_unit(omni, own) if omni else PLAIN
    old, new = (_in_unit(head, (own if omni else "") + inside) for inside in (OLD, NEW))
    (item,) = (one for one in merge(Triple(old, mine, new)).decisions if not one.chosen)
    assert item.under_conditions() == item
    assert NEW.strip() in item.upstream


def test_what_was_chosen_is_shown_alone() -> None:
    sides = (f"    self.note({given})\n" for given in ("a, b", "a, own", "a, c"))
    base, omni, upstream = (_in_unit("if self.group:", textwrap.dedent(side)) for side in sides)
    (item,) = merge(Triple(base, omni, upstream)).decisions
    assert item.under_conditions() == item
    assert item.upstream == "self.note(a, c)"
    assert merge(Triple(base, omni, upstream), policy=PORT).decisions[0].over_upstream == ()
