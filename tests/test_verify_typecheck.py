"""The type checker's second opinion: what is new, in a scratch copy, and how it fails."""

from __future__ import annotations

import os
import stat
import tempfile
import textwrap
from pathlib import Path

import pytest
from verify_samples import GPU, NPU, TREES, find, npu, symbols, world

from runner_sync.errors import InputError
from runner_sync.verify import overlay, typecheck
from runner_sync.verify.typecheck import Kind

OLD = """\
from vllm.runner import GPUModelRunner
class NPUModelRunner(GPUModelRunner):
    def step(self, a: int, b: int = 1) -> tuple[int, int]:
        return a, b
"""
NEW = OLD.replace(", b: int = 1", "").replace("[int, int]", "[int, int, int]").replace("a, b", "a, a, a")
BODY = """\
import torch
def m(self):
    a, b = self.step(1)
    self.step(1, b=2)
    count: int = "a matter of annotations"
    return self.never_there, torch.anything, a, b, count
"""


@pytest.mark.parametrize("kind", ["ty", "mypy"])
def test_only_what_is_new_and_fails_at_run_time(kind: Kind) -> None:
    old, new = world(npu=npu(BODY), ascend=OLD), world(npu=npu(BODY), ascend=NEW)
    first = npu(BODY).split("\n").index("        a, b = self.step(1)") + 1
    found = typecheck.run(new, old, [NPU], kind=kind)
    assert [(f.code, f.unit, f.line) for f in found] == [("RS390", "R.m", first), ("RS390", "R.m", first + 1)]
    assert typecheck.run(new, new, [NPU], kind=kind) == []


# What one method of vllm-ascend was, what it is, and how the NPU runner uses it. The rules are not asked.
OF_ANOTHER_KIND: dict[str, tuple[str, str, str]] = {
    "a method became a property": (
        "def size(self) -> int:\n        return 1",
        "@property\n    def size(self) -> int:\n        return 1",
        "return self.size()",
    ),
    "a coroutine is taken apart": (
        "def size(self) -> tuple[int, int]:\n        return 1, 2",
        "async def size(self) -> tuple[int, int]:\n        return 1, 2",
        "a, b = self.size()\n    return a, b",
    ),
    "nobody awaits it": (
        "def size(self) -> None:\n        pass",
        "async def size(self) -> None:\n        pass",
        "self.size()",
    ),
    "a context manager is none any more": (
        "@contextmanager\n    def size(self):\n        yield",
        "def size(self) -> bool:\n        return True",
        "with self.size():\n        return 1",
    ),
    "a property became a method, which is always true": (
        "@property\n    def size(self) -> bool:\n        return False",
        "def size(self) -> bool:\n        return False",
        "if self.size:\n        return 1",
    ),
    "a property became a method, and another is called": (
        "@property\n    def size(self) -> bool:\n        return False",
        "def size(self) -> bool:\n        return False",
        "if self.size:\n        return self.config()",
    ),
    "a number became a text": ("size: int", "size: str", "return self.size + 1"),
    "what is called became a number": ("size: Callable[[], int]", "size: int", "return self.size()"),
    "a property became a method, which is no number": (
        "@property\n    def size(self) -> int:\n        return 1",
        "def size(self) -> int:\n        return 1",
        "return self.size + 1",
    ),
    "an attribute became a property that cannot be set": (
        "size: int",
        "@property\n    def size(self) -> int:\n        return 1",
        "self.size = 1",
    ),
    "the class of what is called has no such member, whatever else has": (
        "size: Any",
        "size: range",
        "if hasattr(self.config, 'end'):\n        return self.size.end()",
    ),
    "a class became a function": (
        "class size: ...",
        "@staticmethod\n    def size(): ...",
        "return isinstance(1, self.size)",
    ),
}
SIGNATURES = {
    "a keyword is unknown": ("def size(self, n=0, m=0): ...", "def size(self, n=0): ...", "return self.size(m=1)"),
    "an argument is missing": ("def size(self): ...", "def size(self, n): ...", "return self.size()"),
    "there is one too many": ("def size(self, n): ...", "def size(self): ...", "return self.size(1)"),
    "one is given twice": ("def size(self, m, n): ...", "def size(self, n, m=0): ...", "return self.size(1, n=2)"),
    "one has no name any more": ("def size(self, n): ...", "def size(self, n, /): ...", "return self.size(n=1)"),
    "the override takes fewer": (
        "def size(self, n: int) -> int: ...",
        "def size(self, n: int, m: int) -> int: ...",
        "return 1\ndef size(self, n: int) -> int:\n    return n",
    ),
    "it gives more to unpack": (
        "def size(self) -> tuple[int, int]: ...",
        "def size(self) -> tuple[int, int, int]: ...",
        "a, b = self.size()\n    return a, b",
    ),
    "it cannot be gone through": (
        "def size(self) -> list[int]: ...",
        "def size(self) -> int: ...",
        "return [n for n in self.size()]",
    ),
}
ANNOTATED = {
    "what may be None is called": ("size: Callable[[], int]", "size: Callable[[], int] | None", "return self.size()"),
    "what may be None is gone through": ("size: list[int]", "size: list[int] | None", "return [n for n in self.size]"),
    "what may be None is added to": ("size: int", "size: int | None", "return self.size + 1"),
    "what may be of another type is added to": ("size: int", "size: int | str", "return self.size + 1"),
    "to what may be of another type is added": ("size: int", "size: int | str", "return 1 + self.size"),
    "what may be a number is called": ("size: Callable[[], int]", "size: Callable[[], int] | int", "self.size()"),
    "a hook that may be there became a method": (
        "size: Callable[[], int] | None = None",
        "def size(self) -> int:\n        return 1",
        "if self.size:\n        return self.size()",
    ),
    "a hook is asked for in an expression": (
        "size: Callable[[], int] | None = None",
        "def size(self) -> int:\n        return 1",
        "return self.size() if self.size else 0",
    ),
    "another type is assigned": ("size: int", "size: str", "self.size = 1"),
    "another type is passed": ("def size(self, n: int): ...", "def size(self, n: str): ...", "return self.size(1)"),
    "a hook that only hasattr knows is called": (
        "size: Any",
        "size: Sized",
        "if hasattr(self.size, 'end'):\n        self.size.end()\n        return self.size.end.at + [*self.size.end]",
    ),
    "what may be anything is called": ("size: Any", "size: object", "return self.size()"),
    "a property that can be set": (
        "size: int",
        "@property\n    def size(self) -> int: ...\n    @size.setter\n    def size(self, n: int): ...",
        "self.size = 1",
    ),
}
RUNNER = """\
from collections.abc import Callable, Sized
from typing import Any
from contextlib import contextmanager
from vllm.runner import GPUModelRunner
class NPUModelRunner(GPUModelRunner):
    {member}
"""


@pytest.mark.parametrize("kind", ["ty", "mypy"])
def test_what_is_of_another_kind_now(kind: Kind) -> None:
    assert uses_told(kind, OF_ANOTHER_KIND) == set(OF_ANOTHER_KIND)


@pytest.mark.parametrize("kind", ["ty", "mypy"])
def test_what_no_longer_fits(kind: Kind) -> None:
    """Fails, as the test above does, when a checker has renamed what it calls such a mistake."""
    assert uses_told(kind, SIGNATURES) == set(SIGNATURES)


@pytest.mark.parametrize("kind", ["ty", "mypy"])
def test_what_only_an_annotation_says(kind: Kind) -> None:
    assert uses_told(kind, ANNOTATED) == set()


def uses_told(kind: Kind, cases: dict[str, tuple[str, str, str]]) -> set[str]:
    """The cases whose use is told; each has a member of its own, so that one run of the checker reads them all."""
    names = {name: f"size{number}" for number, name in enumerate(cases)}
    before, after = (
        RUNNER.format(member="\n    ".join(cases[name][age].replace("size", names[name]) for name in cases))
        for age in (0, 1)
    )
    uses = "\n".join(
        f"def use_{names[name]}(self):\n    {use.replace('size', names[name])}" for name, (_, _, use) in cases.items()
    )
    found = typecheck.run(world(npu=npu(uses), ascend=after), world(npu=npu(uses), ascend=before), [NPU], kind=kind)
    units = {finding.unit for finding in found}
    assert {finding.code for finding in found} <= {"RS390"}
    return {name for name in cases if units & {f"R.use_{names[name]}", f"R.{names[name]}"}}


def test_what_a_rule_has_said_is_not_said_twice() -> None:
    old, new = world(npu=npu(BODY), ascend=OLD), world(npu=npu(BODY), ascend=NEW)
    known = find(new, old)
    assert symbols(known) == [("RS303", "step"), ("RS306", "step(b=)")]
    assert typecheck.run(new, old, [NPU], known=known) == []


HEAD = "from vllm.runner import GPUModelRunner\n"
SETS = "class NPUModelRunner(GPUModelRunner):\n    def __init__(self):\n        "
ELSEWHERE = {
    "by a function that is handed the runner": f"{HEAD}def init(runner):\n    runner.late = 1\n{SETS}init(self)\n",
    "under names from a list": f"{HEAD}{SETS}for name in ('late', 'more'):\n            setattr(self, name, 1)\n",
    "nowhere": f"{HEAD}{SETS}self.more = 1\n",
}


@pytest.mark.parametrize("kind", ["ty", "mypy"])
@pytest.mark.parametrize("name", ELSEWHERE)
def test_an_attribute_of_self_that_rs304_leaves_alone_is_left_alone(name: str, kind: Kind) -> None:
    body = npu("def m(self):\n    first = [self.late]\n    return first, self.late")
    new, old = world(npu=body, ascend=ELSEWHERE[name]), world(npu=body, ascend=f"{HEAD}{SETS}self.late = 1\n")
    found = typecheck.run(new, old, [NPU], kind=kind)
    assert [finding.symbol for finding in found] == (["late", "late"] if name == "nowhere" else [])


OF_NPU = """\
from vllm.runner import Batch, GPUModelRunner
class NPUBatch(Batch):
    def __init__(self):
        super().__init__()
        self.{name} = 0
class NPUModelRunner(GPUModelRunner):
    def __init__(self, config):
        super().__init__(config)
        self.batch = NPUBatch()
"""
ADDS = GPU + "    def __init__(self, config):\n        super().__init__(config)\n        self.batch.add(1)\n"


@pytest.mark.parametrize("kind", ["ty", "mypy"])
@pytest.mark.parametrize("name", ["held", "other"])
def test_an_attribute_that_the_class_of_another_base_has_is_left_alone(name: str, kind: Kind) -> None:
    """For a checker, ``self.batch`` of the runner is what the first base that sets it has; on NPU, it is the last's."""
    body = npu("def m(self):\n    return self.batch.held")
    had = textwrap.dedent(TREES["vllm/runner.py"]).replace("self.rows = []", "self.rows = self.held = []")
    new, old = world(npu=body, gpu=ADDS, ascend=OF_NPU.format(name=name)), world(npu=body, vllm=had)
    found = typecheck.run(new, old, [NPU], kind=kind)
    assert [finding.symbol for finding in found] == ([] if name == "held" else ["held"])


def test_a_proposed_name_is_not_what_is_missing() -> None:
    body = npu("def m(self):\n    return self.batch.row")
    had = textwrap.dedent(TREES["vllm/runner.py"]).replace("self.rows = []", "self.rows = self.row = []")
    found = typecheck.run(world(npu=body), world(npu=body, vllm=had), [NPU], kind="mypy")
    assert [finding.symbol for finding in found] == ["row"]


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    typecheck.run(world(npu=npu("pass")), world(npu=npu("pass")), [NPU])
    assert list(tmp_path.iterdir()) == []


SETTLED = {
    "if is_310p():\n    from a import X as N\nelse:\n    from b import N\n": "if False:",
    "if is_310p():\n    from a import X\nelse:\n    from b import N\n": "if is_310p():",
    "if is_310p():\n    from a import N\n": "if is_310p():",
    "if is_310p():\n    N = 1\nelse:\n    N = 2\n": "if is_310p():",
    "if (\n    is_310p()\n):\n    from a import N\nelse:\n    from b import N\n": "if (",
}


@pytest.mark.parametrize("text", SETTLED)
def test_settles_conditional_bases_only(text: str) -> None:
    settled = overlay.choose_else_branches(text)
    assert settled.split("\n")[0] == SETTLED[text]
    assert settled.split("\n")[1:] == text.split("\n")[1:]
    assert overlay.choose_else_branches(settled) == settled


def test_the_overlay_follows_imports_through_the_trees() -> None:
    names = [module.name for module in overlay.find_reached(world(npu=npu("pass")), [NPU], 1)]
    assert names == [
        "vllm",
        "vllm.runner",
        "vllm_ascend",
        "vllm_ascend.runner",
        "vllm_omni",
        "vllm_omni.gpu",
        "vllm_omni.npu",
    ]
    assert [module.name for module in overlay.find_reached(world(npu=npu("pass")), [NPU], 0)] == ["vllm_omni.npu"]


CHECKERS = {
    "sleeps": ("exec sleep 60", "ty: not finished after 0.5 s"),
    "fails": ("echo 'panicked' >&2; exit 101", r"ty: failed \(panicked\)"),
    "babbles": ("echo nonsense", "ty: its output is not JSON; install another version"),
    "says nothing": ("echo null", "ty: its output has a form that is not known here; install another version"),
    "says something else": ("echo '[[]]'", "ty: its output has a form that is not known here"),
    "says it in another way": ('echo \'[{"check_name": "a"}]\'', "ty: its output has a form that is not known"),
}


@pytest.mark.parametrize("name", CHECKERS)
def test_a_checker_that_misbehaves_is_an_input_error(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script, message = CHECKERS[name]
    program = tmp_path / "ty"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(typecheck.sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    trees = world(npu=npu("pass"))
    with pytest.raises(InputError, match=message):
        typecheck.run(trees, trees, [NPU], timeout=0.5)


@pytest.mark.parametrize("kind", ["ty", "mypy"])
def test_an_absent_checker_names_the_remedy(kind: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typecheck.sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    trees = world(npu=npu("pass"))
    with pytest.raises(InputError, match=rf"{kind}: not installed; install runner-sync\[verify\]"):
        typecheck.run(trees, trees, [NPU], kind=kind)
