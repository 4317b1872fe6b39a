"""A local that vllm-ascend renamed, in what the GPU runner gained since."""

from __future__ import annotations

import pytest
from step_samples import MODULE, port_step

from runner_sync.profile import NPU
from runner_sync.upgrade.job import Hierarchy, Inherited
from runner_sync.upgrade.npu_words import InNpuWords, Translation
from runner_sync.upgrade.twin_locals import with_new_names

STEP = """\
    def _step(self, rows):
        hidden = self.model(rows)
        self.note(hidden)
        self.keep(hidden, rows)
        return hidden
"""
NEW_STEP = STEP.replace("hidden", "states")
TALK = "        self.talk(hidden)\n"
SEND = "        self.send(hidden)\n"
TWIN = """\
    def _step(self, rows):
        output = self.run_model(rows)
        if output.is_last:
            self.hidden = output.rows
        hidden, extra = output
        self.talk(hidden)
        return extra
"""
"""The GPU method makes the value in another way, so that only NPU's own old name tells that it is the same."""


def upgraded(ascend: str, twin: str) -> str:
    """The NPU method, a copy of ``STEP`` with ``TALK``, with the changes to ``ascend`` and to ``twin``."""
    members = {
        name: f"    def {name}(self, *args): ...\n" for name in ("model", "note", "keep", "talk", "send", "run_model")
    }
    result = port_step(
        STEP.replace("        return", f"{TALK}        return"),
        (STEP, ascend),
        vllm=(STEP, STEP),
        twin=(TWIN, twin),
        hierarchy=Hierarchy(inherited={MODULE.name: Inherited(vllm={"_step": STEP, **members})}),
    )
    return result.after


@pytest.mark.parametrize("name", ["hidden", "states"])
def test_a_port_uses_the_name_that_the_copy_has_now(name: str) -> None:
    after = upgraded(STEP.replace("hidden", name), TWIN.replace(TALK, TALK + SEND))
    assert f"        self.send({name})\n" in after


NAMES = {"Runner.step": {"hidden": "states"}, "Runner.other": {}}
FREE = "def step(rows):\n    hidden = rows\n    return hidden\n"


@pytest.mark.parametrize(
    ("name", "text", "is_renamed"),
    [
        pytest.param("step", FREE, True, id="a local"),
        pytest.param("other", FREE.replace("step", "other"), False, id="another method"),
        pytest.param(
            "step", FREE.replace("rows)", "hidden)").replace("= rows", "= hidden[0]"), False, id="a parameter"
        ),
        pytest.param("step", FREE.replace("hidden = rows", "states = rows"), False, id="none of the method's"),
        pytest.param("step", FREE.replace("= rows", "= states(rows)"), False, id="the new name is something else"),
    ],
)
def test_what_gets_the_new_name(name: str, text: str, is_renamed: bool) -> None:
    plain = Translation(
        lambda text, _profile, _path, _wanted: InNpuWords(text, {f"Runner.{name}": text}), lambda text, _profile: text
    )
    made = with_new_names(plain, NAMES)
    expected = text.replace("hidden", "states") if is_renamed else text
    assert made.module(text, NPU, "", False).units == {f"Runner.{name}": expected}
    assert made.unit(text, NPU) == expected
    assert made.module(text, NPU, "", False).text == text


def test_methods_of_one_name_with_other_new_names_are_not_confused() -> None:
    plain = Translation(lambda text, _profile, _path, _wanted: InNpuWords(text, {}), lambda text, _profile: text)
    assert with_new_names(plain, {**NAMES, "Other.step": {"hidden": "kept"}}).unit(FREE, NPU) == FREE
