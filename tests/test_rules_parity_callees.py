"""RS202: what the callee of a call that only the GPU runner has decides about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from check_samples import GPU_AR, GPU_HEAD, NPU_HEAD, OMNI_GPU_BASE, dedent, job, symbols
from parity_samples import PLAIN, gpu, npu
from verify_samples import world

VLLM = "class GPUModelRunner:\n    def execute_model(self, x):\n        self.plain(x)\n        return x\n"

KERNELS = """
import triton

def attach_upper_bounds(x):
    x.bound = max(x.rows)
"""
ATTACH = """
def attach_bounds(self, x):
    from vllm_omni.attention.fish_backend import attach_upper_bounds

    attach_upper_bounds(x)
"""
PUBLISH = """
def publish_rows(self, x):
    if self.sink is None:
        return
    self.sink.write(x)
"""


def sharing(shared: str) -> str:
    parts = dedent(shared).split("\n")
    return OMNI_GPU_BASE.replace("    pass\n", "".join(f"    {part}\n" if part else "\n" for part in parts))


def doing(line: str) -> str:
    return PLAIN.replace("return x", f"{line}\n    return x")


@pytest.mark.parametrize("gpu_body", ["", "def __init__(self, sink):\n    self.sink = sink\n"])
def test_a_hook_that_waits_for_what_someone_else_sets_is_missed(gpu_body: str) -> None:
    """vLLM's runner may set it, a subclass, or a worker."""
    given = gpu(gpu_body + doing("self.publish_rows(x)"))
    for first in ("", "def __init__(self):\n    self.sink = None\n"):
        assert symbols(job(npu(PLAIN), given, vllm=VLLM, gpu_base=sharing(first + PUBLISH)), "RS202") == [
            "publish_rows"
        ]


def test_a_hook_that_hands_over_to_a_module_with_kernels_is_missed() -> None:
    """Not all that such a module does runs on kernels: NPU got a call of this kind in 0.26.0."""
    files = {"vllm_omni/attention/fish_backend.py": KERNELS}
    given = job(npu(PLAIN), gpu(doing("self.attach_bounds(x)")), vllm=VLLM, gpu_base=sharing(ATTACH), files=files)
    assert symbols(given, "RS202") == ["attach_bounds"]


COPY = "def copy_rows(self, x):\n    self.rows = empty(x, pin_memory=True)\n"


@pytest.mark.parametrize(
    ("shared", "more", "expected"),
    [
        pytest.param(COPY, "", [], id="the hook needs the GPU"),
        pytest.param(
            COPY,
            "self.check_rows(x)\n    self.note_rows(x)\n    ",
            ["check_rows", "note_rows"],
            id="the next ones do not",
        ),
        pytest.param(COPY.replace("pin_memory=True", "1"), "", ["copy_rows"], id="it does not need the GPU"),
        pytest.param(COPY + "def plain(self, x):\n    self.copy_rows(x)\n", "", [], id="another one needs it, too"),
    ],
)
def test_an_inherited_hook_that_needs_the_gpu_is_not_missed(shared: str, more: str, expected: list[str]) -> None:
    given = job(npu(PLAIN), gpu(doing(f"self.copy_rows(x)\n    {more}")), vllm=VLLM, gpu_base=sharing(shared))
    assert symbols(given, "RS202") == expected


def test_a_method_that_npu_has_itself_needs_no_gpu() -> None:
    """Its GPU twin works on a stream, but the statement that hands the method over works on NPU."""
    on_stream = doing("self.keep_later(self.execute_model)").replace(
        "self.plain(x)", "stream = torch.cuda.Stream()\n    self.plain(x)"
    )
    assert symbols(job(npu(PLAIN), gpu(on_stream), vllm=VLLM), "RS202") == ["keep_later"]


NOTE = "def note_rows(self, x):\n    if not torch.cuda.is_available():\n        return\n    self.rows.append(x)\n"


@pytest.mark.parametrize(
    ("npu_body", "expected"),
    [
        pytest.param("", [], id="NPU inherits the idle hook"),
        pytest.param("def note_rows(self, x):\n    self.rows.append(x)\n", ["note_rows"], id="NPU has a working one"),
        pytest.param(NOTE, [], id="NPU has an idle one"),
    ],
)
def test_a_hook_is_idle_if_the_one_of_npu_is(npu_body: str, expected: list[str]) -> None:
    given = job(npu(npu_body + PLAIN), gpu(doing("self.note_rows(x)")), vllm=VLLM, gpu_base=sharing(NOTE))
    assert symbols(given, "RS202") == expected


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
    assert caching(f"self.cache.{line}(x)", writes=WRITES.replace(old, new)) == expected


def caching(line: str, *, made: str = "", writes: str = WRITES, npu_text: str = "", gpu_base: str = "") -> list[str]:
    head = GPU_HEAD + "from vllm_omni.core.cache import Cache\n"
    init = f"def __init__(self, given):\n    self.cache = Cache()\n{made and f'    {made}'}\n"
    given = job(
        npu_text or npu(PLAIN),
        gpu(init + doing(line), head=head),
        vllm=VLLM,
        files={CACHE: writes},
        gpu_base=gpu_base or OMNI_GPU_BASE,
    )
    return symbols(given, "RS202")


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        pytest.param("self.cache = None", [], id="nothing"),
        pytest.param("self.cache = given", ["schedule_write"], id="what the caller gives"),
        pytest.param("self.cache = make_cache(self)", ["schedule_write"], id="what a function makes"),
        pytest.param("self.cache = Cache() if given else make()", ["schedule_write"], id="one of two"),
        pytest.param("self.cache, self.other = given", ["schedule_write"], id="an item"),
        pytest.param("setattr(self, 'cache', given)", ["schedule_write"], id="by its name"),
        pytest.param("setattr(self, given, 1)", ["schedule_write"], id="perhaps by its name"),
        pytest.param("setattr(self, 'other', given)", [], id="another attribute"),
        pytest.param("setattr(given, self.name, 1)", [], id="of another object"),
    ],
)
def test_an_object_that_may_be_another_is_not_idle(made: str, expected: list[str]) -> None:
    assert caching("self.cache.schedule_write(x)", made=made) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param("limit = 3", [], id="NPU inherits the idle method"),
        pytest.param(
            "def schedule_write(self, x):\n        self.rows.append(x)", ["schedule_write"], id="NPU has another"
        ),
    ],
)
def test_the_object_of_npu_decides_as_well(body: str, expected: list[str]) -> None:
    head = f"{NPU_HEAD}from vllm_omni.core.cache import Cache\nclass NPUCache(Cache):\n    {body}\n"
    text = npu("def __init__(self):\n    self.cache = NPUCache()\n" + PLAIN, head=head)
    assert caching("self.cache.schedule_write(x)", npu_text=text) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("self.cache.schedule_write(self.take_rows(x))", ["take_rows"]),
        ("self.cache.schedule_write(x.rows)", []),
        ("x.written = self.cache.schedule_write(x)", ["schedule_write"]),
    ],
)
def test_what_stands_around_an_idle_call_is_missed(line: str, expected: list[str]) -> None:
    base = sharing("def take_rows(self, x):\n    self.rows.add(x)\n    return x\n")
    assert caching(line, gpu_base=base) == expected


@pytest.mark.parametrize(
    ("made", "writes", "expected"),
    [
        pytest.param("", WRITES.replace("_pending = x", "_pending, self.b = x"), [], id="unpacked with CUDA only"),
        pytest.param("", f"{WRITES}    def fill(self, x):\n        self._pending = None\n", [], id="set to nothing"),
        pytest.param(
            "",
            f"{WRITES}    def fill(self, x):\n        self._pending, self.b = x\n",
            ["drain_writes"],
            id="unpacked",
        ),
        pytest.param(
            "", f"{WRITES}    def fill(self, x):\n        self._pending += x\n", ["drain_writes"], id="added to"
        ),
        pytest.param("self.cache._pending = given", WRITES, ["drain_writes"], id="set by the runner"),
        pytest.param("", WRITES.replace("Cache:", "Cache(Base):"), ["drain_writes"], id="perhaps set by a base"),
    ],
)
def test_a_method_that_waits_for_what_may_be_set_elsewhere_is_missed(
    made: str, writes: str, expected: list[str]
) -> None:
    assert caching("self.cache.drain_writes(x)", made=made, writes=writes) == expected


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


def made_by(decorator: str = "", *, base: str = "", more: str = "") -> Mapping[str, str]:
    head = "from dataclasses import dataclass\nfrom typing import NamedTuple\nfrom vllm.extending import extended\n"
    return {"vllm/outputs.py": f"{head}{decorator}class ModelOutput({base}):\n    rows: int = 0\n{more}"}


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
        pytest.param("return Output.of_nothing(x)", made_by("@dataclass(frozen=True)\n"), [], id="a dataclass"),
        pytest.param(
            "return Output.of_nothing(x)", made_by("@extended\n"), ["of_nothing"], id="a decorator may add it"
        ),
        pytest.param(
            "return Output.of_nothing(x)",
            made_by(more="    def __new__(cls):\n        return made()\n"),
            ["of_nothing"],
            id="the object may be another",
        ),
        pytest.param("return Output._make(x)", made_by(base="NamedTuple"), ["_make"], id="a base outside has it"),
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
