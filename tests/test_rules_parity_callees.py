"""RS202: what the callee of a call that only the GPU runner has decides about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from check_samples import GPU_AR, GPU_HEAD, OMNI_GPU_BASE, dedent, job, symbols
from parity_samples import PLAIN, gpu, npu
from verify_samples import world

VLLM = "class GPUModelRunner:\n    def execute_model(self, x):\n        self.plain(x)\n        return x\n"

KERNELS = "vllm_omni/attention/fish_backend.py"
ATTACH = """
def attach_bounds(self, x):
    from vllm_omni.attention.fish_backend import attach_upper_bounds

    if x.is_empty:
        return
    attach_upper_bounds(x)
"""
FISH: Mapping[str, str] = {
    KERNELS: "from vllm_omni.attention.fish_attn import run\ndef attach_upper_bounds(x):\n    x.bound = 1\n",
    "vllm_omni/attention/fish_attn.py": "def run():\n    from vllm_omni.attention import fish_triton\n",
    "vllm_omni/attention/fish_triton.py": "try:\n    import triton\nexcept ImportError:\n    triton = None\n",
}


def found_of(shared: str, files: Mapping[str, str], line: str = "self.attach_bounds(x)") -> list[str]:
    base = OMNI_GPU_BASE.replace(
        "    pass\n", "".join(f"    {part}\n" if part else "\n" for part in dedent(shared).split("\n"))
    )
    calling = PLAIN.replace("return x", f"{line}\n    return x")
    return symbols(job(npu(PLAIN), gpu(calling), vllm=VLLM, gpu_base=base, files=files), "RS202")


def test_a_method_that_only_hands_over_to_kernels_is_not_missed() -> None:
    assert found_of(ATTACH, FISH) == []


@pytest.mark.parametrize(
    ("shared", "files"),
    [
        pytest.param(ATTACH.replace("return\n", "return\n    x.bounds = 1\n"), {}, id="it sets something itself"),
        pytest.param(ATTACH + "    self.note(x)\n", {}, id="it calls something else, too"),
        pytest.param(
            ATTACH, {"vllm_omni/attention/fish_triton.py": "import torch\n"}, id="no kernel is in the package"
        ),
        pytest.param(
            ATTACH,
            {KERNELS: FISH[KERNELS] + "def run_on_npu(x):\n    x.bound = 2\n"},
            id="the package has a part for NPU",
        ),
        pytest.param(
            ATTACH,
            {KERNELS: FISH[KERNELS].replace("vllm_omni.attention.", "vllm_omni.kernels.")},
            id="only another package has kernels",
        ),
        pytest.param(ATTACH.replace("    from vllm_omni", "    from torch_omni"), {}, id="nobody knows the module"),
    ],
)
def test_a_method_that_may_do_more_is_missed(shared: str, files: Mapping[str, str]) -> None:
    assert found_of(shared, {**FISH, **files}) == ["attach_bounds"]


def test_a_call_of_kernels_does_not_hide_what_stands_around_it() -> None:
    line = "self.refresh(x)\n    self.attach_bounds(x)\n    self.clear(x)\n    x.cleared = True"
    assert found_of(ATTACH, FISH, line) == ["self.refresh(x)"]


CLAMP = {
    "vllm_omni/worker/sampling.py": """
def clamp_ids(ids, most):
    \"\"\"Clamp to the padding.\"\"\"
    return ids.clamp(max=most)
"""
}


@pytest.mark.parametrize(
    ("line", "helper", "expected"),
    [
        pytest.param("x.ids = clamp_ids(x.ids, x.size)", "", [], id="by position"),
        pytest.param("x.ids = clamp_ids(x.ids, most=x.size)", "", [], id="by keyword"),
        pytest.param("x.ids = clamp_ids(x.ids, x.size - 1)", "", ["clamp_ids"], id="another value"),
        pytest.param("x.ids = clamp_ids(x.ids)", "", ["clamp_ids"], id="a default"),
        pytest.param("x.ids = clamp_ids(*x.both)", "", ["clamp_ids"], id="nobody knows the values"),
        pytest.param(
            "x.ids = self._clamp(x.ids, x.size)",
            "def _clamp(self, ids, most):\n    return ids.clamp(max=most)\n",
            [],
            id="a method",
        ),
        pytest.param(
            "x.ids = self._clamp(x.ids, x.size)",
            "def _clamp(self, ids, most):\n    self.count(ids)\n    self.log(most)\n    return ids.clamp(max=most)\n",
            ["_clamp"],
            id="it does more",
        ),
    ],
)
def test_an_expression_that_npu_has_where_gpu_calls_a_function_for_it(
    line: str, helper: str, expected: list[str]
) -> None:
    has = PLAIN.replace("return x", "x.ids = x.ids.clamp(max=x.size)\n    return x")
    calling = PLAIN.replace("return x", f"{line}\n    return x") + f"\n{helper}"
    head = GPU_HEAD + "from vllm_omni.worker.sampling import clamp_ids\n"
    assert symbols(job(npu(has), gpu(calling, head=head), vllm=VLLM, files=CLAMP), "RS202") == expected


OUTPUTS = {
    "vllm_omni/outputs.py": "from vllm.outputs import ModelOutput\nclass Output(ModelOutput):\n    x: int = 0\n",
    "vllm/outputs.py": "class ModelOutput:\n    def of_tokens(self):\n        pass\n",
}


@pytest.mark.parametrize(
    ("line", "changed", "expected"),
    [
        pytest.param("return Output.of_nothing(x)", {}, [], id="no class has it"),
        pytest.param("return Output.of_tokens(x)", {}, ["of_tokens"], id="vLLM's class has it"),
        pytest.param(
            "return Output.of_nothing(x)",
            {"vllm/outputs.py": "from pydantic import BaseModel\nclass ModelOutput(BaseModel):\n    pass\n"},
            ["of_nothing"],
            id="a base may have it",
        ),
        pytest.param("return x.output.of_nothing(x)", {}, ["of_nothing"], id="nobody knows the class"),
        pytest.param("return Outputs.of_nothing(x)", {}, ["of_nothing"], id="nobody knows the name"),
    ],
)
def test_a_call_of_what_no_tree_defines_is_not_missed(
    line: str, changed: Mapping[str, str], expected: list[str]
) -> None:
    head = GPU_HEAD + "from vllm_omni.outputs import Output\n"
    text = gpu(PLAIN.replace("return x", f"{line}\n    return x"), head=head)
    given = job(npu(PLAIN), text, vllm=VLLM)
    assert symbols(given, "RS202") == [line.split("(")[0].rpartition(".")[2]]
    trees = world(**{GPU_AR: text, **OUTPUTS, **changed})
    assert symbols(replace(given, world=trees), "RS202") == expected
