"""A block that the GPU runner has under a condition of its own, and the NPU runner whole under another one."""

from __future__ import annotations

import pytest
from merge_samples import kinds

from runner_sync.merge import FOLLOW, PORT, Merged, merge
from runner_sync.model import Triple

BLOCK = """\
        keeper = self.keeper
        if keeper is not None and keeper.is_open:
            keeper.finish()
"""
OLD = BLOCK.replace("self.keeper", "get_keeper()")
NPU = f"    if self.config.keeps:\n{BLOCK}"
GPU = "    if self.has_keeper:\n"
CLEAR = f"{GPU}        self.keeper.clear()\n"
TWIN_OLD = f"def run(self, rows):\n    check(rows)\n{GPU}{OLD}    return self.send(rows)\n"
TWIN = f"def run(self, rows):\n    check(rows)\n{CLEAR}    self.flush(rows)\n{GPU}{BLOCK}    return self.send(rows)\n"
RUNNER = f"def run(self, rows):\n{NPU}    check(rows)\n    return self.send(rows)\n"


def merged(twin: str = TWIN, *, npu: str = RUNNER, old: str = TWIN_OLD) -> Merged:
    return merge(Triple(old, npu, twin), policy=PORT)


def test_no_part_of_it_comes_in() -> None:
    result = merged()
    assert result.text.count("keeper = self.keeper") == 1
    assert result.text.count("self.flush(rows)") == 1
    assert f"    self.flush(rows)\n{NPU}" in result.text  # what is new, which the twin has in front of the block
    assert kinds(result) == []


def test_a_change_of_it_that_is_at_hand_is_no_question() -> None:
    result = merged(TWIN_OLD.replace(OLD, BLOCK))
    assert (result.text, kinds(result)) == (RUNNER, [])


def test_a_new_block_that_is_at_hand_is_a_question_at_the_block() -> None:
    old = TWIN_OLD.replace(GPU + OLD, "")
    result = merged(old.replace("    check(rows)\n", f"    check(rows)\n{GPU}{BLOCK}"), old=old)
    assert result.text == RUNNER
    (asked,) = result.decisions
    assert (asked.reason.kind, asked.reason.names, asked.line) == ("block at hand", ("if self.has_keeper",), 2)


@pytest.mark.parametrize(
    "more",
    [
        pytest.param("        if self.is_ready:\n            self.keeper.clear()\n", id="vllm-ascend's above it"),
        pytest.param("        self.note(rows)\n", id="omni's above it"),
    ],
)
def test_a_block_that_stands_there_with_more_is_at_hand(more: str) -> None:
    old = TWIN_OLD.replace(GPU + OLD, "")
    npu = RUNNER.replace(BLOCK, f"{more}{BLOCK}")
    result = merged(old.replace("    check(rows)\n", f"    check(rows)\n{GPU}{BLOCK}"), npu=npu, old=old)
    assert (result.text, kinds(result)) == (npu, ["block at hand"])


@pytest.mark.parametrize(
    "npu",
    [
        pytest.param(RUNNER.replace(NPU, NPU.replace(BLOCK, BLOCK.replace("()", "(1)"))), id="not these statements"),
        pytest.param(
            RUNNER.replace("        if keeper is", "        self.note()\n        if keeper is"), id="not in a row"
        ),
        pytest.param(RUNNER.replace(".finish()", ".close()"), id="another block"),
        pytest.param(RUNNER.replace(NPU, f"    for _ in rows:\n{BLOCK}"), id="in a loop"),
        pytest.param(RUNNER.replace(NPU, NPU + "    else:\n        self.note(rows)\n"), id="of two branches"),
        pytest.param(RUNNER.replace(NPU, f"{NPU}    self.plan(rows)\n{NPU}"), id="twice"),
        pytest.param(RUNNER.replace(NPU, ""), id="not at all"),
    ],
)
def test_noop_another_block_of_the_npu_runners(npu: str) -> None:
    old = TWIN_OLD.replace(GPU + OLD, "")
    new = old.replace("    check(rows)\n", f"    check(rows)\n    self.flush(rows)\n{GPU}{BLOCK}")
    result = merged(new, npu=npu, old=old)
    assert GPU in result.text
    assert "block at hand" not in kinds(result)


def test_noop_a_block_of_one_statement_comes_in() -> None:
    npu = RUNNER.replace(NPU, "    if self.config.keeps:\n        self.keeper.finish()\n")
    old = TWIN_OLD.replace(GPU + OLD, "")
    new = old.replace("    check(rows)\n", f"    check(rows)\n{GPU}        self.keeper.finish()\n")
    assert "block at hand" not in kinds(merged(new, npu=npu, old=old))


def test_noop_a_copy_follows_upstreams_condition() -> None:
    old = TWIN_OLD.replace(GPU + OLD, "")
    new = old.replace("    check(rows)\n", f"    check(rows)\n{GPU}{BLOCK}")
    assert "block at hand" not in kinds(merge(Triple(old, RUNNER, new), policy=FOLLOW))
