"""Imports follow the code that was merged in: added, moved, pruned, and left alone."""

from __future__ import annotations

import ast

import pytest

from runner_sync.compose.imports import Provider, Settled, add_import, remove_import, settle_imports
from runner_sync.naming import Import
from runner_sync.texts.import_entries import read_imports
from runner_sync.texts.names import undefined_names

UPSTREAM = Provider(
    """import numpy as np
import torch
from vllm.config import CUDAGraphMode, VllmConfig as Config
from ..utils import enable_sp
from .local import here
if sys.platform == "linux":
    from vllm.guarded import guarded
    from vllm.rows import maybe
else:
    from vllm.old_guarded import guarded
if TYPE_CHECKING:
    import xgrammar as xgr
    from vllm.output import Output
    from vllm.config import CUDAGraphMode
else:
    xgr = LazyLoader("xgr", globals(), "xgrammar")
if not TYPE_CHECKING:
    from vllm.rows import untold
try:
    from vllm.rows import optional
except ImportError:
    optional = None
try:
    from vllm.rows import either
except ImportError:
    from vllm.old_rows import either
try:
    from vllm.rows import needed
except ImportError as error:
    raise RuntimeError("no rows") from error

LIMIT = 3

def helper(): ...

class Runner: ...
""",
    "vllm_ascend.worker.runner",
)


def settled(before: str, after: str, providers: tuple[Provider, ...] = (UPSTREAM,), **moves: str) -> Settled:
    """``settle``, run twice: the second run changes nothing."""
    table = {("old." + name, name): module for name, module in moves.items()}
    result = settle_imports(before, after, providers, moves=table)
    ast.parse(result.text)
    again = settle_imports(result.text, result.text, providers, moves=table)
    assert again.text == result.text
    return result


@pytest.mark.parametrize(
    ("use", "statement"),
    [
        pytest.param("torch.zeros(1)", "import torch", id="module"),
        pytest.param("np.zeros(1)", "import numpy as np", id="module under another name"),
        pytest.param("CUDAGraphMode.FULL", "from vllm.config import CUDAGraphMode", id="name"),
        pytest.param("Config()", "from vllm.config import VllmConfig as Config", id="name under another name"),
        pytest.param("enable_sp()", "from vllm_ascend.utils import enable_sp", id="two dots are settled"),
        pytest.param("here()", "from vllm_ascend.worker.local import here", id="one dot is settled"),
        pytest.param("xgr.Rows()", "from vllm_ascend.worker.runner import xgr", id="told to type checkers otherwise"),
        pytest.param("Output()", "from vllm.output import Output", id="imported for type checkers"),
        pytest.param("untold()", "from vllm.rows import untold", id="not imported for type checkers"),
        pytest.param("optional()", "from vllm_ascend.worker.runner import optional", id="import that may fail there"),
        pytest.param("either()", "from vllm_ascend.worker.runner import either", id="import from one of two modules"),
        pytest.param("needed()", "from vllm.rows import needed", id="import that must not fail there"),
        pytest.param("helper()", "from vllm_ascend.worker.runner import helper", id="function of the provider"),
        pytest.param("Runner()", "from vllm_ascend.worker.runner import Runner", id="class of the provider"),
        pytest.param("LIMIT", "from vllm_ascend.worker.runner import LIMIT", id="constant of the provider"),
    ],
)
def test_what_the_merged_code_needs_is_imported_from_where_it_came_from(use: str, statement: str) -> None:
    result = settled("import os\n", f"import os\n\ndef f():\n    {use}\n")
    assert result.added == (statement,)
    assert statement in result.text.split("\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("", "def f(torch):\n    return torch\n", id="a parameter"),
        pytest.param("", "def f():\n    import torch\n    return torch\n", id="imported inside the function"),
        pytest.param("", "x = torch = 1\n", id="bound by the module"),
        pytest.param("", "def f():\n    return len('torch')\n", id="a string"),
        pytest.param("", "def f(x):\n    return x.torch\n", id="an attribute"),
        pytest.param(
            "if a:\n    import torch\n", "if a:\n    import torch\ndef f():\n    torch.f()\n", id="imported under if"
        ),
        pytest.param("def f():\n    torch.f()\n", "def f():\n    torch.f(1)\n", id="missing before as well"),
        pytest.param("import os\n", "import os\n", id="an import that nothing ever used"),
    ],
)
def test_noop(before: str, after: str) -> None:
    assert settled(before, after) == Settled(after)


def test_a_name_that_no_provider_knows_is_said() -> None:
    result = settled("", "def f():\n    return mystery(torch)\n")
    assert result.unknown == ("mystery",)
    assert result.added == ("import torch",)


@pytest.mark.parametrize("name", ["guarded", "maybe"])
def test_what_a_provider_imports_under_a_condition_is_not_imported_without(name: str) -> None:
    """Nor from a provider behind it, which may have it for another reason; from one in front of it, it is."""
    code = f"x = {name}()\n"
    other = Provider(f"from vllm.newer import {name}\n", "vllm_omni.runner")
    assert settled("", code, (UPSTREAM, other)) == Settled(code, (), (name,))
    assert settled("", code, (other, UPSTREAM)).added == (f"from vllm.newer import {name}",)


LAZY = """\
from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vllm.config import Config
    from vllm.output import Row
"""
NOTED = "def f(x: Output) -> Output: ...\n"


@pytest.mark.parametrize(
    ("before", "code", "expected"),
    [
        pytest.param(LAZY, NOTED, LAZY.replace("import Row", "import Output, Row"), id="in annotations"),
        pytest.param(
            LAZY.replace("output import Row", "zoo import Row"),
            NOTED,
            LAZY.replace("from vllm.output import Row", "from vllm.output import Output\n    from vllm.zoo import Row"),
            id="in a statement of its own",
        ),
        pytest.param(LAZY, "def f(x: Output): return Output()\n", "", id="in code, too"),
        pytest.param(LAZY, "def f(x: torch.Tensor): ...\n", "", id="what the provider imports for all"),
        pytest.param(LAZY.replace("annotations", "division"), NOTED, "", id="where annotations are evaluated"),
        pytest.param(LAZY.partition("if ")[0], NOTED, "", id="where nothing is imported for type checkers"),
    ],
)
def test_what_only_annotates_is_imported_for_type_checkers(before: str, code: str, expected: str) -> None:
    made = settled(before, f"{before}\n\n{code}").text
    head = made.partition("if TYPE")[0]
    assert made == f"{expected}\n\n{code}" if expected else "Output" in head or "torch" in head


def test_what_a_module_lacks_is_not_imported_from_it() -> None:
    """It speaks for a version that is not the target; another one may have it elsewhere."""
    code = "x = needed()\n"
    gone = settle_imports("", code, (UPSTREAM,), lacks=lambda module, name: (module, name) == ("vllm.rows", "needed"))
    assert gone.text == code
    assert gone.unknown == ("needed",)
    other = Provider("from vllm.newer import needed\n", "vllm_omni.runner")
    made = settle_imports("", code, (UPSTREAM, other), lacks=lambda module, _: module == "vllm.rows")
    assert made.added == ("from vllm.newer import needed",)


def test_the_first_provider_that_knows_a_name_gives_it() -> None:
    own = Provider("from vllm_omni.config import CUDAGraphMode\n", "vllm_omni.worker.runner")
    result = settled("", "CUDAGraphMode.FULL\n", (own, UPSTREAM))
    assert result.added == ("from vllm_omni.config import CUDAGraphMode",)


def test_annotations_count_as_use_also_in_strings() -> None:
    result = settled("", "def f(a: 'list[Config]') -> torch.Tensor: ...\n")
    assert result.added == ("import torch", "from vllm.config import VllmConfig as Config")


@pytest.mark.parametrize(
    ("annotation", "names"),
    [
        pytest.param('Literal["decode"]', set(), id="a value"),
        pytest.param('typing.Literal["decode", "prefill"] | None', set(), id="values, by the module"),
        pytest.param("\"Literal['decode']\"", set(), id="a value inside a string"),
        pytest.param('Annotated[int, "rows"]', set(), id="metadata"),
        pytest.param('Annotated["rows", "unit"]', {"rows"}, id="a type in front of metadata"),
        pytest.param('"Annotated[int, unit]"', {"unit"}, id="a name in metadata"),
        pytest.param('list["rows"]', {"rows"}, id="a type in brackets"),
        pytest.param('dict[Literal["decode"], "rows"]', {"rows"}, id="beside a value"),
        pytest.param('Annotated["rows"]', {"rows"}, id="no metadata"),
        pytest.param('"rows of a batch"', set(), id="a remark"),
    ],
)
def test_a_string_that_is_a_value_is_no_name(annotation: str, names: set[str]) -> None:
    text = f"import typing\nfrom typing import Annotated, Literal\ndef f(m: {annotation}) -> None: ...\n"
    assert undefined_names(text) == names


@pytest.mark.parametrize(
    ("text", "entry", "expected"),
    [
        pytest.param(
            "from a import b\n", Import("a", "c", "c"), "from a import b, c\n", id="into the statement of its module"
        ),
        pytest.param("from a import b\n", Import("a", "b", "b"), "from a import b\n", id="already there"),
        pytest.param("from a import z\n", Import("a", "B", "B"), "from a import B, z\n", id="classes before functions"),
        pytest.param(
            "from a import (\n    b,\n    d,\n    e,\n)\n",
            Import("a", "c", "c"),
            "from a import (\n    b,\n    c,\n    d,\n    e,\n)\n",
            id="a list over lines stays one",
        ),
        pytest.param(
            "from v.a import x\nfrom v.c import y\n",
            Import("v.b", "z", "z"),
            "from v.a import x\nfrom v.b import z\nfrom v.c import y\n",
            id="sorted inside its package",
        ),
        pytest.param(
            "import os\n\nimport torch\n",
            Import("abc", "ABC", "ABC"),
            "import os\nfrom abc import ABC\n\nimport torch\n",
            id="standard library above the rest",
        ),
        pytest.param(
            '"""Doc."""\n\nx = 1\n', Import("a", "", "a"), '"""Doc."""\nimport a\n\nx = 1\n', id="below the docstring"
        ),
        pytest.param(
            "#!/usr/bin/env python\n# Copyright\n\nx = 1\n",
            Import("a", "", "a"),
            "#!/usr/bin/env python\n# Copyright\n\nimport a\n\nx = 1\n",
            id="below the first line and the licence",
        ),
        pytest.param(
            '# Copyright\n"""Doc."""\n\nx = 1\n',
            Import("a", "", "a"),
            '# Copyright\n"""Doc."""\nimport a\n\nx = 1\n',
            id="below the docstring below the licence",
        ),
        pytest.param("\n# Rows.\nx = 1\n", Import("a", "", "a"), "import a\n\n# Rows.\nx = 1\n", id="above a remark"),
        pytest.param(
            "from __future__ import annotations\n\nx = 1\n",
            Import("a", "b", "b"),
            "from __future__ import annotations\n\nfrom a import b\n\nx = 1\n",
            id="below __future__",
        ),
        pytest.param(
            "if TYPE_CHECKING:\n    from a import b\n",
            Import("a", "c", "c"),
            "from a import c\nif TYPE_CHECKING:\n    from a import b\n",
            id="not into a conditional statement",
        ),
        pytest.param(
            "from a import b  # noqa: F401\n",
            Import("a", "c", "c"),
            "from a import c\nfrom a import b  # noqa: F401\n",
            id="not into a statement with a comment",
        ),
        pytest.param(
            "from a import b; x = 1\n",
            Import("a", "c", "c"),
            "from a import c\nfrom a import b; x = 1\n",
            id="not into a line with another statement",
        ),
        pytest.param(
            "from a import *\n",
            Import("a", "c", "c"),
            "from a import c\nfrom a import *\n",
            id="not into a star import",
        ),
        pytest.param(
            "import a\n", Import("a.b", "c", "c"), "import a\nfrom a.b import c\n", id="plain import of the package"
        ),
        pytest.param(
            "from a import D as E, D as B, z\n",
            Import("a", "D", "D"),
            "from a import D as B, D, D as E, z\n",
            id="one name by several others, in one order",
        ),
        pytest.param(
            "import os\n\nx = z()\nimport a  # noqa: E402\n",
            Import("z", "z", "z"),
            "import os\n\nfrom z import z\n\nx = z()\nimport a  # noqa: E402\n",
            id="above what uses it",
        ),
        pytest.param(
            "import os\n\ndef f(): ...\nfrom z import a  # late\nfrom z import b\n",
            Import("z", "z", "z"),
            "import os\n\nfrom z import z\n\ndef f(): ...\nfrom z import a  # late\nfrom z import b\n",
            id="not behind a function",
        ),
        pytest.param(
            "def f(): ...\nfrom z import a\n",
            Import("z", "z", "z"),
            "from z import z\ndef f(): ...\nfrom z import a\n",
            id="above all where there is none at the top",
        ),
        pytest.param(
            "import os\nlogger = log()\nif T:\n    import b\nos.f()\nimport a\n",
            Import("z", "z", "z"),
            "import os\nlogger = log()\nif T:\n    import b\nos.f()\nimport a\nfrom z import z\n",
            id="behind all at the top, whatever is in between",
        ),
        pytest.param(
            "x = 1\nimport z\nfrom z import z\n",
            Import("z", "z", "z"),
            "x = 1\nimport z\nfrom z import z\n",
            id="already there, late",
        ),
        pytest.param(
            "from z import Rows, rows\n",
            Import("z", "LIMIT", "LIMIT"),
            "from z import LIMIT, Rows, rows\n",
            id="a constant in front of classes",
        ),
        pytest.param(
            "from z import (\n    rows,\n)\n",
            Import("z", "kept", "kept"),
            "from z import kept, rows\n",
            id="two on one line",
        ),
        pytest.param(
            "from z import (\n    rows,\n    seen,\n)\n",
            Import("z", "kept", "kept"),
            "from z import (\n    kept,\n    rows,\n    seen,\n)\n",
            id="three on as many lines as they were on",
        ),
    ],
)
def test_add(text: str, entry: Import, expected: str) -> None:
    made = add_import(text, entry)
    ast.parse(made)
    assert made == expected
    assert add_import(made, entry) == made


@pytest.mark.parametrize(
    ("text", "entry", "expected"),
    [
        pytest.param("from a import b, c\nx = 1\n", Import("a", "b", "b"), "from a import c\nx = 1\n", id="one of two"),
        pytest.param("from a import b\nx = 1\n", Import("a", "b", "b"), "x = 1\n", id="the last one"),
        pytest.param("import a, b\n", Import("a", "", "a"), "import b\n", id="one module of two"),
        pytest.param("é = 1; import a; x = a\n", Import("a", "", "a"), "é = 1; pass; x = a\n", id="beside others"),
        pytest.param(
            "if T: import a, b, c\n", Import("a", "", "a"), "if T: import b; import c\n", id="in a short suite"
        ),
        pytest.param("from a import b  # ours\nx = 1\n", Import("a", "b", "b"), "x = 1\n", id="with its remark"),
        pytest.param(
            "from a import (\n    b,  # noqa: F401\n    c,  # ours\n    d,\n)\n",
            Import("a", "c", "c"),
            "from a import (\n    b,  # noqa: F401\n    d,\n)\n",
            id="a remark goes with its name alone",
        ),
        pytest.param(
            "from a import (\n    b,  # noqa: F401\n    c\n)\n",
            Import("a", "c", "c"),
            "from a import (\n    b,  # noqa: F401\n)\n",
            id="the last one without a comma, below a remark",
        ),
        pytest.param(
            "from a import (b,  # noqa: F401\n    c, d)\n",
            Import("a", "c", "c"),
            "from a import (b,  # noqa: F401\n    d)\n",
            id="the first one of a line below a remark",
        ),
        pytest.param(
            "from a import b, c  # ours\n", Import("a", "b", "b"), "from a import c  # ours\n", id="before a remark"
        ),
        pytest.param(
            "from a import (\n    b,\n    # Late.\n    c,\n)\n",
            Import("a", "b", "b"),
            "from a import (\n    # Late.\n    c,\n)\n",
            id="above a remark",
        ),
        pytest.param("from a import b as c\n", Import("a", "b", "b"), "from a import b as c\n", id="another alias"),
        pytest.param("from .a import b\n", Import("a", "b", "b"), "from .a import b\n", id="another level"),
        pytest.param(
            "if T:\n    from a import b\n", Import("a", "b", "b"), "if T:\n    pass\n", id="a suite keeps a statement"
        ),
        pytest.param(
            "if T:\n    from a import b, c\n", Import("a", "b", "b"), "if T:\n    from a import c\n", id="in a suite"
        ),
        pytest.param(
            "try:\n    from a import b\nexcept ImportError:\n    b = None\n",
            Import("a", "b", "b"),
            "try:\n    pass\nexcept ImportError:\n    b = None\n",
            id="in try",
        ),
        pytest.param(
            "try:\n    x = 1\nexcept ImportError:\n    from a import b\n",
            Import("a", "b", "b"),
            "try:\n    x = 1\nexcept ImportError:\n    pass\n",
            id="in except",
        ),
        pytest.param(
            "if T:\n    x = 1\nelse:\n    from a import b\n",
            Import("a", "b", "b"),
            "if T:\n    x = 1\nelse:\n    pass\n",
            id="in else",
        ),
    ],
)
def test_remove(text: str, entry: Import, expected: str) -> None:
    made = remove_import(text, entry)
    ast.parse(made)
    assert made == expected


def test_what_only_removed_code_used_is_pruned() -> None:
    result = settled("from a import b, c\nb()\nc()\n", "from a import b, c\nc()\n")
    assert result.text == "from a import c\nc()\n"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("from a import b  # noqa: F401\n{}", id="pinned by noqa"),
        pytest.param('from a import b\n__all__ = ["b"]\n{}', id="a module with __all__"),
        pytest.param("from a import b as b\n{}", id="exported by an alias of its own name"),
        pytest.param("if T:\n    from a import b\n{}", id="conditional"),
        pytest.param("try:\n    from a import b\nexcept ImportError:\n    b = None\n{}", id="with a fallback"),
        pytest.param("from a import b\ndef f(x: 'b'): ...\n{}", id="used in a string annotation"),
    ],
)
def test_an_import_is_not_pruned(text: str) -> None:
    before, after = text.format("b()\n"), text.format("")
    assert settled(before, after) == Settled(after)


FOR_TYPES = """from __future__ import annotations
from typing import TYPE_CHECKING, Any
{}

class Runner:
    def run(self, output: Output) -> Any:
"""


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        pytest.param("if TYPE_CHECKING:\n    from vllm.output import Output", "", id="nothing else"),
        pytest.param(
            "if TYPE_CHECKING:\n    from vllm.output import Output, Rows",
            "if TYPE_CHECKING:\n    from vllm.output import Rows",
            id="one of two",
        ),
        pytest.param(
            "if TYPE_CHECKING:\n    # Ours.\n    from vllm.output import Output",
            "if TYPE_CHECKING:\n    # Ours.\n    pass",
            id="with a remark",
        ),
        pytest.param(
            "if TYPE_CHECKING:\n    from vllm.rows import Rows\n    from vllm.output import Output",
            "if TYPE_CHECKING:\n    from vllm.rows import Rows",
            id="behind another",
        ),
    ],
)
def test_what_type_checkers_had_is_imported_for_a_run_that_reads_it(block: str, expected: str) -> None:
    before = FOR_TYPES.format(block) + "        return output\n"
    after = before.replace("return output", "return Output(output)")
    made = settled(before, after)
    assert made.added == ("from vllm.output import Output",)
    assert made.text.count("import Output") == 1
    assert made.text.index("from vllm.output import Output") < made.text.index("class Runner")
    assert "Output" not in made.text.partition("if TYPE_CHECKING")[2].partition("class")[0]
    assert ("if TYPE_CHECKING" in made.text) == bool(expected)
    assert expected in made.text


@pytest.mark.parametrize(
    ("block", "rest"),
    [
        pytest.param("if TYPE_CHECKING:\n    from vllm.output import Output\n", "", id="nothing else"),
        pytest.param(
            "if TYPE_CHECKING:\n    from vllm.output import Output, Rows\n",
            "if TYPE_CHECKING:\n    from vllm.output import Rows\n",
            id="one of two",
        ),
        pytest.param(
            "if TYPE_CHECKING:\n    from vllm.output import Output  # noqa: F401\n",
            "if TYPE_CHECKING:\n    from vllm.output import Output  # noqa: F401\n",
            id="kept on purpose",
        ),
    ],
)
def test_what_type_checkers_had_goes_with_its_last_reader(block: str, rest: str) -> None:
    """``SchedulerOutput`` of vllm-omni 0.12.0rc1, read only by a method that 0.14.0rc1 makes superfluous."""
    before = FOR_TYPES.format(block)[: -len("    def run(self, output: Output) -> Any:\n")]
    after = before + "    def run(self, output) -> Any: ...\n"
    text = settled(before + "    def run(self, output: Output) -> Any: ...\n", after).text
    imported = "TYPE_CHECKING, Any" if rest else "Any"
    head, expected = "from __future__ import annotations\n", f"from typing import {imported}\n{rest}"
    assert text.startswith(head + expected)
    assert ("if TYPE_CHECKING" in text) == bool(rest)


@pytest.mark.parametrize(
    ("was", "now"),
    [
        pytest.param("return output", "found: Output = output\n        return found", id="only in an annotation"),
        pytest.param("return output", "found: Output\n        return output", id="only declared"),
        pytest.param("return Output(output)", "return Output(output, 1)", id="read before"),
        pytest.param("return output", "from here import Output\n        return Output(output)", id="a local"),
        pytest.param(
            "return output",
            "def send(rows: list[Output]) -> Output:\n            return rows[0]\n        return send(output)",
            id="in a signature",
        ),
        pytest.param(
            "return output",
            "async def send(rows: list[Output]) -> Output:\n            return rows[0]\n        return send(output)",
            id="in the signature of a coroutine",
        ),
    ],
)
def test_what_no_run_reads_for_the_first_time_stays_with_the_type_checkers(was: str, now: str) -> None:
    before = FOR_TYPES.format("if TYPE_CHECKING:\n    from vllm.output import Output") + f"        {was}\n"
    after = before.replace(was, now)
    assert settled(before, after) == Settled(after)


def test_a_new_import_repeats_nothing_that_shares_a_line_with_the_first() -> None:
    before = "count(); import os\nos.getpid()\n"
    after = before + "enable_sp()\n"
    expected = "count(); import os\n\nfrom vllm_ascend.utils import enable_sp\nos.getpid()\nenable_sp()\n"
    assert settled(before, after).text == expected


def test_an_import_moves_with_upstream() -> None:
    text = "from old.name import name\nname()\n"
    result = settled(text, text, name="new.name")
    assert result.text == "from new.name import name\nname()\n"


def test_a_moved_import_that_is_a_paragraph_leaves_no_second_blank_line() -> None:
    text = "# Licence.\n\nfrom old.name import name\n\nfrom omni.runner import Runner\nname(Runner)\n"
    result = settle_imports(text, text, (), moves={("old.name", "name"): "new.name"}, first_party="omni")
    assert result.text == text.replace("old.name", "new.name")


GUARDED = "try:\n    {}\nexcept ImportError:\n    name = None\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "if TYPE_CHECKING:\n    from old.name import name\n",
            "if TYPE_CHECKING:\n    from new import name\n",
            id="for type checkers",
        ),
        pytest.param(
            GUARDED.format("from old.name import name as n  # ours"),
            GUARDED.format("from new import name as n  # ours"),
            id="in try, with an alias and a remark",
        ),
        pytest.param(
            GUARDED.format("from old.name import (\n        name,\n        name as n,\n    )"),
            GUARDED.format("from new import (\n        name,\n        name as n,\n    )"),
            id="all that a statement imports",
        ),
        pytest.param(
            GUARDED.format("from old.name import name, other"),
            GUARDED.format("from new import name\n    from old.name import other"),
            id="one of two",
        ),
        pytest.param(
            "if T: from old.name import name, other\n",
            "if T: from new import name; from old.name import other\n",
            id="one of two in a short suite",
        ),
        pytest.param(
            "if T:\n    from here import name\nelse:\n    from old.name import name\n",
            "if T:\n    from here import name\nelse:\n    from new import name\n",
            id="in the other branch",
        ),
        pytest.param(
            GUARDED.format("from old.name import name").replace("name = None", "from new import name"),
            GUARDED.format("from old.name import name").replace("name = None", "from new import name"),
            id="not where it is imported from there already",
        ),
    ],
)
def test_an_import_under_a_condition_moves_under_the_condition(text: str, expected: str) -> None:
    assert settled(text, text, name="new").text == expected


def test_a_module_that_is_imported_under_a_condition_moves_there() -> None:
    text = GUARDED.format("import os, old.name as name")
    assert settle_imports(text, text, (), moves={("old.name", ""): "new"}).text == text.replace("old.name as", "new as")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("from old.other import name\nname()\n", id="the same name of another module"),
        pytest.param("from old.name import other\nother()\n", id="another name of the same module"),
        pytest.param("import old.name\nold.name.name()\n", id="imported as a module"),
    ],
)
def test_an_import_is_not_moved(text: str) -> None:
    assert settled(text, text, name="new.name") == Settled(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("import a\n# About name.\nfrom old.name import name\nfrom zoo import b\n", id="above it"),
        pytest.param("from old.name import name  # noqa: F401\nfrom zoo import b\n", id="behind it"),
        pytest.param("from old.name import (\n    # About name.\n    name,\n)\nfrom zoo import b\n", id="inside"),
    ],
)
def test_a_moved_import_stays_with_its_comments(text: str) -> None:
    moved = settled(text, text, name="z.new")
    assert moved.text == text.replace("old.name", "z.new")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "# Licence.\nfrom old.name import name\nfrom zoo import b\n",
            "# Licence.\nfrom zoo import b\nfrom zzz import name\n",
            id="what opens the file is not about it",
        ),
        pytest.param(
            "from old.name import name, other  # ours\nfrom zoo import b\n",
            "from old.name import other  # ours\nfrom zoo import b\nfrom zzz import name\n",
            id="they stay with the other names",
        ),
        pytest.param(
            "from zoo import b\nfrom zzz import name\n# Again.\nfrom old.name import name\n",
            "from zoo import b\nfrom zzz import name\n# Again.\n",
            id="imported from there already",
        ),
    ],
)
def test_a_moved_import_goes_to_its_place_in_the_order(text: str, expected: str) -> None:
    assert settled(text, text, name="zzz").text == expected


SEVERAL = "from old.name import (\n    name,{}\n    other,{}\n)\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            SEVERAL.format("  # ours", "  # theirs"),
            "from old.name import (\n    other,  # theirs\n)\nfrom zzz import name  # ours\n",
            id="to a statement of its own",
        ),
        pytest.param(
            SEVERAL.replace("name,{}\n    other,", "other,{}\n    name").format("", "  # ours"),
            "from old.name import (\n    other,\n)\nfrom zzz import name  # ours\n",
            id="from the last name, which has no comma",
        ),
        pytest.param(
            SEVERAL.format("  # ours", "") + "from zzz import b\n",
            "from old.name import (\n    other,\n)\nfrom zzz import name  # ours\nfrom zzz import b\n",
            id="beside a statement that imports from there without one",
        ),
        pytest.param(
            "if T:\n    from old.name import (\n        name,  # ours\n        other,\n    )\n",
            "if T:\n    from zzz import name  # ours\n    from old.name import (\n        other,\n    )\n",
            id="under a condition",
        ),
        pytest.param(
            SEVERAL.format("", "  # theirs") + "from zzz import b\n",
            "from old.name import (\n    other,  # theirs\n)\nfrom zzz import b, name\n",
            id="not another name's",
        ),
        pytest.param(
            "from old.name import (  # all\n    name,\n    other,\n)  # end\n",
            "from old.name import (  # all\n    other,\n)  # end\nfrom zzz import name\n",
            id="not the statement's",
        ),
        pytest.param(
            "from old.name import (\n    name, other,  # both\n)\n",
            "from old.name import (\n    other,  # both\n)\nfrom zzz import name\n",
            id="not one on two names",
        ),
    ],
)
def test_a_comment_behind_a_name_moves_with_its_import(text: str, expected: str) -> None:
    assert settled(text, text, name="zzz").text == expected


def test_a_moved_import_keeps_its_alias() -> None:
    text = "from old.name import name as n\nn()\n"
    assert settled(text, text, name="new.name").text == "from new.name import name as n\nn()\n"


def test_imports_are_found_under_if_and_try() -> None:
    text = (
        "import a.b\nif T:\n    from c import d\nelse:\n    from e import d\n"
        "try:\n    import f as g\nexcept ImportError:\n    import h\ndef i():\n    import j\n"
    )
    assert read_imports(text) == {
        "a": Import("a.b", "", "a"),
        "d": Import("c", "d", "d"),
        "g": Import("f", "", "g"),
        "h": Import("h", "", "h"),
    }
