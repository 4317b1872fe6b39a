"""Normalise keyword arguments: ``f(**{"k": v})`` becomes ``f(k=v)``.

Comes in: a syntax tree. Goes out: the same tree, edited in place. May touch: nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from keyword import iskeyword

from runner_sync.syntax import walk

_UNPACKED = re.compile(r"\*\*[\s(]*\{")


def spell_out_keywords(tree: ast.Module, source: str) -> None:
    """Replace dictionary displays that a call unpacks by keyword arguments.

    Leaves alone: a dictionary with a key that is not a name, and a call that would pass a keyword twice.
    """
    if not _UNPACKED.search(source):
        return
    for node in walk(tree):
        if isinstance(node, ast.Call):
            spelled = [keyword for written in node.keywords for keyword in _spell_out(written)]
            names = [keyword.arg for keyword in spelled if keyword.arg]
            if len(names) == len(set(names)):
                node.keywords = spelled


def _spell_out(written: ast.keyword) -> Iterator[ast.keyword]:
    unpacked = written.value
    if written.arg is None and isinstance(unpacked, ast.Dict):
        names = [key.value if isinstance(key, ast.Constant) else None for key in unpacked.keys]
        keywords = [
            ast.keyword(name, value)
            for name, value in zip(names, unpacked.values, strict=True)
            if isinstance(name, str) and name.isidentifier() and not iskeyword(name)
        ]
        if keywords and len(keywords) == len(names):
            yield from keywords
            return
    yield written
