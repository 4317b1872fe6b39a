"""RS208: what the GPU twin exchanged or gained since an NPU method was last aligned with it."""

from __future__ import annotations

import textwrap
from dataclasses import replace

import pytest
from check_samples import found, job, run, symbols
from conftest import CorpusRelease
from parity_samples import gpu, npu

from runner_sync import sync
from runner_sync.sync.options import CheckOptions, TreeOptions
from runner_sync.verify import check
from runner_sync.verify.check_job import CheckJob
from runner_sync.verify.codes import Codes

VLLM = """
class GPUModelRunner:
    def execute_model(self, batch):
        self.prepare(batch)
        return self.model(batch)
"""

NEEDS = """\
def _needs_payload(self, request):
    stage = self.stage_of(request)
    needs = stage is None or stage > 0
    self.cache[request] = needs
    return needs
"""
NEWER = NEEDS.replace("stage is None or stage > 0", "stage > 0")


def aligned(npu_body: str, then: str, now: str, *, vllm: str = VLLM, **rest: str) -> CheckJob:
    """An NPU class, and its twin as it was in 0.26.0 and is now."""
    return job(npu(npu_body), gpu(now), vllm=vllm, earlier={"0.26.0": gpu(then)}, **rest)  # type: ignore[arg-type]


def test_a_statement_that_the_twin_exchanged() -> None:
    (finding,) = found(aligned(NEEDS, NEEDS, NEWER), "RS208")
    assert finding.unit == "NPUARModelRunner._needs_payload"
    assert finding.symbol == "GPUARModelRunner._needs_payload"
    assert (
        "changed since vllm-omni 0.26.0: in place of `needs = stage is None or stage > 0`, which is still here, it has "
        "`needs = stage > 0`."
    ) in finding.message
    assert finding.fix == (
        "`runner-sync upgrade --gpu-only --only NPUARModelRunner._needs_payload --omni-base 0.26.0` ports the change; "
        f"where it is not for NPU, `# runner-sync: ignore[RS208:{finding.symbol}@{finding.state}] reason` above this "
        "unit."
    )


@pytest.mark.parametrize(
    ("npu_body", "then", "now"),
    [
        pytest.param(NEEDS, NEEDS, NEEDS, id="nothing changed"),
        pytest.param(NEEDS, NEEDS, NEEDS.replace("    self", "    # why\n    self"), id="a comment"),
        pytest.param(NEEDS, NEEDS, NEEDS.replace("\n", '\n    """Docs."""\n', 1), id="a docstring"),
        pytest.param(NEWER, NEEDS, NEWER, id="NPU followed"),
        pytest.param(NEEDS.replace("None or", "None or  "), NEEDS, NEEDS.replace("None or", "None or "), id="layout"),
        pytest.param(
            NEEDS, NEEDS, NEEDS.replace("request):", "request: str) -> bool:"), id="annotations, which RS104 tells of"
        ),
        pytest.param(
            NEEDS,
            NEEDS,
            NEEDS.replace("    return", '    logger.info("cached %s", needs)\n    return'),
            id="a log message",
        ),
        pytest.param(
            NEEDS,
            NEEDS,
            NEEDS.replace("    return", "    hold(needs, pin_memory=True)\n    return"),
            id="device code",
        ),
        pytest.param(
            NEEDS,
            NEEDS,
            NEEDS.replace("    return", "    self.unread = needs\n    return"),
            id="what no NPU code reads",
        ),
        pytest.param(
            NEEDS + "\ndef _more(self, request):\n    self.counted(request)\n",
            NEEDS,
            NEEDS.replace("    return", "    self.counted(request)\n    return"),
            id="what NPU has in another method",
        ),
        pytest.param(
            "def _needs_payload(self, request):\n    return request in self.wanted\n",
            NEEDS,
            NEWER,
            id="NPU's own words",
        ),
        pytest.param("pass", NEEDS, NEWER, id="NPU inherits it"),
    ],
)
def test_what_is_not_behind(npu_body: str, then: str, now: str) -> None:
    assert symbols(aligned(npu_body, then, now), "RS208") == []


GAINED = NEEDS.replace("    return", "    self.counted(request)\n    return")


@pytest.mark.parametrize("is_npu", [True, False])
def test_a_method_inside_an_if_is_not_compared(is_npu: bool) -> None:
    nested = f"if FLAG:\n{textwrap.indent(NEEDS, '    ')}"
    sides = (nested, NEEDS, NEWER) if is_npu else (NEEDS, NEEDS, nested)
    assert found(aligned(*sides), "RS208") == []


def test_a_statement_that_the_twin_gained() -> None:
    (finding,) = found(aligned(NEEDS, NEEDS, GAINED), "RS208")
    assert "it gained `self.counted(request)`, which is not here." in finding.message


def test_a_statement_that_the_twin_lost() -> None:
    (finding,) = found(aligned(GAINED, GAINED, NEEDS), "RS208")
    assert "it lost `self.counted(request)`, which is still here." in finding.message


MIXED = """\
def execute_model(self, batch):
    self.prepare(batch)
    {rows}
    {first}
    {second}
    return self.model(batch)
"""


def mixed(*statements: str, rows: str = "self.rows = batch.rows") -> str:
    return MIXED.format(rows=rows, first=statements[0], second=statements[1])


OWN = "self.npu_own(batch)\n    self.npu_more(batch)\n    self.npu_last(batch)\n    self.npu_end(batch)"


@pytest.mark.parametrize(
    ("npu_body", "then", "now", "expected"),
    [
        pytest.param(
            mixed("keep(batch, 1)", OWN),
            mixed("keep(batch, 1)", "more(batch)"),
            mixed("keep(batch, 2)", "more(batch)"),
            1,
            id="omni's own statement is exchanged",
        ),
        pytest.param(
            mixed("self.prepare(batch)", OWN),
            mixed("self.prepare(batch)", "more(batch)"),
            mixed("self.prepare(batch.model)", "more(batch)"),
            0,
            id="a statement without a name that vLLM has not",
        ),
        pytest.param(
            mixed("keep(batch)", OWN),
            mixed("keep(batch)", "more(batch)"),
            mixed("finish(batch.all_rows, self.held)", "more(batch)"),
            0,
            id="what is lost and what is gained have nothing in common",
        ),
        pytest.param(
            mixed("keep(batch)", OWN),
            mixed("keep(batch)", "more(batch)"),
            mixed("keep(batch)", "more(batch)", rows="self.rows = batch.rows\n    hold(batch)"),
            1,
            id="gained between two that follow each other",
        ),
        pytest.param(
            mixed(OWN, "keep(batch)"),
            mixed("keep(batch)", "more(batch)"),
            mixed("keep(batch)", "more(batch)", rows="self.rows = batch.rows\n    hold(batch)"),
            0,
            id="gained where NPU has code of its own",
        ),
    ],
)
def test_a_method_that_vllm_has_too(npu_body: str, then: str, now: str, expected: int) -> None:
    """Most of what changes there comes with a newer vLLM, and to NPU by way of vllm-ascend."""
    assert len(found(aligned(npu_body, then, now), "RS208")) == expected


def test_statements_of_vllm_ascend_are_not_omnis() -> None:
    upstream = "class NPUModelRunner:\n    def other(self):\n        keep(batch, 2)\n"
    then, now = (mixed(f"keep(batch, {k})", "more(batch)") for k in (1, 2))
    npu_body = mixed("keep(batch, 1)", OWN)
    assert len(found(aligned(npu_body, then, now), "RS208")) == 1
    assert symbols(aligned(npu_body, then, now, upstream=upstream), "RS208") == []


def test_the_revision_that_the_unit_is_most_like_counts() -> None:
    """NPU was aligned with 0.26.0, where the statement had come already; the message says so."""
    given = job(
        npu(NEEDS),
        gpu(NEWER),
        vllm=VLLM,
        earlier={"0.24.0": gpu(NEEDS.replace("    self.cache[request] = needs\n", "")), "0.26.0": gpu(NEEDS)},
    )
    (finding,) = found(given, "RS208")
    assert "since vllm-omni 0.26.0:" in finding.message


def test_long_statements_are_quoted_around_what_differs() -> None:
    start = "self.payload = collect(" + ", ".join(f"name_{k}=request.name_{k}" for k in range(12))
    then, now = (NEEDS.replace("    self.cache", f"    {start}, last={k})\n    self.cache") for k in (1, 2))
    (finding,) = found(aligned(then, then, now), "RS208")
    assert "last=1)`, which is still here, it has `…" in finding.message
    assert "last=2)`" in finding.message


def test_a_statement_here_that_is_neither_the_old_nor_the_new_one_is_shown() -> None:
    """NPU has two of the names that the twin has now; the twin had none."""
    rows, then = NEEDS.replace("    stage =", "    held = {{{}}}\n    stage =", 1), NEEDS
    npu_body, now = (rows.format(names) for names in ("'a', 'b'", "'a', 'b', 'c', 'd', 'e', 'f'"))
    (finding,) = found(aligned(npu_body, then, now), "RS208")
    assert (
        "in place of `held = {'a', 'b'}`, which is here, it has `held = {'a', 'b', 'c', 'd', 'e', 'f'}`."
        in finding.message
    )


@pytest.mark.parametrize("longer", [0, 1])
def test_a_statement_that_only_got_longer_is_quoted_to_its_end(longer: int) -> None:
    start = "if " + " and ".join(f"self.has_{name}(request)" for name in ("audio", "video", "text", "image", "more"))
    bodies = [
        NEEDS.replace("    self.cache[", f"    {start}{end}:\n        self.cache[") for end in ("", " or self.held")
    ]
    then, now = bodies if longer else reversed(bodies)
    (finding,) = found(aligned(then, then, now), "RS208")
    assert finding.message.count("self.has_more(request) or self.held`") == 1
    assert finding.message.count("self.has_more(request)`") == 1


def test_what_makes_records_or_takes_them_apart_is_left_to_another_rule() -> None:
    then, now = (
        NEEDS.replace("    self.cache[", f"    stage, {name} = self.execute_model_state\n    self.cache[")
        for name in ("outputs", "outputs_raw")
    )
    assert symbols(aligned(then, then, now), "RS208") == []


def test_an_ignore_is_not_unused_where_a_module_could_not_be_looked_at() -> None:
    """The base module has no earlier twin at hand, as in a clone that does not reach back so far."""
    body = f"# runner-sync: ignore[RS208] every stage needs it\n{NEEDS}"
    codes = Codes(("RS208", "RS491"))
    given = aligned(body, NEEDS, NEEDS)
    assert check.run(given, codes).findings == ()
    seen = replace(given, modules=(given.modules[0],))
    assert [finding.code for finding in check.run(seen, codes).findings] == ["RS491"]


def test_without_vllm_or_earlier_revisions_nothing_is_told() -> None:
    without_vllm = job(npu(NEEDS), gpu(NEWER), earlier={"0.26.0": gpu(NEEDS)})
    without_earlier = job(npu(NEEDS), gpu(NEWER), vllm=VLLM)
    assert [symbols(given, "RS208") for given in (without_vllm, without_earlier)] == [[], []]


def test_the_comment_that_the_fix_names_accepts_one_text_of_the_twin() -> None:
    (finding,) = found(aligned(NEEDS, NEEDS, NEWER), "RS208")
    body = f"# runner-sync: ignore[RS208:{finding.symbol}@{finding.state}] every stage needs it\n{NEEDS}"
    assert run(aligned(body, NEEDS, NEWER), "RS208").findings == ()
    later = NEWER.replace("stage > 0", "stage > 1")
    assert symbols(aligned(body, NEEDS, later), "RS208") == ["GPUARModelRunner._needs_payload"]


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("omni", "ascend", "expected"),
    [
        # Read in both trees: GPU asks whether the last stage is known, clamps prompt ids to the padding of penalties,
        # keeps text of models with client keys, and takes more than one request through the generation runner.
        (
            "0.28.0",
            "0.26.0rc1",
            {
                "NPUARModelRunner._build_multimodal_outputs",
                "NPUARModelRunner._request_needs_downstream_stage_payload",
                "NPUARModelRunner._resolve_pooler_payload_req_ids",
                "NPUARModelRunner.sample_tokens",
                "NPUGenerationModelRunner.sample_tokens",
            },
        ),
        # `make_omni_output` leaves intermediate tensors alone, which come from all but the last pipeline stage.
        ("0.30.0", "0.26.0rc1", {"OmniNPUModelRunner._model_forward"}),
        ("0.16.0", "0.14.0rc1", set()),
    ],
)
def test_released_runners(corpus_release: CorpusRelease, omni: str, ascend: str, expected: set[str]) -> None:
    corpus_release("vllm-omni", omni)
    corpus_release("vllm-ascend", ascend)
    options = CheckOptions(
        omni=TreeOptions(version=omni), ascend=TreeOptions(version=ascend), select=("RS208",), ascend_base=ascend
    )
    assert {finding.unit for finding in sync.check(options).findings} == expected


IN_PLACE = """\
def _output(self, rows):
    ids = self.order(rows)
    hidden = self.on_host(rows.hidden)
    payloads = self.flatten(rows.payload)
    self.accumulate(ids, payloads)
    return self.pack(ids, hidden, payloads)
"""
WITH_HELPER = IN_PLACE.replace(
    "    hidden =", "    return self._build(rows, ids)\n\ndef _build(self, rows, ids):\n    hidden ="
)
HELPER_CHANGED = WITH_HELPER.replace("accumulate(ids, payloads)", "accumulate(ids, payloads, rows.steps)")


def test_a_changed_helper_counts_where_npu_has_its_code_in_place() -> None:
    (finding,) = found(aligned(IN_PLACE, WITH_HELPER, HELPER_CHANGED), "RS208")
    assert finding.unit == "NPUARModelRunner._output"
    assert ", with `GPUARModelRunner._build`, changed since vllm-omni 0.26.0: in place of " in finding.message
    later = HELPER_CHANGED.replace("rows.steps", "rows.all_steps")
    assert found(aligned(IN_PLACE, WITH_HELPER, later), "RS208")[0].state != finding.state


@pytest.mark.parametrize(
    ("npu_body", "then", "now"),
    [
        pytest.param(
            IN_PLACE.replace("(ids, payloads)\n", "(ids, payloads, rows.steps)\n", 1),
            WITH_HELPER,
            HELPER_CHANGED,
            id="NPU followed",
        ),
        pytest.param(IN_PLACE, IN_PLACE, WITH_HELPER, id="the GPU side took the helper out"),
        pytest.param(
            IN_PLACE,
            IN_PLACE + "\ndef _other(self, rows):\n    self.count(rows)\n",
            IN_PLACE + "\ndef _other(self, rows):\n    self.count(rows, 1)\n",
            id="another method",
        ),
        pytest.param(
            "def _output(self, rows):\n    ids = self.order(rows)\n    return self.queue.take(ids)\n",
            WITH_HELPER,
            HELPER_CHANGED,
            id="NPU's own words",
        ),
    ],
)
def test_a_helper_that_npu_has_not_in_place_or_that_says_the_same_is_not_told(
    npu_body: str, then: str, now: str
) -> None:
    assert symbols(aligned(npu_body, then, now), "RS208") == []


def test_a_changed_helper_that_npu_has_too_is_told_at_that_unit() -> None:
    assert symbols(aligned(WITH_HELPER, WITH_HELPER, HELPER_CHANGED), "RS208") == ["GPUARModelRunner._build"]
