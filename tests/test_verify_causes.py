"""Findings that have one reason are told as one: at the override that does not hand on, at the class without a base."""

from __future__ import annotations

import pytest
from verify_samples import GPU, NPU, ascend, npu, world

from runner_sync.model import Finding
from runner_sync.profile import NPU as PROFILE
from runner_sync.render.fingerprint import identify_findings
from runner_sync.verify import check
from runner_sync.verify.baseline import Baseline
from runner_sync.verify.check_job import CheckJob, CheckModule

SETS = "def __init__(self):\n    {}\ndef run(self):\n    return {}"
READS = "self.a, self.b, self.c, self.d"
FOUR = ascend(SETS.format("self.a = self.b = self.c = self.d = 1", READS))
STOPS = "def __init__(self):\n    pass"
HANDS_ON = "def __init__(self):\n    super().__init__()"


def run(text: str, *, began: dict[str, str] | None = None, baseline: Baseline | None = None, **given: str) -> list[str]:
    return [f"{f.code}:{f.unit}:{f.symbol}" for f in result(text, began=began, baseline=baseline, **given).findings]


def result(
    text: str, *, began: dict[str, str] | None = None, baseline: Baseline | None = None, **given: str
) -> check.CheckResult:
    now = world(npu=text, **given)
    before = world(**{"npu": text, **given, **began}) if began is not None else None
    modules = (CheckModule(NPU, text),)
    read = now.trees["vllm-omni"].read
    job = CheckJob(PROFILE, modules, read=read, world=now, branch_point=before)
    return check.run(job, check.Codes(("RS3",)), baseline=baseline)


def test_what_one_override_leaves_unset_is_one_finding() -> None:
    (found,) = result(npu(STOPS), ascend=FOUR).findings
    assert (found.code, found.unit, found.symbol, found.severity) == ("RS312", "R.__init__", "__init__", "error")
    assert "does not reach `NPUModelRunner.__init__`" in found.message
    assert "4 attributes (`a`, `b`, `c` and 1 more)" in found.message


@pytest.mark.parametrize(
    ("reads", "told"),
    [("self.a", ["RS312:R.__init__:a"]), ("(self.a, self.a)", ["RS312:R.__init__:a"]), ("1", [])],
    ids=["one attribute", "one, read twice", "none"],
)
def test_a_single_attribute_is_told_as_itself(reads: str, told: list[str]) -> None:
    assert run(npu(STOPS), ascend=ascend(SETS.format("self.a = self.b = 1", reads))) == told


def test_two_overrides_are_two_reasons() -> None:
    upstream = ascend(
        SETS.format("self.a = self.b = 1", "self.a, self.b, self.c") + "\ndef load(self):\n    self.c = 1"
    )
    own = npu(STOPS + "\ndef load(self):\n    pass")
    assert sorted(run(own, ascend=upstream)) == ["RS312:R.__init__:__init__", "RS312:R.load:c"]


def test_it_is_told_at_the_override_that_does_not_hand_on() -> None:
    gpu = f"{GPU}    def __init__(self):\n        self.own = 1\n"
    (found,) = result(npu(HANDS_ON), ascend=FOUR, gpu=gpu).findings
    assert (found.path, found.unit) == ("vllm_omni/gpu.py", "OmniGPUModelRunner.__init__")
    assert run(npu(HANDS_ON), ascend=FOUR, gpu=gpu.replace("self.own = 1", "super().__init__()")) == []


def test_a_baseline_counts_each_attribute() -> None:
    """That one more is missing is news, whoever accepted the others."""
    accepted = result(npu(STOPS), ascend=FOUR).baseline
    assert accepted is not None
    assert {key[3] for key in accepted.counts} == {"a", "b", "c", "d"}
    assert run(npu(STOPS), ascend=FOUR, baseline=accepted) == []
    more = ascend(SETS.format("self.a = self.b = self.c = self.d = self.e = 1", f"{READS}, self.e"))
    assert run(npu(STOPS), ascend=more, baseline=accepted) == ["RS312:R.__init__:e"]


@pytest.mark.parametrize(
    ("named", "left"),
    [
        ("RS312:__init__", []),
        ("RS312", []),
        ("RS312:a", ["RS312:R.__init__:__init__"]),
        ("RS312:load", ["RS312:R.__init__:__init__"]),
    ],
)
def test_a_comment_may_name_the_method(named: str, left: list[str]) -> None:
    own = npu(STOPS.replace(":\n", f":  # runner-sync: ignore[{named}] never built\n", 1))
    assert [one for one in run(own, ascend=FOUR) if one.startswith("RS312")] == left


def test_the_fingerprint_does_not_depend_on_how_many_there_are() -> None:
    def digest(found: tuple[Finding, ...]) -> str:
        ((_, one),) = identify_findings(found)
        return one

    fewer = ascend(SETS.format("self.a = self.b = 1", "self.a, self.b"))
    assert digest(result(npu(STOPS), ascend=FOUR).findings) == digest(result(npu(STOPS), ascend=fewer).findings)


def test_defaults_that_one_override_leaves_are_one_finding() -> None:
    body = """\
    def __init__(self):
        self.a, self.b = None, None
        self.c = self.d = None
        self.model = build()
    def load(self):
        self.{0} = self.model.rows
        self.d = self.model.columns
    def run(self):
        return self.a, self.b, self.c, self.d
"""
    own = npu("def load(self):\n    pass")
    assert run(own, gpu=GPU + body.format("c")) == ["RS313:R.load:load"]
    assert run(own, gpu=GPU + body.format("d")) == ["RS313:R.load:d"]


MIXIN = "class Mixin:\n    def a(self): ...\n    def b(self): ...\n"
USES = "def run(self):\n    self.a()\n    self.b()\n    self.a()"
WITH, WITHOUT = (npu(USES, bases=f"OmniGPUModelRunner, NPUModelRunner{more}", head=MIXIN) for more in (", Mixin", ""))
EACH = ["RS304:R.run:a", "RS304:R.run:b", "RS304:R.run:a"]
BASES = {
    "a base is gone": (WITHOUT, {"npu": WITH}, ["RS304:R:Mixin"]),
    "there was none": (WITHOUT, {"npu": WITHOUT}, EACH),
    "nobody knows what there was": (WITHOUT, None, EACH),
    "one attribute of it": (
        WITHOUT.replace("self.b()", "pass"),
        {"npu": WITH},
        ["RS304:R.run:a", "RS304:R.run:a"],
    ),
    "the base lost its methods": (
        WITH.replace(MIXIN, "class Mixin: ...\n"),
        {"npu": WITH},
        EACH,
    ),
}


@pytest.mark.parametrize("name", BASES)
def test_what_a_class_lacks_since_it_lost_a_base_is_one_finding(name: str) -> None:
    text, began, told = BASES[name]
    found = result(text, began=began).findings
    new = [f"{f.code}:{f.unit}:{f.symbol}" for f in found]
    assert new == told
    if name == "a base is gone":
        (one,) = found
        assert one.line == text.split("\n").index("class R(OmniGPUModelRunner, NPUModelRunner):") + 1
        assert "no longer derives from `Mixin`: nothing defines `a` and `b`" in one.message


BASE_NAMES = {
    "nobody defines it": ("OmniGPUModelRunner, Lost", "", ["RS301:R:Lost"]),
    "of a module that is not imported": ("OmniGPUModelRunner, lost.Lost", "", ["RS301:R:lost.Lost"]),
    "with parameters": ("OmniGPUModelRunner, Lost[int]", "", ["RS301:R:Lost"]),
    "the module defines it": ("OmniGPUModelRunner, Lost", "class Lost: ...", []),
    "it is made there": ("OmniGPUModelRunner, Lost", "Lost = build()", []),
    "from outside of the trees": ("OmniGPUModelRunner, Lost", "from torch import Lost", []),
    "under a condition": ("OmniGPUModelRunner, Lost", "if helper:\n    from torch import Lost", []),
    "a star import": ("OmniGPUModelRunner, Lost", "from torch import *", []),
    "a builtin": ("OmniGPUModelRunner, Exception", "", []),
}


@pytest.mark.parametrize("name", BASE_NAMES)
def test_a_base_that_means_nothing(name: str) -> None:
    """Nothing is known of the rest of such a class: this is told in its place."""
    bases, head, told = BASE_NAMES[name]
    assert run(npu("def run(self):\n    return self.config", bases=bases, head=head)) == told


GONE = "from vllm.gone import one, two"


def test_the_names_of_a_module_that_is_gone_are_one_finding() -> None:
    (found,) = result(npu("pass", head=GONE)).findings
    assert (found.code, found.unit, found.symbol) == ("RS301", "<module>", "vllm.gone")
    assert "the import of `vllm.gone.one` and `vllm.gone.two` fails" in found.message


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (npu("pass", head="from vllm.gone import one"), ["RS301:<module>:vllm.gone.one"]),
        (npu("pass", head="import vllm.gone"), ["RS301:<module>:vllm.gone"]),
        (
            npu("pass", head="from vllm.runner import one, two"),
            ["RS301:<module>:vllm.runner.one", "RS301:<module>:vllm.runner.two"],
        ),
        (
            npu(f"def run(self):\n    {GONE}\ndef load(self):\n    {GONE}"),
            ["RS301:R.run:vllm.gone", "RS301:R.load:vllm.gone"],
        ),
    ],
    ids=["one name", "the module itself", "names that a module has no more", "in two functions"],
)
def test_other_imports_that_fail_are_told_one_by_one(text: str, told: list[str]) -> None:
    assert run(text) == told


def test_a_baseline_counts_each_name_of_a_module_that_is_gone() -> None:
    accepted = result(npu("pass", head=GONE)).baseline
    assert accepted is not None
    assert run(npu("pass", head=f"{GONE}, three"), baseline=accepted) == ["RS301:<module>:vllm.gone.three"]
