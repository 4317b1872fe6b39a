"""The pieces into which a module's text is cut.

Comes in and goes out: frozen dataclasses of ``str``. Every line of a module is in exactly one piece, in file order, so
``join`` is concatenation. May touch: nothing.
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
    """Whole lines. ``name`` is unique among neighbours (``x``, ``x#2``) and empty for trivia (blank lines,
    comments)."""

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
    """Text of ``module``: the exact inverse of ``split``."""
    return "".join(piece.text for piece in module.pieces)


def split_lines(text: str) -> list[str]:
    """Lines of ``text`` with their endings, counted the way Python's tokenizer counts them."""
    # str.splitlines also cuts at form feeds and Unicode separators, which Python's own line count does not.
    return StringIO(text, newline="").readlines()


def flat(module: Module) -> Iterator[tuple[str, Piece]]:
    """Every leaf piece in file order with its qualified name; trivia has no name (``""``)."""
    for piece in module.pieces:
        if isinstance(piece, Piece):
            yield piece.name, piece
            continue
        for part in piece.parts:
            yield qualify(piece.name, part), part


def qualify(class_name: str, part: Piece) -> str:
    """Qualified name of one part of a class; that of the header is the class name."""
    if part.kind == "header":
        return class_name
    return f"{class_name}.{part.name}" if part.name else ""
