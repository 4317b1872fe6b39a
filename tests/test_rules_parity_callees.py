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


CACHE = "vllm_omni/core/cache.py"
WRITES = """
import torch

class Cache:
    def __init__(self):
        self._pending = None
    def schedule_write(self, x):
        \"\"\"Copy on a stream.\"\"\"
        if not torch.cuda.is_available():
            return
        self._pending = x
    def drain_writes(self):
        if self._pending is None:
            return 0
        self._pending.wait()
        self._pending = None
        return 1
"""
ASKED = "from vllm.platforms import current_platform\n        if not current_platform.is_cuda():"


@pytest.mark.parametrize(
    ("line", "old", "new", "expected"),
    [
        pytest.param("schedule_write", "", "", [], id="it returns without CUDA"),
        pytest.param("schedule_write", "if not torch.cuda.is_available():", ASKED, [], id="it asks the platform"),
        pytest.param("drain_writes", "", "", [], id="it returns without what only CUDA sets"),
        pytest.param("schedule_write", "if not torch", "if torch", ["schedule_write"], id="it returns with CUDA"),
        pytest.param(
            "schedule_write",
            "            return\n",
            "            raise ValueError\n",
            ["schedule_write"],
            id="it fails",
        ),
        pytest.param(
            "schedule_write",
            "        if not",
            "        self.count = 1\n        if not",
            ["schedule_write"],
            id="it counts first",
        ),
        pytest.param(
            "schedule_write", "if not torch.cuda", "if not torch.npu", ["schedule_write"], id="it returns without NPU"
        ),
        pytest.param(
            "drain_writes",
            "self._pending = None\n    def",
            "self._pending = 1\n    def",
            ["drain_writes"],
            id="set at first",
        ),
        pytest.param("drain_writes", "is None", "is not None", ["drain_writes"], id="it returns with it"),
        pytest.param("other_writes", "", "", ["other_writes"], id="nobody knows the method"),
    ],
)
def test_a_call_that_does_nothing_without_cuda_is_not_missed(
    line: str, old: str, new: str, expected: list[str]
) -> None:
    head = GPU_HEAD + "from vllm_omni.core.cache import Cache\n"
    calling = PLAIN.replace("return x", f"self.cache.{line}(x)\n    return x")
    text = gpu(f"def __init__(self):\n    self.cache = Cache()\n{calling}", head=head)
    files = {CACHE: WRITES.replace(old, new)}
    assert symbols(job(npu(PLAIN), text, vllm=VLLM, files=files), "RS202") == expected


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
        pytest.param(
            "x.label = f'{self._short(x.name)}'",
            "def _short(self, name):\n    return re.sub(r'\\W', '_', name)\n",
            ["_short"],
            id="a backslash in an f-string",
        ),
        pytest.param(
            "x.ids = [self._clamp(x.ids, x.size)]",
            "def _clamp(self, ids, most):\n    return re.sub(r'\\W', '_', ids)\n",
            ["_clamp"],
            id="a backslash elsewhere",
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
        pytest.param("self.output.of_nothing(x)", {}, [], id="nor has the class of the attribute"),
        pytest.param("self.output.of_tokens(x)", {}, ["of_tokens"], id="the class of the attribute has it"),
        pytest.param("self.either.of_nothing(x)", {}, ["of_nothing"], id="the attribute may be anything"),
        pytest.param("return x.output.of_nothing(x)", {}, ["of_nothing"], id="nobody knows the class"),
        pytest.param("return Outputs.of_nothing(x)", {}, ["of_nothing"], id="nobody knows the name"),
    ],
)
def test_a_call_of_what_no_tree_defines_is_not_missed(
    line: str, changed: Mapping[str, str], expected: list[str]
) -> None:
    head = GPU_HEAD + "from vllm_omni.outputs import Output\n"
    init = "def __init__(self, made):\n    self.output = Output()\n    self.either = Output()\n    self.either = made\n"
    text = gpu(init + PLAIN.replace("return x", f"{line}\n    return x"), head=head)
    given = job(npu(PLAIN), text, vllm=VLLM)
    assert symbols(given, "RS202") == [line.split("(")[0].rpartition(".")[2]]
    trees = world(**{GPU_AR: text, **OUTPUTS, **changed})
    assert symbols(replace(given, world=trees), "RS202") == expected
