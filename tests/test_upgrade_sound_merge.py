"""The merge of a port, repeated without what does not fit: which defects are named if it does not come right."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from runner_sync import merge
from runner_sync.model import Triple
from runner_sync.upgrade.from_gpu.merging import sound_merge

OMNI = """\
    def run(self, rows):
        first = rows[0]
        kept = self.keep(first)
        self.count(kept)
        return self.fetch(rows, kept)
"""
NEWS = """\
        wanted = {value}
        kept = None
        other = None
        if wanted:
            size = min(int(first.count), int(rows.count))
            if size == len(rows):
                kept = self.keep(first[:size])
            else:
                other = {{}}
"""
OLD = "        old = self.older(rows)\n"
BLOCK = "        if self.on_device(rows):\n            self.warm_up()\n"
HANDED = "            self.hand_over_to_the_device(wanted)\n"


def defects(value: str, block: str, added: str, more: Mapping[str, str] | None = None) -> list[str]:
    """The defects of a port of ``NEWS``, whose ``wanted`` is ``value``, beside a ``block`` that NPU does not have and
    that got what is ``added``; ``more`` is replaced, too."""
    base = OMNI.replace("        self.count", f"{block}        self.count").replace(
        "        first", f"{OLD}        first"
    )
    new = base.replace("        kept = self.keep(first)\n", NEWS.format(value=value)).replace(block, block + added)
    for old, text in (more or {}).items():
        new = new.replace(old, text)
    sides = Triple(base, OMNI, new)
    _, broken = sound_merge.merge_soundly(
        sides, merge.PORT, veto=lambda _canon: None, foreign=(), pinned=frozenset(), known={"len", "min", "int"}
    )
    return sorted(map(str, broken))


@pytest.mark.parametrize(
    ("value", "added", "said"),
    [
        pytest.param("old.any()", "", "`old` would be undefined", id="reads what NPU does without"),
        pytest.param(
            "rows.any()",
            HANDED,
            "`wanted` would come without some of the code that reads it",
            id="has a reader elsewhere",
        ),
    ],
)
def test_what_the_change_itself_lacks_is_named(
    value: str, added: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What reads ``wanted`` is cut, and with it what sets ``size``; that is no fault of the change, which sets it."""
    monkeypatch.setattr(sound_merge, "TRIES", 2)
    assert defects(value, BLOCK, added) == [said]


def test_a_name_that_the_change_sets_is_not_what_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    """What sets ``spare`` stands in a block that NPU does not have, and what reads it in a statement that NPU has."""
    monkeypatch.setattr(sound_merge, "TRIES", 1)
    sets = "            spare = self.spare(rows)\n"
    assert defects("old.any()", BLOCK, sets, {"count(kept)": "count(kept, spare)"}) == ["`old` would be undefined"]
    assert defects("rows.any()", BLOCK, sets, {"count(kept)": "count(kept, spare)"}) == ["`spare` would be undefined"]


def test_a_change_that_comes_right_has_no_defects() -> None:
    assert defects("old.any()", BLOCK, "") == []
    assert defects("rows.any()", BLOCK, HANDED) == []
    assert defects("rows.any()", BLOCK, "") == []


STORE = """\
    def run(self, rows{parameter}):
{setting}        self.note(rows)
        self.store(rows, {value}, and_more)
"""


@pytest.mark.parametrize("reader", ["len(rows) > 0", "keep"])
def test_a_parameter_that_npu_has_no_more_stays_out_where_nothing_reads_it(reader: str) -> None:
    """``activate_lora`` of ``_dummy_run``, which vllm-ascend 0.18.0 gave up together with what had read it."""
    base = STORE.format(parameter=", keep=False, late=False", setting="", value="keep")
    setting = "        if keep is None:\n            keep = len(rows) > 0\n"
    new = STORE.format(parameter=", late=False, size=0, keep=None", setting=setting, value="keep")
    omni = STORE.format(parameter=", late=False, size=0", setting="", value=reader) if reader != "keep" else base
    result, broken = sound_merge.merge_soundly(
        Triple(base, omni, new),
        merge.PORT,
        veto=lambda _canon: None,
        foreign=(),
        pinned=frozenset(),
        known={"len", "and_more"},
    )
    assert broken == set()
    assert result.text == (omni if reader != "keep" else new)
    asked = {(item.reason.kind, item.reason.names) for item in result.decisions}
    assert asked == ({("parameter that nothing reads", ("keep",))} if reader != "keep" else set())
