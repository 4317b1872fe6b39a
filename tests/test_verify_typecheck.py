"""The type checker's second opinion: what is new, in a scratch copy, and how it fails."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

import pytest
from verify_samples import NPU, find, npu, symbols, world

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
    settled = overlay.settle(text)
    assert settled.split("\n")[0] == SETTLED[text]
    assert settled.split("\n")[1:] == text.split("\n")[1:]
    assert overlay.settle(settled) == settled


def test_the_overlay_follows_imports_through_the_trees() -> None:
    names = [module.name for module in overlay.reached(world(npu=npu("pass")), [NPU], 1)]
    assert names == [
        "vllm",
        "vllm.runner",
        "vllm_ascend",
        "vllm_ascend.runner",
        "vllm_omni",
        "vllm_omni.gpu",
        "vllm_omni.npu",
    ]
    assert [module.name for module in overlay.reached(world(npu=npu("pass")), [NPU], 0)] == ["vllm_omni.npu"]


CHECKERS = {
    "sleeps": ("exec sleep 60", "ty: not finished after 0.5 s"),
    "fails": ("echo 'panicked' >&2; exit 101", r"ty: failed \(panicked\)"),
    "babbles": ("echo nonsense", "ty: its output is not JSON"),
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
