"""Add this run's ``--config`` and ``--profile`` to the commands that its texts tell people to type.

    `runner-sync lock`  ->  `runner-sync lock --profile gpu`

Comes in: options, texts, errors, a report. Goes out: the same with the options after each command of this tool. May
touch: nothing. A profile named in the tree's configuration needs no option, because the next command reads it, too.
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

_COMMAND = re.compile(r"\brunner-sync (?:upgrade|check|verify|blocks|explain|settle|lock|hoist)\b")


def format_options(options: OmniOptions) -> str:
    """Return the options that name configuration and profile of a run, quoted for a shell; empty if there are none."""
    given = (("--config", options.config), ("--profile", options.profile))
    return shlex.join(word for option, value in given if value is not None for word in (option, str(value)))


def add_to_text(text: str, options: OmniOptions) -> str:
    """Add the options after each command in ``text``; changes nothing if there are none."""
    words = format_options(options)
    return _COMMAND.sub(lambda found: f"{found[0]} {words}", text) if words else text


@contextmanager
def add_to_errors(options: OmniOptions) -> Iterator[None]:
    """Add the options to the commands in the message of an ``InputError``."""
    try:
        yield
    except InputError as error:
        raise InputError(add_to_text(str(error), options)) from error


def add_to_report(report: Report, options: OmniOptions) -> Report:
    """Add the options after each command in the report's texts; ``profile`` holds them for commands that renderers
    name."""
    words = format_options(options)
    if not words:
        return report

    def named(text: str) -> str:
        return add_to_text(text, options)

    return replace(
        report,
        profile=words,
        findings=tuple(replace(one, message=named(one.message), fix=named(one.fix)) for one in report.findings),
        reviews=tuple(replace(item, reason=named(item.reason)) for item in report.reviews),
        notes=tuple(map(named, report.notes)),
        advice=named(report.advice),
    )
