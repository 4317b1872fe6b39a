"""Attributes that omni itself lacks (RS304): whatever the older pair was, and where only a GPU runner has them."""

from __future__ import annotations

import textwrap

import pytest
from verify_samples import PROFILE, find, npu, symbols, world

from runner_sync.verify.trees.world import World

GETATTR = "def __getattr__(self, name):\n    return 1\n"
ASCEND = """\
from vllm.runner import GPUModelRunner

class NPUModelRunner(GPUModelRunner):
    def run(self):
        self.start()
"""


def with_older_upstreams(new: World, **changed: str) -> World:
    """The same omni tree with other upstreams."""
    older = world(**changed).trees | {"vllm-omni": new.trees["vllm-omni"]}
    return World(older, surroundings=PROFILE.surroundings)


@pytest.mark.parametrize("body", ["self.hok()", "return self.hok", "return super().hook() or self.hok"])
def test_a_misspelt_name_is_told_though_the_older_pair_lacks_it_too(body: str) -> None:
    new = world(npu=npu(f"def hook(self):\n    {body}"))
    assert symbols(find(new, with_older_upstreams(new))) == [("RS304", "hok")]


@pytest.mark.parametrize(
    ("head", "place"), [("vllm_omni.gone", "in this vllm-omni, with any target"), ("vllm.gone", "in the target tree")]
)
def test_the_tree_that_lacks_a_module_is_named(head: str, place: str) -> None:
    """Omni's own module is told though it was missing on the older pair, too; the target lacks it no more than omni."""
    new = world(npu=npu("pass", head=f"from {head} import one"))
    (finding,) = find(new)
    assert finding.message == f"module `{head}` does not exist {place}, so this import fails."
    assert symbols(find(new, with_older_upstreams(new))) == ([("RS301", f"{head}.one")] if "omni" in head else [])


def test_the_remedy_of_a_misspelt_name_is_the_name() -> None:
    new = world(npu=npu("def init_talker(self): 1\ndef m(self):\n    self.init_taker()\n    self.note()"))
    hints = {finding.symbol: finding.fix.partition(" ")[0] for finding in find(new, with_older_upstreams(new))}
    assert hints == {"init_taker": "Write", "note": "Follow"}
    (misspelt,) = (f for f in find(new, with_older_upstreams(new)) if f.symbol == "init_taker")
    assert misspelt.fix.startswith("Write `init_talker` if that is meant; else ")


@pytest.mark.parametrize(
    ("reads", "members", "hidden", "remedy"),
    [
        (
            "self._get_mamba_copy_bufs()",
            "_mamba_copy_bufs = None\n    def _get_mamba_bufs(self): ...",
            "",
            "`_get_mamba_bufs`",
        ),
        ("self._get_mamba_copy_bufs()", "_get_mamba_copy_buf = None", "", ""),
        ("self._get_mamba_copy_bufs", "_get_mamba_copy_buf = None", "", "`_get_mamba_copy_buf`"),
        (
            "self._get_mamba_copy_bufs()",
            "def _get_mamba_copy_buf(self): ...\n    def _get_mamba_bufs(self): ...",
            "",
            "`_get_mamba_copy_buf`",
        ),
        (
            "self._get_mamba_copy_bufs()",
            "def _get_mamba_copy_buf(self): ...\n    def _get_mamba_bufs(self): ...",
            "self._get_mamba_bufs()",
            "`_get_mamba_bufs`",
        ),
    ],
    ids=["no call of a value", "a value alone", "a value that is read", "the most alike", "what is overridden says it"],
)
def test_a_remedy_fits_how_the_name_is_used(reads: str, members: str, hidden: str, remedy: str) -> None:
    vllm = f"class GPUModelRunner:\n    {members}\n    def __init__(self, c): ...\n"
    says = f"{ASCEND.partition('def')[0]}def run(self):\n        {hidden or 'pass'}\n"
    text = npu(f"def run(self):\n    {reads}").replace("from vllm.runner import helper\n", "")
    new = world(npu=text, vllm=vllm, ascend=says)
    (found,) = find(new, with_older_upstreams(new, vllm=vllm, ascend=says))
    assert found.fix.startswith(f"Write {remedy} if that is meant" if remedy else "Follow")


def test_what_upstream_took_out_is_not_misspelt() -> None:
    """``pcp_size`` went in vllm-ascend 0.30.0rc2, and ``dcp_size`` is another thing."""
    new = world(npu=npu("def m(self):\n    return self.init_taker()\ndef init_talker(self): 1"))
    older = ASCEND.replace("def run(self)", "def init_taker(self): 1\n    def run(self)")
    assert [finding.fix.partition(" ")[0] for finding in find(new, with_older_upstreams(new, ascend=older))] == [
        "Follow"
    ]


@pytest.mark.parametrize(
    ("had", "says", "remedy"),
    [
        ("", "self.init_talker()", "Write `init_talker` if that is meant"),
        ("", "pass", "Follow"),
        ("def init_talker(self): 1\n    ", "self.init_talker()", "Follow"),
    ],
    ids=["the overridden method reads it", "it does not", "it is no new name"],
)
def test_a_new_name_in_place_of_one_that_upstream_took_out(had: str, says: str, remedy: str) -> None:
    new = world(
        npu=npu("def run(self):\n    return self.init_taker()"),
        ascend=ASCEND.replace("self.start()", f"{says}\n    def init_talker(self): 1"),
    )
    older = ASCEND.replace("def run(self)", f"{had}def init_taker(self): 1\n    def run(self)")
    (found,) = find(new, with_older_upstreams(new, ascend=older))
    assert found.fix.startswith(remedy)


def test_what_the_shared_gpu_runner_has_under_another_name_now() -> None:
    new = world(
        npu=npu("def m(self):\n    return self.hook()"),
        gpu="from vllm.runner import GPUModelRunner\nclass OmniGPUModelRunner(GPUModelRunner):\n    def hooks(self): 1",
    )
    assert symbols(find(new, with_older_upstreams(new))) == [("RS304", "hook")]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param('def m(self):\n    return self.hok if hasattr(self, "hok") else 1', id="asked for"),
        pytest.param(
            "def m(self):\n    try:\n        self.hok()\n    except AttributeError:\n        pass", id="caught"
        ),
        pytest.param(f"{GETATTR}def m(self):\n    return self.hok", id="made up when it is asked for"),
        pytest.param("def m(self, name):\n    setattr(self, name, 1)\n    return self.hok", id="set by name"),
        pytest.param("flag = False\ndef m(self):\n    if self.flag:\n        self.hok()", id="never run today"),
    ],
)
def test_what_may_be_there_is_no_new_break(body: str) -> None:
    new = world(npu=npu(body))
    assert find(new, with_older_upstreams(new)) == []


def test_what_upstream_never_had_is_no_break_of_a_branch() -> None:
    new = world(npu=npu("def m(self):\n    return self.hok"))
    before = new.with_omni(world(npu=npu("def m(self):\n    return self.hok")).trees["vllm-omni"])
    assert find(new, before) == []


def test_another_rule_still_goes_by_the_older_pair() -> None:
    new = world(npu=npu("def m(self):\n    return helper(1, 2, 3), self.hok"))
    assert symbols(find(new, with_older_upstreams(new))) == [("RS304", "hok")]
    assert symbols(find(new)) == [("RS302", "helper()"), ("RS304", "hok")]


def gpu(*, reads: str, sets: str, also: str = "") -> str:
    """The shared GPU runner, whose `hook` runs on NPU as well, and a runner of the GPU's own below it."""
    return f"""\
from vllm.runner import GPUModelRunner

class OmniGPUModelRunner(GPUModelRunner):
    def start(self):
        self.hook()
    def hook(self):
        {reads}

class GPUARModelRunner(OmniGPUModelRunner):
    {sets}
{textwrap.indent(also, "    ")}"""


IN_INIT = "def __init__(self, config):\n        super().__init__(config)\n        self.epoch = 0"
PASS = npu("pass")
ON_GPU_ONLY = {
    "set in the constructor": gpu(reads="self.epoch += 1", sets=IN_INIT),
    "a method": gpu(reads="return self.epoch()", sets="def epoch(self):\n        return 1"),
    "in the body of the class": gpu(reads="return self.epoch", sets="epoch = 0"),
    "by a mixin": gpu(reads="return self.epoch", sets="pass").replace("AR", "Plain")
    + "class Mixin:\n    epoch = 1\nclass GPUARModelRunner(Mixin, OmniGPUModelRunner):\n    pass\n",
}


@pytest.mark.parametrize("name", ON_GPU_ONLY)
def test_inherited_code_reads_what_only_a_gpu_runner_has(name: str) -> None:
    new = world(npu=PASS, gpu=ON_GPU_ONLY[name], ascend=ASCEND)
    (finding,) = find(new, with_older_upstreams(new, ascend=ASCEND))
    assert (finding.code, finding.severity, finding.symbol) == ("RS304", "error", "epoch")
    assert (finding.path, finding.unit) == ("vllm_omni/gpu.py", "OmniGPUModelRunner.hook")
    assert ("`Mixin`" if "mixin" in name else "`GPUARModelRunner`") in finding.message
    assert symbols(find(new)) == [("RS304", "epoch")]


def test_a_branch_that_moves_it_to_the_gpu_runner_breaks_npu() -> None:
    new = world(npu=PASS, gpu=ON_GPU_ONLY["set in the constructor"], ascend=ASCEND)
    before = world(
        npu=PASS, gpu=gpu(reads="self.epoch += 1", sets="pass").replace("def start", "epoch = 0\n    def start")
    )
    assert symbols(find(new, new.with_omni(before.trees["vllm-omni"]))) == [("RS304", "epoch")]


NO_PROOF = {
    "nobody has it": (gpu(reads="self.epoch += 1", sets="pass"), PASS),
    "only read there, too": (gpu(reads="self.epoch += 1", sets="def m(self):\n        self.epoch += 2"), PASS),
    "asked for": (gpu(reads='return getattr(self, "epoch", 0) and self.epoch', sets=IN_INIT), PASS),
    "set on NPU": (gpu(reads="self.epoch += 1", sets=IN_INIT), npu(IN_INIT.replace("\n    ", "\n"))),
    "of a class that is no runner": (
        gpu(reads="return self.epoch", sets="pass") + "class Other:\n    epoch = 1\n",
        PASS,
    ),
    "in a method that NPU overrides": (gpu(reads="self.epoch += 1", sets=IN_INIT), npu("def hook(self):\n    pass")),
    "in a method that only the GPU runner calls": (
        gpu(reads="self.epoch += 1", sets=IN_INIT, also="def run(self):\n    self.hook()\n").replace(
            "self.hook()", "pass", 1
        ),
        PASS,
    ),
    "in what only such a method calls": (
        gpu(reads="self.epoch += 1", sets=IN_INIT, also="def run(self):\n    self.begin()\n").replace(
            "def start", "def begin"
        ),
        PASS,
    ),
}


@pytest.mark.parametrize("name", NO_PROOF)
def test_no_proof_that_npu_alone_lacks_it(name: str) -> None:
    text, runner = NO_PROOF[name]
    assert find(world(npu=runner, gpu=text, ascend=ASCEND)) == []


def test_what_another_module_sets_on_a_runner_that_it_was_handed() -> None:
    text = gpu(reads="return self.epoch", sets=IN_INIT)
    setting = "def patch(runner):\n    runner.epoch = 1\n"
    assert find(world(npu=PASS, gpu=text, ascend=ASCEND, ascend_worker=setting)) == []


READS = "self.epoch += 1"
SETS_FLAG = f"has_epoch = True\n    {IN_INIT}"
ASKS = {
    "a flag that the GPU runner sets": ("if self.has_epoch:\n    {}", "has_epoch = False"),
    "one that it sets beside another question": ("if self.config and self.has_epoch:\n    {}", "has_epoch = None"),
    "one that comes from the configuration": ("if self.has_epoch:\n    {}", "has_epoch = helper()"),
    "the other way round": ("if not self.has_epoch:\n    return\n{}", "has_epoch = False"),
    "the other branch": ("if not self.has_epoch:\n    pass\nelse:\n    {}", "has_epoch = False"),
    "in an expression": ("return self.has_epoch and self.epoch", "has_epoch = False"),
    "in a choice": ("return self.epoch if self.has_epoch else 0", "has_epoch = False"),
    "in a comprehension": ("return [self.epoch for one in self.config if self.has_epoch]", "has_epoch = False"),
    "what is gone through": ("for one in self.has_epoch:\n    {}", "has_epoch = ()"),
    "a local": ("on = self.has_epoch\nif on:\n    {}", "has_epoch = False"),
    "asserted": ("assert self.has_epoch\n{}", "has_epoch = False"),
    "skipped in a loop": (
        "for one in range(2):\n    if not self.has_epoch:\n        continue\n    {}",
        "has_epoch = False",
    ),
    "in a nested function": ("def f():\n    if not self.has_epoch:\n        return\n    {}\nf()", "has_epoch = False"),
    "its name in quotes": ("if getattr(self, 'has_epoch'):\n    {}", "has_epoch = False"),
    "by a method": ("if self.supports():\n    {}", "has_epoch = False\ndef supports(self):\n    return self.has_epoch"),
    "by a method that branches": (
        "if self.supports():\n    {}",
        "has_epoch = False\ndef supports(self):\n    if self.has_epoch:\n        return True\n    return False",
    ),
    "the platform": ("if current_platform.is_cuda():\n    {}", ""),
    "the platform, and leaves": ("if current_platform.is_npu():\n    return\n{}", ""),
    "the platform, and leaves further in": ("with self.config:\n    if helper(platform):\n        return\n{}", ""),
    "a flag of the platform": (
        "if self.fast:\n    {}",
        "def __init__(self, config):\n    super().__init__(config)\n    self.fast = current_platform.is_cuda()",
    ),
    "a function of the module": ("if fast():\n    {}", ""),
    "a value of the module": ("if FAST:\n    {}", ""),
    "the device": ('if self.device.type == "cuda":\n    {}', ""),
    "a tensor's device": ("if self.seq_lens.is_cuda:\n    {}", ""),
    "the device by a match": ('match self.device.type:\n    case "cuda":\n        {}', ""),
    "the class of self": ("if isinstance(self, GPUARModelRunner):\n    {}", ""),
    "the class of self by its name": ('if self.__class__.__name__.startswith("A"):\n    {}', ""),
    "somebody who is handed self": ("if helper(self):\n    {}", ""),
}
OF_MODULE = "\ndef fast():\n    return current_platform.is_cuda()\n\nFAST = fast()\n"


def asking(body: str, shared: str = "", *, sets: str = SETS_FLAG) -> str:
    """The same with a method of several lines, and ``shared`` in the class that NPU inherits from."""
    lines = textwrap.indent(body.format(READS), "        ").lstrip()
    text = gpu(reads=lines, sets=sets).replace("    def start", f"{textwrap.indent(shared, '    ')}\n    def start")
    return text + OF_MODULE


@pytest.mark.parametrize("name", ASKS)
def test_what_asks_for_the_gpu_first_is_no_break(name: str) -> None:
    assert find(world(npu=PASS, gpu=asking(*ASKS[name]), ascend=ASCEND)) == []


def test_a_flag_that_npu_sets_in_another_way() -> None:
    text = asking("if self.has_epoch:\n    {}", "has_epoch = True", sets=IN_INIT)
    assert symbols(find(world(npu=PASS, gpu=text, ascend=ASCEND))) == [("RS304", "epoch")]
    assert find(world(npu=npu("has_epoch = False"), gpu=text, ascend=ASCEND)) == []


UNASKED = {
    "nothing": ("{}", ""),
    "for something else": ("if self.config:\n    {}", ""),
    "for something else that both set": ("if self.fast:\n    {}", "fast = True"),
    "by a method": ("if self.supports():\n    {}", "def supports(self):\n    return self.config is not None"),
    "behind it": ("{}\nif self.has_epoch:\n    return", "has_epoch = False"),
    "beside it": ("if self.has_epoch:\n    self.start\n{}", "has_epoch = False"),
    "in a loop that is over": (
        "for one in self.config:\n    if self.has_epoch:\n        continue\n{}",
        "has_epoch = False",
    ),
    "in a loop that is left": (
        "for one in self.config:\n    if self.has_epoch:\n        break\n{}",
        "has_epoch = False",
    ),
    "in a function that leaves": ("def f():\n    if self.has_epoch:\n        return\n{}", "has_epoch = False"),
    "for what it reads": ("if self.epoch:\n    pass", ""),
    "in the second half": ("return self.epoch and self.has_epoch", "has_epoch = False"),
    "in the condition of another": ("if self.epoch:\n    if current_platform.is_cuda():\n        pass", ""),
}


@pytest.mark.parametrize("name", UNASKED)
def test_what_asks_for_something_else_breaks(name: str) -> None:
    (finding,) = find(world(npu=PASS, gpu=asking(*UNASKED[name]), ascend=ASCEND))
    assert (finding.severity, finding.symbol) == ("error", "epoch")


def test_a_flag_that_nobody_sets_is_a_warning_as_in_own_code() -> None:
    new = world(npu=PASS, gpu=asking("if self.has_epoch:\n    {}", "has_epoch = False", sets=IN_INIT), ascend=ASCEND)
    (finding,) = find(new)
    assert (finding.severity, finding.symbol) == ("warning", "epoch")
    assert finding.message.endswith(" Today the condition `self.has_epoch` is never true.")
    assert find(new, with_older_upstreams(new, ascend=ASCEND)) == []


@pytest.mark.parametrize(
    ("caller", "is_told"),
    [
        ("if self.has_epoch:\n            self.hook()", False),
        ("if current_platform.is_npu():\n            return\n        self.hook()", False),
        ("if self.config:\n            self.hook()", True),
        ("self.hook()\n        if self.has_epoch:\n            self.hook()", True),
    ],
    ids=["a flag", "the platform", "something else", "one call of two"],
)
def test_the_only_caller_asks_for_the_gpu(caller: str, is_told: bool) -> None:
    text = asking("{}", "has_epoch = False").replace("self.hook()", caller, 1)
    assert symbols(find(world(npu=PASS, gpu=text, ascend=ASCEND))) == ([("RS304", "epoch")] if is_told else [])
