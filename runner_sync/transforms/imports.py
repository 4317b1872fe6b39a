"""Moves one name of a from-import to another module, on the line where it stands.

Comes in and goes out: libcst statement lines, inside this package only. May touch: libcst only.

A name imported alone is changed on its line; one among others gets a line of its own directly below. A merge by lines
then sees one changed or one added line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import libcst as cst

from runner_sync.profile import NameRewrite
from runner_sync.transforms.concrete_tree import chain, dotted
from runner_sync.transforms.scopes import absolute_module

Line: TypeAlias = cst.SimpleStatementLine | cst.SimpleStatementSuite


@dataclass(frozen=True, slots=True)
class Move:
    """A change of an import line: each row's ``name`` of ``module`` becomes its ``new_name`` of ``new_module``.

    ``within`` is the module that contains the line, for relative imports.
    """

    rows: tuple[NameRewrite, ...]
    within: str

    def __call__(self, line: Line) -> Any:
        """The line, or several, with the names moved; the same line when it imports none of them."""
        before: list[cst.BaseSmallStatement] = []
        below: list[cst.ImportFrom] = []
        for statement in line.body:
            if isinstance(statement, cst.ImportFrom):
                statement, *others = self._parted(statement)
                below.extend(others)
            before.append(statement)
        return _followed(line.with_changes(body=before), below) if below else line.with_changes(body=before)

    def _parted(self, statement: cst.ImportFrom) -> list[cst.ImportFrom]:
        """The statement that takes the place of ``statement``, then one for each other target module.

        The first has the names that are not moved; if all are, those of the first target.
        """
        module = absolute_module(statement, self.within)
        rows = {row.name: row for row in self.rows if row.module == module}
        groups: dict[str, list[cst.ImportAlias]] = {}
        for alias in _aliases(statement):
            row = rows.get(dotted(alias.name))
            renamed = alias.with_changes(name=chain(row.new_name)) if row else alias
            groups.setdefault(row.new_module if row else "", []).append(renamed)
        if set(groups) <= {""}:
            return [statement]
        place = "" if "" in groups else next(iter(groups))
        others = [cst.ImportFrom(chain(to), _on_one_line(names)) for to, names in groups.items() if to != place]
        return [_in_place(statement, groups[place], module=place), *others]


def _in_place(statement: cst.ImportFrom, names: list[cst.ImportAlias], *, module: str) -> cst.ImportFrom:
    # A trailing comma belongs to the list, not to the name that happened to be last.
    names[-1] = names[-1].with_changes(comma=_aliases(statement)[-1].comma)
    if not module:
        return statement.with_changes(names=names)
    return statement.with_changes(module=chain(module), relative=(), names=names)


def line_after(package: str, leaf: str) -> Callable[[Line], Any]:
    """A change that puts ``from package import leaf`` (``import leaf`` without a package) below an import line."""
    alias = cst.ImportAlias(cst.Name(leaf))
    added = cst.ImportFrom(chain(package), [alias]) if package else cst.Import([alias])
    return lambda line: _followed(line, [added])


def _aliases(statement: cst.ImportFrom) -> list[cst.ImportAlias]:
    return [] if isinstance(statement.names, cst.ImportStar) else list(statement.names)


def _on_one_line(aliases: list[cst.ImportAlias]) -> list[cst.ImportAlias]:
    return [alias.with_changes(comma=cst.MaybeSentinel.DEFAULT) for alias in aliases]


def _followed(line: Line, statements: Sequence[cst.ImportFrom | cst.Import]) -> Any:
    if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1:
        return cst.FlattenSentinel([line, *(cst.SimpleStatementLine([statement]) for statement in statements)])
    last = line.body[-1].with_changes(semicolon=cst.MaybeSentinel.DEFAULT)
    return line.with_changes(body=[*line.body[:-1], last, *statements])
