"""Text ⇄ nodes: every form of statement, and the lines that must never be re-indented."""

from __future__ import annotations

import ast
import sys

import pytest

from runner_sync.statements import ROOT, UnparsableText, below, code_of, first_function, flatten, mentions, tree_of
from runner_sync.statements.calls import names_called, words_called
from runner_sync.statements.facts import Facts
from runner_sync.statements.tokenizing import find_own_lines_by_token, own_lines


def outline(text: str) -> list[tuple[str, str]]:
    """``(canonical text of the parent, canonical text)`` of every node."""
    nodes = flatten(text)
    return [("" if node.parent == ROOT else nodes[node.parent].canon, node.canon) for node in nodes]


def owners(text: str) -> list[tuple[str, str]]:
    """``(head, clause)`` of every clause."""
    nodes = flatten(text)
    return [(nodes[node.owner].canon, node.canon) for node in nodes if node.is_clause]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a  =  'x'\n", [("", "a = 'x'")], id="layout and quotes do not count"),
        pytest.param("f(\n    a,\n    b,\n)\n", [("", "f(a, b)")], id="a call over lines is one node"),
        pytest.param("a = 1; b = 2\n", [("", "a = 1\nb = 2")], id="semicolons stay one node"),
        pytest.param("if a: b = 1\n", [("", "if a:\n    b = 1")], id="a one-line suite is a simple statement"),
        pytest.param("while a: b(); c()\n", [("", "while a:\n    b()\n    c()")], id="one-line suite with semicolon"),
        pytest.param(
            "    if a: b()\n    else:\n        c()\n",
            [("", "if a:\n    b()\nelse:\n    c()")],
            id="a clause below a suite on one line",
        ),
        pytest.param(
            "if (a  # why\n        and 'é'):\n    b = (\n        c)\n",
            [("", "if a and 'é'"), ("if a and 'é'", "b = c")],
            id="a condition and a value over several lines",
        ),
        pytest.param(
            "    @a(\n        b)\n    def run(self, é: 'int' = 'é'):  # why\n        # how\n        return é\n",
            [
                ("", "@a(b) def run(self, é: int='é')"),
                ("@a(b) def run(self, é: int='é')", "# how"),
                ("@a(b) def run(self, é: int='é')", "return é"),
            ],
            id="a definition over several lines",
        ),
        pytest.param(
            "\fdef run(): # why\n    with (a as b,\n          c): d()\n",
            [("", "def run()"), ("def run()", "with a as b, c"), ("with a as b, c", "d()")],
            id="a form feed before a definition",
        ),
        pytest.param(
            "if a:\n    b()\nelif c:\n    d()\nelse:\n    e()\n",
            [("", "if a"), ("if a", "b()"), ("", "elif c"), ("elif c", "d()"), ("", "else"), ("else", "e()")],
            id="elif chain",
        ),
        pytest.param(
            "if a:\n    b()\nelse:\n    if c:\n        d()\n",
            [("", "if a"), ("if a", "b()"), ("", "else"), ("else", "if c"), ("if c", "d()")],
            id="an if inside else is no elif",
        ),
        pytest.param(
            "if a:\n    b()\nelse: c()\n",
            [("", "if a"), ("if a", "b()"), ("", "else")],
            id="a clause on one line keeps its suite",
        ),
        pytest.param(
            "for a in b:\n    c()\nelse:\n    d()\n",
            [("", "for a in b"), ("for a in b", "c()"), ("", "else"), ("else", "d()")],
            id="for else",
        ),
        pytest.param(
            "while a:\n    b()\nelse:\n    d()\n",
            [("", "while a"), ("while a", "b()"), ("", "else"), ("else", "d()")],
            id="while else",
        ),
        pytest.param(
            "try:\n    a()\nexcept (B, C) as e:\n    d()\nelse:\n    f()\nfinally:\n    g()\n",
            [
                ("", "try"),
                ("try", "a()"),
                ("", "except (B, C) as e"),
                ("except (B, C) as e", "d()"),
                ("", "else"),
                ("else", "f()"),
                ("", "finally"),
                ("finally", "g()"),
            ],
            id="try except else finally",
        ),
        pytest.param(
            "try:\n    a()\nexcept:\n    b()\n",
            [("", "try"), ("try", "a()"), ("", "except"), ("except", "b()")],
            id="bare except",
        ),
        pytest.param("match a:\n    case 1:\n        b()\n", [("", "match a:\n    case 1:\n        b()")], id="match"),
        pytest.param(
            "async def f(a, *, b=1) -> int:\n"
            "    async with c() as d, e():\n        async for g in h:\n            await g\n",
            [
                ("", "async def f(a, *, b=1) -> int"),
                ("async def f(a, *, b=1) -> int", "async with c() as d, e()"),
                ("async with c() as d, e()", "async for g in h"),
                ("async for g in h", "await g"),
            ],
            id="async",
        ),
        pytest.param(
            "@a\n@b(1)\ndef f():\n    return 1\n",
            [("", "@a @b(1) def f()"), ("@a @b(1) def f()", "return 1")],
            id="decorators belong to the head",
        ),
        pytest.param(
            "class A(B, metaclass=C):\n    x: int\n",
            [("", "class A(B, metaclass=C)"), ("class A(B, metaclass=C)", "x: int")],
            id="class",
        ),
        pytest.param(
            "    def f(self):\n        return 1\n",
            [("", "def f(self)"), ("def f(self)", "return 1")],
            id="a method at its own column",
        ),
        pytest.param("\tdef f(self):\n\t\treturn 1\n", [("", "def f(self)"), ("def f(self)", "return 1")], id="tabs"),
        pytest.param("a = 1\n\x0c\nb = 2\n", [("", "a = 1"), ("", "b = 2")], id="form feed between statements"),
        pytest.param("", [], id="nothing"),
    ],
)
def test_flatten(text: str, expected: list[tuple[str, str]]) -> None:
    assert outline(text) == expected


def test_a_quote_that_nothing_closes_takes_no_longer_than_others() -> None:
    """With one that is part of an f-string in Python 3.12 and later it took twice as long for each letter behind it."""
    assert own_lines("x = 'it" + "s" * 5000) == ({}, set())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("if a:\n    b()\nelif c:\n    d()\nelse:\n    e()\n", [("if a", "elif c"), ("if a", "else")]),
        ("try:\n    a()\nexcept B:\n    c()\nfinally:\n    d()\n", [("try", "except B"), ("try", "finally")]),
        ("for a in b:\n    if c:\n        d()\nelse:\n    e()\n", [("for a in b", "else")]),
        ("if a:\n    for b in c:\n        d()\n    else:\n        e()\n", [("for b in c", "else")]),
        ("if a:\n    b()  # else:\n# else:\nelse:\n    c()\n", [("if a", "else")]),
    ],
)
def test_a_clause_belongs_to_its_statement(text: str, expected: list[tuple[str, str]]) -> None:
    assert owners(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("# c\na()\n", "", id="before a statement at top"),
        pytest.param("if a:\n    # c\n    b()\n", "if a", id="before the first statement of a suite"),
        pytest.param("if a:\n    b()\n    # c\n", "if a", id="behind the last statement, at its column"),
        pytest.param("if a:\n    b()\n# c\nd()\n", "", id="behind a suite, at the column of the head"),
        pytest.param("if a:\n    b()\n    # c\nd()\n", "if a", id="at the column of the suite it ends"),
        pytest.param("if a:\n    b()\n# c\nelse:\n    d()\n", "", id="above a clause, at its column"),
        pytest.param("if a:\n    b()\n    # c\nelse:\n    d()\n", "if a", id="above a clause, inside the suite"),
        pytest.param("if a:\n    if b:\n        d()\n    # c\n", "if a", id="back one level"),
        pytest.param("if a:\n# c\n    b()\n", "if a", id="less indented than the suite it stands in"),
        pytest.param("if a:\n        # c\n    b()\n", "if a", id="more indented than what follows"),
    ],
)
def test_a_comment_belongs_to_the_suite_of_its_column(text: str, expected: str) -> None:
    assert [parent for parent, canon in outline(text) if canon == "# c"] == [expected]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("f(a,  # c\n  b)\n", id="inside a call"),
        pytest.param('a = """\n# c\n"""\n', id="inside a string"),
        pytest.param("a = 1  # c\n", id="behind a statement"),
        pytest.param("a = [\n    # c\n    1,\n]\n", id="on a line of its own in a list"),
        pytest.param("@a\n# c\ndef f():\n    pass\n", id="between decorator and head"),
    ],
)
def test_a_comment_inside_a_statement_is_no_node(text: str) -> None:
    assert not any(node.is_comment for node in flatten(text))


@pytest.mark.parametrize(
    ("text", "frozen"),
    [
        ('    a = """x\n  y\n    """\n', {1, 2}),
        ('    a = f"""x\n  {y}\n    """\n', {1, 2}),
        ("    a = (\n      1,\n    )\n", set()),
        ('    f(\n      """x\n  y""",\n      1,\n    )\n', {2}),
        ('    a = "x" \\\n      "y"\n', set()),
    ],
)
def test_lines_that_begin_inside_a_string_are_frozen(text: str, frozen: set[int]) -> None:
    (node,) = flatten(text)
    assert node.frozen == frozen


def test_a_docstring_is_known_as_one() -> None:
    assert [node.kind for node in flatten('def f():\n    """Doc."""\n    return 1\n')] == [
        "statement",
        "docstring",
        "statement",
    ]


def test_blank_lines_before_a_node_are_counted() -> None:
    assert [node.blanks for node in flatten("\na()\n\n\n# c\nb()\n")] == [1, 2, 0]


def test_lines_lose_only_the_column_of_the_first() -> None:
    (_, node) = flatten("    def f(self):\n        g(\n            a,\n      b)\n")
    assert node.lines == ("g(", "    a,", "b)")
    assert (node.start, node.text) == (2, "g(\n    a,\nb)")


@pytest.mark.parametrize(
    ("text", "line"),
    [("a = 1\nb = (\n", 2), ("    def f(self):\n        a b\n", 2), ("if a:\nb()\n", 2), ("a = '\n", 1)],
)
def test_text_that_is_no_python_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(UnparsableText) as caught:
        flatten(text)
    assert caught.value.line == line


def test_text_that_is_nested_too_deeply_is_refused() -> None:
    """Python parses the sum and cannot print it; it parses no such list at all."""
    for text in (f"a = {'a + ' * 3000}a\n", f"a = {'[' * 3000}{']' * 3000}\n"):
        with pytest.raises(UnparsableText):
            flatten(text)


def test_handlers_of_groups_are_clauses() -> None:
    text = "try:\n    a()\nexcept* E as e:\n    b(e)\n"
    assert [(node.canon, node.kind) for node in flatten(text)][2] == ("except* E as e", "clause")


def test_keywords_of_a_class_are_told() -> None:
    (head, _) = flatten("class A(B, metaclass=M, **kw):\n    a = 1\n")
    assert head.canon == "class A(B, metaclass=M, **kw)"


@pytest.mark.parametrize(
    ("text", "canon"),
    [
        pytest.param('f(**{"k": v})\n', "f(k=v)", id="one key"),
        pytest.param('f(a, **(\n    {"k": v, "l": w}\n), **rest)\n', "f(a, k=v, l=w, **rest)", id="in its place"),
        pytest.param('a = f(g(**{"k": v}))\n', "a = f(g(k=v))", id="inside another call"),
    ],
)
def test_a_literal_dictionary_that_a_call_unpacks_is_its_keywords(text: str, canon: str) -> None:
    (node,) = flatten(text)
    assert (node.canon, node.text) == (canon, text.rstrip("\n"))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("f(**{'a-b': v})", id="a key that is no name"),
        pytest.param("f(**{'class': v})", id="a key that is a keyword of Python"),
        pytest.param("f(**{name: v})", id="a key that is computed"),
        pytest.param("f(**{'k': v, **rest})", id="a dictionary that unpacks another one"),
        pytest.param("f(**{'k': v} if old else {'l': v})", id="one of two dictionaries"),
        pytest.param("f(k=1, **{'k': v})", id="a keyword that is there twice"),
        pytest.param("f({'k': v})", id="a dictionary as an argument"),
        pytest.param("a = {**{'k': v}}", id="a dictionary made of another"),
        pytest.param("f(**{})", id="nothing to unpack"),
    ],
)
def test_other_dictionaries_stay_what_they_are(text: str) -> None:
    (node,) = flatten(text + "\n")
    assert node.canon == text


NESTED = """\
if a:
    b()
 # between, at a column of its own
else:
    for c in d:
        e()
    # at the end
# behind
f()
"""


@pytest.mark.parametrize(
    ("head", "inside"),
    [
        pytest.param("if a", "if a, b(), else, for c in d, e(), # at the end", id="with its clauses"),
        pytest.param("else", "else, for c in d, e(), # at the end", id="a clause"),
        pytest.param("b()", "b()", id="a simple statement"),
        pytest.param("# behind", "# behind", id="a comment"),
    ],
)
def test_what_is_below_a_statement(head: str, inside: str) -> None:
    nodes = flatten(NESTED)
    told = [node.canon for node in nodes]
    assert ", ".join(told[k] for k in below(nodes, told.index(head))) == inside


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a = b", "a = b"),
        ("a = b  # c\nd", "a = b  ''\nd"),
        ('"""a\nb"""\nc', "''\nc"),
        ("a('b', \"c\") + d", "a('', '') + d"),
        ("a = f'b {c} d'\ne", "a = '' % (c)\ne"),
        ("a = rf'b {self.c:>{d}}'", "a = '' % (self.c) % (d)"),
        ("a = b  # f'{c}'", "a = b  ''"),
        ("a = b'f {c}'", "a = ''"),
        ("    def a(self):\n        'b'\n", "    def a(self):\n        ''\n"),
        ("é = 'ä' + ö", "é = '' + ö"),
        ("if a:", "if a:"),
        ("a = 'b", "a = 'b"),
    ],
)
def test_code_is_what_neither_comments_nor_strings_say(text: str, expected: str) -> None:
    assert code_of(text) == expected


OWN_LINES: dict[str, tuple[str, dict[int, int], set[int]]] = {
    "a comment": ("# a\nb\n  # c\n", {1: 0, 3: 2}, set()),
    "behind code": ("a  # b\n", {}, set()),
    "in brackets": ("a(\n    # b\n)\n", {2: 4}, set()),
    "a hash in a string": ("a = '# b'\nc = \"#\"\n# d\n", {3: 0}, set()),
    "a hash in a string of lines": ('a = """\n# b\n"""\n# c\n', {4: 0}, {2, 3}),
    "behind the end of a string": ("a = '''b\n'''  # c\n", {}, {2}),
    "quotes in a string of lines": ('a = """b "c" ""\n\\"""\n"""\n# d', {4: 0}, {2, 3}),
    "a quote in a comment": ("# it's\na = 'b'\n# c", {1: 0, 3: 0}, set()),
    "an escaped quote": ("a = 'b\\'# c'\n# d\n", {2: 0}, set()),
    "a string that goes on behind a backslash": ("a = 'b\\\n# c'\n# d\n", {3: 0}, {2}),
    "strings side by side": ("a = ('b'\n     '# c')\n", {}, set()),
    "empty strings": ("a = ''\n# b\nc = \"\"\n", {2: 0}, set()),
    "a raw string": ("a = r'b\\\\'\n# d\n", {2: 0}, set()),
    "an f-string": ("a = f'{b}#'\n# c\n", {2: 0}, set()),
    "an f-string of lines": ("a = f'''{\nb}\n# c'''\n# d\n", {4: 0}, {2, 3}),
}

if sys.version_info >= (3, 12):
    OWN_LINES["an f-string with its own quotes in a field"] = ("a = f'{b['c']}'\n# d\n", {2: 0}, set())
    OWN_LINES["a raw one"] = ("a = rf'\\d{b['c']}\\N{d}'\n# d\n", {2: 0}, set())
    OWN_LINES["an apostrophe in such a field"] = ('a = f"{\'}\'}{d["it\'s"]}"\n# d\n', {2: 0}, set())
    OWN_LINES["such a field in another one"] = ("a = f'}}{b:{'#'}}'\n# d\n", {2: 0}, set())


@pytest.mark.parametrize("name", OWN_LINES)
def test_comments_on_lines_of_their_own_and_lines_inside_strings(name: str) -> None:
    text, comments, inside = OWN_LINES[name]
    ast.parse(text)
    assert own_lines(text) == find_own_lines_by_token(text) == (comments, inside)


def told(text: str) -> list[str]:
    """The names that statements mention: ``reads x``, and ``reads x later`` for what they do not do themselves."""
    found = mentions(ast.parse(text).body)
    return [f"{mention.kind} {mention.name}{' later' * mention.later}" for mention in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a = b", "reads b, binds a", id="the value before its target"),
        pytest.param("a.b = c[d] = e", "reads e, reads a, reads c, reads d", id="targets that bind no name"),
        pytest.param("total += step", "updates total, reads step", id="an update needs the name and binds it"),
        pytest.param("self.total += step", "reads self, reads step", id="an update of an attribute"),
        pytest.param("a: Row = b", "reads Row later, reads b, binds a", id="an annotation"),
        pytest.param("del a, b.c, d[e]", "deletes a, reads b, reads d, reads e", id="what is deleted must be there"),
        pytest.param("for a in b:\n    c\nelse:\n    d", "reads b, binds a, reads c, reads d", id="a loop"),
        pytest.param("with a as b:\n    c", "reads a, binds b, reads c", id="a with"),
        pytest.param("try:\n    a\nexcept B as c:\n    d", "reads a, binds c, reads B, reads d", id="a handler"),
        pytest.param("import a.b, c as d\nfrom e import f", "binds a, binds d, binds f", id="imports"),
        pytest.param("global a\nif (b := c):\n    pass", "declares a, reads c, binds b", id="declared, and walrus"),
        pytest.param(
            "match a:\n    case B(c=d) as e if f:\n        g\n    case [h, *i] | {'k': 1, **j}:\n        pass",
            "reads a, binds e, reads B, binds d, reads f, reads g, binds h, binds i, binds j",
            id="what patterns capture",
        ),
        pytest.param(
            "sorted(a, key=lambda r, *s, t=d: r.x + s + t + e)",
            "reads sorted, reads a, reads d, reads e later",
            id="the parameters of a lambda are its own, their defaults are not",
        ),
        pytest.param("note(r, [r for r in a if b])", "reads note, reads r, reads a, reads b", id="a comprehension"),
        pytest.param(
            "{k: v + x for k, v in r for r in k}", "reads r, reads x", id="only its first sequence is outside"
        ),
        pytest.param("(a + b for a in c if d)", "reads c, reads d later, reads b later", id="a generator runs later"),
        pytest.param(
            "any((a := f(b)) for b in c)",
            "reads any, reads c, reads f later, binds a",
            id="a generator binds for the scope around it",
        ),
        pytest.param("[b := f(a) for a in c]", "reads c, reads f, binds b", id="walrus in a comprehension"),
        pytest.param(
            "@a\nasync def b(c: D, *e, f=g) -> H:\n    i = c + e + f + j\n    del i\n    return i",
            "reads a, reads g, reads D later, reads H later, reads j later, binds b",
            id="a function",
        ),
        pytest.param(
            "class A(B, k=c):\n    d = e\n    f = d\n    def g(self):\n        return d",
            "reads B, reads c, reads e, reads d later, binds A",
            id="a method reads no name of its class",
        ),
    ],
)
def test_what_a_statement_reads_and_binds_in_its_scope(text: str, expected: str) -> None:
    assert ", ".join(told(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a, (b, self.c) = self.f(x).g()", Facts(("a", "b", "self.c"), called="self.f"), id="unpacked"),
        pytest.param("self.a = b[c] = d.e", Facts(("self.a", "b[c]"), "d.e"), id="an attribute as a value"),
        pytest.param("a: int = await f()", Facts(("a",), called="f"), id="annotated, and waited for"),
        pytest.param("a: int", Facts(("a",), declares="a"), id="declared"),
        pytest.param("self.f(a)(b)[c].g()", Facts(called="self.f"), id="a chain of calls"),
        pytest.param("f(a) + g(b)", Facts(), id="no call but a sum"),
        pytest.param("a += f()", Facts(), id="an update is no assignment"),
        pytest.param("@f('def g(')\nasync def h():\n    pass", Facts(defines="h"), id="a decorated function"),
        pytest.param("with a(b) as c, d as e:\n    pass", Facts(opens=frozenset("ce")), id="with"),
        pytest.param("a = f(); b = g()", Facts(), id="two statements in a line"),
    ],
)
def test_what_a_statement_says_besides(text: str, expected: Facts) -> None:
    assert flatten(text)[0].facts[:6] == expected[:6]


@pytest.mark.parametrize(
    ("text", "keywords"),
    [
        ("returned = f()\nreturn returned", ["", "return"]),
        ("async for a in b:\n    break\nelse:\n    import c", ["async for", "break", "else", "import"]),
        ("try:\n    f()\nexcept A:\n    raise", ["try", "", "except", "raise"]),
        ("# if\n@f('def g(')\nasync def h():\n    'if'", ["", "async def", ""]),
        ("if a: return", ["if"]),
    ],
)
def test_the_keyword_that_a_statement_begins_with(text: str, keywords: list[str]) -> None:
    assert [node.keyword for node in flatten(text)] == keywords


@pytest.mark.parametrize(
    "text", ["def run(:\n", "    def run(self:\n        pass\n", "else:\n    run()\n", "    run()\nend()\n"]
)
def test_what_is_looked_for_in_a_unit_that_is_no_python_is_not_there(text: str) -> None:
    assert tree_of(text).body == []
    assert first_function(text) is None


def test_a_method_is_looked_into_where_it_stands() -> None:
    assert [node.lineno for node in tree_of("    # a remark\n    def run(self):\n        pass\n").body] == [2]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("x = self.a(b)[0].c('do(1)')", ["self.a", ".c"]),
        ("build(self.rows.take(1), build())", ["build", "self.rows.take"]),
        ("f'{self.a(b)} do(1)'", ["self.a"]),
        ("x = 1  # do(1)", []),
        ("@once(1)\ndef f(x=make()): return g(x)", ["once", "make", "g"]),
        ("    def f(self):\n        '''do(1)'''\n        self.run()\n", ["self.run"]),
        ("class A(make()): pass", ["make"]),
        ("(a or b)(c)", []),
        ("if self.a(b)", ["self.a"]),
        ("    while not (done())  :", ["done"]),
        ("elif a('do(1)')", ["a"]),
        ("except make(E)", ["make"]),
        ("else", []),
        ("x = self.a(b) +", ["self.a"]),
        ("x = self.a(b)[0].c('do(1)') +", ["self.a", ".c"]),
        ("def f(a)  x = g(", ["g"]),
    ],
)
def test_the_names_that_code_calls(text: str, names: list[str]) -> None:
    assert [*names_called(text)] == names
    assert words_called(text) == {name.rpartition(".")[2] for name in names}
