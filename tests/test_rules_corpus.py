"""Incidents of released vllm-omni versions: the rules find each where it was, and not once it was repaired."""

from __future__ import annotations

import pytest
from conftest import CorpusRelease

from runner_sync.model import Finding
from runner_sync.profile import NPU, VLLM_RUNNER
from runner_sync.verify import check
from runner_sync.verify.check_job import CheckJob, CheckModule
from runner_sync.verify.codes import Codes

pytestmark = pytest.mark.corpus


def findings(
    releases: CorpusRelease, version: str, *codes: str, vllm: str = "", base: str = "", to: str = ""
) -> list[Finding]:
    """What `check` finds in a released tree; upstream texts are those of the named releases."""
    omni = releases("vllm-omni", version)
    modules = []
    for module in NPU.modules:
        path = next((p for p in module.paths if omni.read(p) is not None), "")
        text = omni.read(path) if path else None
        if text is None or module.gpu is None:
            continue
        upstream = module.anchor.path
        modules.append(
            CheckModule(
                path,
                text,
                module.gpu.path,
                omni.read(module.gpu.path),
                upstream_path=upstream,
                upstream_text=releases("vllm-ascend", to).read(upstream) if to else None,
                upstream_ref=to,
                base_text=releases("vllm-ascend", base).read(upstream) if base else None,
                base_ref=base,
                vllm_text=releases("vllm", vllm).read(VLLM_RUNNER) if vllm and "model_runner" in path else None,
            )
        )
    return list(check.run(CheckJob(NPU, tuple(modules), read=omni.read), Codes(codes)).findings)


def keys(found: list[Finding]) -> set[tuple[str, str]]:
    return {(finding.unit, finding.symbol) for finding in found}


@pytest.mark.parametrize(("version", "is_missing"), [("0.20.0", True), ("0.21.0rc1", True), ("0.22.0", False)])
def test_the_sample_hook_that_npu_never_got(corpus_release: CorpusRelease, version: str, is_missing: bool) -> None:
    found = keys(findings(corpus_release, version, "RS203"))
    assert (("NPUARModelRunner", "_sample") in found) is is_missing


@pytest.mark.parametrize(
    ("version", "is_missing"), [("0.20.0", True), ("0.22.0", True), ("0.25.0rc1", True), ("0.26.0", False)]
)
def test_the_connector_mixin_that_was_never_mixed_in(
    corpus_release: CorpusRelease, version: str, is_missing: bool
) -> None:
    runners = {"NPUARModelRunner", "NPUGenerationModelRunner"} if is_missing else set()
    expected = {(runner, "OmniConnectorModelRunnerMixin") for runner in runners}
    assert keys(findings(corpus_release, version, "RS204")) == expected


@pytest.mark.parametrize(("version", "is_missing"), [("0.26.0", True), ("0.28.0", False)])
def test_duplex_sampling_reached_npu_two_releases_later(
    corpus_release: CorpusRelease, version: str, is_missing: bool
) -> None:
    found = keys(findings(corpus_release, version, "RS203"))
    assert ({("NPUARModelRunner", "load_model"), ("NPUARModelRunner", "_update_states")} <= found) is is_missing


@pytest.mark.parametrize(("version", "is_open"), [("0.26.0", False), ("0.28.0", True), ("0.30.0", True)])
def test_the_block_that_never_closes(corpus_release: CorpusRelease, version: str, is_open: bool) -> None:
    found = findings(corpus_release, version, "RS401")
    assert [finding.symbol for finding in found] == (["unbalanced"] if is_open else [])


@pytest.mark.parametrize("version", ["0.22.0", "0.26.0", "0.30.0"])
def test_the_model_sampler_hook_skips_ascends_own_sampling(corpus_release: CorpusRelease, version: str) -> None:
    (finding,) = findings(corpus_release, version, "RS206")
    assert (finding.unit, finding.symbol) == ("NPUARModelRunner._sample", "self.sampler")


def test_model_hooks_that_npu_code_never_asks_for(corpus_release: CorpusRelease) -> None:
    found = {finding.symbol for finding in findings(corpus_release, "0.30.0", "RS207", vllm="0.30.0")}
    assert {"post_sample_talker_mtp", "omni_client_multimodal_output_keys", "update_decode_step_metadata"} <= found
    # NPU asks for this one in other words.
    assert "prepare_runner_inputs" not in found


def test_the_override_that_vllm_ascend_gave_a_parameter(corpus_release: CorpusRelease) -> None:
    found = findings(corpus_release, "0.26.0", "RS104", base="0.26.0rc1", to="0.30.0rc2")
    assert ("OmniNPUModelRunner.initialize_kv_cache", "kv_cache_allocation_context") in keys(found)


STATES = "OmniNPUModelRunner._update_states"


@pytest.mark.parametrize(
    ("version", "base", "to", "hidden", "is_behind"),
    [
        # 0.27.0rc1 brought the method to OmniNPUModelRunner, by hand, as vllm-ascend 0.24.0rc1 has it: 0.27.1rc1 calls
        # `_track_tmp_encoder_cache_refs` in it, too, and 0.28.0rc1 copies cache blocks. Since then it is a copy, which
        # RS101 tells of. The generation runner's `sample_tokens` is one of its own after vllm-ascend's, and lags ever
        # since.
        ("0.25.0rc1", "0.24.0rc1", "0.27.1rc1", ["sample_tokens", "_update_states"], False),
        ("0.27.0rc1", "0.24.0rc1", "0.27.1rc1", ["sample_tokens"], True),
        ("0.27.0rc1", "0.27.1rc1", "0.28.0rc1", ["sample_tokens"], True),
        ("0.25.0rc1", "0.24.0rc1", "0.24.0rc1", [], False),
    ],
)
def test_the_states_that_non_last_ranks_never_got(
    corpus_release: CorpusRelease, version: str, base: str, to: str, hidden: list[str], is_behind: bool
) -> None:
    found = findings(corpus_release, version, "RS105", base=base, to=to)
    assert [finding.symbol for finding in found] == hidden
    copies = findings(corpus_release, version, "RS101", base=base, to=to)
    assert (STATES in {finding.unit for finding in copies}) == is_behind


# `if t.is_cuda:` decides whether a payload is copied to the host, in a method that NPU inherits.
ON_THE_HOST = {("OmniNPUModelRunner", "OmniGPUModelRunner._store_value(is_cuda)")}


def test_nothing_untidy_is_claimed_of_released_runners(corpus_release: CorpusRelease) -> None:
    for version in ("0.18.0", "0.22.0", "0.26.0"):
        assert {f.severity for f in findings(corpus_release, version, "RS4")} <= {"warning"}
        assert keys(findings(corpus_release, version, "RS4")) == (ON_THE_HOST if version != "0.18.0" else set())
