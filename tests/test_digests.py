"""Digests of code: equal for equal code, in every Python."""

from __future__ import annotations

import hashlib

import pytest

from runner_sync.digests import digest
from runner_sync.errors import InputError


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("def f(a, b):\n    return a\n", "def f(a,\n      b,\n):\n    # why\n    return (a)\n"),
        ("    def f(self):\n        x = 'a'\n", 'def f(self):\n    x = "a"'),
        ('def f():\n    """Doc.\n\n    More.\n    """\n', 'def f():\n        """Doc.\n\n        More."""\n'),
        ("@d\nclass A(B):\n", "@d\nclass A( B ):  # note\n"),
        ("    x: int = 1\n", "x: int = 0x1  # one\n"),
        ("    # lead\n    y = 2\n", "y = 2\n"),
        ("    # lead\n\n  # odd\n    def f(self): pass\n", "def f(self): pass\n"),
    ],
    ids=["layout", "depth and quotes", "docstring layout", "class header", "field", "comment", "odd comment depth"],
)  # fmt: skip
def test_digest_ignores_layout(one: str, other: str) -> None:
    assert digest(one) == digest(other)
    assert len(digest(one)) == 64


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x = 1\n", "x = 2\n"),
        ("x = 1\n", "x = True\n"),
        ("x = 1\n", "x = 1.0\n"),
        ("x = 'a\\n  b'\n", "x = 'a\\nb'\n"),
        ("f(a=1)\n", "f(1)\n"),
        ("f(*a)\n", "f(**a)\n"),
        ("def f(a, b): pass\n", "def f(a, *, b): pass\n"),
        ("if a:\n    b()\nc()\n", "if a:\n    b()\n    c()\n"),
        ("x = f'{a!r}'\n", "x = f'{a!s}'\n"),
        ("del a\n", "a\n"),
        ("def f():\n    'Doc.'\n", "def f():\n    'Dog.'\n"),
        ("async def f(): pass\n", "def f(): pass\n"),
        ("x: int\n", "x: str\n"),
        ('    x = """a\n    b"""\n', '    x = """a\n  b"""\n'),
    ],
)
def test_digest_sees_every_change_of_meaning(one: str, other: str) -> None:
    assert digest(one) != digest(other)


def test_a_digest_is_the_same_in_every_python() -> None:
    # Committed locks rest on this form, written down by hand from the grammar of the ast module.
    tree = "(FunctionDef name=str:'f' args=(arguments args=(arg arg=str:'a')) body=(Return value=(Name id=str:'a')))"
    assert digest("def f(a):\n    return a\n") == hashlib.sha256(tree.encode()).hexdigest()


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        pytest.param(
            'f"{x!r:{a}{b}}"\n',
            "(Expr value=(JoinedStr values=(FormattedValue value=(Name id=str:'x') conversion=int:114"
            " format_spec=(JoinedStr values=(FormattedValue value=(Name id=str:'a') conversion=int:-1)"
            "(FormattedValue value=(Name id=str:'b') conversion=int:-1)))))",
            id="Python 3.12 has an empty constant behind the fields of a format",
        ),
        pytest.param(
            "f'{x:}'\n",
            "(Expr value=(JoinedStr values=(FormattedValue value=(Name id=str:'x') conversion=int:-1"
            " format_spec=(JoinedStr))))",
            id="an empty format",
        ),
        pytest.param(
            '"""A.\n\n\x0c    b\n    c\n    """\n',
            r"(Expr value=(Constant value=str:'A.\n\n b\nc'))",
            id="a form feed at the margin, which Python 3.13 no longer takes for indentation",
        ),
    ],
)
def test_what_pythons_parse_or_dedent_otherwise_has_one_digest(text: str, tree: str) -> None:
    assert digest(text) == hashlib.sha256(tree.encode()).hexdigest()


def test_digest_refuses_what_does_not_parse() -> None:
    with pytest.raises(InputError, match=r"the unit starting with 'def f\(:' does not parse"):
        digest("def f(:\n")
