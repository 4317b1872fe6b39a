"""RS2xx and RS501: what the GPU runner has and its NPU twin lacks, in small twins."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import replace

import pytest
from check_samples import AR, GPU_AR, GPU_HEAD, NPU_BASE, NPU_HEAD, OMNI_GPU_BASE, dedent, found, job, run, symbols

from runner_sync.lock import Entry, digest
from runner_sync.model import BaseRef, Finding
from runner_sync.profile import NPU, Output, SamplerHook
from runner_sync.upgrade.job import is_selected
from runner_sync.verify.baseline import Baseline
from runner_sync.verify.check import CheckJob
from runner_sync.verify.runners.locked import GPU_CODE, record
from runner_sync.verify.runners.reading import Reading

EMPTY_NPU = NPU_HEAD + "class NPUARModelRunner(OmniNPUModelRunner):\n    pass\n"
MIXIN = "vllm_omni/worker/omni_connector_model_runner_mixin.py"


def npu(body: str, *, head: str = NPU_HEAD, bases: str = "OmniNPUModelRunner") -> str:
    return f"{head}\nclass NPUARModelRunner({bases}):\n{_indent(body)}"


def gpu(body: str, *, head: str = GPU_HEAD, bases: str = "OmniGPUModelRunner") -> str:
    return f"{head}\nclass GPUARModelRunner({bases}):\n{_indent(body)}"


def _indent(body: str) -> str:
    return "\n".join(f"    {line}" if line else "" for line in dedent(body).split("\n"))


SAMPLE = """
def _sample(self, logits, metadata):
    if self.prefer():
        return self.model.sample(logits)
    return super()._sample(logits, metadata)
"""


# RS203


_PORTS_OR_SAYS = (
    "ports it, or says what keeps it out; where NPU does without it on purpose, "
    "`# runner-sync: ignore[RS203:{0}] reason` above the class."
)
"""Often nothing is ported: the upgrade asks about what it finds, and only a person knows what NPU is to do without."""


def test_a_gpu_override_that_npu_never_runs_is_found_at_the_class() -> None:
    (finding,) = found(job(EMPTY_NPU, gpu(SAMPLE)), "RS203")
    assert (finding.path, finding.line, finding.unit, finding.symbol) == (AR, 2, "NPUARModelRunner", "_sample")
    assert finding.fix == f"`runner-sync upgrade --only NPUARModelRunner._sample` {_PORTS_OR_SAYS.format('_sample')}"


SHARED = OMNI_GPU_BASE.replace("    pass\n", "    def _history(self):\n        return []\n")


def test_an_override_of_omnis_own_shared_method_is_found_without_a_super_call() -> None:
    given = job(EMPTY_NPU, gpu("def _history(self):\n    return self.tokens()"), gpu_base=SHARED)
    (finding,) = found(given, "RS203")
    assert "runs `OmniGPUModelRunner._history`" in finding.message


def test_an_override_that_equals_the_shared_method_skips_nothing() -> None:
    given = job(EMPTY_NPU, gpu("def _history(self):\n    # as below\n    return []"), gpu_base=SHARED)
    assert found(given, "RS203") == []


def test_a_parent_that_is_off_the_npu_path_as_well_is_said_so() -> None:
    head = GPU_HEAD + "class Sleeper(OmniGPUModelRunner):\n    def nap(self):\n        return 1\n"
    given = job(EMPTY_NPU, gpu("def nap(self):\n    return super().nap()", head=head, bases="Sleeper"))
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
    given = job(EMPTY_NPU, gpu("def nap(self):\n    return super().nap()", head=head, bases="Sleeper"))
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
    given = job(EMPTY_NPU, gpu("def sync(self):\n    return super().sync()"), upstream=upstream)
    (finding,) = found(given, "RS203")
    assert finding.message.endswith(f"runs the inherited `sync`{whose}.")


@pytest.mark.parametrize(
    ("npu_text", "gpu_text"),
    [
        pytest.param(npu(SAMPLE), gpu(SAMPLE), id="npu has it too"),
        pytest.param(EMPTY_NPU, gpu("def helper(self):\n    return 1"), id="overrides nothing"),
        pytest.param(
            EMPTY_NPU, gpu("def determine_available_memory(self):\n    return 1"), id="replaces vLLM's for the GPU"
        ),
        pytest.param(
            EMPTY_NPU,
            gpu("def sync(self):\n    torch.cuda.Stream()\n    return super().sync()"),
            id="cannot run on the NPU",
        ),
        pytest.param(EMPTY_NPU, gpu("def _sample(self):\n    return super().other()"), id="super of another method"),
    ],
)
def test_methods_that_are_no_skipped_override_are_left_alone(npu_text: str, gpu_text: str) -> None:
    assert found(job(npu_text, gpu_text), "RS203") == []


def test_what_the_npu_base_defines_stands_in_for_the_gpu_override() -> None:
    base = """\
    from vllm_omni.worker.gpu_model_runner import OmniGPUModelRunner
    class OmniNPUModelRunner(OmniGPUModelRunner):
        def _sample(self, logits, metadata):
            return self.prefer()
    """
    assert found(job(EMPTY_NPU, gpu(SAMPLE), npu_base=base), "RS203") == []


def test_what_the_npu_base_defines_does_not_stand_in_when_it_lacks_what_the_override_adds() -> None:
    base = """\
    from vllm_omni.worker.gpu_model_runner import OmniGPUModelRunner
    class OmniNPUModelRunner(OmniGPUModelRunner):
        def _sample(self, logits, metadata):
            return super()._sample(logits, metadata)
    """
    (finding,) = found(job(EMPTY_NPU, gpu(SAMPLE), npu_base=base), "RS203")
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


# RS204


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
        EMPTY_NPU,
        gpu("pass", head=GPU_HEAD + importing, bases="OmniGPUModelRunner, Connector"),
        gpu_base=importing + "class OmniGPUModelRunner(Connector):\n    pass\n",
        files={MIXIN: "class Connector:\n    pass\n"},
    )
    assert found(given, "RS204") == []


# RS205

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
    given = job(EMPTY_NPU + state("logits: object"), state(*gpu_fields) + gpu("pass"), vllm=vllm)
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


# RS206

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


# RS207


ASK = 'def load_model(self):\n    self.flag = getattr(self.model, "wants_history", False)'


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
    ],
)
def test_hooks_and_fields_of_the_gpu_side(npu_body: str, gpu_body: str, vllm: str | None, expected: list[str]) -> None:
    assert symbols(job(npu(npu_body), gpu(gpu_body), vllm=vllm), "RS207") == expected


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


# RS202

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
PLAIN = "def execute_model(self, x):\n    self.plain(x)\n    return x"


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


def test_what_a_missing_mixin_brings_is_said_of_the_mixin_only() -> None:
    head = GPU_HEAD + "class ConnectorMixin:\n    def send(self, x):\n        return x\n"
    calling = PLAIN.replace("return x", "self.send(x)\n    return x")
    given = job(npu(PLAIN), gpu(calling, head=head, bases="OmniGPUModelRunner, ConnectorMixin"), vllm=VLLM)
    assert symbols(given, "RS202") == []


# RS201


def entry(npu_text: str, gpu_text: str, name: str = "execute_model") -> Entry:
    """What a lock written for these texts says of one method."""
    unit = dedent(gpu_text)[dedent(gpu_text).index("    def ") :]
    ref = BaseRef("vllm-omni", "0.26.0", GPU_AR, f"GPUARModelRunner.{name}", "lock", 1.0, digest(unit))
    one = Entry(AR, f"NPUARModelRunner.{name}", None, ref)
    return record([one], Reading(AR, dedent(npu_text)), Reading(GPU_AR, dedent(gpu_text)), label="Omni-new")[0]


OLD_GPU, OLD_NPU = gpu(PLAIN), npu(PLAIN)
NEW_GPU = gpu(PLAIN.replace("return x", "return self.fixed(x)"))


@pytest.mark.parametrize(
    ("npu_text", "gpu_text", "expected"),
    [
        pytest.param(OLD_NPU, OLD_GPU, [], id="nothing changed"),
        pytest.param(OLD_NPU, NEW_GPU, ["GPUARModelRunner.execute_model"], id="only the GPU side changed"),
        pytest.param(
            OLD_NPU, gpu("# why\n" + PLAIN.replace("(x)\n", "(  x )  # call\n")), [], id="comments and layout"
        ),
        pytest.param(OLD_NPU, gpu("pass"), ["GPUARModelRunner.execute_model"], id="gone from the GPU side"),
    ],
)
def test_gpu_changes_since_the_lock(npu_text: str, gpu_text: str, expected: list[str]) -> None:
    given = job(npu_text, gpu_text, entries=[entry(OLD_NPU, OLD_GPU)])
    assert symbols(given, "RS201") == expected


def test_a_gpu_change_that_is_not_for_npu_has_a_way_out() -> None:
    (finding,) = found(job(OLD_NPU, NEW_GPU, entries=[entry(OLD_NPU, OLD_GPU)]), "RS201")
    assert finding.fix == (
        "`runner-sync upgrade --only NPUARModelRunner.execute_model` ports the change; where it is not for NPU, "
        f"`# runner-sync: ignore[RS201:GPUARModelRunner.execute_model@{finding.state}] reason` above this unit."
    )


def pasted(finding: Finding, text: str) -> str:
    """``text`` with the comment that the fix names, above what the finding is about."""
    (comment,) = re.findall(r"`(# runner-sync: ignore[^`]*)`", finding.fix)
    lines = dedent(text).split("\n")
    indent = lines[finding.line - 1][: -len(lines[finding.line - 1].lstrip())]
    return "\n".join([*lines[: finding.line - 1], indent + comment, *lines[finding.line - 1 :]])


NEWER_GPU = gpu(PLAIN.replace("return x", "return self.fixed(x, 2)"))


def test_the_comment_that_the_fix_names_accepts_one_text_of_the_twin() -> None:
    entries = [entry(OLD_NPU, OLD_GPU)]
    (finding,) = found(job(OLD_NPU, NEW_GPU, entries=entries), "RS201")
    accepted = pasted(finding, OLD_NPU)
    assert symbols(job(accepted, NEW_GPU, entries=entries), "RS201") == []
    assert symbols(job(accepted, NEWER_GPU, entries=entries), "RS201") == ["GPUARModelRunner.execute_model"]
    wide = accepted.replace(f":{finding.symbol}@{finding.state}", "")
    assert symbols(job(wide, NEWER_GPU, entries=entries), "RS201") == [], "the plain form goes for every text"


def test_the_comment_that_the_fix_names_goes_for_one_method_of_the_class() -> None:
    (finding,) = found(job(EMPTY_NPU, gpu(SAMPLE)), "RS203")
    accepted = pasted(finding, EMPTY_NPU)
    assert symbols(job(accepted, gpu(SAMPLE)), "RS203") == []
    later = SAMPLE + SAMPLE.replace("_sample", "_draft")
    assert symbols(job(accepted, gpu(later)), "RS203") == ["_draft"]


def test_the_comment_that_the_fix_names_goes_for_one_hook() -> None:
    (finding,) = found(job(EMPTY_NPU, gpu(ASK), vllm="x = 1\n"), "RS207")
    accepted = pasted(finding, EMPTY_NPU)
    assert symbols(job(accepted, gpu(ASK), vllm="x = 1\n"), "RS207") == []
    later = ASK.replace("wants_history", "wants_tokens")
    assert symbols(job(accepted, gpu(later), vllm="x = 1\n"), "RS207") == ["wants_tokens"]


OWN_NPU = npu(PLAIN.replace("return x", "return self.log(x)"))


def branched(now: tuple[str, str], before: tuple[str, str], entries: Sequence[Entry]) -> CheckJob:
    """The job of a branch that had ``before``, NPU and GPU text, where it began; the lock is the same."""
    then = job(*before, entries=entries)
    return replace(job(*now, entries=entries), before=lambda: then)


def rated(given: CheckJob) -> list[tuple[str, str]]:
    return [(finding.severity, finding.symbol) for finding in found(given, "RS201")]


TWIN = "GPUARModelRunner.execute_model"


def test_both_changed_since_the_lock_is_for_a_person_to_tell() -> None:
    given = job(OWN_NPU, NEW_GPU, entries=[entry(OLD_NPU, OLD_GPU)])
    assert rated(given) == [("info", TWIN)]
    (finding,) = found(given, "RS201")
    assert finding.fix.startswith("Where it has the change, record it: `runner-sync lock`; ")
    assert rated(job(OWN_NPU, OLD_GPU, entries=[entry(OLD_NPU, OLD_GPU)])) == [], "only the NPU side changed"


@pytest.mark.parametrize(
    ("now", "before", "expected"),
    [
        pytest.param((OWN_NPU, NEW_GPU), (OWN_NPU, OLD_GPU), "warning", id="the GPU side alone"),
        pytest.param((OWN_NPU, NEWER_GPU), (OWN_NPU, NEW_GPU), "warning", id="the GPU side alone, once more"),
        pytest.param((f"{OWN_NPU}\n", NEW_GPU), (OWN_NPU, OLD_GPU), "warning", id="and the layout of NPU"),
        pytest.param((OWN_NPU, gpu("pass")), (OWN_NPU, OLD_GPU), "warning", id="gone from the GPU side"),
        pytest.param((OWN_NPU, NEW_GPU), (OLD_NPU, OLD_GPU), "info", id="both, by hand"),
        pytest.param((OWN_NPU, NEW_GPU), (OLD_NPU, NEW_GPU), "info", id="the NPU side alone"),
        pytest.param((OWN_NPU, NEW_GPU), (OWN_NPU, NEW_GPU), "info", id="neither"),
        pytest.param((OWN_NPU, NEW_GPU), ("class:\n", OLD_GPU), "info", id="no Python where it began"),
        pytest.param((OLD_NPU, NEW_GPU), (OLD_NPU, NEW_GPU), "warning", id="as locked, and long since"),
    ],
)
def test_a_branch_changed_one_side_or_both(now: tuple[str, str], before: tuple[str, str], expected: str) -> None:
    assert rated(branched(now, before, [entry(OLD_NPU, OLD_GPU)])) == [(expected, TWIN)]


def test_a_branch_that_ports_by_hand_is_told_how_to_record_it_and_nothing_else() -> None:
    entries = [entry(OLD_NPU, OLD_GPU)]
    given = branched((OWN_NPU, NEW_GPU), (OLD_NPU, OLD_GPU), entries)
    lines = frozenset(range(1, 20))
    result = run(given, "RS201", changed={AR: lines, GPU_AR: lines})
    assert (result.findings, result.ported) == ((), ("NPUARModelRunner.execute_model",))
    strict = run(given, "RS201", changed={AR: lines, GPU_AR: lines}, severity="warning")
    assert strict == result, "whatever is reported besides"
    later = branched((OWN_NPU, NEW_GPU), (OWN_NPU, NEW_GPU), entries)
    assert run(later, "RS201", changed={}).ported == (), "it is another branch's"
    assert run(given, "RS201").ported == (), "without a branch it is a finding"


def test_a_baseline_keeps_what_it_accepts_of_a_unit_that_was_edited() -> None:
    entries = [entry(OLD_NPU, OLD_GPU)]
    accepted = run(job(OLD_NPU, NEW_GPU, entries=entries), "RS201").baseline
    result = run(job(OWN_NPU, NEW_GPU, entries=entries), "RS201", baseline=accepted)
    assert (result.findings, result.accepted, result.stale) == ((), 1, ())


DOCUMENTED = PLAIN.replace("):\n", '):\n    """Run it."""\n', 1)


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        pytest.param(DOCUMENTED.replace("Run it.", "Run the model."), [], id="a docstring"),
        pytest.param(PLAIN, [], id="no docstring any more"),
        pytest.param(DOCUMENTED.replace("return x", "return 'x'"), [TWIN], id="another string"),
        pytest.param(DOCUMENTED.replace("(self, x)", "(self, x: int)"), [TWIN], id="an annotation"),
        pytest.param(DOCUMENTED.replace("Run it.", "Run.").replace("return x", "return 1"), [TWIN], id="code as well"),
    ],
)
def test_docstrings_of_the_gpu_side_are_no_change(now: str, expected: list[str]) -> None:
    locked = entry(OLD_NPU, gpu(DOCUMENTED))
    assert symbols(job(OLD_NPU, gpu(now), entries=[locked]), "RS201") == expected
    older = replace(locked, extra={k: v for k, v in locked.extra.items() if k != GPU_CODE})
    assert symbols(job(OLD_NPU, gpu(now), entries=[older]), "RS201") == [TWIN], "a lock of an older version"


def spoken_of(now: str) -> CheckJob:
    return job(OLD_NPU, gpu(now), entries=[entry(OLD_NPU, gpu(DOCUMENTED))])


FIXED = DOCUMENTED.replace("return x", "return self.fixed(x)")
SAID_OTHERWISE = FIXED.replace("Run it.", "Run the model.")


@pytest.mark.parametrize(
    ("now", "is_accepted"),
    [
        pytest.param(FIXED, True, id="as accepted"),
        pytest.param(SAID_OTHERWISE, True, id="another docstring"),
        pytest.param(FIXED.replace('    """Run it."""\n', ""), True, id="no docstring"),
        pytest.param(FIXED.replace("fixed(x)", "fixed(x, 2)"), False, id="other code"),
        pytest.param(FIXED.replace("fixed(x)", "fixed('x')"), False, id="a string"),
    ],
)
def test_what_was_accepted_stays_accepted_with_another_docstring(now: str, *, is_accepted: bool) -> None:
    (finding,) = found(spoken_of(FIXED), "RS201")
    given = spoken_of(now)
    later = replace(given, modules=(replace(given.modules[0], text=pasted(finding, OLD_NPU)),))
    expected = [] if is_accepted else [TWIN]
    assert symbols(later, "RS201") == expected
    accepted = run(spoken_of(FIXED), "RS201").baseline
    assert [f.symbol for f in run(given, "RS201", baseline=accepted).findings] == expected


def test_what_an_earlier_version_accepted_with_its_docstring_stays_accepted() -> None:
    (finding,) = found(spoken_of(FIXED), "RS201")
    assert finding.old_state not in ("", finding.state)
    npu_text = pasted(finding, OLD_NPU).replace(finding.state, finding.old_state)

    def commented(now: str) -> list[str]:
        given = spoken_of(now)
        return symbols(replace(given, modules=(replace(given.modules[0], text=npu_text),)), "RS201")

    assert commented(FIXED) == []
    assert commented(SAID_OTHERWISE) == [TWIN]
    written = run(spoken_of(FIXED), "RS201").baseline
    ((code, path, unit, symbol), count) = next(iter(written.counts.items()))
    older = Baseline({(code, path, unit, symbol.replace(finding.state, finding.old_state)): count})
    result = run(spoken_of(FIXED), "RS201", baseline=older)
    assert (result.findings, result.accepted, result.stale, result.baseline) == ((), 1, (), written)
    later = run(spoken_of(SAID_OTHERWISE), "RS201", baseline=older)
    assert (len(later.findings), len(later.stale)) == (1, 1)
    assert found(job(OLD_NPU, NEW_GPU, entries=[entry(OLD_NPU, OLD_GPU)]), "RS201")[0].old_state == ""


def test_a_unit_that_the_lock_does_not_know_is_told_of_in_the_branch_that_changes_its_twin() -> None:
    others = [Entry(AR, "helper")]
    assert rated(branched((OWN_NPU, NEW_GPU), (OWN_NPU, OLD_GPU), others)) == [("warning", TWIN)]
    assert rated(branched((OWN_NPU, NEW_GPU), (OLD_NPU, OLD_GPU), others)) == []
    assert rated(branched((OWN_NPU, NEW_GPU), (EMPTY_NPU, OLD_GPU), others)) == []
    assert rated(job(OWN_NPU, NEW_GPU, entries=others)) == []


# RS111

TWO_NPU, TWO_GPU = (side(PLAIN + "\ndef nap(self):\n    return 1\n") for side in (npu, gpu))


def entries_of(*names: str) -> list[Entry]:
    return [replace(entry(OLD_NPU, OLD_GPU), qualname=f"NPUARModelRunner.{name}") for name in names]


@pytest.mark.parametrize(
    ("npu_text", "gpu_text", "names", "expected"),
    [
        pytest.param(TWO_NPU, TWO_GPU, ("execute_model", "nap"), [], id="all of them"),
        pytest.param(TWO_NPU, OLD_GPU, ("execute_model",), [], id="new, without a twin"),
        pytest.param(OLD_NPU, TWO_GPU, ("execute_model",), [], id="a method that NPU lacks"),
        pytest.param(TWO_NPU, TWO_GPU, ("execute_model",), ["info"], id="new, with a twin"),
        pytest.param(OLD_NPU, OLD_GPU, ("execute_model", "nap"), ["warning"], id="gone"),
        pytest.param(TWO_NPU, TWO_GPU, ("execute_model", "rest"), ["warning"], id="another name"),
    ],
)
def test_units_that_the_lock_has_no_entry_of(
    npu_text: str, gpu_text: str, names: Sequence[str], expected: list[str]
) -> None:
    given = job(npu_text, gpu_text, entries=entries_of(*names))
    assert [finding.severity for finding in found(given, "RS111")] == expected


def test_one_finding_names_the_units() -> None:
    (finding,) = found(job(TWO_NPU, TWO_GPU, entries=entries_of("rest")), "RS111")
    assert (finding.line, finding.unit, finding.symbol) == (3, "NPUARModelRunner", "NPUARModelRunner")
    assert finding.message == (
        "`runner-sync.lock` has no entry of `NPUARModelRunner.execute_model`, `NPUARModelRunner.nap` and has entries "
        "of `NPUARModelRunner.rest`, so nobody is told of a change of the GPU side."
    )
    assert finding.fix == "Record the units as they are: `runner-sync lock`."


UPSTREAM = BaseRef("vllm-ascend", "0.26.0rc1", "worker.py", "NPUModelRunner.nap", "lock", 1.0)


def copied(name: str, *, gpu_too: bool = False) -> Entry:
    """What the lock says of a copy of vllm-ascend's."""
    return replace(entries_of(name)[0] if gpu_too else Entry(AR, f"NPUARModelRunner.{name}"), upstream=UPSTREAM)


@pytest.mark.parametrize(
    ("gpu_text", "entries", "said"),
    [
        pytest.param(TWO_GPU, [*entries_of("execute_model"), copied("nap")], "no GPU text of `{}.nap`,", id="later"),
        pytest.param(
            TWO_GPU + "\n    def rest(self):\n        return 1\n",
            [*entries_of("execute_model"), copied("nap"), *entries_of("gone")],
            "no GPU text of `{}.nap` and has entries of `{}.gone`,",
            id="and gone",
        ),
        pytest.param(TWO_GPU, [*entries_of("execute_model"), copied("nap", gpu_too=True)], "", id="with both"),
        pytest.param(OLD_GPU, [*entries_of("execute_model"), copied("nap")], "", id="no GPU twin"),
        pytest.param(TWO_GPU, [copied("nap")], "", id="written without the GPU side"),
        pytest.param(TWO_GPU, [copied("execute_model"), copied("nap")], "", id="all of it without the GPU side"),
    ],
)
def test_a_unit_that_the_lock_compares_with_upstream_alone(gpu_text: str, entries: list[Entry], said: str) -> None:
    messages = [finding.message for finding in found(job(TWO_NPU, gpu_text, entries=entries), "RS111")]
    expected = said.replace("{}", "NPUARModelRunner")
    assert messages == (
        [f"`runner-sync.lock` has {expected} so nobody is told of a change of the GPU side."] if said else []
    )


def test_a_later_change_of_such_a_twin_is_told_of_in_the_branch() -> None:
    entries = [*entries_of("execute_model"), copied("nap")]
    changed = TWO_GPU.replace("return 1", "return 2")
    assert rated(branched((TWO_NPU, changed), (TWO_NPU, TWO_GPU), entries)) == [("warning", "GPUARModelRunner.nap")]
    assert rated(branched((TWO_NPU, changed), (TWO_NPU, TWO_GPU), [copied("nap")])) == [
        ("warning", "GPUARModelRunner.nap")
    ]
    assert rated(branched((TWO_NPU, TWO_GPU), (TWO_NPU, TWO_GPU), entries)) == []
    (finding,) = found(branched((TWO_NPU, TWO_GPU), (TWO_NPU, OLD_GPU), entries), "RS201")
    assert " is new since the branch began, and this unit did not" in finding.message


@pytest.mark.parametrize(
    ("before", "now", "severity"),
    [
        pytest.param(copied("nap", gpu_too=True), [copied("nap")], "warning", id="its GPU text taken out"),
        pytest.param(copied("nap"), [], "warning", id="its entry taken out"),
        pytest.param(copied("nap"), [copied("nap")], "info", id="it had none"),
    ],
)
def test_what_a_branch_took_out_of_an_entry(before: Entry, now: list[Entry], severity: str) -> None:
    one = entries_of("execute_model")
    then = job(TWO_NPU, TWO_GPU, entries=[*one, before])
    (finding,) = found(replace(job(TWO_NPU, TWO_GPU, entries=[*one, *now]), before=lambda: then), "RS111")
    assert finding.severity == severity


def test_a_branch_that_takes_the_gpu_side_out_of_the_whole_lock_is_told() -> None:
    then = job(TWO_NPU, TWO_GPU, entries=[*entries_of("execute_model"), copied("nap", gpu_too=True)])
    now = job(TWO_NPU, TWO_GPU, entries=[copied("execute_model"), copied("nap")])
    assert [finding.severity for finding in found(replace(now, before=lambda: then), "RS111")] == ["warning"]


def test_entries_that_stand_in_for_a_lock_are_none_of_it() -> None:
    copy = BaseRef("vllm-ascend", "0.26.0rc1", "worker.py", "NPUModelRunner.rest", "inferred", 1.0)
    assert found(job(TWO_NPU, TWO_GPU, entries=[Entry(AR, "NPUARModelRunner.rest", copy)]), "RS111") == []
    locked = replace(copy, how="lock")
    assert found(job(TWO_NPU, TWO_GPU, entries=[Entry(AR, "NPUARModelRunner.rest", locked)]), "RS111")


def test_an_entry_that_a_branch_took_out_is_to_come_back() -> None:
    then = job(TWO_NPU, TWO_GPU, entries=entries_of("execute_model", "nap"))
    given = replace(job(TWO_NPU, TWO_GPU, entries=entries_of("execute_model")), before=lambda: then)
    (finding,) = found(given, "RS111")
    assert finding.severity == "warning"
    assert finding.fix.startswith("Bring back from git what it said of `NPUARModelRunner.nap`, or record ")
    assert len(run(given, "RS111", changed={}).findings) == 1, "though it stands on no line"


def test_what_the_lock_lacked_already_is_told_of_to_those_who_touch_it() -> None:
    then = job(TWO_NPU, TWO_GPU, entries=entries_of("execute_model"))
    now = TWO_GPU.replace("return 1", "return 2")
    given = replace(job(TWO_NPU, now, entries=entries_of("execute_model")), before=lambda: then)
    end = dedent(now)[: dedent(now).index("return 2")].count("\n") + 1
    assert run(given, "RS111", changed={GPU_AR: frozenset({1})}).findings == ()
    assert len(run(given, "RS111", changed={GPU_AR: frozenset({end})}).findings) == 1


def test_a_lock_without_the_npu_text_reports_every_gpu_change() -> None:
    plain = Entry(AR, "NPUARModelRunner.execute_model", None, entry(OLD_NPU, OLD_GPU).gpu)
    edited = npu(PLAIN.replace("return x", "return 1"))
    assert symbols(job(edited, NEW_GPU, entries=[plain]), "RS201") == ["GPUARModelRunner.execute_model"]


# RS501

STAGE = """
def _final_stage(self, req_id):
    info = self.buffer.get(req_id)
    if info is None:
        return None
    return int(info["stage"])
"""


@pytest.mark.parametrize(
    ("npu_body", "gpu_body", "expected"),
    [
        pytest.param(STAGE, STAGE, ["_final_stage"], id="equal"),
        pytest.param(
            STAGE, STAGE.replace("    info =", '    "Stage."\n    info ='), ["_final_stage"], id="a docstring"
        ),
        pytest.param(STAGE, STAGE.replace("int(", "str("), [], id="nearly equal"),
        pytest.param(
            STAGE.replace("get(req_id)", "get((req_id,))"),
            STAGE.replace("get(req_id)", "get((req_id))"),
            [],
            id="a tuple",
        ),
        pytest.param(
            STAGE.replace("get(req_id)", 'get("a - b")'),
            STAGE.replace("get(req_id)", 'get("a-b")'),
            [],
            id="another string",
        ),
        pytest.param("def f(self):\n    return 1", "def f(self):\n    return 1", [], id="too short"),
        pytest.param(
            STAGE.replace("_final_stage", "__init__"), STAGE.replace("_final_stage", "__init__"), [], id="a constructor"
        ),
        pytest.param(
            STAGE.replace("int(", "torch.npu.tensor("), STAGE.replace("int(", "torch.cuda.tensor("), [], id="the device"
        ),
    ],
)
def test_methods_to_hoist(npu_body: str, gpu_body: str, expected: list[str]) -> None:
    assert symbols(job(npu(npu_body), gpu(gpu_body)), "RS501") == expected


SAMPLING = """
def _sample(self, logits, metadata):
    if self.model.prefer_model_sampler:
        self.input_batch.update_async_output_token_ids()
        return self.model.sample(logits)
    return RETURNED
"""


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        pytest.param("self.sampler(logits, metadata)", ["RS206"], id="each platform has to sample in its own way"),
        pytest.param("super()._sample(logits, metadata)", ["RS501"], id="and does"),
    ],
)
def test_a_sampler_hook_to_hoist(returned: str, expected: list[str]) -> None:
    text = SAMPLING.replace("RETURNED", returned)
    given = job(npu(text), gpu(text))
    assert [code for code in ("RS206", "RS501") if found(given, code)] == expected


def test_equal_texts_over_different_globals_are_not_the_same() -> None:
    using = STAGE.replace("int(", "Stage(")
    given = job(
        npu(using, head=NPU_HEAD + "from a import Stage\n"), gpu(using, head=GPU_HEAD + "from b import Stage\n")
    )
    assert found(given, "RS501") == []


def test_an_equal_function_is_to_be_imported() -> None:
    function = "def pick(a, b):\n    if a:\n        return a\n    if b:\n        return b\n    return None\n"
    (finding,) = found(job(function + EMPTY_NPU, function + gpu("pass")), "RS501")
    assert finding.fix == "Import `pick` instead of repeating it."
