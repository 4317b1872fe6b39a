"""Small jobs for the rules of `check`: one NPU runner module with its GPU twin, and what is found in it."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace

from runner_sync.lock import Entry
from runner_sync.model import Finding
from runner_sync.profile import ASCEND_RUNNER, NPU
from runner_sync.units.texts import unit_texts
from runner_sync.verify import check
from runner_sync.verify.check import CheckResult
from runner_sync.verify.check_job import CheckJob, CheckModule
from runner_sync.verify.codes import Codes
from runner_sync.verify.runners.locked import hash_gpu, hash_own
from runner_sync.verify.runners.reading import Reading

AR = "vllm_omni/platforms/npu/worker/npu_ar_model_runner.py"
GPU_AR = "vllm_omni/worker/gpu_ar_model_runner.py"
BASE = "vllm_omni/platforms/npu/worker/npu_model_runner.py"
GPU_BASE = "vllm_omni/worker/gpu_model_runner.py"

NPU_HEAD = """\
from vllm_omni.platforms.npu.worker.npu_model_runner import OmniNPUModelRunner
"""
GPU_HEAD = """\
from vllm_omni.worker.gpu_model_runner import OmniGPUModelRunner
"""
NPU_BASE = """\
from vllm_ascend.worker.model_runner_v1 import NPUModelRunner
from vllm_omni.worker.gpu_model_runner import OmniGPUModelRunner

class OmniNPUModelRunner(OmniGPUModelRunner, NPUModelRunner):
    pass
"""
OMNI_GPU_BASE = """\
from vllm.v1.worker.gpu_model_runner import GPUModelRunner

class OmniGPUModelRunner(GPUModelRunner):
    pass
"""


def dedent(text: str) -> str:
    return textwrap.dedent(text).lstrip("\n")


def job(
    npu: str,
    gpu: str | None = None,
    *,
    upstream: str | None = None,
    base: str | None = None,
    vllm: str | None = None,
    npu_base: str = NPU_BASE,
    gpu_base: str = OMNI_GPU_BASE,
    files: Mapping[str, str] | None = None,
    entries: Sequence[object] = (),
    earlier: Mapping[str, str] | None = None,
) -> CheckJob:
    """The AR runner module and the base module; every text is dedented. ``earlier`` are revisions of ``gpu`` by ref."""
    sides = {"upstream_text": upstream, "base_text": base, "vllm_text": vllm}
    texts = {name: dedent(text) for name, text in sides.items() if text is not None}
    ar = CheckModule(
        AR,
        dedent(npu),
        GPU_AR if gpu is not None else "",
        dedent(gpu) if gpu is not None else None,
        tuple(entries),  # type: ignore[arg-type]
        ASCEND_RUNNER,
        upstream_ref="0.30.0rc2",
        base_ref="0.26.0rc1",
        gpu_units={ref: unit_texts(dedent(text), ref) for ref, text in (earlier or {}).items()},
        **texts,
    )
    under = CheckModule(BASE, dedent(npu_base), GPU_BASE, dedent(gpu_base))
    others = {path: dedent(text) for path, text in (files or {}).items()}
    beside = tuple(path for path in others if path.startswith(f"{AR.rpartition('/')[0]}/"))
    return CheckJob(NPU, (ar, under), read=others.get, beside=beside)


def run(given: CheckJob, code: str, **options: object) -> CheckResult:
    return check.run(given, Codes((code,)), **options)  # type: ignore[arg-type]


def found(given: CheckJob, code: str) -> list[Finding]:
    """The findings of one rule, each of them well formed."""
    findings = list(run(given, code).findings)
    for finding in findings:
        assert finding.code == code
        assert finding.line <= finding.end_line
        assert finding.message.endswith(".")
        assert finding.fix
        assert finding.symbol
        assert "\n" not in finding.message
    return findings


def symbols(given: CheckJob, code: str) -> list[str]:
    return [finding.symbol for finding in found(given, code)]


EMPTY_AR = NPU_HEAD + "class NPUARModelRunner(OmniNPUModelRunner):\n    pass\n"
"""The AR runner with nothing of its own."""


def with_hashes(entry: Entry, npu_text: str, gpu_text: str = "") -> Entry:
    """The entry of a lock that was written for these texts of the runner and of its GPU twin."""
    hashes = dict(hash_own(entry.qualname, Reading(AR, dedent(npu_text)), label="Omni-new"))
    if entry.gpu is not None:
        hashes |= hash_gpu(entry.gpu.qualname, Reading(GPU_AR, dedent(gpu_text)))
    return replace(entry, extra=hashes)
