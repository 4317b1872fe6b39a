"""RS202 and RS207: what only a GPU can have, as far as the code of the models and runners shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from check_samples import OMNI_GPU_BASE, dedent, found, job, symbols
from parity_samples import PLAIN, gpu, npu
from verify_samples import TextTree

from runner_sync.model import Source
from runner_sync.verify.check_job import CheckJob
from runner_sync.verify.trees.surroundings import Surroundings

VLLM = "class GPUModelRunner:\n    def execute_model(self, x):\n        self.plain(x)\n        return x\n"
MODEL = "vllm_omni/model_executor/models/talker.py"

TALKER = """
import torch
from typing import Protocol
from vllm_omni.platforms import current_omni_platform

class Asked(Protocol):
    def graph_request(self, rows): ...

class Talker(torch.nn.Module):
    def __init__(self):
        use_graphs = current_omni_platform.is_cuda()
        self._use_graphs = use_graphs
        self.wants_graphs = use_graphs and self.config.graphs
        self._buckets = {}
    def graph_request(self, rows):
        if not self.has_room(rows) or not self._use_graphs:
            return None
        if rows not in self._buckets:
            return None
        return self._buckets[rows]
    def enter_graph(self, rows):
        self._rows = rows
"""

RUNNER = """
def execute_model(self, x):
    rows = self.input_batch.rows[:x]
    request = self._request_graph(rows)
    is_captured = False
    if request is not None:
        x.padded = request.padded
        is_captured = request.is_new
    is_graph = request is not None
    self.plain(x)
    is_entered = False
    if is_graph:
        self._refresh_rows(request)
        is_entered = self._enter_graph(x)
        is_graph = is_entered
    if is_entered:
        self._enter_graph(None)
    return x

def _request_graph(self, rows):
    hook = getattr(self.model, "graph_request", None)
    if not callable(hook):
        return None
    request = hook(rows)
    if request is None:
        return None
    return request.padded_to(self.most_rows)

def _refresh_rows(self, request):
    self.rows.copy_(request.rows)

def _enter_graph(self, rows):
    hook = getattr(self.model, "enter_graph", None)
    if not callable(hook):
        return False
    hook(rows)
    return True
"""


def given_models(runner: str = RUNNER, models: Mapping[str, str] | None = None, **bases: str) -> CheckJob:
    """The runner, and the texts of models around it."""
    files = {path: dedent(text) for path, text in (models or {MODEL: TALKER}).items()}
    tree = TextTree(Source("vllm-omni", "path", "vllm-omni"), files)
    given = job(npu(PLAIN), gpu(runner), vllm=VLLM, files=files, **bases)  # type: ignore[arg-type]
    return replace(given, around=lambda: Surroundings({"vllm-omni": tree}, ("vllm_omni/worker",)))


def missing(given: CheckJob) -> list[str]:
    return [*symbols(given, "RS202"), *symbols(given, "RS207")]


def changed(old: str, new: str, text: str = TALKER) -> Mapping[str, str]:
    assert old in text
    return {MODEL: text.replace(old, new)}


def test_what_only_a_model_with_cuda_graphs_asks_for_is_not_missed() -> None:
    """The locals, buffers and the second hook serve the first one, to which the only model answers nothing."""
    assert missing(given_models()) == []


def test_without_the_texts_of_the_models_it_is_missed() -> None:
    """The second hook only matters behind the first one."""
    assert symbols(replace(given_models(), around=None), "RS207") == ["graph_request"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("current_omni_platform.is_cuda()", "current_omni_platform.has_graphs()", id="another question"),
        pytest.param("platform.is_cuda()", "platform.is_cuda() or self.config.graphs", id="another way to have it"),
        pytest.param("self._use_graphs = use_graphs", "self._use_graphs = True", id="always"),
        pytest.param(
            "        self._buckets = {}", "        self._buckets = {}\n        self._use_graphs = x", id="set again"
        ),
        pytest.param("or not self._use", "and not self._use", id="the other half may be true"),
        pytest.param(
            "            return None\n        if rows", "            return 1\n        if rows", id="an answer"
        ),
        pytest.param(
            "            return None\n        if rows", "            pass\n        if rows", id="no answer yet"
        ),
        pytest.param(
            "    def graph_request(self, rows):\n        if not",
            "    def graph_request(self, rows):\n        self.count(rows)\n        if not",
            id="it does something first",
        ),
        pytest.param("(self, rows): ...", "(self, rows):\n        return self.row", id="another model"),
        pytest.param(
            "    def graph_request(self, rows):\n        if not",
            "    @cached\n    def graph_request(self, rows):\n        if not",
            id="a decorator may answer",
        ),
        pytest.param(
            "        self._buckets = {}",
            "        self._buckets = {}\n        self.register_buffer('_use_graphs', x)",
            id="registered by its name",
        ),
        pytest.param(
            "    def enter_graph",
            "    def start(self):\n        setattr(self, self.name, 1)\n    def enter_graph",
            id="by name",
        ),
    ],
)
def test_a_model_that_may_answer_elsewhere_is_missed(old: str, new: str) -> None:
    assert "graph_request" in missing(given_models(models=changed(old, new)))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("def graph_request(self, rows):\n    return rows\nclass X:\n    is_cuda()\n", id="a function"),
        pytest.param("class Other:\n    def graph_request(self, rows):\n        return rows\n", id="asks for no GPU"),
        pytest.param("def patch(talker):\n    talker._use_graphs = True\n", id="sets the flag"),
        pytest.param("def patch(self):\n    self._use_graphs = True\n", id="sets the flag as if it were the class"),
        pytest.param("def patch(talker):\n    setattr(talker, '_use_graphs', True)\n", id="sets the flag by its name"),
        pytest.param("class NPUTalker(Talker):\n    pass\n", id="derives from it"),
        pytest.param("def patch(m):\n    m.graph_request = torch.cuda.is_available()\n", id="sets the hook"),
    ],
)
def test_another_file_that_may_make_a_model_answer_is_seen(text: str) -> None:
    models = {MODEL: TALKER, "vllm_omni/platforms/npu/models/talker.py": text}
    assert "graph_request" in missing(given_models(models=models))


def test_a_model_of_vllm_may_have_the_hook_too() -> None:
    texts = {"vllm/models/other.py": "class Other:\n    def graph_request(self, rows):\n        return rows\n"}
    vllm = TextTree(Source("vllm", "path", "vllm"), texts)
    omni = TextTree(Source("vllm-omni", "path", "vllm-omni"), {MODEL: TALKER})
    around = Surroundings({"vllm-omni": omni, "vllm": vllm}, ("vllm_omni/worker",))
    assert "graph_request" in missing(replace(given_models(), around=lambda: around))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param("if is_graph:", "if is_graph or x.is_long:", ["enter_graph"], id="another reason"),
        pytest.param("is_graph = request is not None", "is_graph = x.is_long", ["enter_graph"], id="another value"),
        pytest.param("self.plain(x)\n", "self.plain(x)\n    self._enter_graph(x)\n", ["enter_graph"], id="always"),
        pytest.param("    is_graph = is_entered", "    is_graph = x.is_long", [], id="set where it is never reached"),
    ],
)
def test_what_also_runs_for_another_reason_is_missed(old: str, new: str, expected: list[str]) -> None:
    assert old in RUNNER
    assert symbols(given_models(RUNNER.replace(old, new)), "RS207") == expected


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("import is_graph", id="an import"),
        pytest.param("from vllm_omni.x import g as is_graph", id="another name"),
        pytest.param("def is_graph(): pass", id="a function"),
        pytest.param("global is_graph", id="a global"),
        pytest.param("for is_graph in x: pass", id="a loop"),
        pytest.param("is_graph, y = x", id="unpacked"),
        pytest.param("is_graph |= x.is_long", id="added to"),
        pytest.param("print(is_graph := x.is_long)", id="in an expression"),
        pytest.param("try: pass\n    except x as is_graph: pass", id="an error"),
    ],
)
def test_a_local_that_is_bound_otherwise_may_be_true(line: str) -> None:
    text = RUNNER.replace("    is_graph = request is not None", f"    {line}\n    is_graph = request is not None")
    assert symbols(given_models(text), "RS207") == ["enter_graph"]


def test_an_error_that_a_context_may_swallow_ends_nothing() -> None:
    text = RUNNER.replace("    if is_graph:", "    with suppress(x.error):\n        raise x.error\n    if x.is_long:")
    assert symbols(given_models(text), "RS207") == ["enter_graph"]


ASK = """
def load_model(self):
    self.flag = getattr(self.model, "wants_graphs", False)
"""


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param("import torch", "import torch", [], id="false without CUDA"),
        pytest.param("use_graphs and self", "use_graphs or self", ["wants_graphs"], id="it may be true"),
        pytest.param(
            "        self._buckets", "        self.wants_graphs += 1\n        self._buckets", ["wants_graphs"], id="+="
        ),
    ],
)
def test_a_flag_that_needs_cuda_is_not_missed(old: str, new: str, expected: list[str]) -> None:
    assert symbols(given_models(ASK, changed(old, new)), "RS207") == expected


def test_a_flag_that_some_model_lacks_counts_by_its_default() -> None:
    """A model without the flag is taken to have the default, which is true here."""
    assert symbols(given_models(ASK.replace("False", "True")), "RS207") == ["wants_graphs"]


BEHIND = """
def sample_tokens(self, x):
    is_async = self._is_async()
    if is_async:
        self._postprocess_early(x)
    return x

def _is_async(self):
    if not self._has_flag(self.model, "async_output"):
        return False
    return not self.plain(x) or self._has_flag(self.model, "eager_output")

def _postprocess_early(self, x):
    if self._has_flag(self.model, "eager_output"):
        self.plain(x)

def _has_flag(self, model, name):
    return bool(getattr(model, name, False))
"""


def test_a_hook_behind_another_one_is_told_with_it() -> None:
    (only,) = found(given_models(BEHIND), "RS207")
    assert only.symbol == "async_output"
    assert only.message.endswith("; the same goes for `eager_output`, which only matters behind it.")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("    if is_async:\n        self", "    self", id="it is asked for in any case"),
        pytest.param("    if is_async:", "    if is_async or x:", id="it may be asked for without the other"),
        pytest.param("        return False\n", "        return x\n", id="without the other one it may be true"),
        pytest.param("        return False\n    return", "        self.plain(x)\n    return", id="it goes on"),
    ],
)
def test_a_hook_that_matters_without_the_other_one_is_told_itself(old: str, new: str) -> None:
    assert old in BEHIND
    assert set(symbols(given_models(BEHIND.replace(old, new)), "RS207")) == {"async_output", "eager_output"}


def test_of_two_hooks_that_need_each_other_one_is_told() -> None:
    both = ASK.replace("self.flag = ", "both = ").replace("wants_graphs", "first") + "    if both:\n"
    text = both + '        self.flag = getattr(self.model, "second", False)\n'
    (only,) = found(given_models(text), "RS207")
    assert (only.symbol, "`second`" in only.message) == ("first", True)


KERNELS = '''
import triton

def attach_bounds(x):
    """Attach the upper bounds that the Triton kernel reads."""
    x.bound = max(x.rows)

def scale_rows(x):
    """Scale."""
    x.scale = max(x.rows)
'''


def attaching(name: str, *, where: str = "    ") -> str:
    line = f"from vllm_omni.attention.kernels import {name}"
    body = f"def _attach(self, x):\n    {line}\n\n    {name}(x)\n"
    return OMNI_GPU_BASE.replace(
        "    pass\n", "".join(f"{where}{part}\n" if part else "\n" for part in body.split("\n"))
    )


@pytest.mark.parametrize(
    ("name", "kernels", "expected"),
    [
        pytest.param("attach_bounds", KERNELS, [], id="it says that it is for Triton"),
        pytest.param("attach_bounds", KERNELS.replace("Triton kernel", "kernel"), ["_attach"], id="it does not"),
        pytest.param("scale_rows", KERNELS, ["_attach"], id="only its neighbour does"),
    ],
)
def test_a_helper_that_hands_over_to_code_for_triton_is_not_missed(
    name: str, kernels: str, expected: list[str]
) -> None:
    files = {"vllm_omni/attention/kernels.py": kernels}
    calling = PLAIN.replace("return x", "self._attach(x)\n    return x")
    given = job(npu(PLAIN), gpu(calling), vllm=VLLM, gpu_base=attaching(name), files=files)
    assert symbols(given, "RS202") == expected


def test_a_helper_whose_function_npu_code_calls_itself_is_missed() -> None:
    files = {"vllm_omni/attention/kernels.py": KERNELS}
    calling = PLAIN.replace("return x", "self._attach(x)\n    return x")
    own = "def _scale(self, x):\n    attach_bounds(x)\n"
    given = job(npu(PLAIN + "\n" + own), gpu(calling), vllm=VLLM, gpu_base=attaching("attach_bounds"), files=files)
    assert symbols(given, "RS202") == ["_attach"]


SHARED = "def execute_model(self, x):\n    self.plain(x)\n    self.count_rows(x)\n    self.note_rows(x)\n    return x\n"
GRAPHS = """    request = self._request_graph(x)
    if request is not None:
        self._refresh_rows(request)
    return x
"""


@pytest.mark.parametrize(
    ("models", "expected"),
    [
        pytest.param({MODEL: TALKER}, [], id="no model asks for graphs"),
        pytest.param(
            changed("current_omni_platform.is_cuda()", "True"), ["GPUARModelRunner.execute_model"], id="one does"
        ),
    ],
)
def test_a_twin_that_gained_what_comes_to_nothing_is_not_behind(models: Mapping[str, str], expected: list[str]) -> None:
    helpers = RUNNER[RUNNER.index("def _request_graph") :]
    now = SHARED.replace("    return x\n", GRAPHS) + "\n" + helpers
    given = job(npu(SHARED), gpu(now), vllm=VLLM, earlier={"0.26.0": gpu(SHARED)}, files=models)
    around = given_models(models=models).around
    assert symbols(replace(given, around=around), "RS208") == expected
