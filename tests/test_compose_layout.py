"""Only what changed is formatted, with the settings of the target repository, and never what the code does."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

from runner_sync.compose.layout import format_changes
from runner_sync.compose.line_pairs import pair_lines

UGLY = "def  old( a ):\n  return   a\n"
SEPARATE = "\n\nKEEP = {  'a':1 }\n\n\n"


def laid_out(before: str, after: str, root: Path | None = None) -> str:
    """``format_changes``, run twice: the second run changes nothing."""
    made, failure = format_changes(before, after, path="runner.py", root=root)
    assert failure == ""
    assert ast.dump(ast.parse(made)) == ast.dump(ast.parse(after))
    assert format_changes(before, made, path="runner.py", root=root) == (made, "")
    return made


def test_a_changed_region_is_formatted_and_the_rest_keeps_its_bytes() -> None:
    before = f"{UGLY}{SEPARATE}x = 1\n"
    after = f"{UGLY}{SEPARATE}x = f( 1,2 )\n"
    assert laid_out(before, after) == f"{UGLY}{SEPARATE}x = f(1, 2)\n"


def test_nothing_changed_nothing_formatted() -> None:
    assert laid_out(UGLY, UGLY) == UGLY


def test_added_lines_are_formatted_in_a_file_that_is_not() -> None:
    after = f"{UGLY}{SEPARATE}def new( a ):\n    return f( a,1 )\n"
    assert laid_out(f"{UGLY}{SEPARATE}", after) == f"{UGLY}{SEPARATE}def new(a):\n    return f(a, 1)\n"


def test_a_long_call_is_split_at_the_house_width() -> None:
    call = f"x = f({', '.join(f'argument_{k}' for k in range(11))})\n"
    made = laid_out("x = 1\n", call)
    assert max(map(len, made.split("\n"))) <= 120
    assert made.count("\n") > 1


@pytest.mark.parametrize("name", ["ruff.toml", ".ruff.toml"])
def test_the_settings_of_the_repository_count(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("line-length = 35\n[format]\nquote-style = 'single'\n")
    after = "x = f('one', \"two\", 'three', 'four')\n"
    assert laid_out("x = 1\n", after, tmp_path) == "x = f(\n    'one', 'two', 'three', 'four'\n)\n"
    assert laid_out("x = 1\n", after) == 'x = f("one", "two", "three", "four")\n'


def test_settings_above_the_root_count(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.ruff.format]\nquote-style = 'single'\n")
    (tmp_path / "tree").mkdir()
    assert laid_out("x = 1\n", 'x = "a"\n', tmp_path / "tree") == "x = 'a'\n"


def test_a_file_of_the_tree_that_is_called_ruff_is_not_run(tmp_path: Path) -> None:
    (tmp_path / "ruff.py").write_text(f"open({str(tmp_path / 'has_run')!r}, 'w').close()\n", "utf-8")
    assert laid_out("x = 1\n", "x = f( 1 )\n", tmp_path) == "x = f(1)\n"
    assert not (tmp_path / "has_run").exists()


def test_a_relative_root_is_the_same_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.ruff.format]\nquote-style = 'single'\n")
    (tmp_path / "tree").mkdir()
    monkeypatch.chdir(tmp_path / "tree")
    assert laid_out("x = 1\n", 'x = "a"\n', Path()) == "x = 'a'\n"


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ("line-length = 'wide'\n", r"Failed to parse .*: TOML parse error at line 1, column 15: invalid type: string"),
        (
            "required-version = '==0.0.1'\n",
            r"Required version `==0\.0\.1` does not match the running version `[\d.]+`$",
        ),
        ("nobody-knows = 1\n", "unknown field `nobody-knows`"),
    ],
)
def test_settings_that_are_broken_leave_the_text_alone_and_say_so(settings: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "ruff.toml").write_text(settings)
    text, failure = format_changes("x = 1\n", "x = f( 1 )\n", path="runner.py", root=tmp_path)
    assert text == "x = f( 1 )\n"
    assert re.search(reason, failure)


def test_strings_and_comments_keep_their_text() -> None:
    text = 'x = """\n  a   b\n"""\ny = 1 #why\n'
    assert laid_out("", text) == 'x = """\n  a   b\n"""\ny = 1  # why\n'


def test_text_that_does_not_parse_is_left_alone() -> None:
    assert format_changes("x = 1\n", "x = f( 1\n", path="runner.py", root=None)[0] == "x = f( 1\n"


@pytest.mark.parametrize(
    ("trouble", "said"),
    [
        (FileNotFoundError(2, "No such file or directory"), "No such file or directory"),
        (subprocess.TimeoutExpired("ruff", 1), "not finished after 60 s"),
    ],
)
def test_without_ruff_the_text_is_left_alone(trouble: Exception, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_args: object, **_options: object) -> None:
        raise trouble

    monkeypatch.setattr(subprocess, "run", fail)
    assert format_changes("x = 1\n", "x = f( 1 )\n", path="runner.py", root=None) == ("x = f( 1 )\n", said)


def test_a_formatter_that_changes_the_code_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    def lie(command: list[str], **_options: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 0, stdout="x = f(2)\n")

    monkeypatch.setattr(subprocess, "run", lie)
    assert format_changes("x = 1\n", "x = f( 1 )\n", path="runner.py", root=None)[0] == "x = f( 1 )\n"


@pytest.mark.parametrize("pragma", ["# yapf: disable", "#yapf: disable", "# fmt: off"])
def test_what_changed_is_formatted_below_a_comment_that_turns_formatting_off(pragma: str) -> None:
    before = f"{pragma}\n{UGLY}{SEPARATE}x = 1\n"
    after = f"{pragma}\n{UGLY}{SEPARATE}x = self . f( 1,2 )\n"
    assert laid_out(before, after) == f"{pragma}\n{UGLY}{SEPARATE}x = self.f(1, 2)\n"


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param(
            "def f(\n    self,\n) -> tuple[A, B]:\n    pass\n",
            "def f(\n    self,\n    rows,\n) -> tuple[\n    A,\n    B,\n]:\n    pass\n",
            "def f(\n    self,\n    rows,\n) -> tuple[A, B]:\n    pass\n",
            id="a return type",
        ),
        pytest.param(
            "f(\n    g(a, b=1),\n    c,\n)\n",
            "f(\n    g(\n        a,\n        b=1,\n    ),\n    c,\n    d,\n)\n",
            "f(\n    g(a, b=1),\n    c,\n    d,\n)\n",
            id="an argument beside a new one",
        ),
        pytest.param(
            "f(\n    a,\n    **(\n        {1: b}\n    ),\n    c=1,\n)\n",
            "f(a, **({1: b}), c=2)\n",
            "f(a, **({1: b}), c=2)\n",
            id="not when the whole stands on one line now",
        ),
        pytest.param(
            "f(\n    a,\n    **(\n        {1: b}\n    ),\n    c=c,\n)\n",
            "f(\n    a,\n    **({1: b}),\n    c=c,\n    d=d,\n)\n",
            "f(\n    a,\n    **(\n        {1: b}\n    ),\n    c=c,\n    d=d,\n)\n",
            id="more lines than ruff would take",
        ),
        pytest.param(
            "x = [\n    a, # why\n]\n",
            "x = [\n    b,\n    a, # why\n]\n",
            "x = [\n    b,\n    a, # why\n]\n",
            id="a remark",
        ),
        pytest.param(
            "f( a,b )\ny = 1\n",
            "if z:\n    f( a,b )\n    y = 1\n",
            "if z:\n    f(a, b)\n    y = 1\n",
            id="not at another indentation",
        ),
        pytest.param("x = f( a )\n", "x = f( a, )\n", "x = f( a )\n", id="a comma that says nothing"),
        pytest.param("x = ( a )\n", "x = ( a, )\n", "x = (a,)\n", id="not a comma that makes a tuple"),
        pytest.param("x = f( 'a b' )\n", "x = f( 'a  b' )\n", 'x = f("a  b")\n', id="not blanks in a string"),
        pytest.param("x = f( a )\n", "x = f( a ) + 1\n", "x = f(a) + 1\n", id="not the beginning of a line"),
        pytest.param(
            "x = f(a=a,\n      b=b,\n      c=c)\n",
            "x = f(\n    a=a,\n    b=b,\n    c=d,\n)\n",
            "x = f(\n    a=a,\n    b=b,\n    c=d,\n)\n",
            id="not the line of an open bracket that breaks at another place",
        ),
        pytest.param(
            "x = f(\n    g(a=a,\n      b=b),\n    c=c,\n)\n",
            "x = f(\n    g(\n        a=a,\n        b=b,\n    ),\n    c=d,\n)\n",
            "x = f(\n    g(a=a,\n      b=b),\n    c=d,\n)\n",
            id="the lines of a bracket that is the same",
        ),
        pytest.param("f( a )\n\n\n\ng( b )\n", "f( a )\ng( c )\n", "f( a )\ng(c)\n", id="not blank lines"),
    ],
)
def test_what_says_the_same_keeps_its_layout(before: str, after: str, expected: str) -> None:
    assert laid_out(before, after) == expected


def test_a_new_docstring_keeps_its_blanks_and_the_rest_is_formatted() -> None:
    after = 'def f(a):\n    """One.  \n\n      two\n    """\n    return g( a )\n'
    assert laid_out("def f(a):\n    return a\n", after) == after.replace("( a )", "(a)")


LAID_OUT_BY_ANOTHER = """\
def f(
        first,
        second):
    # Why.
    made = Made(first=first,
        second=second)
    text = [first,
            second]
    return (made, text)
"""


def test_a_file_with_another_layout_keeps_all_but_the_statements_that_changed() -> None:
    after = LAID_OUT_BY_ANOTHER.replace("second):", "second, third):").replace("=second)", "=second, third=third)")
    expected = LAID_OUT_BY_ANOTHER.replace("f(\n        first,\n        second)", "f(first, second, third)")
    made = expected.replace("first=first,\n        second=second)", "first=first, second=second, third=third)")
    assert laid_out(LAID_OUT_BY_ANOTHER, after) == made


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        pytest.param(
            "if a: b = 1; c = 2\nd\n",
            "if a:\n    b = 1\n    c = 2\nd\n",
            [(0, 1), (1, 2), (2, 3)],
            id="one line for several",
        ),
        pytest.param(
            "@g\ndef f(): pass\n\nd\n",
            "@g\ndef f():\n    pass\n\n\nd\n",
            [(0, 2), (2, 3), (3, 4), (4, 5)],
            id="a decorator",
        ),
        pytest.param(
            "match a:\n    case 1:\n        b = 'ä'; c\n    # Why.\n    case _:\n        d\n",
            "match a:\n    case 1:\n        b = 'ä'\n        c\n    # Why.\n    case _:\n        d\n",
            [(0, 2), (2, 3), (3, 5), (5, 6), (6, 7)],
            id="cases",
        ),
        pytest.param("a\nb\n", "a\n", [(0, 3)], id="other statements"),
    ],
)
def test_lines_of_two_layouts_are_paired_by_statements(one: str, other: str, expected: list[tuple[int, int]]) -> None:
    sides = one.split("\n"), other.split("\n")
    pairs = list(pair_lines(*sides))
    assert [span for span, _ in pairs if span[0] < span[1]] == expected
    for spans, lines in zip(zip(*pairs, strict=True), sides, strict=True):
        assert [line for start, end in spans for line in lines[start:end]] == lines
