"""Tells which calls of the GPU side do nothing on another platform, although they name no device.

Comes in: the library of omni files, a class, a call as written in it. Goes out: whether the call is idle. May touch:
what the library reads.

What the callee does first decides, or what it hands over to::

    def schedule_write(self, rows):
        if not torch.cuda.is_available():     # and so ``drain_writes``, which returns without ``self._pending``,
            return                            # is idle, if nothing but this method sets that
        self._pending = copy(rows)

    def attach_bounds(self, metadata):
        from vllm_omni.attention.fish_backend import attach_upper_bounds   # a module around Triton kernels

        attach_upper_bounds(metadata)
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from runner_sync.naming import Import, imported_by
from runner_sync.profile import Profile
from runner_sync.syntax import Function, dotted_name, is_none, is_string, walk
from runner_sync.verify.answers import answered_once
from runner_sync.verify.runners.ancestry import find_ancestry
from runner_sync.verify.runners.job import Library
from runner_sync.verify.runners.reading import ClassText, Reading, dotted

_Place = ast.Attribute | ast.Subscript


class _Callee(NamedTuple):
    """A method of ``owner``."""

    owner: ClassText
    function: Function


def is_idle(library: Library, caller: ClassText, written: str) -> bool:
    """Whether a call in ``caller`` of ``self.method`` or ``self.attribute.method`` does nothing without a GPU."""
    found = [*_find_callees(library, caller, written)]
    return bool(found) and all(_does_nothing(library, callee) for callee in found)


def _find_callees(library: Library, caller: ClassText, written: str) -> Iterator[_Callee]:
    match written.split("."):
        case ["self", name]:
            owners = [caller]
        case ["self", attribute, name]:
            owners = [*_find_made_classes(library, caller, attribute)]
        case _:
            return
    for owner in owners:
        found = find_ancestry(library, owner).find(name)
        yield from (_Callee(found, function) for function in found.methods[name]) if found is not None else ()


def _find_made_classes(library: Library, owner: ClassText, attribute: str) -> Iterator[ClassText]:
    """Yield the omni classes of which the methods of a class make an attribute: ``self.cache = Cache(rows)``."""
    for one in find_ancestry(library, owner).classes:
        values = (value for _, value in _find_values(one, attribute) if isinstance(value, ast.Call))
        made = (library.find_class(one.reading, value.func) for value in values)
        yield from (found for found in made if found is not None)


def _find_values(owner: ClassText, attribute: str) -> Iterator[tuple[Function, ast.expr | None]]:
    """Yield what the methods of a class assign to an attribute of ``self``, each with the method."""
    for function in (function for functions in owner.methods.values() for function in functions):
        for node in walk(function):
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            if any(target is not None and dotted_name(target) == f"self.{attribute}" for target in targets):
                yield function, getattr(node, "value", None)


def _does_nothing(library: Library, callee: _Callee) -> bool:
    profile, reading = library.job.profile, callee.owner.reading
    return (
        _leaves_without_gpu(callee.function, profile)
        or _waits_for_gpu(callee, profile)
        or _hands_to_kernels(library, reading, callee.function)
    )


def _find_first_guard(function: Function) -> ast.expr | None:
    """Return the condition under which a function returns before it does anything."""
    passive = (ast.Import, ast.ImportFrom)
    match [one for one in function.body if not is_string(one) and not isinstance(one, passive)]:
        case [ast.If(test=test, body=[ast.Return(value=None | ast.Constant())]), *_]:
            return test
    return None


def _leaves_without_gpu(function: Function, profile: Profile) -> bool:
    """Whether a function begins with ``if not torch.cuda.is_available(): return``, or with a platform's answer."""
    gpu = profile.device[0]
    match _find_first_guard(function):
        case ast.UnaryOp(op=ast.Not(), operand=ast.Call(func=asked)):
            name = dotted(asked)
            return name == f"torch.{gpu}.is_available" or name.endswith(f"platform.is_{gpu}")
    return False


def _waits_for_gpu(callee: _Callee, profile: Profile) -> bool:
    """Whether a method begins with ``if self.x is None: return``, and only methods that need a GPU set ``x``."""
    match _find_first_guard(callee.function):
        case ast.Compare(left=ast.Attribute(value=ast.Name(id="self"), attr=name), ops=[ast.Is()], comparators=[none]):
            values = _find_values(callee.owner, name)
            return is_none(none) and all(is_none(value) or _leaves_without_gpu(f, profile) for f, value in values)
    return False


def _hands_to_kernels(library: Library, reading: Reading, function: Function) -> bool:
    """Whether a function of ``reading`` does nothing but call functions of modules around kernels."""
    nodes = walk(function)
    done = [n.value for n in nodes if isinstance(n, ast.Expr) and not isinstance(n.value, ast.Constant)]
    if not done or any(isinstance(n, _Place) and not isinstance(n.ctx, ast.Load) for n in nodes):
        return False
    imported = {**reading.imports, **{entry.bound: [entry] for entry in _find_imports(nodes, reading.path)}}
    called = [dotted(one.func) if isinstance(one, ast.Call) else "" for one in done]
    if not all(imported.get(name) for name in called):
        return False
    return all(_is_around_kernels(library, entry.module) for name in called for entry in imported[name])


@answered_once
def _is_around_kernels(library: Library, name: str) -> bool:
    """Whether an omni module imports kernels, itself or through its folder, and none of these texts names the NPU."""
    profile, folder = library.job.profile, name.rpartition(".")[0]
    pending, seen = [name], set[str]()
    has_kernels = False
    while pending:
        one = pending.pop()
        reading = library.module(one) if one.startswith(f"{folder}.") and one not in seen else None
        if reading is None:
            continue
        seen.add(one)
        if profile.device[1] in re.findall(r"[a-z]+", reading.text.lower()):
            return False
        imports = _find_imports(reading.nodes, reading.path)
        has_kernels = has_kernels or any(_is_kernel(entry, profile) for entry in imports)
        pending += [name for entry in imports for name in (entry.module, entry.dotted)]
    return has_kernels


def _is_kernel(entry: Import, profile: Profile) -> bool:
    """Whether an import brings a package that the profile lists as unported: ``vllm.triton_utils.triton``."""
    return any(word.removesuffix(".") in entry.dotted.split(".") for word in profile.unported)


def _find_imports(nodes: list[ast.AST], path: str) -> list[Import]:
    return [e for n in nodes if isinstance(n, ast.Import | ast.ImportFrom) for e in imported_by(n, path)]
