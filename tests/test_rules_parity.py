"""RS2xx: what the GPU runner has and its NPU twin lacks, in small twins."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace

import pytest
from check_samples import (
    AR,
    EMPTY_AR,
    GPU_AR,
    GPU_HEAD,
    NPU_BASE,
    NPU_HEAD,
    OMNI_GPU_BASE,
    found,
    job,
    symbols,
)
from parity_samples import ASK, PLAIN, SAMPLE, _indent, gpu, npu

from runner_sync.model import Finding
from runner_sync.profile import NPU, Output, SamplerHook
from runner_sync.upgrade.job import is_selected
from runner_sync.verify import check
from runner_sync.verify.codes import Codes

MIXIN = "vllm_omni/worker/omni_connector_model_runner_mixin.py"

_PORTS_OR_SAYS = (
    "ports it, or says what keeps it out; where NPU does without it on purpose, "
    "`# runner-sync: ignore[RS203:{0}] reason` above the class."
)
"""Often nothing is ported: the upgrade asks about what it finds, and only a person knows what NPU is to do without."""


def test_a_gpu_override_that_npu_never_runs_is_found_at_the_class() -> None:
    (finding,) = found(job(EMPTY_AR, gpu(SAMPLE)), "RS203")
    assert (finding.path, finding.line, finding.unit, finding.symbol) == (AR, 2, "NPUARModelRunner", "_sample")
    assert finding.fix == f"`runner-sync upgrade --only NPUARModelRunner._sample` {_PORTS_OR_SAYS.format('_sample')}"


SHARED = OMNI_GPU_BASE.replace("    pass\n", "    def _history(self):\n        return []\n")


def test_an_override_of_omnis_own_shared_method_is_found_without_a_super_call() -> None:
    given = job(EMPTY_AR, gpu("def _history(self):\n    return self.tokens()"), gpu_base=SHARED)
    (finding,) = found(given, "RS203")
    assert "runs `OmniGPUModelRunner._history`" in finding.message


def test_an_override_that_equals_the_shared_method_skips_nothing() -> None:
    given = job(EMPTY_AR, gpu("def _history(self):\n    # as below\n    return []"), gpu_base=SHARED)
    assert found(given, "RS203") == []


def test_a_parent_that_is_off_the_npu_path_as_well_is_said_so() -> None:
    head = GPU_HEAD + "class Sleeper(OmniGPUModelRunner):\n    def nap(self):\n        return 1\n"
    given = job(EMPTY_AR, gpu("def nap(self):\n    return super().nap()", head=head, bases="Sleeper"))
    (finding,) = found(given, "RS203")
    assert "runs none of omni's: `Sleeper` is not in its MRO either" in finding.message, "vllm-ascend may have one"
    # The command alone ports nothing: `super().nap()` would reach nobody.
    assert finding.fix == (
        f"Give an NPU base a `nap` such as `Sleeper` has ({GPU_AR}:3); then "
        f"`runner-sync upgrade --only NPUARModelRunner.nap` {_PORTS_OR_SAYS.format('nap')}"
    )
    twins = replace(given.profile, classes=(*given.profile.classes, ("Sleeper", "NPUSleeper")))
    (finding,) = found(replace(given, profile=twins), "RS203")
    named = "--only NPUSleeper.nap --only NPUARModelRunner.nap"
    assert finding.fix == f"`runner-sync upgrade {named}` {_PORTS_OR_SAYS.format('nap')}", "what it hands on to"


def test_a_parent_off_the_npu_path_that_hands_on_to_vllm_is_in_nobodys_way() -> None:
    head = GPU_HEAD + "class Sleeper(OmniGPUModelRunner):\n    def nap(self):\n        return super().nap()\n"
    given = job(EMPTY_AR, gpu("def nap(self):\n    return super().nap()", head=head, bases="Sleeper"))
    (finding,) = found(given, "RS203")
    assert finding.message.endswith("runs the inherited `nap`.")
    assert finding.fix == f"`runner-sync upgrade --only NPUARModelRunner.nap` {_PORTS_OR_SAYS.format('nap')}"


@pytest.mark.parametrize(
    ("upstream", "whose"),
    [
        (None, ""),
        ("class NPUModelRunner:\n    def sync(self):\n        return 1\n", " of vllm-ascend"),
        ("class NPUModelRunner:\n    def other(self):\n        return 1\n", " of vLLM"),
    ],
)
def test_whose_method_runs_instead_is_said(upstream: str | None, whose: str) -> None:
    given = job(EMPTY_AR, gpu("def sync(self):\n    return super().sync()"), upstream=upstream)
    (finding,) = found(given, "RS203")
    assert finding.message.endswith(f"runs the inherited `sync`{whose}.")


@pytest.mark.parametrize(
    ("npu_text", "gpu_text"),
    [
        pytest.param(npu(SAMPLE), gpu(SAMPLE), id="npu has it too"),
        pytest.param(EMPTY_AR, gpu("def helper(self):\n    return 1"), id="overrides nothing"),
        pytest.param(
            EMPTY_AR, gpu("def determine_available_memory(self):\n    return 1"), id="replaces vLLM's for the GPU"
        ),
        pytest.param(
            EMPTY_AR,
            gpu("def sync(self):\n    torch.cuda.Stream()\n    return super().sync()"),
            id="cannot run on the NPU",
        ),
        pytest.param(EMPTY_AR, gpu("def _sample(self):\n    return super().other()"), id="super of another method"),
    ],
)
def test_methods_that_are_no_skipped_override_are_left_alone(npu_text: str, gpu_text: str) -> None:
    assert found(job(npu_text, gpu_text), "RS203") == []


LOAD = """
def load(self, *args):
    \"\"\"Load into the pool.\"\"\"
    with self.pool("weights"):
        loaded = super().load(*args)
        self.wait()
        return loaded
def pool(self, tag):
    return CuMemAllocator.get_instance().use_memory_pool(tag=tag)
"""


@pytest.mark.parametrize(
    ("gpu_body", "npu_body", "expected"),
    [
        pytest.param(LOAD, "", [], id="the pool is one of CUDA"),
        pytest.param(LOAD.replace("CuMemAllocator", "Allocator"), "", ["load"], id="it is not"),
        pytest.param(LOAD.replace("    with", "    self.wait()\n    with"), "", ["load"], id="code before it"),
        pytest.param(
            LOAD, "def pool(self, tag):\n    return nullcontext()\n", ["load"], id="NPU has a pool of its own"
        ),
    ],
)
def test_an_override_in_a_context_that_needs_the_gpu_is_left_alone(
    gpu_body: str, npu_body: str, expected: list[str]
) -> None:
    npu_text = npu(npu_body) if npu_body else EMPTY_AR
    assert symbols(job(npu_text, gpu(gpu_body)), "RS203") == expected


def test_what_the_npu_base_defines_stands_in_for_the_gpu_override() -> None:
    base = """\
    from vllm_omni.worker.gpu_model_runner import OmniGPUModelRunner
    class OmniNPUModelRunner(OmniGPUModelRunner):
        def _sample(self, logits, metadata):
            return self.prefer()
    """
    assert found(job(EMPTY_AR, gpu(SAMPLE), npu_base=base), "RS203") == []


def test_what_the_npu_base_defines_does_not_stand_in_when_it_lacks_what_the_override_adds() -> None:
    base = """\
    from vllm_omni.worker.gpu_model_runner import OmniGPUModelRunner
    class OmniNPUModelRunner(OmniGPUModelRunner):
        def _sample(self, logits, metadata):
            return super()._sample(logits, metadata)
    """
    (finding,) = found(job(EMPTY_AR, gpu(SAMPLE), npu_base=base), "RS203")
    assert "runs `OmniNPUModelRunner._sample`" in finding.message


def test_a_shared_mixin_brings_the_override_to_both() -> None:
    mixin = "class Connector:\n    def _sample(self):\n        return 1\n"
    importing = "from vllm_omni.worker.omni_connector_model_runner_mixin import Connector\n"
    given = job(
        npu("pass", head=NPU_HEAD + importing, bases="Connector, OmniNPUModelRunner"),
        gpu("pass", head=GPU_HEAD + importing, bases="Connector, OmniGPUModelRunner"),
        files={MIXIN: mixin},
    )
    assert found(given, "RS203") == []


@pytest.mark.parametrize(
    ("npu_bases", "gpu_bases", "expected"),
    [
        pytest.param("OmniNPUModelRunner", "OmniGPUModelRunner, Connector", ["Connector"], id="missing"),
        pytest.param("OmniNPUModelRunner, Connector", "OmniGPUModelRunner, Connector", [], id="mixed in"),
        pytest.param("OmniNPUModelRunner", "OmniGPUModelRunner, LoRAMixin", [], id="a base of vLLM"),
        pytest.param("OmniNPUModelRunner", "OmniGPUModelRunner", [], id="a base with an NPU twin"),
    ],
)
def test_missing_mixins(npu_bases: str, gpu_bases: str, expected: list[str]) -> None:
    importing = (
        "from vllm_omni.worker.omni_connector_model_runner_mixin import Connector\n"
        "from vllm.v1.worker.lora_model_runner_mixin import LoRAMixin\n"
    )
    given = job(
        npu("pass", head=NPU_HEAD + importing, bases=npu_bases), gpu("pass", head=GPU_HEAD + importing, bases=gpu_bases)
    )
    assert symbols(given, "RS204") == expected


def test_a_mixin_that_the_npu_base_brings_is_there() -> None:
    importing = "from vllm_omni.worker.omni_connector_model_runner_mixin import Connector\n"
    given = job(
        EMPTY_AR,
        gpu("pass", head=GPU_HEAD + importing, bases="OmniGPUModelRunner, Connector"),
        gpu_base=importing + "class OmniGPUModelRunner(Connector):\n    pass\n",
        files={MIXIN: "class Connector:\n    pass\n"},
    )
    assert found(given, "RS204") == []


STATE = "class ExecuteModelState(NamedTuple):\n    logits: object\n    stats: object\n"


def state(*fields: str) -> str:
    return "class ExecuteModelState(NamedTuple):\n" + "".join(f"    {field}\n" for field in fields)


@pytest.mark.parametrize(
    ("gpu_fields", "vllm", "expected"),
    [
        pytest.param(["logits: object", "# OMNI: payloads", "outputs: object"], None, ["outputs"], id="called omni's"),
        pytest.param(["logits: object", "slots: object"], None, [], id="nobody says whose it is"),
        pytest.param(["logits: object", "slots: object"], state("logits: object"), ["slots"], id="vLLM has it not"),
        pytest.param(
            ["logits: object", "slots: object"], state("logits: object", "slots: int"), [], id="vLLM's own field"
        ),
    ],
)
def test_fields_that_only_the_gpu_record_has(gpu_fields: list[str], vllm: str | None, expected: list[str]) -> None:
    given = job(EMPTY_AR + state("logits: object"), state(*gpu_fields) + gpu("pass"), vllm=vllm)
    assert symbols(given, "RS205") == [f"ExecuteModelState.{name}" for name in expected]


def test_a_field_whose_value_npu_code_computes_itself_is_not_missing() -> None:
    text = state("logits: object") + npu("def sample_tokens(self):\n    outputs = self.build()\n    return outputs")
    given = job(text, state("logits: object", "# OMNI", "outputs: object") + gpu("pass"))
    assert found(given, "RS205") == []


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param("(logits, stats) = self.execute_model_state", [], id="in order"),
        pytest.param("(stats, logits) = self.execute_model_state", ["logits=stats"], id="taken apart in another order"),
        pytest.param("(a, b) = self.execute_model_state", [], id="variables of other names"),
        pytest.param("(stats, logits) = self.something_else()", [], id="another tuple"),
        pytest.param("(*rest, logits) = self.execute_model_state", [], id="a star"),
        pytest.param("self.x = ExecuteModelState(stats, logits)", ["logits=stats"], id="made in another order"),
        pytest.param("self.x = ExecuteModelState(stats=stats, logits=logits)", [], id="made by keyword"),
        pytest.param("self.q.put(ExecuteModelState(stats, logits))", ["logits=stats"], id="made and handed on"),
        pytest.param("self.q.put(ExecuteModelState(logits, stats))", [], id="handed on in order"),
        pytest.param(
            "state = self.execute_model_state\n    [stats, logits] = state", ["logits=stats"], id="by another name"
        ),
        pytest.param(
            "state = self.execute_model_state\n    state = self.pair\n    stats, logits = state",
            [],
            id="a name for more",
        ),
        pytest.param(
            "state = stats, logits = self.execute_model_state", ["logits=stats"], id="taken apart and kept as well"
        ),
        pytest.param("state = logits, stats = self.execute_model_state", [], id="kept as well, in order"),
    ],
)
def test_the_order_of_fields(body: str, expected: list[str]) -> None:
    assert symbols(job(STATE + npu(f"def f(self, stats, logits):\n    {body}")), "RS205") == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("ExecuteModelState", ["logits=stats"], id="of the built-in profile"),
        pytest.param("Handed", ["logits=stats"], id="of this profile"),
        pytest.param("OtherState", [], id="of none"),
    ],
)
def test_the_order_of_fields_of_an_imported_record_is_that_of_the_profiles(name: str, expected: list[str]) -> None:
    body = npu(f"def f(self, stats, logits):\n    self.x = {name}(stats, logits)")
    files = {"vllm_omni/state.py": STATE.replace("ExecuteModelState", name)}
    given = job(f"from vllm_omni.state import {name}\n{body}", files=files)
    given = replace(given, profile=replace(NPU, handovers=(*NPU.handovers, "Handed")))
    assert symbols(given, "RS205") == expected


HOOK = """
def _sample(self, logits, metadata):
    model_sample = getattr(self.model, "sample", None)
    {early}
    if callable(model_sample) and getattr(self.model, "prefer_model_sampler", False):
        output = {call}
        if output is not None:
            return output
    {late}
    return {end}
"""
HISTORY = "self.input_batch.update_async_output_token_ids()"
GOOD = {"early": HISTORY, "call": "model_sample(logits)", "late": "pass", "end": "super()._sample(logits, metadata)"}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param({}, [], id="as it should be"),
        pytest.param({"call": "call_model_sampler(self.model, model_sample, logits)"}, [], id="through a helper"),
        pytest.param({"early": "pass"}, ["update_async_output_token_ids"], id="history never updated"),
        pytest.param({"early": "pass", "late": HISTORY}, ["update_async_output_token_ids"], id="history too late"),
        pytest.param({"end": "self.sampler(logits=logits)"}, ["self.sampler"], id="skips the platform's sampler"),
        pytest.param(
            {"late": "output = self.sampler(logits=logits)", "end": "output"}, ["self.sampler"], id="skips it by a name"
        ),
        pytest.param({"late": "kept = self.sampler(logits=logits)"}, [], id="the sampler for something else"),
        pytest.param(
            {
                "late": "out = super()._sample(logits)\n    if out is None:\n        out = self.sampler(logits)",
                "end": "out",
            },
            [],
            id="after the platform's sampler",
        ),
    ],
)
def test_the_contract_of_the_model_sampler(change: dict[str, str], expected: list[str]) -> None:
    assert symbols(job(npu(HOOK.format(**(GOOD | change)))), "RS206") == expected


@pytest.mark.parametrize("name", ["_sample", "_sampel", "_ask_model"])
def test_only_the_hook_that_there_is_upstream_is_spoken_of(name: str) -> None:
    body = HOOK.format(**(GOOD | {"end": "self.sampler(logits=logits)"})).replace("def _sample(", f"def {name}(")
    (finding,) = found(job(npu(body)), "RS206")
    assert "skips vllm-ascend's `_sample`, which" in finding.message
    assert finding.fix == "Fall through to `return super()._sample(…)` instead."


def test_a_sampler_call_without_the_hook_is_nobodys_business() -> None:
    assert found(job(npu("def _sample(self, logits):\n    return self.sampler(logits=logits)")), "RS206") == []


@pytest.mark.parametrize(
    ("npu_body", "gpu_body", "vllm", "expected"),
    [
        pytest.param("def load_model(self):\n    pass", ASK, "x = 1\n", ["wants_history"], id="never asked on NPU"),
        pytest.param(ASK, ASK, "x = 1\n", [], id="asked on NPU"),
        pytest.param("def load_model(self):\n    pass", ASK, "wants_history = 1\n", [], id="vLLM's own hook"),
        pytest.param("def load_model(self):\n    pass", ASK, None, [], id="nobody knows what is vLLM's"),
        pytest.param(
            "def load_model(self):\n    self.wants_history()", ASK, "x = 1\n", [], id="mentioned in another way"
        ),
        pytest.param(
            "def f(self):\n    return OmniModelRunnerOutput(a=1)",
            "def f(self):\n    return OmniModelRunnerOutput(a=1, spec=2)",
            "x = 1\n",
            ["spec"],
            id="an output field",
        ),
        pytest.param(
            "def f(self):\n    return 1",
            "def f(self):\n    output = OmniModelRunnerOutput()\n    output.spec = 2",
            "x = 1\n",
            ["spec"],
            id="an output field set later",
        ),
        pytest.param(
            "def f(self, spec):\n    return OmniModelRunnerOutput(a=spec)",
            "def f(self, spec):\n    return OmniModelRunnerOutput(a=None, spec=spec)",
            "x = 1\n",
            ["spec"],
            id="an output field that NPU knows from elsewhere",
        ),
        pytest.param(
            "def f(self, spec):\n    return OmniModelRunnerOutput(a=1)",
            "def f(self, spec):\n    return OmniModelRunnerOutput(a=1, spec=None)",
            "x = 1\n",
            [],
            id="an output field without a value",
        ),
        pytest.param(
            "def f(self, spec):\n    output = OmniModelRunnerOutput(a=1)\n    output.spec = spec",
            "def f(self, spec):\n    return OmniModelRunnerOutput(a=1, spec=spec)",
            "x = 1\n",
            [],
            id="an output field that NPU sets later",
        ),
        pytest.param(
            "def f(self, spec):\n    return OmniModelRunnerOutput(**self.fields(spec))",
            "def f(self, spec):\n    return OmniModelRunnerOutput(spec=spec)",
            "x = 1\n",
            [],
            id="output fields given out of sight",
        ),
        pytest.param(
            "def f(self, spec):\n    return make_output(spec=spec)",
            "def f(self, spec):\n    return OmniModelRunnerOutput(spec=spec)",
            "x = 1\n",
            [],
            id="an output that somebody else makes",
        ),
    ],
)
def test_hooks_and_fields_of_the_gpu_side(npu_body: str, gpu_body: str, vllm: str | None, expected: list[str]) -> None:
    assert symbols(job(npu(npu_body), gpu(gpu_body), vllm=vllm), "RS207") == expected


FLAG = """
@staticmethod
def flag(model, name, default=False):
    return bool(getattr(model, name, default)) if model is not None else default
def own_flag(self, name):
    return self.flag(getattr(self, "model", None), name)
def other(self, model, name):
    return self.spec.get(name)
def load_model(self):
    {body}
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(
            "self.flag(self.model, 'wants_history')", ["wants_history"], id="a function that is given the name"
        ),
        pytest.param("self.own_flag('wants_history')", ["wants_history"], id="one that hands it on"),
        pytest.param("self.own_flag(name)", [], id="a name that is worked out"),
        pytest.param("self.other(self.model, 'wants_history')", [], id="a function that asks something else"),
        pytest.param("self.flag(self.model)", [], id="no name"),
        pytest.param("self.own_flag('known')", [], id="asked on NPU"),
    ],
)
def test_hooks_that_a_function_of_the_gpu_side_is_given(body: str, expected: list[str]) -> None:
    asking = npu("def load_model(self):\n    getattr(self.model, 'known', 0)")
    assert symbols(job(asking, gpu(FLAG.format(body=body)), vllm="x = 1\n"), "RS207") == expected


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        pytest.param("super().load_model()", [], id="super()"),
        pytest.param("super(NPUARModelRunner, self).load_model()", [], id="super() with arguments"),
        pytest.param("super().unload_model()", ["wants_history"], id="another method"),
    ],
)
def test_a_hook_that_the_method_in_the_base_asks_is_asked(call: str, expected: list[str]) -> None:
    base = NPU_BASE + _indent(ASK)
    given = job(npu(f"def load_model(self):\n    {call}"), gpu(ASK), npu_base=base, vllm="x = 1\n")
    assert symbols(given, "RS207") == expected


@pytest.mark.parametrize(
    ("npu_body", "named"),
    [
        pytest.param("def load_model(self):\n    pass", "NPUARModelRunner.load_model", id="a method of both"),
        pytest.param("pass", "'NPUARModelRunner*'", id="a method that NPU lacks comes with what calls it"),
    ],
)
def test_the_remedy_for_a_hook_is_a_command_that_upgrade_takes(npu_body: str, named: str) -> None:
    (finding,) = found(job(npu(npu_body), gpu(ASK), vllm="x = 1\n"), "RS207")
    assert f"`runner-sync upgrade --gpu-only --only {named}`" in finding.fix
    # A class's name alone is no unit.
    assert is_selected("NPUARModelRunner.load_model", shlex.split(named))
    assert f"did not have it yet ({GPU_AR}:5). " in finding.fix
    assert finding.fix.endswith("`# runner-sync: ignore[RS207:wants_history] reason`.")


def test_the_names_of_another_platform_come_from_its_profile() -> None:
    fields = "def f(self):\n    return XPUOutput(spec=2)"
    hook = HOOK.format(**(GOOD | {"end": "self.sampler(logits=logits)"})).replace("prefer_model_sampler", "own_sampler")
    given = job(npu(hook), gpu(fields), vllm="x = 1\n")
    assert symbols(given, "RS207") + symbols(given, "RS206") == []
    profile = replace(NPU, output=Output("XPUOutput"), sampler_hook=SamplerHook(flag="own_sampler"))
    given = replace(given, profile=profile)
    assert symbols(given, "RS207") + symbols(given, "RS206") == ["spec", "self.sampler"]


VLLM = "class GPUModelRunner:\n    def execute_model(self, x):\n        self.plain(x)\n        return x\n"
RECEIVE = """
def execute_model(self, x):
    if hasattr(self, "_connector"):
        payload = self.fetch_payload(x)
        for chunk in payload.chunks:
            self.merge_chunk(chunk)
        self.note_payload(payload)
    self.plain(x)
    return x
"""


def test_an_omni_block_that_npu_lacks_is_found_once() -> None:
    (finding,) = found(job(npu(PLAIN), gpu(RECEIVE), vllm=VLLM), "RS202")
    assert (finding.unit, finding.line) == ("NPUARModelRunner.execute_model", 4)
    assert (
        "5 omni statements in a row with `_connector`, beginning with `if hasattr(self, '_connector')`"
        in finding.message
    )


def comment_of(finding: Finding) -> str:
    """The ignore comment that a finding names."""
    (said,) = re.findall(r"`(# runner-sync: ignore\[\S+\] reason)`", finding.fix)
    return str(said)


def test_the_comment_that_a_missing_block_names_silences_that_block_alone() -> None:
    (block,) = found(job(npu(PLAIN), gpu(RECEIVE), vllm=VLLM), "RS202")
    silenced = npu(f"{comment_of(block)}\n{PLAIN}")
    assert found(job(silenced, gpu(RECEIVE), vllm=VLLM), "RS202") == []
    assert found(job(silenced, gpu(RECEIVE), vllm=VLLM), "RS491") == []
    other = gpu(RECEIVE.replace('"_connector"', '"_sender"'))
    (another,) = found(job(silenced, other, vllm=VLLM), "RS202")
    assert comment_of(another) != comment_of(block)


def test_strings_in_a_row_are_not_named_as_one() -> None:
    listing = (
        "known = {'Talker', \"Code2Wav's\", 'Vocoder'}\n    self.known = known\n    self.count = 1\n    self.plain(x)"
    )
    (finding,) = found(job(npu(PLAIN), gpu(PLAIN.replace("self.plain(x)", listing)), vllm=VLLM), "RS202")
    assert "3 omni statements in a row with `Talker`, beginning with `known = {" in finding.message


@pytest.mark.parametrize(
    ("npu_body", "gpu_body", "vllm"),
    [
        pytest.param(RECEIVE, RECEIVE, VLLM, id="npu has it"),
        pytest.param(PLAIN, RECEIVE, None, id="nobody knows what is vLLM's"),
        pytest.param(PLAIN, PLAIN.replace("return x", "y = x\n    return y"), VLLM, id="short"),
        pytest.param(
            PLAIN, PLAIN.replace("return x", "if self.fresh:\n        x = 1\n    return x"), VLLM, id="two in a row"
        ),
        pytest.param(
            PLAIN, PLAIN.replace("return x", "y = x\n    z = y\n    u = z\n    return x"), VLLM, id="only local names"
        ),
        pytest.param(
            PLAIN,
            PLAIN.replace(
                "return x", "if self:\n        if x:\n            raise ValueError('No room left')\n    return x"
            ),
            VLLM,
            id="news in a message",
        ),
        pytest.param(PLAIN, RECEIVE.replace("self.fetch_payload", "torch.cuda.Stream"), VLLM, id="needs the GPU"),
        pytest.param("def other(self):\n    pass", RECEIVE, VLLM, id="npu has no such method"),
        pytest.param(
            PLAIN + "\ndef _recv(self):\n    return self.fetch_payload, self.chunks, self.merge_chunk, "
            'self.note_payload, payload, chunk, "_connector"',
            RECEIVE,
            VLLM,
            id="npu knows all the names",
        ),
    ],
)
def test_runs_that_are_left_alone(npu_body: str, gpu_body: str, vllm: str | None) -> None:
    assert found(job(npu(npu_body), gpu(gpu_body), vllm=vllm), "RS202") == []


def test_a_hook_that_both_inherit_and_only_gpu_code_calls() -> None:
    shared = OMNI_GPU_BASE.replace("    pass\n", "    def attach_prefix(self, x):\n        return x\n")
    calling = PLAIN.replace("self.plain(x)", "self.attach_prefix(x)\n    self.plain(x)")
    assert symbols(job(npu(PLAIN), gpu(calling), vllm=VLLM, gpu_base=shared), "RS202") == ["attach_prefix"]


@pytest.mark.parametrize(
    ("line", "symbol"),
    [
        ("self.cache.drain_writes()", "drain_writes"),
        ("x.ids = clamp_ids(x.ids)", "clamp_ids"),
        ("return self.wrapped(x)", "wrapped"),
    ],
)
def test_a_call_made_for_what_it_does_is_found_alone(line: str, symbol: str) -> None:
    given = job(npu(PLAIN), gpu(PLAIN.replace("return x", f"{line}\n    return x")), vllm=VLLM)
    (finding,) = found(given, "RS202")
    assert finding.symbol == symbol
    assert "(…)`; nothing that runs on `NPUARModelRunner` does" in finding.message


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("ids = self.wrapped(x)", id="its value goes into a local variable"),
        pytest.param("raise Worse(x)", id="an error"),
        pytest.param("self.plain(x, y=1)", id="both call it"),
        pytest.param("self.ids = x", id="no call"),
        pytest.param("self.graph_of(torch.cuda.Stream())", id="needs the GPU"),
    ],
)
def test_calls_that_are_left_alone(line: str) -> None:
    given = job(npu(PLAIN), gpu(PLAIN.replace("return x", f"{line}\n    return x")), vllm=VLLM)
    assert found(given, "RS202") == []


STARTED = """
def execute_model(self, x):
    if x in self.known:
        self.start_connector(x)
    self.plain(x)
    return x
"""


@pytest.mark.parametrize(
    ("condition", "more", "expected"),
    [
        pytest.param("x in self.known or role_of(x) is not None", "", ["role_of"], id="a function"),
        pytest.param("x in self.known and not x.aborted", "", ["aborted"], id="an attribute"),
        pytest.param("self._starts(x)", "def _starts(self, x):\n    return role_of(x)\n", ["_starts"], id="a helper"),
        pytest.param(
            "self._starts(x)", "def _starts(self, x):\n    mine = self.known\n    return x in mine\n", [], id="known"
        ),
        pytest.param("x in self.known or self.plain(x)", "", [], id="what NPU knows"),
        pytest.param("x in self.known or getattr(self.model, 'starts', 0)", "", [], id="RS207's"),
        pytest.param("x in self.known or torch.cuda.Stream()", "", [], id="needs the GPU"),
        pytest.param("x in self.known or vllm_knows(x)", "", [], id="vLLM's"),
    ],
)
def test_a_condition_that_npu_does_not_have_on_what_it_does(condition: str, more: str, expected: list[str]) -> None:
    asking = STARTED.replace("x in self.known", condition) + more
    given = job(npu(STARTED), gpu(asking), vllm=VLLM + "\nvllm_knows = 1\n")
    assert symbols(given, "RS202") == expected


def test_what_depends_on_a_condition_that_npu_does_not_have_is_named() -> None:
    asking = STARTED.replace("in self.known", "in self.known or role_of(x)")
    (finding,) = found(job(npu(STARTED), gpu(asking), vllm=VLLM), "RS202")
    assert "makes `self.start_connector(x)` depend on `role_of`; nothing that runs on" in finding.message
    assert comment_of(finding) == "# runner-sync: ignore[RS202:role_of] reason"


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("return x", id="commonplace"),
        pytest.param("self.start_connector(x)\n        self.note(x)", id="NPU has half of it"),
        pytest.param("self.note(x)", id="NPU has none of it"),
    ],
)
def test_a_condition_on_something_else(body: str) -> None:
    asking = STARTED.replace("x in self.known", "role_of(x)").replace("self.start_connector(x)", body)
    assert "role_of" not in symbols(job(npu(STARTED), gpu(asking), vllm=VLLM), "RS202")


@pytest.mark.parametrize(
    ("helper", "expected"),
    [
        pytest.param("def _finish(self, x):\n    self.plain(x)\n    self.done = x\n", [], id="NPU has half in place"),
        pytest.param("def _finish(self, x):\n    self.shut(x)\n    self.done = x\n", ["_finish"], id="NPU has none"),
        pytest.param(
            "def _finish(self, x):\n    if hasattr(self.model, 'shut'):\n        self.model.shut(x)\n", [], id="RS207's"
        ),
    ],
)
def test_a_helper_of_the_gpu_class_is_missed_where_npu_has_not_what_it_does(helper: str, expected: list[str]) -> None:
    calling = PLAIN.replace("return x", "self._finish(x)\n    return x") + f"\n{helper}"
    assert symbols(job(npu(PLAIN), gpu(calling), vllm=VLLM), "RS202") == expected


def test_what_a_parent_with_an_npu_twin_does_is_not_missed_alone() -> None:
    """The NPU parent may do it in another method, and no mixin is missing."""
    calling = PLAIN.replace("return x", "self.store(x)\n    x.sent_at = 1\n    x.sent_by = 2\n    return x")
    base = OMNI_GPU_BASE.replace("pass", "def store(self, x):\n        self.rows = x")
    alone = NPU_BASE.replace("(OmniGPUModelRunner, NPUModelRunner)", "(NPUModelRunner)")
    given = job(npu(PLAIN), gpu(calling), vllm=VLLM, gpu_base=base, npu_base=alone)
    assert symbols(given, "RS202") == ["self.store(x)"]
    assert (
        symbols(job(npu(PLAIN), gpu(calling.split("    x.sent")[0]), vllm=VLLM, gpu_base=base, npu_base=alone), "RS202")
        == []
    )


def test_the_fix_names_the_last_revision_without_what_is_missing() -> None:
    """Of those at hand; where all have it, it is older."""
    asks = {
        name: gpu(ASK.replace("wants_history", hook)) for name, hook in (("old", "other"), ("new", "wants_history"))
    }
    body = "def load_model(self):\n    pass"

    def fix(*refs: str) -> str:
        given = job(npu(body), gpu(ASK), vllm="x = 1\n", earlier={ref: asks[ref.split("-")[0]] for ref in refs})
        (finding,) = found(given, "RS207")
        return finding.fix

    assert "--only NPUARModelRunner.load_model --omni-base old-2` ports what came after that" in fix("old-1", "old-2")
    assert "--omni-base old-1` ports" in fix("old-1", "new-2")
    assert "where V is a vllm-omni before new-1 in which the GPU runner did not have it yet" in fix("new-1", "new-2")


CHANGED = """
def execute_model(self, x):
    self.plain(x)
    for one in x:
        self.attach(
            one,
            cache=self.prefix_cache,
        )
        self.plain(one)
    if getattr(
        self.model, "wants_history", False
    ):
        self.plain(x)
        self.plain(self)
    return x
"""


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param(5, [], id="above both"),
        pytest.param(6, [], id="the loop around one"),
        pytest.param(7, ["attach"], id="the first line of a call"),
        pytest.param(9, ["attach"], id="its last argument"),
        pytest.param(11, [], id="between them"),
        pytest.param(13, ["wants_history"], id="the condition that asks the model"),
        pytest.param(16, [], id="below the condition"),
    ],
)
def test_a_branch_answers_for_the_missing_statements_that_it_touched(line: int, expected: list[str]) -> None:
    given = job(npu(PLAIN), gpu(CHANGED), vllm=VLLM)
    told = [*found(given, "RS202"), *found(given, "RS207")]
    assert [finding.symbol for finding in told] == ["attach", "wants_history"]
    result = check.run(given, Codes(("RS202", "RS207")), changed={GPU_AR: {line}})
    assert [finding.symbol for finding in result.findings] == expected
