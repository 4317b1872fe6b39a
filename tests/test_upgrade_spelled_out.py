"""A function of the GPU runner that only says what NPU's line says: the port of its call asks nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from sync_samples import GPU_TWIN, NPU_TWIN, port_of

LIMITS = "vllm_omni/worker/limits.py"
IMPORT = "from vllm_omni.worker.limits import clamp_to\n"
CLAMP = 'def clamp_to(rows, n):\n    """Keep the rows below n."""\n    return rows.clamp(max=n)\n'
OWN, CALL = "rows.ids = rows.ids.clamp(max=self.limit)", "rows.ids = clamp_to(rows.ids, self.limit)"


def asked(folder: Path, patch: pytest.MonkeyPatch, function: str, *, own: str = OWN, call: str = CALL) -> bool:
    """Whether the port of ``call`` is asked about if it replaces ``own``; it comes in any case."""
    npu, was, now = (
        text.replace("        first = rows[0]\n", f"        {line}\n        first = rows[0]\n")
        for text, line in ((NPU_TWIN, own), (GPU_TWIN, own), (IMPORT + GPU_TWIN, call))
    )
    text, questions = port_of(folder, patch, npu, was, now, beside={LIMITS: function})
    assert IMPORT in text
    assert f"        {call}\n" in text
    return "ported from the GPU runner" in questions


@pytest.mark.parametrize(
    "call", [CALL, "rows.ids = clamp_to(n=self.limit, rows=rows.ids)", "rows.ids = clamp_to(rows.ids, n=self.limit)"]
)
def test_a_call_of_what_it_replaces_is_no_question(call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`clamp_prompt_ids_to_penalty_padding(ids, n)` of 0.28.0 on 0.30.0rc1."""
    assert not asked(tmp_path, monkeypatch, CLAMP, call=call)


@pytest.mark.parametrize(
    ("function", "own", "call"),
    [
        pytest.param(CLAMP.replace("max", "min"), OWN, CALL, id="another keyword"),
        pytest.param(CLAMP.replace("    return", "    rows.check()\n    return"), OWN, CALL, id="one step more"),
        pytest.param(CLAMP.replace("def", "@cached\ndef"), OWN, CALL, id="decorated"),
        pytest.param(CLAMP.replace("(rows, n)", "(rows, *n)"), OWN, CALL, id="any number of values"),
        pytest.param(CLAMP.replace("max=n", "max=self.limit"), OWN, CALL, id="a name that is no parameter"),
        pytest.param(CLAMP.replace("n)", "n, by=1)", 1), OWN, CALL, id="a parameter without a value"),
        pytest.param(CLAMP, OWN, "rows.ids = clamp_to(self.limit, rows.ids)", id="the other way round"),
        pytest.param(
            CLAMP,
            OWN.replace("self.limit", "self.next()"),
            CALL.replace("self.limit", "self.next()"),
            id="a value that is computed",
        ),
    ],
)
def test_a_call_of_anything_else_is_a_question(
    function: str, own: str, call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert asked(tmp_path, monkeypatch, function, own=own, call=call)
