"""What a mixin brings that the NPU class lacks: RS204 reports it, and RS202 and RS207 say nothing of it."""

from __future__ import annotations

import pytest
from check_samples import GPU_HEAD, NPU_HEAD, OMNI_GPU_BASE, job
from parity_samples import PLAIN, gpu, npu

from runner_sync.verify import check
from runner_sync.verify.check_job import CheckJob
from runner_sync.verify.codes import Codes

VLLM = "class GPUModelRunner:\n    def execute_model(self, x):\n        self.plain(x)\n        return x\n"
SENDING = """
def execute_model(self, x):
    if hasattr(self, "_connector"):
        for chunk in x.waiting_chunks:
            self.send(chunk)
        x.sent_at = x.now
    self.plain(x)
    return self.attach(x)
"""
SENDER = """
class Sender:
    def start(self):
        self._connector = self.deadline = 1
        self.requests = {}
    def send(self, x):
        return x
    def attach(self, x):
        return x
"""
RUN = "self.reset_alpha(x)\n        self.reset_beta(x)\n        x.gamma = self.delta"


def told(given: CheckJob, *codes: str) -> list[str]:
    found = check.run(given, Codes(codes or ("RS202", "RS204", "RS207"))).findings
    return [f"{finding.code}:{finding.symbol}" for finding in found]


def sending(body: str, npu_text: str = "", *, gpu_base: str = OMNI_GPU_BASE, vllm: str = VLLM) -> CheckJob:
    text = gpu(body, head=GPU_HEAD + SENDER, bases="Sender, OmniGPUModelRunner")
    return job(npu_text or npu(PLAIN), text, vllm=vllm, gpu_base=gpu_base)


def doing(line: str) -> str:
    return PLAIN.replace("return x", f"{line}\n    return x")


@pytest.mark.parametrize(
    ("body", "npu_body", "expected"),
    [
        pytest.param(SENDING, PLAIN, [], id="its members and what stands below them"),
        pytest.param(
            SENDING.replace("    return", "    self.flush_late(x)\n    return"),
            PLAIN,
            ["RS202:flush_late"],
            id="a call beside it",
        ),
        pytest.param(SENDING.replace('self, "_connector"', 'self, "_sender"'), PLAIN, [], id="a loop over them"),
        pytest.param(
            SENDING.replace('self, "_connector"', 'self, "_sender"').replace("x.waiting_chunks", "self.pop_all(x)"),
            PLAIN,
            ["RS202:if hasattr(self, '_sender')"],
            id="a loop that calls something else",
        ),
        pytest.param(
            SENDING,
            PLAIN + "\n    self.log(self._connector, self.send, self.attach)",
            ["RS202:if hasattr(self, '_connector')"],
            id="NPU has the members from elsewhere",
        ),
    ],
)
def test_what_a_missing_mixin_brings_is_said_of_the_mixin_only(body: str, npu_body: str, expected: list[str]) -> None:
    assert told(sending(body, npu(npu_body))) == ["RS204:Sender", *expected]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param(f"with self.send(x):\n        {RUN}", "self.reset_alpha(x)", id="a block below it"),
        pytest.param(f"if self.deadline:\n        x.y = 1\n    else:\n        {RUN}", "x.y = 1", id="its else"),
        pytest.param("self.reset_alpha(x, deadline=3)", "reset_alpha", id="a keyword of that name"),
        pytest.param("self.reset_alpha('deadline')", "reset_alpha", id="a string of that name"),
        pytest.param("x.deadline = self.reset_alpha(x)", "reset_alpha", id="an attribute of another object"),
        pytest.param("deadline = x.rank\n    self.reset_alpha(deadline)", "reset_alpha", id="a local of that name"),
        pytest.param("self.table.send(self.reset_alpha(x))", "reset_alpha", id="a method of another object"),
        pytest.param("self.requests.reset_alpha(x)", "reset_alpha", id="vLLM's runner has the attribute, too"),
    ],
)
def test_what_does_more_than_serve_the_mixin_is_missed(line: str, expected: str) -> None:
    vllm = VLLM + "        self.requests = {}\n"
    found = told(sending(doing(line), vllm=vllm))
    assert f"RS202:{expected}" in found


@pytest.mark.parametrize("line", ["self.send(self.take_rows(x))", "with self.send(x):\n        self.take_rows(x)"])
def test_a_hook_that_npu_inherits_is_missed_within_what_serves_a_mixin(line: str) -> None:
    base = OMNI_GPU_BASE.replace("pass", "def take_rows(self, x):\n        self.rows = x")
    assert told(sending(doing(line), gpu_base=base)) == ["RS204:Sender", "RS202:take_rows"]


THREE = doing("x.one = self.send(x)\n    x.two = self.send(x.b)\n    x.three = self.send(x.c)")


def test_uses_of_a_mixin_that_is_not_reported_are_missed() -> None:
    """NPU may have a smaller class of that name, a comment may accept the mixin, or the rule may not be wanted."""
    assert told(sending(THREE)) == ["RS204:Sender"]
    smaller = "class Sender:\n    def attach(self, x):\n        return x\n"
    own = npu(PLAIN, head=NPU_HEAD + smaller, bases="Sender, OmniNPUModelRunner")
    assert told(sending(THREE, own)) == ["RS202:x.one = self.send(x)"]
    assert told(sending(doing("self.send(x)"), own)) == ["RS202:send"]
    accepted = npu(PLAIN).replace("class NPU", "# runner-sync: ignore[RS204:Sender] no chunks here\nclass NPU")
    assert told(sending(THREE, accepted)) == ["RS202:x.one = self.send(x)"]
    assert told(sending(THREE), "RS202") == ["RS202:x.one = self.send(x)"]


@pytest.mark.parametrize(
    ("used", "said"),
    [
        (PLAIN, "mixes in `Sender`, but"),
        (doing("self.send(x)"), "mixes in `Sender`, which `execute_model` uses, but"),
        (doing("self.note(x, deadline=1)\n    x.send(x)"), "mixes in `Sender`, but"),
    ],
)
def test_the_methods_that_use_a_missing_mixin_are_named(used: str, said: str) -> None:
    (finding,) = check.run(sending(used), Codes(("RS204",))).findings
    assert said in finding.message


def test_each_missing_mixin_names_its_own_users() -> None:
    head = GPU_HEAD + SENDER + "\nclass Taker:\n    def take(self, x):\n        pass\n"
    body = doing("self.send(x)") + "\ndef refill(self, x):\n    self.take(x)\n"
    given = job(npu(PLAIN), gpu(body, head=head, bases="Sender, Taker, OmniGPUModelRunner"), vllm=VLLM)
    sender, taker = (finding.message for finding in check.run(given, Codes(("RS204",))).findings)
    assert "`Sender`, which `execute_model` uses, but" in sender
    assert "`Taker`, which `refill` uses, but" in taker


@pytest.mark.parametrize(
    ("value", "expected"),
    [("self.attach(x)", []), ("x.chunks", ["RS207:chunks"]), ("x.attach", ["RS207:chunks"])],
)
def test_a_field_that_a_missing_mixin_fills_is_said_of_the_mixin_only(value: str, expected: list[str]) -> None:
    body = f"def execute_model(self, x):\n    return OmniModelRunnerOutput(chunks={value})"
    assert told(sending(body), "RS204", "RS207") == ["RS204:Sender", *expected]
    assert told(sending(body), "RS207") == ["RS207:chunks"]


def test_the_fix_leaves_the_copies_at_their_vllm_ascend() -> None:
    (finding,) = check.run(sending(SENDING), Codes(("RS204",))).findings
    assert finding.fix == (
        "`runner-sync upgrade --gpu-only --only 'NPUARModelRunner*'` mixes it in and ports what `GPUARModelRunner` "
        "does with it."
    )
