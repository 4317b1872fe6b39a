"""List the contents of a module as ``model.Unit`` values.

Comes in: a ``Module``. Goes out: units with qualified names and line numbers. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from runner_sync.model import Unit, UnitKind
from runner_sync.units.pieces import ClassPiece, Module, Piece, PieceKind, qualify, split_lines


def units(module: Module, *, whole: Collection[str] = ()) -> list[Unit]:
    """Return the units of ``module`` in file order. They never overlap, and exclude blank lines and free comments
    (trivia).

    A class is one unit for its header (named like the class), one for its docstring (``Class.__doc__``) and one per
    member. Each class named in ``whole`` is a single unit.
    """
    found: list[Unit] = []
    line = 1
    for kind, name, text in _iter_rows(module, whole):
        count = len(split_lines(text))
        if unit_kind := _UNIT_KINDS.get(kind):
            found.append(Unit(module.path, name, unit_kind, text, line, line + count - 1))
        line += count
    return found


_UNIT_KINDS: dict[PieceKind, UnitKind] = {
    "header": "class",
    "class": "class",
    "method": "method",
    "function": "function",
    "field": "field",
    "statement": "statement",
    "import": "import",
}


def _iter_rows(module: Module, whole: Collection[str]) -> Iterator[tuple[PieceKind, str, str]]:
    for piece in module.pieces:
        if isinstance(piece, Piece) or piece.name in whole:
            yield piece.kind, piece.name, piece.text
            continue
        for part in piece.parts:
            yield part.kind, qualify(piece.name, part), part.text


def unit_table(module: Module) -> dict[str, Unit]:
    """Return methods, functions, fields and record classes (whole) of ``module`` by qualified name."""
    whole = frozenset(record_classes(module))
    kinds = ("method", "function", "field")
    found = units(module, whole=whole)
    return {u.qualname: u for u in found if u.kind in kinds or (u.kind == "class" and u.qualname in whole)}


def has_class(module: Module, name: str) -> bool:
    """Whether ``module`` defines class ``name`` at its top level."""
    return any(piece.name == name for piece in module.pieces if isinstance(piece, ClassPiece))


def find_class(module: Module, name: str) -> ClassPiece:
    """Return the class piece called ``name``. Raises ``KeyError`` if there is none."""
    for piece in module.pieces:
        if isinstance(piece, ClassPiece) and piece.name == name:
            return piece
    raise KeyError(f"{module.path or 'the module'} has no class {name}")


def record_classes(module: Module) -> tuple[str, ...]:
    """Return the names of the classes without methods (``NamedTuple``, enums, plain dataclasses), in file order."""
    return tuple(
        piece.name
        for piece in module.pieces
        if isinstance(piece, ClassPiece) and not any(part.kind == "method" for part in piece.parts)
    )
