"""A port that calls CUDA code of another module of omni's: it comes, and the question says what runs there."""

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
PLAIN = """
class Cache:
    def get(self, rows, total):
        return rows[:total]

    def write(self, rows):
        # as torch.cuda.is_available() says
        self.kept.append(rows, "torch.cuda.stream")


def keep_all(rows):
    return rows
"""
SET_UP = """
    def __init__(self):
        self.cache = Cache()
"""
FIRST = "        first = rows[0]\n"
METHOD = "        self.cache.write(rows)\n"
FUNCTION = "        rows = keep_all(rows)\n"
ASKED = "does it do its work on this platform?"


def with_cache(text: str) -> str:
    """A module whose class makes a cache of omni's."""
    head, _, methods = text.partition("    def _fetch")
    return f"from vllm_omni.cache import Cache, keep_all\n{head}{SET_UP.strip(chr(10))}\n\n    def _fetch{methods}"


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (METHOD, f"; Cache.write ({CACHE}) uses torch.cuda.stream, torch.cuda.current_stream: {ASKED}"),
        (FUNCTION, f"; keep_all ({CACHE}) uses torch.cuda.synchronize: {ASKED}"),
    ],
)
def test_what_runs_behind_a_call_is_asked_about(
    call: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, questions = ported(tmp_path, monkeypatch, call)
    assert call in text
    assert said in questions


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


@pytest.mark.parametrize(
    ("call", "known", "cache"),
    [
        pytest.param(METHOD, "", PLAIN, id="words in a comment and in a string"),
        pytest.param(FUNCTION, "", PLAIN, id="no such code"),
        pytest.param(FUNCTION, "", "", id="the module is not there"),
        pytest.param(FUNCTION, "", WRITES + "def (:\n", id="the module does not parse"),
        pytest.param(METHOD, METHOD.replace("rows", "total"), WRITES, id="NPU calls it already"),
    ],
)
def test_no_question(call: str, known: str, cache: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, questions = ported(tmp_path, monkeypatch, call, known=known, cache=cache)
    assert call in text
    assert ASKED not in questions


def ported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, *, known: str = "", cache: str = WRITES
) -> tuple[str, str]:
    """The NPU module and the questions when the twin starts to make a call in a method where both make ``known``."""
    lay_out(tmp_path / "omni", {CACHE: cache} if cache else {})
    known = f"        total = len(rows)\n{known}" if known else ""
    npu, gpu = (with_cache(text).replace(FIRST, known + FIRST) for text in (NPU_TWIN, GPU_TWIN))
    return port_of(tmp_path, monkeypatch, npu, gpu, gpu.replace(FIRST, call + FIRST))
