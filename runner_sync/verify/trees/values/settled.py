"""Whether a function itself settles what a field holds, whatever the annotation of the field says.

Comes in: a `Program`, a frame of it and a read of a field. Goes out: answers. May touch: nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from runner_sync.syntax import dotted_name, reached_from, walk, without_items
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.values.unset import is_decided_by
from runner_sync.verify.trees.values.uses import COMPARED, Place, place_at


def is_settled_here(program: Program, frame: Frame, read: ast.expr) -> bool:
    """Whether the function may know the value of a field better than its annotation: it stores the field, constructs
    the object, tests the field or a local that holds it, or asks the object before it reads the field."""
    fields = [part for part in _find_sources(frame, read) if isinstance(part, ast.Attribute)]
    names = {field.attr for field in fields} - {""}
    if any(_sets_field(node, names) for node in frame.nodes()) or any(_is_made(program, frame, one) for one in fields):
        return True
    holders = {target for node in frame.nodes() for target in _find_holders(node, names)}
    holders |= {part.id for part in _find_sources(frame, read) if isinstance(part, ast.Name)}
    if any(_is_about(node, names, holders) and is_tested(place_at(frame, node)) for node in _loads(frame)):
        return True
    roots = [[*reached_from(field)][-1] for field in fields]
    owners = {root.id for root in roots if isinstance(root, ast.Name) and not frame.is_self(root)}
    return is_decided_by(owners & set(frame.bound), frame.function, read)


def is_tested(place: Place) -> bool:
    """Whether the code tests what a value is, or has a default for it."""
    return place.is_tested or place.use in COMPARED | {"alternative", "asked", "truth"}


def _find_sources(frame: Frame, read: ast.expr) -> Iterator[ast.expr]:
    """Yield an expression without items and calls around it; and for a local, also those of what it is bound to."""
    inner = without_items(read)
    yield inner
    for node in frame.bound.get(inner.id, ()) if isinstance(inner, ast.Name) else ():
        value = getattr(node, "value", None) or getattr(node, "iter", None)
        yield from (part for part in (walk(value) if value is not None else ()) if isinstance(part, ast.Attribute))


def _sets_field(node: ast.AST, names: set[str]) -> bool:
    """Whether a node stores a field of one of ``names``, or hands its value or its name to a call."""
    match node:
        case ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()) | ast.keyword(arg=str(name)):
            return name in names
        case ast.Call(args=[_, ast.Constant(value=str(name)), *_]):
            return name in names
    return False


def _is_made(program: Program, frame: Frame, field: ast.Attribute) -> bool:
    """Whether the function calls the class of an object, or something of that class."""
    classes = {info.name for mro in program.mros_of(frame, field.value) for info in mro.classes}
    calls = (dotted_name(node.func) or "" for node in frame.nodes() if isinstance(node, ast.Call))
    return any(not classes.isdisjoint(called.split(".")) for called in calls)


def _find_holders(node: ast.AST, names: set[str]) -> Iterator[str]:
    """Yield the locals that an assignment binds to a field of one of ``names``, alone or in a larger expression."""
    match node:
        case ast.Assign(targets=targets, value=value):
            pass
        case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
            targets = [target]
        case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
            targets = [target]
        case _:
            return
    if any(isinstance(part, ast.Attribute) and part.attr in names for part in walk(value)):
        yield from (part.id for target in targets for part in walk(target) if isinstance(part, ast.Name))


def _loads(frame: Frame) -> Iterator[ast.expr]:
    for node in frame.nodes():
        match node:
            case ast.Attribute(ctx=ast.Load()) | ast.Name(ctx=ast.Load()) | ast.NamedExpr():
                yield node


def _is_about(node: ast.expr, names: set[str], holders: set[str]) -> bool:
    match node:
        case ast.Attribute(attr=name):
            return name in names
        case ast.Name(id=name) | ast.NamedExpr(target=ast.Name(id=name)):
            return name in holders
    return False
