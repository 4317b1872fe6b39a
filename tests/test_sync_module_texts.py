"""What an upgrade knows of the trees is what ``verify`` knows of them: two readers, one answer."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from verify_samples import TextTree

from runner_sync.model import PACKAGES, Project, Source
from runner_sync.naming import module_name
from runner_sync.profile import NPU
from runner_sync.sync.classes.module_texts import ModuleTexts
from runner_sync.trees import Tree
from runner_sync.verify.trees.classes import Classes
from runner_sync.verify.trees.world import World

RUNNER = "vllm_omni/npu/runner.py"
TREES = {
    "vllm/runner.py": "class GPUModelRunner:\n    def load(self): ...\n    def run(self): ...\n",
    "vllm_ascend/__init__.py": "",
    "vllm_ascend/newer.py": "def rows(:\n",
    "vllm_ascend/worker/__init__.py": "from .runner import NPUModelRunner\nfrom . import runner as home\n",
    "vllm_ascend/worker/runner.py": (
        "from vllm.runner import GPUModelRunner\nclass NPUModelRunner(GPUModelRunner):\n    def run(self): ...\n"
    ),
    "vllm_omni/__init__.py": "from vllm_omni.gpu import Mixin\n",
    "vllm_omni/gpu.py": (
        "from vllm.runner import GPUModelRunner\n"
        "class Mixin:\n    def mix(self): ...\n"
        "class OmniGPUModelRunner(Mixin, GPUModelRunner):\n    def hook(self): ...\n"
    ),
    "vllm_omni/circle.py": "from vllm_omni.round import Lost\n",
    "vllm_omni/round.py": "from vllm_omni.circle import Lost\n",
    "vllm_omni/npu/__init__.py": "from ..gpu import OmniGPUModelRunner as Shared\n",
}


def trees(runner: str) -> dict[Project, Tree]:
    files = {**TREES, RUNNER: runner}
    return {
        project: TextTree(
            Source(project, "path", project), {p: t for p, t in files.items() if p.startswith(f"{package}/")}
        )
        for project, package in PACKAGES.items()
    }


def by_texts(given: dict[Project, Tree], path: str, name: str) -> tuple[set[str], set[str]]:
    text = given["vllm-omni"].read(path)
    assert text is not None
    found = ModuleTexts(given).find_inherited(text, name, module_name(path))
    return set(found.classes), set(found.members)


def by_trees(given: dict[Project, Tree], path: str, name: str) -> list[tuple[set[str], set[str]]]:
    """What the class inherits, once for each branch of a conditional base."""
    world = World(given, surroundings=())
    classes = Classes(world)
    (definition,) = world.resolve(world.module_at(path), name)
    info = classes.info(definition)
    assert info is not None
    return [
        ({parent.name for parent in parents}, {member for parent in parents for member in parent.methods})
        for parents in (mro.classes[1:] for mro in classes.mros(info))
    ]


@pytest.mark.parametrize(
    ("runner", "parents"),
    [
        pytest.param(
            "from vllm_ascend.worker.runner import NPUModelRunner\nclass R(NPUModelRunner): ...\n",
            {"NPUModelRunner", "GPUModelRunner"},
            id="from where it is defined",
        ),
        pytest.param(
            "from vllm_ascend.worker import NPUModelRunner\nclass R(NPUModelRunner): ...\n",
            {"NPUModelRunner", "GPUModelRunner"},
            id="through a package",
        ),
        pytest.param(
            "from . import Shared as Base\nclass R(Base): ...\n",
            {"OmniGPUModelRunner", "Mixin", "GPUModelRunner"},
            id="through the package around it, by other names",
        ),
        pytest.param(
            "from vllm_omni import Mixin\nfrom .. import gpu\nclass R(Mixin, gpu.OmniGPUModelRunner): ...\n",
            {"OmniGPUModelRunner", "Mixin", "GPUModelRunner"},
            id="one of several, and a module's",
        ),
        pytest.param("from vllm_omni.circle import Lost\nclass R(Lost): ...\n", set(), id="that each passes on"),
        pytest.param("class R: ...\n", set(), id="none"),
    ],
)
def test_a_class_inherits_the_same(runner: str, parents: set[str]) -> None:
    given = trees(runner)
    classes, members = by_texts(given, RUNNER, "R")
    assert classes == parents
    assert [(classes, members)] == by_trees(given, RUNNER, "R")


@pytest.mark.parametrize(
    ("module", "name", "lacks"),
    [
        ("vllm.runner", "GPUModelRunner", False),
        ("vllm.runner", "gone", True),
        ("vllm.gone", "x", True),
        ("vllm_ascend.worker", "NPUModelRunner", False),
        ("vllm_ascend.worker", "runner", False),
        ("vllm_ascend.worker", "home", False),
        ("vllm_ascend.newer", "rows", False),
        ("torch", "npu", False),
    ],
)
def test_a_module_lacks_the_same(module: str, name: str, lacks: bool) -> None:
    given = trees("")
    assert ModuleTexts(given).lacks(module, name) == lacks
    found = World(given, surroundings=()).lookup(module, name)
    assert all(definition.kind == "missing" for definition in found) == lacks


@pytest.mark.parametrize(
    ("upgraded", "lacks"),
    [
        pytest.param({}, False, id="not upgraded"),
        pytest.param({"vllm_omni/gpu.py": "class Mixin: ...\n"}, False, id="upgraded"),
        pytest.param({"vllm_omni/gpu.py": ""}, True, id="emptied"),
        pytest.param({RUNNER: ""}, False, id="another one emptied"),
    ],
)
def test_an_upgraded_module_is_read_as_it_is_now(upgraded: dict[str, str], lacks: bool) -> None:
    module_texts = ModuleTexts(trees("pass\n"), upgraded)
    assert module_texts.lacks("vllm_omni.gpu", "Mixin") == lacks
    assert not module_texts.as_before().lacks("vllm_omni.gpu", "Mixin")


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("omni", "ascend", "vllm"), [("0.16.0", "0.18.0", "0.18.0"), ("0.32.0rc1", "0.30.0rc2", "0.30.0")]
)
def test_released_runners_inherit_the_same(
    omni: str, ascend: str, vllm: str, corpus_release: Callable[[Project, str], Tree]
) -> None:
    given = {
        "vllm-omni": corpus_release("vllm-omni", omni),
        "vllm-ascend": corpus_release("vllm-ascend", ascend),
        "vllm": corpus_release("vllm", vllm),
    }
    seen = 0
    for module in NPU.modules:
        path = next((path for path in module.paths if given["vllm-omni"].read(path) is not None), None)
        if path is not None:
            classes, members = by_texts(given, path, module.name)
            expected = by_trees(given, path, module.name)
            # The texts show one branch of a conditional base; by text, fields count as members, too.
            assert any(classes == names and members >= methods for names, methods in expected)
            seen += 1
    assert seen >= 5
    module_texts, world = ModuleTexts(given), World(given, surroundings=())
    for row in NPU.names:
        found = world.lookup(row.new_module, row.new_name)
        assert module_texts.lacks(row.new_module, row.new_name) == all(d.kind == "missing" for d in found)


@pytest.mark.parametrize(
    ("dotted", "name", "home"),
    [
        pytest.param("vllm_ascend.worker.worker_v1", "NPUModelRunner", "vllm_ascend.worker.runner", id="module gone"),
        pytest.param("vllm_ascend.worker.runner", "NPUModelRunner", "", id="still there"),
        pytest.param("vllm_ascend.worker.worker_v1", "Other", "", id="defined nowhere"),
        pytest.param("vllm_ascend.worker_v1", "NPUModelRunner", "", id="in another package"),
        pytest.param("torch.worker_v1", "NPUModelRunner", "", id="a tree that is not at hand"),
    ],
)
def test_a_name_is_looked_for_beside_the_module_that_lost_it(dotted: str, name: str, home: str) -> None:
    assert ModuleTexts(trees("")).moved_to(dotted, name) == home


def test_of_two_modules_that_define_a_name_neither_is_its_new_home() -> None:
    twice = {**TREES, "vllm_ascend/worker/other.py": "def start():\n    pass\nclass NPUModelRunner:\n    pass\n"}
    twice["vllm_ascend/worker/third.py"] = "# start\nasync def start():\n    pass\n"
    twice["vllm_ascend/worker/fourth.py"] = "from .runner import NPUModelRunner\nstarted = 1\n"
    tree = TextTree(Source("vllm-ascend", "path", "vllm-ascend"), twice)
    module_texts = ModuleTexts({"vllm-ascend": tree})
    gone = "vllm_ascend.worker.worker_v1"
    assert [module_texts.moved_to(gone, name) for name in ("NPUModelRunner", "start", "started")] == ["", "", ""]
