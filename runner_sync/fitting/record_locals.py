"""Chooses the local names under which a method unpacks the new fields of a record.

Comes in: the text of a method, that of its GPU twin, and fields. Goes out: a name for each field. May touch: nothing.

    twin   (rows, staged_cpu) = self.state        the record has the field cpu now
    NPU    (rows,) = self.state; cpu = None       unpacked as staged_cpu: cpu is another local here
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from runner_sync.fitting.record_lists import Fields, find_unpackings, is_match
from runner_sync.statements import tree_of
from runner_sync.syntax import parameter_names, walk
from runner_sync.texts.assignment import find_early_reads


def choose_locals(added: Sequence[str], text: str, wanted: Fields, twins: Mapping[str, str]) -> dict[str, str]:
    """Return ``{field: name}`` for the ``added`` fields of a record whose fields are now ``wanted``.

    ``twins`` are the twin's names for them. A name that the method binds otherwise gets an underscore in front, unless
    a statement reads it before it is bound and so waits for the value.
    """
    taken = _find_other_bindings(text, wanted) - find_early_reads(text).keys()
    names = dict[str, str]()
    for field in added:
        name = twins.get(field, field)
        while name in taken or name in names.values():
            name = f"_{name}"
        names[field] = name
    return names


def find_names_in_twin(twin: str, declared: Fields) -> dict[str, str]:
    """Return ``{field: name}`` of the first unpacking of the record in the twin's text; empty if there is none.

    ``declared`` are the fields of the twin's own record, in order.
    """
    whole = (names for names in map(_element_names, find_unpackings(twin)) if is_match(names, declared))
    return dict(zip(declared, next(whole, []), strict=False))


def is_unread(added: Sequence[str], twins: Mapping[str, str], twin: str) -> bool:
    """Whether the twin unpacks the ``added`` fields, under the names ``twins``, and reads none of them."""
    names = {twins.get(field, "") for field in added}
    loads = (node for node in walk(tree_of(twin)) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
    return "" not in names and names.isdisjoint(node.id for node in loads)


def _find_other_bindings(text: str, wanted: Fields) -> set[str]:
    """Return the names that a method binds, without those bound only by complete unpackings of the same record."""
    complete = [target for target in find_unpackings(text) if is_match(_element_names(target), wanted)]
    same = {_get_position(element) for target in complete for element in target.elts}
    stored = (node for node in walk(tree_of(text)) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    return {node.id for node in stored if _get_position(node) not in same} | parameter_names(tree_of(text))


def _element_names(target: ast.Tuple) -> list[str]:
    return [ast.unparse(element) for element in target.elts]


def _get_position(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset
