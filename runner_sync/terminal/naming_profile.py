"""The commands that a run tells people to type, for the profile and the configuration that this run was told to take.

Comes in: options, texts, errors, a report. Goes out: the same with ``--config`` and ``--profile`` behind each command
of this tool. May touch: nothing. Where a configuration that is found unasked names the profile there is nothing to add:
the next command reads it, too.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from runner_sync.errors import InputError

if TYPE_CHECKING:
    from runner_sync.model import Report
    from runner_sync.sync.options import OmniOptions

_COMMAND = re.compile(r"\brunner-sync (?:upgrade|check|verify|blocks|explain|lock|hoist)\b")


def named_by(options: OmniOptions) -> str:
    """The options that name the configuration and the profile of a run, as a shell takes them; empty for none."""
    given = (("--config", options.config), ("--profile", options.profile))
    return shlex.join(word for option, value in given if value is not None for word in (option, str(value)))


def in_text(text: str, options: OmniOptions) -> str:
    """``text`` with commands for the profile of this run; as it is where none was asked for."""
    words = named_by(options)
    return _COMMAND.sub(lambda found: f"{found[0]} {words}", text) if words else text


@contextmanager
def in_errors(options: OmniOptions) -> Iterator[None]:
    """The same in the one sentence of an error."""
    try:
        yield
    except InputError as error:
        raise InputError(in_text(str(error), options)) from error


def in_report(report: Report, options: OmniOptions) -> Report:
    """``report`` with commands for the profile of this run; those that its renderers name are, too."""
    words = named_by(options)
    if not words:
        return report

    def named(text: str) -> str:
        return in_text(text, options)

    return replace(
        report,
        profile=words,
        findings=tuple(replace(one, message=named(one.message), fix=named(one.fix)) for one in report.findings),
        reviews=tuple(replace(item, reason=named(item.reason)) for item in report.reviews),
        notes=tuple(map(named, report.notes)),
    )
