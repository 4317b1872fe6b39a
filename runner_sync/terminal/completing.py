"""Make the completions of options and arguments, which ``sync.completion`` finds when a shell asks.

Goes out: functions from the beginning of a word to whole words. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Callable

import typer

from runner_sync.render import FORMATS
from runner_sync.terminal.outputs import FORMATS_OF


def complete_format(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the formats of the command being typed that begin with ``incomplete``."""
    return [name for name in FORMATS_OF.get(ctx.info_name or "", FORMATS) if name.startswith(incomplete)]


def complete(what: str, *rest: str) -> Callable[[str], list[str]]:
    """Return a completion with the function ``what`` of ``sync.completion``, which gets the word and ``rest``."""

    def find(incomplete: str) -> list[str]:
        from runner_sync.sync import completion

        found: list[str] = getattr(completion, what)(incomplete, *rest)
        return found

    return find


_PROJECTS = ("vllm-omni", "vllm-ascend", "vllm")
BASES = {project: complete("releases", project) for project in _PROJECTS}
RELEASES = {project: complete("releases", project, "latest") for project in _PROJECTS}
