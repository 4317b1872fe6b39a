"""New code of the twin reads a local that NPU never had: it comes, too, if it is plain."""

from __future__ import annotations

from pathlib import Path

import pytest
from sync_samples import GPU_TWIN, NPU_TWIN, port_of

from runner_sync.model import Triple
from runner_sync.upgrade.from_gpu.merging.plain_locals import bring_plain_locals

LOCAL = '        model = getattr(self, "model", None)\n'
FIRST = "        first = rows[0]\n"
HOOK = "        self.has_hook = callable(model.hook)\n"


def twin(local: str = LOCAL, *, new: str = "") -> str:
    return GPU_TWIN.replace(FIRST, f"{FIRST}{local}        self.open(model)\n{new}")


def test_the_local_comes_with_the_code_that_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, questions = port_of(tmp_path, monkeypatch, NPU_TWIN, twin(), twin(new=HOOK))
    assert LOCAL in text
    assert HOOK in text
    assert "self.open(model)" not in text
    assert "left out" not in questions
    assert "ported from the GPU runner; this new code has not run" in questions


def test_noop_a_call_may_do_something(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    local = "        model = self.fetch_model(rows)\n"
    text, questions = port_of(tmp_path, monkeypatch, NPU_TWIN, twin(local), twin(local, new=HOOK))
    assert "model" not in text.partition("class ")[2]
    assert "left out: it uses model, which nothing sets here" in questions


def run(*lines: str) -> str:
    return "\n".join(["def run(self, rows):", *(f"    {line}" for line in lines), ""])


USE, READ = "self.open(model)", "self.read(model)"


@pytest.mark.parametrize(
    "setting",
    [
        pytest.param(["model = self.model"], id="an attribute"),
        pytest.param(["model: Model | None = self.model"], id="with a hint"),
        pytest.param(["model = [row.model for row in rows if len(row)]"], id="a list"),
        pytest.param(["plain = self.plain", "model = plain.model"], id="what it reads comes, too"),
    ],
)
def test_a_plain_local_counts_as_new(setting: list[str]) -> None:
    old, new = run("total = len(rows)", *setting, USE), run("total = len(rows)", *setting, USE, READ)
    sides = Triple(old, run("total = len(rows)"), new)
    assert bring_plain_locals(sides, ["model"]) == Triple(run("total = len(rows)", USE), sides.omni, new)


@pytest.mark.parametrize(
    ("setting", "omni", "changed"),
    [
        pytest.param(["model = self.find()"], [], {}, id="a call of a method"),
        pytest.param(["model = find()"], [], {}, id="a call of a function"),
        pytest.param(["model, size = self.pair"], [], {}, id="two locals"),
        pytest.param(["model = self.model", "model = model.inner"], [], {}, id="set twice"),
        pytest.param(["with self.lock as model:", "    pass"], [], {}, id="a head"),
        pytest.param(["model = self.model"], ["model = self.own"], {}, id="NPU has a local of that name"),
        pytest.param(["model = self.model"], ["self.show(model)"], {}, id="NPU reads that name"),
        pytest.param(["model = self.model"], ["self.show(self.model)"], {}, id="NPU has the value in place"),
        pytest.param(["model = self.model"], [], {"self.model": "self.models[0]"}, id="the assignment changed"),
        pytest.param(["if rows:", "    model = self.model"], [], {}, id="alone in its suite"),
    ],
)
def test_noop_locals_that_are_not_plain_or_not_missing(
    setting: list[str], omni: list[str], changed: dict[str, str]
) -> None:
    new = run(*setting, USE, READ)
    for old, now in changed.items():
        new = new.replace(old, now)
    sides = Triple(run(*setting, USE), run("total = len(rows)", *omni), new)
    assert bring_plain_locals(sides, ["model"]) == sides
