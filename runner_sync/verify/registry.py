"""Loads rules by code, and reads their documentation.

Comes in: nothing, or a job. Goes out: the rule modules that `check` runs on it, and `RuleText`s read from docstrings.
May touch: nothing. Rules that cannot run on a job (no lock, no upstream, no trees) are not imported, because `check`
runs in every pull request and must start fast.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol, cast

from runner_sync.verify import rules
from runner_sync.verify.catalog import BESIDE, OF_RUNNERS, OF_TREES, RUN_BY_OTHERS, can_run, code_of

if TYPE_CHECKING:
    from runner_sync.model import RuleText, Severity
    from runner_sync.verify.check_job import CheckJob
    from runner_sync.verify.hits import Hit
    from runner_sync.verify.runners.job import Subject


class DocumentedRule(Protocol):
    """A module with the three constants and a docstring."""

    __doc__: str | None
    CODE: str
    NAME: str
    SEVERITY: Severity


class Rule(DocumentedRule, Protocol):
    """A rule that looks at one NPU module."""

    def find(self, subject: Subject, /) -> Iterable[Hit]: ...


def load_applicable(job: CheckJob) -> tuple[Rule, ...]:
    """Return the rules that can run on ``job``, apart from RS3xx, which look at whole trees."""
    return cast("tuple[Rule, ...]", rules.load([name for name in OF_RUNNERS if can_run(code_of(name), job)]))


def load_beside() -> tuple[Rule, ...]:
    """Return the rules that run on modules beside the runners."""
    return cast("tuple[Rule, ...]", rules.load(BESIDE))


def load_documented() -> tuple[DocumentedRule, ...]:
    """Return all rules, by code."""
    return cast("tuple[DocumentedRule, ...]", rules.load(sorted((*OF_RUNNERS, *OF_TREES, *RUN_BY_OTHERS))))


def rule_texts() -> tuple[RuleText, ...]:
    """Return the documentation of every rule, by code."""
    return tuple(_make_rule_text(rule) for rule in load_documented())


def find_rule(code: str) -> RuleText | None:
    """Return the documentation of one rule, by code (``RS203``) or name (``override-skipped``)."""
    return next((text for text in rule_texts() if code.upper() == text.code or code.lower() == text.name), None)


def _make_rule_text(rule: DocumentedRule) -> RuleText:
    from runner_sync.model import RuleText

    doc = (rule.__doc__ or "").strip()
    title = " ".join(doc.split("\n\n", 1)[0].split())
    summary = title.removeprefix(f"{rule.CODE} {rule.NAME}: ")
    return RuleText(rule.CODE, rule.NAME, summary, doc, rule.SEVERITY)
