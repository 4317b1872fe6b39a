"""Describe a rule.

Goes out: frozen dataclasses. May touch: nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from runner_sync.model.words import Severity


@dataclass(frozen=True, slots=True)
class RuleText:
    """The documentation of one rule of ``check`` and ``verify``: code, short name, one sentence, the whole text."""

    code: str
    name: str
    summary: str
    text: str
    severity: Severity = "warning"
