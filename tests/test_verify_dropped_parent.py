"""An override that handed on before and calls no parent any more (RS320)."""

from __future__ import annotations

import pytest
from verify_samples import GPU, ascend, find, npu, symbols, world

DOES = "def capture(self):\n    log('begin')\n    self.graphs.build(3)\n    return len(self.graphs)"
BEFORE = "def capture(self):\n    size = super().capture()\n    self.talker()\n    return size"
NAMED = BEFORE.replace("super().capture(", "NPUModelRunner.capture(self")
NOW = "def capture(self):\n    self.talker()\n    return 0"

Case = tuple[str, str, str, list[tuple[str, str]]]
TOLD = [("RS320", "capture")]
CASES: dict[str, Case] = {
    "it calls no parent": (BEFORE, NOW, DOES, TOLD),
    "it called it by the name of the class": (NAMED, NOW, DOES, TOLD),
    "a part of it is here": (BEFORE, NOW.replace("self.talker()", "log('begin')"), DOES, TOLD),
    "it uses a class": (BEFORE, NOW.replace("return 0", "return Mode.NONE"), DOES, TOLD),
    "it still calls it": (BEFORE, BEFORE.replace("self.talker()", "pass"), DOES, []),
    "it calls it by the name of the class": (BEFORE, NAMED, DOES, []),
    "it never did": (NOW, NOW.replace("0", "1"), DOES, []),
    "it is a copy now": (BEFORE, DOES + "\ndef other(self):\n    pass", DOES, []),
    "it has most of it": (BEFORE, NOW.replace("return 0", "log('begin')\n    self.graphs.build(3)"), DOES, []),
    "another method hands on": (BEFORE, NOW + "\ndef _super(self):\n    return super().capture()", DOES, []),
    "it calls another method of the parent": (BEFORE, NOW.replace("0", "super().start()"), DOES, []),
    "the parent is empty": (BEFORE, NOW, "def capture(self):\n    '''Nothing.'''\n    pass", []),
    "the parent only raises": (BEFORE, NOW, "def capture(self):\n    raise NotImplementedError", []),
    "the parent only says no": (BEFORE, NOW, "def capture(self):\n    return False", []),
    "the override is gone": (BEFORE, "def talker(self):\n    pass", DOES, []),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_an_override_that_calls_its_parent_no_more(name: str) -> None:
    before, now, parent, told = CASES[name]
    given = {"ascend": ascend(parent)}
    found = find(world(npu=npu(now), **given), world(npu=npu(before), **given))
    assert [one for one in symbols(found) if one[0] == "RS320"] == told
    assert "RS320" not in {one.code for one in find(world(npu=npu(now), **given))}


def test_what_is_lost_is_named() -> None:
    given = {"ascend": ascend(DOES)}
    (found,) = find(world(npu=npu(NOW), **given), world(npu=npu(BEFORE), **given))
    assert "`NPUModelRunner.capture` (vllm_ascend/runner.py:" in found.message
    assert "3 statements" in found.message


@pytest.mark.parametrize(
    ("between", "told"),
    [
        ("return super().capture()", TOLD),
        ("self.hook()\n        return super().capture()", TOLD),
        ("return 1", []),
    ],
    ids=["only hands on", "does something, too", "does nothing, and hides it"],
)
def test_a_parent_behind_another_one(between: str, told: list[tuple[str, str]]) -> None:
    given = {"ascend": ascend(DOES), "gpu": f"{GPU}    def capture(self):\n        {between}\n"}
    found = find(world(npu=npu(NOW), **given), world(npu=npu(BEFORE), **given))
    assert [one for one in symbols(found) if one[0] == "RS320"] == told


def test_a_base_that_the_class_has_no_more() -> None:
    given = {"ascend": ascend(DOES)}
    now = npu(NOW, bases="OmniGPUModelRunner")
    assert "RS320" not in {one.code for one in find(world(npu=now, **given), world(npu=npu(BEFORE), **given))}


def test_what_is_unset_by_it_is_told_instead() -> None:
    given = {"ascend": ascend("def load(self):\n    self.cache = build()\n    log(1)\ndef run(self):\n    self.cache")}
    before, now = (npu(f"def load(self):\n    {body}") for body in ("super().load()", "pass"))
    assert symbols(find(world(npu=now, **given), world(npu=before, **given))) == [("RS312", "cache")]
