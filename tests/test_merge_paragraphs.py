"""Where a port comes in beside NPU's own statements, and what stays in front of everything."""

from __future__ import annotations

import pytest

from runner_sync.merge import FOLLOW, PORT, Policy, merge
from runner_sync.model import Triple

HEAD = "def run(self, rows):\n"
BEGIN, END = "    self.begin_all(rows)\n", "    if rows.any_left:\n        self.finish_all(rows)\n    return rows\n"
NEW = "    self.note_what_is_new(rows)\n"
OWN = "    self.dump_all_tensors()\n"
COUNT, READS = "    self.count = len(rows)\n", "    self.dump_all_tensors(self.count)\n"
CONTEXT = (
    "    with self.timer.measured():\n        if rows.any_left:\n            self.finish_all(rows)\n    return rows\n"
)
CONDITION = CONTEXT.replace("with self.timer.measured()", "if self.is_last_rank")


@pytest.mark.parametrize(
    ("new", "own", "merged"),
    [
        pytest.param(f"\n{NEW}", OWN + END, f"{OWN}\n{NEW}{END}", id="in the paragraph of the next"),
        pytest.param(f"\n    # new\n{NEW}", OWN + END, f"{OWN}\n    # new\n{NEW}{END}", id="with its comment"),
        pytest.param(NEW, OWN + END, NEW + OWN + END, id="in one paragraph with both"),
        pytest.param(f"{NEW}\n", OWN + END, f"{NEW}{OWN}{END}", id="in the paragraph of the one before"),
        pytest.param(f"\n{COUNT}", READS + END, f"\n{COUNT}{READS}{END}", id="but in front of what uses it"),
        pytest.param(f"\n{NEW}", CONTEXT, f"\n{NEW}{CONTEXT}", id="but in front of NPU's context around the next"),
        pytest.param(f"\n{NEW}", CONDITION, f"\n{NEW}{CONDITION}", id="and of its condition"),
    ],
)
def test_a_port_stays_in_one_paragraph_with_the_next_statement(new: str, own: str, merged: str) -> None:
    """``make_empty_encoder_model_runner_output`` of vllm-omni 0.27.0 stands behind NPU's ``_finalize_dump_data``."""
    triple = Triple(HEAD + BEGIN + END, HEAD + BEGIN + own, HEAD + BEGIN + new + END)
    result = merge(triple, policy=PORT).text
    assert [line for line in result.split("\n") if line] == [
        line for line in (HEAD + BEGIN + merged).split("\n") if line
    ]


@pytest.mark.parametrize("policy", [FOLLOW, PORT], ids=["a copy", "a port"])
@pytest.mark.parametrize("is_omnis", [True, False], ids=["omni's", "upstream's"])
def test_a_docstring_stays_in_front_of_what_the_other_side_adds(policy: Policy, is_omnis: bool) -> None:
    docstring = '    """Run it."""\n'
    base = HEAD + BEGIN + END
    sides = (HEAD + docstring + BEGIN + END, HEAD + NEW + BEGIN + END)
    omni, upstream = sides if is_omnis else sides[::-1]
    assert merge(Triple(base, omni, upstream), policy=policy).text == HEAD + docstring + NEW + BEGIN + END
