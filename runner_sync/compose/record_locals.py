"""The local names under which a method unpacks the new fields of a record.

Comes in: the text of a method, that of its GPU twin, and fields. Goes out: a name for each field. May touch: nothing.

    twin   (rows, staged_cpu) = self.state        the record has the field cpu now
    NPU    (rows,) = self.state; cpu = None       unpacked as staged_cpu: cpu is another local here
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from runner_sync.compose.assignment import read_too_early
from runner_sync.compose.record_lists import Fields, agree, unpackings
from runner_sync.statements import tree_of
from runner_sync.syntax import parameter_names, walk


def locals_for(added: Sequence[str], text: str, wanted: Fields, twins: Mapping[str, str]) -> dict[str, str]:
    """``{field: name}`` for the ``added`` fields of a record whose fields are ``wanted`` now.

    ``twins`` are the names that the twin unpacks them under. A name that the method binds otherwise gets an underscore
    in front, unless a statement reads it before that and so waits for the value.
    """
    taken = _bound_otherwise(text, wanted) - read_too_early(text).keys()
    names = dict[str, str]()
    for field in added:
        name = twins.get(field, field)
        while name in taken or name in names.values():
            name = f"_{name}"
        names[field] = name
    return names


def names_in_twin(twin: str, declared: Fields) -> dict[str, str]:
    """``{field: name}`` of the first unpacking of the record in the twin's text; empty if there is none.

    ``declared`` are the fields of the twin's own record, in order.
    """
    whole = (names for names in map(_names, unpackings(twin)) if agree(names, declared))
    return dict(zip(declared, next(whole, []), strict=False))


def _bound_otherwise(text: str, wanted: Fields) -> set[str]:
    """The names that a method binds, apart from those that another, complete unpacking of the same record binds."""
    complete = [target for target in unpackings(text) if agree(_names(target), wanted)]
    same = {_place(element) for target in complete for element in target.elts}
    stored = (node for node in walk(tree_of(text)) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    return {node.id for node in stored if _place(node) not in same} | parameter_names(tree_of(text))


def _names(target: ast.Tuple) -> list[str]:
    return [ast.unparse(element) for element in target.elts]


def _place(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset
