"""The one walk over syntax trees finds what ``ast.walk`` finds; where heads end, what branches hold, whom a method
hands on to."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from runner_sync.statements.parents import parents_called
from runner_sync.statements.parsing import tree_of
from runner_sync.syntax import (
    attribute_by_name,
    first_line,
    head_end,
    is_indented,
    last_word,
    same_code,
    statement_at,
    statements_of,
    walk,
    walk_suites,
)

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


@pytest.mark.parametrize(
    ("text", "head"),
    [
        ("class Größe: ...", "class Größe"),
        ("class A(B, metaclass=C): ...", "class A(B, metaclass=C"),
        ("async def run(): ...", "async def run"),
        ("def run(a, *, b='é'): ...", "def run(a, *, b='é'"),
        ("def run(a=1, **more): ...", "def run(a=1, **more"),
        ("@wrapped(1)\ndef run(a) -> 'é': ...", "def run(a) -> 'é'"),
    ],
)
def test_where_a_head_ends(text: str, head: str) -> None:
    (node,) = ast.parse(text).body
    assert isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
    line, column = head_end(node)
    assert text.split("\n")[line - 1].encode()[:column].decode() == head
    assert first_line(node) == 1


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the syntax is new in Python 3.12")
@pytest.mark.parametrize(
    ("text", "head"), [("class A[T]: ...", "class A[T"), ("def run[T: int](): ...", "def run[T: int")]
)
def test_type_parameters_belong_to_the_head(text: str, head: str) -> None:
    test_where_a_head_ends(text, head)


BRANCHES = """\
if a:
    one = 1
else:
    two = 2
for x in y:
    three = 3
try:
    four = 4
except* E:
    five = 5
finally:
    six = 6
match a:
    case 1:
        seven = 7
def run():
    hidden = 1
class A:
    hidden = 1
"""


DECORATED = """\
@decorated(
    a,
)
def run(
    self,
):
    @inner
    def call():
        return 1

    if a: one = 1
"""


@pytest.mark.parametrize(
    ("line", "expected"),
    [(1, (1, 6)), (2, (1, 6)), (4, (1, 6)), (6, (1, 6)), (7, (7, 8)), (8, (7, 8)), (9, (9, 9)), (10, (10, 10))],
)
def test_the_head_of_a_decorated_definition_is_one_statement(line: int, expected: tuple[int, int]) -> None:
    assert statement_at(ast.parse(DECORATED), line) == expected


def test_a_statement_on_the_line_of_its_head() -> None:
    assert statement_at(ast.parse(DECORATED), 11) == (11, 11)


def test_statements_of_every_branch_but_of_no_other_scope() -> None:
    names = [ast.unparse(s).split(" ")[0] for s in statements_of(ast.parse(BRANCHES).body) if isinstance(s, ast.Assign)]
    assert names == ["one", "two", "three", "four", "six", "five", "seven"]


@pytest.mark.parametrize(
    ("text", "other", "same"),
    [("a=1 # é\n", "a = 1\n", True), ("a = 1", "a = 2", False), ("a =", "a =", False)],
)
def test_layout_and_comments_do_not_count(text: str, other: str, same: bool) -> None:
    assert same_code(text, other) == same


@pytest.mark.parametrize(
    ("line", "parents"),
    [
        ("return super().run(rows)", {"super()"}),
        ("super(Runner, self).run(rows)", {"super()"}),
        ("rows = [Base.run(self, row) for row in rows] + super().run()", {"Base", "super()"}),
        ("Base.run(cls)", {"Base"}),
        ("model_runner_v1.Base.run(self, rows)", {"Base"}),
        ("Base.run(self=self, rows=rows)", {"Base"}),
        ("Base.run(*more)", {"Base"}),
        ("Base.run(rows)", set()),
        ("Base.run(*rows)", set()),
        ("Base.run(more)", set()),
        ("Base.run(rows=self)", set()),
        ("Base.run()", set()),
        ("Base().run(self)", set()),
        ("base.run(self)", set()),
        ("self.model.run(self)", set()),
        ("super().walk(rows)", set()),
        ("hook = super().run", set()),
        ("log('super().run(rows)')", set()),
    ],
)
def test_a_method_hands_on_to_the_parents_whose_method_of_that_name_it_calls(line: str, parents: set[str]) -> None:
    assert parents_called(ast.parse(f"def run(self, rows, *more):\n    {line}"), "run") == parents


@pytest.mark.parametrize(
    ("head", "call", "parents"),
    [
        ("runner", "Base.run(runner)", {"Base"}),
        ("runner", "Base.run(self=runner)", {"Base"}),
        ("*args, **kwargs", "Base.run(*args, **kwargs)", {"Base"}),
        ("runner, rows", "Base.run(rows)", set()),
        ("*args", "Base.run(args)", set()),
        ("**runner", "Base.run(runner)", set()),
    ],
)
def test_a_method_may_call_itself_by_another_name_than_self(head: str, call: str, parents: set[str]) -> None:
    assert parents_called(ast.parse(f"def run({head}):\n    {call}"), "run") == parents


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("rows", "rows"),
        ("self.rows", "rows"),
        ("self.rows[0].step", "step"),
        ("self.rows[a.b]", "rows[a.b]"),
        ("rows[a.b]", "rows[a.b]"),
        ("f(x.y)", "f(x.y)"),
        ("self.f(x.y)(z.w)[k.m]", "f(x.y)(z.w)[k.m]"),
        ("self.f(x.y).rows", "rows"),
        ("(a.b + c.d).rows", "rows"),
        ("a.b + c.d", "a.b + c.d"),
        ("'a.b'", "'a.b'"),
        ("1.5", "1.5"),
        ("typing.Generic[t.T]", "Generic[t.T]"),
    ],
)
def test_the_last_word(text: str, word: str) -> None:
    assert last_word(ast.parse(text, mode="eval").body) == word


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("getattr(self, 'rows', None)", "rows"),
        ("hasattr(self, 'rows')", "rows"),
        ("has_all(self, 'rows', 'lines')", "rows"),
        ("getattr(other, 'rows', None)", ""),
        ("getattr(self, rows)", ""),
        ("self.log('rows')", ""),
        ("note(self)", ""),
        ("self.rows", ""),
    ],
)
def test_an_attribute_by_its_name(text: str, name: str) -> None:
    assert attribute_by_name(ast.parse(text, mode="eval").body) == name


def test_suites_hold_the_nodes_of_the_walk_that_are_no_expressions() -> None:
    tree = ast.parse(Path(ast.__file__).read_text("utf-8") + EVERYTHING)
    held = ast.stmt | ast.ExceptHandler | ast.match_case | ast.Module
    assert walk_suites(tree) == [node for node in walk(tree) if isinstance(node, held)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("    def run(self):\n        pass\n", True),
        ("# about it\n\n    # and more\n    def run(self):\n        pass\n", True),
        ("\f    def run(self):\n        pass\n", True),
        ("  \f    def run(self):\n        pass\n", True),
        ("\f\n    def run(self):\n        pass\n", True),
        ("    \fdef run(self):\n        pass\n", False),
        ("\fdef run(self):\n        pass\n", False),
        ("\f    # about it\ndef run(self):\n    pass\n", False),
        ("    # about it\n", False),
    ],
)
def test_a_form_feed_starts_the_indentation_of_a_unit_anew(text: str, expected: bool) -> None:
    """Python counts the columns from the form feed on, so code right behind one is not indented."""
    assert is_indented(text) == expected
    assert not tree_of(text).body or isinstance(tree_of(text).body[0], ast.FunctionDef)
