"""Whatever both sides do to a method, the file that an upgrade writes is Python.

Methods are made at random as for the nesting laws.
"""

from __future__ import annotations

import textwrap

import pytest
from test_nesting_laws import Maker, method

from runner_sync import merge
from runner_sync.model import Triple
from runner_sync.profile import NPU
from runner_sync.statements import compiles
from runner_sync.upgrade.job import ModuleJob, ModuleRevision, Upstream
from runner_sync.upgrade.module import ModuleResult, upgrade_module

MODULE = NPU.modules[0]
PATH = MODULE.upstreams[0].path


def runner(text: str, name: str = "OmniNPUModelRunner") -> str:
    return f"class {name}(Base):\n" + textwrap.indent(text, "    ")


def upgraded(triple: Triple) -> ModuleResult:
    """A copy in omni's runner, brought from one release of vllm-ascend to the next."""
    sides = {"0.1": triple.base, "0.2": triple.upstream}
    old, new = (ModuleRevision(ref, runner(text, "NPUModelRunner"), PATH) for ref, text in sides.items())
    return upgrade_module(ModuleJob(NPU, MODULE, "runner.py", runner(triple.omni), Upstream(new=new, bases=(old, new))))


def made_at_random(seed: int) -> Triple:
    body = Maker(seed, "b").body()
    return Triple(*map(method, (body, *(Maker(seed, side).edited(body) for side in "ou"))))


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_the_file_is_python_and_has_what_was_merged(first: int) -> None:
    grown = 0
    for seed in range(first, first + 20):
        triple = made_at_random(seed)
        result = upgraded(triple)
        assert compiles(result.after), result.after
        grown += result.after != runner(triple.omni)
    assert grown > 5


def test_a_merge_that_is_no_python_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    base = "def run(self, a):\n    take(a)\n    pack(a)\n    send(a)\n"
    triple = Triple(base, base.replace("take(a)", "take(a, 1)"), base.replace("send(a)", "send(a, 2)"))
    monkeypatch.setattr(merge, "merge", lambda *_, **__: merge.Merged("    def run(:\n", (), parses=False))
    result = upgraded(triple)
    assert result.after == runner(triple.omni)
    assert "did not parse" in "".join(item.reason for item in result.reviews)
