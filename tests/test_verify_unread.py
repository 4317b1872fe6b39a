"""Files of the trees that do not parse: who needs them, and who can do without."""

from __future__ import annotations

import pytest
from verify_samples import NPU, ascend, find, npu, symbols, world

from runner_sync.errors import InputError

BAD = {
    "a module that is not there": ({}, "vllm_omni/nowhere.py", "vllm_omni/nowhere.py: not found"),
    "a runner that is not Python": (
        {"npu": "def f(:\n"},
        NPU,
        r"^vllm_omni/npu\.py:1: does not parse with Python 3\.\d+ \(.*\); fix it, or run with the Python that it",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_said_in_one_sentence(name: str) -> None:
    changed, path, message = BAD[name]
    with pytest.raises(InputError, match=message):
        find(world(**changed), None, [path])


BROKEN = "def f(:\n"
CONFLICT = "<<<<<<< omni\n=======\n>>>>>>> topic\n"
NEEDED = {
    "imported by name": ({"vllm": BROKEN}, r"^vllm/runner\.py:1 of vLLM vllm does not parse with Python 3\.\d+ \("),
    "a base": ({"ascend": BROKEN}, r"^vllm_ascend/runner\.py:1 of vllm-ascend vllm-ascend does not parse"),
    "a conflict": ({"ascend": CONFLICT}, r"^vllm_ascend/runner\.py:1: holds an unresolved merge conflict"),
    "the base of a base": (
        {"ascend": "from vllm.base import Base\nclass NPUModelRunner(Base[int]): ...", "vllm/base.py": BROKEN},
        r"^vllm/base\.py:1 ",
    ),
    "behind a re-export": ({"vllm": "from vllm.inner import helper", "vllm/inner.py": BROKEN}, r"^vllm/inner\.py:1 "),
    "a module": ({"npu": npu("pass", head="import vllm.inner"), "vllm/inner.py": BROKEN}, r"^vllm/inner\.py:1 "),
    "a star import": (
        {"npu": npu("pass", head="from vllm.inner import *"), "vllm/inner.py": BROKEN},
        r"^vllm/inner\.py:1 ",
    ),
    "imported by inherited GPU code": (
        {"gpu": "from vllm.inner import rows\nclass OmniGPUModelRunner: ...", "vllm/inner.py": BROKEN},
        r"^vllm/inner\.py:1 ",
    ),
}


@pytest.mark.parametrize("name", NEEDED)
def test_what_the_runners_need_and_does_not_parse_ends_the_run(name: str) -> None:
    changed, message = NEEDED[name]
    given = {"npu": npu("pass"), **changed}
    for new, old in ((world(**given), None), (world(npu=given["npu"], gpu=given.get("gpu", "")), world(**given))):
        with pytest.raises(InputError, match=message):
            find(new, old)


FROM_INNER = "from vllm.inner import rows"
NOT_NEEDED = {
    "for type checking": npu("def m(self):\n    rows(1)", head=f"if TYPE_CHECKING:\n    {FROM_INNER}"),
    "whose failure is handled": npu(
        "def m(self):\n    rows(1)", head=f"try:\n    {FROM_INNER}\nexcept ImportError:\n    rows = None"
    ),
    "in a function": npu(f"def m(self):\n    {FROM_INNER}\n    rows(1)"),
}


@pytest.mark.parametrize("name", NOT_NEEDED)
def test_what_a_runner_can_do_without_and_does_not_parse_is_remembered(name: str) -> None:
    trees = world(npu=NOT_NEEDED[name], **{"vllm/inner.py": BROKEN})
    assert find(trees) == []
    assert list(trees.unread) == ["vllm/inner.py"]


@pytest.mark.parametrize("place", ["vllm_ascend/patch/patch_other.py", "vllm/inner.py", "vllm_omni/beside.py"])
def test_what_is_only_looked_at_in_passing_and_does_not_parse_is_remembered(place: str) -> None:
    """Patches apply at start-up, types come from what upstream's runner imports, helpers stand beside the runners."""
    uses = "from vllm.inner import Rows\n" + ascend("def __init__(self):\n    self.rows = Rows()")
    trees = world(npu=npu("def m(self):\n    self.rows.add(1)"), ascend=uses, **{"vllm/inner.py": "", place: BROKEN})
    assert symbols(find(trees, None, [NPU, *trees.beside([NPU])])) == []
    assert list(trees.unread) == [place]
