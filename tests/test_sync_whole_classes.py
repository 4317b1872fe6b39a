"""A method that upstream keeps in a base class of the same package is followed as if its class defined it."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from sync_samples import (
    ASCEND,
    ASCEND_NEW,
    BASE,
    VLLM,
    Trees,
    check_upgrade,
    code_of,
    commit,
    committed_trees,
    keys,
    lay_out,
)

from runner_sync import sync
from runner_sync.sources import open_path
from runner_sync.sync.classes.whole_classes import find_parent_files, read_whole
from runner_sync.sync.trees.inputs import open_omni
from runner_sync.units.texts import members

MIXIN = "vllm_ascend/worker/steps.py"
MOVED = ("execute_model", "_forward")
SPLITS = ("same file", "other file", "package", "module", "grandparent", "successor")


def split(root: Path, where: str, *, path: str = ASCEND, names: Collection[str] = MOVED) -> None:
    """Move methods of the class in ``path`` into a base class."""
    file = root / path
    lines = file.read_text("utf-8").splitlines()
    (owner,) = (node for node in ast.parse("\n".join(lines)).body if isinstance(node, ast.ClassDef))
    spans = {m.name: slice(m.lineno - 1, m.end_lineno) for m in owner.body if isinstance(m, ast.FunctionDef)}
    chosen = spans if where == "successor" else {name: spans[name] for name in names}
    body = "\n\n".join("\n".join(lines[span]) for span in chosen.values())
    bases = [ast.unparse(base) for base in owner.bases]
    rest = "\n\n".join("\n".join(lines[span]) for name, span in spans.items() if name not in chosen) or "    pass"
    head = "\n".join(lines[: owner.lineno - 1])
    folder = path.rpartition("/")[0]
    package = folder.replace("/", ".")
    mixin = f"class Steps:\n{body}\n"
    imported, base, files = f"from {package}.steps import Steps", "Steps", {f"{folder}/steps.py": mixin}
    if where == "same file":
        imported, files = mixin, {}
    elif where == "package":
        imported = f"from {package}.parts import Steps"
        files = {f"{folder}/parts/__init__.py": "from .steps import Steps\n", f"{folder}/parts/steps.py": mixin}
    elif where == "module":
        imported, base = f"import {package}.steps as steps", "steps.Steps"
    elif where == "grandparent":
        files = {
            f"{folder}/steps.py": "from .bare import Bare\n\n\nclass Steps(Bare):\n    pass\n",
            f"{folder}/bare.py": mixin.replace("Steps", "Bare"),
        }
    elif where == "successor":
        files = {f"{folder}/steps.py": f"{head}\n\nclass Steps({', '.join(bases)}):\n{body}\n"}
        bases = []
    text = f"{head}\n{imported}\n\n\nclass {owner.name}({', '.join([base, *bases])}):\n{rest}\n"
    lay_out(root, {path: text, **files})


@pytest.mark.parametrize("base", ["HEAD~2", None])
@pytest.mark.parametrize("where", SPLITS)
def test_an_upgrade_across_a_split_is_the_upgrade_without_it(tmp_path: Path, where: str, base: str | None) -> None:
    whole, parted = committed_trees(tmp_path / "whole"), committed_trees(tmp_path / "parted")
    split(parted.ascend_old, where)
    for trees in (whole, parted):
        commit(trees.ascend_old)
        check_upgrade(trees.upgrade(trees.ascend_old, ascend_base=base, omni_base=trees.itself, verify=False))
    assert "self.synchronize_rows(total)" in code_of(whole)[BASE], "what vllm-ascend gained"
    assert code_of(parted) == code_of(whole)


@pytest.mark.parametrize("has_lock", [True, False])
@pytest.mark.parametrize("where", SPLITS)
def test_a_change_of_what_was_split_is_merged(tmp_path: Path, where: str, has_lock: bool) -> None:
    """The copy is of the split class, and its base is found there: in the lock, or in the history."""
    whole, parted = committed_trees(tmp_path / "whole"), committed_trees(tmp_path / "parted")
    split(parted.ascend_old, where)
    for trees in (whole, parted):
        commit(trees.ascend_old)
        check_upgrade(trees.upgrade(trees.ascend_old, ascend_base="HEAD~2", omni_base=trees.itself, verify=False))
        commit(trees.omni)
        if not has_lock:
            (trees.omni / "runner-sync.lock").unlink()
            commit(trees.omni)
        holders = [p for p in trees.ascend_old.rglob("*.py") if "self.synchronize_rows(total)" in p.read_text("utf-8")]
        (holder,) = holders
        text = holder.read_text("utf-8")
        holder.write_text(text.replace("synchronize_rows(total)\n", "synchronize_rows(total, 1)\n"), "utf-8")
        commit(trees.ascend_old)
        check_upgrade(trees.upgrade(trees.ascend_old, omni_base=trees.itself, verify=False))
    assert "self.synchronize_rows(total, 1)" in code_of(whole)[BASE]
    assert code_of(parted) == code_of(whole)


@pytest.mark.parametrize("where", SPLITS)
def test_check_tells_what_it_would_tell_without_a_split(tmp_path: Path, where: str) -> None:
    told = []
    for trees, is_split in ((committed_trees(tmp_path / "whole"), False), (committed_trees(tmp_path / "parted"), True)):
        if is_split:
            split(trees.ascend_old, where)
        commit(trees.ascend_old)
        options = trees.check(ascend=trees.ascend_old, ascend_base="HEAD~2", vllm_base="0.20.0")
        told.append((keys(sync.check(options)), keys(sync.verify(replace(options, typecheck="none")))))
    assert ("RS101", "NPUModelRunner.execute_model") in told[0][0]
    assert told[0] == told[1]


def test_what_vllm_splits_is_not_omnis(tmp_path: Path) -> None:
    """The GPU runner has vLLM's own lines, too. They are no omni code because vLLM has them, wherever it has them."""
    told = []
    for where in ("", "other file"):
        trees = Trees(tmp_path / (where or "whole"))
        twin = "def _forward(self, total):\n        kept = self.model(total)\n        return kept, self.hidden"
        lay_out(trees.omni, {"vllm_omni/worker/gpu_model_runner.py": f"{HEAD}\n    {twin}\n"})
        text = (trees.vllm / VLLM).read_text("utf-8")
        own = "def _forward(self, total):\n        return self.model(total), self.hidden"
        assert own in text
        (trees.vllm / VLLM).write_text(text.replace(own, twin), "utf-8")
        if where:
            split(trees.vllm, where, path=VLLM, names=("_forward",))
        blocks = sync.blocks(trees.check(ascend=trees.ascend_old)).blocks
        told.append([block.text for block in blocks if block.unit == "OmniGPUModelRunner._forward"])
    assert told == [[], []]


HEAD = """\
from vllm.v1.worker.gpu_model_runner import GPUModelRunner


class OmniGPUModelRunner(GPUModelRunner):"""


def read(folder: Path, files: Mapping[str, str]) -> str:
    """What `read_whole` makes of a vllm-ascend with ``files``; omni has `execute_model`."""
    trees = Trees(folder)
    lay_out(trees.ascend_old, files)
    given = open_omni(trees.check())
    text = read_whole(open_path("vllm-ascend", trees.ascend_old), ASCEND, given)
    assert text is not None
    return text


def runner(bases: str, *, imports: str = "", body: str = "    def load(self):\n        return 1") -> str:
    return f"{imports}\n\n\nclass NPUModelRunner({bases}):\n{body}\n"


STEP = "class Steps:\n    def execute_model(self):\n        return 2\n"
IMPORTS = "from vllm_ascend.worker.steps import Steps"


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({ASCEND: runner("Steps", imports="from vllm.steps import Steps")}, id="another package"),
        pytest.param({ASCEND: runner("Steps", imports=IMPORTS)}, id="no such file"),
        pytest.param({ASCEND: runner("Steps", imports=IMPORTS), MIXIN: "class Step:\n    pass\n"}, id="no such class"),
        pytest.param({ASCEND: runner("Steps", imports=IMPORTS), MIXIN: "class Steps:\n  ("}, id="does not parse"),
        pytest.param({ASCEND: runner("Steps", imports=IMPORTS) + ")", MIXIN: STEP}, id="is no Python itself"),
        pytest.param(
            {ASCEND: runner("Steps", imports=IMPORTS), MIXIN: STEP.replace("execute_model", "other")},
            id="omni overrides none",
        ),
        pytest.param(
            {
                ASCEND: runner("Steps", imports=IMPORTS, body="    def execute_model(self):\n        return 1"),
                MIXIN: STEP,
            },
            id="the class has its own",
        ),
        pytest.param(
            {
                ASCEND: runner(
                    "Steps", imports=f"if ASCEND:\n    {IMPORTS}\nelse:\n    from vllm_ascend.b import Steps"
                ),
                MIXIN: STEP,
            },
            id="one of two classes",
        ),
        pytest.param(
            {ASCEND: runner("Steps", imports=IMPORTS).replace("NPUModelRunner", "NPUModelRunner310"), MIXIN: STEP},
            id="another class",
        ),
        pytest.param({ASCEND: "class NPUModelRunner: pass\n", MIXIN: STEP}, id="no base"),
    ],
)
def test_a_module_stays_as_it_is(tmp_path: Path, files: Mapping[str, str]) -> None:
    assert read(tmp_path, files) == textwrap.dedent(files[ASCEND]).lstrip("\n")


def test_the_nearest_class_counts_and_its_names_are_imported(tmp_path: Path) -> None:
    files = {
        ASCEND: runner("Steps, Later", imports=f"import torch\n{IMPORTS}\nfrom .later import Later"),
        MIXIN: "import torch\nfrom vllm.a import first as one\n\nLIMIT = 3\n\n\nclass Steps:\n"
        "    def execute_model(self):\n        return torch.add(one, LIMIT)\n",
        "vllm_ascend/worker/later.py": "class Later:\n"
        "    rows = 1\n\n    def execute_model(self):\n        return 9\n\n"
        "    def _finish(self):\n        return two\n",
    }
    text = read(tmp_path, files)
    found = members(text, "NPUModelRunner", ASCEND)
    assert [*found] == ["load", "execute_model", "_finish"]
    assert "torch.add(one, LIMIT)" in found["execute_model"]
    imported = [ast.unparse(node) for node in ast.parse(text).body if isinstance(node, ast.ImportFrom)]
    assert "from vllm.a import first as one" in imported
    assert "from vllm_ascend.worker.steps import LIMIT" in imported
    assert not any("two" in line for line in imported), "nobody defines it"


def test_classes_that_inherit_from_each_other_end(tmp_path: Path) -> None:
    files = {
        ASCEND: runner("Steps", imports=IMPORTS),
        MIXIN: "from vllm_ascend.worker.model_runner_v1 import NPUModelRunner\n\n\n"
        + STEP.replace("Steps", "Steps(NPUModelRunner)"),
    }
    assert "return 2" in read(tmp_path, files)


def test_parent_files_are_the_other_files_with_methods(tmp_path: Path) -> None:
    trees = Trees(tmp_path)
    given = open_omni(trees.check())
    found = []
    for where in ("same file", "other file", "grandparent"):
        lay_out(trees.ascend_new, ASCEND_NEW)
        split(trees.ascend_new, where)
        found.append(find_parent_files(open_path("vllm-ascend", trees.ascend_new), ASCEND, given))
    assert found == [(), (MIXIN,), ("vllm_ascend/worker/bare.py",)]
    assert find_parent_files(open_path("vllm-ascend", trees.ascend_old), ASCEND, given) == ()
    assert find_parent_files(open_path("vllm-ascend", trees.ascend_old), "vllm_ascend/none.py", given) == ()
