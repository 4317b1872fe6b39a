"""Split the text of one module into units exactly: ``join(split(text)) == text`` for every text that parses.

Comes in: source text. Goes out: ``Module`` values, ``model.Unit`` lists, edited ``Module`` values, class bases as data.
May touch: nothing (standard library ``ast`` and ``tokenize`` only; sources are parsed, never executed).

Submodules are imported on first use, so that ``check``, which only reads, does not load the editing code.

- ``splitting`` cuts a text into ``pieces``; ``listing`` and ``texts`` read the units, ``beside`` definitions that are
  no units;
- ``changing`` edits units, and ``bases`` reads and edits class heads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner_sync.doors import part_loader

if TYPE_CHECKING:
    from runner_sync.units.bases import BaseClass, BaseOrigin, class_bases, set_bases
    from runner_sync.units.changing import insert_definition, insert_member, reindent, replace_units
    from runner_sync.units.listing import has_class, record_classes, units
    from runner_sync.units.pieces import ClassPiece, Module, Piece, join, split_lines
    from runner_sync.units.splitting import split

__all__ = [
    "BaseClass",
    "BaseOrigin",
    "ClassPiece",
    "Module",
    "Piece",
    "class_bases",
    "has_class",
    "insert_definition",
    "insert_member",
    "join",
    "record_classes",
    "reindent",
    "replace_units",
    "set_bases",
    "split",
    "split_lines",
    "units",
]

_MODULES = {
    "bases": "BaseClass BaseOrigin class_bases set_bases",
    "changing": "insert_definition insert_member reindent replace_units",
    "listing": "has_class record_classes units",
    "pieces": "ClassPiece join Module Piece split_lines",
    "splitting": "split",
}

__getattr__ = part_loader(__name__, _MODULES)
