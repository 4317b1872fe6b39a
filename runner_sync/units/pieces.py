"""The pieces into which a module's text is cut.

Comes in and goes out: frozen dataclasses of ``str``. May touch: nothing. Every line of a module is in exactly one
piece, in file order, so ``join`` is concatenation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO
from typing import Literal

from runner_sync.model import UnitKind

PieceKind = UnitKind | Literal["header", "trivia"]


@dataclass(frozen=True, slots=True)
class Piece:
    """Whole lines. ``name`` is unique among siblings (``x``, ``x#2``) and empty for trivia (blank lines, comments)."""

    kind: PieceKind
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class ClassPiece:
    """A module-level class: first part the header (decorators and ``class`` line), then docstring and members."""

    name: str
    parts: tuple[Piece, ...]

    @property
    def kind(self) -> PieceKind:
        return "class"

    @property
    def text(self) -> str:
        """The exact source of the whole class."""
        return "".join(part.text for part in self.parts)


@dataclass(frozen=True, slots=True)
class Module:
    """One module as an ordered tuple of pieces that covers every line."""

    path: str
    pieces: tuple[Piece | ClassPiece, ...]


def join(module: Module) -> str:
    """Return the text of ``module``: the exact inverse of ``split``."""
    return "".join(piece.text for piece in module.pieces)


def split_lines(text: str) -> list[str]:
    """Return the lines of ``text`` with their endings, counted the way Python's tokenizer counts them."""
    # Unlike the tokenizer, str.splitlines also cuts at form feeds and Unicode separators.
    return StringIO(text, newline="").readlines()


def iter_leaves(module: Module) -> Iterator[tuple[str, Piece]]:
    """Yield every leaf piece in file order with its qualified name; trivia has no name (``""``)."""
    for piece in module.pieces:
        if isinstance(piece, Piece):
            yield piece.name, piece
            continue
        for part in piece.parts:
            yield qualify(piece.name, part), part


def qualify(class_name: str, part: Piece) -> str:
    """Return the qualified name of one part of a class; for the header, the class name."""
    if part.kind == "header":
        return class_name
    return f"{class_name}.{part.name}" if part.name else ""
