"""A record of the GPU twin gets a field that one method only unpacks: there it comes without a question."""

from __future__ import annotations

from pathlib import Path

import pytest
from sync_samples import GPU_TWIN, NPU_TWIN, port_of

RECORD = """

class State(NamedTuple):
    rows: list
    logits: object
    hidden: object
    stats: object
"""
TAKE = """
    def _give(self, rows, logits, hidden, stats):
        self.state = State(rows, logits, hidden, stats)

    def _show(self):
        rows, logits, hidden, stats = self.state
        return rows

    def _take(self):
        (
            rows,
            logits,
            hidden,
            stats,
        ) = self.state
        self.note(rows, logits, hidden)
        return stats
"""
IMPORT = "from typing import NamedTuple\n\n"


def module(twin: str, *changes: tuple[str, str]) -> str:
    head, _, body = twin.partition("\n\n\nclass ")
    text = f"{IMPORT}{head}{RECORD}\n\nclass {body}{TAKE}"
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


FIELD = "    stats: object\n", "    stats: object\n    marks: object\n"
GIVEN = "(rows, logits, hidden, stats)\n\n", "(rows, logits, hidden, stats, rows.marks)\n\n"
SHOWN = "stats = self.state\n        return rows", "stats, marks = self.state\n        return rows, marks"
TAKEN = "            stats,\n        )", "            stats,\n            _marks,\n        )"
LEFT_OUT = "left out: the statements that read this value"


def test_a_field_that_nothing_reads_is_unpacked_without_a_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`_hidden_states_cpu` of the generation runner: it said that this was left out, and it was not."""
    text, questions = port_of(
        tmp_path, monkeypatch, module(NPU_TWIN), module(GPU_TWIN), module(GPU_TWIN, FIELD, GIVEN, SHOWN, TAKEN)
    )
    assert "marks: object" in text
    assert "_marks," in text
    assert LEFT_OUT not in questions


def test_noop_the_record_does_not_get_the_field(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then what the twin unpacks stays out, and is asked about."""
    was = module(GPU_TWIN, FIELD, GIVEN, SHOWN)
    text, questions = port_of(
        tmp_path, monkeypatch, module(NPU_TWIN), was, module(GPU_TWIN, FIELD, GIVEN, SHOWN, TAKEN)
    )
    assert "_marks" not in text
    assert LEFT_OUT in questions
