"""Bodies left out while a module is translated: they come back as they were, and nothing else differs."""

from __future__ import annotations

import re
from textwrap import dedent

import pytest

from runner_sync import transforms
from runner_sync.profile import NPU
from runner_sync.transforms import Translated, translate
from runner_sync.transforms.bodies import Shortened, shortened
from tests.conftest import CorpusRelease

WORD = re.compile(r"\bcuda\b")
MODULE = dedent('''\
    """Marks such as "left out 0" are the tool's own."""
    import torch


    class Runner:
        def plain(
            self, rows,  # counted
        ):
            # first
            total = """
    dedented text
    """
            rows = 1; total += 2  # last

        @torch.inference_mode()
        async def used(self):
            torch.cuda.synchronize()
            é = 1
            return é

        if True:
            def guarded(self):
                @torch.compile
                def inner():
                    return 1
                return inner
        else:
            def other(self): a = 1; \\
                b = 2; \\
                c = 3


    def last():
    \tone = 1
    \ttwo = 2
    \treturn one + two''')


def _lines_left_out(short: Shortened) -> list[str]:
    return [body.strip().splitlines()[0] for body in short.bodies]


def test_bodies_without_a_word_are_left_out_and_come_back() -> None:
    short = shortened(MODULE, WORD)
    assert _lines_left_out(short) == ['total = """', "@torch.compile", "one = 1"]
    assert "# first" in short.text
    assert "torch.cuda" in short.text
    assert short.restore(short.text) == MODULE
    compile(short.text, "short", "exec")


def test_lines_of_the_short_text_are_lines_of_the_whole() -> None:
    short, whole = shortened(MODULE, WORD), MODULE.split("\n")
    for number, line in enumerate(short.text.split("\n"), 1):
        if short.mark not in line:
            assert whole[short.line(number) - 1] == line
    assert whole[short.line(short.starts[1]) - 1].strip() == "@torch.compile"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("def f():\n    a = 1\n    return a\n", id="too short to gain"),
        pytest.param("def f(): a = [\n    1,\n    2,\n    3]\n", id="on the line of the head"),
        pytest.param("def f(\n    a): return [\n    1,\n    2,\n    3]\n", id="on the last line of the head"),
        pytest.param("def f():\n    cuda()\n    b = 1\n    return b\n", id="the word is in it"),
        pytest.param("def f():\r\n    a = 1\r\n    b = 1\r\n    return b\r\n", id="other line ends"),
        pytest.param("def f(:\n    a = 1\n    b = 1\n    return b\n", id="no Python"),
        pytest.param("x = 'def f():'\ny = 2\nz = 3\n", id="no function"),
    ],
)
def test_a_text_that_stays_whole(text: str) -> None:
    assert shortened(text, WORD).text == text
    assert shortened(text, WORD).restore(text) == text
    assert shortened(text, WORD).line(2) == 2


def test_a_mark_that_the_text_has_is_not_used() -> None:
    text = "def f():\n    ...  # left out 0\n    a = 1\n    return a\n" + MODULE
    short = shortened(text, WORD)
    assert short.mark not in text
    assert short.restore(short.text) == text


def _whole(text: str, path: str, monkeypatch: pytest.MonkeyPatch) -> Translated:
    """The translation with no body left out."""
    with monkeypatch.context() as patch:
        patch.setattr(transforms, "shortened", lambda text, _: Shortened(text))
        return translate.__wrapped__(text, NPU, path=path)


ALIAS = """\
import torch
from vllm.forward_context import set_forward_context as enter


class Runner:
    def run(self, mode):
        with enter(None, cudagraph_runtime_mode=mode):
            pass
        return mode

    def ask(self, tensor):
        rows = 1
        rows += 1
        return rows

    def move(self, tensor):
        return tensor.to("cuda"), torch.version.cuda
"""
REBOUND = """\
from vllm.compilation.cuda_graph import CUDAGraphWrapper


def load():
    global CUDAGraphWrapper
    found = None
    CUDAGraphWrapper = found


def wrap():
    return CUDAGraphWrapper()
"""


@pytest.mark.parametrize("text", [ALIAS, REBOUND, ALIAS.replace("tensor.to", "tensor.get")])
def test_a_translation_is_the_same_with_and_without_bodies(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert translate(text, NPU) == _whole(text, "", monkeypatch)


def test_the_samples_have_bodies_to_leave_out_and_findings_behind_them() -> None:
    assert shortened(ALIAS, transforms._compile_kept(NPU)).bodies
    assert [finding.line for finding in translate(ALIAS, NPU).findings] == [17]
    assert "aclgraph_runtime_mode=mode" in translate(ALIAS, NPU).text
    assert "CUDAGraphWrapper()" in translate(REBOUND, NPU).text


GPU_RUNNERS = [one.gpu.path for one in NPU.modules if one.gpu is not None and "runner" in one.gpu.path]


@pytest.mark.corpus
@pytest.mark.parametrize("path", GPU_RUNNERS)
def test_gpu_runners_are_translated_alike(
    path: str, corpus_release: CorpusRelease, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = corpus_release("vllm-omni", "0.32.0rc1").read(path)
    assert text is not None
    assert shortened(text, transforms._compile_kept(NPU)).bodies
    assert translate(text, NPU, path=path) == _whole(text, path, monkeypatch)
