"""What only a method sets that an override hides, or leaves at its default (RS312, RS313)."""

from __future__ import annotations

import pytest
from verify_samples import GPU, NPU, ascend, find, npu, symbols, world


def test_an_attribute_whose_only_writer_is_hidden() -> None:
    upstream = ascend("def load(self):\n    self.cache = 1\ndef run(self):\n    return self.cache")
    hides = npu("def load(self):\n    return None")
    assert symbols(find(world(npu=hides, ascend=upstream))) == [("RS312", "cache")]
    assert symbols(find(world(npu=npu("def load(self):\n    super().load()"), ascend=upstream))) == []
    assert symbols(find(world(npu=npu("def load(self):\n    self.cache = 2"), ascend=upstream))) == []


SETS = "from vllm.runner import GPUModelRunner\nclass NPUModelRunner(GPUModelRunner):\n    {}\n"
BASE = "def helper(): ...\nclass GPUModelRunner:\n    def load(self):\n        {}\n    def start(self):\n        {}\n"
LOADS = SETS.format("def load(self):\n        return 1")
SET_BEFORE = BASE.format("pass", "self.cache = 1")
SET_NOW = BASE.format("self.cache = 1", "pass")
HIDDEN_UPSTREAM = {
    "only a method sets it now that vllm-ascend hides": ("self.cache", LOADS, SET_BEFORE, SET_NOW, True),
    "vllm-ascend calls the method": (
        "self.cache",
        LOADS.replace("return 1", "return super().load()"),
        SET_BEFORE,
        SET_NOW,
        False,
    ),
    "nobody hides it": ("self.cache", SETS.format("pass"), SET_BEFORE, SET_NOW, False),
    "vllm-ascend sets it, too": ("self.cache", LOADS.replace("return 1", "self.cache = 2"), SET_BEFORE, SET_NOW, False),
    "it was so before": ("self.cache", LOADS, SET_NOW, SET_NOW, False),
    "it is asked for": ("getattr(self, 'cache', None)", LOADS, SET_BEFORE, SET_NOW, False),
    "below a question": ("self.cache if hasattr(self, 'cache') else 1", LOADS, SET_BEFORE, SET_NOW, False),
}


@pytest.mark.parametrize("name", HIDDEN_UPSTREAM)
def test_an_attribute_whose_only_writer_upstream_hides_now(name: str) -> None:
    read, upstream, was, now, is_told = HIDDEN_UPSTREAM[name]
    given = {"npu": npu(f"def run(self):\n    return {read}"), "ascend": upstream}
    old, new = (world(**given, vllm=text) for text in (was, now))
    assert symbols(find(new, old)) == ([("RS312", "cache")] if is_told else [])
    assert symbols(find(new)) == []


def test_omnis_own_override_is_not_to_blame_for_what_upstreams_hides_as_well() -> None:
    given = {"npu": npu("def run(self):\n    return self.cache\ndef load(self):\n    return 2"), "ascend": LOADS}
    (found,) = find(world(**given, vllm=SET_NOW), world(**given, vllm=SET_BEFORE))
    assert (found.code, found.unit) == ("RS312", "R.run")
    assert "only a `load` sets it, which `NPUModelRunner.load` hides" in found.message


def test_a_worker_that_sets_what_upstream_hides() -> None:
    given = {"npu": npu("def run(self):\n    return self.cache"), "ascend": LOADS}
    given["ascend_worker"] = "def start(runner):\n    runner.cache = 1\n"
    assert symbols(find(world(**given, vllm=SET_NOW), world(**given, vllm=SET_BEFORE))) == []


HIDING = {
    "vllm-ascend's only, and it is read": ("self.cache = 1", "pass", [("RS312", "cache")]),
    "which calls it": ("self.cache = 1", "super().load()", [("RS312", "cache")]),
    "and vllm-ascend's hides vLLM's": ("pass", "pass", []),
    "and vllm-ascend's calls vLLM's": ("super().load()", "pass", [("RS312", "cache")]),
}


@pytest.mark.parametrize("name", HIDING)
def test_an_attribute_whose_only_writer_two_omni_classes_hide(name: str) -> None:
    """The NPU override hides it by itself, whatever the GPU one between them does."""
    loads, between, expected = HIDING[name]
    given = {
        "npu": npu("def load(self):\n    return None"),
        "gpu": f"{GPU}    def load(self):\n        {between}\n",
        "ascend": ascend(f"def load(self):\n    {loads}\ndef run(self):\n    return self.cache"),
        "vllm": "def helper(): ...\nclass GPUModelRunner:\n    def load(self):\n        self.cache = 1\n",
    }
    assert symbols(find(world(**given))) == expected


FED = (
    GPU
    + """\
    def __init__(self):
        super().__init__()
        self.wants_rows = {default}
    def load(self):
        super().load()
        self.wants_rows = {value}
    def run(self):
        return {read}
"""
)


@pytest.mark.parametrize(
    ("default", "value", "read", "own", "expected"),
    [
        ("False", "self.model.rows", "self.wants_rows", "return None", ["wants_rows"]),
        ("set()", "self.model.rows", "getattr(self, 'wants_rows', None)", "return None", ["wants_rows"]),
        ("False", "self.model.rows", "self.wants_rows", "super().load()", []),
        ("False", "self.model.rows", "self.wants_rows", "self.wants_rows = self.model.rows", []),
        ("False", "True", "self.wants_rows", "return None", []),
        ("self.model.rows", "self.model.rows", "self.wants_rows", "return None", []),
        ("False", "self.model.rows", "self.model", "return None", []),
    ],
    ids=["hidden", "asked for", "called", "set", "a constant", "no default", "not read"],
)
def test_an_attribute_that_an_override_leaves_at_its_default(
    default: str, value: str, read: str, own: str, expected: list[str]
) -> None:
    upstream = ascend("def __init__(self):\n    self.model = build()\ndef load(self): ...")
    gpu = FED.format(default=default, value=value, read=read)
    found = find(world(npu=npu(f"def load(self):\n    {own}"), ascend=upstream, gpu=gpu))
    assert [finding.symbol for finding in found if finding.code == "RS313"] == expected


def test_what_a_method_of_vllm_ascend_sets_is_its_own_affair() -> None:
    upstream = ascend(
        "def __init__(self):\n    self.drafts = None\ndef load(self):\n    self.drafts = build()\n"
        "def run(self):\n    return self.drafts"
    )
    own = npu("def load(self):\n    return None")
    assert symbols(find(world(npu=own, ascend=upstream))) == []
    assert symbols(find(world(npu=own, ascend=upstream), world(npu=own, ascend=upstream))) == []


CAPTURES = """\
def __init__(self):
    self.capture = False
def load(self):
    {sets}
def run(self):
    return {reads}
"""


@pytest.mark.parametrize(
    ("own", "sets", "reads", "expected"),
    [
        pytest.param("return None", "self.capture = build()", "self.capture", ["capture"], id="set and read newly"),
        pytest.param("return None", "self.capture = True", "self.capture", [], id="another default"),
        pytest.param("return None", "self.capture = build()", "1", [], id="not read"),
        pytest.param("self.capture = build()", "self.capture = build()", "self.capture", [], id="set here, too"),
        pytest.param("super().load()", "self.capture = build()", "self.capture", [], id="set by the method behind"),
    ],
)
def test_what_a_hidden_method_of_vllm_ascend_sets_since_the_old_target(
    own: str, sets: str, reads: str, expected: list[str]
) -> None:
    before = ascend(CAPTURES.format(sets="pass", reads="1"))
    after = ascend(CAPTURES.format(sets=sets, reads=reads))
    text = npu(f"def load(self):\n    {own}")
    found = find(world(npu=text, ascend=after), world(npu=text, ascend=before))
    assert [finding.symbol for finding in found if finding.code == "RS313"] == expected


NOTES = """\
def __init__(self):
    self.owners = None
def idle(self):
    self.note()
    return self.owners
def load(self):
    {load}
def note(self):
    self.owners = build()
def hand_out(self):
    {reads}
"""
OUTSIDE = "def step(runner):\n    runner.hand_out()\n"
LOAD = "def load(self):\n    return None"


@pytest.mark.parametrize(
    ("own", "reads", "outside", "expected"),
    [
        pytest.param(LOAD, "return self.owners", OUTSIDE, ["owners"], id="nobody calls the helper"),
        pytest.param("def load(self):\n    self.note()", "return self.owners", OUTSIDE, [], id="it is called here"),
        pytest.param("def load(self):\n    super().load()", "return self.owners", OUTSIDE, [], id="and behind"),
        pytest.param(LOAD, "self.note()\n    return self.owners", OUTSIDE, [], id="the reader calls it"),
        pytest.param(LOAD, "return self.owners", OUTSIDE + "    runner.note()\n", [], id="others call it"),
        pytest.param(LOAD, "return self.owners", "", [], id="nobody reads it either"),
        pytest.param(LOAD, "return 1", OUTSIDE, [], id="it is not read"),
        pytest.param(
            f"{LOAD}\ndef check(self):\n    self.note()", "return self.owners", OUTSIDE, [], id="omni calls it"
        ),
    ],
)
def test_what_only_a_helper_of_the_hidden_method_sets(own: str, reads: str, outside: str, expected: list[str]) -> None:
    before = ascend(NOTES.format(load="pass", reads="return 1"))
    after = ascend(NOTES.format(load="self.note()", reads=reads))
    files = {"vllm_ascend/core/engine.py": outside, "vllm_ascend/core/__init__.py": ""}
    old, new = (world(npu=npu(own), ascend=text, **files) for text in (before, after))
    found = [finding for finding in find(new, old) if finding.code == "RS313"]
    assert [finding.symbol for finding in found] == expected
    assert all("(NPUModelRunner.hand_out)" in finding.message for finding in found)


@pytest.mark.parametrize(
    ("own", "sets", "reads", "outside", "expected"),
    [
        pytest.param(LOAD, "build()", "self.owners.n", OUTSIDE, [("RS312", "owners")], id="nobody calls the helper"),
        pytest.param(LOAD, "False", "self.owners", OUTSIDE, [("RS312", "owners")], id="also of a default"),
        pytest.param("def load(self):\n    self.note()", "build()", "self.owners", OUTSIDE, [], id="it is called here"),
        pytest.param(LOAD, "build()", "self.owners", OUTSIDE + "    runner.note()\n", [], id="others call it"),
        pytest.param(LOAD, "build()", "self.owners", "", [], id="nothing that runs reads it"),
        pytest.param(LOAD, "build()", "getattr(self, 'owners', 1)", OUTSIDE, [("RS313", "owners")], id="it is tested"),
        pytest.param(
            LOAD + "\ndef begin(self):\n    self.owners = self.config",
            "build()",
            "self.owners",
            OUTSIDE,
            [],
            id="omni sets it",
        ),
    ],
)
def test_what_only_a_helper_of_the_hidden_method_creates(
    own: str, sets: str, reads: str, outside: str, expected: list[tuple[str, str]]
) -> None:
    notes = NOTES.replace("self.owners = None\ndef idle", "pass\ndef idle").replace("build()", sets)
    before = ascend(notes.format(load="pass", reads="return 1"))
    after = ascend(notes.format(load="self.note()", reads=f"return {reads}"))
    files = {"vllm_ascend/core/engine.py": outside, "vllm_ascend/core/__init__.py": ""}
    old, new = (world(npu=npu(own), ascend=text, **files) for text in (before, after))
    assert symbols(find(new, old)) == expected


LATE = "vllm_omni/late.py"
LATE_RUNNER = "from vllm_omni.npu import R\nclass D(R):\n    def {name}(self):\n        return self.{reads}\n"


@pytest.mark.parametrize(
    ("own", "name", "expected"),
    [
        pytest.param("def load(self):\n    return None", "other", [], id="it inherits what was idle before"),
        pytest.param("def other(self):\n    return None", "load", ["capture"], id="its own override leaves it idle"),
        pytest.param("def other(self):\n    return None", "other", [], id="it overrides something else"),
    ],
)
def test_a_runner_that_the_old_tree_lacks_makes_nothing_old_new(own: str, name: str, expected: list[str]) -> None:
    upstream = ascend(CAPTURES.format(sets="self.capture = build()", reads="self.capture"))
    late = {LATE: LATE_RUNNER.format(name=name, reads="capture")}
    new = world(npu=npu(own), ascend=upstream, **late)
    before = new.with_omni(world(npu=npu(own)).trees["vllm-omni"])
    found = find(new, before, (NPU, LATE))
    assert [finding.symbol for finding in found if finding.code == "RS313"] == expected


RENAMED = (
    "from vllm.runner import GPUModelRunner\nclass NPUModelRunner(GPUModelRunner):\n    def sample(self):\n        {}\n"
)
SAMPLES = """\
def helper(): ...
class GPUModelRunner:
    def __init__(self):
        self.{name} = None
    def sample(self):
        self.{name} = self.propose()
    def read(self):
        return self.{name}
"""


@pytest.mark.parametrize(
    ("own", "upstream", "expected"),
    [
        pytest.param(
            "self.drafts = self.own()", "self.tokens = build()", ["tokens"], id="vLLM's hidden method sets it, too"
        ),
        pytest.param("self.tokens = self.own()", "self.tokens = build()", [], id="omni follows"),
        pytest.param("super().sample()", "self.tokens = build()", [], id="vllm-ascend's runs"),
        pytest.param("GPUModelRunner.sample(self)", "self.tokens = build()", [], id="vLLM's runs"),
        pytest.param("self.drafts = self.own()", "return super().sample()", ["tokens"], id="only vLLM's sets it"),
    ],
)
def test_an_attribute_that_two_hidden_methods_set(own: str, upstream: str, expected: list[str]) -> None:
    head = "from vllm.runner import GPUModelRunner"
    given = npu(f"def sample(self):\n    self.drafts = 2\n    {own}", head=head)
    now, was = (
        world(npu=given, ascend=RENAMED.format(text), vllm=SAMPLES.format(name=name))
        for name, text in (("tokens", upstream), ("drafts", upstream.replace("tokens", "drafts")))
    )
    assert [finding.symbol for finding in find(now, was) if finding.code == "RS313"] == expected
