"""Version switches in `verify`: only the branch that runs with the target's vLLM counts."""

from __future__ import annotations

import ast
import textwrap

import pytest
from verify_samples import NPU, TREES, TextTree, npu, symbols

from runner_sync.model import Finding, Project, Source
from runner_sync.profile import NPU as PROFILE
from runner_sync.verify import breakage
from runner_sync.verify.trees.versions import drop_other_versions
from runner_sync.verify.trees.world import World

SWITCH = """\
if {test}:
    first()
else:
    second()
"""

TAKEN = [
    pytest.param('vllm_version_is("0.24.0")', "first()", id="the version at hand"),
    pytest.param('vllm_version_is("0.24")', "first()", id="the same one in other words"),
    pytest.param('utils.vllm_version_is("0.23.0")', "second()", id="another one"),
    pytest.param('not vllm_version_is("0.24.0")', "second()", id="not the version at hand"),
    pytest.param('vllm_version_is("0.23.0") or vllm_version_is("0.24.0")', "first()", id="one of two"),
    pytest.param('is_310p() and vllm_version_is("0.23.0")', "second()", id="whatever else is asked"),
    pytest.param('is_310p() or vllm_version_is("0.24.0")', "first()", id="or whatever else is asked"),
]

OPEN = [
    pytest.param('is_310p() and vllm_version_is("0.24.0")', id="something else decides"),
    pytest.param('torch_version_is("2.9.0")', id="the version of something else"),
    pytest.param("vllm_version_is(WANTED)", id="a version that is not written down"),
    pytest.param('vllm_version_is("main")', id="no version"),
    pytest.param(f'vllm_version_is("{"1" * 5000}")', id="more digits than Python reads"),
    pytest.param('version == "0.24.0"', id="another way to ask"),
]


@pytest.mark.parametrize(("test", "taken"), TAKEN)
def test_the_branch_that_runs_stands_alone(test: str, taken: str) -> None:
    assert _settled(SWITCH.format(test=test)) == taken


@pytest.mark.parametrize("test", OPEN)
def test_a_switch_that_nobody_can_answer_stays(test: str) -> None:
    text = SWITCH.format(test=test)
    assert _settled(text) == ast.unparse(ast.parse(text))


def test_a_version_with_a_local_label_is_that_version() -> None:
    text = SWITCH.format(test='vllm_version_is("0.24.0")')
    assert ast.unparse(drop_other_versions(ast.parse(text), text, {"vllm": "0.24.0+empty"})) == "first()"


def test_what_comes_in_stays_as_it_is_and_what_is_left_alone_is_the_same_node() -> None:
    text = 'def old():\n    if vllm_version_is("0.23.0"):\n        return 1\n\ndef new():\n    return 2\n'
    tree = ast.parse(text)
    found = drop_other_versions(tree, text, {"vllm": "0.24.0"})
    assert ast.unparse(tree) == ast.unparse(ast.parse(text))
    assert found.body[1] is tree.body[1]
    assert ast.unparse(found.body[0]) == "def old():\n    pass"


def test_elif_and_nested_switches() -> None:
    text = """\
        def f():
            with lock:
                if vllm_version_is("0.22.0"):
                    one()
                elif vllm_version_is("0.23.0"):
                    two()
                elif ready:
                    three()
    """
    assert _settled(textwrap.dedent(text)) == "def f():\n    with lock:\n        if ready:\n            three()"


ASCEND = """\
from vllm.runner import GPUModelRunner
from vllm_ascend.utils import vllm_version_is

class NPUModelRunner(GPUModelRunner):
    def __init__(self, config):
        super().__init__(config)
        if vllm_version_is("0.23.0"):
            self.capturer = None
    if vllm_version_is("0.23.0"):
        def forward(self, padded, tokens):
            return tokens
    else:
        def forward(self, tokens):
            return tokens
    def start(self):
        if vllm_version_is("0.23.0"):
            self.initialize(1, pool=None)
        else:
            self.initialize(1)
    def initialize(self, config, pool=None):
        super().initialize(config)
"""

IMPORTS = """\
if vllm_version_is("0.23.0"):
    from vllm.gone import x
else:
    from vllm.runner import Buffer as x
"""
OVERRIDE = "def initialize(self, config):\n    pass\n"


@pytest.mark.parametrize(
    ("body", "head", "in_0_23", "in_0_24"),
    [
        ("def m(self):\n    return self.capturer", "", [], [("RS304", "capturer")]),
        ("def m(self):\n    return self.forward(1, 2)", "", [], [("RS302", "forward()")]),
        ("def m(self):\n    return self.forward(1)", "", [("RS302", "forward(tokens)")], []),
        (OVERRIDE, "", [("RS305", "initialize(pool=)")], []),
        (
            "",
            IMPORTS,
            [("RS301", "vllm.gone.x")],
            [],
        ),
    ],
)
def test_rules_look_at_the_branch_that_runs(
    body: str, head: str, in_0_23: list[tuple[str, str]], in_0_24: list[tuple[str, str]]
) -> None:
    runner = npu(body or "pass", head="from vllm_ascend.utils import vllm_version_is\n" + head)
    assert symbols(_found(runner, "0.23.0")) == in_0_23
    assert symbols(_found(runner, "0.24.0")) == in_0_24


def test_of_a_tree_without_a_version_both_branches_count() -> None:
    calls = npu("def m(self):\n    self.capturer\n    self.forward(1)\n    self.forward(1, 2)")
    assert symbols(_found(calls, None)) == []


def _settled(text: str) -> str:
    return ast.unparse(drop_other_versions(ast.parse(text), text, {"vllm": "0.24.0"}))


def _found(runner: str, version: str | None) -> list[Finding]:
    utils = "def vllm_version_is(wanted):\n    return False\n"
    files = TREES | {NPU: runner, "vllm_ascend/runner.py": ASCEND, "vllm_ascend/utils.py": utils}
    texts = {path: textwrap.dedent(text) for path, text in files.items()}
    roots: dict[Project, str] = {"vllm-omni": "vllm_omni/", "vllm-ascend": "vllm_ascend/", "vllm": "vllm/"}
    trees = {
        project: TextTree(
            Source(project, "release", project, version), {p: t for p, t in texts.items() if p.startswith(root)}
        )
        for project, root in roots.items()
    }
    return breakage.find(World(trees, surroundings=PROFILE.surroundings), None, [NPU])
