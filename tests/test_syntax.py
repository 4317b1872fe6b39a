"""The one walk over syntax trees finds what ``ast.walk`` finds."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from runner_sync.syntax import walk

EVERYTHING = '''
@decorated(a, *b, **c)
class Runner(Base, metaclass=Meta):
    """Text."""
    field: int = 1

    async def run(self, a, /, b=1, *args, c, d=2, **kwargs) -> list[int]:
        global total
        nonlocal_ = lambda x, *y: (yield x)
        async with self.open() as file, self.lock:
            async for row in file:
                total += await row
        for (i, *rest), j.k in zip(a, b):
            del rest[i:j:2], a.b
        else:
            pass
        try:
            assert a, "why"
        except* (KeyError, ValueError) as error:
            raise Failure(f"{error!r:>{i}}") from error
        finally:
            while (n := next(a)) is not None and not b or -c < d:
                continue
        match a:
            case {"k": [1, *others], **more} | Point(x=0) | None as whole if whole:
                return {**more, "x": {i for i in others if i}, **{k: v for k, v in more}}
        return [x async for x in a if x], (y for y in b), a if b else c, ...


import os.path as p, sys
from . import a as b, c
from ..d import *
'''


@pytest.mark.parametrize("source", [EVERYTHING, *(Path(f) for f in (ast.__file__, pytest.__file__))])
def test_every_node_but_contexts_level_by_level(source: str | Path) -> None:
    tree = ast.parse(source if isinstance(source, str) else source.read_text("utf-8"))
    assert walk(tree) == [node for node in ast.walk(tree) if not isinstance(node, ast.expr_context)]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the syntax is new in Python 3.12")
def test_type_parameters_are_nodes() -> None:
    tree = ast.parse("type Row[T: int] = list[T]\ndef run[*Ts, **P](a: T): ...\n")
    assert walk(tree) == [node for node in ast.walk(tree) if not isinstance(node, ast.expr_context)]
