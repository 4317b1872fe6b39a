"""Imports under a condition come with it; near misses stay questions."""

from __future__ import annotations

import ast

import pytest

from runner_sync.compose.guarded import copy_guards, follow_guards, import_conditionally
from runner_sync.compose.imports import Provider, settle_imports
from runner_sync.texts.bindings import bound_above, read_bindings

CODE = """\
import torch
from vllm_ascend.utils import vllm_version_is


def lists():
    return RowLists()
"""
GUARD = """\
if not vllm_version_is("1.2"):
    from vllm.outputs import RowLists"""


def test_an_import_under_a_version_check_comes_with_the_check() -> None:
    made = copy_guards(CODE, ["RowLists"], f"import os\n\n{GUARD}\n\nLIMIT = 3\n")
    head, code = CODE.split("\n\n\n")
    assert made == f"{head}\n\n{GUARD}\n\n\n{code}"
    ast.parse(made)
    assert copy_guards(made, ["RowLists"], GUARD) == made


def test_it_stands_above_the_code_where_an_import_comes_late() -> None:
    text = f"{CODE}\n\nimport late  # noqa: E402\n"
    head, code = text.split("\n\n\n", 1)
    assert copy_guards(text, ["RowLists"], GUARD) == f"{head}\n\n{GUARD}\n\n\n{code}"


BRANCHES = """\
if vllm_version_is("1.2"):
    from vllm.outputs import RowLists, Rows
elif vllm_version_is("1.3"):
    import vllm.rows as RowLists
else:
    from vllm.rows import (
        RowTables,
    )"""


EMPTIED = BRANCHES.replace("from vllm.outputs import RowLists, Rows", "pass").replace(
    "import vllm.rows as RowLists", "pass"
)
USES_ALL = CODE.replace("return RowLists()", "return RowLists() or Rows() or RowTables()")


@pytest.mark.parametrize("name", ["RowLists", "RowTables", "Rows"])
def test_it_comes_with_all_its_branches(name: str) -> None:
    made = copy_guards(USES_ALL, [name], f"import os\n{BRANCHES}\n")
    head, code = USES_ALL.split("\n\n\n")
    assert made == f"{head}\n\n{BRANCHES}\n\n\n{code}"
    assert copy_guards(made, [name], BRANCHES) == made


@pytest.mark.parametrize(
    ("used", "block"),
    [
        pytest.param("RowLists()", BRANCHES.replace(", Rows", "").partition("\nelse")[0], id="the last branch goes"),
        pytest.param("RowTables()", EMPTIED, id="others are left empty"),
    ],
)
def test_it_comes_without_names_that_nothing_uses(used: str, block: str) -> None:
    """``issue_routing_d2h_copy`` of vllm-ascend 0.21.0rc1, which omni's generation runner does not call."""
    code = CODE.replace("RowLists()", used)
    made = copy_guards(code, [used.removesuffix("()")], BRANCHES)
    assert block in made
    assert made.count("import ") == code.count("import ") + block.count("import ")
    ast.parse(made)


EITHER = 'if vllm_version_is("1.2"):\n    from a import RowLists\nelse:\n    from b import RowLists'


@pytest.mark.parametrize(
    ("source", "added"),
    [
        pytest.param(EITHER, "if vllm_version_is", id="with its condition"),
        pytest.param(EITHER.replace("vllm_version_is", "is_old"), "from p.q import RowLists", id="a check not here"),
        pytest.param(GUARD + "\nelse:\n    RowLists = None", "from p.q import RowLists", id="bound otherwise"),
        pytest.param("from a import RowLists\n" + GUARD, "from p.q import RowLists", id="imported anew"),
        pytest.param(GUARD.replace("vllm_version_is", "is_old"), "", id="perhaps not at all"),
        pytest.param(f"{GUARD}\nif vllm_version_is('1.2'):\n    from a import RowLists", "", id="by two checks"),
    ],
)
def test_what_a_module_has_by_every_way(source: str, added: str) -> None:
    """It has the name itself, so that it can be imported from there; one that it may lack is left unknown."""
    provider = Provider(source, "p.q")
    made = import_conditionally(settle_imports("", CODE, (provider,)), provider)
    assert [name for name in made.unknown if name == "RowLists"] == ([] if added else ["RowLists"])
    assert added in made.text
    assert "import RowLists" in made.text or not added
    assert "\nfrom a import" not in made.text


CERTAIN = {
    "an import": ("import x", True),
    "either branch": ("if y():\n    import x\nelse:\n    x = None", True),
    "one branch": ("if y():\n    import x", False),
    "a branch beside one that raises": ("if y():\n    import x\nelse:\n    raise ImportError", True),
    "behind a raise": ("if y():\n    raise ImportError\nimport x", True),
    "a try": ("try:\n    import x\nexcept ImportError:\n    pass", True),
    "a handler": ("try:\n    import a\nexcept ImportError:\n    import x", False),
    "a try that raises": ("try:\n    raise ImportError\nexcept ImportError:\n    import x", True),
    "a with": ("with y():\n    import x", True),
    "a with that swallows": ("with suppress(ImportError):\n    import x", False),
    "a with by a name": ("with y() as x:\n    pass", True),
    "a loop": ("for x in y:\n    pass", False),
    "a loop without end": ("while True:\n    x = y()\n    break", True),
    "a case": ("match y:\n    case [x]:\n        pass", False),
    "any case": ("match y:\n    case [x]:\n        pass\n    case x:\n        pass", True),
    "a declaration": ("x: int", False),
    "a value with a type": ("x: int = 1", True),
    "a walrus": ("if (x := y()):\n    pass", True),
    "a walrus behind another condition": ("if y():\n    z = (x := 1)", False),
    "what is deleted": ("from a import x\ndel x", False),
    "what is bound again": ("from a import x\ndel x\nx = 1", True),
    "what may be deleted": ("from a import x\nif y():\n    del x", False),
    "for type checkers": ("if TYPE_CHECKING:\n    import x", False),
    "not for type checkers": ("if TYPE_CHECKING:\n    import a as x\nelse:\n    x = 1", True),
    "unless for type checkers": ("if not TYPE_CHECKING:\n    import x", True),
    "a function": ("def x():\n    pass", True),
    "a local": ("def y():\n    x = 1", False),
    "a member": ("class Y:\n    x = 1", False),
    "an element": ("z = [x for x in y]", False),
}


@pytest.mark.parametrize("name", CERTAIN)
def test_what_a_module_binds_whatever_the_conditions_give(name: str) -> None:
    text, is_certain = CERTAIN[name]
    assert ("x" in read_bindings(text).certain) is is_certain
    assert ("x" in bound_above(f"{text}\nx = 2\n", len(text.split("\n")))) is is_certain


@pytest.mark.parametrize(
    ("otherwise", "way"),
    [
        pytest.param("x = Loader()", "told_otherwise", id="always"),
        pytest.param("if y():\n        x = Loader()", "conditional", id="perhaps"),
        pytest.param("with suppress(ImportError):\n        import x", "conditional", id="perhaps by an import"),
        pytest.param(
            "try:\n        y()\n    except ValueError:\n        x = Loader()", "conditional", id="in a handler"
        ),
        pytest.param("x: Loader", "for_types", id="a declaration"),
        pytest.param("pass", "for_types", id="not at all"),
    ],
)
def test_what_a_name_for_type_checkers_is_at_run_time(otherwise: str, way: str) -> None:
    known = read_bindings(f"if TYPE_CHECKING:\n    import a as x\nelse:\n    {otherwise}\n")
    ways = ("conditional", "told_otherwise", "for_types")
    assert [one for one in ways if "x" in getattr(known, one)] == [way]


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(GUARD.replace("RowLists", "Rows"), id="another name"),
        pytest.param(GUARD.replace("vllm_version_is", "is_old"), id="a check that is not here"),
        pytest.param(GUARD + "\n    LIMIT = 3", id="more than imports"),
        pytest.param(GUARD + "\nelse:\n    RowLists = None", id="more than imports in another branch"),
        pytest.param(GUARD + "\nelif is_old():\n    import rows", id="a check that is not here in another branch"),
        pytest.param(GUARD + "\nelse:\n    from .outputs import RowTables", id="a relative import"),
        pytest.param(GUARD + "\nfrom vllm.old import RowLists", id="with another import of the name"),
        pytest.param("if TYPE_CHECKING:\n    from vllm.outputs import RowLists", id="for type checkers"),
        pytest.param("if typing.TYPE_CHECKING:\n    from vllm.outputs import RowLists", id="by another name"),
        pytest.param(GUARD + "\n    from vllm.rows import torch", id="with a name that is here"),
        pytest.param("from vllm.outputs import RowLists", id="under no condition"),
    ],
)
def test_an_import_that_is_left(source: str) -> None:
    text = "import typing\nfrom typing import TYPE_CHECKING\n" + CODE
    assert copy_guards(text, ["RowLists"], source) == text


@pytest.mark.parametrize(
    ("head", "is_put"),
    [
        pytest.param("from a import is_new\n", True, id="imported"),
        pytest.param("import os\nis_new = os.getenv\nimport late\n", True, id="bound between imports"),
        pytest.param(
            "if x():\n    from a import is_new\nelse:\n    from b import is_new\nimport c\n", True, id="always"
        ),
        pytest.param(
            "try:\n    from a import is_new\nexcept ImportError:\n    is_new = len\nimport c\n", True, id="tried"
        ),
        pytest.param("import os\n\n\ndef is_new(version):\n    return version\n", False, id="a function below"),
        pytest.param("import os\nis_new = os.getenv\n", False, id="bound below the imports"),
        pytest.param("if x():\n    from a import is_new\nimport c\n", False, id="perhaps not"),
        pytest.param("if TYPE_CHECKING:\n    from a import is_new\nimport c\n", False, id="for type checkers"),
        pytest.param("import os\nfor is_new in os.hooks():\n    pass\nimport c\n", False, id="in a loop"),
        pytest.param(
            "with lock:\n    def f():\n        is_new = 1\n        return is_new\nimport c\n",
            False,
            id="in a function alone",
        ),
        pytest.param(
            "with lock:\n    async def is_new(version):\n        return version\nimport c\n",
            True,
            id="a coroutine above",
        ),
    ],
)
def test_what_a_check_asks_stands_above_it(head: str, is_put: bool) -> None:
    """Below, it would end in a NameError when the module is imported."""
    text = f"{head}\n\ndef lists():\n    return RowLists()\n"
    made = copy_guards(text, ["RowLists"], GUARD.replace("vllm_version_is", "is_new"))
    assert (made != text) is is_put
    ast.parse(made)


HEAD, BODY = CODE.split("\n\n\n")
GUARDED = f"{HEAD}\n\n{GUARD}\n\n\n{BODY}"
PLAIN = "from vllm.outputs import RowLists"


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        pytest.param(PLAIN, f"import torch\n{PLAIN}\n{HEAD[13:]}\n\n\n{BODY}", id="imported plainly"),
        pytest.param(GUARD.replace("1.2", "1.3"), GUARDED.replace("1.2", "1.3"), id="under another version"),
        pytest.param(f"import os\n{GUARD}", GUARDED, id="still there"),
        pytest.param(f"{GUARD}, Rows", GUARDED, id="imports more"),
        pytest.param("import os", GUARDED, id="not imported any more"),
        pytest.param(GUARD.replace("vllm_version_is", "is_new"), GUARDED, id="under what this module lacks"),
    ],
)
def test_a_condition_that_came_from_upstream_goes_with_it(new: str, expected: str) -> None:
    made = follow_guards(GUARDED, [f"import os\n{GUARD}, Rows"], Provider(new, "vllm_ascend.worker.runner"))
    assert made == expected


@pytest.mark.parametrize("old", ["import os", GUARD.replace("1.2", "1.1"), GUARD.replace("vllm.outputs", "vllm.rows")])
def test_a_condition_of_omni_stays(old: str) -> None:
    assert follow_guards(GUARDED, [old], Provider(PLAIN, "vllm_ascend.worker.runner")) == GUARDED


def test_a_condition_with_a_remark_of_omni_stays() -> None:
    remarked = GUARDED.replace(GUARD, f"{GUARD}  # ours")
    assert follow_guards(remarked, [GUARD], Provider(PLAIN, "vllm_ascend.worker.runner")) == remarked


def test_a_condition_whose_names_nothing_uses_goes() -> None:
    unused = GUARDED.replace("RowLists()", "[]")
    made = follow_guards(unused, [GUARD], Provider("import os", "vllm_ascend.worker.runner"))
    assert made == CODE.replace("RowLists()", "[]")


@pytest.mark.parametrize(
    ("guard", "new"),
    [
        (GUARD.replace('not vllm_version_is("1.2")', "TYPE_CHECKING"), "from vllm.lists import RowLists\n"),
        (GUARD, "try:\n    from vllm.lists import RowLists\nexcept ImportError:\n    RowLists = None\n"),
        (GUARD, "if TYPE_CHECKING:\n    from vllm.lists import RowLists\n"),
    ],
    ids=["for type checkers", "optional", "only for type checkers now"],
)
def test_a_condition_does_not_become_an_import_that_may_fail(guard: str, new: str) -> None:
    guarded = GUARDED.replace(GUARD, guard)
    assert follow_guards(guarded, [guard], Provider(new, "vllm_ascend.worker.runner")) == guarded
