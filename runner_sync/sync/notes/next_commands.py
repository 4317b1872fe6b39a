"""Complete the commands in a report with the trees of its run, so that they run as printed.

    `runner-sync upgrade --only X`  ->  `runner-sync upgrade --ascend-path ../vllm-ascend --only X`
    without a vllm-ascend           ->  `runner-sync upgrade --gpu-only --only X`
    on a released tree              ->  `runner-sync upgrade --omni-version 0.20.0 --diff --only X`

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
from runner_sync.sync.platform_words import name_platform
from runner_sync.sync.trees import inputs

_COMMAND = re.compile(r"\brunner-sync (upgrade|lock|hoist|blocks|check|settle)\b(?=([^`]*))")
_WRITING = ("upgrade", "lock", "hoist")
_NAMES_TREES = re.compile(r"--(?:ascend|vllm)-(?:path|version)\b")


def complete_commands(report: Report, options: RunOptions, given: inputs.Inputs) -> Report:
    """Complete the commands in messages, fixes, reasons and notes of ``report``, and set its ``place``.

    These texts also get the names of the profile's platform and followed project.
    """

    def complete(text: str) -> str:
        return _COMMAND.sub(
            lambda found: " ".join(
                [found[0], *map(shlex.quote, _find_missing_options(found[1], found[2], options, given))]
            ),
            name_platform(text, given.profile),
        )

    return replace(
        report,
        findings=tuple(replace(one, message=complete(one.message), fix=complete(one.fix)) for one in report.findings),
        reviews=tuple(replace(item, reason=complete(item.reason)) for item in report.reviews),
        blocks=tuple(
            replace(block, twin=complete(block.twin) if block.twin else block.twin) for block in report.blocks
        ),
        notes=tuple(map(complete, report.notes)),
        advice=complete(report.advice),
        place=shlex.join(_name_omni_tree(options)),
    )


def _find_missing_options(command: str, rest: str, options: RunOptions, given: inputs.Inputs) -> Sequence[str]:
    """Return the options that ``command`` lacks, where ``rest`` are its other words."""
    if command == "settle":
        return _name_omni_tree(options) if options.omni.version is None else ()
    # A released tree cannot be written to, and a folder given by --out has the files of this run.
    is_shown = options.omni.version is not None and command in _WRITING and "--diff" not in rest.split()
    place = [*_name_omni_tree(options), *(["--diff"] if is_shown else [])]
    if _NAMES_TREES.search(rest):
        return place
    followed = _options_without_followed(command, rest, given) if _needs_followed(given) else ()
    return [*place, *options.tree_words(), *followed]


def _name_omni_tree(options: RunOptions) -> list[str]:
    """Return the options that name the omni tree; none for the current folder."""
    if options.omni.version is not None:
        return ["--omni-version", options.omni.version]
    path = options.omni.path
    return ["--omni-path", str(path)] if path not in (None, Path()) else []


def _needs_followed(given: inputs.Inputs) -> bool:
    """Whether the next command finds no tree to follow: this run had none, and the lock names no release."""
    return given.followed is None and not inputs.is_version(given.lock.inputs.get(given.profile.followed, ""))


def _options_without_followed(command: str, rest: str, given: inputs.Inputs) -> Sequence[str]:
    """Return the option that makes a command run without a tree to follow, or else the one that must name a tree."""
    if command not in ("upgrade", "lock") or "--gpu-only" in rest:
        return ()
    if command == "upgrade" and given.profile.has_twins:
        return ("--gpu-only",)
    return (f"--{inputs.option_word(given.profile.followed)}-path", "DIR")
