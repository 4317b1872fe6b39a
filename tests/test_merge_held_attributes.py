"""What upstream holds in a local and omni reads where it stands is the attribute in omni's statements."""

from __future__ import annotations

import pytest

from runner_sync import merge
from runner_sync.model import Triple
from runner_sync.upgrade.from_gpu.merging.sound_merge import merge_soundly

HELD = '    hook = getattr(self.model, "hook", None)\n'
CALLED = "        rows, count = hook(rows=rows, sizes=self.sizes)\n"
HANDED = "        rows, count = self.call(hook, rows=rows, sizes=self.sizes)\n"
OWN = CALLED.replace("hook(", "self.model.hook(")


def twin(call: str, *, held: str = HELD, more: str = "") -> str:
    return (
        f"def run(self, rows):\n    first = self.first(rows)\n{held}    if callable(hook):\n{call}{more}"
        "    return self.last(first, rows)\n"
    )


def npu(call: str, head: str = '    if hasattr(self.model, "hook"):\n') -> str:
    return f"def run(self, rows):\n    first = self.first(rows)\n{head}{call}    return self.last(first, rows)\n"


def merged(sides: Triple) -> str:
    result, broken = merge_soundly(
        sides, merge.PORT, veto=lambda _: None, foreign=(), pinned=frozenset(), known=("callable", "getattr", "hasattr")
    )
    assert not broken
    return result.text


@pytest.mark.parametrize(
    "held",
    [HELD, "    hook = self.model.hook\n", '    hook = getattr(self.model, "hook")\n'],
    ids=["or none", "a plain alias", "by name"],
)
def test_a_change_of_the_call_comes(held: str) -> None:
    """``prepare_runner_inputs`` of omni 0.31.0rc1, which NPU reads off the model in the call."""
    sides = Triple(twin(CALLED, held=held), npu(OWN), twin(HANDED, held=held))
    assert merged(sides) == npu(HANDED.replace("(hook", "(self.model.hook"))


OTHER = "        self.note(hook, rows)\n"


@pytest.mark.parametrize(
    "sides",
    [
        pytest.param(
            Triple(twin(CALLED), npu(OWN), twin(HANDED, held=HELD.replace("None", "self.plain"))),
            id="held with a default",
        ),
        pytest.param(
            Triple(twin(CALLED), npu(OWN), twin(HANDED, more="    hook = self.other(rows)\n")),
            id="bound to another thing",
        ),
        pytest.param(
            Triple(twin(CALLED), npu(OWN.replace("model.hook", "talker.hook")), twin(HANDED)), id="another's attribute"
        ),
        pytest.param(
            Triple(twin(CALLED), npu(CALLED.replace("hook(", "self.own_hook(")), twin(HANDED)), id="a method of NPU's"
        ),
    ],
)
def test_another_value_is_not_taken_for_it(sides: Triple) -> None:
    assert merge.with_attributes_as_omni(sides, ["hook"]) == sides


def test_a_statement_that_does_not_read_it_on_npu_is_left_alone() -> None:
    """Nothing says that the attribute is there where omni does not read it."""
    sides = Triple(twin(CALLED), npu(OWN), twin(CALLED, more=f"    if rows:\n{OTHER}"))
    given = merge.with_attributes_as_omni(sides, ["hook"])
    assert OTHER in given.upstream
    assert "if callable(hook)" in given.upstream
    assert "note" not in merged(sides)


def test_a_local_that_omni_has_is_left_alone() -> None:
    sides = Triple(twin(CALLED), twin(OWN), twin(HANDED))
    assert merge.with_attributes_as_omni(sides, ["hook"]) == sides
