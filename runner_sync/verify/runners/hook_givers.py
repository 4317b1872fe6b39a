"""Finds the omni classes that have a hook of a model, without parsing those that cannot matter.

Comes in: the library of omni files, the name of a hook. Goes out: `Givers`. May touch: the texts of the trees, and what
the library reads.

The answer is of use only where no class has the hook without a GPU, so a file that asks for none ends the search.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from runner_sync.syntax import Function, statements_of, walk
from runner_sync.verify.answers import answered_once
from runner_sync.verify.runners.callees import may_ask_for_gpu, read_apart
from runner_sync.verify.runners.job import Library
from runner_sync.verify.runners.reading import ClassText, Reading


class Givers(NamedTuple):
    """The methods that have the name of a hook, each with its class, and the classes that assign the name."""

    methods: tuple[tuple[ClassText, Function], ...] = ()
    assigning: tuple[ClassText, ...] = ()


@answered_once
def find_givers(library: Library, hook: str) -> Givers | None:
    """Return the classes of omni with a hook; ``None`` if some cannot be told, or have it without asking for a GPU."""
    if library.surroundings is None:
        return None
    gives = re.compile(rf"\bdef {hook}\b|\b{hook}\s*(?::[^=\n]+)?=[^=]|\bsetattr\([^,()]*,\s*[\"']{hook}[\"']")
    readings: list[Reading] = []
    for path in library.surroundings.find_having(hook, "vllm-omni"):
        reading = read_apart(library, path)
        if reading is not None and gives.search(reading.text):
            if not may_ask_for_gpu(library, reading) and "Protocol" not in reading.text:
                return None
            readings.append(reading)
    givers = [_find_in(reading, hook) for reading in readings]
    known = [one for one in givers if one is not None]
    if len(known) < len(givers) or library.surroundings.is_member(hook):  # models of vLLM's may have it, too
        return None
    return Givers(
        tuple(method for one in known for method in one.methods),
        tuple(owner for one in known for owner in one.assigning),
    )


def _find_in(reading: Reading, hook: str) -> Givers | None:
    """Return what one file has; ``None`` if it has the hook in another way than a class of the module."""
    methods = tuple((owner, f) for owner in reading.classes.values() for f in owner.methods.get(hook, ()))
    assigning = tuple(owner for owner in reading.classes.values() if any(_list_assigned(owner, hook)))
    shown = {id(function) for _, function in methods} | {
        id(node) for owner in assigning for node in _list_assigned(owner, hook)
    }
    return Givers(methods, assigning) if all(id(n) in shown for n in reading.nodes if _gives(n, hook)) else None


def _list_assigned(owner: ClassText, hook: str) -> Iterator[ast.AST]:
    """Yield the targets in a class that set a hook of its objects."""
    for statement in statements_of(owner.node.body):
        for node in walk(statement):
            match node:
                case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()) if name == hook:
                    yield node
                case ast.Name(id=name, ctx=ast.Store()) if name == hook and not isinstance(statement, Function):
                    yield node


def _gives(node: ast.AST, hook: str) -> bool:
    """Whether a node defines or assigns a name, or may do so with ``setattr``."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return name == hook
        case ast.Attribute(attr=name, ctx=ast.Store()):
            return name == hook
        case ast.Call(func=ast.Name(id="setattr"), args=[_, ast.Constant(value=name), *_]):
            return bool(name == hook)
    return False
