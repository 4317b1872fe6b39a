"""The example in the docstring of a rule, run: it gives the finding that it is an example of.

A block of code is laid out as a runner: imports and classes at module level (those called ``GPU…`` in the GPU module),
all else in a method. Lines with ``-`` in front were there where the branch began, and what stands behind ``->`` is said
about the line.
"""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from textwrap import dedent

import pytest
from check_samples import GPU_HEAD, NPU_HEAD, found, job

from runner_sync.model import RuleText
from runner_sync.syntax import first_line
from runner_sync.verify.check_job import CheckJob
from runner_sync.verify.registry import rule_texts

_BLOCK = re.compile(r"^Example:\n\n((?:    .*\n|\n)+)", re.MULTILINE)
BLOCKS = {text.code: dedent(block[1]) for text in rule_texts() if (block := _BLOCK.search(text.text)) is not None}
NOT_FOUND_BY_CHECK = {"RS490": "`upgrade` reports it, of the code that it ports"}
IN_PROSE = {
    "RS1": "what vllm-ascend changed between two versions",
    "RS201": "what a branch does to one of two files",
    "RS202": "what the GPU runner did at several releases",
    "RS203": "what happened to models that the method is for",
    "RS207": "what the GPU runner did at several releases",
    "RS208": "what the GPU runner changed between two releases",
    "RS209": "what a branch does to one of two files",
    "RS210": "what a branch does to one of two files",
    "RS3": "what upstream changed between two versions, in trees of several projects",
    "RS501": "one method in two files",
}


@pytest.mark.parametrize("code", sorted(BLOCKS.keys() - NOT_FOUND_BY_CHECK))
def test_the_example_of_a_rule_is_found(code: str) -> None:
    assert found(laid_out(BLOCKS[code]), code)


@pytest.mark.parametrize("text", rule_texts(), ids=lambda text: text.code)
def test_an_example_is_code_unless_it_takes_more_than_one_text(text: RuleText) -> None:
    assert (text.code in BLOCKS) != any(text.code.startswith(code) for code in IN_PROSE)


def laid_out(block: str) -> CheckJob:
    """The job with a block in the runner; lines with ``-`` are in the job before it only."""
    lines = [re.sub(r" +-> .*", "", line) for line in block.rstrip().split("\n")]
    now = _job([line for line in lines if not line.startswith("-")])
    before = _job([line.removeprefix("-") for line in lines])
    return now if now.modules == before.modules else replace(now, before=lambda: before)


def _job(lines: list[str]) -> CheckJob:
    try:
        statements = ast.parse("\n".join(lines)).body
    except SyntaxError:
        return job("\n".join(lines) + "\n")
    imports = _taken(lines, [s for s in statements if isinstance(s, ast.ImportFrom)])
    classes = [s for s in statements if isinstance(s, ast.ClassDef)]
    gpu = _taken(lines, [s for s in classes if s.name.startswith("GPU")])
    npu = _taken(lines, [s for s in classes if not s.name.startswith("GPU")])
    if not any(s.name == "NPUARModelRunner" for s in classes):
        body = ["def execute_model(self):", *(f"    {line}" for line in ("pass", *lines))]
        npu += ["class NPUARModelRunner(OmniNPUModelRunner):", *(f"    {line}" for line in body)]
    return job(_module(NPU_HEAD, imports, npu), _module(GPU_HEAD, imports, gpu))


def _taken(lines: list[str], statements: list[ast.stmt]) -> list[str]:
    """The lines of some statements, which are blank in ``lines`` afterwards."""
    found = []
    for statement in statements:
        place = slice(first_line(statement) - 1, statement.end_lineno)
        found += lines[place]
        lines[place] = [""] * len(lines[place])
    return found


def _module(head: str, *parts: list[str]) -> str:
    return head + "\n".join(line for part in parts for line in part) + "\n"
