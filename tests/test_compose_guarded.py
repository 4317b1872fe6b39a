"""Imports under a condition come with it; near misses stay questions."""

from __future__ import annotations

import ast

import pytest

from runner_sync.compose.guarded import with_guarded

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
    made = with_guarded(CODE, ["RowLists"], f"import os\n\n{GUARD}\n\nLIMIT = 3\n")
    head, code = CODE.split("\n\n\n")
    assert made == f"{head}\n\n{GUARD}\n\n\n{code}"
    ast.parse(made)
    assert with_guarded(made, ["RowLists"], GUARD) == made


def test_it_stands_above_the_code_where_an_import_comes_late() -> None:
    text = f"{CODE}\n\nimport late  # noqa: E402\n"
    head, code = text.split("\n\n\n", 1)
    assert with_guarded(text, ["RowLists"], GUARD) == f"{head}\n\n{GUARD}\n\n\n{code}"


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(GUARD.replace("RowLists", "Rows"), id="another name"),
        pytest.param(GUARD.replace("vllm_version_is", "is_old"), id="a check that is not here"),
        pytest.param(GUARD + "\n    LIMIT = 3", id="more than imports"),
        pytest.param(GUARD + "\nelse:\n    RowLists = None", id="another branch"),
        pytest.param("if TYPE_CHECKING:\n    from vllm.outputs import RowLists", id="for type checkers"),
        pytest.param(GUARD + "\n    from vllm.rows import torch", id="with a name that is here"),
        pytest.param("from vllm.outputs import RowLists", id="under no condition"),
    ],
)
def test_an_import_that_is_left(source: str) -> None:
    text = "from typing import TYPE_CHECKING\n" + CODE
    assert with_guarded(text, ["RowLists"], source) == text
