"""A parameter that a left-out statement gives a new value: whether what reads it comes."""

from __future__ import annotations

import pytest

from runner_sync.merge import PORT, Kind, Reason, merge
from runner_sync.model import Triple

BASE = "    def run(self, rows):\n        self.a(rows)\n        self.b(rows)\n"
OMNI = BASE.replace("        self.b", "        self.own(rows)\n        self.b")
NEW = """\
    def run(self, rows):
        self.a(rows)
        if Other.on:
            rows = rows.split()
        self.b(rows)
        for row in rows.parts:
            self.e(row)
"""


@pytest.mark.parametrize("above", ["", "    # about run\n", "    @timed\n"])
@pytest.mark.parametrize(("kind", "comes"), [("taken out of the copy", True), ("uses refused code", False)])
def test_readers_of_a_parameter_come_if_the_copy_does_without_its_new_value(
    above: str, kind: Kind, comes: bool
) -> None:
    def veto(canon: str) -> Reason | None:
        return Reason(kind, ("Other",)) if "Other" in canon else None

    result = merge(Triple(above + BASE, above + OMNI, above + NEW), policy=PORT, veto=veto)
    assert "rows.split()" not in result.text
    assert ("for row in rows.parts" in result.text) is comes
