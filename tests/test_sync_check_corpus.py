"""``check`` and ``verify`` on real releases."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import CorpusRelease
from sync_samples import lay_out

from runner_sync import sync
from runner_sync.model import Finding
from runner_sync.profile import NPU
from runner_sync.sync.options import CheckOptions, TreeOptions
from runner_sync.sync.upgrade_options import UpgradeOptions


def on_release(version: str, **rest: object) -> CheckOptions:
    return CheckOptions(omni=TreeOptions(version=version), **rest)  # type: ignore[arg-type]


def told(findings: tuple[Finding, ...]) -> set[tuple[str, str, str]]:
    return {(finding.code, finding.unit, finding.symbol) for finding in findings}


@pytest.mark.corpus
@pytest.mark.parametrize(("version", "is_missing"), [("0.20.0", True), ("0.21.0rc1", True), ("0.22.0", False)])
def test_the_sample_hook(corpus_release: CorpusRelease, version: str, is_missing: bool) -> None:
    corpus_release("vllm-omni", version)
    found = told(sync.check(on_release(version, select=("RS203",))).findings)
    assert (("RS203", "NPUARModelRunner", "_sample") in found) is is_missing


RECORDED = [
    pytest.param("0.20.0", "0.18.0", marks=pytest.mark.slow),
    ("0.26.0", "0.26.0rc1"),
    pytest.param("0.32.0rc1", "0.30.0rc2", marks=pytest.mark.slow),
]


@pytest.mark.corpus
@pytest.mark.parametrize(("version", "ascend"), RECORDED)
def test_a_lock_that_was_just_written_lacks_nothing(
    corpus_release: CorpusRelease, tmp_path: Path, version: str, ascend: str
) -> None:
    tree = corpus_release("vllm-omni", version)
    corpus_release("vllm-ascend", ascend)
    for path in [path for path in tree.paths("vllm_omni/") if "/worker/" in path or path.count("/") < 2]:
        lay_out(tmp_path, {path: tree.read(path) or ""})
    omni = TreeOptions(path=tmp_path)
    planned = sync.lock(UpgradeOptions(omni=omni, ascend=TreeOptions(version=ascend)))
    assert planned.lock is not None
    (tmp_path / NPU.lock_file).write_text(planned.lock.after or "", "utf-8")
    assert sync.check(CheckOptions(omni=omni, select=("RS111",))).findings == ()


@pytest.mark.corpus
@pytest.mark.parametrize(("version", "is_missing"), [("0.24.0", True), ("0.26.0", False)])
def test_the_connector_mixin(corpus_release: CorpusRelease, version: str, is_missing: bool) -> None:
    corpus_release("vllm-omni", version)
    found = told(sync.check(on_release(version, select=("RS204",))).findings)
    runners = {"NPUARModelRunner", "NPUGenerationModelRunner"} if is_missing else set()
    assert found == {("RS204", runner, "OmniConnectorModelRunnerMixin") for runner in runners}


@pytest.mark.corpus
@pytest.mark.slow
def test_nine_breaks_of_one_release_on_the_next(corpus_release: CorpusRelease) -> None:
    for project, version in (("vllm-omni", "0.26.0"), ("vllm", "0.30.0"), ("vllm", "0.26.0")):
        corpus_release(project, version)
    report = sync.verify(
        on_release(
            "0.26.0",
            ascend=TreeOptions(version="0.30.0rc2"),
            ascend_base="0.26.0rc1",
            vllm_base="0.26.0",
        )
    )
    said = [(source.project, source.ref) for source in report.inputs]
    assert said == [("vllm-omni", "0.26.0"), ("vllm-ascend", "0.30.0rc2"), ("vllm", "0.30.0")], "vLLM is not named"
    assert {(finding.code, finding.symbol) for finding in report.findings} == {
        ("RS303", "_bookkeeping_sync"),
        ("RS304", "_all_gather_hidden_states_and_aux"),
        ("RS304", "_init_xdrope_positions"),
        ("RS304", "calculate_kv_scales"),
        ("RS304", "uses_xdrope_dim"),
        ("RS304", "xdrope_positions"),
        ("RS305", "initialize_kv_cache(kv_cache_allocation_context=)"),
        ("RS306", "set_ascend_forward_context(input_ids=)"),
        ("RS319", "preprocess_mamba(mamba_state_copy_funcs)"),
    }
