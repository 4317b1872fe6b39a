"""A port that calls a function of another module of omni's that returns at once without a GPU leaves the call out."""

from __future__ import annotations

from pathlib import Path

import pytest
from sync_samples import GPU_TWIN, NPU_TWIN, lay_out, port_of

CACHE = "vllm_omni/cache.py"
WRITES = """
import torch


class Cache:
    def get(self, rows, total):
        return rows[:total]

    def write(self, rows):
        '''Keeps rows.'''
        with torch.cuda.stream(torch.cuda.current_stream()):
            self.kept.append(rows)


def keep_all(rows):
    torch.cuda.synchronize()
    return rows
"""
SET_UP = """
    def __init__(self):
        self.cache = Cache()
"""
FIRST = "        first = rows[0]\n"
METHOD = "        self.cache.write(rows)\n"
FUNCTION = "        rows = keep_all(rows)\n"


def with_cache(text: str) -> str:
    """A module whose class makes a cache of omni's."""
    head, _, methods = text.partition("    def _fetch")
    return f"from vllm_omni.cache import Cache, keep_all\n{head}{SET_UP.strip(chr(10))}\n\n    def _fetch{methods}"


KEEPS = "'''Keeps rows.'''\n"
EXIT = "        if not torch.cuda.is_available():\n            return\n"


@pytest.mark.parametrize(
    ("body", "known", "is_left_out"),
    [
        pytest.param(KEEPS + EXIT, "", True, id="it returns at once"),
        pytest.param(KEEPS + EXIT, METHOD.replace("rows", "total"), False, id="NPU calls it already"),
        pytest.param(KEEPS + EXIT.replace("not ", ""), "", False, id="it returns where there is a GPU"),
        pytest.param(KEEPS + EXIT.replace("return", "self.wait()"), "", False, id="it does not return"),
        pytest.param(KEEPS + EXIT.replace("return", "return rows"), "", False, id="it returns a value"),
        pytest.param(KEEPS + EXIT.replace("is_available", "is_initialized"), "", False, id="it asks another thing"),
        pytest.param(f"{KEEPS}        self.count(rows)\n{EXIT}", "", False, id="it does something first"),
    ],
)
def test_a_call_that_does_nothing_on_this_platform_is_left_out(
    body: str, known: str, is_left_out: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`schedule_async_write` of vllm-omni 0.24.0 took the place of the call that fills the prefix cache on NPU."""
    assert WRITES.count(KEEPS) == 1
    text, questions = ported(tmp_path, monkeypatch, METHOD, known=known, cache=WRITES.replace(KEEPS, body))
    assert (METHOD in text) != is_left_out
    assert (
        f"it uses write, which is a function that returns at once without a GPU ({CACHE})" in questions
    ) == is_left_out


@pytest.mark.parametrize("cache", ["", WRITES + "def (:\n"], ids=["not there", "does not parse"])
def test_a_call_of_a_module_that_cannot_be_read_comes(
    cache: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, _ = ported(tmp_path, monkeypatch, FUNCTION, cache=cache)
    assert FUNCTION in text


def ported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, *, known: str = "", cache: str = WRITES
) -> tuple[str, str]:
    """The NPU module and the questions when the twin starts to make a call in a method where both make ``known``."""
    lay_out(tmp_path / "omni", {CACHE: cache} if cache else {})
    known = f"        total = len(rows)\n{known}" if known else ""
    npu, gpu = (with_cache(text).replace(FIRST, known + FIRST) for text in (NPU_TWIN, GPU_TWIN))
    return port_of(tmp_path, monkeypatch, npu, gpu, gpu.replace(FIRST, call + FIRST))
