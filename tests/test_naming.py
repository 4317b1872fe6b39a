"""Names of modules: from paths and back, and as relative imports say them."""

from __future__ import annotations

import ast
import importlib.util

import pytest

from runner_sync.naming import Import, absolute, imported_by, module_name, paths_of, project_of


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("vllm/v1/worker.py", "vllm.v1.worker"),
        ("vllm/v1/__init__.py", "vllm.v1"),
        ("vllm/__init__.py", "vllm"),
        ("vllm/x__init__.py", "vllm.x__init__"),
    ],
)
def test_a_path_and_the_name_of_its_module(path: str, name: str) -> None:
    assert module_name(path) == name
    assert path in paths_of(name)


@pytest.mark.parametrize("name", ["a.b.c", ".", "..", ".x", "..x.y"])
@pytest.mark.parametrize("is_package", [True, False])
def test_a_relative_name_means_what_it_means_to_python(name: str, is_package: bool) -> None:
    package = "a.b.c" if is_package else "a.b"
    expected = importlib.util.resolve_name(name, package)
    assert absolute(name, "a.b.c", is_package=is_package) == expected


@pytest.mark.parametrize(("name", "importer"), [("...x", "a.b"), (".x", "a"), (".x", ""), (".", "")])
def test_dots_that_lead_nowhere_stay(name: str, importer: str) -> None:
    assert absolute(name, importer) == name


def test_a_project_owns_the_names_below_its_package() -> None:
    assert project_of("vllm_omni.worker") == "vllm-omni"
    assert project_of("vllm") == "vllm"
    assert project_of("vllm_other.worker") is None
    assert project_of("") is None


@pytest.mark.parametrize(
    ("statement", "expected", "dotted"),
    [
        ("import a.b", Import("a.b", "", "a"), "a"),
        ("import a.b as c", Import("a.b", "", "c"), "a.b"),
        ("from a import b", Import("a", "b", "b"), "a.b"),
        ("from a import b as c", Import("a", "b", "c"), "a.b"),
        ("from .a import b", Import("v.w.a", "b", "b"), "v.w.a.b"),
        ("from . import b", Import("v.w", "b", "b"), "v.w.b"),
    ],
)
def test_what_an_import_binds(statement: str, expected: Import, dotted: str) -> None:
    node = ast.parse(statement).body[0]
    assert isinstance(node, ast.Import | ast.ImportFrom)
    assert [*imported_by(node, "v/w/x.py")] == [expected]
    assert expected.dotted == dotted
    assert expected.statement() == ast.unparse(node).replace("from .", "from v.w.").replace("v.w. ", "v.w ")
