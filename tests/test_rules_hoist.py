"""RS501: methods that can stand once for GPU and NPU."""

from __future__ import annotations

import pytest
from check_samples import (
    EMPTY_AR,
    GPU_HEAD,
    NPU_HEAD,
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
