"""A local that vllm-ascend renamed, in what the GPU runner gained since."""

from __future__ import annotations

import pytest
from step_samples import MODULE, port_step

from runner_sync.profile import NPU, Profile
from runner_sync.upgrade.job import Hierarchy, Inherited
from runner_sync.upgrade.npu_words import InNpuWords, Translation
from runner_sync.upgrade.twin_names import TakenOver, with_new_names

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


TAKEN = {"Runner.step": TakenOver({"hidden": "states"}, {"pick": "tools.pick"}, "states = tools.pick(rows)\n")}
OLD = "from pkg.tools import pick\n"
NEW = "from pkg import tools\n"
FREE = "def step(rows):\n    hidden = pick(rows)\n    return hidden\n"
RENAMED = FREE.replace("hidden", "states")


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        pytest.param("step", FREE, RENAMED.replace("pick", "tools.pick"), id="a local and an import"),
        pytest.param("other", FREE.replace("step", "other"), FREE.replace("step", "other"), id="another method"),
        pytest.param(
            "step",
            FREE.replace("(rows):", "(hidden):").replace("rows", "0"),
            FREE.replace("(rows):", "(hidden):").replace("pick(rows)", "tools.pick(0)"),
            id="a parameter",
        ),
        pytest.param(
            "step",
            FREE.replace("(rows)\n", "(states)\n"),
            FREE.replace("pick(rows)", "tools.pick(states)"),
            id="the new name is something else",
        ),
        pytest.param(
            "step", FREE.replace("(rows)", "(rows, pick)"), RENAMED.replace("(rows)", "(rows, pick)"), id="given"
        ),
        pytest.param(
            "step", FREE.replace("(rows):", "(rows, tools):"), RENAMED.replace("(rows):", "(rows, tools):"), id="so"
        ),
    ],
)
def test_what_gets_the_new_name(name: str, text: str, expected: str) -> None:
    made = with_new_names(translation(name), TAKEN, NEW)
    found = made.module(OLD + text, NPU, path="", with_findings=False)
    assert found.units == {f"Runner.{name}": expected}
    assert found.text == OLD + text
    assert made.unit(text, NPU) == expected


@pytest.mark.parametrize("imports", ["from other.tools import pick\n", f"{OLD}from own import tools\n"])
def test_what_another_module_imports_keeps_its_form(imports: str) -> None:
    made = with_new_names(translation("step"), TAKEN, NEW)
    assert made.module(imports + FREE, NPU, path="", with_findings=False).units == {"Runner.step": RENAMED}


def translation(name: str) -> Translation:
    """A translation that changes nothing, of modules with imports and one method."""

    def module(text: str, _profile: Profile, *, path: str, with_findings: bool) -> InNpuWords:  # noqa: ARG001
        return InNpuWords(text, {f"Runner.{name}": text[text.index("def") :]})

    return Translation(module, lambda text, _profile: text)


def test_methods_of_one_name_with_other_new_names_are_not_confused() -> None:
    taken = {**TAKEN, "Other.step": TakenOver({"hidden": "kept"}, {}, "")}
    assert with_new_names(translation("step"), taken, NEW).unit(FREE, NPU) == FREE
