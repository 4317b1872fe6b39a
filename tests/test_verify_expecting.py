"""What code is ready for by `try`, `suppress` and conditions: the same for imports, members, sizes and devices."""

from __future__ import annotations

import pytest
from check_samples import NPU_HEAD, job
from check_samples import found as found_in
from verify_samples import find, npu, symbols, world

TRY = "try:\n    {body}\nexcept {errors}:\n    pass"
SUPPRESS = "with suppress({errors}):\n    {body}"
GONE = "from vllm.runner import gone"
READS = {
    "an import": (GONE, "ImportError", "KeyError", ("RS301", "vllm.runner.gone")),
    "an attribute": ("self.gone", "AttributeError", "TypeError", ("RS304", "gone")),
    "a call": ("helper(1, 2, 3)", "TypeError", "ValueError", ("RS302", "helper()")),
    "a keyword": ("helper(1, gone=2)", "TypeError", "ImportError", ("RS306", "helper(gone=)")),
    "an unpacking": ("a, b = self.prepare(1)", "ValueError", "IndexError", ("RS303", "prepare")),
    "an index": ("a = self.prepare(1)[3]", "IndexError", "ValueError", ("RS303", "prepare")),
    "an index by its kind": ("a = self.prepare(1)[3]", "LookupError", "KeyError", ("RS303", "prepare")),
    "a turn of a loop": ("for a, b in self.pairs(): pass", "ValueError", "KeyError", ("RS303", "pairs")),
}


def found(name: str, form: str, errors: str) -> list[tuple[str, str]]:
    body = form.format(body=READS[name][0], errors=errors).replace("\n", "\n    ")
    text = npu(
        f"def m(self):\n    {body}\n\ndef pairs(self):\n    yield 1, 2, 3\n", head="from contextlib import suppress"
    )
    return symbols(find(world(npu=text)))


@pytest.mark.parametrize("form", [TRY, SUPPRESS], ids=["try", "suppress"])
@pytest.mark.parametrize("name", READS)
def test_an_error_that_is_expected(name: str, form: str) -> None:
    _, right, wrong, told = READS[name]
    for errors in (right, f"({wrong}, {right})", "Exception", "builtins.Exception", "_ERRORS", "(*_ERRORS, KeyError)"):
        assert not found(name, form, errors), errors
    for errors in (wrong, f"({wrong}, OSError)"):
        assert told in found(name, form, errors), errors


def test_any_error_by_several_arguments() -> None:
    assert not found("an import", SUPPRESS, "KeyError, ImportError")
    assert not found("an import", SUPPRESS.replace("with", "with open(1) as f,"), "ImportError")
    assert found("an import", SUPPRESS, "KeyError, OSError")
    assert found("an import", SUPPRESS.replace("suppress(", "warnings("), "ImportError")


def test_an_import_at_the_top() -> None:
    guarded = f"from contextlib import suppress\nwith suppress(ImportError):\n    {GONE}\n"
    assert not find(world(npu=npu("pass", head=guarded)))
    behind = symbols(find(world(npu=npu("pass", head=f"{guarded}{GONE}s\n"))))
    assert behind == [("RS301", "vllm.runner.gones")]


ASKED, USE = "torch.cuda.is_available()", "torch.cuda.synchronize()"
FOR_A_GPU = {
    "where it is": f"if {ASKED}:\n    {USE}",
    "the other branch": f"if not {ASKED}:\n    x()\nelse:\n    {USE}",
    "a further branch": f"if x:\n    y()\nelif {ASKED}:\n    {USE}",
    "beside a further condition": f"if x and {ASKED}:\n    {USE}",
    "unless nothing is": f"if x or not {ASKED}:\n    y()\nelse:\n    {USE}",
    "and": f"{ASKED} and {USE}",
    "and, in three": f"return {ASKED} and x and {USE}",
    "or": f"not {ASKED} or {USE}",
    "an expression": f"return {USE} if {ASKED} else None",
    "the other of two": f"return None if not {ASKED} else {USE}",
    "behind an early exit": f"if not {ASKED}:\n    return None\n{USE}",
    "behind an exit of a loop": f"for y in x:\n    if not {ASKED}:\n        continue\n    {USE}",
    "behind a branch that leaves": f"if {ASKED}:\n    pass\nelse:\n    return\n{USE}",
    "in a loop": f"while {ASKED}:\n    {USE}",
    "behind waiting": f"while not {ASKED}:\n    wait()\n{USE}",
    "with a name": f"if has := {ASKED}:\n    {USE}",
    "as a truth": f"if bool({ASKED}):\n    {USE}",
}
FOR_NPU = {
    "where none is": f"if not {ASKED}:\n    {USE}",
    "the other branch": f"if {ASKED}:\n    x()\nelse:\n    {USE}",
    "for something else, too": f"if {ASKED} or x:\n    {USE}",
    "behind a branch that goes on": f"if not {ASKED}:\n    x()\n{USE}",
    "behind an exit where there is one": f"if {ASKED}:\n    return\n{USE}",
    "behind an exit in another block": f"if x:\n    if not {ASKED}:\n        return\n{USE}",
    "in front of the exit": f"{USE}\nif not {ASKED}:\n    return",
    "where it is needed": f"if not {ASKED}:\n    raise RuntimeError\n{USE}",
    "behind a loop that breaks": f"while not {ASKED}:\n    break\n{USE}",
    "or": f"{ASKED} or {USE}",
    "and": f"not {ASKED} and {USE}",
    "in front of the question": f"x({USE}) and {ASKED}",
    "the other of two": f"return None if {ASKED} else {USE}",
}


def method(body: str) -> str:
    inside = body.replace("\n", "\n        ")
    return f"{NPU_HEAD}class NPUARModelRunner(OmniNPUModelRunner):\n    def execute_model(self, x):\n        {inside}\n"


@pytest.mark.parametrize("name", FOR_A_GPU)
def test_a_branch_for_a_gpu(name: str) -> None:
    assert not found_in(job(method(FOR_A_GPU[name])), "RS402")


@pytest.mark.parametrize("name", FOR_NPU)
def test_a_branch_for_npu(name: str) -> None:
    assert len(found_in(job(method(FOR_NPU[name])), "RS402")) == 1
