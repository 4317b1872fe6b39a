"""What one statement assigns, in every form, and that all who ask see the same."""

from __future__ import annotations

import ast
import textwrap

import pytest
from verify_samples import world

from runner_sync.compose.notes import WORD, add_review_comments
from runner_sync.merge import Reason, merge
from runner_sync.model import ReviewItem, Triple
from runner_sync.statements import flatten
from runner_sync.statements.assigning import assigned_by
from runner_sync.statements.dataflow import attributes_set, binds
from runner_sync.syntax import assigned_names, self_attributes_set
from runner_sync.verify.runners.reading import assigned_in
from runner_sync.verify.trees.classes import Classes
from runner_sync.verify.trees.modules import Module, build

FORMS = {
    "plain": ("a = self.b = f()", "a", "b"),
    "elements": ("a, (self.b, c) = f()", "a c", "b"),
    "in brackets": ("(a, c) = f()", "a c", ""),
    "in a list": ("[a, self.b] = f()", "a", "b"),
    "the rest": ("a, *self.b = f()", "a", "b"),
    "the rest by a name": ("self.b, *a = f()", "a", "b"),
    "with a type": ("a: int = 1", "a", ""),
    "an attribute with a type": ("self.b: int = 1", "", "b"),
    "a sum": ("a += 1", "a", ""),
    "a sum in an attribute": ("self.b += 1", "", "b"),
    "a loop": ("for a in f():\n    pass", "a", ""),
    "a loop in an attribute": ("for self.b in f():\n    pass", "", "b"),
    "a loop of pairs": ("for a, *self.b in f():\n    pass", "a", "b"),
    "a with": ("with g() as a:\n    pass", "a", ""),
    "a with in an attribute": ("with g() as self.b:\n    pass", "", "b"),
    "a with of two": ("with g() as (a, self.b), h() as c:\n    pass", "a c", "b"),
    "a walrus": ("if (a := f()):\n    pass", "a", ""),
    "a walrus inside": ("self.b = f((a := 1))", "a", "b"),
    "a loop with a walrus": ("while (a := f()) and g():\n    pass", "a", ""),
    "an import": ("import a, c.d, e as f", "a c f", ""),
    "a from-import": ("from g import a, b as c", "a c", ""),
    "a case": ("match f():\n    case [a, *c]:\n        pass", "a c", ""),
    "a case with a guard": ("match f():\n    case {'k': a, **c} if (d := a):\n        pass", "a c d", ""),
}
NOTHING = {
    "an element": "self.b[0] = f()",
    "an attribute of another": "x.b = f()",
    "a call": "self.b.append(f())",
    "a comprehension": "f([a for a in g()])",
    "a lambda": "f(lambda a: (c := a))",
    "a deletion": "del a, self.b",
    "a comparison": "a == self.b",
    "an import of everything": "from a import *",
}
RUN_IN_CLASSES = [name for name in FORMS if "self" not in FORMS[name][0]]


def sides(name: str) -> tuple[str, set[str], set[str]]:
    text, names, attributes = FORMS[name]
    return text, set(names.split()), set(attributes.split())


@pytest.mark.parametrize("name", FORMS)
def test_what_a_statement_assigns(name: str) -> None:
    text, names, attributes = sides(name)
    statement = ast.parse(text).body[0]
    assert {one.name for one in assigned_by(statement)} == names | {f"self.{one}" for one in attributes}
    assert not any(one.is_bare for one in assigned_by(statement))


@pytest.mark.parametrize("name", FORMS)
def test_what_a_merge_knows_of_it(name: str) -> None:
    text, names, attributes = sides(name)
    nodes = [node for node in flatten(text) if node.canon != "pass"]
    assert {one for node in nodes for one in attributes_set(node)} == {f"self.{one}" for one in attributes}
    if not text.startswith("match"):  # a case is a clause of its own
        assert binds(nodes[0]) == names


@pytest.mark.parametrize("name", FORMS)
def test_what_the_walks_over_a_unit_find(name: str) -> None:
    text, names, attributes = sides(name)
    assert self_attributes_set(ast.parse(text)) == attributes
    if "import" not in text and "match" not in text:  # neither is a name that is stored
        assert assigned_names(ast.parse(text)) == names


@pytest.mark.parametrize("name", FORMS)
def test_what_a_reading_of_a_module_finds(name: str) -> None:
    text, names, attributes = sides(name)
    assert assigned_in(ast.parse(text).body).keys() == names | {f"self.{one}" for one in attributes}


def module_and_class(text: str) -> tuple[Module, set[str]]:
    """A module, and the attributes of its class at the end."""
    module = build("m", "m.py", "omni", text=text, is_package=False)
    node = module.node.body[-1]
    assert isinstance(node, ast.ClassDef)
    return module, {*Classes(world()).info_of(module, node).written}


def indented(text: str, depth: int) -> str:
    return textwrap.indent(text, depth * "    ")


@pytest.mark.parametrize("name", RUN_IN_CLASSES)
def test_what_a_class_and_a_module_have(name: str) -> None:
    text, names, _ = sides(name)
    module, found = module_and_class(f"{text}\nclass One:\n{indented(text, 1)}\n")
    assert module.bindings.keys() - {"One"} == found == names


@pytest.mark.parametrize("name", [name for name in FORMS if FORMS[name][2]])
def test_what_a_method_sets(name: str) -> None:
    text, _, attributes = sides(name)
    assert module_and_class(f"class One:\n    def run(self):\n{indented(text, 2)}\n")[1] == attributes


@pytest.mark.parametrize("name", RUN_IN_CLASSES)
def test_what_a_comment_calls_by_its_name(name: str) -> None:
    """A comment names the unit that it is about, unless the file has it."""
    text, names, _ = sides(name)
    for unit, prefix in [*((one, "") for one in names), ("other", "other: ")]:
        item = ReviewItem("R1", unit, "m.py", 1, 1, "why", 0.5, "", "", "", "")
        assert add_review_comments(text, [item])[0].startswith(f"{WORD} R1 {prefix}why")


@pytest.mark.parametrize("name", NOTHING)
def test_what_assigns_no_name(name: str) -> None:
    statement = ast.parse(NOTHING[name]).body[0]
    assert [one.name for one in assigned_by(statement)] == (["x.b"] if "x.b" in NOTHING[name] else [])
    assert not {name for name in assigned_in([statement]) if "." not in name}
    assert not self_attributes_set(statement)


def test_the_values() -> None:
    values = assigned_in(ast.parse("a = 1\na += 2\na: int\nb: int\n(c, d) = f()\nif (a := 3):\n    e['k'] = 4\n").body)
    assert {name: [ast.unparse(one) for one in found] for name, found in values.items()} == {
        "a": ["1", "3"],
        "c": [],
        "d": [],
    }


def test_another_self() -> None:
    method = "def run(self):\n    self.a = 1\n    class Inner:\n        def run(self):\n            self.b = 1\n"
    assert self_attributes_set(ast.parse(method)) == {"a"}
    assert self_attributes_set(ast.parse(f"class One:\n{indented(method, 1)}")) == {"a"}


BASE = "def run(self):\n    a()\n    b()\n    c()\n"


@pytest.mark.parametrize(
    "theirs",
    [
        pytest.param("    self.n = g()\n    c()\n", id="plain"),
        pytest.param("    with g() as self.n:\n        c()\n", id="a with"),
        pytest.param("    for self.n in g():\n        c()\n", id="a loop"),
        pytest.param("    self.n += 1\n    c()\n", id="a sum"),
        pytest.param("    a, *self.n = g()\n    c()\n", id="the rest"),
    ],
)
def test_what_both_sides_set_is_asked_about(theirs: str) -> None:
    """An attribute that omni sets and upstream sets anew, in whatever way, is one decision."""
    omni = BASE.replace("    b()\n", "    self.n = 0\n    b()\n")
    merged = merge(Triple(BASE, omni, BASE.replace("    c()\n", theirs)))
    assert [decision.reason.names for decision in merged.decisions if decision.reason.kind == "set by both"] == [
        ("self.n",)
    ]
    other = merge(Triple(BASE, omni.replace("self.n", "self.m"), BASE.replace("    c()\n", theirs)))
    assert not [decision for decision in other.decisions if decision.reason.kind == "set by both"]


BUILDING = "def start(self):\n    self.device = pick()\n    self.runner = Runner(self.device)\n"
BRANCH = """def start(self):
    self.device = pick()
    if self.is_v2:
        from v2 import RunnerV2

        self.runner = RunnerV2(self.device)
    else:
        self.runner = Runner(self.device)
"""


def test_a_new_branch_that_builds_what_omni_builds_itself_is_asked_about() -> None:
    merged = merge(Triple(BUILDING, BUILDING.replace("Runner(", "OmniRunner("), BRANCH))
    assert merged.text == BRANCH.replace(" Runner(", " OmniRunner(")
    assert [(one.chosen, one.reason) for one in merged.decisions] == [
        ("self.runner = RunnerV2(self.device)", Reason("set beside omni's call", ("self.runner",), "OmniRunner"))
    ]


@pytest.mark.parametrize(
    ("edit", "branch"),
    [
        pytest.param(("x", "x"), ("x", "x"), id="omni edited nothing"),
        pytest.param(("Runner(", "Runner(None, "), ("x", "x"), id="omni edited an argument"),
        pytest.param(("pick()", "choose()"), ("x", "x"), id="omni edited another attribute"),
        pytest.param(("Runner(", "OmniRunner("), ("RunnerV2(", "OmniRunner("), id="the same call"),
        pytest.param(("Runner(", "OmniRunner("), ("RunnerV2(self.device)", "None"), id="no call"),
    ],
)
def test_a_new_branch_beside_no_call_of_omnis_is_not_asked_about(
    edit: tuple[str, str], branch: tuple[str, str]
) -> None:
    merged = merge(Triple(BUILDING, BUILDING.replace(*edit), BRANCH.replace(*branch)))
    assert "set beside omni's call" not in {one.reason.kind for one in merged.decisions}


PASSED = """def run(self):
    out = self.pack()
    {own}
    return {call}
"""
CALLED = "Output(out={object}, stream=self.stream{more})"


def passed_beside(own: str, base: str, now: str, kept: str) -> list[tuple[str, ...]]:
    """The names of the questions about what upstream passes where omni sets a field by ``own``."""
    before, after = (PASSED.format(own="self.done()", call=call) for call in (base, now))
    merged = merge(Triple(before, PASSED.format(own=f"self.done()\n    {own}", call=kept), after))
    return [decision.reason.names for decision in merged.decisions if decision.reason.kind == "passed beside own"]


PLAIN, WITH_ROWS = (CALLED.format(object="out", more=more) for more in ("", ", rows=self.rows"))


@pytest.mark.parametrize(
    ("now", "kept"),
    [
        pytest.param(WITH_ROWS, PLAIN, id="the same call"),
        pytest.param(WITH_ROWS, PLAIN.replace("Output", "OmniOutput"), id="a call that omni edited"),
        pytest.param(WITH_ROWS.replace("out=out", "out"), PLAIN, id="by position"),
    ],
)
def test_what_upstream_passes_beside_an_object_of_which_omni_sets_it_is_asked_about(now: str, kept: str) -> None:
    """``routed_experts`` of the asynchronous output, which replaces that of the output that it wraps."""
    assert passed_beside("out.rows = self.mine", PLAIN, now, kept) == [("out.rows",)]


@pytest.mark.parametrize(("kept", "asked"), [(PLAIN, [("out.rows",)]), (PLAIN.replace("out=out", "out=made"), [])])
def test_so_is_what_a_call_passes_beside_an_object_that_omni_gives_it_instead(
    kept: str, asked: list[tuple[str, ...]]
) -> None:
    """In the generation runner, omni's ``output`` stands for upstream's ``model_runner_output``."""
    base, now = (call.replace("out=out", "out=made") for call in (PLAIN, WITH_ROWS))
    assert passed_beside("out.rows = self.mine", base, now, kept) == asked


@pytest.mark.parametrize(
    ("own", "base", "now", "kept"),
    [
        pytest.param("out.total = 1", PLAIN, WITH_ROWS, PLAIN, id="omni sets another field"),
        pytest.param("self.rows = 1", PLAIN, WITH_ROWS, PLAIN, id="omni sets it on another object"),
        pytest.param("rows = 1", PLAIN, WITH_ROWS, PLAIN, id="omni sets a local"),
        pytest.param("out.rows = 1", WITH_ROWS, WITH_ROWS.replace("stream=", "on="), WITH_ROWS, id="passed before"),
        pytest.param("out.rows = 1", PLAIN, WITH_ROWS, WITH_ROWS, id="omni passes it, too"),
        pytest.param("out.rows = 1", PLAIN, PLAIN.replace("out=out", "out=out, rows=out.rows"), PLAIN, id="its value"),
    ],
)
def test_noop_other_keywords_are_not_asked_about(own: str, base: str, now: str, kept: str) -> None:
    assert passed_beside(own, base, now, kept) == []


def test_noop_what_upstream_passes_above_or_beside_self_is_not_asked_about() -> None:
    before = "def run(self, out):\n    self.a(out)\n    self.end(out)\n"
    for own, new in (
        ("    self.end(out)\n    out.rows = 1\n", "self.a(out, rows=2)"),
        ("    self.rows = 1\n    self.end(out)\n", "self.a(out)\n    self.end(self, rows=2)"),
    ):
        merged = merge(Triple(before, before.replace("    self.end(out)\n", own), before.replace("self.a(out)", new)))
        assert "passed beside own" not in {decision.reason.kind for decision in merged.decisions}
