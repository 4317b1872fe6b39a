"""A module-level function that moved into a module of helpers is followed as if the runner still defined it."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path

import pytest
from sync_samples import (
    AR,
    ASCEND,
    ASCEND_OLD,
    GPU_AR,
    OMNI_TREE,
    Trees,
    check_upgrade,
    code_of,
    commit,
    dedent,
    keys,
    lay_out,
)

from runner_sync import sync
from runner_sync.sync.classes.whole_classes import read_whole
from runner_sync.sync.trees.inputs import open_omni

HELPERS = "vllm_omni/worker/helpers.py"
WHERES = ("absolute", "relative", "re-export")
AS_ROWS = """\
def as_rows(value):
    rows = list(value)
    return rows
"""
FOLLOWED = AS_ROWS.replace("rows = list(value)", "rows = [] if value is None else list(value)")
"""What the GPU function becomes, and NPU is to get."""


def with_function(path: str, function: str, imports: str = "") -> str:
    """The runner of ``path`` with ``function`` beside its class, and a method that calls it."""
    call = "\n    def rows_of(self, value):\n        return as_rows(value)\n"
    head, _, body = dedent(OMNI_TREE[path]).partition("class ")
    return f"{head}{imports}\n\n{function}\n\nclass {body}{call}"


def plain(folder: Path) -> Trees:
    """Trees in which both runners define `as_rows`."""
    trees = Trees(folder)
    lay_out(trees.omni, {AR: with_function(AR, AS_ROWS), GPU_AR: with_function(GPU_AR, AS_ROWS)})
    return trees


def move(root: Path, where: str, function: str = FOLLOWED) -> None:
    """Move the GPU runner's function into a module of helpers."""
    module = {"absolute": "vllm_omni.worker.helpers", "relative": ".helpers", "re-export": "vllm_omni.worker.tools"}
    lay_out(root, {HELPERS: function, "vllm_omni/worker/tools.py": "from .helpers import as_rows\n"})
    lay_out(root, {GPU_AR: with_function(GPU_AR, "", f"from {module[where]} import as_rows\n")})


@pytest.mark.parametrize("where", WHERES)
def test_what_a_function_gains_as_it_moves_is_ported(tmp_path: Path, where: str) -> None:
    told = []
    for is_moved in (False, True):
        trees = plain(tmp_path / str(is_moved))
        commit(trees.omni)
        if is_moved:
            move(trees.omni, where)
        else:
            lay_out(trees.omni, {GPU_AR: with_function(GPU_AR, FOLLOWED)})
        commit(trees.omni)
        options = trees.upgrade(trees.ascend_new, omni_base="HEAD~1", vllm_base="0.20.0", verify=False)
        questions = sorted(item.reason for item in check_upgrade(options).report.reviews)
        told.append((code_of(trees)[AR], questions))
    assert "if value is None" in told[0][0], "what the GPU function gained"
    assert told[0] == told[1]


@pytest.mark.parametrize("where", WHERES)
def test_a_change_after_the_move_is_found_from_the_lock(tmp_path: Path, where: str) -> None:
    trees = plain(tmp_path)
    move(trees.omni, where, AS_ROWS)
    commit(trees.omni)
    trees.write_lock()
    commit(trees.omni)
    assert ("RS201", "as_rows") not in keys(sync.check(trees.check()))
    lay_out(trees.omni, {HELPERS: f"# what the runners share\n\n{FOLLOWED}"})
    commit(trees.omni)
    report = sync.check(trees.check())
    assert ("RS201", "as_rows") in keys(report)
    (finding,) = (one for one in report.findings if one.code == "RS201")
    assert f"({HELPERS}:3)" in finding.message
    check_upgrade(trees.upgrade(trees.ascend_old, verify=False))
    assert "if value is None" in code_of(trees)[AR]


def with_upstream(root: Path, rest: str) -> None:
    """Put ``rest`` before the class of vllm-ascend's runner, as the next commit."""
    text = dedent(ASCEND_OLD[ASCEND])
    lay_out(root, {ASCEND: text.replace("class NPUModelRunner", f"{rest}\n\nclass NPUModelRunner")})
    commit(root)


def test_a_function_of_upstream_is_followed_into_its_helpers(tmp_path: Path) -> None:
    told = []
    for is_moved in (False, True):
        trees = plain(tmp_path / str(is_moved))
        lay_out(trees.omni, {GPU_AR: OMNI_TREE[GPU_AR]})
        commit(trees.omni)
        with_upstream(trees.ascend_old, AS_ROWS)
        lay_out(trees.ascend_old, {"vllm_ascend/worker/helpers.py": FOLLOWED} if is_moved else {})
        with_upstream(trees.ascend_old, "from .helpers import as_rows\n" if is_moved else FOLLOWED)
        check_upgrade(trees.upgrade(trees.ascend_old, ascend_base="HEAD~1", omni_base=trees.itself, verify=False))
        told.append(code_of(trees)[AR])
    assert "if value is None" in told[0], "what vllm-ascend's function gained"
    assert told[0] == told[1]


IMPORT = "from vllm_omni.worker.helpers import as_rows\n"


@pytest.mark.parametrize(
    ("imports", "helpers"),
    [
        pytest.param(IMPORT.replace("as_rows", "as_rows as of_rows"), AS_ROWS, id="another name"),
        pytest.param(IMPORT.replace("vllm_omni", "vllm"), AS_ROWS, id="another package"),
        pytest.param(f"try:\n    {IMPORT}except ImportError:\n    as_rows = list\n", AS_ROWS, id="in a try"),
        pytest.param(f"if True:\n    {IMPORT}", AS_ROWS, id="in a condition"),
        pytest.param(f"{IMPORT}as_rows = list\n", AS_ROWS, id="assigned again"),
        pytest.param(IMPORT, "as_rows = list\n", id="no function"),
        pytest.param(IMPORT, "from .helpers import as_rows\n", id="imports itself"),
        pytest.param(IMPORT, "def as_rows(", id="does not parse"),
        pytest.param(IMPORT, AS_ROWS.replace("as_rows", "of_rows"), id="not there"),
        pytest.param(IMPORT.replace("as_rows", "of_rows"), AS_ROWS.replace("as_rows", "of_rows"), id="NPU has none"),
    ],
)
def test_a_gpu_module_stays_as_it_is(tmp_path: Path, imports: str, helpers: str) -> None:
    trees = plain(tmp_path)
    lay_out(trees.omni, {GPU_AR: with_function(GPU_AR, "", imports), HELPERS: helpers})
    given = open_omni(trees.check())
    assert read_whole(given.omni, GPU_AR, given) == (trees.omni / GPU_AR).read_text("utf-8")


@pytest.mark.parametrize(
    ("helpers", "own"),
    [
        pytest.param("import math\n\n\n@math.cached\ndef as_rows(value):\n    return value\n", 1, id="decorated"),
        pytest.param(
            "def as_rows(value):\n    return of_rows(value)\n\n\ndef of_rows(value):\n    return value\n",
            1,
            id="calls another",
        ),
        pytest.param("if True:\n    def as_rows(value):\n        return value\n", 0, id="below a condition"),
    ],
)
def test_a_completed_module_parses_and_defines_what_it_uses(tmp_path: Path, helpers: str, own: int) -> None:
    trees = plain(tmp_path)
    lay_out(trees.omni, {GPU_AR: with_function(GPU_AR, "", IMPORT), HELPERS: helpers})
    given = open_omni(trees.check())
    text = read_whole(given.omni, GPU_AR, given) or ""
    defined: Mapping[str, ast.stmt] = {
        node.name: node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)
    }
    assert len(defined) == own
    for name in ("math", "of_rows"):
        assert (name not in helpers) or not own or f"import {name}" in text
