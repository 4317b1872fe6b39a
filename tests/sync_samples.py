"""Small trees of the three projects, on disk and in git, for the commands of ``sync``."""

from __future__ import annotations

import ast
import os
import subprocess
import textwrap
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from runner_sync import sync, write
from runner_sync.model import Report
from runner_sync.sync.options import CheckOptions, TreeOptions
from runner_sync.sync.upgrade_options import UpgradeOptions
from runner_sync.units import units
from runner_sync.units.texts import parsed

BASE = "vllm_omni/platforms/npu/worker/npu_model_runner.py"
AR = "vllm_omni/platforms/npu/worker/npu_ar_model_runner.py"
GPU_BASE = "vllm_omni/worker/gpu_model_runner.py"
GPU_AR = "vllm_omni/worker/gpu_ar_model_runner.py"
ASCEND = "vllm_ascend/worker/model_runner_v1.py"
VLLM = "vllm/v1/worker/gpu_model_runner.py"

RULER = "# -------------------------------------- Omni-new -------------------------------------------------"


def dedent(text: str) -> str:
    return textwrap.dedent(text).lstrip("\n")


OMNI_TREE = {
    "vllm_omni/__init__.py": "",
    BASE: f"""\
    from vllm_ascend.worker.model_runner_v1 import NPUModelRunner
    from vllm_omni.worker.gpu_model_runner import OmniGPUModelRunner


    class OmniNPUModelRunner(OmniGPUModelRunner, NPUModelRunner):
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
    """,
    AR: """\
    from vllm_omni.platforms.npu.worker.npu_model_runner import OmniNPUModelRunner


    class NPUARModelRunner(OmniNPUModelRunner):
        def _finish(self, logits, total):
            return super()._finish(logits, total)

        def _stage_of(self, request):
            info = request.additional_information
            if info is None:
                return None
            return info.get("stage")
    """,
    GPU_BASE: """\
    from vllm.v1.worker.gpu_model_runner import GPUModelRunner


    class OmniGPUModelRunner(GPUModelRunner):
        def _forward(self, total):
            # [Omni] remember how much there was
            self.talker_total = total
            return super()._forward(total)
    """,
    GPU_AR: """\
    from vllm_omni.worker.gpu_model_runner import OmniGPUModelRunner


    class GPUARModelRunner(OmniGPUModelRunner):
        def _sample(self, logits):
            if self.model.prefer_model_sampler:
                return self.model.sample(logits)
            return super()._sample(logits)

        def _finish(self, logits, total):
            return super()._finish(logits, total)

        def _stage_of(self, request):
            info = request.additional_information
            if info is None:
                return None
            return info.get("stage")
    """,
}

STAGE = """\
    def _stage_of(self, request):
        info = request.additional_information
        if info is None:
            return None
        return info.get("stage")
"""
"""The method that the small NPU and GPU runners share."""

PACKED = """
        def pack(self, rows):
            out = self.build(rows)
            self.note(out)
            self.count(out)
            if not out.rows:
                return out
            return self.rows
"""
"""A method of a runner that a GPU twin may take apart, so that no port of the whole change is sound."""

ASCEND_OLD = {
    "vllm_ascend/__init__.py": "",
    "PKG-INFO": "Metadata-Version: 2.1\nName: vllm-ascend\nVersion: 0.20.0\n",
    "vllm_ascend/worker/worker.py": "class NPUWorker:\n    pass\n",
    ASCEND: """\
    from vllm.v1.worker.gpu_model_runner import GPUModelRunner


    class NPUModelRunner(GPUModelRunner):
        def execute_model(self, scheduler_output):
            self._update_states(scheduler_output)
            total = scheduler_output.total_num_scheduled_tokens
            if not total:
                return None
            logits, hidden = self._forward(total)
            return self._finish(logits, total)

        def _forward(self, total):
            return self.model(total), self.hidden

        def _sample(self, logits):
            return self.sampler(logits)

        def _finish(self, logits, total):
            return self._sample(logits)
    """,
}

ASCEND_NEW = {
    **ASCEND_OLD,
    "PKG-INFO": "Metadata-Version: 2.1\nName: vllm-ascend\nVersion: 0.22.0\n",
    ASCEND: """\
    from vllm.v1.worker.gpu_model_runner import GPUModelRunner


    class NPUModelRunner(GPUModelRunner):
        def execute_model(self, scheduler_output):
            self._update_states(scheduler_output)
            total = scheduler_output.total_num_scheduled_tokens
            if not total:
                return None
            self.synchronize_rows(total)
            logits, hidden, aux = self._forward(total)
            return self._finish(logits, total)

        def synchronize_rows(self, total):
            self.rows = total

        def _forward(self, total):
            return self.model(total), self.hidden, self.aux

        def _sample(self, logits):
            return self.sampler(logits)

        def _finish(self, logits, total):
            return self._sample(logits)
    """,
}

# What the GPU runners of the tests call on `self` without defining it: no port brings what nobody in the trees has.
MEMBERS = (
    "attach",
    "note",
    "send",
    "close",
    "count",
    "stage",
    "find_stage",
    "talker",
    "_plan",
    *(f"step_{number}" for number in range(100)),
)
MIXIN = "class MemberMixin:\n" + "".join(f"    {name} = None\n" for name in MEMBERS)

VLLM_TREE = {
    "vllm/v1/worker/member_mixin.py": MIXIN,
    "vllm/__init__.py": "",
    "PKG-INFO": "Metadata-Version: 2.1\nName: vllm\nVersion: 0.20.0\n",
    VLLM: """\
    class GPUModelRunner:
        def __init__(self, config):
            self.model = config.model
            self.hidden = config.hidden
            self.aux = config.aux
            self.sampler = config.sampler

        def _update_states(self, scheduler_output):
            self.seen = scheduler_output

        def _forward(self, total):
            return self.model(total), self.hidden

        def _sample(self, logits):
            return self.sampler(logits)

        def _finish(self, logits, total):
            return self._sample(logits)
    """,
}


def stay_at_home(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """No network, an empty cache, and no trees that the environment names."""
    for name in ("VLLM_ASCEND_PATH", "VLLM_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("RUNNER_SYNC_OFFLINE", "1")
    monkeypatch.setenv("RUNNER_SYNC_CACHE", str(folder / "cache"))


def lay_out(root: Path, files: Mapping[str, str]) -> Path:
    """Write ``files`` (each dedented) below ``root``."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")
    return root


class Trees:
    """The four trees of a test below one folder, and options that name them."""

    def __init__(self, folder: Path) -> None:
        self.omni = lay_out(folder / "omni", OMNI_TREE)
        self.ascend_old = lay_out(folder / "ascend-old", ASCEND_OLD)
        self.ascend_new = lay_out(folder / "ascend-new", ASCEND_NEW)
        self.vllm = lay_out(folder / "vllm", VLLM_TREE)

    def check(self, *, ascend: Path | None = None, **rest: object) -> CheckOptions:
        """Options of a command that reads; vLLM is named together with vllm-ascend."""
        vllm = TreeOptions(path=self.vllm) if ascend is not None else TreeOptions()
        return CheckOptions(
            omni=TreeOptions(path=self.omni),
            ascend=TreeOptions(path=ascend),
            vllm=vllm,
            **rest,  # type: ignore[arg-type]
        )

    def upgrade(self, ascend: Path, **rest: object) -> UpgradeOptions:
        """Options of a command that changes the omni tree."""
        return UpgradeOptions(
            omni=TreeOptions(path=self.omni),
            ascend=TreeOptions(path=ascend),
            vllm=TreeOptions(path=self.vllm),
            **rest,  # type: ignore[arg-type]
        )

    @property
    def itself(self) -> str:
        """What `--omni-base` takes for the omni tree as it is, or as it was committed last."""
        return "HEAD" if (self.omni / ".git").exists() else str(self.omni)

    def write_lock(self) -> None:
        """Lock the runners as they stand, on the old vllm-ascend and in step with the GPU runners."""
        planned = sync.lock(self.upgrade(self.ascend_old, omni_base=self.itself))
        assert planned.lock is not None
        write.write([planned.lock], self.omni)

    def edit(self, path: str, old: str, new: str) -> None:
        """Put ``new`` in place of the one ``old`` in an omni file."""
        file = self.omni / path
        text = file.read_text(encoding="utf-8")
        assert text.count(old) == 1
        file.write_text(text.replace(old, new), encoding="utf-8")


def commit(folder: Path, subject: str = "Change") -> None:
    """Commit everything in ``folder``, which becomes a repository if it is none."""
    settings = {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "maintenance.auto",
        "GIT_CONFIG_VALUE_0": "false",
        **{f"GIT_{role}_{what}": "a@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    }
    if not (folder / ".git").exists():
        subprocess.run(["git", "init", "-q", "-b", "main", str(folder)], check=True, env={**os.environ, **settings})
    for words in (["add", "-A"], ["commit", "-q", "--allow-empty", "-m", subject]):
        subprocess.run(["git", "-C", str(folder), *words], check=True, env={**os.environ, **settings})


def committed_trees(folder: Path) -> Trees:
    """Trees with a vllm-ascend whose last commit changed its runner."""
    trees = Trees(folder)
    commit(trees.ascend_old)
    commit(trees.omni)
    lay_out(trees.ascend_old, ASCEND_NEW)
    commit(trees.ascend_old)
    return trees


def code_of(trees: Trees) -> Mapping[str, str]:
    """The code of all files of omni, without layout and comments, by path."""
    files = sorted(trees.omni.rglob("*.py"))
    return {file.relative_to(trees.omni).as_posix(): ast.unparse(ast.parse(file.read_text("utf-8"))) for file in files}


def check_upgrade(options: UpgradeOptions) -> sync.Upgrade:
    """An upgrade, done and done again, with what holds for every one:

    its files parse; a hunk is of the input that has its added lines, where only one has; a review item is about a unit
    of the report, inside the file that it names, and inside the unit if that stands there, and what it shows of the GPU
    twin it shows as that; and once it is written, the same upgrade changes nothing.
    """
    planned = sync.upgrade(options)
    omni, ascend = options.omni.path, options.ascend.path
    assert omni is not None
    assert ascend is not None
    read = {
        "upstream": _lines(*(ascend / "vllm_ascend").rglob("*.py")),
        "gpu": _lines(*(omni / "vllm_omni/worker").glob("gpu_*.py")),
    }
    changed = {change.path: (change.before or "", change.after or "") for change in planned.changes}
    for path, (before, after) in changed.items():
        ast.parse(after)
        old, new = {line.strip() for line in before.split("\n")}, after.split("\n")
        for unit in planned.report.units:
            for hunk in unit.hunks if unit.path == path else ():
                lines = {line.strip() for line in new[hunk.line - 1 : hunk.end_line]} - old
                held = {name for name, known in read.items() if lines & known and lines <= known}
                assert len(held) != 1 or {hunk.provenance} == held, (hunk, lines)
    for item in planned.report.reviews:
        text = changed[item.path][1] if item.path in changed else (omni / item.path).read_text("utf-8")
        assert item.unit in {unit.unit for unit in planned.report.units if unit.path == item.path}, item
        assert 1 <= item.line <= item.end_line <= len(text.split("\n")), item
        speaks_of_gpu = item.reason.startswith(("ported", "not ported")) or "the GPU runner" in item.reason
        assert item.from_gpu or not item.upstream or not speaks_of_gpu, item
        whole = frozenset({item.unit})
        unit = next((unit for unit in units(parsed(text, item.path), whole=whole) if unit.qualname == item.unit), None)
        assert unit is None or (unit.start <= item.end_line and item.line <= unit.end), (item, unit)
    sync.apply(planned, replace(options, allow_dirty=True))
    again = sync.upgrade(options)
    assert [change.path for change in again.changes] == []
    return planned


def _lines(*files: Path) -> set[str]:
    return {line.strip() for file in files for line in file.read_text("utf-8").split("\n")}


def port_of(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    npu: str,
    was: str,
    now: str,
    *,
    only: tuple[str, ...] = (),
    beside: Mapping[str, str] | None = None,
) -> tuple[str, str]:
    """The NPU module after an upgrade in which its GPU twin went from ``was`` to ``now``, and the questions.

    ``beside`` are the texts of files that came with ``now``.
    """
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    lay_out(trees.omni, {GPU_AR: was, AR: npu})
    commit(trees.omni)
    lay_out(trees.omni, {GPU_AR: now, **(beside or {})})
    commit(trees.omni)
    result = check_upgrade(
        trees.upgrade(trees.ascend_new, omni_base="HEAD~1", vllm_base="0.20.0", verify=False, only=only)
    )
    text = next((change.after or "" for change in result.changes if change.path == AR), npu)
    return text, "\n".join(item.reason for item in result.report.reviews)


NPU_TWIN = """\
from vllm_omni.platforms.npu.worker.npu_model_runner import OmniNPUModelRunner


class NPUARModelRunner(OmniNPUModelRunner):
    def _fetch(self, rows, total):
        return self.cache.get(rows, total)

    def _collect(self, rows):
        first = rows[0]
        kept = self.keep(first)
        return self._fetch(rows, len(kept))
"""
GPU_TWIN = NPU_TWIN.replace("platforms.npu.worker.npu_model_runner", "worker.gpu_model_runner").replace("NPU", "GPU")


def keys(report: Report) -> set[tuple[str, str]]:
    """Code and symbol of every finding."""
    return {(finding.code, finding.symbol) for finding in report.findings}


HELPER = "vllm_omni/platforms/npu/worker/sending.py"
"""A module beside the runners that is none."""

MODULE_ROW = """
[[extend-modules]]
name = "NPUARModelRunner"
paths = ["{npu}"]
upstreams = [{{ project = "vllm-ascend", path = "vllm_ascend/worker/model_runner_v1.py", name = "NPUModelRunner" }}]
gpu = {{ project = "vllm-omni", path = "{gpu}", name = "GPUARModelRunner" }}
"""
"""A row of the configuration that says where the runner and its GPU twin stand."""
