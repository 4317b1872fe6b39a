"""Text ↔ units: the exact inverse, what belongs to which unit, and edits that touch nothing else."""

from __future__ import annotations

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner_sync.errors import PYTHON, InputError
from runner_sync.units import (
    BaseClass,
    BaseOrigin,
    class_bases,
    insert_definition,
    insert_member,
    join,
    record_classes,
    reindent,
    replace_units,
    set_bases,
    split,
    units,
)

RULER = "    # ---------------------- Omni-new ----------------------\n"

RUNNER = f'''# Licence line.
# Second licence line.
"""What the module is for."""

import torch
from base.worker import Runner  # why

if is_small():
    from base.small import SmallRunner as Parent
else:
    from base.worker import Runner as Parent

LIMIT = 4


@record
class State(NamedTuple):
    """Kept between calls."""

    logits: torch.Tensor
    # step the logits are of
    step: int = 0


class TalkRunner(
    Mixin,
    Parent,
):
    flag: bool = True

    def __init__(self):
        self.n = 0
        # {"-" * 20} closes in the body

{RULER}    @property
    def width(self):
        return self.n

    @width.setter
    def width(self, value):
        def keep():
            return value

        self.n = keep()
{RULER}
    # about run
    @torch.no_grad()
    async def run(self): ...


def helper(): return 1
'''

ODD_TEXTS = {
    "empty": "",
    "blank lines only": "\n\n",
    "comment only, no newline": "# nothing",
    "no final newline": "def f():\n    return 1",
    "crlf": "import a\r\n\r\n\r\nclass A:\r\n    x = 1\r\n\r\n    def f(self):\r\n        pass\r\n",
    "mixed endings": "import a\r\nimport b\nx = 1\r\n",
    "form feed": "import a\n\f\nclass A:\n    \f\n    def f(self): pass\n\f\ndef g(): pass\n",
    "form feed inside a string": "x = 'a\fb'\ny = '''\f\n'''\nz = 1\n",
    "line separators inside a string": "x = 'a\u2028b\x85c\x1cd'\ndef f(): pass\n",
    "tabs": "class A:\n\tdef f(self):\n\t\treturn 1\n\t# tail\n\n\tx = 1\n",
    "byte order mark": "\ufeffimport a\n\n\nclass A:\n    x = 1\n",
    "semicolons": "a = 1; b = 2\nclass A: x = 1; y = 2\nclass B:\n    p = 1; q = '''\n'''; r = 3\n",
    "backslash": "x = 1 + \\\n    2\n\\\ny = 2\n",
    "invalid escape": "x = '\\d'\n",
    "trailing comments": "class A:\n    def f(self):\n        pass\n        # in f\n    # in A\n# in module\n",
    "strings like code": 's = """\nclass A:\n    def f(self): pass\n# --------- Omni-new ---------\n"""\n',
    "header over lines": "class A(\n    B,  # why\n    metaclass=M,\n):  # note\n    # lead\n    x = 1\n",
    "runner": RUNNER,
}


def names(text: str) -> list[str]:
    return [unit.qualname for unit in units(split(text))]


def text_of(text: str, qualname: str) -> str:
    (unit,) = (unit for unit in units(split(text)) if unit.qualname == qualname)
    return unit.text


@pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS.keys())
def test_join_is_the_exact_inverse_of_split(text: str) -> None:
    assert join(split(text)) == text


@pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS.keys())
def test_units_are_the_lines_they_name_and_never_overlap(text: str) -> None:
    lines = text.replace("\r\n", "\n").split("\n")
    last = 0
    for unit in units(split(text)):
        assert unit.start > last
        last = unit.end
        assert unit.text.replace("\r\n", "\n").rstrip("\n") == "\n".join(lines[unit.start - 1 : unit.end])


FRAGMENTS = [
    "import a\n",
    "from a import (\n    b,\n    c,\n)\n",
    "\n",
    "\n\n\f\n",
    "# comment\n",
    "    # deep comment\n",
    "# ---------------- Omni-new ----------------\n",
    "x = '''\n# text\n'''\n",
    "class A(B):\n    y: int\n\n    # lead\n    def f(self): pass\n        # deep\n",
    "@d\nclass A:\n    '''Doc.'''\n",
    "@d(\n    1\n)\ndef f():\n    return 1\n    # tail\n",
    "if x:\n    import y\nelse:\n    z = 1\n",
    "async def g(): return 'ü'\n",
    "p = 1; q = 2\n",
]


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=12), st.booleans(), st.booleans())
def test_inverse_law_holds_for_any_sequence_of_fragments(parts: list[str], crlf: bool, cut: bool) -> None:
    text = "".join(parts)
    text = text.removesuffix("\n") if cut else text
    text = text.replace("\n", "\r\n") if crlf else text
    assert join(split(text)) == text


@given(st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=10), st.data())
def test_an_edit_leaves_every_other_byte(parts: list[str], data: st.DataObject) -> None:
    text = "".join(parts)
    listed = units(split(text))
    if not listed:
        return
    unit = data.draw(st.sampled_from(listed))
    lines = text.split("\n")
    edited = join(replace_units(split(text), {unit.qualname: "REPLACED\n"}))
    assert edited.split("\n") == [*lines[: unit.start - 1], "REPLACED", *lines[unit.end :]]


def test_units_of_a_runner_have_these_names_kinds_and_lines() -> None:
    listed = [(unit.kind, unit.qualname) for unit in units(split(RUNNER, path="r.py"))]
    assert listed == [
        ("statement", "__doc__"),
        ("import", "import torch"),
        ("import", "from base.worker"),
        ("statement", "if is_small()"),
        ("statement", "LIMIT"),
        ("class", "State"),
        ("statement", "State.__doc__"),
        ("field", "State.logits"),
        ("field", "State.step"),
        ("class", "TalkRunner"),
        ("field", "TalkRunner.flag"),
        ("method", "TalkRunner.__init__"),
        ("method", "TalkRunner.width"),
        ("method", "TalkRunner.width#2"),
        ("method", "TalkRunner.run"),
        ("function", "helper"),
    ]
    assert {unit.path for unit in units(split(RUNNER, path="r.py"))} == {"r.py"}


@pytest.mark.parametrize(
    ("qualname", "first", "last"),
    [
        ("State", "@record", "class State(NamedTuple):"),
        ("State.step", "    # step the logits are of", "    step: int = 0"),
        ("TalkRunner", "class TalkRunner(", "):"),
        ("TalkRunner.__init__", "    def __init__(self):", f"        # {'-' * 20} closes in the body"),
        ("TalkRunner.width", "    @property", "        return self.n"),
        ("TalkRunner.width#2", "    @width.setter", "        self.n = keep()"),
        ("TalkRunner.run", "    # about run", "    async def run(self): ..."),
    ],
)
def test_comments_and_decorators_go_with_their_unit_but_rulers_do_not(qualname: str, first: str, last: str) -> None:
    lines = text_of(RUNNER, qualname).splitlines()
    assert (lines[0], lines[-1]) == (first, last)


@pytest.mark.parametrize(
    ("heads", "names"),
    [
        (["@overload", "@typing.overload  # for callers", ""], ["run#2", "run#3", "run"]),
        (["", ""], ["run", "run#2"]),
        (["@property", "@run.setter"], ["run", "run#2"]),
        (["@overload", "@overload"], ["run", "run#2"]),
        (["@overloaded", ""], ["run", "run#2"]),
        (["@registry.overload(1)", ""], ["run", "run#2"]),
        (["# @overload", ""], ["run", "run#2"]),
    ],
    ids=["stubs", "twice", "accessors", "stubs alone", "another word", "a call", "a comment"],
)
def test_what_runs_has_the_name_and_its_stubs_have_numbers(heads: list[str], names: list[str]) -> None:
    text = "class Talk:\n" + "\n".join(f"    {head}\n    def run(self): ...\n" for head in heads)
    assert [unit.qualname for unit in units(split(text))[1:]] == [f"Talk.{name}" for name in names]
    flat = textwrap.dedent(text.partition("\n")[2])
    assert [unit.qualname for unit in units(split(flat))] == names


def test_a_stub_that_is_put_in_leaves_the_name_to_what_runs() -> None:
    module = split("class Talk:\n    def run(self): ...\n")
    more = insert_member(module, "Talk", "@overload\ndef run(self, at: int): ...\n", before="run")
    assert [unit.qualname for unit in units(more)] == ["Talk", "Talk.run#2", "Talk.run"]


def test_the_licence_never_belongs_to_the_first_import() -> None:
    assert text_of("# Licence\nimport a\n", "import a") == "import a\n"
    assert text_of("import b\n# why\nimport a\n", "import a") == "# why\nimport a\n"


def test_a_whole_class_can_be_one_unit() -> None:
    listed = {unit.qualname: unit.text for unit in units(split(RUNNER), whole=["State"])}
    assert listed["State"].endswith("step: int = 0\n")
    assert "State.step" not in listed
    assert record_classes(split(RUNNER)) == ("State",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\ndef f(:\n", f"a/r.py:2: does not parse with {PYTHON} (invalid syntax"),
        ("x = 1\ny = '\0'\n", "a/r.py:2: contains a NUL byte"),
        ("x = 1\n<<<<<<< HEAD\ny = 1\n=======\ny = 2\n>>>>>>> topic\n", "a/r.py:2: holds an unresolved merge conflict"),
        ('"""\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> topic\n"""\n', "a/r.py:2: holds an unresolved merge conflict"),
        ("x = 1\n>>>>>>> topic\ny = 2\n", "a/r.py:2: holds an unresolved merge conflict"),
        ("x = 1\n=======\ny = 2\n", "a/r.py:2: holds an unresolved merge conflict"),
        ('"""Title\n=======\n"""\ndef f(:\n', "a/r.py:4: does not parse"),
        ("x = '\ud800'\n", "a/r.py: does not parse"),
        ("x = " + "(" * 500 + ")" * 500 + "\n", "a/r.py"),
        ("def f():\n\tif x:\n        y\n", "a/r.py:3: does not parse"),
    ],
    ids=[
        "syntax",
        "nul",
        "conflict",
        "conflict in a string",
        "closing only",
        "middle only",
        "heading",
        "surrogate",
        "nesting",
        "tabs and spaces",
    ],
)
def test_text_that_is_no_module_is_refused_with_file_and_line(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message.replace("(", r"\(")):
        split(text, path="a/r.py")


@pytest.mark.parametrize(
    "text",
    [
        '"""Title\n=======\n"""\n',
        "x = '''\n>>>>>>> quoted\n'''\n",
        "x = y << 7\n",
        "s = '<<<<<<< a'\nt = '>>>>>>> b'\n",
    ],
    ids=["heading", "closing only", "shift", "not at the line start"],
)
def test_near_conflicts_are_accepted(text: str) -> None:
    assert join(split(text)) == text


def test_replace_with_text_that_does_not_parse_is_carried() -> None:
    inline = "    def run(self):\n<<<<<<< omni\n        a\n=======\n        b\n>>>>>>> upstream\n"
    edited = replace_units(split(RUNNER), {"TalkRunner.run": inline})
    assert inline in join(edited)
    assert join(replace_units(edited, {"TalkRunner.run": text_of(RUNNER, "TalkRunner.run")})) == RUNNER


def test_replace_keeps_the_missing_final_newline() -> None:
    assert join(replace_units(split("x = 1\ny = 2"), {"y": "y = 3\n"})) == "x = 1\ny = 3"
    assert join(replace_units(split("x = 1\ny = 2\n"), {"x": "x = 0"})) == "x = 0\ny = 2\n"


def test_replace_a_header_keeps_the_members() -> None:
    edited = join(replace_units(split("class A:\n    x = 1\n"), {"A": "class A(B):\n"}))
    assert edited == "class A(B):\n    x = 1\n"


def test_replace_a_whole_class() -> None:
    module = replace_units(split("class A:\n    x = 1\n\n\ny = 2\n"), {"A": "class A:\n    z = 1\n"}, whole=["A"])
    assert join(module) == "class A:\n    z = 1\n\n\ny = 2\n"
    assert [unit.qualname for unit in units(module)] == ["A", "A.z", "y"]


@pytest.mark.parametrize(
    ("text", "gone", "left"),
    [
        ("class A:\n    x = 1\n\n    def f(self): pass\n\n    def g(self): pass\n", ["A.f"],
         "class A:\n    x = 1\n\n    def g(self): pass\n"),
        ("class A:\n    x = 1\n\n    def f(self): pass\n", ["A.f"], "class A:\n    x = 1\n"),
        ("class A:\n    def f(self): pass\n", ["A.f"], "class A:\n    pass\n"),
        ("class A:\n    def f(self): pass\n    # end", ["A.f"], "class A:\n    # end\n    pass\n"),
        ("class A:\n    x = 1\n    def f(self): pass\n    # end", ["A.f"], "class A:\n    x = 1\n    # end"),
        ('class A:\n    """Doc."""\n\n    x = 1\n', ["A.x"], 'class A:\n    """Doc."""\n'),
        ("a = 1\n\n\nclass A:\n    x = 1\n\n\nb = 1\n", ["A"], "a = 1\n\n\nb = 1\n"),
        ("import a\nimport b\nimport c\n", ["import b"], "import a\nimport c\n"),
        ("a = 1\n\nb = 1\n\nc = 1\n", ["a", "b"], "c = 1\n"),
        (f"class A:\n    def f(self): pass\n\n{RULER}    def g(self): pass\n", ["A.f"],
         f"class A:\n{RULER}    def g(self): pass\n"),
    ],
    ids=["middle", "last", "only", "only, above an open comment", "above an open comment", "docstring stays", "class",
         "import", "several", "before a ruler"],
)  # fmt: skip
def test_removal_takes_the_blank_lines_on_one_side(text: str, gone: list[str], left: str) -> None:
    module = replace_units(split(text), dict.fromkeys(gone))
    assert join(module) == left
    assert join(split(left)) == left


def test_an_unknown_unit_is_a_key_error() -> None:
    with pytest.raises(KeyError, match=r"no unit A\.g"):
        replace_units(split("class A:\n    def f(self): pass\n"), {"A.g": None})
    with pytest.raises(KeyError, match="no class B"):
        insert_member(split("class A:\n    x = 1\n"), "B", "y = 1")
    with pytest.raises(KeyError, match="no g"):
        insert_member(split("class A:\n    x = 1\n"), "A", "y = 1", after="g")
    with pytest.raises(KeyError, match="no g"):
        insert_member(split("class A:\n    x = 1\n"), "A", "y = 1", before="A.g")


@pytest.mark.parametrize(
    ("text", "new", "after", "expected"),
    [
        ("class A:\n    x = 1\n", "def f(self):\n    pass", None,
         "class A:\n    x = 1\n\n    def f(self):\n        pass\n"),
        ("class A:\n    x: int\n    y: int\n", "z: int", "x", "class A:\n    x: int\n    z: int\n    y: int\n"),
        ("class A:\n    def f(self): pass\n\n    def g(self): pass\n", "def h(self): pass\n", "A.f",
         "class A:\n    def f(self): pass\n\n    def h(self): pass\n\n    def g(self): pass\n"),
        (f"class A:\n    def f(self): pass\n{RULER}\n    def g(self): pass\n", "def h(self): pass\n", "f",
         f"class A:\n    def f(self): pass\n{RULER}\n    def h(self): pass\n\n    def g(self): pass\n"),
        (f"class A:\n    def f(self): pass\n\n{RULER}    def g(self): pass\n", "def h(self): pass\n", "f",
         f"class A:\n    def f(self): pass\n\n    def h(self): pass\n\n{RULER}    def g(self): pass\n"),
        ("class A:\n\tx = 1\n", "def f(self): pass", None, "class A:\n\tx = 1\n\n\tdef f(self): pass\n"),
        ("class A:\n    x = 1\n\n\nb = 1\n", "def f(self): pass", None,
         "class A:\n    x = 1\n\n    def f(self): pass\n\n\nb = 1\n"),
        ("class A:\n    x = 1", "y = 2", None, "class A:\n    x = 1\n    y = 2\n"),
        ("class A:\n    def f(self): pass\n", "def f(self): return 1", None,
         "class A:\n    def f(self): pass\n\n    def f(self): return 1\n"),
        ("class A:\n# @x\n    def f(self): pass\n", "# @y\ndef g(self):\n    pass\n", None,
         "class A:\n# @x\n    def f(self): pass\n\n    # @y\n    def g(self):\n        pass\n"),
        ("class A:\n    def f(self): ...\n    # About f.\n    # It.\n\n    def g(self): ...\n", "def h(self): ...", "f",
         "class A:\n    def f(self): ...\n    # About f.\n    # It.\n\n    def h(self): ...\n\n    def g(self): ...\n"),
        ("class A:\n    def f(self): pass\n    # fmt: on\n    # About f.\n", "def h(self): pass\n", None,
         "class A:\n    def f(self): pass\n    # fmt: on\n    # About f.\n\n    def h(self): pass\n"),
        (f"class A:\n    def f(self): pass\n    # Block:\n{RULER}\n    def g(self): pass\n", "def h(self): pass\n", "f",
         f"class A:\n    def f(self): pass\n\n    def h(self): pass\n\n    # Block:\n{RULER}\n    def g(self): pass\n"),
        (f"class A:\n    def f(self): ...\n{RULER}    # One\n{RULER}    def g(self): ...\n", "def h(self): ...", "f",
         f"class A:\n    def f(self): ...\n\n    def h(self): ...\n\n{RULER}    # One\n{RULER}    def g(self): ...\n"),
    ],
    ids=["end", "field", "between", "behind a closing ruler", "before an opening ruler", "tabs", "class not last",
         "no final newline", "same name", "comments at the margin", "behind its comments", "behind the last comments",
         "before a headed block", "before a banner"],
)  # fmt: skip
def test_insert_member(text: str, new: str, after: str | None, expected: str) -> None:
    module = insert_member(split(text), "A", new, after=after)
    assert join(module) == expected
    assert [unit.qualname for unit in units(module)] == names(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("class A:\n    def g(self): pass\n", "class A:\n    def f(self): pass\n\n    def g(self): pass\n"),
        ("class A:\n    x: int\n\n    def g(self): pass\n",
         "class A:\n    x: int\n\n    def f(self): pass\n\n    def g(self): pass\n"),
        ('class A:\n    """What."""\n\n    @cached\n    def g(self): pass\n',
         'class A:\n    """What."""\n\n    def f(self): pass\n\n    @cached\n    def g(self): pass\n'),
        ("class A:\n    x = 1\n\n    # About g.\n    def g(self): pass\n",
         "class A:\n    x = 1\n\n    def f(self): pass\n\n    # About g.\n    def g(self): pass\n"),
        (f"class A:\n    x = 1\n\n{RULER}    def g(self): pass\n",
         f"class A:\n    x = 1\n\n    def f(self): pass\n\n{RULER}    def g(self): pass\n"),
        (f"class A:\n    def e(self): pass\n{RULER}\n    def g(self): pass\n",
         f"class A:\n    def e(self): pass\n{RULER}\n    def f(self): pass\n\n    def g(self): pass\n"),
        (f"class A:\n    def e(self): pass\n{RULER}    def g(self): pass\n",
         f"class A:\n    def e(self): pass\n{RULER}\n    def f(self): pass\n\n    def g(self): pass\n"),
        (f"class A:\n{RULER}    def g(self): pass\n",
         f"class A:\n    def f(self): pass\n\n{RULER}    def g(self): pass\n"),
    ],
    ids=["first", "behind fields", "behind the docstring", "above a comment", "before an opening ruler",
         "behind a closing ruler", "behind one without a blank line", "an opening ruler below the head"],
)  # fmt: skip
def test_insert_member_in_front_of_another(text: str, expected: str) -> None:
    module = insert_member(split(text), "A", "def f(self): pass\n", before="A.g")
    assert join(module) == expected
    assert [unit.qualname for unit in units(module)] == names(expected)


def test_insert_member_refuses_what_it_cannot_place() -> None:
    with pytest.raises(InputError, match="body of class A is not on lines of its own"):
        insert_member(split("class A: pass\n"), "A", "x = 1")
    with pytest.raises(InputError, match="does not parse"):
        insert_member(split("class A:\n    x = 1\n"), "A", "def f(:")
    with pytest.raises(InputError, match="no text to insert"):
        insert_member(split("class A:\n    x = 1\n"), "A", "")


@pytest.mark.parametrize(
    ("text", "new", "before", "expected"),
    [
        ("import a\n\n\nclass A:\n    x = 1\n", "def f(): pass\n", "A",
         "import a\n\n\ndef f(): pass\n\n\nclass A:\n    x = 1\n"),
        ("import a\nimport c\n", "import b\n", "import c", "import a\nimport b\nimport c\n"),
        ("class A:\n    x = 1\n", "def f(): pass", "A", "def f(): pass\n\n\nclass A:\n    x = 1\n"),
    ],
    ids=["definition", "import", "first of the module"],
)  # fmt: skip
def test_insert_definition(text: str, new: str, before: str, expected: str) -> None:
    module = insert_definition(split(text), new, before=before)
    assert join(module) == expected
    assert [unit.qualname for unit in units(module)] == names(expected)


def test_reindent_moves_a_string_that_goes_on_as_another_one() -> None:
    assert reindent('s = (\n    "a"\n    "b"\n)\n', "    ") == '    s = (\n        "a"\n        "b"\n    )\n'


def test_reindent_leaves_the_inside_of_strings() -> None:
    text = 'def f():\n    s = """\n  kept\n"""\n\n    return s\n'
    assert reindent(text, "    ") == '    def f():\n        s = """\n  kept\n"""\n\n        return s\n'
    assert reindent(reindent(text, "    "), "") == text


def test_conditional_bases_are_data() -> None:
    assert class_bases(split(RUNNER), "TalkRunner") == (
        BaseClass("Mixin", ()),
        BaseClass(
            "Parent",
            (
                BaseOrigin("base.small", "SmallRunner", "is_small()"),
                BaseOrigin("base.worker", "Runner", "not (is_small())"),
            ),
        ),
    )


@pytest.mark.parametrize(
    ("text", "origins"),
    [
        ("import a.b as c\nclass A(c.X): pass\n", [("a.b", "X", "")]),
        ("from a import b\nclass A(b.X): pass\n", [("a.b", "X", "")]),
        ("class X: pass\nclass A(X): pass\n", [("", "X", "")]),
        ("from a import X\nclass A(X[int]): pass\n", [("a", "X", "")]),
        ("try:\n    from a import X\nexcept ImportError:\n    from b import X\nclass A(X): pass\n",
         [("a", "X", "try"), ("b", "X", "except ImportError")]),
        ("if p:\n    X = Y\nelif q:\n    from b import X\nclass A(X): pass\n",
         [("", "Y", "p"), ("b", "X", "not (p) and q")]),
        ("from a import Xs\nclass A(X): pass\n", []),
        ("import a.b.c\nclass A(a.b.c.X): pass\n", [("a.b.c", "X", "")]),
        ("import a.b as c\nclass A(c.X[int]): pass\n", [("a.b", "X", "")]),
    ],
    ids=["module alias", "submodule", "local", "generic", "try", "elif", "another name", "dotted module",
         "generic of a module"],
)  # fmt: skip
def test_where_a_base_comes_from(text: str, origins: list[tuple[str, str, str]]) -> None:
    (base,) = class_bases(split(text), "A")
    assert [(origin.module, origin.name, origin.condition) for origin in base.origins] == origins


@pytest.mark.parametrize(
    ("header", "bases", "expected"),
    [
        ("class A:", ["B"], "class A(B):"),
        ("class A():", ["B", "C"], "class A(B, C):"),
        ("class A(B):  # note", ["M", "B"], "class A(M, B):  # note"),
        ("class A(B, C):", ["B", "M", "C", "N"], "class A(B, M, C, N):"),
        ("class A(B, metaclass=T):", ["B", "M"], "class A(B, M, metaclass=T):"),
        ("class A(metaclass=T):", ["B"], "class A(B, metaclass=T):"),
        ("class A(B, C):", ["C", "B"], "class A(C, B):"),
        ("class A(B, C):", ["C"], "class A(C):"),
        ("class A(B, metaclass=T):", [], "class A(metaclass=T):"),
        ("class A(\n    B,  # first\n    C,\n):", ["B", "M", "C"], "class A(\n    B, M,  # first\n    C,\n):"),
        ("@deco('class A:')\nclass A(B):", ["Ü", "B"], "@deco('class A:')\nclass A(Ü, B):"),
        ("class A(G[int]):", ["G[int]", "B"], "class A(G[int], B):"),
        ("class A((B if new else C)):", ["M", "B if new else C", "N"], "class A(M, (B if new else C), N):"),
        ("class A(B, ((C)), m=T):", ["B", "M", "C", "N"], "class A(B, M, ((C)), N, m=T):"),
        ("class A(f(1), (B)):", ["B", "f(1)"], "class A(B, f(1)):"),
        ("class A(*mixins):", ["*mixins", "B"], "class A(*mixins, B):"),
    ],
)
def test_set_bases(header: str, bases: list[str], expected: str) -> None:
    body = "\n    x = 1\n"
    module = set_bases(split(header + body), "A", bases)
    assert join(module) == expected + body
    assert [base.expression for base in class_bases(module, "A")] == bases
    assert set_bases(module, "A", bases) == module


def test_set_bases_refuses_to_lose_comments() -> None:
    with pytest.raises(InputError, match="comments between its bases"):
        set_bases(split("class A(\n    B,  # first\n    C,\n):\n    x = 1\n", path="r.py"), "A", ["C", "B"])
