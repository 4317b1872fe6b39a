"""Lines of texts, to be compared at whatever indentation."""

from __future__ import annotations

from runner_sync.upgrade.lines import strip_lines, strip_written_lines


def test_lines_lose_the_blanks_at_their_ends() -> None:
    assert strip_lines("    if rows:\n\n        pack(rows)  \n") == ["if rows:", "", "pack(rows)", ""]


def test_blank_lines_are_no_written_ones() -> None:
    assert strip_written_lines("    if rows:\n\n        pack(rows)  \n") == ["if rows:", "pack(rows)"]
