"""Colour and fold text for a terminal without rich, whose import would slow ``check`` down.

Comes in: safe text. Goes out: the same text, folded to a width and coloured with ANSI codes if wanted. May touch:
nothing.
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass

from runner_sync.render.widths import add_filler, remove_filler

_CODES = {
    "bold": "1",
    "dim": "2",
    "red": "1;31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "magenta": "35",
    "cyan": "36",
}
_COMMENT = re.compile(r"`# [^`]*`")
_NO_BREAK = "\x00"
SEVERITY_STYLE = {"error": "red", "warning": "yellow", "info": "blue"}
PROVENANCE_STYLE = {"upstream": "cyan", "gpu": "magenta", "omni": "green"}


@dataclass(frozen=True, slots=True)
class Ink:
    """How to write: the width, and whether in colour."""

    color: bool
    width: int

    def paint(self, text: str, style: str) -> str:
        """Return ``text`` in ``style`` (a key of the colour table); unchanged without colour."""
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if self.color and text else text

    def fold(self, text: str, *, indent: str = "") -> str:
        """Fold prose at spaces. Words such as paths, and comments to paste, stay whole, so that they can be copied."""
        whole = _COMMENT.sub(lambda found: found[0].replace(" ", _NO_BREAK), text)
        folded = textwrap.fill(
            add_filler(whole),
            width=max(self.width, 40),
            initial_indent=indent,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
        return remove_filler(folded).replace(_NO_BREAK, " ")
