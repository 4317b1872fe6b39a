"""Complete the commands in a report with the trees of its run, so that they run as printed.

    `runner-sync upgrade --only X`  ->  `runner-sync upgrade --ascend-path ../vllm-ascend --only X`
    without a vllm-ascend           ->  `runner-sync upgrade --gpu-only --only X`

Comes in: a report, the options and trees of its run. Goes out: the report. May touch: nothing. A tree that the next
command finds by environment, configuration or lock needs no option.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from runner_sync.model import Report
from runner_sync.sync.options import RunOptions
from runner_sync.sync.trees import inputs

_COMMAND = re.compile(r"\brunner-sync (upgrade|lock|hoist|blocks)\b(?=([^`]*))")
_NAMES_TREES = re.compile(r"--(?:ascend|vllm)-(?:path|version)\b")


def complete_commands(report: Report, options: RunOptions, given: inputs.Inputs) -> Report:
    """Complete the commands in messages, fixes, reasons and notes of ``report``."""

    def complete(text: str) -> str:
        return _COMMAND.sub(
            lambda found: " ".join(
                [found[0], *map(shlex.quote, _find_missing_options(found[1], found[2], options, given))]
            ),
            text,
        )

    return replace(
        report,
        findings=tuple(replace(one, message=complete(one.message), fix=complete(one.fix)) for one in report.findings),
        reviews=tuple(replace(item, reason=complete(item.reason)) for item in report.reviews),
        blocks=tuple(
            replace(block, twin=complete(block.twin) if block.twin else block.twin) for block in report.blocks
        ),
        notes=tuple(map(complete, report.notes)),
    )


def _find_missing_options(command: str, rest: str, options: RunOptions, given: inputs.Inputs) -> Sequence[str]:
    """Return the options that ``command`` lacks, where ``rest`` are its other words."""
    if _NAMES_TREES.search(rest):
        return ()
    path = options.omni.path
    place = ["--omni-path", str(path)] if path not in (None, Path()) else []
    return [
        *place,
        *options.tree_words(),
        *(_options_without_followed(command, rest, given) if _needs_followed(given) else ()),
    ]


def _needs_followed(given: inputs.Inputs) -> bool:
    """Whether the next command finds no tree to follow: this run had none, and the lock names no release."""
    return given.followed is None and not inputs.is_version(given.lock.inputs.get(given.profile.followed, ""))


def _options_without_followed(command: str, rest: str, given: inputs.Inputs) -> Sequence[str]:
    """Return the option that makes a command run without a tree to follow, or else the one that must name a tree."""
    if command in ("hoist", "blocks") or "--gpu-only" in rest:
        return ()
    if command == "upgrade" and given.profile.has_twins:
        return ("--gpu-only",)
    return (f"--{inputs.option_word(given.profile.followed)}-path", "DIR")
