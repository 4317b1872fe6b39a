"""Name the file with too deeply nested code if a run ends in a ``RecursionError``.

Comes in: ``Inputs``. Goes out: an ``InputError`` that names the file. May touch: the trees, by reading.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager

from runner_sync.errors import InputError
from runner_sync.sync.trees import inputs
from runner_sync.syntax import children

DEEP = 100
"""A file whose syntax tree has fewer levels is not to blame; the released runners have 20."""


@contextmanager
def blame_deepest_file(given: inputs.Inputs) -> Iterator[None]:
    """Turn a ``RecursionError``, or an ``UnparsableText`` caused by one, into an ``InputError`` that names a file.

    That is the most deeply nested file among the runners, their GPU twins, the modules that they follow and vLLM's of
    them. If none has ``DEEP`` levels, the error is raised again.
    """
    try:
        yield
    except (RecursionError, ValueError) as error:  # `UnparsableText` is a ValueError; its room is slow to import
        if not any(isinstance(one, RecursionError) for one in (error, error.__cause__)):
            raise
        depth, path = max(((depth_of(text), path) for path, text in _read_modules(given)), default=(0, ""))
        if depth < DEEP:
            raise
        raise InputError(
            f"{path}: is nested too deeply to be read; take its longest expression or chain of conditions apart and "
            "run again."
        ) from error


def depth_of(text: str) -> int:
    """Return the levels of a text's syntax tree; 0 if it does not parse, ``len(text)`` if it is too deep to parse."""
    try:
        level: list[ast.AST] = [ast.parse(text)]
    except (RecursionError, MemoryError):
        return len(text)
    except (SyntaxError, ValueError):
        return 0
    depth = 0
    while level:
        depth, level = depth + 1, [inner for node in level for inner in children(node)]
    return depth


def _read_modules(given: inputs.Inputs) -> Iterator[tuple[str, str]]:
    """Yield path and text of each runner, GPU twin, followed module and vLLM's of it, from every tree that has it."""
    own = [path for module in given.profile.modules for path in module.paths]
    twins = [path for module in given.profile.modules for path in module.twin_paths]
    followed = [unit.path for module in given.profile.modules for unit in module.upstreams]
    vllm = [given.profile.vllm_of(module).path for module in given.profile.modules]
    for tree in given.trees.values():
        for path in dict.fromkeys([*own, *twins, *followed, *vllm]):
            text = tree.read(path)
            if text is not None:
                yield path, text
