"""A file that is nested too deeply is named, whoever gives up on it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from sync_samples import ASCEND, BASE, GPU_BASE, VLLM, Trees, stay_at_home

from runner_sync import sync
from runner_sync.errors import InputError
from runner_sync.statements import UnparsableText
from runner_sync.sync.nested import blame_deepest_file, depth_of

CHAIN = "rows = table" + ".next" * 900 + "\n"
METHOD = "    def execute_model(self, scheduler_output):\n"


@pytest.fixture
def trees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trees:
    stay_at_home(monkeypatch, tmp_path)
    return Trees(tmp_path)


def check_named(path: str, run: Callable[[], object]) -> None:
    """A command either can read the deep file, or names it; it never ends in another error."""
    refusal = ""
    try:
        run()
    except InputError as error:
        refusal = str(error)
    assert not refusal or re.match(rf"{path}: is nested too deeply to be read; take ", refusal)


@pytest.mark.parametrize("path", [BASE, GPU_BASE, ASCEND])
def test_an_upgrade_names_the_file(trees: Trees, path: str) -> None:
    file = (trees.ascend_new if path == ASCEND else trees.omni) / path
    file.write_text(file.read_text("utf-8") + CHAIN, "utf-8")
    check_named(path, lambda: sync.upgrade(trees.upgrade(trees.ascend_new)))


@pytest.mark.parametrize("chain", [CHAIN, "rows = table" + ".next()" * 3000 + "\n"])
def test_an_upgrade_names_the_file_of_vllm(trees: Trees, chain: str) -> None:
    file = trees.vllm / VLLM
    file.write_text(file.read_text("utf-8") + chain, "utf-8")
    check_named(VLLM, lambda: sync.upgrade(trees.upgrade(trees.ascend_new)))


def test_a_check_names_the_file(trees: Trees) -> None:
    file = trees.omni / BASE
    file.write_text(file.read_text("utf-8") + CHAIN, "utf-8")
    check_named(BASE, lambda: sync.check(trees.check(ascend=trees.ascend_new)))


@pytest.mark.parametrize("path", [BASE, GPU_BASE, ASCEND])
def test_blocks_and_hoist_name_the_file(trees: Trees, path: str) -> None:
    file = (trees.ascend_new if path == ASCEND else trees.omni) / path
    file.write_text(file.read_text("utf-8") + CHAIN, "utf-8")
    for run in (
        lambda: sync.blocks(trees.check(ascend=trees.ascend_new)),
        lambda: sync.hoist(trees.upgrade(trees.ascend_new), "NPUARModelRunner._stage_of"),
    ):
        check_named(path, run)


@pytest.mark.parametrize("command", ["upgrade", "lock", "check", "verify", "blocks", "explain"])
def test_every_command_names_the_file_of_a_deep_statement(trees: Trees, command: str) -> None:
    trees.edit(BASE, METHOD, f"{METHOD}        {CHAIN}")
    checked, upgraded = trees.check(ascend=trees.ascend_new), trees.upgrade(trees.ascend_new)
    runs: dict[str, Callable[[], object]] = {
        "upgrade": lambda: sync.upgrade(upgraded),
        "lock": lambda: sync.lock(upgraded),
        "check": lambda: sync.check(checked),
        "verify": lambda: sync.verify(checked),
        "blocks": lambda: sync.blocks(checked),
        "explain": lambda: sync.explain(checked, BASE),
    }
    if command == "verify":  # it need not read this statement in full
        check_named(BASE, runs[command])
        return
    with pytest.raises(InputError, match=rf"^{BASE}: is nested too deeply to be read; take "):
        runs[command]()


@pytest.mark.parametrize("path", [BASE, GPU_BASE])
def test_what_can_be_read_is_explained(trees: Trees, path: str) -> None:
    file = trees.omni / path
    file.write_text(file.read_text("utf-8") + CHAIN, "utf-8")
    assert sync.explain(trees.check(ascend=trees.ascend_new), path).units


@pytest.mark.parametrize("error", [RecursionError(), UnparsableText("no Python", 1), ValueError()])
def test_where_no_runner_is_deep_none_is_blamed(trees: Trees, error: Exception) -> None:
    from runner_sync.sync.trees import inputs

    given = inputs.open_omni(trees.upgrade(trees.ascend_new))
    with pytest.raises(type(error)), blame_deepest_file(given):
        raise error


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [("", 1, 1), ("x = 1\n", 3, 3), (CHAIN, 900, 910), ("x = " + "-" * 99999 + "1\n", 901, 10**6), ("x = (\n", 0, 0)],
    ids=["nothing", "flat", "deep", "too deep to parse", "no Python"],
)
def test_depth(text: str, least: int, most: int) -> None:
    assert least <= depth_of(text) <= most
