"""What a unit goes by: the text that the lock names, else the closest one."""

from __future__ import annotations

import pytest

from runner_sync.lock import digest
from runner_sync.model import BaseRef
from runner_sync.profile import NPU
from runner_sync.upgrade.base import find_base
from runner_sync.upgrade.job import Side

MODULE = NPU.modules[0]
PATH = MODULE.upstreams[0].path
UNIT = "OmniNPUModelRunner.run"


def run(*steps: int) -> str:
    return "\n".join(["    def run(self, a):", *(f"        self.step_{k}(a)" for k in steps)]) + "\n"


def record(**fields: str) -> str:
    return "\n".join(["class State(NamedTuple):", *(f"    {name}: {kind}" for name, kind in fields.items())]) + "\n"


def side(ref: str, method: str, state: str = "") -> Side:
    return Side(ref, f"{state}\n\nclass NPUModelRunner(Base):\n{method}", PATH)


SIDES = [side("0.1", run(1, 2, 3, 4)), side("0.2", run(1, 2, 5, 6))]


@pytest.mark.parametrize(
    ("locked", "ref", "how"),
    [
        pytest.param(None, "0.2", "inferred", id="no lock: the closest"),
        pytest.param(("0.1", run(1, 2, 3, 4)), "0.1", "lock", id="the lock goes before likeness"),
        pytest.param(("0.0", run(1, 2, 3, 4)), "0.1", "lock", id="the same text under another ref"),
        pytest.param(("0.1", run(7, 8)), "0.2", "inferred", id="a text that is nowhere any more"),
    ],
)
def test_the_lock_goes_before_inference(locked: tuple[str, str] | None, ref: str, how: str) -> None:
    entry = None
    if locked is not None:
        entry = BaseRef("vllm-ascend", locked[0], PATH, "NPUModelRunner.run", "lock", 1.0, digest(locked[1]))
    found = find_base(UNIT, run(1, 2, 5), MODULE, SIDES, locked=entry)
    assert found is not None
    assert (found.ref.ref, found.ref.how, found.side.ref) == (ref, how, ref)


def test_without_a_namesake_there_is_no_base() -> None:
    assert find_base("OmniNPUModelRunner.other", run(1), MODULE, SIDES) is None


@pytest.mark.parametrize(("extra", "kind"), [({}, "copy"), ({"d": "x", "e": "x", "f": "x", "g": "x"}, "override")])
def test_the_types_of_a_record_do_not_make_it_another_one(extra: dict[str, str], kind: str) -> None:
    upstream = [side("0.1", run(1), record(a="Tensor", b="Tensor", c="Tensor"))]
    found = find_base("State", record(a="Any", b="Any", c="Any", **extra), MODULE, upstream)
    assert found is not None
    assert found.kind == kind


STEPS = "".join(f"        hidden = self.step_{k}(hidden, {k})\n" for k in range(4))
FIRST = f"    def run(self, a):\n        hidden = self.start(a)\n{STEPS}        return self.finish(a)\n"
LATER = "    def run(self, a):\n        out = self.start(a)\n        return self.finish(a)\n"


def test_a_local_that_omni_renamed_makes_no_other_revision_closer() -> None:
    """Every statement that mentions it differs in words, and the shorter text has fewer of them to differ in."""
    mine = FIRST.replace("hidden", "output")
    found = find_base(UNIT, mine, MODULE, [side("0.1", FIRST), side("0.2", LATER)])
    assert found is not None
    assert (found.ref.ref, found.origin.text) == ("0.1", FIRST)
    assert found.ref.similarity == 1.0
