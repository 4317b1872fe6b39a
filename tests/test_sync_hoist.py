"""``hoist``: where an equal method goes, what refuses, and that both files still say the same."""

from __future__ import annotations

import ast
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest
from sync_samples import AR, BASE, GPU_AR, GPU_BASE, RULER, Trees, stay_at_home

from runner_sync import lock as locks
from runner_sync import sync
from runner_sync.errors import InputError
from runner_sync.profile import ASCEND_RUNNER, NPU
from runner_sync.render import render
from runner_sync.sync.options import TreeOptions
from runner_sync.sync.planned import Upgrade

MIXIN = "vllm_omni/worker/ar_model_runner_mixin.py"
STAGE = "NPUARModelRunner._stage_of"


@pytest.fixture
def trees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trees:
    stay_at_home(monkeypatch, tmp_path)
    return Trees(tmp_path)


def hoist(trees: Trees, unit: str) -> dict[str, str]:
    """Texts after the move, by path; all of them parse."""
    planned = sync.hoist(trees.upgrade(trees.ascend_old), unit)
    texts = {change.path: change.after or "" for change in planned.changes}
    for text in texts.values():
        ast.parse(text)
    return texts


SHARED = """

    def _stage_of(self, request):
        info = request.additional_information
        if info is None:
            return None
        return info.get("stage")
"""


def methods(text: str) -> dict[str, list[str]]:
    return {
        node.name: [child.name for child in node.body if isinstance(child, ast.FunctionDef)]
        for node in ast.parse(text).body
        if isinstance(node, ast.ClassDef)
    }


def bases(text: str, name: str) -> list[str]:
    (node,) = [n for n in ast.parse(text).body if isinstance(n, ast.ClassDef) and n.name == name]
    return [ast.unparse(base) for base in node.bases]


def add_to_both(trees: Trees, text: str) -> None:
    """The same method behind the last one of both AR runners."""
    for path in (AR, GPU_AR):
        trees.edit(path, '        return info.get("stage")\n', f'        return info.get("stage")\n\n{text}')


def test_a_name_of_omnis_own_goes_to_the_base(trees: Trees) -> None:
    texts = hoist(trees, STAGE)
    assert set(texts) == {AR, GPU_AR, GPU_BASE}
    assert methods(texts[AR])["NPUARModelRunner"] == ["_finish"]
    assert methods(texts[GPU_AR])["GPUARModelRunner"] == ["_sample", "_finish"]
    assert methods(texts[GPU_BASE])["OmniGPUModelRunner"] == ["_forward", "_stage_of"]


@pytest.mark.parametrize("unit", ["_stage_of", "GPUARModelRunner._stage_of"])
def test_units_by_any_name(trees: Trees, unit: str) -> None:
    assert set(hoist(trees, unit)) == {AR, GPU_AR, GPU_BASE}


def test_an_override_of_an_upstream_method_goes_to_a_mixin(trees: Trees) -> None:
    texts = hoist(trees, "NPUARModelRunner._finish")
    assert set(texts) == {AR, GPU_AR, MIXIN}
    assert methods(texts[MIXIN]) == {"ARModelRunnerMixin": ["_finish"]}
    assert bases(texts[AR], "NPUARModelRunner") == ["ARModelRunnerMixin", "OmniNPUModelRunner"]
    assert bases(texts[GPU_AR], "GPUARModelRunner") == ["ARModelRunnerMixin", "OmniGPUModelRunner"]
    assert "from vllm_omni.worker.ar_model_runner_mixin import ARModelRunnerMixin" in texts[AR]


def test_a_mixin_is_named_without_the_platform_whatever_the_twin_is_called(trees: Trees) -> None:
    twin = GPU_AR.replace("gpu_", "cuda_")
    text = (trees.omni / GPU_AR).read_text("utf-8").replace("GPUARModelRunner", "CUDAARModelRunner")
    (trees.omni / GPU_AR).unlink()
    (trees.omni / twin).write_text(text, "utf-8")
    (trees.omni / "runner-sync.toml").write_text(
        f'''
        [extend-classes]
        CUDAARModelRunner = "NPUARModelRunner"
        [[extend-modules]]
        name = "NPUARModelRunner"
        paths = ["{AR}"]
        upstreams = [{{ project = "vllm-ascend", path = "{ASCEND_RUNNER}", name = "NPUModelRunner" }}]
        gpu = {{ project = "vllm-omni", path = "{twin}", name = "CUDAARModelRunner" }}
        ''',
        "utf-8",
    )
    texts = hoist(trees, "NPUARModelRunner._finish")
    assert set(texts) == {AR, twin, MIXIN}
    assert methods(texts[MIXIN]) == {"ARModelRunnerMixin": ["_finish"]}
    assert bases(texts[twin], "CUDAARModelRunner") == ["ARModelRunnerMixin", "OmniGPUModelRunner"]


def test_a_second_method_joins_the_first_in_the_mixin(trees: Trees) -> None:
    add_to_both(trees, "    def _sample_twice(self, logits):\n        return super()._sample_twice(logits)\n")
    for unit in ("_finish", "_sample_twice"):
        applied(trees, f"NPUARModelRunner.{unit}")
    assert methods((trees.omni / MIXIN).read_text("utf-8")) == {"ARModelRunnerMixin": ["_finish", "_sample_twice"]}
    assert bases((trees.omni / AR).read_text("utf-8"), "NPUARModelRunner").count("ARModelRunnerMixin") == 1


def test_a_place_without_a_logger_gets_one(trees: Trees) -> None:
    add_to_both(trees, "    def _tell(self, info):\n        logger.info(info)\n        return super()._tell(info)\n")
    for path in (AR, GPU_AR):
        file = trees.omni / path
        text = file.read_text("utf-8").replace("\n\n\nclass", "\n\nlogger = init_logger(__name__)\n\n\nclass", 1)
        file.write_text(f"from vllm.logger import init_logger\n{text}", "utf-8")
    for unit in ("_finish", "_tell"):
        applied(trees, f"NPUARModelRunner.{unit}")
    text = (trees.omni / MIXIN).read_text("utf-8")
    assert (
        text.index("from vllm.logger import init_logger") < text.index("logger = init_logger(") < text.index("class ")
    )
    assert text.count("logger = ") == 1


def test_the_logger_is_made_with_what_the_gpu_runner_imports_by_dots(trees: Trees) -> None:
    add_to_both(trees, "    def _tell(self, info):\n        logger.info(info)\n        return super()._tell(info)\n")
    for path in (AR, GPU_AR):
        file = trees.omni / path
        text = file.read_text("utf-8").replace("\n\n\nclass", "\n\nlogger = make(__name__)\n\n\nclass", 1)
        file.write_text(f"from ..logging import make\n{text}", "utf-8")
    applied(trees, "NPUARModelRunner._tell")
    assert "from vllm_omni.logging import make\n" in (trees.omni / MIXIN).read_text("utf-8")


def test_without_upstreams_at_hand_it_is_a_mixin(trees: Trees) -> None:
    options = replace(trees.upgrade(trees.ascend_old), ascend=TreeOptions(), vllm=TreeOptions())
    planned = sync.hoist(options, STAGE)
    assert {change.path for change in planned.changes} == {AR, GPU_AR, MIXIN}
    assert "vllm-ascend and vLLM are not named (--ascend-path or -version and --vllm-path" in planned.report.notes[0]
    half = sync.hoist(replace(options, ascend=trees.upgrade(trees.ascend_old).ascend), STAGE)
    assert "only vllm-ascend and vLLM tell" in half.report.notes[0]
    assert half.report.notes[0].endswith("and vLLM is not named (--vllm-path or -version)")


def test_what_the_class_inherits_is_only_dropped(trees: Trees) -> None:
    copy = (
        "    def _forward(self, total):\n        self.talker_total = total\n        return super()._forward(total)\n\n"
    )
    trees.edit(BASE, "    def execute_model", f"{copy}    def execute_model")
    texts = hoist(trees, "OmniNPUModelRunner._forward")
    assert set(texts) == {BASE}
    assert methods(texts[BASE]) == {"OmniNPUModelRunner": ["execute_model"]}


def test_what_the_twin_has_from_a_base_of_both_is_only_dropped(trees: Trees) -> None:
    trees.edit(GPU_AR, SHARED, "")
    trees.edit(GPU_BASE, "    def _forward", f"{SHARED[2:]}\n    def _forward")
    texts = hoist(trees, STAGE)
    assert set(texts) == {AR}
    assert "_stage_of" not in texts[AR]


def test_what_the_twin_has_from_a_mixin_that_npu_lacks(trees: Trees) -> None:
    trees.edit(GPU_AR, SHARED, "")
    trees.edit(GPU_AR, "(OmniGPUModelRunner)", "(OmniGPUModelRunner, StageMixin)")
    trees.edit(GPU_AR, "\n\n\nclass", "\nfrom vllm_omni.worker.stage import StageMixin\n\n\nclass")
    (trees.omni / "vllm_omni/worker/stage.py").write_text(f"class StageMixin:\n{SHARED[2:]}", "utf-8")
    said = (
        r"^GPUARModelRunner has _stage_of from StageMixin \(vllm_omni/worker/stage\.py:2\): derive NPUARModelRunner "
        r"from that, too, and delete NPUARModelRunner\._stage_of\.$"
    )
    with pytest.raises(InputError, match=said):
        hoist(trees, STAGE)


def test_a_function_is_imported(trees: Trees) -> None:
    function = (
        "def flat(values):\n    found = []\n    for value in values:\n        found += value\n    return found\n\n\n"
    )
    for path, name in ((AR, "NPUARModelRunner"), (GPU_AR, "GPUARModelRunner")):
        trees.edit(path, f"class {name}(", f"{function}class {name}(")
    texts = hoist(trees, "flat")
    assert set(texts) == {AR}
    assert "from vllm_omni.worker.gpu_ar_model_runner import flat" in texts[AR]
    assert "def flat" not in texts[AR]


def test_imports_follow_the_method(trees: Trees) -> None:
    add_to_both(
        trees, "    def _clock(self, request):\n        now = time.time()\n        return now - request.arrival\n"
    )
    for path in (AR, GPU_AR):
        file = trees.omni / path
        file.write_text(f"import time\n\n{file.read_text('utf-8')}", "utf-8")
    texts = hoist(trees, "NPUARModelRunner._clock")
    assert "import time" in texts[GPU_BASE]
    assert "import time" not in texts[AR]
    assert "import time" not in texts[GPU_AR]


@pytest.mark.parametrize("label", ["Omni-new", "XPU-new"])
def test_rulers_that_enclosed_nothing_else_go_too(trees: Trees, label: str) -> None:
    (trees.omni / "runner-sync.toml").write_text(f'marker = "{label}"\n', "utf-8")
    ruler = RULER.replace("Omni-new", label)
    text = "    def _length(self, info):\n        size = len(info)\n        return size\n"
    trees.edit(GPU_AR, '        return info.get("stage")\n', f'        return info.get("stage")\n\n{text}')
    trees.edit(
        AR,
        '        return info.get("stage")\n',
        f'        return info.get("stage")\n\n    {ruler}\n{text}    {ruler}\n',
    )
    assert ruler not in hoist(trees, "NPUARModelRunner._length")[AR]


@pytest.mark.parametrize(
    ("unit", "said"),
    [
        ("nonesuch", r"no NPU runner defines nonesuch"),
        ("OmniNPUModelRunner.execute_model", r"has no twin in .*gpu_model_runner\.py"),
        ("NPUARModelRunner._name", r"differs from GPUARModelRunner\._name .*: make them equal first"),
        ("NPUARModelRunner._stream", r"names torch\.npu, which is the device's"),
        ("NPUARModelRunner._helped", r"needs helper of .*gpu_ar_model_runner\.py"),
        ("NPUARModelRunner.__init__", r"sets its own class up"),
        ("NPUARModelRunner._explicit", r"names its own class"),
        ("NPUARModelRunner._told", r"reads names that mean something else"),
    ],
)
def test_what_refuses(trees: Trees, unit: str, said: str) -> None:
    add_to_both(
        trees,
        "    def __init__(self, config):\n        self.config = config\n\n"
        "    def _helped(self, request):\n        found = helper(request)\n        return found\n\n"
        "    def _explicit(self, request):\n        self.__secret = request\n        return request\n\n"
        "    def _told(self, request):\n        name = __class__.__name__\n        return name, request\n\n"
        "    def _stream(self):\n        stream = torch.npu.current_stream()\n        return stream\n",
    )
    for path, body in ((AR, "first"), (GPU_AR, "second")):
        file = trees.omni / path
        text = file.read_text("utf-8")
        method = f"    def _name(self):\n        value = {body!r}\n        return value\n"
        file.write_text(f"{text}\n{method}\n\ndef helper(request):\n    return request\n", "utf-8")
    before = {path: (trees.omni / path).read_text("utf-8") for path in (AR, GPU_AR, GPU_BASE)}
    with pytest.raises(InputError, match=said):
        hoist(trees, unit)
    assert {path: (trees.omni / path).read_text("utf-8") for path in before} == before


@pytest.mark.parametrize("path", [AR, GPU_AR])
def test_a_method_inside_an_if_stays(trees: Trees, path: str) -> None:
    file = trees.omni / path
    head, body = file.read_text("utf-8").split("    def _stage_of", 1)
    file.write_text(f"{head}    if FLAG:\n{textwrap.indent(f'    def _stage_of{body}', '    ')}", "utf-8")
    with pytest.raises(InputError, match=rf"^{path}:\d+: \w+\._stage_of stands inside another statement: move it"):
        hoist(trees, "NPUARModelRunner._stage_of")


NOTED = """\
    def _length(self, info):
        \"\"\"How many; on GPU kept by torch.cuda.nvtx.\"\"\"
        # torch.npu needs no more than this
        size = len(info)

        def double():
            "torch.npu has twice as many."
            return 2 * size

        return double()
"""


def test_a_device_in_a_comment_or_docstring_does_not_refuse(trees: Trees) -> None:
    add_to_both(trees, NOTED)
    texts = hoist(trees, "NPUARModelRunner._length")
    assert "_length" not in texts[AR]
    assert "        # torch.npu needs no more than this\n" in texts[GPU_BASE]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("size = len(info)", "size = torch.npu.count(info)", id="a statement"),
        pytest.param("size = len(info)", "size = len(info, 'torch.npu')", id="a string"),
        pytest.param("    def _length", "    @torch.npu.graph()\n    def _length", id="a decorator"),
        pytest.param("self, info)", "self, info=torch.npu.x)", id="a default"),
        pytest.param("return 2 * size", "return torch.npu.x * size", id="a function inside"),
    ],
)
def test_a_device_in_code_refuses_beside_comments(trees: Trees, old: str, new: str) -> None:
    add_to_both(trees, NOTED.replace(old, new))
    with pytest.raises(InputError, match=r"names torch\.npu, which is the device's"):
        hoist(trees, "NPUARModelRunner._length")


def test_a_file_with_a_carriage_return_inside_a_line_is_refused(trees: Trees) -> None:
    file = trees.omni / GPU_AR
    file.write_bytes(file.read_bytes() + b"# a comment\r# and more\n")
    with pytest.raises(InputError, match=rf"^{GPU_AR}:\d+: has a carriage return that ends no line"):
        hoist(trees, "_stage_of")


def test_a_name_of_two_runners_must_be_told_apart(trees: Trees) -> None:
    trees.edit(
        AR, "    def _stage_of", "    def execute_model(self, output):\n        return output\n\n    def _stage_of"
    )
    with pytest.raises(InputError, match=r"OmniNPUModelRunner\.execute_model and NPUARModelRunner\.execute_model"):
        hoist(trees, "execute_model")


def applied(trees: Trees, unit: str) -> Upgrade:
    options = trees.upgrade(trees.ascend_old, allow_dirty=True)
    planned = sync.hoist(options, unit)
    sync.apply(planned, options)
    return planned


def test_afterwards_check_has_nothing_to_hoist_and_the_lock_forgets(trees: Trees) -> None:
    trees.write_lock()
    options = trees.check(select=("RS501", "RS201", "RS203"))
    assert ("RS501", "_stage_of") in {(f.code, f.symbol) for f in sync.check(options).findings}
    applied(trees, STAGE)
    assert "_stage_of" not in {finding.symbol for finding in sync.check(options).findings}
    entries = locks.load((trees.omni / NPU.lock_file).read_text("utf-8")).entries
    assert STAGE not in {entry.qualname for entry in entries}
    with pytest.raises(InputError, match="no NPU runner defines"):
        hoist(trees, STAGE)


def test_the_report_says_what_moved_where(trees: Trees) -> None:
    planned = sync.hoist(trees.upgrade(trees.ascend_old), STAGE)
    text = render(planned.report, "text")
    assert f"- {STAGE}" in text
    assert "+ OmniGPUModelRunner._stage_of" in text
    assert f"Plan: move {STAGE} to OmniGPUModelRunner._stage_of in {GPU_BASE}." in " ".join(text.split())


COPY = "    def _length(self, info):\n        size = len(info)\n        return size\n"
IGNORED = "# runner-sync: ignore[RS305] the scheduler hands on more"


def with_remarks(trees: Trees, npu: str, gpu: str = COPY) -> sync.Upgrade:
    """The plan for a method that both runners have, the NPU one as ``npu``."""
    add_to_both(trees, COPY)
    trees.edit(AR, COPY, npu)
    trees.edit(GPU_AR, COPY, gpu)
    return sync.hoist(trees.upgrade(trees.ascend_old), "NPUARModelRunner._length")


@pytest.mark.parametrize(
    ("place", "ascend"), [pytest.param(GPU_BASE, True, id="a base"), pytest.param(MIXIN, False, id="a mixin")]
)
def test_comments_above_the_npu_method_go_along(trees: Trees, place: str, *, ascend: bool) -> None:
    add_to_both(trees, f"    # how many\n{COPY}")
    trees.edit(AR, f"    # how many\n{COPY}", f"    # how many\n    {IGNORED}\n{COPY}")
    options = trees.upgrade(trees.ascend_old)
    planned = sync.hoist(options if ascend else replace(options, ascend=TreeOptions()), "NPUARModelRunner._length")
    texts = {change.path: change.after or "" for change in planned.changes}
    assert f"    {IGNORED}\n    # how many\n    def _length(" in texts[place]
    assert not any("goes with the copy" in note for note in planned.report.notes)


def test_comments_inside_the_npu_method_are_named(trees: Trees) -> None:
    planned = with_remarks(
        trees, COPY.replace("return size\n", "# as on 310P\n        # and 910B\n        return size\n")
    )
    line = (trees.omni / AR).read_text("utf-8").split("\n").index("        # as on 310P") + 1
    (note,) = [note for note in planned.report.notes if "with the copy" in note]
    assert note == (
        f"{AR}: comments are deleted with the copy and not in the GPU runner: `# as on 310P` (line {line}), "
        f"`# and 910B` (line {line + 1})"
    )


def test_comments_above_a_copy_of_what_is_inherited_are_named(trees: Trees) -> None:
    trees.edit(AR, "class NPUARModelRunner(OmniNPUModelRunner)", "class NPUARModelRunner(GPUARModelRunner)")
    trees.edit(
        AR, "from vllm_omni.pl", "from vllm_omni.worker.gpu_ar_model_runner import GPUARModelRunner\nfrom vllm_omni.pl"
    )
    planned = with_remarks(trees, f"    {IGNORED}\n{COPY}")
    assert {change.path for change in planned.changes} == {AR}
    assert any(
        f"a comment is deleted with the copy and not in the GPU runner: `{IGNORED}`" in note
        for note in planned.report.notes
    )


@pytest.mark.parametrize(
    ("npu", "gpu"),
    [
        pytest.param(COPY, COPY, id="none"),
        pytest.param(f"    # how many\n{COPY}", f"    # how many\n{COPY}", id="the same on both sides"),
        pytest.param(COPY, f"    # how many\n{COPY}", id="on the GPU side alone"),
        pytest.param(f"    # ----------\n{COPY}", COPY, id="a drawn line"),
        pytest.param(
            COPY.replace("len(info)", 'len(info, "# no")'),
            COPY.replace("len(info)", 'len(info, "# no")'),
            id="a string",
        ),
    ],
)
def test_without_comments_of_its_own_nothing_is_said(trees: Trees, npu: str, gpu: str) -> None:
    planned = with_remarks(trees, npu, gpu)
    assert not any("with the copy" in note for note in planned.report.notes)
    text = next(change.after or "" for change in planned.changes if change.path == GPU_BASE)
    assert gpu in text
    assert text.count("# how many") == gpu.count("# how many")
