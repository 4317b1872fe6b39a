"""The breakage rules on real releases: what is new, what a release already had, and what is not reported."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from runner_sync import sync
from runner_sync.model import Finding, Project
from runner_sync.profile import GPU, GPU_V2, NPU, Profile
from runner_sync.sync.options import TreeOptions
from runner_sync.sync.upgrade_options import UpgradeOptions
from runner_sync.trees import Tree
from runner_sync.verify import breakage, typecheck
from runner_sync.verify.trees.world import World

pytestmark = pytest.mark.corpus

Release = Callable[[Project, str], Tree]
WORKERS = "vllm_omni/platforms/npu/worker/"


def world(release: Release, omni: str, ascend: str, vllm: str) -> World:
    return World(
        {
            "vllm-omni": release("vllm-omni", omni),
            "vllm-ascend": release("vllm-ascend", ascend),
            "vllm": release("vllm", vllm),
        },
        surroundings=NPU.surroundings,
    )


def runners(release: Release, omni: str) -> list[str]:
    return [path for path in release("vllm-omni", omni).paths(WORKERS) if not path.endswith("__init__.py")]


def told(findings: list[Finding]) -> set[tuple[str, str]]:
    return {(finding.code, finding.symbol) for finding in findings}


def test_omni_0_26_on_ascend_0_30_has_nine_new_breaks(corpus_release: Release) -> None:
    """vLLM 0.30.0 has no xdrope any more; that `_init_xdrope_positions` is gone only the inherited GPU runner feels."""
    old = world(corpus_release, "0.26.0", "0.26.0rc1", "0.26.0")
    new = world(corpus_release, "0.26.0", "0.30.0rc2", "0.30.0")
    assert told(breakage.find(new, old, runners(corpus_release, "0.26.0"))) == {
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


@pytest.mark.slow
def test_ty_names_all_of_them_but_two(corpus_release: Release) -> None:
    """To ty, `if self.x: self.x = False` defines `x`; and what a model returns it does not know."""
    names = runners(corpus_release, "0.26.0")
    old = world(corpus_release, "0.26.0", "0.26.0rc1", "0.26.0")
    new = world(corpus_release, "0.26.0", "0.30.0rc2", "0.30.0")
    second, found = typecheck.run(new, old, names), breakage.find(new, old, names)
    own = [f for f in found if f.path.startswith(WORKERS)]
    seen = [f for f in own if f.symbol != "calculate_kv_scales" and f.code != "RS319"]
    assert len(second) == len(seen) == 11
    assert typecheck.run(new, old, names, known=breakage.find(new, old, names)) == []


# Read by hand in both trees. 0.22.0: vLLM 0.22 has no `_get_mamba_copy_bufs` any more, vllm-ascend never had, and
# 0.22.1rc1 replaces `preprocess_mamba` in its module, where its own runner looks it up. 0.26.0:
# vllm-ascend 0.26.0rc1's worker passes `skip_gdn_state_update=True` to `_dummy_run`, omni took the parameter in 0.30.0.
# 0.28.0 still follows 0.25.1rc1: 0.28.0rc1 returns eight values, and its worker passes the allocation context.
# 0.32.0rc1: vLLM 0.32 dropped cascade attention; the call stands under a flag that is always false, hence a warning.
RELEASED = [
    ("0.18.0", "0.17.0rc1", "0.18.0", set()),
    ("0.18.0", "0.18.0rc1", "0.18.0", set()),
    (
        "0.22.0",
        "0.22.1rc1",
        "0.22.0",
        {("RS304", "_get_mamba_copy_bufs"), ("RS310", "vllm.v1.worker.mamba_utils.preprocess_mamba")},
    ),
    ("0.26.0", "0.26.0rc1", "0.26.0", {("RS305", "_dummy_run(skip_gdn_state_update=)")}),
    (
        "0.28.0",
        "0.28.0rc1",
        "0.28.0",
        {("RS303", "_bookkeeping_sync"), ("RS305", "initialize_kv_cache(kv_cache_allocation_context=)")},
    ),
    ("0.30.0", "0.30.0rc1", "0.30.0", set()),
    ("0.32.0rc1", "0.30.0rc2", "0.32.0", {("RS304", "_compute_cascade_attn_prefix_lens")}),
]


@pytest.mark.slow
def test_an_attribute_that_only_its_reader_renews(corpus_release: Release) -> None:
    """vLLM 0.28 sets no `calculate_kv_scales`; omni's copies put it to `False` where it is true."""
    names = runners(corpus_release, "0.27.0rc1")
    old = world(corpus_release, "0.27.0rc1", "0.27.1rc1", "0.27.1")
    found = breakage.find(world(corpus_release, "0.27.0rc1", "0.28.0rc1", "0.28.0"), old, names)
    assert [(f.code, f.unit) for f in found if f.symbol == "calculate_kv_scales"] == [
        ("RS304", "NPUARModelRunner.execute_model"),
        ("RS304", "NPUGenerationModelRunner.execute_model"),
    ]


@pytest.mark.parametrize(("omni", "ascend", "vllm", "expected"), RELEASED)
def test_released_pairs(
    corpus_release: Release, omni: str, ascend: str, vllm: str, expected: set[tuple[str, str]]
) -> None:
    found = breakage.find(world(corpus_release, omni, ascend, vllm), None, runners(corpus_release, omni))
    assert told(found) == expected


def test_the_drift_of_head_is_only_a_warning_today(corpus_release: Release) -> None:
    trees = world(corpus_release, "0.32.0rc1", "0.30.0rc2", "0.32.0")
    found = breakage.find(trees, None, runners(corpus_release, "0.32.0rc1"))
    assert {finding.severity for finding in found} == {"warning"}


@pytest.mark.slow
def test_a_long_jump_shows_the_silent_kinds_too(corpus_release: Release) -> None:
    old = world(corpus_release, "0.18.0", "0.17.0rc1", "0.18.0")
    new = world(corpus_release, "0.18.0", "0.30.0rc2", "0.30.0")
    assert told(breakage.find(new, old, runners(corpus_release, "0.18.0"))) >= {
        ("RS302", "_get_cumsum_and_arange(arange_out)"),
        ("RS307", "_pad_query_start_loc_for_fia"),  # a new first parameter: four or five arguments still fit
        ("RS308", "RoutedExpertsCapturer.get_instance"),
        ("RS309", "positions"),
        ("RS309", "seq_lens"),
    }


@pytest.mark.slow
def test_a_keyword_that_the_base_of_omnis_output_lost(corpus_release: Release) -> None:
    """`OmniModelRunnerOutput` is undecorated; vLLM 0.21's dataclass below it has `routed_experts_dict`, 0.23's not."""
    names = runners(corpus_release, "0.21.0rc1")
    found = breakage.find(world(corpus_release, "0.21.0rc1", "0.23.0", "0.23.0"), None, names)
    lost = [f for f in found if f.symbol == "OmniModelRunnerOutput(routed_experts_dict=)"]
    assert [(f.code, f.unit) for f in lost] == [
        ("RS306", "NPUARModelRunner.sample_tokens"),
        ("RS306", "NPUGenerationModelRunner.sample_tokens"),
    ]
    made_for = breakage.find(world(corpus_release, "0.21.0rc1", "0.21.0rc1", "0.21.0"), None, names)
    assert "RS306" not in {finding.code for finding in made_for}


@pytest.mark.slow
def test_a_callback_that_omnis_own_method_never_hands_on(corpus_release: Release) -> None:
    """vLLM 0.19's `_update_states` returns a callback, and so its caller; omni 0.18.0rc1's override returns nothing."""
    for project, version in (("vllm-omni", "0.18.0rc1"), ("vllm-ascend", "0.19.1rc1"), ("vllm", "0.19.1")):
        corpus_release(project, version)
    planned = sync.upgrade(
        UpgradeOptions(omni=TreeOptions(version="0.18.0rc1"), ascend=TreeOptions(version="0.19.1rc1"))
    )
    found = planned.report.findings
    assert [(f.code, f.unit, f.symbol) for f in found if f.path.startswith(WORKERS)] == [
        ("RS311", "NPUARModelRunner.execute_model", "_update_states"),
        ("RS311", "NPUGenerationModelRunner.execute_model", "_update_states"),
    ]
    # `positions` is a plain tensor since 0.19, and the module is gone: what the GPU runners' own upgrade has to mend.
    elsewhere = {(f.code, f.symbol) for f in found if not f.path.startswith(WORKERS)}
    assert elsewhere == {("RS301", "vllm.inputs.data"), ("RS309", "positions")}


# Read by hand: `_talker_mtp_forward` of NPU is gone in 0.22.0, its `load_model` sets both in 0.26.0.
@pytest.mark.parametrize(
    ("omni", "ascend", "vllm", "expected"),
    [
        ("0.20.0", "0.19.1rc1", "0.20.0", {("_talker_mtp_forward", "_talker_mtp_generators")}),
        ("0.22.0", "0.19.1rc1", "0.22.0", set()),
        (
            "0.24.0",
            "0.25.1rc1",
            "0.24.0",
            {("load_model", "_omni_query_start_loc_model_kwarg"), ("load_model", "_sampled_token_ids_cpu_override")},
        ),
        ("0.26.0", "0.25.1rc1", "0.26.0", set()),
    ],
)
def test_an_attribute_that_stays_at_its_default_on_npu(
    corpus_release: Release, omni: str, ascend: str, vllm: str, expected: set[tuple[str, str]]
) -> None:
    found = breakage.find(world(corpus_release, omni, ascend, vllm), None, runners(corpus_release, omni))
    idle = {(finding.unit.rpartition(".")[2], finding.symbol) for finding in found if finding.code == "RS313"}
    assert idle == expected


@pytest.mark.slow
def test_what_upstream_took_from_the_model(corpus_release: Release) -> None:
    """vllm-ascend set `clear_all_moe_loads` on the model until 0.22.1rc1; its EPLB adaptor has it since 0.23.0rc1."""
    symbol = ("RS308", "target.clear_all_moe_loads")
    names = runners(corpus_release, "0.24.0")
    old = world(corpus_release, "0.24.0", "0.19.1rc1", "0.19.1")
    assert symbol in told(breakage.find(world(corpus_release, "0.24.0", "0.25.1rc1", "0.25.1"), old, names))
    assert symbol not in told(breakage.find(world(corpus_release, "0.24.0", "0.22.1rc1", "0.22.1"), old, names))


@pytest.mark.slow
def test_a_returned_value_of_another_kind(corpus_release: Release) -> None:
    old, new = (
        world(corpus_release, "0.14.0", ascend, vllm)
        for ascend, vllm in (("0.14.0rc1", "0.14.1"), ("0.19.1rc1", "0.19.1"))
    )
    assert ("RS319", "_sync_metadata_across_dp(with_prefill)") in told(
        breakage.find(new, old, runners(corpus_release, "0.14.0"))
    )


def gpu_breaks(release: Release, omni: str, new: str, old: str, *, profile: Profile = GPU) -> set[tuple[str, str]]:
    """What is told of the GPU runners of a release on a new vLLM and not on an old one."""
    tree = release("vllm-omni", omni)
    own = [path for module in profile.modules for path in module.paths if tree.read(path) is not None]
    trees = [{"vllm-omni": tree, "vllm": release("vllm", version)} for version in (new, old)]
    worlds = [World({**both}, surroundings=profile.surroundings) for both in trees]
    return told(breakage.find(*worlds, [*own, *worlds[0].beside(own)]))


@pytest.mark.parametrize(
    ("before", "old", "after", "new", "count", "left"),
    [
        # vLLM 0.16 dropped `activate_lora`; omni 0.16.0 passes it by place, and it lands on `remove_lora`. What vLLM's
        # `sample_tokens` does since 0.16 and `_sample` does no more, no GPU runner of omni's does up to 0.18.0.
        pytest.param(
            *("0.14.0", "0.14.0", "0.16.0", "0.16.0", 6),
            {("RS307", "maybe_dummy_run_with_lora"), ("RS322", "_update_states_after_model_execute")},
            marks=pytest.mark.slow,
        ),
        # Not before 0.32.0rc1 does omni hand on `prompt_is_token_ids`.
        pytest.param(
            *("0.20.0", "0.20.0", "0.22.0", "0.22.0", 4),
            {("RS324", "NewRequestData.prompt_is_token_ids")},
            marks=pytest.mark.slow,
        ),
        # vLLM 0.28's capturer has no `clear_buffer`; omni calls it up to 0.30.0, where the capturer is set up.
        pytest.param(
            *("0.26.0", "0.26.0", "0.28.0", "0.28.0", 7),
            {("RS308", "RoutedExpertsCapturer.clear_buffer")},
            marks=pytest.mark.slow,
        ),
        pytest.param(*("0.30.0", "0.30.0", "0.32.0rc1", "0.32.0", 10, set()), marks=pytest.mark.slow),
    ],
)
def test_what_is_told_of_gpu_runners_on_the_next_vllm_is_what_people_mended(
    corpus_release: Release, before: str, old: str, after: str, new: str, count: int, left: set[tuple[str, str]]
) -> None:
    """The rules were made while looking at NPU runners. What the next release's runners have no more, somebody found to
    be broken; what they still have was read by hand. ``count`` is how many there were when this was written."""
    found = gpu_breaks(corpus_release, before, new, old)
    assert len(found) >= count
    assert found & gpu_breaks(corpus_release, after, new, old) == left


@pytest.mark.slow
def test_a_new_field_that_only_hidden_methods_read(corpus_release: Release) -> None:
    row = ("RS324", "ParallelConfig.assigned_physical_gpu_ids")
    assert row in gpu_breaks(corpus_release, "0.22.0", "0.24.0", "0.22.0")
    assert row not in gpu_breaks(corpus_release, "0.24.0", "0.24.0", "0.22.0")


@pytest.mark.slow
def test_what_is_told_of_the_model_runner_v2_on_the_next_vllm_is_what_people_mended(corpus_release: Release) -> None:
    """No rule was made while looking at it. ``prepare_inputs`` takes one more value in vLLM 0.32, say."""
    found = gpu_breaks(corpus_release, "0.30.0", "0.32.0", "0.30.0", profile=GPU_V2)
    assert len(found) >= 11  # one finding for a call that leaves out two parameters
    assert ("RS302", "prepare_inputs(num_active_loras)") in found
    assert not gpu_breaks(corpus_release, "0.32.0rc1", "0.32.0", "0.30.0", profile=GPU_V2)


@pytest.mark.slow
def test_a_new_argument_without_which_the_drafter_fails(corpus_release: Release) -> None:
    """Since 0.18.0rc1 vllm-ascend's drafter reads `uniform` of the batch's descriptor; omni 0.20.0 hands it on."""
    row = ("RS325", "propose_draft_token_ids(target_model_batch_desc)")
    said = []
    for omni in ("0.18.0", "0.20.0"):
        old, new = (world(corpus_release, omni, ascend, "0.18.0") for ascend in ("0.17.0rc1", "0.18.0rc1"))
        said.append(row in told(breakage.find(new, old, runners(corpus_release, omni))))
    assert said == [True, False]
