"""The keys of a ``TypedDict``.

Comes in: the classes of a world and one of them. Goes out: its keys, ``None`` for a class that is none, or where a base
cannot be told. May touch: nothing.
"""

from __future__ import annotations

import ast

from runner_sync.verify.classes import Classes, ClassInfo

_MAX_DEPTH = 6


def keys_of(classes: Classes, info: ClassInfo, depth: int = 0) -> frozenset[str] | None:
    """The keys that a dictionary of this type may have, its own and those of its bases."""
    found = {name for name in info.written if info.written_in_body(name)}
    if not info.node.bases or info.methods or depth > _MAX_DEPTH:
        return None
    for base in info.node.bases:
        text = ast.unparse(base.value if isinstance(base, ast.Subscript) else base)
        if text.rpartition(".")[2] == "TypedDict":
            continue
        inner = [classes.info(definition) for definition in classes.world.resolve(info.module, text)]
        keys = [keys_of(classes, one, depth + 1) if one is not None else None for one in inner]
        if not keys or None in keys:
            return None
        found.update(key for some in keys for key in some or ())
    return frozenset(found)
