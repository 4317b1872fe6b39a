"""Which class a base expression means: one table, and every part of the program that follows it gives its answer."""

from __future__ import annotations

import ast

import pytest
from verify_samples import TextTree

from runner_sync.model import PACKAGES, Project, Source
from runner_sync.profile import NPU
from runner_sync.references import alternatives, find_bindings
from runner_sync.sync.classes.module_texts import ModuleTexts
from runner_sync.trees import Tree
from runner_sync.units import class_bases, split
from runner_sync.verify.check_job import CheckJob, CheckModule
from runner_sync.verify.runners.ancestry import find_ancestry
from runner_sync.verify.runners.job import Library
from runner_sync.verify.trees.classes import Classes
from runner_sync.verify.trees.world import World

RUNNER = "vllm_omni/npu/runner.py"
FILES = {
    "vllm_omni/__init__.py": "",
    "vllm_omni/npu/__init__.py": "from .small import A as Exported\n",
    "vllm_omni/npu/small.py": "class A:\n    a = 1\nclass B:\n    b = 1\n",
    "vllm_omni/npu/alias.py": "from .small import A, B\nOther = A\nChosen = A if FLAG else B\n",
    "vllm_omni/npu/star.py": "from .small import *\n",
    "vllm_omni/npu/round.py": "from .turn import X\nLoop = Loop\n",
    "vllm_omni/npu/turn.py": "from .round import X\n",
}
IMPORTS = "from vllm_omni.npu.small import A, B\n"
HERE = "vllm_omni.npu.small"

# The code, what it makes of the base `Base`, and the origins that the module itself shows.
FOLLOWED = {
    "import": ("from vllm_omni.npu.small import A as Base\n", "A", [(HERE, "A", "")]),
    "alias": (IMPORTS + "Base = A\n", "A", [(HERE, "A", "")]),
    "alias of an alias": (IMPORTS + "First = A\nBase = First\n", "A", [(HERE, "A", "")]),
    "one of two names": (IMPORTS + "Base = Other = A\n", "A", [(HERE, "A", "")]),
    "annotated": (IMPORTS + "Base: type = A\n", "A", [(HERE, "A", "")]),
    "generic": (IMPORTS + "Base = A[int]\n", "A", [(HERE, "A", "")]),
    "conditional": (IMPORTS + "Base = A if new() else B\n", "A B", [(HERE, "A", "new()"), (HERE, "B", "not (new())")]),
    "conditional in a conditional": (
        IMPORTS + "if p:\n    Base = A if q else B\n",
        "A B",
        [(HERE, "A", "p and q"), (HERE, "B", "p and not (q)")],
    ),
    "if": (IMPORTS + "if p:\n    Base = A\nelse:\n    Base = B\n", "A B", [(HERE, "A", "p"), (HERE, "B", "not (p)")]),
    "try": (
        "try:\n    from .small import A as Base\nexcept ImportError:\n    from .small import B as Base\n",
        "A B",
        [(".small", "A", "try"), (".small", "B", "except ImportError")],
    ),
    "match": (
        IMPORTS + "match p:\n    case 1 if q:\n        Base = A\n    case _:\n        Base = B\n",
        "A B",
        [(HERE, "A", "match p: case 1 if q"), (HERE, "B", "match p: case _")],
    ),
    "with": (
        "with suppress(ImportError):\n    from .small import A as Base\n",
        "A",
        [(".small", "A", "with suppress(ImportError)")],
    ),
    "member of a module": ("from vllm_omni.npu import small\nBase = small.A\n", "A", [(HERE, "A", "")]),
    "member of an alias": ("from . import small\nhome = small\nBase = home.A\n", "A", [(".small", "A", "")]),
    "member of a package": ("import vllm_omni.npu.small\nBase = vllm_omni.npu.small.A\n", "A", [(HERE, "A", "")]),
    "member of a module in a package": (
        "import vllm_omni.npu as npu\nBase = npu.small.A\n",
        "A",
        [("vllm_omni.npu", "small.A", "")],
    ),
    "re-export": ("from . import Exported as Base\n", "A", [(".", "Exported", "")]),
    "alias elsewhere": ("from .alias import Other as Base\n", "A", [(".alias", "Other", "")]),
    "conditional elsewhere": ("from .alias import Chosen as Base\n", "A B", [(".alias", "Chosen", "")]),
    "star": ("from .star import *\nBase = A\n", "A", [("", "A", "")]),
    "circle of modules": ("from .round import X as Base\n", "+", [(".round", "X", "")]),
    "circle of a name": ("from .round import Loop as Base\n", "+", [(".round", "Loop", "")]),
    "itself": ("Base = Base\n", "", [("", "Base", "")]),
    "made by a call": ("Base = make()\n", "+", []),
}


def trees(runner: str) -> dict[Project, Tree]:
    files = {**FILES, RUNNER: runner}
    return {p: TextTree(Source(p, "path", p), files if p == "vllm-omni" else {}) for p in PACKAGES}


def by_world(runner: str) -> str:
    classes = Classes(World(trees(runner), surroundings=()))
    (definition,) = classes.world.resolve(classes.world.module_at(RUNNER), "R")
    info = classes.info(definition)
    assert info is not None
    mros = classes.mros(info)
    return _words([parent.name for mro in mros for parent in mro.classes[1:]], is_open=any(mro.open for mro in mros))


def by_check(runner: str) -> str:
    library = Library(CheckJob(NPU, (CheckModule(RUNNER, runner),), read=FILES.get))
    reading = library.at(RUNNER)
    assert reading is not None
    found = find_ancestry(library, reading.classes["R"])
    return _words([parent.name for parent in found.classes[1:]], is_open=found.is_open)


def by_texts(runner: str) -> str:
    found = ModuleTexts(trees(runner)).find_inherited(runner, "R", "vllm_omni.npu.runner")
    return _words(sorted(found.classes), is_open=False)


def _words(names: list[str], *, is_open: bool) -> str:
    return " ".join(names + ["+"] * is_open)


@pytest.mark.parametrize("head", ["{}class R(Base): ...\n", "{}class R(Base[int]): ...\n"], ids=["plain", "generic"])
@pytest.mark.parametrize("name", FOLLOWED)
def test_a_base_is_followed(name: str, head: str) -> None:
    code, means, origins = FOLLOWED[name]
    runner = head.format(code)
    first = means.split(" ")[0]
    (base,) = class_bases(split(runner), "R")
    assert [(origin.module, origin.name, origin.condition) for origin in base.origins] == origins
    assert by_world(runner) == (means or "+")
    # `check` and an upgrade follow the first class of a conditional base; an upgrade also asks about the others.
    assert by_check(runner) == first
    assert by_texts(runner) == first.strip("+")


def test_a_base_is_followed_in_the_class_statement() -> None:
    runner = IMPORTS + "class R(A if new() else B): ...\n"
    (base,) = class_bases(split(runner), "R")
    assert [(origin.name, origin.condition) for origin in base.origins] == [("A", "new()"), ("B", "not (new())")]
    assert (by_world(runner), by_check(runner), by_texts(runner)) == ("A B", "A", "A")


@pytest.mark.parametrize("code", ["try:\n    from .small import A as Base\nexcept ImportError:\n    Base = object\n"])
def test_a_stand_in_for_an_import_that_fails_proves_nothing(code: str) -> None:
    assert by_world(f"{code}class R(Base): ...\n") == "A +"


def test_an_upgrade_knows_all_branches() -> None:
    runner = IMPORTS + "Base = A if new() else B\nclass R(Base): ...\n"
    found = ModuleTexts(trees(runner)).find_branches(runner, "R", "vllm_omni.npu.runner")
    assert [(origin.condition, owner.name) for _, origin, owner in found] == [("new()", "A"), ("not (new())", "B")]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("for row in rows:\n    import a\n", [("a", "a loop")]),
        ("import a.b\nfrom c import *\n", [("a.b", ""), ("*", "")]),
        ("try:\n    pass\nexcept:\n    import a\n", [("a", "except BaseException")]),
        ("def f():\n    import a\n", []),
        ("rows.a = 1\nb, c = d\n", []),
    ],
)
def test_what_a_module_binds(code: str, expected: list[tuple[str, str]]) -> None:
    assert [(binding.name, binding.condition) for binding in find_bindings(ast.parse(code).body)] == expected


def test_alternatives_of_an_expression() -> None:
    expression = ast.parse("A[int] if p else B if q else C", mode="eval").body
    found = [(ast.unparse(part), condition) for part, condition in alternatives(expression)]
    assert found == [("A", "p"), ("B", "not (p) and q"), ("C", "not (p) and not (q)")]


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("A = A.inner\nclass R(A): ...\n", id="a class becomes its own attribute"),
        pytest.param("Base = B.x\nB = Base.y\nclass R(Base): ...\n", id="two names that lengthen each other"),
        pytest.param("import a\na = a.b\nclass R(a.C): ...\n", id="a module"),
        pytest.param("A = A if new() else A.inner\nclass R(A): ...\n", id="on one condition"),
    ],
)
def test_a_name_that_grows_ends(code: str) -> None:
    runner = IMPORTS + code
    by_check(runner), by_texts(runner), by_world(runner)


@pytest.mark.parametrize(
    ("code", "found"),
    [
        pytest.param("Base = A\nBase = make(Base)\n", "", id="replaced by the result of a call"),
        pytest.param("Base = A\nif new():\n    Base = make(Base)\n", "", id="perhaps replaced"),
        pytest.param("Base = A if new() else make()\n", "", id="in one of two cases"),
        pytest.param("Base = A\nif new():\n    Base = B\n", "A B", id="one of two classes"),
    ],
)
def test_a_name_that_may_hold_anything_proves_nothing(code: str, found: str) -> None:
    assert by_world(IMPORTS + f"{code}class R(Base): ...\n").replace("+", "").strip() == found
