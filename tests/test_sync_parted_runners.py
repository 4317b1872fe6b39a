"""A copied method that omni moved out of an NPU runner into a mixin is upgraded where it stands."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path

import pytest
from sync_samples import (
    AR,
    ASCEND,
    ASCEND_NEW,
    BASE,
    GPU_AR,
    GPU_BASE,
    HELPER,
    OMNI_TREE,
    RULER,
    STAGE,
    Trees,
    check_upgrade,
    commit,
    dedent,
    keys,
    lay_out,
)

from runner_sync import sync, write
from runner_sync.compose.notes import WORD
from runner_sync.profile import NPU as NPU_PROFILE
from runner_sync.sync.classes.parted_runners import find_parted
from runner_sync.sync.opening import open_inputs

GENERATION = "vllm_omni/platforms/npu/worker/npu_generation_model_runner.py"
STEPS = "vllm_omni/platforms/npu/worker/steps.py"
SPLITS = ("same file", "other file", "grandparent", "two files", "base's file")
GAINED = "self.synchronize_rows(total)"
"""What vllm-ascend's ``execute_model`` gains."""

EXECUTE = f"""\
    def execute_model(self, scheduler_output):
        self._update_states(scheduler_output)
        total = scheduler_output.total_num_scheduled_tokens
        {RULER}
        # keep what the talker needs
        self.talker_total = total
        {RULER}
        if not total:
            return None
        logits, hidden = self._forward(total)
        self.last_hidden = hidden
        return self._finish(logits, total)
"""
NPU = f"""\
import torch

from vllm_omni.platforms.npu.worker.npu_model_runner import OmniNPUModelRunner
from vllm_omni.platforms.npu.worker.words import find_word


class NPUARModelRunner(OmniNPUModelRunner):
    def load(self, path):
        return torch.load(path, find_word(path))

{EXECUTE}
{STAGE}"""
"""An NPU runner with a copy of vllm-ascend's method, a port of its GPU twin's, and a method of its own."""

GPU_GAINED = STAGE.replace("return info.get(", "self.note(info)\n        return info.get(")
"""What the GPU runner makes of its method."""


def make(folder: Path) -> Trees:
    trees = Trees(folder)
    commit(trees.ascend_old)
    lay_out(trees.ascend_old, ASCEND_NEW)
    commit(trees.ascend_old)
    lay_out(trees.omni, {AR: NPU, "vllm_omni/platforms/npu/worker/words.py": "def find_word(path):\n    return path\n"})
    return trees


def split(root: Path, where: str) -> None:
    """Move `execute_model` and `_stage_of` of the NPU runner into base classes."""
    text = (root / AR).read_text("utf-8")
    execute, stage = text[text.index("    def execute_model") : text.index("    def _stage_of")], STAGE
    stage = text[text.index("    def _stage_of") :]
    own = text.removesuffix(stage).replace(execute, "").rstrip("\n") + "\n"
    head, line, body = own.partition("class NPUARModelRunner(OmniNPUModelRunner):")
    line = line.replace("(", "(Steps, ")
    mixin = f"class Steps:\n{execute}{stage}"
    if where == "same file":
        head += f"{mixin}\n\n"
    elif where == "other file":
        head = f"from vllm_omni.platforms.npu.worker.steps import Steps\n{head}"
        lay_out(root, {STEPS: mixin})
    elif where == "grandparent":
        head = f"from .steps import Steps\n{head}"
        bare = {STEPS.replace("steps", "bare"): mixin.replace("Steps", "Bare")}
        lay_out(root, {STEPS: "from .bare import Bare\n\n\nclass Steps(Bare):\n    pass\n", **bare})
    elif where == "base's file":
        head = head.replace("import Omni", "import Steps, Omni")
        base = (root / BASE).read_text("utf-8")
        (root / BASE).write_text(base.replace("class OmniNPU", f"{mixin}\n\nclass OmniNPU"), "utf-8")
    else:
        head = f"from .stages import Stages\nfrom .steps import Steps\n{head}"
        line = line.replace("(Steps", "(Stages, Steps")
        lay_out(root, {STEPS: f"class Steps:\n{execute.rstrip()}\n"})
        lay_out(root, {STEPS.replace("steps", "stages"): f"class Stages:\n{stage}"})
    lay_out(root, {AR: head + line + body})


def gain(trees: Trees) -> None:
    """Let the GPU runner's method gain a call."""
    trees.edit(GPU_AR, "return info.get(", "self.note(info)\n        return info.get(")


def methods(root: Path) -> dict[str, str]:
    """The code of each method in the folder of the NPU runners, by name of file or class and method."""
    found = {}
    for file in (root / "vllm_omni/platforms/npu/worker").glob("*.py"):
        for node in ast.parse(file.read_text("utf-8")).body:
            for member in node.body if isinstance(node, ast.ClassDef) else ():
                owner = "base." if node.name == "OmniNPUModelRunner" else ""
                if isinstance(member, ast.FunctionDef):
                    assert f"{owner}{member.name}" not in found
                    found[f"{owner}{member.name}"] = ast.unparse(member)
    return found


@pytest.mark.parametrize("where", SPLITS)
def test_an_upgrade_across_a_split_is_the_upgrade_without_it(tmp_path: Path, where: str) -> None:
    told = []
    for is_split in (False, True):
        trees = make(tmp_path / str(is_split))
        commit(trees.omni)
        gain(trees)
        if is_split:
            split(trees.omni, where)
        commit(trees.omni)
        options = trees.upgrade(trees.ascend_old, ascend_base="HEAD~1", omni_base="HEAD~1", verify=False)
        report = check_upgrade(options).report
        questions = sorted((item.unit, item.reason) for item in report.reviews)
        outcomes = sorted((unit.unit, unit.outcome) for unit in report.units)
        told.append((methods(trees.omni), questions, outcomes))
    assert GAINED in told[0][0]["execute_model"]
    assert "self.note(info)" in told[0][0]["_stage_of"]
    assert told[0] == told[1]


@pytest.mark.parametrize("where", SPLITS)
def test_what_a_part_newly_needs_is_imported_there_and_not_where_it_was(tmp_path: Path, where: str) -> None:
    trees = make(tmp_path)
    new = (trees.ascend_old / ASCEND).read_text("utf-8").replace(GAINED, "synchronize(self, total)")
    lay_out(trees.ascend_old, {ASCEND: f"from vllm_ascend.rows import synchronize\n{new}"})
    lay_out(trees.ascend_old, {"vllm_ascend/rows.py": "def synchronize(runner, total):\n    pass\n"})
    commit(trees.ascend_old)
    commit(trees.omni)
    gain(trees)
    split(trees.omni, where)
    commit(trees.omni)
    before = (trees.omni / AR).read_text("utf-8")
    check_upgrade(trees.upgrade(trees.ascend_old, ascend_base="HEAD~2", omni_base="HEAD~1", verify=False))
    place = {"same file": AR, "grandparent": STEPS.replace("steps", "bare"), "base's file": BASE}.get(where, STEPS)
    text = (trees.omni / place).read_text("utf-8")
    assert "synchronize(self, total)" in text
    assert "from vllm_ascend.rows import synchronize\n" in text
    own = (trees.omni / AR).read_text("utf-8")
    assert ("synchronize" in own) == (where == "same file")
    assert "import torch" in own
    assert before.partition("class NPUARModelRunner")[2].partition("def load")[2].strip() in own


@pytest.mark.parametrize("where", SPLITS)
def test_a_lock_names_the_runners_methods_before_and_after_a_split(tmp_path: Path, where: str) -> None:
    """So what was recorded before the split is the base after it, and check compares with it."""
    trees = make(tmp_path)
    commit(trees.omni)
    options = trees.upgrade(trees.ascend_old, ascend_base="HEAD~1", omni_base="HEAD", verify=False)
    planned = sync.lock(options)
    assert planned.lock is not None
    write.write([planned.lock], trees.omni)
    commit(trees.omni)
    recorded = (trees.omni / NPU_PROFILE.lock_file).read_text("utf-8")
    told = keys(sync.check(trees.check()))
    split(trees.omni, where)
    commit(trees.omni)
    assert keys(sync.check(trees.check())) == told
    again = sync.lock(trees.upgrade(trees.ascend_old, verify=False))
    assert again.lock is None or again.lock.after == recorded
    gain(trees)
    commit(trees.omni)
    # The GPU runner's method is no longer the same, which could stand in one place.
    told = told - {("RS501", "_stage_of")} | {("RS201", "GPUARModelRunner._stage_of")}
    assert keys(sync.check(trees.check())) == told
    check_upgrade(trees.upgrade(trees.ascend_old, verify=False))
    made = methods(trees.omni)
    assert GAINED in made["execute_model"]
    assert "self.note(info)" in made["_stage_of"]
    assert "RS111" not in {code for code, _ in keys(sync.check(trees.check()))}


@pytest.mark.parametrize("where", SPLITS)
def test_a_finding_stands_where_the_method_does(tmp_path: Path, where: str) -> None:
    trees = make(tmp_path)
    commit(trees.omni)
    trees.write_lock()
    commit(trees.omni)
    split(trees.omni, where)
    for path in (trees.omni / "vllm_omni/platforms/npu/worker").glob("*.py"):
        text = path.read_text("utf-8")
        path.write_text(
            text.replace("        info = request", "        torch.cuda.synchronize()\n        info = request"), "utf-8"
        )
    commit(trees.omni)
    for options in (trees.check(), trees.check(changed_since="HEAD~1")):
        found = [one for one in sync.check(options).findings if one.code == "RS402"]
        (finding,) = found
        line = (trees.omni / finding.path).read_text("utf-8").split("\n")[finding.line - 1]
        assert (finding.unit, line.strip()) == ("NPUARModelRunner._stage_of", "torch.cuda.synchronize()")


TAKEN = NPU.replace(EXECUTE, "").replace("(OmniNPU", "(Steps, OmniNPU")
IMPORTED = f"from .steps import Steps\n{TAKEN}"


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({AR: NPU, STEPS: f"class Steps:\n{EXECUTE}"}, id="no base"),
        pytest.param({AR: IMPORTED}, id="no such file"),
        pytest.param({AR: IMPORTED, STEPS: "class Step:\n    pass\n"}, id="no such class"),
        pytest.param({AR: IMPORTED, STEPS: "class Steps:\n  ("}, id="does not parse"),
        pytest.param({AR: IMPORTED + ")", STEPS: f"class Steps:\n{EXECUTE}"}, id="is no Python itself"),
        pytest.param({AR: IMPORTED, STEPS: "class Steps:\n    def send(self, rows):\n        return rows\n"}, id="own"),
        pytest.param(
            {
                AR: IMPORTED,
                STEPS: "class Steps:\n    def execute_model(self, output):\n        return self.run(output)\n",
            },
            id="an override that is no copy",
        ),
        pytest.param(
            {AR: NPU.replace("(Omni", "(Steps, Omni"), STEPS: f"class Steps:\n{EXECUTE}"}, id="the class has its own"
        ),
        pytest.param({AR: TAKEN.replace("(Steps", "(Base"), BASE: dedent(OMNI_TREE[BASE])}, id="another runner has it"),
        pytest.param(
            {
                AR: IMPORTED,
                STEPS: f"class Steps:\n{EXECUTE}",
                GPU_AR: "from vllm_omni.platforms.npu.worker.steps import Steps\n"
                + dedent(OMNI_TREE[GPU_AR]).replace("(Omni", "(Steps, Omni"),
            },
            id="the GPU runner has it, too",
        ),
        pytest.param(
            {
                AR: IMPORTED,
                STEPS: f"class Steps:\n{EXECUTE}",
                GENERATION: IMPORTED.replace("NPUAR", "NPUGeneration"),
            },
            id="another NPU runner has it, too",
        ),
    ],
)
def test_a_runner_stays_as_it_is(tmp_path: Path, files: Mapping[str, str]) -> None:
    trees = Trees(tmp_path)
    lay_out(trees.omni, files)
    given = open_inputs(trees.upgrade(trees.ascend_old))
    assert find_parted(given) == ()


def test_a_part_is_found_where_a_near_miss_is_none(tmp_path: Path) -> None:
    trees = Trees(tmp_path)
    lay_out(trees.omni, {AR: IMPORTED, STEPS: f"class Steps:\n{EXECUTE}"})
    (runner,) = find_parted(open_inputs(trees.upgrade(trees.ascend_old)))
    assert [(part.name, part.methods) for part in runner.parts] == [("Steps", ("execute_model",))]


MIXIN = f"class Steps:\n{EXECUTE}"
OF_BASE = dedent(OMNI_TREE[BASE])


def test_a_note_names_copies_that_two_runners_have(tmp_path: Path) -> None:
    trees = Trees(tmp_path)
    lay_out(trees.omni, {AR: IMPORTED, STEPS: MIXIN, GENERATION: IMPORTED.replace("NPUAR", "NPUGeneration")})
    options = trees.upgrade(trees.ascend_old, omni_base=trees.itself, verify=False)
    for planned in (sync.upgrade(options), sync.lock(options)):
        (note,) = (note for note in planned.report.notes if "no change is merged" in note)
        assert note.startswith(
            f"{STEPS}: no change is merged into execute_model of Steps, copies that NPUARModelRunner"
        )


def test_no_note_is_made_on_what_follows_or_is_no_copy(tmp_path: Path) -> None:
    trees = Trees(tmp_path)
    lay_out(trees.omni, {AR: IMPORTED, STEPS: MIXIN, HELPER: "class Sending:\n    def send(self):\n        pass\n"})
    base = OF_BASE.replace("(OmniGPU", "(Sending, OmniGPU")
    lay_out(trees.omni, {BASE: f"from .sending import Sending\n{base}"})
    planned = sync.upgrade(trees.upgrade(trees.ascend_old, verify=False))
    assert [note for note in planned.report.notes if "no change is merged" in note] == []


@pytest.mark.parametrize("where", SPLITS)
def test_options_name_a_moved_method_as_the_runners(tmp_path: Path, where: str) -> None:
    trees = make(tmp_path)
    commit(trees.omni)
    gain(trees)
    split(trees.omni, where)
    commit(trees.omni)
    name = "NPUARModelRunner._stage_of"
    options = trees.upgrade(trees.ascend_old, ascend_base="HEAD~1", omni_base="HEAD~1", verify=False, only=(name,))
    report = check_upgrade(options).report
    assert [unit.unit for unit in report.units] == [name]
    made = methods(trees.omni)
    assert "self.note(info)" in made["_stage_of"]
    assert GAINED not in made["execute_model"]


def raise_up(root: Path) -> None:
    """Move `_stage_of` from the NPU runner up into the runner that it derives from."""
    text = (root / AR).read_text("utf-8")
    stage = text[text.index("    def _stage_of") :]
    lay_out(root, {AR: text.removesuffix(stage).rstrip("\n") + "\n"})
    base = (root / BASE).read_text("utf-8")
    (root / BASE).write_text(f"{base}\n{stage}", "utf-8")


def test_an_upgrade_of_a_port_that_moved_up_is_the_upgrade_without_the_move(tmp_path: Path) -> None:
    told = []
    for is_raised in (False, True):
        trees = make(tmp_path / str(is_raised))
        commit(trees.omni)
        gain(trees)
        if is_raised:
            raise_up(trees.omni)
        commit(trees.omni)
        options = trees.upgrade(trees.ascend_old, ascend_base="HEAD~1", omni_base="HEAD~1", verify=False)
        report = check_upgrade(options).report
        questions = sorted((item.unit, item.reason) for item in report.reviews)
        made = {name.removeprefix("base."): text for name, text in methods(trees.omni).items() if "execute" not in name}
        told.append((made, questions, sorted((unit.unit, unit.outcome) for unit in report.units)))
    assert "self.note(info)" in told[0][0]["_stage_of"]
    assert told[0] == told[1]


def test_a_lock_from_before_a_move_up_tells_what_the_gpu_runner_gained(tmp_path: Path) -> None:
    trees = make(tmp_path)
    commit(trees.omni)
    trees.write_lock()
    commit(trees.omni)
    told = keys(sync.check(trees.check()))
    raise_up(trees.omni)
    commit(trees.omni)
    assert keys(sync.check(trees.check())) == told
    gain(trees)
    commit(trees.omni)
    assert ("RS201", "GPUARModelRunner._stage_of") in keys(sync.check(trees.check()))
    check_upgrade(trees.upgrade(trees.ascend_old, verify=False))
    assert "self.note(info)" in methods(trees.omni)["base._stage_of"]
    assert "RS111" not in {code for code, _ in keys(sync.check(trees.check()))}


GPU_STAGE = OMNI_TREE[GPU_AR][OMNI_TREE[GPU_AR].index("        def _stage_of") :]
RAISED = {AR: NPU.removesuffix(STAGE), BASE: f"{OF_BASE}\n{STAGE}"}
OTHER_GPU = "vllm_omni/worker/gpu_generation_model_runner.py"


@pytest.mark.parametrize(
    ("files", "raised"),
    [
        ({}, ("_stage_of",)),
        ({GPU_BASE: OMNI_TREE[GPU_BASE] + GPU_STAGE}, ()),
        ({AR: NPU}, ()),
        (
            {
                GENERATION: RAISED[AR].replace("NPUAR", "NPUGeneration"),
                OTHER_GPU: dedent(OMNI_TREE[GPU_AR]).replace("GPUAR", "GPUGeneration"),
            },
            (),
        ),
        ({AR: RAISED[AR].replace("(OmniNPUModelRunner)", "(torch.Runner)")}, ()),
    ],
    ids=["moved up", "the base's twin has it", "the class has its own", "two twins have it", "another base"],
)
def test_what_counts_as_moved_up(tmp_path: Path, files: Mapping[str, str], raised: tuple[str, ...]) -> None:
    trees = Trees(tmp_path)
    lay_out(trees.omni, {**RAISED, **files})
    found = find_parted(open_inputs(trees.upgrade(trees.ascend_old)))
    assert tuple(name for one in found for part in one.parts for name in part.methods) == raised


@pytest.mark.parametrize("where", SPLITS)
def test_blocks_and_explain_say_the_same_at_the_new_place(tmp_path: Path, where: str) -> None:
    told, files = [], set[str]()
    for is_split in (False, True):
        trees = make(tmp_path / str(is_split))
        if is_split:
            split(trees.omni, where)
        options = trees.check(ascend=trees.ascend_old, ascend_base="HEAD~1")
        report = sync.blocks(options)
        for block in report.blocks:
            lines = (trees.omni / block.path).read_text("utf-8").split("\n")[block.start - 1 : block.end]
            assert "\n".join(lines).strip() == block.text.strip()
        npu = [block for block in report.blocks if block.path.startswith("vllm_omni/platforms")]
        (place,) = {block.path for block in npu if block.unit == "NPUARModelRunner.execute_model"}
        lines = (trees.omni / place).read_text("utf-8").split("\n")
        line = lines.index("        self.talker_total = total") + 1
        (unit,) = sync.explain(options, place, line).units
        if where != "base's file" or not is_split:  # whose own method has the same line, further down
            assert unit.unit == "NPUARModelRunner.execute_model"
        explained = sync.explain(options, place).units
        hunks = {one.unit: [hunk.provenance for hunk in one.hunks] for one in explained if "execute" in one.unit}
        told.append(({(block.unit, block.text) for block in npu}, hunks["NPUARModelRunner.execute_model"]))
        files.add(place)
    assert told[0] == told[1]
    assert (len(files) == 1) == (where == "same file")


@pytest.mark.parametrize("where", SPLITS)
def test_questions_in_a_part_are_listed_without_what_the_upgrade_kept(tmp_path: Path, where: str) -> None:
    trees = make(tmp_path)
    split(trees.omni, where)
    (file,) = [
        one for one in (trees.omni / Path(AR).parent).glob("*.py") if "    def _stage_of" in one.read_text("utf-8")
    ]
    text = file.read_text("utf-8").replace("        info = req", f"        {WORD} R12345678 why\n        info = req")
    file.write_text(text, "utf-8")
    (item,) = sync.find_open(trees.check()).items
    assert (item.id, trees.omni / item.path, item.reason) == ("R12345678", file, "why")
