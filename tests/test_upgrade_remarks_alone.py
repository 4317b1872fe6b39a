"""Comments and docstrings that the GPU twin changed without the code that they are about."""

from __future__ import annotations

from pathlib import Path

import pytest
from sync_samples import GPU_TWIN, NPU_TWIN, port_of

from runner_sync.upgrade.from_gpu.merging.remarks_alone import port_comments

RULER = "# --------------- Omni-new ---------------"

OLD = """\
def step(self, rows):
    self.open(rows)
    # Rows that are done.
    self.drop(rows)

    self.send(rows)
"""
NEW = OLD.replace("Rows that are done", "Rows that finished here")
TOLD = OLD.replace("    self.send", "    # To the next stage.\n    self.send")
BARE = OLD.replace("    # Rows that are done.\n", "")
NPU = OLD.replace("    self.open(rows)\n", f"    self.open_own(rows)\n    {RULER}\n")


@pytest.mark.parametrize(
    ("old", "new", "npu", "ported"),
    [
        pytest.param(OLD, NEW, NPU, NPU.replace("are done", "finished here"), id="changed"),
        pytest.param(BARE, OLD, NPU.replace("    # Rows that are done.\n", ""), NPU, id="added, below a ruler"),
        pytest.param(OLD, BARE, NPU, NPU.replace("    # Rows that are done.\n", ""), id="removed"),
        pytest.param(
            OLD,
            NEW,
            "def step(self, rows):\n    if self.on:\n        # Rows that are done.\n        self.drop(rows)\n",
            "def step(self, rows):\n    if self.on:\n        # Rows that finished here.\n        self.drop(rows)\n",
            id="in another suite",
        ),
        pytest.param(
            OLD,
            NEW.replace("self.drop(rows)", "self.drop(rows)\n    self.count()"),
            NPU.replace("self.drop(rows)", "self.drop(rows)\n    self.count()"),
            NPU.replace("are done", "finished here").replace("self.drop(rows)", "self.drop(rows)\n    self.count()"),
            id="with a change below it that came in",
        ),
    ],
)
def test_a_comment_that_npu_has_word_for_word_follows_the_twin(old: str, new: str, npu: str, ported: str) -> None:
    assert port_comments(npu, old, new) == ported
    assert port_comments(ported, old, new) == ported


@pytest.mark.parametrize(
    ("old", "new", "npu", "upstream"),
    [
        pytest.param(OLD, NEW, NPU.replace("are done", "are through"), "", id="in NPU's own words"),
        pytest.param(OLD, NEW, NPU, OLD, id="that vllm-ascend has, too"),
        pytest.param(OLD, NEW, NPU.replace("self.drop(rows)", "self.drop_own(rows)"), "", id="on another statement"),
        pytest.param(OLD, NEW, NPU + NPU[NPU.index("    # Rows") :], "", id="in two places"),
        pytest.param(OLD, NEW, NPU.replace("done.\n", "done.\n\n"), "", id="apart from the statement"),
        pytest.param(
            OLD,
            NEW.replace("self.drop(rows)", "self.drop(rows)\n    self.count()"),
            NPU,
            "",
            id="with a change below it that stayed out",
        ),
        pytest.param(
            OLD, TOLD, NPU.replace("    self.send", "    # For all stages.\n    self.send"), "", id="beside NPU's own"
        ),
        pytest.param(OLD, TOLD, NPU.replace("    self.open", "    # To the next stage.\n    self.open"), "", id="had"),
        pytest.param(
            "def step(self):\n    return\n", "def step(self):\n    # End.\n    return\n", NPU, "", id="return"
        ),
    ],
)
def test_noop_any_other_comment(old: str, new: str, npu: str, upstream: str) -> None:
    assert port_comments(npu, old, new, upstream=upstream) == npu


FETCH = "    def _fetch(self, rows, total):\n"
SAID = '        """Return the rows that are cached."""\n'
FIRST = "        first = rows[0]\n"


@pytest.mark.parametrize(
    ("was", "now"),
    [
        pytest.param(FETCH + SAID, FETCH + SAID.replace("that are cached", "of the cache"), id="docstring changed"),
        pytest.param(FETCH, FETCH + SAID, id="docstring added"),
        pytest.param("        # One.\n" + FIRST, "        # The first of all.\n" + FIRST, id="comment changed"),
    ],
)
def test_a_change_of_words_alone_is_ported_without_a_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, was: str, now: str
) -> None:
    anchor = FETCH if FETCH in was else FIRST
    npu, old, new = (text.replace(anchor, words) for text, words in ((NPU_TWIN, was), (GPU_TWIN, was), (GPU_TWIN, now)))
    text, asked = port_of(tmp_path, monkeypatch, npu, old, new)
    assert text == NPU_TWIN.replace(anchor, now)
    assert "fetch" not in asked
    assert "ported" not in asked


def test_noop_the_docstring_that_npu_wrote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = (GPU_TWIN.replace(FETCH, FETCH + said) for said in (SAID, SAID.replace("that are", "which are")))
    npu = NPU_TWIN.replace(FETCH, FETCH + SAID.replace("Return", "Look up"))
    text, asked = port_of(tmp_path, monkeypatch, npu, old, new)
    assert (text, "ported" in asked) == (npu, False)
