"""Let plain values (defaults, text, readable paths) bypass typer's conversion, and colour help like all other output.

Goes out: classes to pass to ``typer.Typer`` as ``cls``. May touch: typer's constants; asks whether a path is readable.

For the first value that it converts, even ``None``, typer imports pydantic: 0.08 s, where a whole ``check`` from the
lock takes 0.33 s. typer creates its option objects itself, so these classes replace the conversion method of each
object. Every other value, and every complaint, is left to typer.

typer decides on colours from the environment when its module is imported, and takes ``GITHUB_ACTIONS`` for a terminal:
help that is written to a file there would be full of escapes.
"""

from __future__ import annotations

import os
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

from typer.core import TyperCommand, TyperGroup

from runner_sync.terminal.outputs import FORMATS_OF

if TYPE_CHECKING:
    from collections.abc import Callable

_TEXT = (str, str | None)
_TEXTS = (list[str], list[str] | None)
_PATH = (Path, Path | None)


class _Plain:
    """A command or a group that converts no plain values, and whose help shows no value after flags."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options and arguments, including ``--help``."""
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            if getattr(parameter, "is_flag", False) and parameter.metavar is None:
                parameter.metavar = ""
            if parameter.name == "output" and parameter.help:
                parameter.help = parameter.help.format(formats=", ".join(FORMATS_OF[ctx.command.name]))
        return parameters

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line into ``ctx``; returns the remaining arguments."""
        kinds = get_type_hints(ctx.command.callback)
        for parameter in self.get_params(ctx):
            parameter.process_value = partial(_convert, parameter, kinds.get(parameter.name), parameter.process_value)
        rest: list[str] = super().parse_args(ctx, args)  # type: ignore[misc]
        return rest

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help, in colour if the screen is coloured, and without the line breaks of docstrings."""
        from typer import rich_utils  # takes 0.05 s, and only help needs it

        is_colored = ctx.find_root().obj.is_colored()
        rich_utils.FORCE_TERMINAL = is_colored
        rich_utils.COLOR_SYSTEM = "standard" if is_colored else None
        ctx.command.help = re.sub(r"(?<!\n)\n(?!\n)", " ", ctx.command.help or "")
        super().format_help(ctx, formatter)  # type: ignore[misc]


class PlainCommand(_Plain, TyperCommand):
    """A command for ``app.command``."""


class PlainGroup(_Plain, TyperGroup):
    """A group for ``typer.Typer``."""


def _convert(parameter: Any, kind: Any, convert: Callable[[Any, Any], Any], context: Any, value: Any) -> Any:
    """Return the value of a parameter of type ``kind`` for the text ``value``; ``convert`` is typer's own
    conversion."""
    if value is parameter.default and not parameter.required:
        plain = () if value is None and parameter.multiple else value
        return parameter.callback(context, parameter, plain) if parameter.callback is not None else plain
    if parameter.callback is not None:
        return convert(context, value)
    if (kind in _TEXT and isinstance(value, str)) or (kind in _TEXTS and isinstance(value, list)):
        return value
    if kind in _PATH and isinstance(value, str) and os.access(value, os.R_OK):
        return Path(value)
    return convert(context, value)
