"""A copy from between two releases, of a method that upstream made of another one in that time."""

from __future__ import annotations

import re

import pytest

from runner_sync.profile import NPU
from runner_sync.upgrade.job import ModuleJob, Upstream
from runner_sync.upgrade.module import upgrade_module
from runner_sync.upgrade.revision import ModuleRevision

MODULE = NPU.modules[0]
PATH = MODULE.anchor.path

FORWARD = """\
    def {name}(self, rows, total):
        assert self.model is not None
        context = get_context()
        self.update_positions(context, rows, total)
        hidden = self.model(rows, total)
        self.collect_statistics(hidden)
        if {condition}(hidden, Partial):
            hidden = self.gather_hidden_states(hidden)
        return hidden
"""
OLDEST = "get_context().is_parallel and not isinstance"
OLD = "get_context().is_sequence_parallel and not isinstance"
NEW = "context.is_sequence_parallel and not isinstance"
OWN = "get_context().is_parallel_here and not isinstance"


def runner(*methods: str, name: str = "NPUModelRunner") -> str:
    return f"class {name}(Base):\n" + "\n".join(methods)


def forward(condition: str, name: str = "_model_forward") -> str:
    return FORWARD.format(name=name, condition=condition)


def upgraded(before: str, copied: str) -> tuple[str, list[str]]:
    """A runner with ``copied``, and the questions; its base is the release after the one that has ``before``."""
    sides = [ModuleRevision("0.1", runner(before), PATH), ModuleRevision("0.2", runner(forward(OLD)), PATH)]
    new = ModuleRevision("0.3", runner(forward(NEW)), PATH)
    text = runner(copied, name="OmniNPUModelRunner")
    job = ModuleJob(NPU, MODULE, "runner.py", text, Upstream(new=new, bases=(*sides, new)))
    result = upgrade_module(job)
    return result.after, [item.reason for item in result.reviews]


MADE_OF = forward(OLDEST, "_generate_hidden_states")


@pytest.mark.parametrize("local", ["hidden", "model_output"])
def test_what_the_method_had_under_its_old_name_is_no_edit(local: str) -> None:
    text, reasons = upgraded(MADE_OF, re.sub(r"\bhidden\b", local, forward(OLDEST)))
    assert f"if {NEW}({local}, Partial):" in text
    assert reasons == []


@pytest.mark.parametrize(
    ("before", "condition"),
    [
        pytest.param(MADE_OF, OWN, id="an edit of omni's own"),
        pytest.param(forward(OWN, "_model_forward_pooling"), OLDEST, id="the method given up had it otherwise"),
        pytest.param("    def _other(self):\n        return self.rows\n", OLDEST, id="no such method"),
    ],
)
def test_an_edit_of_omnis_is_asked_about(before: str, condition: str) -> None:
    text, reasons = upgraded(before, forward(condition))
    assert f"if {condition}(hidden, Partial):" in text
    assert reasons == ["omni and upstream changed the same part of a statement"]


def test_what_omni_has_of_it_beside_the_base_stays() -> None:
    """Only what stands for a statement of the base is older than that; the rest omni has from there on purpose."""
    before = MADE_OF.replace(
        "        return hidden\n", "        self.record_timing_of(hidden, total)\n        return hidden\n"
    )
    own = forward(OLD).replace(
        "        return hidden\n", "        self.record_timing_of(hidden, total)\n        return hidden\n"
    )
    text, _ = upgraded(before, own)
    assert "self.record_timing_of(hidden, total)" in text
