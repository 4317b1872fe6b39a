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
    imported_names,
    members,
    translate,
)

ROOM = Path(__file__).parent.parent / "runner_sync" / "transforms"
ENGINE = {
    "__init__",
    "bodies",
    "concrete_tree",
    "imports",
    "job",
    "keywords",
    "renames",
    "scopes",
    "walk",
}
MODULES = (imported_names, device_calls, members, class_names)


FOO = NameRewrite("foo", "vllm.foo", "npu_foo", "vllm_ascend.foo")
BAR = NameRewrite("bar", "vllm.foo", "npu_bar", "vllm_ascend.foo")


def _translated(source: str, *calls: str, path: str = "vllm_omni/worker/other.py") -> str:
    """``source`` after two more names and, for each of ``calls``, ``mode`` → ``acl_mode`` were configured."""
    keywords = tuple(KeywordRewrite(call, "mode", "acl_mode") for call in calls)
    extended = replace(NPU, names=(*NPU.names, FOO, BAR), keywords=(*NPU.keywords, *keywords))
    done = translate(source, extended, path=path).text
    assert translate(done, extended, path=path).text == done
    return done


def test_names_and_keywords_that_configuration_adds_are_rewritten() -> None:
    source = "from vllm.foo import foo, other\nx = foo(other, mode=1)\ny = other(mode=1)\n"
    assert _translated(source, "npu_foo") == (
        "from vllm.foo import other\nfrom vllm_ascend.foo import npu_foo\nx = npu_foo(other, acl_mode=1)\n"
        "y = other(mode=1)\n"
    )
    assert translate(source, NPU).text == source


TWO = "from vllm.foo import bar, foo\nx = foo(mode=1), bar(mode=2)\n"
TWO_THERE = "from vllm_ascend.foo import npu_bar, npu_foo\nx = npu_foo({}=1), npu_bar({}=2)\n"


@pytest.mark.parametrize(
    ("calls", "words"),
    [
        pytest.param(("npu_foo",), ("acl_mode", "mode"), id="one"),
        pytest.param(("npu_bar",), ("mode", "acl_mode"), id="the other"),
        pytest.param(("npu_foo", "npu_bar"), ("acl_mode", "acl_mode"), id="both"),
        pytest.param(("foo", "bar", "set_ascend_forward_context"), ("mode", "mode"), id="neither by its new name"),
    ],
)
def test_a_keyword_is_rewritten_on_calls_of_its_own_function(calls: tuple[str, ...], words: tuple[str, str]) -> None:
    assert _translated(TWO, *calls) == TWO_THERE.format(*words)


@pytest.mark.parametrize(
    ("call", "before", "after"),
    [
        pytest.param(
            "ACLGraphWrapper",
            "from vllm.compilation.cuda_graph import CUDAGraphWrapper as W\nx = W(m, mode=1)\n",
            "from vllm_ascend.compilation.acl_graph import ACLGraphWrapper as W\nx = W(m, acl_mode=1)\n",
            id="a name of the built-in profile",
        ),
        pytest.param(
            "set_ascend_forward_context",
            "import vllm.forward_context as fc\nx = fc.set_forward_context(mode=1, cudagraph_runtime_mode=2)\n",
            "import vllm.forward_context as fc\nfrom vllm_ascend import ascend_forward_context\n"
            "x = ascend_forward_context.set_ascend_forward_context(acl_mode=1, aclgraph_runtime_mode=2)\n",
            id="a second keyword of a function",
        ),
        pytest.param(
            "ExecuteModelState",
            "from vllm_omni.worker.gpu_ar_model_runner import ExecuteModelState\nx = ExecuteModelState(mode=1)\n",
            "from vllm_omni.platforms.npu.worker.npu_ar_model_runner import ExecuteModelState\n"
            "x = ExecuteModelState(acl_mode=1)\n",
            id="what the twins share",
        ),
        pytest.param(
            "NPUARModelRunner",
            "from vllm_omni.worker.gpu_ar_model_runner import GPUARModelRunner\nx = GPUARModelRunner(mode=1)\n",
            "from vllm_omni.platforms.npu.worker.npu_ar_model_runner import NPUARModelRunner\n"
            "x = NPUARModelRunner(acl_mode=1)\n",
            id="a twin",
        ),
    ],
)
def test_keywords_of_every_translated_name_are_rewritten(call: str, before: str, after: str) -> None:
    assert _translated(before, call) == after
    assert _translated(before, "npu_foo") == after.replace("acl_mode", "mode")


def test_keywords_of_a_class_are_rewritten_in_the_module_that_defines_it() -> None:
    source = "class ExecuteModelState(NamedTuple): ...\nx = ExecuteModelState(mode=1), other(mode=2)\n"
    after = source.replace("(mode=1", "(acl_mode=1")
    assert _translated(source, "ExecuteModelState", path=AR) == after
    assert _translated(source, "ExecuteModelState") == source


def test_registry_modules_and_docs_agree() -> None:
    registered = list(REWRITES)
    modules = {path.stem for path in ROOM.glob("*.py")} - ENGINE
    assert modules == {_id(module) for module in MODULES}
    assert sorted(registered) == sorted(modules)
    docs = (ROOM.parent.parent / "docs" / "adding-a-rewrite.md").read_text()
    assert re.findall(r"^\| `(\w+)` \|", docs, flags=re.MULTILINE) == registered


def _id(module: ModuleType) -> str:
    return module.__name__.rpartition(".")[2]


def test_every_rewrite_has_a_rewriting_test() -> None:
    tests = Path(__file__).with_name("test_transforms.py").read_text()
    for name in REWRITES:
        assert f'"{name}"' in tests, name


@pytest.mark.parametrize("row", NPU.names, ids=lambda row: f"{row.module}.{row.name} to {row.new_name}")
def test_every_name_of_the_profile_is_translated(row: NameRewrite) -> None:
    alone = replace(NPU, names=(row,))
    done = translate(f"from {row.module} import {row.name}\nx = {row.name}\n", alone)
    assert done.text == f"from {row.new_module} import {row.new_name}\nx = {row.new_name}\n"
    assert done.applied == ("class_names" if row in NPU.shared_names else "imported_names",)


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


def _text(lines: Iterable[str]) -> str:
    return "import torch\n" + "".join(map(_statement, lines))


def _statement(line: str) -> str:
    return f"{line} ...\n" if line.endswith(":") else f"{line}\n"
