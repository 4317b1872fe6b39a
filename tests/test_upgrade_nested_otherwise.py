"""A change of the GPU twin that only moves statements into or out of a block."""

from __future__ import annotations

from pathlib import Path

import pytest
from sync_samples import GPU_TWIN, NPU_TWIN, port_of

from runner_sync.texts.member_text import is_same, is_same_but_for_hints

INSIDE = """\
    def _collect(self, rows):
        self.note(rows)
        {head}
            self.count(rows)
            self.send(rows)
        return rows
"""
OUTSIDE = INSIDE.replace("            self.send", "        self.send")
HEADS = [
    pytest.param(head, id=head.split()[0]) for head in ("if self.stage:", "for row in rows:", "with self.attach():")
]


def upgrade(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, npu: str, was: str, now: str) -> tuple[str, str]:
    """The NPU module and the questions, after its twin's method went from ``was`` to ``now``."""
    mine, twin = (text.partition("    def ")[0] for text in (NPU_TWIN, GPU_TWIN))
    return port_of(tmp_path, monkeypatch, mine + npu, twin + was, twin + now)


@pytest.mark.parametrize(
    "edit", [pytest.param("", id="a copy"), pytest.param("        self.step_1(rows)\n", id="edited")]
)
@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("is_out", [True, False])
def test_a_change_of_nesting_alone_is_ported_with_a_question(
    head: str, is_out: bool, edit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    was, now = (text.format(head=head) for text in ((INSIDE, OUTSIDE) if is_out else (OUTSIDE, INSIDE)))
    npu, expected = (text.replace("        self.note", f"{edit}        self.note") for text in (was, now))
    text, questions = upgrade(tmp_path, monkeypatch, npu, was, now)
    assert [line for line in expected.split("\n") if line not in text.split("\n")] == []
    says = "which moved this; here it is no longer under" if is_out else "which moved this; here it is under"
    assert f"ported from the GPU runner, {says} `{head.rstrip(':')}`" in questions


@pytest.mark.parametrize(
    ("npu", "was", "now"),
    [
        pytest.param(INSIDE, INSIDE, INSIDE.replace("            self", "              self"), id="layout"),
        pytest.param(OUTSIDE, INSIDE, OUTSIDE, id="NPU has it"),
        pytest.param(
            INSIDE.replace("            self.count", "            # mine\n            self.count"),
            INSIDE,
            INSIDE.replace("            self.count", "            # all\n            self.count"),
            id="a comment beside NPU's own",
        ),
    ],
)
def test_no_change_of_nesting_is_no_port(
    npu: str, was: str, now: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    npu, was, now = (text.format(head="if self.stage:") for text in (npu, was, now))
    text, questions = upgrade(tmp_path, monkeypatch, npu, was, now)
    assert text.endswith(npu)
    assert "ported" not in questions


def test_members_are_the_same_if_their_statements_nest_alike() -> None:
    inside, outside = (text.format(head="if self.stage:") for text in (INSIDE, OUTSIDE))
    assert is_same(inside, inside.replace("            self", "              self"))
    assert not is_same(inside, outside)
    hinted = inside.replace("(self, rows)", "(self, rows: list)")
    assert is_same_but_for_hints(inside, hinted)
    assert not is_same_but_for_hints(outside, hinted)
