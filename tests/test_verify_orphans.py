"""An override that nothing calls since its base lost or renamed the method (RS315)."""

from __future__ import annotations

import pytest
from verify_samples import NPU, find, npu, symbols, world

from runner_sync.verify import breakage

UPSTREAM = """\
from vllm.runner import GPUModelRunner
class NPUModelRunner(GPUModelRunner):
    def run(self):
        {call}
    def {name}(self, rows):
        kept = list(rows)
        self.copied = kept
        return kept
"""
BEFORE = UPSTREAM.format(call="return self.to_list(1)", name="to_list")
RENAMED = UPSTREAM.format(call="return self.tokens_to_list(1)", name="tokens_to_list")
GONE = "from vllm.runner import GPUModelRunner\nclass NPUModelRunner(GPUModelRunner):\n    def run(self): ...\n"
OWN = "def to_list(self, rows):\n    return super().to_list(rows)"
GPU = "from vllm.runner import GPUModelRunner\nclass OmniGPUModelRunner(GPUModelRunner):\n"
WORKER = "class Worker:\n    def start(self):\n        self.model_runner.to_list(1)\n"

PROPERTY = "@property\ndef to_list(self):\n    return 1\n"

# What both worlds have, what only the old one and what only the new one has.
ORPHANS = {
    "renamed upstream": ({"npu": npu(OWN)}, {}, {"ascend": RENAMED}),
    "gone upstream": ({"npu": npu(OWN)}, {}, {"ascend": GONE}),
    "it hands on to nobody": ({"npu": npu("def to_list(self, rows):\n    return rows")}, {}, {"ascend": RENAMED}),
    "it is there, but nothing calls it": (
        {"npu": npu(OWN)},
        {},
        {"ascend": BEFORE.replace("self.to_list(1)", "1")},
    ),
    "vLLM has it still": (
        {"npu": npu(OWN)},
        {},
        {"ascend": GONE, "vllm": "def helper(): ...\nclass GPUModelRunner:\n    def to_list(self, rows): ...\n"},
    ),
    "only the base's own calls its parent's": (
        {"npu": npu(OWN)},
        {},
        {
            "ascend": BEFORE.replace("self.to_list(1)", "1").replace("list(rows)", "super().to_list(rows)"),
            "vllm": "def helper(): ...\nclass GPUModelRunner:\n    def to_list(self, rows): ...\n",
        },
    ),
    "only upstream's worker called it": (
        {"npu": npu(OWN)},
        {"ascend": BEFORE.replace("self.to_list(1)", "1"), "ascend_worker": WORKER},
        {"ascend": RENAMED, "ascend_worker": WORKER.replace("to_list", "tokens_to_list")},
    ),
    "another class has one of that name for itself": (
        {
            "npu": npu(OWN),
            "vllm_ascend/other.py": "class Other(Base):\n    def to_list(self, rows):\n"
            "        return self.to_list(1) or super().to_list(rows)\n",
        },
        {},
        {"ascend": RENAMED},
    ),
    "a property": ({"npu": npu(PROPERTY)}, {}, {"ascend": RENAMED}),
    "a property with a setter is one": (
        {"npu": npu(f"{PROPERTY}@to_list.setter\ndef to_list(self, value): ...")},
        {},
        {"ascend": RENAMED},
    ),
    "under a decorator that only looks": ({"npu": npu(f"@torch.inference_mode()\n{OWN}")}, {}, {"ascend": RENAMED}),
    "a made up name that begins otherwise": (
        {"npu": npu(OWN + "\ndef again(self, kind):\n    return getattr(self, f'{kind}_to')")},
        {},
        {"ascend": RENAMED},
    ),
    "text with the same start": (
        {"npu": npu(OWN + "\ndef again(self, kind):\n    return f'go to_{kind}', 'to_'")},
        {},
        {"ascend": RENAMED},
    ),
    "a class body binds it once more": ({"npu": npu(f"to_list = None\n{OWN}")}, {}, {"ascend": RENAMED}),
}
CALLED = {
    "the base is as it was": ({"npu": npu(OWN)}, {}, {}),
    "the base class has an attribute of that name": (
        {"npu": npu(OWN)},
        {},
        {"ascend": GONE + "    to_list = None\n"},
    ),
    "it is there, and only its own class calls it on another": (
        {"npu": npu(OWN)},
        {},
        {"ascend": BEFORE.replace("self.to_list(1)", "1").replace("list(rows)", "rows.to_list(1)")},
    ),
    "it is there, and another method calls it": (
        {"npu": npu(OWN)},
        {},
        {"ascend": BEFORE.replace("list(rows)", "[self.to_list(row) for row in rows]")},
    ),
    "it overrode nothing before": ({"npu": npu(OWN), "ascend": GONE}, {}, {}),
    "nobody called it before": (
        {"npu": npu(OWN)},
        {"ascend": BEFORE.replace("self.to_list(1)", "1")},
        {"ascend": RENAMED},
    ),
    "omni's own method calls it": (
        {"npu": npu(OWN + "\ndef again(self):\n    return self.to_list(1)")},
        {},
        {"ascend": RENAMED},
    ),
    "omni's GPU runner calls it": (
        {"npu": npu(OWN), "gpu": f"{GPU}    def again(self):\n        return self.to_list(1)\n"},
        {},
        {"ascend": RENAMED},
    ),
    "upstream's worker calls it": ({"npu": npu(OWN), "ascend_worker": WORKER}, {}, {"ascend": RENAMED}),
    "omni's engine calls it": ({"npu": npu(OWN), "vllm_omni/engine.py": WORKER}, {}, {"ascend": RENAMED}),
    "omni's engine names it": (
        {"npu": npu(OWN), "vllm_omni/engine.py": "def f(rpc):\n    rpc('to_list')\n"},
        {},
        {"ascend": RENAMED},
    ),
    "upstream asks for it": (
        {"npu": npu(OWN)},
        {},
        {"ascend": GONE.replace("...", "getattr(self, 'to_list', None)")},
    ),
    "its namesake of another object calls it": (
        {"npu": npu("def to_list(self, rows):\n    return self.batch.to_list(rows)")},
        {},
        {"ascend": RENAMED},
    ),
    "a base outside the trees may call it": (
        {"npu": npu(OWN, bases="OmniGPUModelRunner, NPUModelRunner, Outside", head="from torch import Outside")},
        {},
        {"ascend": RENAMED},
    ),
    "its name is made up of parts": (
        {"npu": npu(OWN + "\ndef again(self, kind):\n    return getattr(self, f'to_{kind}')(1)")},
        {},
        {"ascend": RENAMED},
    ),
    "its name is put together": (
        {"npu": npu(OWN + "\ndef again(self, kind):\n    return getattr(self, 'to_' + kind)(1)")},
        {},
        {"ascend": RENAMED},
    ),
    "its name is filled in": (
        {"npu": npu(OWN), "vllm/engine.py": "def f(rpc, kind):\n    rpc('to_%s' % kind)\n"},
        {},
        {"ascend": RENAMED},
    ),
    "the class has it under another name": ({"npu": npu(f"{OWN}\nrun = to_list")}, {}, {"ascend": RENAMED}),
    "the class makes a property of it": ({"npu": npu(f"{OWN}\nrows = property(to_list)")}, {}, {"ascend": RENAMED}),
    "vLLM's engine calls it": (
        {"npu": npu(OWN), "vllm/engine/core.py": "def f(one):\n    one.to_list(1)\n"},
        {},
        {"ascend": RENAMED},
    ),
    "vLLM's entry points name it": (
        {"npu": npu(OWN), "vllm/entrypoints/llm.py": "def f(llm):\n    llm.collective_rpc('to_list')\n"},
        {},
        {"ascend": RENAMED},
    ),
    "a decorator may register it": (
        {"npu": npu("@register('lists')\ndef to_list(self, rows):\n    return rows")},
        {},
        {"ascend": RENAMED},
    ),
    "a special method": (
        {"npu": npu("def __len__(self):\n    return 1")},
        {"ascend": GONE.replace("...", "return self.__len__()") + "    def __len__(self): ...\n"},
        {"ascend": GONE},
    ),
}


def orphans(both: dict[str, str], before: dict[str, str], after: dict[str, str]) -> list[tuple[str, str]]:
    old = world(**{"ascend": BEFORE, **both, **before})
    new = world(**{"ascend": BEFORE, **both, **after})
    assert [pair for pair in symbols(find(new)) if pair[0] == "RS315"] == []
    return [pair for pair in symbols(find(new, old)) if pair[0] == "RS315"]


@pytest.mark.parametrize("name", ORPHANS)
def test_an_override_that_nothing_calls_any_more(name: str) -> None:
    assert orphans(*ORPHANS[name]) == [("RS315", "to_list")]


@pytest.mark.parametrize("name", CALLED)
def test_a_method_that_something_may_call(name: str) -> None:
    assert orphans(*CALLED[name]) == []


def test_an_orphan_of_the_gpu_class_between_is_told_where_it_stands() -> None:
    gpu = f"{GPU}    def to_list(self, rows):\n        return super().to_list(rows)\n"
    new, old = (world(npu=npu("pass"), gpu=gpu, ascend=text) for text in (RENAMED, BEFORE))
    (found,) = find(new, old)
    assert (found.code, found.path, found.unit) == ("RS315", "vllm_omni/gpu.py", "OmniGPUModelRunner.to_list")
    assert "`NPUModelRunner.to_list`" in found.message
    assert "the new `tokens_to_list` is most like it" in found.message


def test_a_successor_is_only_named_when_it_is_like_what_is_gone() -> None:
    other = RENAMED.replace("kept = list(rows)", "self.stream.wait()").replace("return kept", "del rows")
    new, old = (world(npu=npu(OWN), ascend=text) for text in (other.replace("self.copied = kept", "pass"), BEFORE))
    (found,) = breakage.find(new, old, [NPU])
    assert "most like it" not in found.message


BASE = "class WorkerBase:\n    def __init__(self, runner):\n        self.model_runner = runner\n"
GPU_WORKER = "from vllm.worker_base import WorkerBase\nclass Worker(WorkerBase):\n    def start(self):\n        {}\n"
NPU_WORKER = "from vllm.worker_base import WorkerBase\nclass NPUWorker(WorkerBase):\n    def start(self):\n        {}\n"
WORKER_PATH = "vllm_omni/npu_worker.py"
OMNI_WORKER = "from vllm_ascend.worker import NPUWorker\nclass OmniWorker(NPUWorker):\n    pass\n"


def is_orphaned(gpu: str = "self.model_runner.to_list(1)", *, head: str = "", own: str = "pass", **more: str) -> bool:
    files = {
        "npu": npu(OWN),
        "vllm/worker_base.py": BASE,
        "vllm/gpu_worker.py": GPU_WORKER.format(gpu),
        "ascend_worker": head + NPU_WORKER.format(own),
        WORKER_PATH: OMNI_WORKER,
        **more,
    }
    trees = [world(ascend=text, **files) for text in (RENAMED, BEFORE)]
    return ("RS315", "to_list") in symbols(breakage.find(*trees, [NPU, WORKER_PATH]))


@pytest.mark.parametrize(
    "call",
    [
        "self.model_runner.to_list(1)",
        "run = self.model_runner.to_list\n        run(1)",
        "self.all[0].runner.to_list(1)",
    ],
)
def test_what_only_a_worker_of_another_platform_calls(call: str) -> None:
    assert is_orphaned(call)


HELD = """\
class Held:
    def __init__(self, runner):
        self.runner = runner
    def run(self):
        self.runner.to_list(1)
"""


@pytest.mark.parametrize(
    ("user", "expected"),
    [
        pytest.param({"gpu": "Held(self.model_runner).run()"}, True, id="by a worker of another platform"),
        pytest.param({"own": "Held(self.model_runner).run()"}, False, id="by the NPU worker"),
        pytest.param({"vllm/other.py": "from vllm.held import Held\nHeld(1).run()\n"}, False, id="by another module"),
        pytest.param({"vllm/other.py": "from vllm.held import Held as H\nH(1).run()\n"}, False, id="by another name"),
        pytest.param({}, False, id="by nothing that is known"),
    ],
)
def test_what_only_a_helper_calls_runs_where_the_helper_is_used(user: dict[str, str], expected: bool) -> None:
    assert is_orphaned(**{"vllm/held.py": HELD, **user}) is expected


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"gpu": "self.rpc('to_list')"}, id="in quotes"),
        pytest.param({"gpu": "make_runner().to_list(1)"}, id="of an object from elsewhere"),
        pytest.param({"own": "self.model_runner.to_list(1)"}, id="of the NPU worker as well"),
        pytest.param({"head": "from vllm.gpu_worker import Worker\n"}, id="a worker that vllm-ascend imports"),
        pytest.param({"head": "import vllm.gpu_worker\n"}, id="in a module that vllm-ascend imports"),
        pytest.param({"head": "from vllm import gpu_worker\n"}, id="in a module that it imports from its package"),
        pytest.param(
            {WORKER_PATH: OMNI_WORKER.replace("vllm_ascend.worker", "vllm_ascend.other")}, id="no base shared"
        ),
        pytest.param({"vllm/warm.py": "def warm(worker):\n    worker.model_runner.to_list(1)\n"}, id="a function"),
        pytest.param(
            {"vllm/held.py": "class Held:\n    def run(self):\n        self.runner.to_list(1)\n"}, id="a helper"
        ),
        pytest.param(
            {"vllm/worker_base.py": f"{BASE}    def go(self):\n        self.model_runner.to_list(1)\n"}, id="a base"
        ),
    ],
)
def test_what_may_be_called_on_npu(options: dict[str, str]) -> None:
    assert not is_orphaned(**options)
