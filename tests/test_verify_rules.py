"""Each RS3xx rule finds its break in small trees and keeps silent on the near misses."""

from __future__ import annotations

import pytest
from verify_samples import GPU, NPU, PROFILE, ascend, find, npu, symbols, world

from runner_sync.verify import breakage
from runner_sync.verify.trees.world import World

FINDS = {
    "a name that the module lost": (
        npu("pass", head="from vllm.runner import gone"),
        [("RS301", "vllm.runner.gone")],
    ),
    "a module that the package lost": (
        npu("pass", head="import vllm.lost"),
        [("RS301", "vllm.lost")],
    ),
    "an import inside a method": (
        npu("def m(self):\n    from vllm_ascend.lost import f\n    return f"),
        [("RS301", "vllm_ascend.lost.f")],
    ),
    "a name of a module that lost it": (
        npu("def m(self):\n    return runner.gone(1)", head="from vllm import runner"),
        [("RS301", "vllm.runner.gone")],
    ),
    "an attribute that a class lacks": (
        npu("def m(self):\n    return Batch.get_instance()", head="from vllm.runner import Batch"),
        [("RS308", "Batch.get_instance")],
    ),
    "a call when the module is imported": (
        npu("pass", head="LOGGER = helper()"),
        [("RS302", "helper(a)")],
    ),
    "a call in the body of the class": (
        npu("size: int = helper(1, gone=2)"),
        [("RS306", "helper(gone=)")],
    ),
    "a decorator's call": (
        npu("@helper(1, 2, 3)\ndef m(self):\n    pass"),
        [("RS302", "helper()")],
    ),
    "a default that its class lacks": (
        npu("def m(self, *, batch=Batch.EMPTY):\n    pass", head="from vllm.runner import Batch"),
        [("RS308", "Batch.EMPTY")],
    ),
    "too many positional arguments": (
        npu("def m(self):\n    return helper(1, 2, 3)"),
        [("RS302", "helper()")],
    ),
    "a required argument left out": (
        npu("def m(self):\n    return self.forward(1)"),
        [("RS302", "forward(tokens)")],
    ),
    "super() reaches vllm-ascend, not vLLM": (
        npu("def forward(self, tokens):\n    return super().forward(tokens)"),
        [("RS302", "forward(tokens)")],
    ),
    "a call through the class counts self": (
        npu("def m(self):\n    return NPUModelRunner.forward(self, 1)"),
        [("RS302", "forward(tokens)")],
    ),
    "a generated constructor": (
        npu("def m(self):\n    return State(1, 2, 3)", head="from vllm.runner import State"),
        [("RS302", "State()")],
    ),
    "a method of a typed attribute": (
        npu("def m(self):\n    self.batch.add()"),
        [("RS302", "add(row)")],
    ),
    "a keyword that is gone": (
        npu("def m(self):\n    return helper(1, gone=2)"),
        [("RS306", "helper(gone=)")],
    ),
    "a keyword that is gone, in a dictionary made for the call": (
        npu("def m(self, x):\n    options = dict(gone=2, **x)\n    return helper(1, **options)"),
        [("RS306", "helper(gone=)")],
    ),
    "a keyword that is gone, in a dictionary written into the call": (
        npu("def m(self, x):\n    return helper(1, **{'gone': 2, **x})"),
        [("RS306", "helper(gone=)")],
    ),
    "a dictionary written into the call lacks a required argument": (
        npu("def m(self):\n    return self.forward(**{'tokens': 1})"),
        [("RS302", "forward(padded)")],
    ),
    "a dictionary made for the call lacks a required argument": (
        npu("def m(self):\n    options = {'tokens': 1}\n    return self.forward(**options)"),
        [("RS302", "forward(padded)")],
    ),
    "two values where vllm-ascend returns three": (
        npu("def m(self):\n    a, b = self.prepare(1)\n    return a, b"),
        [("RS303", "prepare")],
    ),
    "a state of another size": (
        npu(
            "def m(self):\n    self.state = State(1)\n    a, b, c = self.state\n    return a, b, c",
            head="from vllm.runner import State",
        ),
        [("RS303", "state")],
    ),
    "an attribute nobody defines": (
        npu("def m(self):\n    return self.gone"),
        [("RS304", "gone")],
    ),
    "what a setattr of some names refuses": (
        npu(
            "def m(self, n):\n    known = {'late', 'later'}\n    if n not in known:\n        raise ValueError\n"
            "    setattr(self, n, 1)\n    return self.gone"
        ),
        [("RS304", "gone")],
    ),
    "a method nobody defines": (
        npu("def m(self):\n    return self.gather(1)"),
        [("RS304", "gather")],
    ),
    "an override without the new keyword": (
        npu("def initialize(self, config):\n    NPUModelRunner.initialize(self, config)"),
        [("RS305", "initialize(pool=)")],
    ),
    "a tensor used as a buffer": (
        npu("def m(self):\n    return self.seq_lens.np"),
        [("RS309", "seq_lens")],
    ),
    "a buffer used as a tensor": (
        npu("def m(self):\n    return self.positions[:3]"),
        [("RS309", "positions")],
    ),
    "an attribute that a constructed object lacks": (
        npu("def m(self):\n    return self.batch.gone_row"),
        [("RS308", "Batch.gone_row")],
    ),
    "an attribute that a copy lacks": (
        npu("def m(self):\n    batch = self.batch\n    batch = deepcopy(batch)\n    return batch.gone_row"),
        [("RS308", "Batch.gone_row")],
    ),
    "an attribute asked for elsewhere": (
        npu("def m(self):\n    a = getattr(self, 'gone', None)\n    return a, self.gone"),
        [("RS304", "gone")],
    ),
    "an attribute of another object asked for": (
        npu("def m(self, x):\n    if hasattr(x, 'gone'):\n        return self.gone"),
        [("RS304", "gone")],
    ),
}


CONDITIONS = {
    "self.use_conversion": True,
    "inversion_mask is not None": True,
    "self.CONVERSION": True,
    "self.vllm_version >= 3": False,
    "vllm_version_is('1')": False,
    "torch.__version__ > '2'": False,
    "LooseVersion(x) > y": False,
    "VLLM_VERSION == '1'": False,
    "find_spec('lmcache')": False,
    "util.find_spec('lmcache') is not None": False,
    "self.find_specimen()": True,
    "NOT_TYPE_CHECKING": True,
}


@pytest.mark.parametrize("condition", CONDITIONS)
def test_only_a_condition_on_a_version_means_that_a_branch_is_for_other_trees(condition: str) -> None:
    head = f"if {condition}:\n    from vllm.runner import gone"
    found = [pair for pair in symbols(find(world(npu=npu("pass", head=head)))) if pair[1] == "vllm.runner.gone"]
    assert bool(found) == CONDITIONS[condition]


@pytest.mark.parametrize(
    ("manager", "is_found"),
    [
        ("suppress(AttributeError)", False),
        ("contextlib.suppress(AttributeError)", False),
        ("record_function('run')", True),
        ("suppressed_logs()", True),
    ],
)
def test_only_a_with_that_swallows_errors_guards_what_may_be_missing(manager: str, is_found: bool) -> None:
    text = npu(f"def m(self):\n    with {manager}:\n        return self.gone")
    assert (symbols(find(world(npu=text))) == [("RS304", "gone")]) == is_found


@pytest.mark.parametrize("name", FINDS)
def test_finds(name: str) -> None:
    text, expected = FINDS[name]
    assert symbols(find(world(npu=text))) == expected


NOOPS = {
    "calls that fit when the module is imported": npu(
        "size = helper(1, key=2)\n@helper(1)\ndef m(self, x=helper(1)):\n    pass", head="LOGGER = helper('x')"
    ),
    "a guarded call when the module is imported": npu(
        "pass", head="try:\n    LOGGER = helper()\nexcept TypeError:\n    LOGGER = None"
    ),
    "what is not evaluated at import": npu(
        "def m(self, x: 'Batch.EMPTY' = None) -> 'Batch.EMPTY':\n    pass\nlater: helper()",
        head="from __future__ import annotations\nfrom vllm.runner import Batch",
    ),
    "a guarded import": npu(
        "pass", head="try:\n    from vllm.runner import gone\nexcept ImportError:\n    gone = None"
    ),
    "an import for type checkers": npu("pass", head="if TYPE_CHECKING:\n    from vllm.runner import gone"),
    "a version switch": npu("pass", head="if vllm_version_is('1'):\n    from vllm.runner import gone"),
    "a package outside the trees": npu("pass", head="from torch.gone import nothing"),
    "a compiled module": npu("pass", head="import vllm._C"),
    "a submodule is a name of its package": npu("pass", head="from vllm import runner"),
    "a name of a module with __getattr__": npu("def m(self):\n    return lazy.gone", head="from vllm_omni import lazy"),
    "hasattr guards a module's name": npu(
        "def m(self):\n    return runner.gone if hasattr(runner, 'gone') else 1", head="from vllm import runner"
    ),
    "star arguments may supply anything": npu("def m(self, *a, **k):\n    return self.forward(*a), helper(**k)"),
    "a dictionary made for the call takes more from elsewhere": npu(
        "def m(self, x):\n    options = dict(tokens=1, **x)\n    return self.forward(**options)"
    ),
    "a dictionary written into the call takes more from elsewhere": npu(
        "def m(self, x):\n    return self.forward(**{'tokens': 1, **x}), helper(**{'a': 1, x: 2})"
    ),
    "a dictionary that a condition chooses": npu("def m(self, x):\n    return helper(1, **({'gone': 2} if x else {}))"),
    "a dictionary gets more keys": npu(
        "def m(self):\n    options = {}\n    options['padded'] = options['tokens'] = 1\n"
        "    return self.forward(**options)"
    ),
    "a dictionary is handed on": npu(
        "def m(self, fill):\n    options = {'gone': 1}\n    fill(options)\n    return helper(1, **options)"
    ),
    "one of two dictionaries": npu(
        "def m(self, a):\n    options = {}\n    if a:\n        options = {'padded': 1, 'tokens': 2}\n"
        "    return self.forward(**options)"
    ),
    "a local name shadows the import": npu("def m(self, helper):\n    return helper(1, 2, 3, gone=4)"),
    "an assigned callable hides the method": npu("def m(self, f):\n    self.forward = f\n    self.forward(1)"),
    "a starred target takes any size": npu("def m(self):\n    a, *b = self.prepare(1)\n    return a, b"),
    "the right size": npu("def m(self):\n    a, b, c = self.prepare(1)\n    return a, b, c"),
    "hasattr guards the name": npu("def m(self):\n    return self.gone if hasattr(self, 'gone') else None"),
    "a branch that leaves guards the rest": npu(
        "def m(self):\n    if not hasattr(self, 'gone'):\n        return None\n    return self.gone"
    ),
    "a name that holds the answer guards": npu(
        "def m(self):\n    there = getattr(self, 'gone', None)\n    while there:\n        there = self.gone"
    ),
    "an assertion guards the rest": npu("def m(self):\n    assert hasattr(self, 'gone')\n    return self.gone"),
    "a comprehension guards its own": npu(
        "def m(self, xs):\n    return [self.gone for x in xs if hasattr(self, 'gone')]"
    ),
    "try guards the read": npu(
        "def m(self):\n    try:\n        return self.gone\n    except AttributeError:\n        return 1"
    ),
    "set by a walrus, a loop, a with and a tuple": npu(
        "def m(self):\n    (self.a, self.b), self.c = 1, 2\n    with open('x') as self.d:\n        pass\n"
        "    for self.e in []:\n        pass\n    return self.a, self.b, self.c, self.d, self.e"
    ),
    "set by setattr": npu("def m(self):\n    setattr(self, 'late', 1)\n    return self.late"),
    "a dynamic setattr": npu("def m(self, n):\n    setattr(self, n, 1)\n    return self.anything"),
    "a setattr of some names, one of them": npu(
        "def m(self, n):\n    if n not in ('late', 'later'):\n        raise ValueError\n    setattr(self, n, 1)\n"
        "    return self.late"
    ),
    "a setattr before others are refused": npu(
        "def m(self, n):\n    setattr(self, n, 1)\n    if n not in ('late',):\n        raise ValueError\n"
        "    return self.anything"
    ),
    "a setattr of names that are worked out": npu(
        "def m(self, n):\n    if n not in self.config:\n        raise ValueError\n    setattr(self, n, 1)\n"
        "    return self.anything"
    ),
    "a base outside the trees": npu(
        "def m(self):\n    return self.anything", bases="torch.nn.Module", head="import torch"
    ),
    "what every object has": npu("def m(self):\n    return self.__class__, self.__dict__"),
    "an attribute of vllm-ascend": npu("def m(self):\n    return self.sp"),
    "an override that takes everything": npu("def initialize(self, *args, **kwargs):\n    return None"),
    "an override with the new keyword": npu("def initialize(self, config, pool=None):\n    return None"),
    "a tensor used as a tensor": npu("def m(self):\n    return self.seq_lens[:2], self.seq_lens.cpu()"),
    "a buffer used as a buffer": npu("def m(self):\n    return self.positions.gpu[:2], self.positions.cpu[0]"),
    "a tuple method of a state": npu(
        "def m(self):\n    s = State(1)\n    return s._replace(tokens=2), s.count(1)",
        head="from vllm.runner import State",
    ),
}


@pytest.mark.parametrize("name", NOOPS)
def test_keeps_silent(name: str) -> None:
    assert symbols(find(world(npu=NOOPS[name], **{"vllm_omni/lazy.py": "def __getattr__(name): ..."}))) == []


def test_a_conditional_base_is_read_in_both_branches() -> None:
    text = npu(
        "def m(self):\n    return self.only_310, self.forward(1, 2)",
        head="if is_310p():\n    from vllm_ascend.runner310 import NPUModelRunner310 as NPUModelRunner\n",
    )
    other = (
        "from vllm_ascend.runner import NPUModelRunner\n"
        "class NPUModelRunner310(NPUModelRunner):\n    only_310 = 1\n    def forward(self, tokens): ...\n"
    )
    found = find(world(npu=text, **{"vllm_ascend/runner310.py": other}))
    assert symbols(found) == [("RS304", "only_310"), ("RS302", "forward()")]
    assert "only `NPUModelRunner310`, one branch of a conditional base, in the MRO" in found[0].message
    assert "vllm_ascend/runner310.py:4" in found[1].message
    below = text.replace("return self.only_310,", "if is_310p():\n            self.only_310\n        return")
    assert symbols(find(world(npu=below, **{"vllm_ascend/runner310.py": other}))) == [("RS302", "forward()")]


@pytest.mark.parametrize("is_first", [True, False])
def test_of_two_branches_that_fail_the_general_one_is_told(is_first: bool) -> None:
    general, special = "from vllm_ascend.runner import {}", "from vllm_ascend.runner310 import {}310 as {}"
    branches = (special, general) if is_first else (general, special)
    text = "if is_310p():\n    {}\nelse:\n    {}\n".format(*branches).replace("{}", "NPUModelRunner")
    body = "def m(self):\n    a, b = self.prepare(1)\n    self.forward(1)\n"
    runner = npu(body, head=text).replace("from vllm_ascend.runner import NPUModelRunner\n", "", 1)
    other = (
        "from vllm_ascend.runner import NPUModelRunner\n"
        "class NPUModelRunner310(NPUModelRunner):\n    def prepare(self, tokens):\n        return 1, 2, 3, 4\n"
        "    def forward(self, a, b, c): ...\n"
    )
    found = find(world(npu=runner, **{"vllm_ascend/runner310.py": other}))
    assert symbols(found) == [("RS303", "prepare"), ("RS302", "forward(tokens)")]
    assert all("vllm_ascend/runner.py" in finding.message for finding in found)


def test_a_flag_that_is_never_set_makes_a_warning() -> None:
    body = "def m(self):\n    if self.cascade and self.config:\n        return self.gone\n"
    asleep = ascend("def __init__(self):\n    self.cascade = False")
    awake = ascend("def __init__(self, c):\n    self.cascade = c")
    assert [f.severity for f in find(world(npu=npu(body), ascend=asleep))] == ["warning"]
    assert [f.severity for f in find(world(npu=npu(body), ascend=awake))] == ["error"]


def test_a_worker_calls_the_runner_it_holds() -> None:
    worker = (
        "class NPUWorker:\n    def __init__(self):\n        self.model_runner: Unknown | None = None\n"
        "    def warm_up(self):\n        self.model_runner.forward(1, tokens=2)\n"
    )
    runner = "def forward(self, padded):\n    return padded"
    holder = (
        "from vllm_ascend.worker import NPUWorker\nfrom vllm_omni.npu import R\n"
        "class W(NPUWorker):\n    def init_device(self):\n        self.model_runner = R(1)\n"
    )
    new = world(npu=npu(runner), ascend_worker=worker, **{"vllm_omni/worker.py": holder})
    found = find(new, None, [NPU, "vllm_omni/worker.py"])
    assert symbols(found) == [("RS305", "forward(tokens=)")]
    assert "vllm_ascend/worker.py:5" in found[0].message


HELD_CLASSES = {
    "in its own body": ("", "runner_cls = R", ["forward(tokens=)"]),
    "with an annotation": ("", "runner_cls: type = R", ["forward(tokens=)"]),
    "in place of a base's": ("runner_cls = Other", "runner_cls = R", ["forward(tokens=)"]),
    "a base's, with another in its place": ("runner_cls = R", "runner_cls = Other", []),
    "declared and never set": ("", "runner_cls: type", []),
    "chosen at run time": ("", "runner_cls = R\n    def pick(self, other):\n        self.runner_cls = other", []),
    "no class": ("", "runner_cls = make(R)", []),
}


@pytest.mark.parametrize("name", HELD_CLASSES)
def test_a_worker_that_names_its_runner_in_a_class_body(name: str) -> None:
    inherited, own, expected = HELD_CLASSES[name]
    worker = (
        "class NPUWorker:\n    def __init__(self):\n        self.model_runner: Unknown | None = None\n"
        "    def warm_up(self):\n        self.model_runner.forward(1, tokens=2)\n"
    )
    holder = (
        "from vllm_ascend.worker import NPUWorker\nfrom vllm_omni.npu import R\n"
        "class Other:\n    def forward(self, padded, tokens): ...\n"
        f"class Base(NPUWorker):\n    {inherited or 'pass'}\n"
        f"class W(Base):\n    {own}\n    def init_device(self):\n        self.model_runner = self.runner_cls(1)\n"
    )
    runner = npu("def forward(self, padded):\n    return padded")
    new = world(npu=runner, ascend_worker=worker, **{"vllm_omni/worker.py": holder})
    found = find(new, None, [NPU, "vllm_omni/worker.py"])
    assert [finding.symbol for finding in found if finding.code == "RS305"] == expected


def test_a_call_that_the_hidden_method_refuses_too_is_not_the_overrides_fault() -> None:
    upstream = ascend("def start(self):\n    self.initialize(1, is_profiling=True)\ndef initialize(self, config): ...")
    assert symbols(find(world(npu=npu("def initialize(self, config): ..."), ascend=upstream))) == []


def test_an_override_returns_what_inherited_code_unpacks() -> None:
    upstream = ascend(
        "def run(self):\n    a, b, c = self.prepare(1)\n    return a\ndef prepare(self, tokens):\n    return 1, 2, 3"
    )
    short = npu("def prepare(self, tokens):\n    return 1, 2")
    right = npu("def prepare(self, tokens):\n    return 1, 2, 3")
    assert symbols(find(world(npu=short, ascend=upstream))) == [("RS303", "prepare")]
    assert symbols(find(world(npu=right, ascend=upstream))) == []


ONE_ALONE = {
    "one of the values alone": ("-> tuple[int, int]:\n    rows = self.rows\n    return rows", ["prepare"]),
    "one of the values alone, without annotation": (":\n    rows, _ = self.cut(tokens)\n    return rows", ["prepare"]),
    "both": (":\n    rows = self.rows\n    return rows, rows", []),
    "what the hidden method returns": (":\n    rows = super().prepare(tokens)\n    return rows", []),
    "something else": (":\n    both = self.both\n    return both", []),
    "one alone, and both": (":\n    if tokens:\n        return self.rows\n    rows = 1\n    return rows, rows", []),
}


@pytest.mark.parametrize("name", ONE_ALONE)
def test_an_override_returns_alone_what_the_hidden_method_returns_in_a_tuple(name: str) -> None:
    upstream = ascend(
        "def run(self):\n    a, b = self.prepare(1)\n    return a\n"
        "def prepare(self, tokens):\n    rows = self.rows\n    return rows, rows\n"
        "def cut(self, tokens):\n    return self.step(tokens)"
    )
    body, expected = ONE_ALONE[name]
    found = find(world(npu=npu(f"def prepare(self, tokens){body}"), ascend=upstream))
    assert [finding.symbol for finding in found if finding.code == "RS303"] == expected


def test_inherited_gpu_code_must_fit_what_vllm_ascend_overrides() -> None:
    gpu = (
        "from vllm.runner import GPUModelRunner\nclass OmniGPUModelRunner(GPUModelRunner):\n"
        "    def run(self):\n        self.initialize(1, is_profiling=True)\n"
    )
    found = find(world(npu=npu("pass"), gpu=gpu))
    assert [(f.code, f.symbol, f.path) for f in found] == [("RS306", "initialize(is_profiling=)", "vllm_omni/gpu.py")]


GONE = "from vllm.runner import gone\n"
BESIDE = "vllm_omni/beside.py"
AT_START = {
    "in an inherited module": ({"gpu": GONE + GPU + "    pass\n"}, [("vllm_omni/gpu.py", "vllm.runner.gone")]),
    "a module that is gone": (
        {"gpu": f"import vllm.gone\n{GPU}    pass\n"},
        [("vllm_omni/gpu.py", "vllm.gone")],
    ),
    "a star import of one": (
        {"gpu": f"from vllm.gone import *\n{GPU}    pass\n"},
        [("vllm_omni/gpu.py", "vllm.gone.*")],
    ),
    "a name for type checkers": (
        {"gpu": f"from vllm.size import Size\n{GPU}    pass\n", "vllm/size.py": "if TYPE_CHECKING:\n    Size = int"},
        [("vllm_omni/gpu.py", "vllm.size.Size")],
    ),
    "two imports away": (
        {"gpu": f"from vllm_omni.beside import Rows\n{GPU}    pass\n", BESIDE: f"{GONE}class Rows: ..."},
        [(BESIDE, "vllm.runner.gone")],
    ),
    "by a relative import": (
        {"gpu": f"from . import beside\n{GPU}    pass\n", BESIDE: GONE},
        [(BESIDE, "vllm.runner.gone")],
    ),
    "under a condition": ({"gpu": f"if is_cuda():\n    {GONE}{GPU}    pass\n"}, []),
    "for type checking": ({"gpu": f"if TYPE_CHECKING:\n    {GONE}{GPU}    pass\n"}, []),
    "whose failure is handled": ({"gpu": f"try:\n    {GONE}except ImportError: ...\n{GPU}    pass\n"}, []),
    "in a function": ({"gpu": f"{GPU}    def run(self):\n        {GONE}"}, []),
    "in the package": ({"vllm_omni/__init__.py": GONE}, []),
    "in what is imported under a condition": (
        {"gpu": f"if is_cuda():\n    import vllm_omni.beside\n{GPU}    pass\n", BESIDE: GONE},
        [],
    ),
    "in what nothing imports": ({BESIDE: GONE}, []),
}


@pytest.mark.parametrize("name", AT_START)
def test_an_import_that_fails_as_soon_as_a_runner_is_imported(name: str) -> None:
    changed, expected = AT_START[name]
    new = world(npu=npu("pass"), **changed)
    assert [(f.path, f.symbol) for f in find(new)] == expected
    assert find(new, new) == breakage.find(new, None, [NPU], since=new, imports=False) == []
    assert [(f.path, f.symbol) for f in breakage.find_inherited(new, [NPU])[0]] == expected


def test_a_module_of_omnis_own_that_is_gone_is_told_whatever_the_older_pair_was() -> None:
    """A module of vLLM's that neither has is told when the pair is compared with nothing."""
    new = world(npu=npu("pass", head="from vllm_omni.beside import step\nfrom vllm.beside import other"))
    older = world(vllm="class GPUModelRunner:\n    pass\n").trees | {"vllm-omni": new.trees["vllm-omni"]}
    old = World(older, surroundings=PROFILE.surroundings)
    assert symbols(find(new, old)) == [("RS301", "vllm_omni.beside.step")]
    assert symbols(find(new)) == [("RS301", "vllm_omni.beside.step"), ("RS301", "vllm.beside.other")]
    branch = new.with_omni(world(npu=npu("pass", head="from vllm_omni.beside import step")).trees["vllm-omni"])
    assert symbols(find(new, branch)) == [("RS301", "vllm.beside.other")], "what a branch found is no business of it"


OLD_AND_NEW = {
    "a new first parameter": (
        "def run(self):\n    return self.step(1, 2)",
        "def step(self, tokens, positions=None): ...",
        "def step(self, padded, tokens=None, positions=None): ...",
        [("RS307", "step")],
    ),
    "arguments with the names of where they land": (
        "def run(self, tokens):\n    return self.step(tokens, self.positions)",
        "def step(self, prefill, tokens, positions=None): ...\npositions = None",
        "def step(self, tokens, positions=None): ...\npositions = None",
        [],
    ),
    "an argument with the name of where it landed": (
        "def run(self, tokens):\n    return self.step(tokens, 2)",
        "def step(self, tokens, positions=None): ...",
        "def step(self, padded, tokens=None, positions=None): ...",
        [("RS307", "step")],
    ),
    "a call that upstream makes, too": (
        "def run(self):\n    return self.step(1, 2)",
        "def step(self, prefill, tokens): ...",
        "def step(self, tokens, positions): ...\ndef own(self):\n    return self.step(1, 2)",
        [],
    ),
    "another call than upstream makes": (
        "def run(self):\n    return self.step(1, 2)",
        "def step(self, prefill, tokens): ...",
        "def step(self, tokens, positions): ...\ndef own(self):\n    return self.step(1, 3)",
        [("RS307", "step")],
    ),
    "a removed first parameter": (
        "def run(self):\n    return self.step(1, 2)",
        "def step(self, prefill, tokens): ...",
        "def step(self, tokens, positions): ...",
        [("RS307", "step")],
    ),
    "a new required parameter that an open dictionary cannot know of": (
        "def run(self, x):\n    options = dict(tokens=1, **x)\n    return self.step(**options)",
        "def step(self, tokens, positions): ...",
        "def step(self, padded, tokens, positions): ...",
        [("RS302", "step(padded)")],
    ),
    "a call that was written for the new order": (
        "def run(self):\n    return self.step(0, 1, 2)",
        "def step(self, tokens, positions): ...",
        "def step(self, padded, tokens, positions): ...",
        [],
    ),
    "a renamed parameter is no move": (
        "def run(self):\n    return self.step(1, 2)",
        "def step(self, tokens, positions): ...",
        "def step(self, ids, positions): ...",
        [],
    ),
    "keywords do not move": (
        "def run(self):\n    return self.step(tokens=1)",
        "def step(self, tokens): ...",
        "def step(self, padded=0, tokens=None): ...",
        [],
    ),
    "a result that is newly dropped": (
        "def run(self):\n    self.step()",
        "def step(self):\n    pass",
        "def step(self):\n    return self.finish\ndef finish(self): ...",
        [("RS311", "step")],
    ),
    **{
        f"a result that its caller knows: {value}": (
            "def run(self):\n    self.step()",
            "def step(self):\n    self.rows = 1",
            f"def step(self):\n    if self.config:\n        return {value}\n    self.rows = 1\n    return {value}",
            [],
        )
        for value in ("self", "True")
    },
    **{
        f"a result that says something: {one} or {two}": (
            "def run(self):\n    self.step()",
            "def step(self):\n    self.rows = 1",
            f"def step(self):\n    if self.config:\n        return {one}\n    self.rows = 1\n    return {two}",
            [("RS311", "step")],
        )
        for one, two in (("True", "False"), ("self", "1"), ("self.rows", "self.rows"))
    },
    "a result that was always dropped": (
        "def run(self):\n    self.step()",
        "def step(self):\n    return 1",
        "def step(self):\n    return 2",
        [],
    ),
    "what the old target broke as well is not new": (
        "def run(self):\n    return helper(1, 2, 3)",
        "def step(self): ...",
        "def step(self): ...",
        [],
    ),
}


MAKES_BUFFERS = """\
def _make_buffer(self, size, numpy=True):
    return Buffer(size)
def __init__(self, config):
    self.marks = self._make_buffer(3{})
def m(self):
    return self.marks.{}
"""


@pytest.mark.parametrize(
    ("asked", "attribute", "expected"),
    [(", numpy=False", "np", [("RS309", "marks")]), (", numpy=False", "cpu", []), ("", "np", [])],
)
def test_a_buffer_that_was_made_without_numpy_has_no_np(
    asked: str, attribute: str, expected: list[tuple[str, str]]
) -> None:
    text = npu(MAKES_BUFFERS.format(asked, attribute), head="from vllm.runner import Buffer")
    assert symbols(find(world(npu=text))) == expected


OVERRIDES = {
    "the same two in another order": ("tokens, padded", [("RS307", "forward")]),
    "in the same order": ("padded, tokens", []),
    "called otherwise": ("rows, tokens", []),
}


@pytest.mark.parametrize("name", OVERRIDES)
def test_an_override_takes_what_upstream_passes_by_position_in_its_order(name: str) -> None:
    parameters, expected = OVERRIDES[name]
    upstream = ascend("def run(self):\n    return self.forward(1, 2)\ndef forward(self, padded, tokens): ...")
    found = find(world(npu=npu(f"def forward(self, {parameters}): ..."), ascend=upstream))
    assert symbols(found) == expected


@pytest.mark.parametrize("name", OLD_AND_NEW)
def test_only_the_new_is_reported(name: str) -> None:
    body, before, after, expected = OLD_AND_NEW[name]
    new, old = world(npu=npu(body), ascend=ascend(after)), world(npu=npu(body), ascend=ascend(before))
    assert symbols(find(new, old)) == expected
    assert find(new, new) == []


def test_what_changed_together_with_its_call_has_not_moved() -> None:
    before = world(npu=npu("def run(self):\n    return self.step(1, 2)\ndef step(self, tokens, positions): ..."))
    after = world(
        npu=npu("def run(self):\n    return self.step(0, 1, 2)\ndef step(self, padded, tokens, positions): ...")
    )
    left = world(
        npu=npu("def run(self):\n    return self.step(1, 2)\ndef step(self, padded, tokens, positions=0): ...")
    )
    assert symbols(breakage.find(after, None, [NPU], since=before)) == []
    assert symbols(breakage.find(left, None, [NPU], since=before)) == [("RS307", "step")]


def test_a_world_that_only_tells_what_changed_hides_nothing() -> None:
    broken = world(npu=npu("def run(self):\n    return helper(1, 2, 3)"))
    assert symbols(breakage.find(broken, broken, [NPU])) == []
    assert symbols(breakage.find(broken, None, [NPU], since=broken)) == [("RS302", "helper()")]


def test_a_module_that_the_old_tree_lacks_is_all_new() -> None:
    text = npu("def m(self):\n    return self.gone")
    both, path = world(npu=text, **{"vllm_omni/extra.py": text}), "vllm_omni/extra.py"
    assert [f.path for f in find(both, world(npu=text), [NPU, path])] == [path]


@pytest.mark.parametrize(
    ("body", "head", "place"),
    [
        pytest.param("def m(self):\n    return self.gone", "", "self.gone", id="an attribute"),
        pytest.param("def m(self):\n    return 'é名', self.gone", "", "self.gone", id="behind longer characters"),
        pytest.param("def m(self):\n    'é'; from vllm.runner import gone", "", "gone", id="an import behind some"),
        pytest.param(
            "def initialize(self, config, é='名'): ...", "", "def initialize(self, config, é='名'", id="a head"
        ),
    ],
)
def test_a_finding_names_the_place_in_editor_columns(body: str, head: str, place: str) -> None:
    text = npu(body, head=head)
    (found,) = find(world(npu=text))
    line = text.split("\n")[found.line - 1]
    assert line[found.column - 1 :].startswith(place)
    assert found.end_column in (0, found.column + len(place))
    assert (found.path, found.severity) == (NPU, "error")


def test_a_tree_that_is_left_out_proves_nothing() -> None:
    text = npu("def m(self):\n    return self.gone, helper(1, 2, 3, 4)", head="from vllm.lost import f")
    assert symbols(find(world(npu=text, without=("vllm",)))) == []


def test_two_worlds_of_the_same_upstreams_share_what_both_have() -> None:
    new = world(npu=npu("pass"), gpu="class OmniGPUModelRunner: ...")
    other = world(npu=npu("pass"), gpu="class OmniGPUModelRunner:\n    hook = 1").tree_of("vllm_omni.npu")
    assert other is not None
    old = new.with_omni(other)
    assert old.module("vllm_omni.npu") is new.module("vllm_omni.npu") is not None
    assert old.module("vllm.runner") is new.module("vllm.runner") is not None
    texts = [getattr(one.module("vllm_omni.gpu"), "text", "") for one in (new, old)]
    assert ["hook" in text for text in texts] == [False, True]
