"""A global that each module makes for itself is made anew, and not imported; near misses are imported as ever."""

from __future__ import annotations

import ast

import pytest

from runner_sync.compose.imports import Provider, settle_imports

HEAD = "import torch\nfrom vllm.config import Config\n"
CODE = "\n\ndef run():\n    return {use}\n"


def settled(source: str, *, head: str = HEAD, use: str = "logger.info(1)") -> str:
    """A module after code came into it that uses a global of ``source``; a second run changes nothing."""
    code = CODE.format(use=use)
    made = settle_imports(head, head + code, (Provider(source, "vllm_omni.worker.gpu"),)).text
    ast.parse(made)
    assert settle_imports(made, made, (Provider(source, "vllm_omni.worker.gpu"),)).text == made
    return made.removesuffix(code)


SOURCE = "from vllm.logger import init_logger\n\nLIMIT = 3\nlogger = init_logger(__name__)\n"


def test_a_logger_is_made_anew_with_the_import_that_it_needs() -> None:
    made = "import torch\nfrom vllm.config import Config\nfrom vllm.logger import init_logger\n\nlogger = {}"
    assert settled(SOURCE) == made.format("init_logger(__name__)\n")
    source = SOURCE.replace("logger =", "logger: Logger =").replace("import ", "import Logger, ")
    annotated = made.replace("import init", "import Logger, init").replace("logger =", "logger: Logger =")
    assert settled(source) == annotated.format("init_logger(__name__)\n")


def test_a_path_beside_the_module_is_made_anew() -> None:
    source = "from pathlib import Path\nHERE = Path(__file__).parent\n"
    assert "HERE = Path(__file__).parent" in settled(source, use="HERE")


def test_without_imports_it_stands_at_the_top() -> None:
    made = settled("import logging\n\nlogger = logging.getLogger(__name__)\n", head='"""Rows."""\n')
    assert made == '"""Rows."""\nimport logging\n\nlogger = logging.getLogger(__name__)\n'


def test_noop_where_what_it_reads_is_imported_too_late() -> None:
    late = "\n\ndef first(): ...\n\n\nfrom vllm.logger import init_logger  # noqa: E402\n"
    assert "from vllm_omni.worker.gpu import logger" in settled(SOURCE, head=HEAD + late)


@pytest.mark.parametrize(
    ("source", "use"),
    [
        pytest.param(SOURCE, "LIMIT", id="the same value in every module"),
        pytest.param("lock = Lock('rows')\n", "lock", id="one object for all modules"),
        pytest.param("logger = None\nlogger = log(__name__)\n", "logger", id="bound twice"),
        pytest.param("if DEBUG:\n    logger = log(__name__)\n", "logger", id="under a condition"),
        pytest.param("first, logger = log(__name__), 2\n", "logger", id="one of two"),
        pytest.param("def log(): ...\nlogger = log(__name__)\n", "logger", id="it reads what is not imported there"),
        pytest.param("def logger():\n    return __name__\n", "logger", id="a function"),
    ],
)
def test_noop_what_is_imported_as_ever(source: str, use: str) -> None:
    assert f"from vllm_omni.worker.gpu import {use}\n" in settled(source, use=use)
