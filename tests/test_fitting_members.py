"""Which members of a GPU class its NPU twin gets, as a table."""

from __future__ import annotations

from dataclasses import replace

import pytest

from runner_sync.fitting.hooks import describe_skipped_steps, fit_sampler_hook
from runner_sync.fitting.members import Twins, classify_members, find_predecessor, find_successor
from runner_sync.profile import SamplerHook
from runner_sync.texts.member_text import has_code_word, self_names


def method(name: str, *body: str) -> str:
    return "\n".join([f"    def {name}(self):", *(f"        {line}" for line in body or ("pass",))]) + "\n"


DEVICE = {"torch.npu.Stream": "code that people port by hand"}
NOTHING = Twins(gpu_old={}, gpu_new={}, npu={}, inherited={})
CALLER = {"run": method("run", "self.helper()")}
HELPER = {"helper": method("helper", "return self.deeper()"), "deeper": method("deeper", "return 1")}
SAMPLE = method("_sample", "if self.model.prefer:", "    return self.model.sample()", "return super()._sample()")

MODE = {
    "mode": f"    @property\n{method('mode', 'return self._mode')}",
    "mode#2": "    @mode.setter\n    def mode(self, value):\n        self._mode = value\n",
}


def actions(twins: Twins) -> dict[str, str]:
    return {member.name: member.action for member in classify_members(twins)}


@pytest.mark.parametrize(
    ("twins", "expected"),
    [
        pytest.param(replace(NOTHING, gpu_new=HELPER), {"helper": "unneeded", "deeper": "unneeded"}, id="nobody calls"),
        pytest.param(
            replace(NOTHING, gpu_new=HELPER, npu=CALLER),
            {"helper": "port", "deeper": "port"},
            id="called, with callees",
        ),
        pytest.param(
            replace(NOTHING, gpu_new=MODE, npu={"run": method("run", "self.mode")}),
            {"mode": "port", "mode#2": "port"},
            id="a property with its setter",
        ),
        pytest.param(
            replace(NOTHING, gpu_new=MODE, npu={"mode": MODE["mode"]}), {"mode#2": "port"}, id="a new setter alone"
        ),
        pytest.param(
            replace(NOTHING, gpu_old=MODE, gpu_new=MODE, npu={"mode": MODE["mode"]}),
            {"mode#2": "unneeded"},
            id="a setter that NPU did without",
        ),
        pytest.param(
            replace(NOTHING, gpu_new=MODE),
            {"mode": "unneeded", "mode#2": "unneeded"},
            id="a property that nobody reads",
        ),
        pytest.param(
            replace(NOTHING, gpu_new=HELPER, called_elsewhere={"deeper"}),
            {"helper": "unneeded", "deeper": "port"},
            id="called from another module",
        ),
        pytest.param(
            replace(NOTHING, gpu_new=HELPER, inherited=CALLER),
            {"helper": "port", "deeper": "port"},
            id="new, and called by code that the NPU class inherits",
        ),
        pytest.param(
            replace(NOTHING, gpu_new=HELPER, gpu_old=HELPER, inherited=CALLER),
            {"helper": "unneeded", "deeper": "unneeded"},
            id="called by inherited code for longer",
        ),
        pytest.param(
            replace(NOTHING, gpu_new=HELPER, inherited=CALLER, npu={"run": method("run")}),
            {"helper": "unneeded", "deeper": "unneeded"},
            id="the NPU class overrides what calls it",
        ),
        pytest.param(
            replace(NOTHING, gpu_new={**CALLER, **HELPER}, npu={**CALLER, **HELPER}), {}, id="the NPU class has them"
        ),
        pytest.param(
            replace(
                NOTHING, gpu_new=HELPER, npu=CALLER, inherited={"helper": HELPER["helper"], "deeper": HELPER["deeper"]}
            ),
            {"helper": "inherited", "deeper": "inherited"},
            id="inherited with the same text",
        ),
        pytest.param(
            replace(NOTHING, gpu_new={"_sample": SAMPLE}, inherited={"_sample": None}),
            {"_sample": "hook"},
            id="an override that an upstream parent would skip",
        ),
        pytest.param(
            replace(NOTHING, gpu_new={"_sample": SAMPLE}, inherited={"_sample": None}, known_before={"_sample"}),
            {"_sample": "left"},
            id="an override that NPU has done without",
        ),
        pytest.param(
            replace(
                NOTHING,
                gpu_new=HELPER,
                npu=CALLER,
                inherited={"helper": None, "deeper": None},
                known_before={"helper", "deeper"},
            ),
            {"helper": "skipped", "deeper": "left"},
            id="an override that NPU has done without, though it calls the method itself",
        ),
        pytest.param(
            replace(
                NOTHING,
                gpu_new={"_sample": method("_sample", "self.shared()", "return super()._sample()"), **HELPER},
                inherited={
                    "_sample": None,
                    "shared": method("shared", "self.helper()"),
                    "helper": method("helper", "return 2"),
                    "deeper": method("deeper", "return 2"),
                },
                known_before={"helper", "deeper"},
            ),
            {"_sample": "hook", "helper": "skipped", "deeper": "left"},
            id="an override that NPU has done without, to which a hook comes through what NPU inherits",
        ),
        pytest.param(
            replace(
                NOTHING,
                gpu_new={"_sample": method("_sample", "self.shared()", "return super()._sample()"), **HELPER},
                inherited={"_sample": None, "shared": method("shared", "self.other()"), "helper": method("helper")},
                known_before={"helper"},
            ),
            {"_sample": "hook", "helper": "left", "deeper": "unneeded"},
            id="an override that NPU has done without, and to which nothing that comes leads",
        ),
        pytest.param(
            replace(
                NOTHING,
                gpu_new=HELPER,
                npu={"run": method("run", "self.shared()")},
                inherited={"shared": method("shared", "self.helper()"), "helper": method("helper"), "deeper": None},
                known_before={"helper", "deeper"},
            ),
            {"helper": "skipped", "deeper": "left"},
            id="an override that NPU has done without, which its code reaches through what it inherits",
        ),
        pytest.param(
            replace(
                NOTHING,
                gpu_new=HELPER,
                npu={"run": method("run", "self.shared()"), "shared": method("shared", "self.other()")},
                inherited={"shared": method("shared", "self.helper()"), "helper": method("helper")},
                known_before={"helper"},
            ),
            {"helper": "left", "deeper": "unneeded"},
            id="an override that NPU has done without, where NPU's own version no longer leads to it",
        ),
        pytest.param(
            replace(
                NOTHING,
                gpu_new={"_sample": SAMPLE},
                inherited={"_sample": None},
                known_before={"_sample"},
                required={"_sample"},
            ),
            {"_sample": "hook"},
            id="an override that NPU has done without and must not",
        ),
        pytest.param(
            replace(NOTHING, gpu_new=HELPER, npu=CALLER, known_before={"helper", "deeper"}),
            {"helper": "port", "deeper": "port"},
            id="old helpers that NPU code calls",
        ),
        pytest.param(
            replace(NOTHING, gpu_new={"_sample": SAMPLE, **HELPER}, inherited={"_sample": method("_sample")}),
            {"_sample": "hook", "helper": "unneeded", "deeper": "unneeded"},
            id="an override of another omni text",
        ),
        pytest.param(
            replace(
                NOTHING,
                gpu_new={"_sample": method("_sample", "self.helper()", "return super()._sample()"), **HELPER},
                inherited={"_sample": None},
            ),
            {"_sample": "hook", "helper": "port", "deeper": "port"},
            id="a hook brings what it calls",
        ),
        pytest.param(
            replace(NOTHING, gpu_new={"_sample": SAMPLE}, inherited={"_sample": None}, upstream={"_sample"}),
            {"_sample": "hook"},
            id="a cooperative override wraps whatever body",
        ),
        pytest.param(
            replace(
                NOTHING,
                gpu_old={"load": method("load", "self.a()")},
                gpu_new={"load": method("load", "super(Runner, self).load()", "self.b()")},
                inherited={"load": None},
                upstream={"load"},
            ),
            {"load": "hook"},
            id="a cooperative override in the older way",
        ),
        pytest.param(
            replace(
                NOTHING,
                gpu_old={"load": method("load", "self.a()")},
                gpu_new={"load": method("load", "# not super().load()", "self.a()", "self.b()")},
                inherited={"load": None},
                upstream={"load"},
            ),
            {"load": "rebuilt"},
            id="an override that says it is not cooperative",
        ),
        pytest.param(
            replace(
                NOTHING,
                gpu_new={"load": method("load", "self.a()", "self.b()", "self.omni()")},
                inherited={"load": None},
                upstream={"load"},
                vllm={"load": method("load", "self.a()", "self.b()")},
            ),
            {"load": "rebuilt"},
            id="vLLM's body, edited, where vllm-ascend has its own",
        ),
        pytest.param(
            replace(
                NOTHING,
                gpu_new={"load": method("load", "self.a()", "self.b()", "self.omni()")},
                inherited={"load": None},
                vllm={"load": method("load", "self.a()", "self.b()")},
            ),
            {"load": "hook"},
            id="vLLM's body, edited, where vllm-ascend has none",
        ),
        pytest.param(
            replace(
                NOTHING,
                gpu_new={"load": method("load", "self.omni()", "self.talker()", "self.payload()")},
                inherited={"load": None},
                upstream={"load"},
                vllm={"load": method("load", "self.a()", "self.b()", "self.c()")},
            ),
            {"load": "hook"},
            id="a new body of omni's",
        ),
        pytest.param(
            replace(
                NOTHING,
                gpu_new={"copy": method("copy", "torch.npu.Stream()")},
                device=DEVICE,
            ),
            {"copy": "device"},
            id="device code",
        ),
        pytest.param(
            replace(
                NOTHING,
                gpu_new={"copy": method("copy", "torch.npu.Stream()"), "run2": method("run2", "self.copy()")},
                npu={"run": method("run", "self.run2()")},
                device=DEVICE,
            ),
            {"copy": "device", "run2": "device"},
            id="what calls device code",
        ),
        pytest.param(
            replace(
                NOTHING,
                gpu_new={"copy": method("copy", "Snapshot()")},
                helpers={"Snapshot": "class Snapshot:\n    stream = torch.npu.Stream()\n"},
                npu={"run": method("run", "self.copy()")},
                device=DEVICE,
            ),
            {"copy": "device"},
            id="what uses a device-bound helper of the module",
        ),
        pytest.param(
            replace(
                NOTHING,
                gpu_new={"copy": method("copy", '"""Unlike torch.npu.Stream."""', "# torch.npu.Stream", "return 1")},
                npu={"run": method("run", "self.copy()")},
                device=DEVICE,
            ),
            {"copy": "port"},
            id="device words in comment and docstring only",
        ),
        pytest.param(
            replace(
                NOTHING,
                gpu_new={"limit": "    limit: int\n", "size": "    size: int = 3\n"},
                npu={"run": method("run", "return self.limit + self.size")},
            ),
            {"limit": "unneeded", "size": "port"},
            id="a declaration does nothing, a default does",
        ),
    ],
)
def test_decisions(twins: Twins, expected: dict[str, str]) -> None:
    assert actions(twins) == expected


def test_the_way_to_an_override_that_is_skipped_is_said() -> None:
    """In vllm-omni 0.22.0 `_build_model_sampler_output_token_ids` is two calls away from NPU's `_sample`: by way of a
    shared method, which is inherited."""
    inherited = {
        "far": method("far", "self.near()"),
        "near": method("near", "self.helper()"),
        "helper": method("helper"),
    }
    twins = replace(
        NOTHING,
        gpu_new={"helper": HELPER["helper"]},
        npu={"run": method("run", "self.far()")},
        inherited=inherited,
        known_before={"helper"},
    )
    (member,) = classify_members(twins)
    said = "run (through far and near) calls helper and gets the inherited version, not the GPU class's; "
    assert member.reason.startswith(said)


def test_decisions_stand_in_the_order_of_the_gpu_class_and_give_reasons() -> None:
    twins = replace(
        NOTHING,
        gpu_new={"z": method("z", "self.a()"), "a": method("a"), "dev": method("dev", "flashinfer.plan()")},
        npu={"run": method("run", "self.z()", "self.dev()")},
        device={"flashinfer": "code that people port by hand"},
    )
    decisions = classify_members(twins)
    assert [member.name for member in decisions] == ["z", "a", "dev"]
    assert decisions[2].reason == "it uses flashinfer, which is code that people port by hand"


def test_device_code_that_npu_has_done_without_before_is_no_change_of_this_upgrade() -> None:
    members = {"a": method("a", "self.b()"), "b": method("b", "triton.jit()"), "c": method("c", "triton.jit(1)")}
    twins = replace(
        NOTHING, gpu_new=members, device={"triton.": "what NPU lacks"}, known_before=("a", "b"), required=("b",)
    )
    assert actions(twins) == {"a": "left", "b": "device", "c": "device"}


def test_what_device_code_needs_is_named() -> None:
    twins = replace(
        NOTHING,
        gpu_new={"a": method("a", "self.b()"), "b": method("b", "triton.jit()")},
        device={"triton.": "what NPU lacks"},
    )
    assert [member.reason for member in classify_members(twins)] == [
        "it needs b: it uses triton., which is what NPU lacks",
        "it uses triton., which is what NPU lacks",
    ]


USED = {
    "a call": ("self.graph()\n", True),
    "in a comment": ("a = 1  # self.graph()\n", False),
    "in a string": ("a = 'self.graph'\n", False),
    "in a docstring of lines": ('def f():\n    """Not\n    self.graph.\n    """\n', False),
    "behind a string on its line": ("a['b'] = self.graph\n", True),
    "in a string, and in code further down": ("a = 'self.graph'\nself.graph = a\n", True),
    "in a field of an f-string": ("a = f'{self.graph}'\n", True),
    "beside a field of an f-string": ("a = f'{b}.graph'\n", False),
    "a longer name": ("self.graphs()\n", False),
    "a longer name, and the name": ("self.graphs(self.graph)\n", True),
    "in half a statement": ("foo(self.graph,\n", True),
    "behind a quote that nothing ends": ("it's self.graph\n", True),
}


@pytest.mark.parametrize("name", USED)
def test_code_uses_an_attribute(name: str) -> None:
    text, is_used = USED[name]
    assert has_code_word(text, ".graph") == is_used


def test_code_uses_a_word_that_may_go_on() -> None:
    assert has_code_word("update_graphs()\n", "update_graph")
    assert not has_code_word("'update_graph'\n", "update_graph")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("    def f(self):\n        self.a(self.b.c)\n", {"a", "b"}),
        ("    @classmethod\n    def f(cls):\n        cls.a()\n", {"a"}),
        ("def f(other):\n    other.a()\n", set()),
        ("    def f(self):\n        'self.a'\n", set()),
        ("    def f(self:\n", set()),
    ],
)
def test_names_read_from_self(text: str, names: set[str]) -> None:
    assert self_names(text) == names


@pytest.mark.parametrize(
    ("name", "have", "expected"),
    [("d", {"a", "c"}, "c"), ("d", {"a"}, "a"), ("d", set(), None), ("a", {"b"}, None), ("d", {"e"}, None)],
)
def test_a_new_member_goes_behind_its_nearest_predecessor(name: str, have: set[str], expected: str | None) -> None:
    assert find_predecessor(name, ["a", "b", "c", "d", "e"], have) == expected


@pytest.mark.parametrize(
    ("name", "have", "expected"),
    [("a", {"b", "d"}, "b"), ("a", {"d"}, "d"), ("b", {"a"}, None), ("e", {"a", "d"}, None), ("b", {"b"}, None)],
)
def test_the_nearest_successor_of_a_new_member(name: str, have: set[str], expected: str | None) -> None:
    assert find_successor(name, ["a", "b", "c", "d", "e"], have) == expected


BROUGHT = {"helper": "run calls it since this upgrade", "deeper": "helper, which is ported too, calls it"}


@pytest.mark.parametrize(
    ("twins", "expected"),
    [
        pytest.param(replace(NOTHING, npu=CALLER), BROUGHT, id="called since this upgrade"),
        pytest.param(
            replace(NOTHING, npu=CALLER, gpu_old=HELPER), BROUGHT, id="called since this upgrade, and old on GPU"
        ),
        pytest.param(
            replace(NOTHING, npu=CALLER, npu_before=CALLER, called_elsewhere={"deeper"}),
            dict.fromkeys(HELPER, "NPU code calls it"),
            id="called before, here and in another module",
        ),
        pytest.param(
            replace(NOTHING, npu=CALLER, npu_before={"stop": CALLER["run"], "run": ""}),
            {**BROUGHT, "helper": "NPU code calls it"},
            id="called before, by another method",
        ),
    ],
)
def test_who_needs_a_member_is_said(twins: Twins, expected: dict[str, str]) -> None:
    """``_run_post_sample_talker_mtp`` is called by what comes to vllm-omni 0.29.0 with it, and by nothing older."""
    assert {member.name: member.reason for member in classify_members(replace(twins, gpu_new=HELPER))} == expected


PARENT = """\
    def _sample(self, logits, metadata):
        if metadata is None:
            if head_is_split() and logits is not None:
                logits = logits[: self.rows]
            rows = self.rows
        return self.sampler(logits)
"""


@pytest.mark.parametrize(
    ("parent", "said"),
    [
        (PARENT, ("the model gets logits unchanged, but the platform's own method changes it first if X",)),
        (PARENT.replace("logits = logits[", "rows = logits["), ()),
        (PARENT.replace("_sample", "_draw"), ()),
        ("", ()),
    ],
)
def test_what_the_platform_does_before_it_samples_is_said(parent: str, said: tuple[str, ...]) -> None:
    condition = "head_is_split() and logits is not None"
    assert describe_skipped_steps(parent, SamplerHook()) == tuple(text.replace("X", condition) for text in said)


PREPARES = """\
    def _sample(self, logits, metadata):
        if metadata is None:
            if self.reduces:
                self.sampler.prepare(self.top_k.max())
            return self.sampler(logits)
        return self.rejection_sampler(logits)
"""


@pytest.mark.parametrize(
    ("parent", "is_said"),
    [
        pytest.param(PREPARES, True, id="on the way to the sampler"),
        pytest.param(PREPARES.replace("self.sampler(logits)", "self.draw(logits)"), False, id="to something else"),
        pytest.param(PREPARES.replace("self.sampler.prepare(", "top_k = max("), False, id="a local"),
        pytest.param(
            PREPARES.replace(
                "self.sampler.prepare(self.top_k.max())", "self.input_batch.update_async_output_token_ids()"
            ),
            False,
            id="the token history, which the hook updates",
        ),
        pytest.param(
            PREPARES.replace("            return self.sampler(logits)\n", "").replace(
                "    return self.rejection",
                "    if logits is None:\n            return self.sampler(logits)\n        return self.rejection",
            ),
            False,
            id="inside another condition than the sampler",
        ),
    ],
)
def test_what_the_platform_prepares_before_it_samples_is_said(parent: str, *, is_said: bool) -> None:
    """``prepare_sampling`` of vllm-ascend 0.22.1rc1 came on the path whose other change was told."""
    said = (
        "self.sampler.prepare is not called for the model, but the platform's own method calls it first if self.reduces"
    )
    assert describe_skipped_steps(parent, SamplerHook()) == (said,) * is_said


@pytest.mark.parametrize(
    ("end", "falls_through"),
    [
        ("super()._sample(logits)", True),
        ("super(Runner, self)._sample(logits)", True),
        ("super()._draw(logits)", False),
        ("self.note('super()._sample(logits)')", False),
    ],
)
def test_a_hook_goes_on_to_the_platforms_sampler(end: str, *, falls_through: bool) -> None:
    """The GPU runner's own sampler is left out where the method ends with the parent's, in either form of ``super``."""
    own = "        if logits is not None:\n            self.seen = True\n            return self.sampler(logits)\n"
    text = f"    def _sample(self, logits):\n{own}        return {end}\n"
    fitted, said = fit_sampler_hook(text, SamplerHook())
    assert fitted == (text.replace("            return self.sampler(logits)\n", "") if falls_through else text)
    assert bool(said) == falls_through


def test_a_hook_that_does_more_before_it_goes_on_keeps_its_own_sampler() -> None:
    """What stands in between would run for a model that has declined, too."""
    own = "        if logits is not None:\n            self.seen = True\n            return self.sampler(logits)\n"
    text = f"    def _sample(self, logits):\n{own}        self.note(logits)\n        return super()._sample(logits)\n"
    assert fit_sampler_hook(text, SamplerHook()) == (text, ())


@pytest.mark.parametrize(
    ("member", "said"),
    [
        pytest.param(method("helper"), "run calls it since this upgrade", id="a method"),
        pytest.param("    helper: int = 64\n", "run uses it since this upgrade", id="a field"),
    ],
)
def test_a_field_is_not_called(member: str, said: str) -> None:
    (found,) = classify_members(replace(NOTHING, gpu_new={"helper": member}, npu=CALLER))
    assert (found.action, found.reason) == ("port", said)
