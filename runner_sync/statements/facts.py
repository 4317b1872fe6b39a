"""Read what one statement sets, reads, calls and defines from its syntax, and cache the result.

Comes in: the canonical text of a statement or a head. Goes out: ``Facts``. May touch: nothing.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from functools import lru_cache
from typing import NamedTuple

from runner_sync.statements.assigning import assignments_of
from runner_sync.statements.mentioning import mentions, parameters
from runner_sync.statements.parsing import before_clause
from runner_sync.syntax import Function, dotted_name

NONE: frozenset[str] = frozenset()


class Facts(NamedTuple):
    """The facts about one statement, or the head of a suite.

    ``targets`` are the single targets of an assignment (``rows``, ``self.rows``), and ``value`` its value, if that is a
    name or attribute. ``attributes`` are those set by a statement of any form, such as ``with g() as self.n:``.
    ``called`` is the function of a call that is the whole statement or the assigned value. ``declares`` is a name
    annotated without a value, ``defines`` the name of a function or class. ``opens`` are the names that a ``with``
    binds, and ``enters`` its context managers. For the others see ``dataflow``.
    """

    targets: tuple[str, ...] = ()
    value: str = ""
    called: str = ""
    declares: str = ""
    defines: str = ""
    opens: frozenset[str] = NONE
    enters: frozenset[str] = NONE
    reads: frozenset[str] = NONE
    uses: frozenset[str] = NONE
    binds: frozenset[str] = NONE
    sets: frozenset[str] = NONE
    rebinds: frozenset[str] = NONE
    attributes: frozenset[str] = NONE


NOTHING = Facts()


@lru_cache(maxsize=16384)
def read_facts(canon: str, compound: bool, clause: bool) -> Facts:
    """Return the facts about a statement; ``NOTHING`` if it does not parse, only names if the line has two
    statements."""
    source = f"{canon}:\n pass" if compound else canon
    try:
        body = ast.parse((before_clause(canon) if clause else "") + DECORATORS.sub("", source)).body
    except SyntaxError:
        return NOTHING
    found = defaultdict[str, set[str]](set)
    for mention in mentions(body):
        found[mention.kind].add(mention.name)
    if compound and isinstance(body[0], Function):
        found["binds"].update(parameter.arg for parameter in parameters(body[0]))
    names = Facts(
        reads=frozenset(found["reads"] | found["updates"] | found["deletes"]),
        uses=frozenset(found["reads"]),
        binds=frozenset(found["binds"] | found["updates"]),
        sets=frozenset(found["binds"]),
    )
    return names if len(body) > 1 else _add_form(names._replace(attributes=_find_attributes(body[0])), body[0])


def _find_attributes(statement: ast.stmt) -> frozenset[str]:
    targets = (target for target, _, _ in assignments_of(statement) if isinstance(target, ast.Attribute))
    return frozenset(name for target in targets if (name := dotted_name(target)) is not None)


DECORATORS = re.compile(r"^@.*? (?=(?:async )?(?:def|class) \w+\()")


def _add_form(names: Facts, statement: ast.stmt) -> Facts:
    match statement:
        case ast.Assign() | ast.AnnAssign():
            targets = [target for target, _, _ in assignments_of(statement)]
            target_texts = tuple(dotted_name(target) or ast.unparse(target) for target in targets)
            is_declared = statement.value is None and isinstance(targets[0], ast.Name)
            return names._replace(
                targets=target_texts,
                value=dotted_name(statement.value) or "" if statement.value is not None else "",
                called=_get_called(statement.value),
                declares=target_texts[0] if is_declared else "",
                rebinds=names.sets & names.uses,
            )
        case ast.Expr(value=value):
            return names._replace(called=_get_called(value))
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return names._replace(defines=name)
        case ast.With(items=items) | ast.AsyncWith(items=items):
            opened = (item.optional_vars for item in items)
            return names._replace(
                opens=frozenset(one.id for one in opened if isinstance(one, ast.Name)),
                enters=frozenset(ast.unparse(item.context_expr) for item in items),
            )
    return names


def _get_called(value: ast.expr | None) -> str:
    """Return the function of a call, awaited or not; of a chain the first: ``rows.of`` for ``rows.of(batch).cpu()``."""
    if isinstance(value, ast.Await):
        return _get_called(value.value)
    if not isinstance(value, ast.Call):
        return ""
    function = value.func
    if name := dotted_name(function):
        return name
    while isinstance(function, ast.Attribute | ast.Subscript):
        function = function.value
    return _get_called(function)
