"""All rules by code, and their documentation.

Comes in: nothing, or a job. Goes out: the rule modules that `check` runs on it, and `RuleText`s read from docstrings.
May touch: nothing. Rules are listed by hand in the order of their codes. Those that a job cannot use (no lock, no
upstream, no trees) are not even imported, because `check` runs in every pull request and must start fast.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from runner_sync.verify import rules
from runner_sync.verify.needs import NEEDS, Need, has
from runner_sync.verify.rules import (
    rs103_redundant_copy,
    rs203_override_skipped,
    rs204_mixin_missing,
    rs205_state_fields,
    rs206_model_sampler,
    rs401_markers,
    rs402_device_calls,
    rs403_gpu_imports,
    rs404_runtime_mode_keyword,
    rs405_duplicate,
    rs406_review_comment,
    rs407_locals_guard,
    rs408_value_reset,
    rs409_fixed_size,
    rs501_hoist,
)

if TYPE_CHECKING:
    from runner_sync.model import RuleText, Severity
    from runner_sync.verify.job import CheckJob, Subject
    from runner_sync.verify.reading import Hit


class DocumentedRule(Protocol):
    """A module with the three constants and a docstring."""

    __doc__: str | None
    CODE: str
    NAME: str
    SEVERITY: Severity


class Rule(DocumentedRule, Protocol):
    """A rule that looks at one NPU module."""

    def find(self, subject: Subject, /) -> Iterable[Hit]: ...


LOCAL: tuple[Rule, ...] = (
    rs103_redundant_copy,
    rs203_override_skipped,
    rs204_mixin_missing,
    rs205_state_fields,
    rs206_model_sampler,
    rs401_markers,
    rs402_device_calls,
    rs403_gpu_imports,
    rs404_runtime_mode_keyword,
    rs405_duplicate,
    rs406_review_comment,
    rs407_locals_guard,
    rs408_value_reset,
    rs409_fixed_size,
    rs501_hoist,
)


def _with(need: Need) -> tuple[Rule, ...]:
    names = (f"{rules.__name__}.{name}" for name in NEEDS[need])
    return tuple(cast("Rule", import_module(name)) for name in names)


def _elsewhere() -> tuple[DocumentedRule, ...]:
    """Rules that another part of the tool reports: text only."""
    from runner_sync.verify.rules import (
        rs390_type_checker,
        rs410_conflict_markers,
        rs490_untranslated,
        rs491_unused_ignore,
        rs492_ignore_without_reason,
    )

    return (
        rs390_type_checker,
        rs410_conflict_markers,
        rs490_untranslated,
        rs491_unused_ignore,
        rs492_ignore_without_reason,
    )


def applicable(job: CheckJob) -> tuple[Rule, ...]:
    """The rules that can say something about ``job`` (RS3xx aside, which look at whole trees)."""
    return (*LOCAL, *(rule for need in NEEDS if has(job, need) for rule in _with(need)))


def documented() -> tuple[DocumentedRule, ...]:
    """Every rule there is, by code."""
    from runner_sync.verify import breakage

    found: tuple[DocumentedRule, ...] = (
        *LOCAL,
        *(rule for need in NEEDS for rule in _with(need)),
        *breakage.RULES,
        *_elsewhere(),
    )
    return tuple(sorted(found, key=lambda rule: rule.CODE))


def rule_texts() -> tuple[RuleText, ...]:
    """The documentation of every rule, by code."""
    return tuple(_text(rule) for rule in documented())


def find_rule(code: str) -> RuleText | None:
    """The documentation of one rule, by code (``RS203``) or name (``override-skipped``)."""
    return next((text for text in rule_texts() if code.upper() == text.code or code.lower() == text.name), None)


def _text(rule: DocumentedRule) -> RuleText:
    from runner_sync.model import RuleText

    doc = (rule.__doc__ or "").strip()
    title = " ".join(doc.split("\n\n", 1)[0].split())
    summary = title.removeprefix(f"{rule.CODE} {rule.NAME}: ")
    return RuleText(rule.CODE, rule.NAME, summary, doc, rule.SEVERITY)
