"""A passage of the GPU twin that NPU keeps in a method of its own: its changes go there."""

from __future__ import annotations

import re
from functools import partialmethod
from pathlib import Path
from textwrap import indent

import pytest
from sync_samples import Trees, port_of

from runner_sync.upgrade.from_gpu.merging import porting

GPU = """\
from vllm_omni.worker.gpu_model_runner import OmniGPUModelRunner


class GPUARModelRunner(OmniGPUModelRunner):
    def _output(self, rows):
        ids = self.order(rows)
        hidden = self.on_host(rows.hidden)
        if self.cache is not None and rows:
            slots = self.table.slots
            self.cache.write(hidden, slots, ids=ids)
            self.cache.note(ids)
        return self.finish(ids, hidden)
"""
NPU = """\
from vllm_omni.platforms.npu.worker.npu_model_runner import OmniNPUModelRunner


class NPUARModelRunner(OmniNPUModelRunner):
    def _output(self, rows):
        ids = self.order(rows)
        hidden = self.on_host(rows.hidden)
        self._keep(hidden, names=ids)
        return self.finish(ids, hidden)

    def _keep(self, hidden, *, names):
        if self.cache is not None:
            slots = self.table.slots
            self.cache.write(hidden, slots, ids=names)
            self.cache.note(names)
"""
PASSAGE = GPU[GPU.index("        if self.cache") : GPU.index("        return self.finish")]
NOTE = "            self.cache.note(ids)\n"
IN_LINE = "; the GPU runner has this code in _output"
HELD = "; NPU keeps in _keep what the GPU runner had in line here"


def port(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, now: str, *, npu: str = NPU, was: str = GPU
) -> tuple[str, str]:
    """The NPU module without review comments after a port, and the questions."""
    text, questions = port_of(tmp_path, monkeypatch, npu, was, now)
    return re.sub(r" *# (runner-sync|-----).*\n", "", text), questions


@pytest.mark.parametrize(
    ("old", "new", "mine", "expected"),
    [
        pytest.param("slots, ids=ids)", "slots, ids=list(ids))", "ids=names)", "ids=list(names))", id="an argument"),
        pytest.param(NOTE, "", NOTE.replace("ids", "names"), "", id="a statement that went"),
        pytest.param(
            NOTE,
            NOTE + NOTE.replace("ids", "list(ids)"),
            "note(names)\n",
            "note(names)\n            self.cache.note(list(names))\n",
            id="a new statement",
        ),
        pytest.param(NOTE, NOTE.replace("note(ids)", "flush()"), "note(names)", "flush()", id="another last statement"),
    ],
)
def test_a_change_goes_into_the_method(
    old: str, new: str, mine: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`_maybe_update_prefix_cache` of 0.29.0rc1 has what `execute_model` of the GPU runner has in line."""
    text, questions = port(tmp_path, monkeypatch, GPU.replace(old, new))
    assert text == NPU.replace(mine, expected)
    assert questions.count(IN_LINE) == 1


def test_what_the_method_returns_has_the_names_of_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    was = GPU.replace("finish(ids, hidden)", "finish(ids, hidden, slots)")
    npu = NPU.replace("        self._keep(", "        slots = self._keep(").replace(
        "finish(ids, hidden)", "finish(ids, hidden, slots)"
    )
    npu = npu.replace("slots = self.table", "kept = self.table").replace(
        "hidden, slots, ids=names", "hidden, kept, ids=names"
    )
    npu += "        return kept\n"
    text, questions = port(
        tmp_path, monkeypatch, was.replace("write(hidden, slots", "write(hidden, list(slots)"), npu=npu, was=was
    )
    assert text == npu.replace("write(hidden, kept", "write(hidden, list(kept)")
    assert IN_LINE in questions


def test_a_passage_that_went_takes_the_call_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, questions = port(tmp_path, monkeypatch, GPU.replace(PASSAGE, ""))
    assert text == NPU.replace("        self._keep(hidden, names=ids)\n", "")
    assert f"removed, because the GPU runner no longer has it{HELD}" in questions


def test_what_replaced_the_passage_replaces_the_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`_prefix_cache_save_step` of 0.30.0."""
    call = "        self.finish((), rows)\n"
    text, questions = port(tmp_path, monkeypatch, GPU.replace(PASSAGE, call))
    assert text == NPU.replace("        self._keep(hidden, names=ids)\n", call)
    assert HELD in questions


def test_a_method_that_took_over_the_passage_replaces_npus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both calls would do the work twice."""
    call = "        self._save(hidden, rows, ids)\n"
    now = f"{GPU.replace(PASSAGE, call)}\n    def _save(self, hidden, rows, ids):\n{PASSAGE}"
    text, questions = port(tmp_path, monkeypatch, now)
    assert text.startswith(NPU[: NPU.index("    def _keep")].replace("        self._keep(hidden, names=ids)\n", call))
    assert "def _save(" in text
    assert HELD in questions


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("is not None and rows", "is not None and rows and ids", id="a condition of another form"),
        pytest.param(NOTE, NOTE + NOTE.replace("ids", "rows"), id="it reads a local of the caller"),
    ],
)
def test_what_does_not_fit_is_asked_about_at_the_method(
    old: str, new: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, questions = port(tmp_path, monkeypatch, GPU.replace(old, new))
    assert text == NPU
    assert IN_LINE in questions


@pytest.mark.parametrize(
    ("npu", "was", "now"),
    [
        pytest.param(
            NPU,
            GPU,
            GPU.replace("self.order(rows)", "self.order(list(rows))"),
            id="only the caller changed",
        ),
        pytest.param(
            NPU.replace("self.table.slots", "self.slots()").replace("self.cache.write(hidden, slots,", "self.store("),
            GPU,
            GPU.replace("slots, ids=ids)", "slots, ids=list(ids))"),
            id="the method does something else",
        ),
        pytest.param(
            NPU,
            GPU.replace("        return", "        self._keep(hidden, names=())\n        return"),
            GPU.replace("        return", "        self._keep(hidden, names=())\n        return").replace(
                "slots, ids=ids)", "slots, ids=list(ids))"
            ),
            id="the twin calls a method of that name",
        ),
        pytest.param(
            NPU.replace("names=ids)\n", "names=ids)\n        self._keep(hidden, names=())\n"),
            GPU,
            GPU.replace("slots, ids=ids)", "slots, ids=list(ids))"),
            id="it is called twice",
        ),
    ],
)
def test_the_method_stays(npu: str, was: str, now: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, questions = port(tmp_path, monkeypatch, now, npu=npu, was=was)
    assert text[text.index("def _keep") :] == npu[npu.index("def _keep") :]
    assert IN_LINE not in questions


@pytest.mark.parametrize("leaving", ["return", "continue"])
def test_what_leaves_the_caller_cannot_leave_it_from_the_method(
    leaving: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop, call = "        for _ in rows:\n", "        self._keep(hidden, names=ids)\n"
    was, npu = GPU.replace(PASSAGE, loop + indent(PASSAGE, "    ")), NPU.replace(call, f"{loop}    {call}")
    note = f"    {NOTE}"
    now = was.replace(note, f"{note}                if not ids:\n                    {leaving}\n")
    text, questions = port(tmp_path, monkeypatch, now, npu=npu, was=was)
    assert text == npu
    assert questions == f"not ported: a new `{leaving}` there leaves _output, and here it would only leave this method"


def test_a_local_that_the_caller_reads_behind_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    new = "            hidden = self.cache.tag(hidden)\n"
    text, questions = port(tmp_path, monkeypatch, GPU.replace(NOTE, NOTE + new))
    assert text == NPU + new
    assert f"{IN_LINE}, which reads hidden behind it" in questions


def test_what_a_passage_sets_is_no_parameter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the method, `cache = None` would set a local."""
    npu = NPU.replace("hidden, names", "hidden, self.cache, names").replace("hidden, *", "hidden, cache, *")
    npu = npu.replace("if self.cache", "if cache").replace("            self.cache.", "            cache.")
    text, questions = port(tmp_path, monkeypatch, GPU.replace(NOTE, f"{NOTE}            self.cache = None\n"), npu=npu)
    assert text == f"{npu}            self.cache = None\n"
    assert IN_LINE in questions


def test_a_number_in_a_call_is_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    npu = NPU.replace("hidden, names", "hidden, -1, names").replace("hidden, *", "hidden, axis, *")
    text, _ = port(tmp_path, monkeypatch, GPU.replace(NOTE, NOTE + NOTE.replace("ids", "ids[-1]")), npu=npu)
    assert text == npu + NOTE.replace("ids", "names[-1]")


def test_a_passage_goes_to_the_method_that_has_most_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep = NPU[NPU.index("    def _keep") :]
    less = keep.replace("_keep", "_clear").replace("cache.note(names)", "count += len(names)")
    calls = "        self._clear(hidden, names=ids)\n        self._keep("
    npu = NPU.replace("        self._keep(", calls).replace(keep, f"{less}\n{keep}")
    text, _ = port(tmp_path, monkeypatch, GPU.replace("slots, ids=ids)", "slots, ids=list(ids))"), npu=npu)
    assert text[: text.index("def _keep")].count("list(names)") == 0
    assert "ids=list(names))" in text[text.index("def _keep") :]


def test_a_mistake_in_the_port_of_a_passage_is_a_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise KeyError("a")

    monkeypatch.setattr(porting, "_port_passages", fail)
    monkeypatch.setattr(Trees, "upgrade", partialmethod(Trees.upgrade, isolates=True))
    text, questions = port(tmp_path, monkeypatch, GPU.replace("slots, ids=ids)", "slots, ids=list(ids))"))
    assert text == NPU
    assert questions.startswith(
        "the GPU runner's change was not merged, by a mistake in runner-sync (KeyError: 'a' at "
    )
