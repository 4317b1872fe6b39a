"""The commands that a run tells people to type, for the profile that this run was told to take.

Comes in: texts, a report. Goes out: the same with ``--profile`` behind each command of this tool. May touch: nothing.
Where the configuration names the profile there is nothing to add: the next command reads it, too.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runner_sync.model import Report

_COMMAND = re.compile(r"\brunner-sync (?:upgrade|check|verify|blocks|explain|lock|hoist)\b")


def in_text(text: str, profile: str | None) -> str:
    """``text`` with commands that take ``profile``; as it is where none was asked for by name."""
    return _COMMAND.sub(rf"\g<0> --profile {profile}", text) if profile is not None else text


def in_report(report: Report, profile: str | None) -> Report:
    """``report`` with commands that take ``profile``; those that its renderers name take it, too."""
    if profile is None:
        return report

    def named(text: str) -> str:
        return in_text(text, profile)

    return replace(
        report,
        profile=profile,
        findings=tuple(replace(one, message=named(one.message), fix=named(one.fix)) for one in report.findings),
        reviews=tuple(replace(item, reason=named(item.reason)) for item in report.reviews),
        notes=tuple(map(named, report.notes)),
    )
