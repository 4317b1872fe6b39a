"""A helper that the GPU runner keeps as a function of another module now, and NPU as a method or in line."""

from __future__ import annotations

from pathlib import Path

import pytest
from sync_samples import port_of

from runner_sync.lineage.inlined import inline_helpers
from runner_sync.upgrade.from_gpu.twin.computed import find_passage, is_most_of

HEAD = """\
from vllm_omni.worker.gpu_model_runner import OmniGPUModelRunner
"""
PACKING = "vllm_omni/worker/packing.py"
IMPORT = "from vllm_omni.worker.packing import pack_rows\n"

RUN = """

class GPUARModelRunner(OmniGPUModelRunner):
    def _output(self, rows):
        ids = self.order(rows)
        packed = self._pack_rows(ids=ids, rows=rows)
        self.note(ids)
        return self.finish(ids, packed)
"""
METHOD = """
    def _pack_rows(self, *, ids, rows):
        packed = {}
        for name in ids:
            row = rows.get(name)
            if row.is_empty():
                continue
            packed[name] = row.values[0]
        return packed
"""
FUNCTION = """\
def pack_rows(*, ids, rows):
    packed = {}
    for name in ids:
        row = rows.get(name)
        if row.is_empty():
            continue
        packed[name] = row.values[0]
    return packed
"""
MENDED = FUNCTION.replace("        packed[", "        if len(row.values) > 1:\n            continue\n        packed[")
EARLY = MENDED.replace("    packed = {}\n", "    if not ids:\n        return {}\n    packed = {}\n")

NPU = """\
from vllm_omni.platforms.npu.worker.npu_model_runner import OmniNPUModelRunner


class NPUARModelRunner(OmniNPUModelRunner):
    def _output(self, rows):
        ids = self.order(rows)
        packed = {}
        for name in ids:
            row = rows.get(name)
            if row.is_empty():
                continue
            packed[name] = row.values[0]
        self.note(ids)
        return self.finish(ids, packed)
"""
WAS = HEAD + RUN + METHOD
NOW = HEAD + IMPORT + RUN.replace("self._pack_rows(", "pack_rows(")
KEEPS = "the GPU runner moved this code to vllm_omni.worker.packing.pack_rows"
FALSE = ("that the NPU runner does not have", "changed the same part of a statement", "dropped this method")


def check_port(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    function: str,
    *,
    npu: str = NPU,
    was: str = WAS,
    now: str = NOW,
    path: str = PACKING,
) -> tuple[str, str]:
    """The NPU module and the questions after a port in which ``function`` came to ``path``."""
    text, questions = port_of(tmp_path, monkeypatch, npu, was, now, beside={path: function})
    assert not [said for said in FALSE if said in questions]
    return text, questions


def test_a_mend_in_the_new_module_is_ported_to_where_its_code_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, questions = check_port(tmp_path, monkeypatch, MENDED)
    assert "            if len(row.values) > 1:\n                continue\n            packed[" in text
    assert "pack_rows(" not in text
    assert f"{KEEPS}, where it does the same" in questions
    assert "ported from the GPU runner" in questions


@pytest.mark.parametrize("edit", [("", ""), ("row = rows.get(name)", "row = rows.get(name, self.empty)")])
def test_a_mend_that_cannot_be_merged_is_asked_about(
    edit: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A helper that may end early cannot stand in line; NPU may have edited what it has of it."""
    npu = NPU.replace(*edit)
    now = NOW.replace("self.note(ids)", "self.note(ids, packed)")
    text, questions = check_port(tmp_path, monkeypatch, EARLY, npu=npu, now=now)
    assert f"{KEEPS}; new there: `if len(row.values) > 1:`" in questions
    lines = text.split("\n")
    marker = next(
        row for row, line in enumerate(lines) if "moved this code to vllm_omni.worker.packing.pack_rows" in line
    )
    assert lines[marker + 1].strip() == "for name in ids:"
    kept = "\n".join(line for line in lines if "# runner-sync: review" not in line)
    assert kept == npu.replace("self.note(ids)", "self.note(ids, packed)")


def test_a_mend_that_reads_what_only_its_new_module_has_is_asked_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    function = "LIMIT = 1\n\n\n" + MENDED.replace("len(row.values) > 1", "len(row.values) > LIMIT")
    text, questions = check_port(tmp_path, monkeypatch, function)
    assert text == NPU
    assert "it uses LIMIT, which nothing sets here" in questions
    assert f"{KEEPS}; new there: `if len(row.values) > LIMIT:`" in questions


def test_a_helper_that_only_moved_is_said_to_do_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, questions = check_port(tmp_path, monkeypatch, FUNCTION)
    assert text == NPU
    assert f"{KEEPS}, where it does the same" in questions


def test_nothing_is_silent_where_the_methods_that_call_it_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The call stands in another helper that NPU lacks, and that resembles nothing of NPU's."""
    inner = "\n    def _outer(self, ids, rows):\n        return self._pack_rows(ids=ids, rows=rows)\n"
    was = WAS.replace("self._pack_rows(ids=ids, rows=rows)", "self._outer(ids, rows)", 1) + inner
    now = was.replace(METHOD, "").replace(HEAD, HEAD + IMPORT).replace("self._pack_rows(", "pack_rows(")
    text, questions = check_port(tmp_path, monkeypatch, EARLY, was=was, now=now)
    assert f"{KEEPS}; new there: `if len(row.values) > 1:`" in questions
    assert text.replace(" ", "").count("packed[name]=row.values[0]") == 1


@pytest.mark.parametrize(
    ("imported", "called", "files"),
    [
        pytest.param(IMPORT.replace("pack_rows", "pack_rows as pack"), "pack(", {}, id="under another name"),
        pytest.param(
            "from vllm_omni.worker import packing\n", "packing.pack_rows(", {}, id="as an attribute of its module"
        ),
        pytest.param(
            "from vllm_omni.worker.parts import pack_rows\n",
            "pack_rows(",
            {"vllm_omni/worker/parts/__init__.py": "from ..packing import pack_rows\n"},
            id="through a package that only imports it",
        ),
    ],
)
def test_the_function_is_found_however_it_is_imported(
    imported: str, called: str, files: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = NOW.replace(IMPORT, imported).replace("pack_rows(ids", f"{called}ids")
    _, questions = port_of(tmp_path, monkeypatch, NPU, WAS, now, beside={PACKING: EARLY, **files})
    assert f"{KEEPS}; new there: " in questions


def test_a_function_that_is_given_the_runner_is_followed_like_a_method(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    was, npu = (text.replace("rows.get(name)", "self.rows.get(name)") for text in (WAS, NPU))
    function = MENDED.replace("(*, ids, rows)", "(runner, *, ids)").replace("rows.get(name)", "runner.rows.get(name)")
    now = NOW.replace("pack_rows(ids=ids, rows=rows)", "pack_rows(self, ids=ids)")
    text, questions = check_port(tmp_path, monkeypatch, function, npu=npu, was=was, now=now)
    assert "row = self.rows.get(name)\n" in text
    assert "            if len(row.values) > 1:\n                continue\n            packed[" in text
    assert f"{KEEPS}, where it does the same" in questions


OWN = NPU.split("    def ")[0] + RUN.split("\n\n")[1].partition("\n")[2] + METHOD
"""NPU with the helper as a method of its own."""


@pytest.mark.parametrize(
    ("function", "said"),
    [
        pytest.param(FUNCTION, ", where it does the same", id="as it was"),
        pytest.param(MENDED, "; new there: `if len(row.values) > 1:`", id="mended"),
        pytest.param(
            FUNCTION.replace("        if row.is_empty():\n            continue\n", ""),
            "; no longer there: `if row.is_empty():`",
            id="with less",
        ),
        pytest.param(FUNCTION.replace("return packed", "return None"), "; new there: `return None`", id="in a detail"),
    ],
)
def test_a_port_of_a_method_that_moved_was_not_dropped(
    function: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    npu = OWN + "\n    def _mine(self, rows):\n        return self._pack_rows(ids=(), rows=rows)\n"
    _, questions = check_port(tmp_path, monkeypatch, function, npu=npu)
    moved = f"the GPU runner moved this method to vllm_omni.worker.packing.pack_rows{said}"
    assert f"{moved}; it stays, because the NPU class still calls it in _mine" in questions


OTHER = """\
def pack_rows(*, ids, rows):
    return Packing(ids).of(rows)
"""


@pytest.mark.parametrize(
    ("now", "function"),
    [
        pytest.param(NOW, OTHER, id="the same name alone"),
        pytest.param(NOW.replace("vllm_omni.worker.packing", "packing"), FUNCTION, id="it is not omni's"),
        pytest.param(NOW.replace(IMPORT, ""), FUNCTION, id="it is not imported"),
    ],
)
def test_a_method_that_is_gone_was_dropped(
    now: str, function: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    npu = OWN + "\n    def _mine(self, rows):\n        return self._pack_rows(ids=(), rows=rows)\n"
    _, questions = port_of(tmp_path, monkeypatch, npu, WAS, now, beside={PACKING: function})
    assert "the GPU runner dropped this method; it stays, because the NPU class still calls it in " in questions
    assert "moved" not in questions


@pytest.mark.parametrize(
    ("was", "now"),
    [
        pytest.param(HEAD + IMPORT + RUN + METHOD, NOW, id="imported before"),
        pytest.param(WAS, WAS.replace(HEAD, HEAD + IMPORT), id="the method is there, too"),
        pytest.param(WAS.replace("self._pack_rows(ids", "self.pack(ids"), NOW, id="another method used it"),
    ],
)
def test_what_did_not_move_is_not_asked_about(
    was: str, now: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, questions = port_of(tmp_path, monkeypatch, NPU, was, now, beside={PACKING: EARLY})
    assert "moved this code to" not in questions


PART = (
    "def part(rows):\n    ids = set(rows)\n    first = min(ids)\n    return [row for row in ids if row is not first]\n"
)
LINES = [f"    own({number})" for number in range(20)]


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        pytest.param(
            ["chosen = set(rows)", "first = min(ids)", "rest = [row for row in ids if row is not first]"],
            (2, 4),
            id="assigned to other names",
        ),
        pytest.param(["ids = set(rows)", "first = min(ids)"], None, id="too few"),
        pytest.param(
            ["ids = set(rows)", *(line.strip() for line in LINES), "first = min(ids)", "x = list(ids)"],
            None,
            id="too far apart",
        ),
        pytest.param(["ids = rows", "first = ids", "rest = []"], None, id="names and constants tell nothing"),
    ],
)
def test_where_a_helper_stands_in_line(rows: list[str], found: tuple[int, int] | None) -> None:
    text = "\n".join(["def run(self, rows):", *(f"    {row}" for row in rows), *LINES, ""])
    assert find_passage(PART, text) == found


def test_a_static_method_may_be_called_through_its_class() -> None:
    text = "def run(self):\n    a = {}(1)\n    b = {}(2)\n    return {}(a, b)\n"
    ways = [text.format(*([f"{owner}._step"] * 3)) for owner in ("self", "cls", "NPUARModelRunner")]
    assert all(is_most_of(one, other) for one in ways for other in ways)
    assert not is_most_of(ways[0], ways[0].replace("self._step", "self.model.step"))


def test_a_helper_that_can_be_inlined_in_one_text_only_stays_a_call() -> None:
    """Its statements would seem to be gone from the other."""
    run = "def run(self, rows):\n    packed = self._pack_rows(ids=rows, rows=rows)\n    return packed\n"
    method, early = (text.replace("def pack_rows(*, ", "def _pack_rows(self, *, ") for text in (FUNCTION, EARLY))
    sides = ((run, {"_pack_rows": method}), (run, {"_pack_rows": early}))
    assert inline_helpers(FUNCTION, *sides) == (run, run)
    both = inline_helpers(FUNCTION, sides[0], sides[0])
    assert "self._pack_rows" not in both[0] + both[1]


def test_a_new_module_that_does_not_parse_tells_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, questions = port_of(tmp_path, monkeypatch, NPU, WAS, NOW, beside={PACKING: "def (:\n"})
    assert text.startswith(NPU.split("\n")[0])
    assert KEEPS not in questions
