"""Every rewrite is registered, tested and documented, and its documentation is what happens."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
from transform_samples import AR, check_rewrite

from runner_sync.profile import NPU, KeywordRewrite, NameRewrite
from runner_sync.transforms import (
    REWRITES,
    class_names,
    device_calls,
    forward_context,
    members,
    translate,
)
from runner_sync.transforms.imported_names import TABLE

ROOM = Path(__file__).parent.parent / "runner_sync" / "transforms"
ENGINE = {
    "__init__",
    "bodies",
    "concrete_tree",
    "configured",
    "imported_names",
    "imports",
    "job",
    "keywords",
    "renames",
    "scopes",
    "walk",
}
MODULES = (forward_context, device_calls, members, class_names)


def test_names_and_keywords_that_configuration_adds_are_rewritten() -> None:
    extended = replace(
        NPU,
        names=(*NPU.names, NameRewrite("FooWrapper", "vllm.foo", "AscendFoo", "vllm_ascend.foo")),
        keywords=(*NPU.keywords, KeywordRewrite("AscendFoo", "cuda_mode", "acl_mode")),
    )
    source = "from vllm.foo import FooWrapper, other\nx = FooWrapper(other, cuda_mode=1)\ny = other(cuda_mode=1)\n"
    done = translate(source, extended)
    assert done.text == (
        "from vllm.foo import other\nfrom vllm_ascend.foo import AscendFoo\n"
        "x = AscendFoo(other, acl_mode=1)\ny = other(cuda_mode=1)\n"
    )
    assert translate(source, NPU).text == source


def test_registry_modules_and_docs_agree() -> None:
    registered = list(REWRITES)
    modules = {path.stem for path in ROOM.glob("*.py")} - ENGINE
    assert modules == {_id(module) for module in MODULES}
    assert sorted(registered) == sorted([*modules, *TABLE])
    docs = (ROOM.parent.parent / "docs" / "adding-a-rewrite.md").read_text()
    assert re.findall(r"^\| `(\w+)` \|", docs, flags=re.MULTILINE) == registered


def _id(module: ModuleType) -> str:
    return module.__name__.rpartition(".")[2]


def test_every_rewrite_has_a_rewriting_test() -> None:
    tests = Path(__file__).with_name("test_transforms.py").read_text()
    for name in REWRITES:
        assert f'"{name}"' in tests, name


def test_every_name_of_the_profile_has_one_rewrite() -> None:
    names = [name for row in TABLE.values() for name in row.names]
    names += [*forward_context.NAMES, *(row.name for row in NPU.shared_names)]
    assert sorted(names) == sorted({row.name for row in NPU.names})


@pytest.mark.parametrize("module", MODULES, ids=_id)
def test_every_rewrite_documents_itself(module: ModuleType) -> None:
    doc = module.__doc__ or ""
    first, *_ = doc.splitlines()
    assert first.endswith(".")
    changed = re.findall(r"^    [-+]", doc, flags=re.MULTILINE)
    assert 2 <= len(changed) <= 8
    assert doc.index("\nLeaves alone:") < doc.index("\nWhy:")


@pytest.mark.parametrize("module", MODULES, ids=_id)
def test_the_documented_diff_is_what_happens(module: ModuleType) -> None:
    lines = [line[4:] for line in (module.__doc__ or "").splitlines() if line.startswith(("    -", "    +"))]
    before, after = ([line[1:] for line in lines if line[0] == sign] for sign in "-+")
    check_rewrite(_text(before), _text(after), by=(_id(module),), path=AR)


@pytest.mark.parametrize("name", TABLE)
def test_the_example_of_a_row_is_what_happens(name: str) -> None:
    check_rewrite(_text(TABLE[name].before), _text(TABLE[name].after), by=(name,), path=AR)


def _text(lines: Iterable[str]) -> str:
    return "import torch\n" + "".join(map(_statement, lines))


def _statement(line: str) -> str:
    return f"{line} ...\n" if line.endswith(":") else f"{line}\n"
