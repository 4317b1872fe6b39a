"""Each RS3xx rule finds its break in small trees and keeps silent on the near misses."""

from __future__ import annotations

import pytest
from verify_samples import NPU, PROFILE, find, npu, symbols, world

from runner_sync.errors import InputError
from runner_sync.verify import breakage
from runner_sync.verify.world import World

ASCEND = """\
from vllm.runner import GPUModelRunner
class NPUModelRunner(GPUModelRunner):
    {body}
"""

GPU = "from vllm.runner import GPUModelRunner\nclass OmniGPUModelRunner(GPUModelRunner):\n"


def ascend(body: str) -> str:
    return ASCEND.format(body=body.replace("\n", "\n    "))


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
    "a base outside the trees": npu("def m(self):\n    return self.anything", bases="torch.nn.Module"),
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


def test_a_flag_that_is_never_set_makes_a_warning() -> None:
    body = "def m(self):\n    if self.cascade and self.config:\n        return self.gone\n"
    asleep = ascend("def __init__(self):\n    self.cascade = False")
    awake = ascend("def __init__(self, c):\n    self.cascade = c")
    assert [f.severity for f in find(world(npu=npu(body), ascend=asleep))] == ["warning"]
    assert [f.severity for f in find(world(npu=npu(body), ascend=awake))] == ["error"]


def test_an_attribute_written_by_another_module_is_defined() -> None:
    worker = "def start(model_runner):\n    model_runner.late = 1\n"
    text = npu("def m(self):\n    return self.late")
    assert symbols(find(world(npu=text))) == [("RS304", "late")]
    assert symbols(find(world(npu=text, ascend_worker=worker))) == []


def test_a_patched_function_has_both_signatures() -> None:
    patch = "import vllm.runner\ndef helper(a, b, c): ...\nvllm.runner.helper = helper\n"
    text = npu("def m(self):\n    return helper(1, 2, 3)")
    assert symbols(find(world(npu=text))) == [("RS302", "helper()")]
    assert symbols(find(world(npu=text, ascend_patch=patch))) == []


def test_a_patched_method_and_attribute_count_as_defined() -> None:
    patch = (
        "from vllm.runner import GPUModelRunner\ndef late(self): ...\n"
        "GPUModelRunner.late = late\nsetattr(GPUModelRunner, 'flag', 1)\n"
    )
    text = npu("def m(self):\n    return self.late(), self.flag")
    assert symbols(find(world(npu=text))) == [("RS304", "late"), ("RS304", "flag")]
    assert symbols(find(world(npu=text, ascend_patch=patch))) == []


def test_a_name_that_a_patch_adds_exists() -> None:
    text = npu("pass", head="from vllm.runner import added")
    patch = "import vllm.runner\nvllm.runner.added = lambda: None\n"
    assert symbols(find(world(npu=text))) == [("RS301", "vllm.runner.added")]
    assert symbols(find(world(npu=text, ascend_patch=patch))) == []


FOR_TYPING = {
    "a definition": ("if TYPE_CHECKING:\n    Size = int", ["Size"]),
    "an import": ("if typing.TYPE_CHECKING:\n    from vllm.runner import Batch as Size", ["Size"]),
    "a definition in both branches": ("if TYPE_CHECKING:\n    Size = int\nelse:\n    Size = None", []),
    "a definition elsewhere, too": ("if TYPE_CHECKING:\n    Size = int\nSize = make()", []),
    "a definition in passing, too": ("if TYPE_CHECKING:\n    Size = int\nif (Size := make()): ...", []),
    "a definition in a comprehension, too": ("if TYPE_CHECKING:\n    Size = int\nany(Size := n for n in rows)", []),
    "a definition by a pattern, too": (
        "if TYPE_CHECKING:\n    Size = int\nmatch make():\n    case [Size, *_]: ...",
        [],
    ),
    "a definition in passing in a function": (
        "if TYPE_CHECKING:\n    Size = int\ndef f():\n    if (Size := make()): ...\ng = lambda: (Size := 1)",
        ["Size"],
    ),
    "a name that is only defined in passing": ("if (Size := make()): ...", []),
    "a name that is only defined by a pattern": ("match make():\n    case {**Size}: ...", []),
    "a definition where nobody checks types": ("if not TYPE_CHECKING:\n    Size = int", []),
    "a definition that may be wanted otherwise": ("if TYPE_CHECKING or debug:\n    Size = int", []),
    "a name that is made when it is asked for": ("if TYPE_CHECKING:\n    Size = int\ndef __getattr__(name): ...", []),
    "a name that a star may bring": ("from vllm.runner import *\nif TYPE_CHECKING:\n    Size = int", []),
}


@pytest.mark.parametrize("name", FOR_TYPING)
def test_a_name_that_only_type_checkers_see(name: str) -> None:
    text, expected = FOR_TYPING[name]
    trees = world(npu=npu("pass", head="from vllm.size import Size"), **{"vllm/size.py": text})
    assert symbols(find(trees)) == [("RS301", f"vllm.size.{size}") for size in expected]
    quoted = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from vllm.size import Size"
    assert find(world(npu=npu("pass", head=quoted), **{"vllm/size.py": text})) == []


def test_a_submodule_that_its_package_names_for_type_checkers() -> None:
    package = "if TYPE_CHECKING:\n    from vllm.sizes import small"
    files = {"vllm/sizes/__init__.py": package, "vllm/sizes/small.py": ""}
    assert find(world(npu=npu("pass", head="from vllm.sizes import small"), **files)) == []


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


def test_inherited_gpu_code_must_fit_what_vllm_ascend_overrides() -> None:
    gpu = (
        "from vllm.runner import GPUModelRunner\nclass OmniGPUModelRunner(GPUModelRunner):\n"
        "    def run(self):\n        self.initialize(1, is_profiling=True)\n"
    )
    found = find(world(npu=npu("pass"), gpu=gpu))
    assert [(f.code, f.symbol, f.path) for f in found] == [("RS306", "initialize(is_profiling=)", "vllm_omni/gpu.py")]


def test_an_attribute_whose_only_writer_is_hidden() -> None:
    upstream = ascend("def load(self):\n    self.cache = 1\ndef run(self):\n    return self.cache")
    hides = npu("def load(self):\n    return None")
    assert symbols(find(world(npu=hides, ascend=upstream))) == [("RS312", "cache")]
    assert symbols(find(world(npu=npu("def load(self):\n    super().load()"), ascend=upstream))) == []
    assert symbols(find(world(npu=npu("def load(self):\n    self.cache = 2"), ascend=upstream))) == []


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
    assert find(new, new) == breakage.find(new, None, [NPU], since=new) == []
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


SETS = "from vllm.runner import GPUModelRunner\nclass NPUModelRunner(GPUModelRunner):\n    {}\n"
BASE = "def helper(): ...\nclass GPUModelRunner:\n    def load(self):\n        {}\n    def start(self):\n        {}\n"
LOADS = SETS.format("def load(self):\n        return 1")
SET_BEFORE = BASE.format("pass", "self.cache = 1")
SET_NOW = BASE.format("self.cache = 1", "pass")
HIDDEN_UPSTREAM = {
    "only a method sets it now that vllm-ascend hides": ("self.cache", LOADS, SET_BEFORE, SET_NOW, True),
    "vllm-ascend calls the method": (
        "self.cache",
        LOADS.replace("return 1", "return super().load()"),
        SET_BEFORE,
        SET_NOW,
        False,
    ),
    "nobody hides it": ("self.cache", SETS.format("pass"), SET_BEFORE, SET_NOW, False),
    "vllm-ascend sets it, too": ("self.cache", LOADS.replace("return 1", "self.cache = 2"), SET_BEFORE, SET_NOW, False),
    "it was so before": ("self.cache", LOADS, SET_NOW, SET_NOW, False),
    "it is asked for": ("getattr(self, 'cache', None)", LOADS, SET_BEFORE, SET_NOW, False),
    "below a question": ("self.cache if hasattr(self, 'cache') else 1", LOADS, SET_BEFORE, SET_NOW, False),
}


@pytest.mark.parametrize("name", HIDDEN_UPSTREAM)
def test_an_attribute_whose_only_writer_upstream_hides_now(name: str) -> None:
    read, upstream, was, now, is_told = HIDDEN_UPSTREAM[name]
    given = {"npu": npu(f"def run(self):\n    return {read}"), "ascend": upstream}
    old, new = (world(**given, vllm=text) for text in (was, now))
    assert symbols(find(new, old)) == ([("RS312", "cache")] if is_told else [])
    assert symbols(find(new)) == []


def test_omnis_own_override_is_not_to_blame_for_what_upstreams_hides_as_well() -> None:
    given = {"npu": npu("def run(self):\n    return self.cache\ndef load(self):\n    return 2"), "ascend": LOADS}
    (found,) = find(world(**given, vllm=SET_NOW), world(**given, vllm=SET_BEFORE))
    assert (found.code, found.unit) == ("RS312", "R.run")
    assert "only a `load` sets it that `NPUModelRunner.load` hides" in found.message


def test_a_worker_that_sets_what_upstream_hides() -> None:
    given = {"npu": npu("def run(self):\n    return self.cache"), "ascend": LOADS}
    given["ascend_worker"] = "def start(runner):\n    runner.cache = 1\n"
    assert symbols(find(world(**given, vllm=SET_NOW), world(**given, vllm=SET_BEFORE))) == []


HIDING = {
    "vllm-ascend's only, and it is read": ("self.cache = 1", "pass", [("RS312", "cache")]),
    "which calls it": ("self.cache = 1", "super().load()", [("RS312", "cache")]),
    "and vllm-ascend's hides vLLM's": ("pass", "pass", []),
    "and vllm-ascend's calls vLLM's": ("super().load()", "pass", [("RS312", "cache")]),
}


@pytest.mark.parametrize("name", HIDING)
def test_an_attribute_whose_only_writer_two_omni_classes_hide(name: str) -> None:
    """The NPU override hides it by itself, whatever the GPU one between them does."""
    loads, between, expected = HIDING[name]
    given = {
        "npu": npu("def load(self):\n    return None"),
        "gpu": f"{GPU}    def load(self):\n        {between}\n",
        "ascend": ascend(f"def load(self):\n    {loads}\ndef run(self):\n    return self.cache"),
        "vllm": "def helper(): ...\nclass GPUModelRunner:\n    def load(self):\n        self.cache = 1\n",
    }
    assert symbols(find(world(**given))) == expected


FED = (
    GPU
    + """\
    def __init__(self):
        super().__init__()
        self.wants_rows = {default}
    def load(self):
        super().load()
        self.wants_rows = {value}
    def run(self):
        return {read}
"""
)


@pytest.mark.parametrize(
    ("default", "value", "read", "own", "expected"),
    [
        ("False", "self.model.rows", "self.wants_rows", "return None", ["wants_rows"]),
        ("set()", "self.model.rows", "getattr(self, 'wants_rows', None)", "return None", ["wants_rows"]),
        ("False", "self.model.rows", "self.wants_rows", "super().load()", []),
        ("False", "self.model.rows", "self.wants_rows", "self.wants_rows = self.model.rows", []),
        ("False", "True", "self.wants_rows", "return None", []),
        ("self.model.rows", "self.model.rows", "self.wants_rows", "return None", []),
        ("False", "self.model.rows", "self.model", "return None", []),
    ],
    ids=["hidden", "asked for", "called", "set", "a constant", "no default", "not read"],
)
def test_an_attribute_that_an_override_leaves_at_its_default(
    default: str, value: str, read: str, own: str, expected: list[str]
) -> None:
    upstream = ascend("def __init__(self):\n    self.model = build()\ndef load(self): ...")
    gpu = FED.format(default=default, value=value, read=read)
    found = find(world(npu=npu(f"def load(self):\n    {own}"), ascend=upstream, gpu=gpu))
    assert [finding.symbol for finding in found if finding.code == "RS313"] == expected


def test_what_a_method_of_vllm_ascend_sets_is_its_own_affair() -> None:
    upstream = ascend(
        "def __init__(self):\n    self.drafts = None\ndef load(self):\n    self.drafts = build()\n"
        "def run(self):\n    return self.drafts"
    )
    own = npu("def load(self):\n    return None")
    assert symbols(find(world(npu=own, ascend=upstream))) == []
    assert symbols(find(world(npu=own, ascend=upstream), world(npu=own, ascend=upstream))) == []


CAPTURES = """\
def __init__(self):
    self.capture = False
def load(self):
    {sets}
def run(self):
    return {reads}
"""


@pytest.mark.parametrize(
    ("own", "sets", "reads", "expected"),
    [
        pytest.param("return None", "self.capture = build()", "self.capture", ["capture"], id="set and read newly"),
        pytest.param("return None", "self.capture = True", "self.capture", [], id="another default"),
        pytest.param("return None", "self.capture = build()", "1", [], id="not read"),
        pytest.param("self.capture = build()", "self.capture = build()", "self.capture", [], id="set here, too"),
        pytest.param("super().load()", "self.capture = build()", "self.capture", [], id="set by the method behind"),
    ],
)
def test_what_a_hidden_method_of_vllm_ascend_sets_since_the_old_target(
    own: str, sets: str, reads: str, expected: list[str]
) -> None:
    before = ascend(CAPTURES.format(sets="pass", reads="1"))
    after = ascend(CAPTURES.format(sets=sets, reads=reads))
    text = npu(f"def load(self):\n    {own}")
    found = find(world(npu=text, ascend=after), world(npu=text, ascend=before))
    assert [finding.symbol for finding in found if finding.code == "RS313"] == expected


LATE = "vllm_omni/late.py"
LATE_RUNNER = "from vllm_omni.npu import R\nclass D(R):\n    def {name}(self):\n        return self.{reads}\n"


@pytest.mark.parametrize(
    ("own", "name", "expected"),
    [
        pytest.param("def load(self):\n    return None", "other", [], id="it inherits what was idle before"),
        pytest.param("def other(self):\n    return None", "load", ["capture"], id="its own override leaves it idle"),
        pytest.param("def other(self):\n    return None", "other", [], id="it overrides something else"),
    ],
)
def test_a_runner_that_the_old_tree_lacks_makes_nothing_old_new(own: str, name: str, expected: list[str]) -> None:
    upstream = ascend(CAPTURES.format(sets="self.capture = build()", reads="self.capture"))
    late = {LATE: LATE_RUNNER.format(name=name, reads="capture")}
    new = world(npu=npu(own), ascend=upstream, **late)
    before = new.with_omni(world(npu=npu(own)).trees["vllm-omni"])
    found = find(new, before, (NPU, LATE))
    assert [finding.symbol for finding in found if finding.code == "RS313"] == expected


OLD_AND_NEW = {
    "a new first parameter": (
        "def run(self):\n    return self.step(1, 2)",
        "def step(self, tokens, positions=None): ...",
        "def step(self, padded, tokens=None, positions=None): ...",
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


BATCH_READER = npu("def m(self, batch: Batch):\n    return batch.late", head="from {}.batch import Batch\n")


def test_an_annotated_object_of_vllm_needs_the_old_tree() -> None:
    text = BATCH_READER.format("vllm")
    new = world(npu=text, **{"vllm/batch.py": "class Batch:\n    rows = 1\n"})
    old = world(npu=text, **{"vllm/batch.py": "class Batch:\n    late = 1\n"})
    assert symbols(find(new)) == []
    assert symbols(find(new, old)) == [("RS308", "Batch.late")]


HEIR = "from vllm.batch import Batch\nclass Small(Batch):\n"

# Of an annotated class of vLLM: the reader's module, what stands beside it, whether the lost field is told.
LOST_FIELDS = {
    "the field of a namesake": (BATCH_READER, "class Group:\n    late: int = 0\n", True),
    "a field set on another object": (BATCH_READER, "def fill(group):\n    group.late = 1\n", True),
    "a field set on such an object": (BATCH_READER, "def fill(new_batch):\n    new_batch.late = 1\n", False),
    "a class derives and has none": (BATCH_READER, HEIR + "    size: int = 0\n", True),
    "a class that derives has it": (BATCH_READER, HEIR + "    late: int = 0\n", False),
    "one that derives under another name has it": (
        BATCH_READER,
        "from vllm.batch import Batch as B\nclass Small(B):\n    def __init__(self):\n        self.late = 0\n",
        False,
    ),
    "a parameter that the hidden method annotates": (
        npu("def take(self, batch):\n    return batch.late"),
        "",
        True,
    ),
    "a parameter that nobody annotates": (npu("def give(self, batch):\n    return batch.late"), "", False),
    "a parameter that is copied over itself": (
        npu("def take(self, batch):\n    if batch:\n        batch = replace(batch, rows=2)\n    return batch.late"),
        "",
        True,
    ),
    "a parameter that something else replaces": (
        npu("def take(self, batch):\n    batch = make(batch)\n    return batch.late"),
        "",
        False,
    ),
    "a field of a record that is taken apart": (
        npu("def m(self):\n    size, batch = self.last\n    return batch.late"),
        "",
        True,
    ),
    "another field of it": (npu("def m(self):\n    batch, size = self.last\n    return batch.late"), "", False),
    "a record of another size": (npu("def m(self):\n    _, batch, _ = self.last\n    return batch.late"), "", False),
}


@pytest.mark.parametrize("name", LOST_FIELDS)
def test_a_field_that_a_class_of_vllm_lost(name: str) -> None:
    reader, beside, is_told = LOST_FIELDS[name]
    runner = """\
        from typing import NamedTuple
        from vllm.batch import Batch
        from vllm.runner import GPUModelRunner

        class Last(NamedTuple):
            size: int
            batch: Batch

        class NPUModelRunner(GPUModelRunner):
            def __init__(self):
                self.last: Last | None = None
            def take(self, batch: Batch): ...
        """
    trees = {"npu": reader.format("vllm"), "ascend": runner, "vllm_ascend/more.py": beside}
    new = world(**trees, **{"vllm/batch.py": "class Batch:\n    rows = 1\n"})
    old = world(**trees, **{"vllm/batch.py": "class Batch:\n    late: int = 1\n"})
    found = [symbol for symbol in symbols(find(new, old)) if symbol[0] == "RS308"]
    assert found == ([("RS308", "Batch.late")] if is_told else [])


DERIVED = {
    "no class derives from it": ("", [("RS308", "Batch.late")]),
    "one derives from a longer name": ("class Small(BatchQueue):\n    pass\n", [("RS308", "Batch.late")]),
    "a class that derives from it may have it": ("class Small(Batch):\n    late = 1\n", []),
    "and so may one that calls it another name": (
        "from vllm_ascend.batch import Batch as B\nclass C(B):\n    late = 1\n",
        [],
    ),
    "other code sets it": ("def fill(batch):\n    batch.late = 1\n", []),
}


@pytest.mark.parametrize("name", DERIVED)
def test_an_annotated_object_of_vllm_ascend(name: str) -> None:
    more, expected = DERIVED[name]
    new = world(
        npu=BATCH_READER.format("vllm_ascend"),
        **{"vllm_ascend/batch.py": "class Batch:\n    rows = 1\n", "vllm_ascend/more.py": more},
    )
    assert symbols(find(new)) == expected


@pytest.mark.parametrize(
    ("elsewhere", "expected"),
    [
        ("class Group:\n    late: int = 0\n", [("RS308", "Batch.late")]),
        ("KEYS = ('late',)\nclass Group:\n    def __init__(self):\n        self.late = 1\n", [("RS308", "Batch.late")]),
        ("def fill(batch):\n    batch.late = 1\n", []),
    ],
)
def test_an_attribute_that_moved_to_another_class(elsewhere: str, expected: list[tuple[str, str]]) -> None:
    text = BATCH_READER.format("vllm_ascend")
    batch = "vllm_ascend/batch.py"
    new = world(npu=text, **{batch: "class Batch:\n    rows = 1\n", "vllm_ascend/more.py": elsewhere})
    old = world(npu=text, **{batch: "class Batch:\n    late = 1\n"})
    assert symbols(find(new, old)) == expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("context.late = 1", "context.rows = 1", [("RS308", "Batch.late")]),
        ("context.rows = 1", "context.rows = 2", []),
        ("context.late = 1", "setattr(context, 'late', 1)", []),
    ],
)
def test_an_attribute_that_others_set_no_more(before: str, after: str, expected: list[tuple[str, str]]) -> None:
    trees = {"npu": BATCH_READER.format("vllm"), "vllm/batch.py": "class Batch:\n    rows = 1\n"}
    setting = "def enter(context):\n    {}\n"
    new = world(**trees, **{"vllm_ascend/context.py": setting.format(after)})
    old = world(**trees, **{"vllm_ascend/context.py": setting.format(before)})
    assert symbols(find(new, old)) == expected


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        ("_BATCH: Batch | None = None\n", [("RS308", "Batch.late")]),
        ("_BATCH = None\n", []),
        ("_BATCH: object = None\n", []),
    ],
)
def test_what_a_function_hands_out_of_its_module(module: str, expected: list[tuple[str, str]]) -> None:
    text = npu("def m(self):\n    return get_batch().late", head="from vllm_ascend.batch import get_batch\n")
    given = f"class Batch:\n    rows = 1\n{module}def get_batch():\n    global _BATCH\n    return _BATCH\n"
    assert symbols(find(world(npu=text, **{"vllm_ascend/batch.py": given}))) == expected


DRAFTERS = """\
from __future__ import annotations
from vllm.runner import GPUModelRunner
class Ngram:
    def warm_up(self, rows{ngram}): ...
class Eagle:
    def warm_up(self, rows{eagle}): ...
class NPUModelRunner(GPUModelRunner):
    def start(self):
        self.drafter: {told} = None
"""
TAKES = ", capturing=False"
ANY = "Ngram | Eagle | None"
WARMS_UP = "def m(self):\n    self.drafter.warm_up(1, capturing=True)"

# What the two classes take and what the attribute is told to be: in the old tree, in the new one; the call.
UNIONS = {
    "one takes the keyword no longer": (
        (TAKES, TAKES, ANY),
        ("", TAKES, ANY),
        WARMS_UP,
        [("RS306", "warm_up(capturing=)")],
    ),
    "one requires more": (
        (TAKES, TAKES, ANY),
        (", step" + TAKES, TAKES, ANY),
        WARMS_UP,
        [("RS302", "warm_up(step)")],
    ),
    "one never took it": (("", TAKES, ANY), ("", TAKES, ANY), WARMS_UP, []),
    "one never took it, and now the other does not": (("", TAKES, ANY), (TAKES, "", ANY), WARMS_UP, []),
    "one that is new does not take it": ((TAKES, TAKES, "Eagle"), ("", TAKES, ANY), WARMS_UP, []),
    "one that is no longer meant": ((TAKES, TAKES, ANY), ("", TAKES, "Eagle"), WARMS_UP, []),
    "the code asks which it is": (
        (TAKES, TAKES, ANY),
        ("", TAKES, ANY),
        "def m(self):\n    if isinstance(self.drafter, Eagle):\n        self.drafter.warm_up(1, capturing=True)",
        [],
    ),
    "whether it is there is no choice": (
        (TAKES, TAKES, ANY),
        ("", TAKES, ANY),
        "def m(self):\n    if self.drafter is not None:\n        self.drafter.warm_up(1, capturing=True)",
        [("RS306", "warm_up(capturing=)")],
    ),
    "a condition elsewhere is no choice": (
        (TAKES, TAKES, ANY),
        ("", TAKES, ANY),
        "def m(self):\n    if self.config:\n        self.config = 1\n    self.drafter.warm_up(1, capturing=True)",
        [("RS306", "warm_up(capturing=)")],
    ),
}

# Conditions that may choose one of the two classes, with the call below.
CALLED = "self.drafter.warm_up(1, capturing=True)"
CHOICES = {
    "its type": f"if type(self.drafter) is Eagle:\n    {CALLED}",
    "a case": f"match self.drafter:\n    case Eagle():\n        {CALLED}",
    "what it says of itself": f"if self.drafter.kind == 'eagle':\n    {CALLED}",
    "the configuration": f"if self.config.method == 'eagle':\n    {CALLED}",
    "the configuration, turned round": f"if self.config.method == 'ngram':\n    pass\nelse:\n    {CALLED}",
    "the configuration, in a case": f"match self.config.method:\n    case 'eagle':\n        {CALLED}",
    "the configuration, in a part": f"if self.drafter and self.config.eagle:\n    {CALLED}",
    "the configuration, in an expression": f"return {CALLED} if self.config.eagle else None",
    "the configuration, and": f"return self.config.eagle and {CALLED}",
    "a way out before": f"if self.config.method == 'ngram':\n    return\n{CALLED}",
    "an assertion": f"assert self.config.method == 'eagle'\n{CALLED}",
}


@pytest.mark.parametrize("name", CHOICES)
def test_a_condition_that_may_choose_among_several_classes(name: str) -> None:
    text = npu("def m(self):\n    " + CHOICES[name].replace("\n", "\n    "))
    kinds = DRAFTERS.replace("def warm_up", "kind = ''\n    def warm_up")
    old, new = (world(npu=text, ascend=kinds.format(ngram=ngram, eagle=TAKES, told=ANY)) for ngram in (TAKES, ""))
    assert symbols(find(new, old)) == []


@pytest.mark.parametrize("name", UNIONS)
def test_an_object_of_one_of_several_classes(name: str) -> None:
    before, after, body, expected = UNIONS[name]
    old, new = (
        world(npu=npu(body), ascend=DRAFTERS.format(ngram=ngram, eagle=eagle, told=told))
        for ngram, eagle, told in (before, after)
    )
    assert symbols(find(new)) == []
    assert symbols(find(new, old)) == expected


def test_one_of_several_classes_whose_method_is_patched() -> None:
    patch = (
        "from vllm_ascend.runner import Ngram\ndef warm_up(self, rows, capturing=False): ...\nNgram.warm_up = warm_up\n"
    )
    old, new = (
        world(npu=npu(WARMS_UP), ascend=DRAFTERS.format(ngram=ngram, eagle=TAKES, told=ANY), ascend_patch=patch)
        for ngram in (TAKES, "")
    )
    assert symbols(find(new, old)) == []


@pytest.mark.parametrize(
    ("sets", "expected"),
    [
        ("self.batch: Small = make()", [("RS308", "Small.rows")]),
        ("self.batch = Small()", []),
        ("self.batch: Small = make()\n        self.batch = other()", []),
    ],
    ids=["told", "not told", "told, and something else"],
)
def test_what_a_class_says_of_an_attribute_goes_before_what_its_base_assigns(
    sets: str, expected: list[tuple[str, str]]
) -> None:
    """vLLM's runner makes its own drafters, vllm-ascend's says that it has others."""
    upstream = (
        "from vllm.runner import GPUModelRunner\nclass Small:\n    size = 1\n"
        f"class NPUModelRunner(GPUModelRunner):\n    def start(self):\n        {sets}\n"
    )
    text = npu("def m(self):\n    return self.batch.rows")
    assert symbols(find(world(npu=text, ascend=upstream))) == expected


ASSIGNING = """\
class Base:
    def propose(self, rows): ...
class Own(Base):
    def propose(self, rows, extra=None): ...
class Other:
    def propose(self, rows, extra=None): ...
class GPUModelRunner:
    def __init__(self, config):
        self.config = config
        self.drafter = {made}
"""

# What vLLM's runner assigns, what the NPU class says of it in its body and in `__init__`, before vLLM's runs.
DECLARED = {
    "a class below it, declared in the class": ("Own()", "drafter: Base", "pass", True),
    "a class below it, declared as empty": ("Own()", "size = 1", "self.drafter: Base | None = None", True),
    "declared in the class, and set": ("Own()", "drafter: Base", "self.drafter = Base()", True),
    "the class itself": ("Base()", "drafter: Base", "pass", False),
    "another class": ("Other()", "drafter: Base", "pass", False),
    "a class above it": ("Base()", "drafter: Own", "pass", True),
    "set anew": ("Own()", "size = 1", "self.drafter: Base = Base()", False),
}


@pytest.mark.parametrize("name", DECLARED)
def test_a_declaration_sets_nothing_anew(name: str) -> None:
    made, body, init, takes_it = DECLARED[name]
    runner = (
        "from vllm.runner import Base, GPUModelRunner, Own\nclass NPUModelRunner(GPUModelRunner):\n"
        f"    {body}\n    def __init__(self, config):\n        {init}\n        super().__init__(config)\n"
    )
    text = npu("def m(self):\n    self.drafter.propose(1, extra=2)").replace("from vllm.runner import helper\n", "")
    found = find(world(npu=text, ascend=runner, vllm=ASSIGNING.format(made=made)))
    assert symbols(found) == ([] if takes_it else [("RS306", "propose(extra=)")])


ITEMS = "from typing import NamedTuple\nfrom torch import Outside\nclass Rows{bases}:\n    {body}\n"
GETS = "def __getitem__(self, key): ..."
COUNTS = "def __len__(self): ..."

# What the class had, what it has, what the runner does with such an object.
LOST_ITEMS = {
    "an item": (GETS, "pass", "rows[0]", ["__getitem__"]),
    "an item that is set": ("def __setitem__(self, key, value): ...", GETS, "rows[0] = 1", ["__setitem__"]),
    "an item that is deleted": ("def __delitem__(self, key): ...", GETS, "del rows[0]", ["__delitem__"]),
    "its length": (COUNTS, "pass", "len(rows)", ["__len__"]),
    "another name": (GETS, "def get(self, key): ...", "rows['a']", ["__getitem__"]),
    "still there": (GETS, GETS, "rows[0]", []),
    "never there": ("pass", "pass", "rows[0]", []),
    "a key": (GETS, "pass", "self.config[rows]", []),
    "somebody else's length": (COUNTS, "pass", "self.config.len(rows)", []),
    "it is asked for": (COUNTS, "pass", "if hasattr(rows, '__len__'):\n    len(rows)", []),
    "something else is asked for": (COUNTS, "pass", "if hasattr(rows, '__iter__'):\n    len(rows)", ["__len__"]),
    "its own len": (COUNTS, "pass", "def len(x): return 1\nlen(rows)", []),
    "a len that is imported": (COUNTS, "pass", "from torch import len\nlen(rows)", []),
    "it may fail": (GETS, "pass", "try:\n    rows[0]\nexcept TypeError:\n    pass", []),
}


def items(before: str, after: str, body: str, *, bases: str = "", heir: str = "") -> list[str]:
    method = "def m(self, rows: Rows):\n    " + body.replace("\n", "\n    ")
    text = npu(method, head="from vllm.rows import Rows\nfrom vllm.runner import Batch, State")
    old = world(npu=text, **{"vllm/rows.py": ITEMS.format(bases="", body=before)})
    new = world(npu=text, **{"vllm/rows.py": ITEMS.format(bases=bases, body=after), "vllm_ascend/rows.py": heir})
    assert symbols(find(new)) == []
    return [f.symbol.removeprefix("Rows.") for f in find(new, old)]


@pytest.mark.parametrize("name", LOST_ITEMS)
def test_items_that_an_object_has_no_longer(name: str) -> None:
    *given, expected = LOST_ITEMS[name]
    assert items(*given) == expected


def test_items_that_an_object_may_still_have() -> None:
    heir = f"from vllm.rows import Rows\nclass Some(Rows):\n    {GETS}\n"
    assert items(GETS, "pass", "rows[0]", heir=heir) == []
    assert items(GETS, "pass", "rows[0]", bases="(Outside)") == []
    assert items(GETS, "size: int", "rows[0]", bases="(NamedTuple)") == []


# `rows` is a `Rows` that has lost its items where `isinstance` says so, and is not told otherwise before.
NARROWED = {
    "in the body": ("if isinstance(x, Rows):\n    x[0]", True),
    "it is bound anew by that": ("if isinstance(x, Rows):\n    x = x[0]", True),
    "of an attribute": ("if isinstance(self.config, Rows):\n    self.config[0]", True),
    "in a condition inside": ("if isinstance(x, Rows):\n    if self.config:\n        x[0]", True),
    "the inner of two": ("if isinstance(x, Batch):\n    if isinstance(x, Rows):\n        x[0]", True),
    "it is bound anew before": ("if isinstance(x, Rows):\n    x = self.config\n    x[0]", False),
    "it is bound anew in a loop": ("if isinstance(x, Rows):\n    for n in y:\n        x[0]\n        x = n", False),
    "behind the body": ("if isinstance(x, Rows):\n    pass\nx[0]", False),
    "in the other branch": ("if isinstance(x, Rows):\n    pass\nelse:\n    x[0]", False),
    "one of two classes": ("if isinstance(x, (Rows, State)):\n    x[0]", False),
    "turned round": ("if not isinstance(x, Rows):\n    x[0]", False),
    "another name": ("if isinstance(y, Rows):\n    x[0]", False),
    "its attribute is bound anew below": ("if isinstance(o.x, Rows):\n    o.x[0]\n    o.x = y", True),
    "its attribute is bound anew before": ("if isinstance(o.x, Rows):\n    o.x = y\n    o.x[0]", False),
    "its attribute is bound anew in a loop": (
        "if isinstance(o.x, Rows):\n    for n in y:\n        o.x[0]\n        o.x = n",
        False,
    ),
    "another object has the attribute": ("if isinstance(o.x, Rows):\n    o = y\n    o.x[0]", False),
    "another attribute is bound": ("if isinstance(o.x, Rows):\n    o.y = y\n    o.x[0]", True),
    "it is bound anew on the same line": ("if isinstance(x, Rows):\n    x = y; x[0]", False),
    "it is made from itself on several lines": ("if isinstance(x, Rows):\n    x = (\n        x[0])", True),
    "a case binds it": ("if isinstance(x, Rows):\n    match y:\n        case {'k': x}:\n            x[0]", False),
    "a case binds the rest to it": (
        "if isinstance(x, Rows):\n    match y:\n        case [_, *x]:\n            x[0]",
        False,
    ),
    "a case binds the other keys": (
        "if isinstance(x, Rows):\n    match y:\n        case {**x}:\n            x[0]",
        False,
    ),
    "it is imported": ("if isinstance(x, Rows):\n    from torch import x\n    x[0]", False),
    "it is asked again": ("if isinstance(x, Rows):\n    if self.config and isinstance(x, State):\n        x[0]", False),
    "it is asked again in an expression": ("if isinstance(x, Rows):\n    x[0] if isinstance(x, State) else 1", False),
    "its type is asked": ("if isinstance(x, Rows):\n    if type(x) is State:\n        x[0]", False),
    "a case asks for it": ("if isinstance(x, Rows):\n    match x:\n        case State():\n            x[0]", False),
}


@pytest.mark.parametrize("name", NARROWED)
def test_what_isinstance_says_of_a_name(name: str) -> None:
    body, is_told = NARROWED[name]
    setting = "x, y, o = self.config\n"
    assert items(GETS, "pass", setting + body) == (["__getitem__"] if is_told else [])


# Classes in a module of vLLM that is not among those around the runners.
HEIRS = {
    "a class derives": ("class Some(Rows): ...", False),
    "a class derives from it and from another": ("class Some(Other, Rows): ...", False),
    "a class derives from it by another name": ("from vllm.rows import Rows as R\nclass Some(R): ...", False),
    "a class derives from a longer name": ("class Some(RowsOfOthers): ...", True),
    "a class holds it": ("class Some:\n    rows: Rows", True),
}


@pytest.mark.parametrize("name", HEIRS)
def test_isinstance_says_nothing_of_what_a_class_that_derives_may_have(name: str) -> None:
    """`isinstance(self.drafter, EagleProposer)`, which vllm-ascend's drafters are, with methods of their own."""
    text, is_told = HEIRS[name]
    reads = "def m(self, rows):\n    if isinstance(rows, Rows):\n        rows.late()\n        rows.add(1, extra=2)"
    rows = "class Rows:\n    def add(self, row): ...\n"
    new = world(npu=npu(reads, head="from vllm.rows import Rows"), **{"vllm/rows.py": rows, "vllm/more.py": text})
    expected = [("RS308", "Rows.late"), ("RS306", "add(extra=)")]
    assert sorted(symbols(find(new))) == (sorted(expected) if is_told else [])


@pytest.mark.parametrize(
    "binds",
    ["match y:\n    case [batch, *_]: pass", "match y:\n    case {**batch}: pass", "from torch import batch"],
)
def test_a_name_that_a_case_or_an_import_binds_too(binds: str) -> None:
    body = f"batch = Batch()\nif self.config:\n    {binds}".replace("\n    case", "\n        case")
    text = npu(
        "def m(self, y):\n    " + (body + "\nbatch.gone()").replace("\n", "\n    "),
        head="from vllm.runner import Batch",
    )
    assert symbols(find(world(npu=text))) == []


# A name that is bound twice, and read where only one of the two can have bound it.
BOUND_TWICE = {
    "something else below": ("batch = Batch()\nbatch.gone()\nbatch = make()", True),
    "something else in a branch below": ("batch = Batch()\nbatch.gone()\nif self.config:\n    batch = make()", True),
    "something else above": ("batch = make()\nbatch = Batch()\nbatch.gone()", False),
    "something else in a branch above": ("batch = Batch()\nif self.config:\n    batch = make()\nbatch.gone()", False),
    "something else on the same line": ("batch = Batch()\nbatch.gone(); batch = make()", False),
    "a loop leads back": (
        "batch = Batch()\nfor row in self.config:\n    batch.gone()\n    batch = make()",
        False,
    ),
    "a loop above": ("batch = Batch()\nfor row in self.config:\n    pass\nbatch.gone()\nbatch = make()", True),
    "a function that is called later": (
        "batch = Batch()\ndef use():\n    return batch.gone()\nbatch = make()\nreturn use",
        False,
    ),
    "a lambda that is called later": ("batch = Batch()\nuse = lambda: batch.gone()\nbatch = make()\nreturn use", False),
}


@pytest.mark.parametrize("name", BOUND_TWICE)
def test_what_is_bound_below_is_not_what_is_read(name: str) -> None:
    body, is_told = BOUND_TWICE[name]
    text = npu("def m(self):\n    " + body.replace("\n", "\n    "), head="from vllm.runner import Batch")
    assert symbols(find(world(npu=text))) == ([("RS308", "Batch.gone")] if is_told else [])


def test_a_function_that_is_newly_patched() -> None:
    patch = "import vllm.runner\ndef other(a, b=1, *, key=None): ...\nvllm.runner.helper = other\n"
    text = npu("pass")
    new, old = world(npu=text, ascend_patch=patch), world(npu=text)
    assert symbols(find(new, old)) == [("RS310", "vllm.runner.helper")]
    assert symbols(find(new)) == []
    assert symbols(find(new, new)) == []


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("runner.helper(1)", [("RS310", "vllm.runner.helper")]),
        ("self.runner.helpers(1)", []),
        ("helper(1)", []),
    ],
)
def test_a_patched_function_that_vllm_ascend_calls_through_its_module(
    call: str, expected: list[tuple[str, str]]
) -> None:
    patch = "import vllm.runner\ndef other(a, b=1, *, key=None): ...\nvllm.runner.helper = other\n"
    trees = {
        "ascend_patch": patch,
        "vllm_ascend/runner.py": "from vllm import runner\n" + ascend(f"def own(self):\n    {call}"),
    }
    assert symbols(find(world(npu=npu("pass"), **trees))) == expected


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


BAD = {
    "a module that is not there": ({}, "vllm_omni/nowhere.py", "vllm_omni/nowhere.py: not found"),
    "a runner that is not Python": (
        {"npu": "def f(:\n"},
        NPU,
        r"^vllm_omni/npu\.py:1: does not parse \(.*\); fix it and run again\.$",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_said_in_one_sentence(name: str) -> None:
    changed, path, message = BAD[name]
    with pytest.raises(InputError, match=message):
        find(world(**changed), None, [path])


BROKEN = "def f(:\n"
CONFLICT = "<<<<<<< omni\n=======\n>>>>>>> topic\n"
NEEDED = {
    "imported by name": ({"vllm": BROKEN}, r"^vllm/runner\.py:1 of vllm vllm does not parse with Python 3\.\d+ \("),
    "a base": ({"ascend": BROKEN}, r"^vllm_ascend/runner\.py:1 of vllm-ascend vllm-ascend does not parse"),
    "a conflict": ({"ascend": CONFLICT}, r"^vllm_ascend/runner\.py:1: holds an unresolved merge conflict"),
    "the base of a base": (
        {"ascend": "from vllm.base import Base\nclass NPUModelRunner(Base[int]): ...", "vllm/base.py": BROKEN},
        r"^vllm/base\.py:1 ",
    ),
    "behind a re-export": ({"vllm": "from vllm.inner import helper", "vllm/inner.py": BROKEN}, r"^vllm/inner\.py:1 "),
    "a module": ({"npu": npu("pass", head="import vllm.inner"), "vllm/inner.py": BROKEN}, r"^vllm/inner\.py:1 "),
    "a star import": (
        {"npu": npu("pass", head="from vllm.inner import *"), "vllm/inner.py": BROKEN},
        r"^vllm/inner\.py:1 ",
    ),
    "imported by inherited GPU code": (
        {"gpu": "from vllm.inner import rows\nclass OmniGPUModelRunner: ...", "vllm/inner.py": BROKEN},
        r"^vllm/inner\.py:1 ",
    ),
}


@pytest.mark.parametrize("name", NEEDED)
def test_what_the_runners_need_and_does_not_parse_ends_the_run(name: str) -> None:
    changed, message = NEEDED[name]
    given = {"npu": npu("pass"), **changed}
    for new, old in ((world(**given), None), (world(npu=given["npu"], gpu=given.get("gpu", "")), world(**given))):
        with pytest.raises(InputError, match=message):
            find(new, old)


FROM_INNER = "from vllm.inner import rows"
NOT_NEEDED = {
    "for type checking": npu("def m(self):\n    rows(1)", head=f"if TYPE_CHECKING:\n    {FROM_INNER}"),
    "whose failure is handled": npu(
        "def m(self):\n    rows(1)", head=f"try:\n    {FROM_INNER}\nexcept ImportError:\n    rows = None"
    ),
    "in a function": npu(f"def m(self):\n    {FROM_INNER}\n    rows(1)"),
}


@pytest.mark.parametrize("name", NOT_NEEDED)
def test_what_a_runner_can_do_without_and_does_not_parse_is_remembered(name: str) -> None:
    trees = world(npu=NOT_NEEDED[name], **{"vllm/inner.py": BROKEN})
    assert find(trees) == []
    assert list(trees.unread) == ["vllm/inner.py"]


@pytest.mark.parametrize("place", ["vllm_ascend/patch/patch_other.py", "vllm/inner.py", "vllm_omni/beside.py"])
def test_what_is_only_looked_at_in_passing_and_does_not_parse_is_remembered(place: str) -> None:
    """Patches apply at start-up, types come from what upstream's runner imports, helpers stand beside the runners."""
    uses = "from vllm.inner import Rows\n" + ascend("def __init__(self):\n    self.rows = Rows()")
    trees = world(npu=npu("def m(self):\n    self.rows.add(1)"), ascend=uses, **{"vllm/inner.py": "", place: BROKEN})
    assert symbols(find(trees, None, [NPU, *trees.beside([NPU])])) == []
    assert list(trees.unread) == [place]


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
