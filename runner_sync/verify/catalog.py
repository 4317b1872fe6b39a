"""Lists all rules, each once by the name of its module, with the inputs that it needs.

Comes in: a job, or a need. Goes out: whether the job has what a rule needs, and the codes of the rules with that need.
May touch: nothing; no rule is imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from runner_sync.verify.check_job import CheckJob

Need = Literal["lock", "upstream", "vllm", "twin", "earlier twin", "branch"]

OF_RUNNERS: Mapping[str, tuple[Need, ...]] = {
    "rs101_body_drift": ("upstream",),
    "rs102_upstream_gone": ("upstream",),
    "rs103_redundant_copy": (),
    "rs104_signature_drift": ("upstream",),
    "rs105_hidden_change": ("upstream", "twin"),
    "rs110_edited_outside_block": ("lock",),
    "rs111_not_in_lock": ("lock",),
    "rs201_gpu_changed": ("lock", "twin"),
    "rs202_statement_missing": ("vllm", "twin"),
    "rs203_override_skipped": ("twin",),
    "rs204_mixin_missing": ("twin",),
    "rs205_state_fields": ("twin",),
    "rs206_model_sampler": (),
    "rs207_hook_missing": ("vllm", "twin"),
    "rs208_behind_twin": ("vllm", "twin", "earlier twin"),
    "rs209_parity_lost": ("twin", "branch"),
    "rs210_left_behind": ("twin", "branch"),
    "rs401_markers": (),
    "rs402_device_calls": (),
    "rs403_gpu_imports": (),
    "rs404_runtime_mode_keyword": (),
    "rs405_duplicate": (),
    "rs406_review_comment": (),
    "rs407_locals_guard": (),
    "rs408_value_reset": (),
    "rs409_fixed_size": (),
    "rs411_unreachable": (),
    "rs412_falls_off": (),
    "rs413_unbound_name": (),
    "rs501_hoist": ("twin",),
}
"""Rules that look at one runner, each with the inputs without which it finds nothing.

The inputs are the lock, vllm-ascend's text, vLLM's text, a GPU twin, earlier revisions of that twin, and
the tree where a branch began.
"""

BESIDE = ("rs402_device_calls", "rs403_gpu_imports")
"""The rules among them that look at every module in the runners' folders, whether a profile names it or not."""

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
    "rs324_field_unread",
    "rs325_default_dereferenced",
    "rs326_default_changed",
)
"""Rules that look up names in the target trees."""

RUN_BY_OTHERS = (
    "rs390_type_checker",
    "rs410_conflict_markers",
    "rs490_untranslated",
    "rs491_unused_ignore",
    "rs492_ignore_without_reason",
)
"""Rules that other parts of the tool run; the registry only needs their documentation."""

OF_BRANCHES = ("RS209", "RS210", "RS320")
"""The rules that compare with the tree where a branch began: their silence means nothing once it is merged."""

OF_WHOLE_CLASSES = ("RS103", "RS105", "RS202", "RS203", "RS204", "RS207", "RS402")
"""The rules that skip a class with a base that cannot be followed, wholly or in part (RS402)."""


def code_of(module: str) -> str:
    """Return the code that a rule's module is named after."""
    return module.partition("_")[0].upper()


@cache
def known_codes() -> tuple[str, ...]:
    """Return the codes of all rules."""
    return tuple(sorted(code_of(module) for module in (*OF_RUNNERS, *OF_TREES, *RUN_BY_OTHERS)))


def known_names() -> tuple[str, ...]:
    """Return the names of all rules, as ``override-skipped``."""
    modules = sorted((*OF_RUNNERS, *OF_TREES, *RUN_BY_OTHERS))
    return tuple(module.partition("_")[2].replace("_", "-") for module in modules)


def codes_with(need: Need) -> tuple[str, ...]:
    """Return the codes of the rules that have this need."""
    return tuple(code_of(module) for module, needs in OF_RUNNERS.items() if need in needs)


def has_seen_all(code: str, job: CheckJob) -> bool:
    """Whether the rule of ``code`` looked at every module that it is about.

    A rule that compares with earlier twins looks only at modules whose earlier twins are at hand.
    """
    needs = {need for module, needs in OF_RUNNERS.items() if code_of(module) == code for need in needs}
    twins = [module for module in job.modules if module.gpu_text is not None]
    return "earlier twin" not in needs or all(module.gpu_units for module in twins)


def can_run(code: str, job: CheckJob) -> bool:
    """Whether a job has all inputs that the rule of ``code`` needs; ``True`` for a rule outside `OF_RUNNERS`."""
    return all(
        _has_input(job, need) for module, needs in OF_RUNNERS.items() if code_of(module) == code for need in needs
    )


def _has_input(job: CheckJob, need: Need) -> bool:
    """Whether some module of a job has the needed input."""
    match need:
        case "lock":
            return any(module.entries for module in job.modules)
        case "upstream":
            return any(module.upstream_text is not None for module in job.modules)
        case "vllm":
            return any(module.vllm_text is not None for module in job.modules)
        case "twin":
            return any(module.gpu_text is not None for module in job.modules)
        case "earlier twin":
            return any(module.gpu_units for module in job.modules)
        case "branch":
            return job.before is not None
