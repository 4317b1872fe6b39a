"""Which rules there are, each listed once, by the name of its module, under what it cannot do without.

Comes in: a job. Goes out: whether it has that, and the codes of the rules that want it. May touch: nothing. No rule is
imported for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Literal

from runner_sync.verify import rules

if TYPE_CHECKING:
    from runner_sync.verify.runners.job import CheckJob

Need = Literal["lock", "upstream", "vllm"]

LOCAL = (
    "rs103_redundant_copy",
    "rs203_override_skipped",
    "rs204_mixin_missing",
    "rs205_state_fields",
    "rs206_model_sampler",
    "rs401_markers",
    "rs402_device_calls",
    "rs403_gpu_imports",
    "rs404_runtime_mode_keyword",
    "rs405_duplicate",
    "rs406_review_comment",
    "rs407_locals_guard",
    "rs408_value_reset",
    "rs409_fixed_size",
    "rs411_unreachable",
    "rs412_falls_off",
    "rs501_hoist",
)
"""Rules that look at the runners alone: they run on any job."""

BESIDE = ("rs402_device_calls", "rs403_gpu_imports")
"""Those of them that look at every module in the folders of the runners, whether a profile names it or not."""

NEEDS: Mapping[Need, tuple[str, ...]] = {
    "lock": ("rs110_edited_outside_block", "rs111_not_in_lock", "rs201_gpu_changed"),
    "upstream": ("rs101_body_drift", "rs102_upstream_gone", "rs104_signature_drift", "rs105_hidden_change"),
    "vllm": ("rs202_statement_missing", "rs207_hook_missing"),
}
"""Rules that say nothing where a job comes without the lock, vllm-ascend's text, or vLLM's."""

OF_TWINS = (
    "rs105_hidden_change",
    "rs201_gpu_changed",
    "rs202_statement_missing",
    "rs203_override_skipped",
    "rs204_mixin_missing",
    "rs205_state_fields",
    "rs207_hook_missing",
    "rs501_hoist",
)
"""Rules that compare a runner with its GPU twin: they say nothing of runners that have none."""

OF_TREES = (
    "rs301_import_gone",
    "rs302_call_arguments",
    "rs303_tuple_size",
    "rs304_missing_attribute",
    "rs305_override_signature",
    "rs306_keyword_gone",
    "rs307_positional_shift",
    "rs308_typed_attribute",
    "rs309_buffer_kind",
    "rs310_patched_import",
    "rs311_ignored_result",
    "rs312_unset_attribute",
    "rs313_default_only",
    "rs314_member_kind",
    "rs315_orphaned_override",
    "rs316_abstract_method",
    "rs317_frozen_object",
    "rs318_orphaned_assignment",
    "rs319_value_kind",
    "rs320_parent_dropped",
    "rs321_setup_left_out",
    "rs322_step_moved",
    "rs323_argument_overwritten",
)
"""Rules that ask what a name means in the target trees."""

ELSEWHERE = (
    "rs390_type_checker",
    "rs410_conflict_markers",
    "rs490_untranslated",
    "rs491_unused_ignore",
    "rs492_ignore_without_reason",
)
"""Rules that another part of the tool reports: text only."""


def code_of(module: str) -> str:
    """The code that a rule's module is named after."""
    return module.partition("_")[0].upper()


@cache
def known_codes() -> tuple[str, ...]:
    """The codes of all rules, read from the names of their modules."""
    return tuple(sorted(code_of(module.name) for module in iter_modules(rules.__path__)))


def codes_with(need: Need) -> tuple[str, ...]:
    """The codes of the rules that need something."""
    return tuple(code_of(module) for module in NEEDS[need])


def need_of(code: str) -> Need | None:
    """What the rule of a code needs, if anything."""
    return next((need for need in NEEDS if code in codes_with(need)), None)


def has(job: CheckJob, need: Need) -> bool:
    """Whether some module of a job comes with what is needed."""
    match need:
        case "lock":
            return any(module.entries for module in job.modules)
        case "upstream":
            return any(module.upstream_text is not None for module in job.modules)
        case "vllm":
            return any(module.vllm_text is not None for module in job.modules)
