"""All rules by code, and their documentation.

Comes in: nothing. Goes out: the rule modules that `check` runs, and `RuleText`s read from docstrings. May touch:
nothing. Rules are listed by hand in the order of their codes; the RS3xx modules are imported only when somebody asks,
because `check` must start fast.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Protocol

from runner_sync.model import RuleText, Severity
from runner_sync.verify.job import Subject
from runner_sync.verify.reading import Hit
from runner_sync.verify.rules import (
    rs101_body_drift,
    rs102_upstream_gone,
    rs103_redundant_copy,
    rs104_signature_drift,
    rs110_edited_outside_block,
    rs201_gpu_changed,
    rs202_statement_missing,
    rs203_override_skipped,
    rs204_mixin_missing,
    rs205_state_fields,
    rs206_model_sampler,
    rs207_hook_missing,
    rs390_type_checker,
    rs401_markers,
    rs402_device_calls,
    rs403_gpu_imports,
    rs404_runtime_mode_keyword,
    rs405_duplicate,
    rs406_review_comment,
    rs407_locals_guard,
    rs408_value_reset,
    rs409_fixed_size,
    rs410_conflict_markers,
    rs490_untranslated,
    rs491_unused_ignore,
    rs492_ignore_without_reason,
    rs501_hoist,
)


class DocumentedRule(Protocol):
    """A module with the three constants and a docstring."""

    __doc__: str | None
    CODE: str
    NAME: str
    SEVERITY: Severity


class Rule(DocumentedRule, Protocol):
    """A rule that looks at one NPU module."""

    def find(self, subject: Subject, /) -> Iterable[Hit]: ...


RULES: tuple[Rule, ...] = (
    rs101_body_drift,
    rs102_upstream_gone,
    rs103_redundant_copy,
    rs104_signature_drift,
    rs110_edited_outside_block,
    rs201_gpu_changed,
    rs202_statement_missing,
    rs203_override_skipped,
    rs204_mixin_missing,
    rs205_state_fields,
    rs206_model_sampler,
    rs207_hook_missing,
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

# Reported by another part of the tool: text only.
ELSEWHERE: tuple[DocumentedRule, ...] = (
    rs390_type_checker,
    rs410_conflict_markers,
    rs490_untranslated,
    rs491_unused_ignore,
    rs492_ignore_without_reason,
)


def documented() -> tuple[DocumentedRule, ...]:
    """Every rule there is, by code."""
    from runner_sync.verify import breakage

    return tuple(sorted((*RULES, *breakage.RULES, *ELSEWHERE), key=lambda rule: rule.CODE))


def rule_texts() -> tuple[RuleText, ...]:
    """The documentation of every rule, by code."""
    return tuple(_text(rule) for rule in documented())


def find_rule(code: str) -> RuleText | None:
    """The documentation of one rule, by code (``RS203``) or name (``override-skipped``)."""
    return next((text for text in rule_texts() if code.upper() == text.code or code.lower() == text.name), None)


def _text(rule: DocumentedRule) -> RuleText:
    doc = (rule.__doc__ or "").strip()
    title = " ".join(doc.split("\n\n", 1)[0].split())
    summary = title.removeprefix(f"{rule.CODE} {rule.NAME}: ")
    return RuleText(rule.CODE, rule.NAME, summary, doc, rule.SEVERITY)


_PREFIX = re.compile(r"RS\d{0,3}|ALL")


def is_selected(code: str, select: Iterable[str], ignore: Iterable[str]) -> bool:
    """Whether ``code`` is to be reported: the longer prefix wins, `ignore` wins a draw; no `select` means all."""
    wanted = max((len(p) for p in _prefixes(select) if code.startswith(p)), default=-1 if list(select) else 0)
    unwanted = max((len(p) for p in _prefixes(ignore) if code.startswith(p)), default=-1)
    return wanted > unwanted


def _prefixes(codes: Iterable[str]) -> Iterator[str]:
    return ("" if code.upper() == "ALL" else code.upper() for code in codes)
