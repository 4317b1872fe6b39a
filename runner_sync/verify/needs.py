"""Which rules there are, and what one cannot do without, by its module: the lock, vllm-ascend's text, or vLLM's.

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
    from runner_sync.verify.job import CheckJob

Need = Literal["lock", "upstream", "vllm"]

NEEDS: Mapping[Need, tuple[str, ...]] = {
    "lock": ("rs110_edited_outside_block", "rs201_gpu_changed"),
    "upstream": ("rs101_body_drift", "rs102_upstream_gone", "rs104_signature_drift", "rs105_hidden_change"),
    "vllm": ("rs202_statement_missing", "rs207_hook_missing"),
}
"""Every rule is in one row at most; one that is in none runs on any job."""


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
