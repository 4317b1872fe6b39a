"""RS501: methods that can stand once for GPU and NPU."""

from __future__ import annotations

import textwrap

import pytest
from check_samples import (
    EMPTY_AR,
    GPU_AR,
    GPU_HEAD,
    NPU_HEAD,
    OMNI_GPU_BASE,
    found,
    job,
    symbols,
)
from parity_samples import gpu, npu

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
        *(
            pytest.param(STAGE.replace("int(", f"{read}("), STAGE.replace("int(", f"{read}("), expected, id=read)
            for read, expected in (
                ("open(__file__).read", []),
                ("__class__.whole", []),
                ("self.calls[__name__]", []),
                ("type(self).__name__.join", ["_final_stage"]),
                ("self.__class__", ["_final_stage"]),
                ("__import__", ["_final_stage"]),
            )
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
    (finding,) = found(job(function + EMPTY_AR, function + gpu("pass")), "RS501")
    assert finding.fix == "Import `pick` instead of repeating it."


def test_a_copy_of_what_npu_inherits_is_only_to_be_deleted() -> None:
    shared = OMNI_GPU_BASE.replace("    pass\n", textwrap.indent(STAGE.lstrip(), "    "))
    given = job(npu(STAGE), gpu(STAGE), gpu_base=shared)
    assert [code for code in ("RS103", "RS501") if found(given, code)] == ["RS103"]


@pytest.mark.parametrize(
    ("shared", "bases"),
    [
        pytest.param(STAGE.replace("int(", "str("), "OmniNPUModelRunner", id="the shared base has another"),
        pytest.param(STAGE, "OmniNPUModelRunner, elsewhere.Mixin", id="an unknown base may have another"),
    ],
)
def test_a_copy_of_what_npu_would_not_inherit(shared: str, bases: str) -> None:
    base = OMNI_GPU_BASE.replace("    pass\n", textwrap.indent(shared.lstrip(), "    "))
    head = NPU_HEAD + "from vllm_omni import elsewhere\n"
    given = job(npu(STAGE, head=head, bases=bases), gpu(STAGE), gpu_base=base)
    assert [code for code in ("RS103", "RS501") if found(given, code)] == ["RS501"]


WORKER = "vllm_omni/worker"


@pytest.mark.parametrize(
    ("owner", "bases", "fix"),
    [
        pytest.param("StageMixin", "Base, StageMixin", "Mix `StageMixin` into `NPUARModelRunner`, too, ", id="a mixin"),
        pytest.param(
            "OmniGPUWorkerBase",
            "Base, OmniGPUWorkerBase",
            "Move it to a mixin of `OmniGPUWorkerBase` and `NPUARModelRunner`.",
            id="a class with a twin of its own",
        ),
        pytest.param("StageMixin", "Base", "runner-sync hoist NPUARModelRunner._final_stage", id="no base of it"),
    ],
)
def test_a_method_that_the_gpu_class_has_from_a_base(owner: str, bases: str, fix: str) -> None:
    # The run reads the GPU class together with what omni moved out of it; the tree has it in two files.
    head = f"{GPU_HEAD}from vllm_omni.worker.stage import {owner}\n"
    files = {
        GPU_AR: gpu("pass", head=head, bases=bases.replace("Base", "OmniGPUModelRunner", 1)),
        f"{WORKER}/stage.py": f"class {owner}:\n{textwrap.indent(STAGE.lstrip(), '    ')}",
    }
    (finding,) = found(job(npu(STAGE), gpu(STAGE), files=files), "RS501")
    assert (finding.fix or "").startswith(fix)
    assert (f"`{owner}._final_stage` ({WORKER}/stage.py:2), which" in finding.message) is (bases != "Base")
