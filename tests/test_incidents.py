"""Faults of released runners that people reported: each is told, of the release that had it.

The numbers are threads of vllm-omni's tracker, of January to September 2026; what went wrong was read there, what mends
it in the release that followed. Four were told only after somebody had looked here: 4447, 5320, 5846 and 5976.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from conftest import CorpusRelease

from runner_sync import sync
from runner_sync.model import Project
from runner_sync.sync.options import CheckOptions, TreeOptions

pytestmark = [pytest.mark.corpus, pytest.mark.slow]


@dataclass(frozen=True)
class Incident:
    """A release at fault, the rule that tells, and the name that it tells of.

    ``on`` are the upstream that it was to run on and, where that is what broke it, the one before: of vllm-ascend, or
    of vLLM for GPU runners.
    """

    omni: str
    code: str
    symbol: str
    on: tuple[str, ...]
    profile: str | None = None

    def is_told(self, release: CorpusRelease) -> bool:
        project: Project = "vllm" if self.profile == "gpu" else "vllm-ascend"
        for version in self.on:
            release(project, version)
        release("vllm-omni", self.omni)
        new, old = [*self.on, None][:2]
        omni, upstream = TreeOptions(version=self.omni), TreeOptions(version=new)
        asked = CheckOptions(omni=omni, profile=self.profile, select=(self.code,), typecheck="none")
        if project == "vllm":
            asked = replace(asked, vllm=upstream, vllm_base=old)
        else:
            asked = replace(asked, ascend=upstream, ascend_base=old)
        report = sync.check(asked) if old is None else sync.verify(asked)
        return any(finding.symbol.startswith(self.symbol) for finding in report.findings)


INCIDENTS = {
    "447: arguments of _prepare_input_ids land on other parameters": Incident(
        "0.11.0rc1", "RS302", "_prepare_input_ids", ("0.12.0rc1", "0.11.0rc2")
    ),
    "2157: too many values to unpack": Incident("0.16.0", "RS303", "_prepare_inputs", ("0.17.0rc1", "0.15.0rc1")),
    "2823: 'Tensor' object has no attribute 'gpu'": Incident(
        "0.20.0rc1", "RS309", "positions", ("0.20.2rc1", "0.17.0rc1")
    ),
    "3503: the model's own sampler is never asked": Incident("0.20.0", "RS203", "_sample", ("0.18.0",)),
    "4447: the payload is in another field than the scheduler reads": Incident(
        "0.23.0rc1", "RS207", "multimodal_outputs", ("0.23.0rc1",)
    ),
    "4848: no attribute _get_mamba_copy_bufs": Incident(
        "0.24.0", "RS304", "_get_mamba_copy_bufs", ("0.24.0rc1", "0.23.0rc1")
    ),
    "5234: a mixin is missing, and the engine waits for ever": Incident(
        "0.24.0", "RS204", "OmniConnectorModelRunnerMixin", ("0.24.0rc1",)
    ),
    "5320: asynchronous output is never asked for": Incident(
        "0.26.0", "RS207", "use_async_omni_output", ("0.26.0rc1",)
    ),
    "5479: no attribute pcp_size": Incident("0.26.0rc1", "RS304", "pcp_size", ("0.26.0rc1", "0.25.1rc1")),
    "5846: the connector starts for a list of models only": Incident(
        "0.26.0rc1", "RS202", "get_stage_connector_role", ("0.26.0rc1",)
    ),
    "5846: request ids are not handed on": Incident("0.26.0rc1", "RS207", "requires_request_ids", ("0.26.0rc1",)),
    "5895: duplex models fall silent": Incident("0.26.0", "RS207", "prepare_duplex_sampling", ("0.26.0rc1",)),
    "5976: _dummy_run got an unexpected keyword": Incident(
        "0.26.0", "RS305", "_dummy_run(randomize_inputs=)", ("0.27.0", "0.26.0"), "gpu"
    ),
    "6096: set_ascend_forward_context got an unexpected keyword": Incident(
        "0.27.0rc1", "RS306", "set_ascend_forward_context(input_ids=)", ("0.27.1rc1", "0.26.0rc1")
    ),
    "6674: _bookkeeping_sync returns more": Incident(
        "0.28.0", "RS303", "_bookkeeping_sync", ("0.28.0rc1", "0.27.1rc1")
    ),
    "7433: _dummy_run got an unexpected keyword": Incident(
        "0.29.0rc1", "RS305", "_dummy_run(skip_gdn_state_update=)", ("0.29.0rc1", "0.28.0rc1")
    ),
}


@pytest.mark.parametrize("incident", INCIDENTS.values(), ids=INCIDENTS)
def test_what_people_reported_is_told(corpus_release: CorpusRelease, incident: Incident) -> None:
    assert incident.is_told(corpus_release)


@pytest.mark.parametrize(
    "mended",
    [
        Incident("0.12.0rc1", "RS307", "_prepare_input_ids", ("0.12.0rc1", "0.11.0rc2")),
        Incident("0.22.0", "RS203", "_sample", ("0.22.1rc1",)),
        Incident("0.26.0", "RS204", "OmniConnectorModelRunnerMixin", ("0.26.0rc1",)),
        Incident("0.24.0", "RS207", "multimodal_outputs", ("0.24.0rc1",)),
        Incident("0.26.0", "RS202", "get_stage_connector_role", ("0.26.0rc1",)),
        Incident("0.28.0", "RS305", "_dummy_run(randomize_inputs=)", ("0.28.0", "0.26.0"), "gpu"),
    ],
    ids=["447", "3503", "5234", "4447", "5846", "5976"],
)
def test_what_people_mended_is_told_no_more(corpus_release: CorpusRelease, mended: Incident) -> None:
    assert not mended.is_told(corpus_release)


SHARED, EXPERTS = (f"vllm_ascend.ops.fused_moe.fused_moe.{name}" for name in ("AscendSharedFusedMoE", "AscendFusedMoE"))


@pytest.mark.parametrize(
    ("omni", "symbol", "on", "is_told"),
    [
        ("0.18.0", SHARED, ("0.22.1rc1", "0.18.0"), True),
        ("0.20.0", SHARED, ("0.22.1rc1", "0.18.0"), False),
        ("0.22.0", EXPERTS, ("0.24.0rc1", "0.22.1rc1"), True),
        ("0.26.0", EXPERTS, ("0.26.0rc1",), False),
    ],
)
def test_a_model_imports_layers_that_vllm_ascend_dropped(
    corpus_release: CorpusRelease, omni: str, symbol: str, on: tuple[str, ...], is_told: bool
) -> None:
    """No runner imports the model. People changed its import in 0.20.0 and moved the layer in 0.26.0 (#5167)."""
    assert Incident(omni, "RS301", symbol, on).is_told(corpus_release) is is_told
