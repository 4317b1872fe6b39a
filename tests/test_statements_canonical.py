"""Canonical text is made from the source of each node alone, and must be what the whole tree gives."""

from __future__ import annotations

import argparse
import ast
import asyncio
import dataclasses
import enum
import inspect
import textwrap
import tokenize
import typing
from collections.abc import Iterator
from pathlib import Path

import pytest

import runner_sync
from runner_sync.statements import flatten
from runner_sync.statements.canonical import canonical_expression, canonical_statement

STANDARD_LIBRARY = [argparse, ast, dataclasses, enum, inspect, textwrap, tokenize, typing, asyncio.base_events]
SOURCES = [
    *(Path(module.__file__ or "") for module in STANDARD_LIBRARY),
    *sorted((Path(runner_sync.__file__).parent / "merge").rglob("*.py")),
]


def simple_statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """The statements without a suite; annotations are normalised beyond what ``ast.unparse`` does."""
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and not hasattr(node, "body") and not isinstance(node, ast.AnnAssign | ast.Match):
            yield node


def heads(tree: ast.Module) -> Iterator[ast.expr]:
    """The expressions in the heads of compound statements."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If | ast.While):
            yield node.test
        elif isinstance(node, ast.For | ast.AsyncFor):
            yield from (node.target, node.iter)
        elif isinstance(node, ast.With | ast.AsyncWith):
            yield from (item.context_expr for item in node.items)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_a_statement_alone_reads_as_in_its_module(path: Path) -> None:
    text = path.read_text("utf-8")
    tree, lines = ast.parse(text), text.split("\n")
    for node in simple_statements(tree):
        assert canonical_statement(node, lines) == ast.unparse(node)
    for node in heads(tree):
        assert canonical_expression(node, lines) == ast.unparse(node)


@pytest.mark.parametrize(
    ("text", "canon"),
    [
        ("x = 'ä'; y = (1,\n  2)\n", ["x = 'ä'\ny = (1, 2)"]),
        ("if (yield_ := f(\n    a)) and b:\n    pass\n", ["if (yield_ := f(a)) and b", "pass"]),
        ("for a, *b in *c, d:\n    pass\n", ["for (a, *b) in (*c, d)", "pass"]),
        ("x = '''a\n  b'''\n", ["x = 'a\\n  b'"]),
        ("with (open('ö') as f,\n      g as h):\n    pass\n", ["with open('ö') as f, g as h", "pass"]),
        ("async def f():\n    return await g()\n", ["async def f()", "return await g()"]),
        ("x = f'{a!r:>{width}}' \\\n    'b'\n", ["x = f'{a!r:>{width}}b'"]),
        ("def f(a: 'int' = 1, *, b=(2)) -> None:\n    pass\n", ["def f(a: int=1, *, b=2) -> None", "pass"]),
        ("def f(\n    a, b\n): return a\n", ["def f(a, b)", "return a"]),
        ("class A(B,\n        C): x = 1\n", ["class A(B, C)", "x = 1"]),
        ("@(\n    d\n)\ndef f():\n    @e\n    def g(): pass\n", ["@d def f()", "@e\ndef g():\n    pass"]),
        ("def f():  # ä\n    # b\n\n    'ö'\n", ["def f()", "# b", "'ö'"]),
        ("    async def f(self):\n            pass\n", ["async def f(self)", "pass"]),
        ("\f@d\nclass A(B, metaclass=M):\n    x: int\n", ["@d class A(B, metaclass=M)", "x: int"]),
    ],
)
def test_forms_that_a_cut_could_break(text: str, canon: list[str]) -> None:
    assert [node.canon for node in flatten(text)] == canon
