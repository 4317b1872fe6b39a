"""Move a name of a from-import to another module without moving the line.

Comes in and goes out: libcst statement lines, inside this package only. May touch: libcst only.

A name imported alone is changed on its line; a name imported with others gets its own line directly below. A line merge
then sees one changed or one added line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import libcst as cst

from runner_sync.profile import NameRewrite
from runner_sync.transforms.concrete_tree import get_dotted_name, make_chain
from runner_sync.transforms.scopes import resolve_module

Line: TypeAlias = cst.SimpleStatementLine | cst.SimpleStatementSuite


@dataclass(frozen=True, slots=True)
class Move:
    """A change of an import line: each row's ``name`` of ``module`` becomes its ``new_name`` of ``new_module``.

    ``within`` is the module that contains the line, for relative imports.
    """

    rows: tuple[NameRewrite, ...]
    within: str

    def __call__(self, line: Line) -> Any:
        """Return the line, or several, with the names moved; the same line if it imports none of them."""
        before: list[cst.BaseSmallStatement] = []
        below: list[cst.ImportFrom] = []
        for statement in line.body:
            if isinstance(statement, cst.ImportFrom):
                statement, *others = self._split(statement)
                below.extend(others)
            before.append(statement)
        return _put_below(line.with_changes(body=before), below) if below else line.with_changes(body=before)

    def _split(self, statement: cst.ImportFrom) -> list[cst.ImportFrom]:
        """Return the replacement of ``statement``, then one statement for each other target module.

        The replacement has the names that do not move or, if all move, the names of the first target.
        """
        module = resolve_module(statement, self.within)
        rows = {row.name: row for row in self.rows if row.module == module}
        groups: dict[str, list[cst.ImportAlias]] = {}
        for alias in _get_aliases(statement):
            row = rows.get(get_dotted_name(alias.name))
            renamed = alias.with_changes(name=make_chain(row.new_name)) if row else alias
            groups.setdefault(row.new_module if row else "", []).append(renamed)
        if set(groups) <= {""}:
            return [statement]
        place = "" if "" in groups else next(iter(groups))
        others = [cst.ImportFrom(make_chain(to), _reset_commas(names)) for to, names in groups.items() if to != place]
        return [_replace_names(statement, groups[place], module=place), *others]


def _replace_names(statement: cst.ImportFrom, names: list[cst.ImportAlias], *, module: str) -> cst.ImportFrom:
    # A trailing comma belongs to the list and not to its last name.
    names[-1] = names[-1].with_changes(comma=_get_aliases(statement)[-1].comma)
    if not module:
        return statement.with_changes(names=names)
    return statement.with_changes(module=make_chain(module), relative=(), names=names)


def make_import_below(package: str, leaf: str) -> Callable[[Line], Any]:
    """Return a change that puts ``from package import leaf`` (``import leaf`` without a package) below an import
    line."""
    alias = cst.ImportAlias(cst.Name(leaf))
    added = cst.ImportFrom(make_chain(package), [alias]) if package else cst.Import([alias])
    return lambda line: _put_below(line, [added])


def _get_aliases(statement: cst.ImportFrom) -> list[cst.ImportAlias]:
    return [] if isinstance(statement.names, cst.ImportStar) else list(statement.names)


def _reset_commas(aliases: list[cst.ImportAlias]) -> list[cst.ImportAlias]:
    return [alias.with_changes(comma=cst.MaybeSentinel.DEFAULT) for alias in aliases]


def _put_below(line: Line, statements: Sequence[cst.ImportFrom | cst.Import]) -> Any:
    if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1:
        return cst.FlattenSentinel([line, *(cst.SimpleStatementLine([statement]) for statement in statements)])
    last = line.body[-1].with_changes(semicolon=cst.MaybeSentinel.DEFAULT)
    return line.with_changes(body=[*line.body[:-1], last, *statements])
