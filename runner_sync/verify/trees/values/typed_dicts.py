"""The keys of a ``TypedDict``, all or the required ones.

Comes in: the classes of a world and one of them. Goes out: its keys, or ``None`` for another class or one with an
unknown base. May touch: nothing.
"""

from __future__ import annotations

import ast

from runner_sync.syntax import generic_of
from runner_sync.verify.trees.classes import Classes, ClassInfo

_MAX_DEPTH = 6
"""Base classes followed in a chain; beyond that the keys count as unknown."""


def required_keys_of(classes: Classes, info: ClassInfo) -> frozenset[str] | None:
    """Return the keys that a dictionary of this type must have."""
    return keys_of(classes, info, is_required=True)


def keys_of(classes: Classes, info: ClassInfo, depth: int = 0, *, is_required: bool = False) -> frozenset[str] | None:
    """Return the keys that a dictionary of this type may have (with ``is_required``, must have), with inherited
    keys."""
    found = {name for name in info.written if info.written_in_body(name)}
    if is_required:
        found = {name for name in found if _is_required(info, name)}
    if not info.node.bases or info.methods or depth > _MAX_DEPTH:
        return None
    for base in info.node.bases:
        if ast.unparse(generic_of(base)).rpartition(".")[2] == "TypedDict":
            continue
        inner = [classes.info(definition) for definition in classes.world.bases(info.module, base)]
        keys = [keys_of(classes, one, depth + 1, is_required=is_required) if one is not None else None for one in inner]
        if not keys or None in keys:
            return None
        found.update(key for some in keys for key in some or ())
    return frozenset(found)


def _is_required(info: ClassInfo, name: str) -> bool:
    """Whether a key is required, by ``Required`` or ``NotRequired`` in its annotation, else by ``total`` of the
    class."""
    annotations = [ast.unparse(a.annotation) for a in info.written_in_body(name) if a.annotation is not None]
    if any("Required" in text for text in annotations):
        return not any("NotRequired" in text for text in annotations)
    # timid: a class with any `total=…` counts as `total=False`.
    return bool(annotations) and not any(keyword.arg == "total" for keyword in info.node.keywords)
