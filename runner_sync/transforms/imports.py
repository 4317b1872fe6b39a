"""Move one name of a from-import to another module, on the line where it stands.

In and out: libcst statement lines, inside this room only. May touch: libcst only.
The line stays where it is: a name that stood alone takes its line along, one among others gets a line of its own
right below, so that line based merges see one changed or one added line.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import libcst as cst

from runner_sync.nodes import chain, dotted
from runner_sync.profile import NameRewrite
from runner_sync.transforms.scopes import absolute_module

Line: TypeAlias = cst.SimpleStatementLine | cst.SimpleStatementSuite


@dataclass(frozen=True, slots=True)
class Move:
    """A change of an import line: ``row.name`` of ``row.module`` becomes ``row.new_name`` of ``row.new_module``.

    ``within`` is the module the line stands in, for relative imports.
    """

    row: NameRewrite
    within: str

    def __call__(self, line: Line) -> Any:
        """The line, or two lines, with the name moved; the same line when it does not import the name."""
        for at, statement in enumerate(line.body):
            if isinstance(statement, cst.ImportFrom) and self._names(statement):
                return self._moved(line, at, statement)
        return line

    def _names(self, statement: cst.ImportFrom) -> bool:
        same = absolute_module(statement, self.within) == self.row.module
        return same and any(dotted(alias.name) == self.row.name for alias in _aliases(statement))

    def _moved(self, line: Line, at: int, statement: cst.ImportFrom) -> Any:
        aliases = _aliases(statement)
        renamed = [
            alias.with_changes(name=chain(self.row.new_name))
            for alias in aliases
            if dotted(alias.name) == self.row.name
        ]
        target = chain(self.row.new_module)
        if len(renamed) == len(aliases):
            return _with_statement(line, at, statement.with_changes(module=target, relative=(), names=renamed))
        kept = [alias for alias in aliases if dotted(alias.name) != self.row.name]
        # A trailing comma belongs to the list, not to the name that happened to be last.
        kept[-1] = kept[-1].with_changes(comma=aliases[-1].comma)
        first = _with_statement(line, at, statement.with_changes(names=kept))
        return _followed(first, cst.ImportFrom(target, _on_one_line(renamed)))


def line_after(package: str, leaf: str) -> Callable[[Line], Any]:
    """A change that puts ``from package import leaf`` (``import leaf`` without a package) below an import line."""
    alias = cst.ImportAlias(cst.Name(leaf))
    added = cst.ImportFrom(chain(package), [alias]) if package else cst.Import([alias])
    return lambda line: _followed(line, added)


def _aliases(statement: cst.ImportFrom) -> list[cst.ImportAlias]:
    return [] if isinstance(statement.names, cst.ImportStar) else list(statement.names)


def _on_one_line(aliases: list[cst.ImportAlias]) -> list[cst.ImportAlias]:
    return [alias.with_changes(comma=cst.MaybeSentinel.DEFAULT) for alias in aliases]


def _with_statement(line: Line, at: int, statement: cst.BaseSmallStatement) -> Line:
    return line.with_changes(body=[*line.body[:at], statement, *line.body[at + 1 :]])


def _followed(line: Line, statement: cst.ImportFrom | cst.Import) -> Any:
    if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1:
        return cst.FlattenSentinel([line, cst.SimpleStatementLine([statement])])
    last = line.body[-1].with_changes(semicolon=cst.MaybeSentinel.DEFAULT)
    return line.with_changes(body=[*line.body[:-1], last, statement])
