"""How rules read files: units by line, classes, and MROs over omni's own classes."""

from __future__ import annotations

import ast

import pytest
from check_samples import dedent

from runner_sync.digests import digest
from runner_sync.model import BaseRef
from runner_sync.profile import NPU
from runner_sync.verify.check_job import CheckJob, CheckModule
from runner_sync.verify.runners.ancestry import find_ancestry
from runner_sync.verify.runners.hygiene import find_calls
from runner_sync.verify.runners.job import Library
from runner_sync.verify.runners.locked import is_changed
from runner_sync.verify.runners.reading import ClassText, Reading, dotted, shorten_code

MIXINS = '''
"""Mixins.

from the runner import nothing by this sentence.
"""
from vllm_omni.base import Base

class Plain:
    x = 1

@final
class Connector(
    Base,
    Generic[T],
):
    """Text."""

    def send(self, x):
        return x

    async def receive(self):
        def inner():
            return 1
        return inner()

    if FLAG:
        def late(self):
            return 2
# a comment at the margin
    def last(self):
        return 3

def function():
    pass
'''


def read(text: str) -> Reading:
    return Reading("m.py", dedent(text))


def test_a_class_has_bases_and_methods_with_their_lines() -> None:
    found = read(MIXINS).classes["Connector"]
    assert found.bases == ("Base", "Generic")
    assert set(found.methods) == {"send", "receive", "late", "last"}
    assert found.reading.lines[found.methods["receive"][0].lineno - 1].strip() == "async def receive(self):"
    assert found.reading.lines[found.node.lineno - 1] == "class Connector("


def test_a_mixin_that_is_no_python_is_an_open_base() -> None:
    given = library(
        "from vllm_omni.a import Mixin\nclass Runner(Mixin): pass\n", a="class Mixin:\n    def f(self:\n        pass\n"
    )
    assert find_ancestry(given, head(given, "Runner")).is_open
    assert str(given.unread["vllm_omni/a.py"]).startswith("vllm_omni/a.py:2: ")


def library(npu: str, **files: str) -> Library:
    texts = {f"vllm_omni/{name}.py": dedent(text) for name, text in files.items()}
    return Library(CheckJob(NPU, (CheckModule("vllm_omni/npu.py", dedent(npu)),), read=texts.get))


def head(given: Library, name: str) -> ClassText:
    reading = given.at("vllm_omni/npu.py")
    assert reading is not None
    return reading.classes[name]


DIAMOND = """
from vllm_omni.mixins import Left, Right
class Runner(Left, Right):
    pass
"""


def test_the_mro_is_pythons() -> None:
    mixins = "class Root:\n    pass\nclass Left(Root):\n    pass\nclass Right(Root):\n    def f(self): pass\n"
    given = library(DIAMOND, mixins=mixins)
    line = find_ancestry(given, head(given, "Runner"))
    assert [c.name for c in line.classes] == ["Runner", "Left", "Right", "Root"]
    owner = line.find("f")
    assert owner is not None
    assert owner.name == "Right"


def test_classes_are_followed_through_re_exports_and_unknown_ones_left_out() -> None:
    given = library(
        "from vllm_omni.a import Mixin\nfrom vllm.x import Base\nclass Runner(Mixin, Base): pass\n",
        a="from vllm_omni.b import Original as Mixin\n",
        b="class Original:\n    pass\n",
    )
    line = find_ancestry(given, head(given, "Runner"))
    assert [c.name for c in line.classes] == ["Runner", "Original"]


@pytest.mark.parametrize("home", [".a", "vllm_omni.a"])
def test_classes_are_followed_through_relative_imports(home: str) -> None:
    given = library(f"from {home} import Mixin\nclass Runner(Mixin): pass\n", a="class Mixin:\n    pass\n")
    assert [c.name for c in find_ancestry(given, head(given, "Runner")).classes] == ["Runner", "Mixin"]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("class A(A): pass\nclass Runner(A): pass\n", id="its own base"),
        pytest.param("class A(B): pass\nclass B(A): pass\nclass Runner(A): pass\n", id="a circle"),
        pytest.param("class A: pass\nclass B(A): pass\nclass Runner(A, B): pass\n", id="no consistent order"),
    ],
)
def test_impossible_bases_do_not_hang(text: str) -> None:
    given = library(text)
    assert find_ancestry(given, head(given, "Runner")).classes[0].name == "Runner"


LIVE = """
class Base:
    def f(self): return 1
    def g(self): return 2
    def h(self): return 3
class Runner(Base):
    def f(self): return super().f()
    def g(self): return 4
    def h(self): return Base.h(self)
"""


def test_methods_that_can_run() -> None:
    given = library(LIVE)
    live = {(owner.name, function.name) for owner, function in find_ancestry(given, head(given, "Runner")).live()}
    assert live == {("Runner", "f"), ("Runner", "g"), ("Runner", "h"), ("Base", "f"), ("Base", "h")}


def test_units_by_line() -> None:
    reading = read("import x\nclass A:\n    y = 1\n    @p\n    def f(self):\n        return 1\ndef g():\n    pass\n")
    assert [reading.unit_at(line) for line in range(1, 10)] == [
        "<module>", "A", "A", "A.f", "A.f", "A.f", "g", "g", "<module>",
    ]  # fmt: skip


UNITS = '''
class Runner(Base[int], metaclass=Meta):  # a header that tells no more than itself
    """Text."""
    a, b = 1, 2; c = 3
    limit: int = 4

    # about width
    @property
    def width(self):
        """The width.

        Of it.
        """
        return self.n

    @width.setter
    def width(self, n):
        self.n = n

    if FLAG:
        def width(self): ...

    async def run(self): return """
  kept"""
        # the last word

class State(NamedTuple):
    step: int = 0

def helper(): ...
'''


REMARKS = """\
# of the module

# above a class, in two
# lines
class Runner:
    # above a decorator
    @final
    # above its def
    def run(self):
        return 1
        # behind the last statement of a method
    def stop(self):
        return 1
    # at a distance

    def close(self):  # beside a def
        return 1
        # deeper than what follows
    # as deep as that
    def open(self):
        return 1

    # the last one
"""


@pytest.mark.parametrize(
    ("words", "unit"),
    [
        ("of the module", "<module>"),
        ("above a class, in two", "Runner"),
        ("lines", "Runner"),
        ("above a decorator", "Runner.run"),
        ("above its def", "Runner.run"),
        ("behind the last statement of a method", "Runner"),
        ("at a distance", "Runner"),
        ("beside a def", "Runner.close"),
        ("deeper than what follows", "Runner"),
        ("as deep as that", "Runner.open"),
        ("the last one", "<module>"),
    ],
)
def test_a_comment_is_about_the_definition_below_it(words: str, unit: str) -> None:
    (line,) = [number for number, row in enumerate(REMARKS.split("\n"), start=1) if row.endswith(f"# {words}")]
    assert Reading("runner.py", REMARKS).unit_of_comment(line) == unit


def test_a_unit_moved_when_the_digest_of_its_text_did() -> None:
    reading = Reading("r.py", UNITS)
    names = ["Runner.(a, b)", "Runner.limit", "Runner.width", "Runner.width#2", "Runner.run", "State", "helper"]
    assert list(reading.units) == names
    for name, unit in reading.units.items():
        locked = BaseRef("vllm-omni", "0.2.0", "r.py", name, "lock", 1.0, digest(unit.text))
        assert not is_changed(locked, reading, quick=None)
        assert is_changed(locked, Reading("r.py", UNITS.replace(unit.text, "")), quick=None)


def test_calls_are_found_wherever_they_stand() -> None:
    text = """
f(k=1)
@f(k=2)
class A: pass
class B(f(k=3)): x = f(k=4)
class C(
    f(k=5),
):
    def g(self):
        return [h.f(k=6), g(k=0)]
    y = 0
    z = f(k=7)
    @f(k=8)
    def i(self): ...
"""
    found = list(find_calls(Reading("r.py", text), "f", keyword="k"))
    assert sorted(ast.unparse(call.keywords[0].value) for call in found) == list("12345678")
    assert not list(find_calls(Reading("r.py", text), "f", keyword="j"))


@pytest.mark.parametrize(
    ("code", "expected"),
    [("a = b", "a = b"), ("f(\n    a,\n)", "f( a, )"), ("a" * 10, "a" * 10), ("a" * 11, "a" * 7 + "…")],
)
def test_code_is_cut_where_it_is_longer_than_a_line_may_be(code: str, expected: str) -> None:
    assert shorten_code(code, most=10) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a", "a"), ("a.b.c", "a.b.c"), ("a.b[c]", "a.b"), ("a[b].c", ""), ("a().b", ""), ("a[b][c]", "")],
)
def test_a_dotted_name_is_one_without_calls_and_what_stands_in_brackets_behind(text: str, expected: str) -> None:
    assert dotted(ast.parse(text, mode="eval").body) == expected
