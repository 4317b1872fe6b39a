"""Finds methods that only hand over to kernels of the GPU, such as Triton's.

Comes in: the library of omni files, a function. Goes out: whether the function does anything for another platform. May
touch: what the library reads.

Such a package decides by itself whether its kernels can run, so the method that calls it mentions none::

    from vllm_omni.attention.fish_backend import attach_bounds   # imports fish_attn, which imports fish_triton

    attach_bounds(attn_metadata)
"""

from __future__ import annotations

import ast
import re

from runner_sync.naming import Import, imported_by
from runner_sync.profile import Profile
from runner_sync.syntax import Function, walk
from runner_sync.verify.answers import answered_once
from runner_sync.verify.runners.job import Library
from runner_sync.verify.runners.reading import Reading, dotted

_Place = ast.Attribute | ast.Subscript


def hands_to_kernels(library: Library, reading: Reading, function: Function) -> bool:
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
