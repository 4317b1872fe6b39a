"""A question names what verification found in the lines that it asks about."""

from __future__ import annotations

from pathlib import Path

import pytest
from sync_samples import (
    ASCEND,
    ASCEND_NEW,
    ASCEND_OLD,
    BASE,
    Trees,
    check_upgrade,
    commit,
    dedent,
    lay_out,
    stay_at_home,
)

from runner_sync.model import Finding, ReviewItem
from runner_sync.sync.result_check import mention_findings

ITEM = ReviewItem("R1", "AR.run", "ar.py", 3, 5, "both changed", 0.5, "", "", "", "a()\n")
FOUND = Finding("RS302", "error", "ar.py", 4, 5, "AR.run", "a", "`a` requires `b`.")


def reasons(item: ReviewItem, *found: Finding) -> str:
    return mention_findings([item], found)[0].reason


def test_a_finding_inside_is_named_once() -> None:
    assert reasons(ITEM, FOUND, FOUND) == "both changed; RS302: `a` requires `b`"


@pytest.mark.parametrize(
    ("path", "line", "end_line"),
    [
        pytest.param("other.py", 4, 5, id="in another module"),
        pytest.param("ar.py", 2, 4, id="begins above"),
        pytest.param("ar.py", 5, 6, id="ends below"),
    ],
)
def test_a_finding_elsewhere_is_not_named(path: str, line: int, end_line: int) -> None:
    found = Finding("RS302", "error", path, line, end_line, "AR.run", "a", "`a` requires `b`.")
    assert reasons(ITEM, found) == "both changed"


def test_an_item_without_a_place_in_the_file_names_none() -> None:
    item = ReviewItem("R1", "AR.run", "ar.py", 3, 5, "not ported", 0.5, "", "", "", "a()\n", in_file=False)
    assert reasons(item, FOUND) == "not ported"


def test_a_call_that_no_longer_fits_in_lines_that_are_asked_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    trees.edit(BASE, "self._forward(total)", "self._forward(self.count_rows())")
    old, new = (
        dedent(text).replace(
            "    def _forward", f"    def count_rows({parameters}):\n        return self.rows\n\n    def _forward"
        )
        for text, parameters in ((ASCEND_OLD[ASCEND], "self"), (ASCEND_NEW[ASCEND], "self, total"))
    )
    lay_out(trees.ascend_old, {ASCEND: old})
    commit(trees.ascend_old)
    new = new.replace("self._forward(total)", "self._forward(total + 1)")
    lay_out(trees.ascend_old, {**ASCEND_NEW, ASCEND: new})
    commit(trees.ascend_old)
    result = check_upgrade(trees.upgrade(trees.ascend_old, ascend_base="HEAD~1", gpu=False))
    assert any("; RS302: `count_rows`" in item.reason for item in result.report.reviews)
