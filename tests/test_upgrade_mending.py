"""What omni's own methods pass on after the methods that they call have grown."""

from __future__ import annotations

import pytest

from runner_sync.profile import NPU
from runner_sync.upgrade.draft import Draft, Stage
from runner_sync.upgrade.job import Hierarchy, Inherited, ModuleJob
from runner_sync.upgrade.mending import pass_on

BEFORE = "    def forward(self, ids):\n        return ids\n"
NOW = "    def forward(self, padded, ids):\n        return ids[:padded]\n"
HELPER = "    def help(self, *, ids):\n        return self.forward(ids=ids)\n"
CALLER = "    def run(self, padded, ids):\n        return self.help(ids=ids)\n"


def after(*methods: str, members: dict[str, str | None] | None = None) -> tuple[list[str], list[str]]:
    """The methods of a class, and what is asked, after ``forward`` of its base got ``padded``."""
    given = [Draft(f"R.{text.split('(')[0].split()[-1]}", (Stage(text),), chosen=True) for text in methods]
    inherited = Inherited({"forward": NOW, **(members or {})}, before={"forward": BEFORE})
    job = ModuleJob(NPU, NPU.modules[1], "runner.py", "", hierarchy=Hierarchy(inherited={"R": inherited}))
    drafts = pass_on(given, job)
    assert all(bool(draft.reviews) is (draft.text != draft.before) for draft in drafts)
    return [draft.text for draft in drafts], [item.reason for draft in drafts for item in draft.reviews]


def test_a_helper_takes_it_from_its_callers_and_passes_it_on() -> None:
    texts, reasons = after(HELPER, CALLER)
    assert texts == [
        "    def help(self, *, padded, ids):\n        return self.forward(padded=padded, ids=ids)\n",
        "    def run(self, padded, ids):\n        return self.help(padded=padded, ids=ids)\n",
    ]
    assert reasons == [
        "forward requires padded since this upgrade: passed on here",
        "help requires padded since this upgrade: passed on here",
    ]


@pytest.mark.parametrize(
    ("methods", "members"),
    [
        pytest.param((HELPER, CALLER.replace("padded, ", "")), None, id="a caller that does not have it"),
        pytest.param((HELPER,), None, id="no caller at hand"),
        pytest.param((HELPER, CALLER), {"help": None}, id="a helper that a base class has, too"),
        pytest.param((HELPER.replace("(ids=ids)", "(1, ids)"), CALLER), None, id="nothing missing"),
    ],
)
def test_what_cannot_be_passed_on_is_left_to_verify(
    methods: tuple[str, ...], members: dict[str, str | None] | None
) -> None:
    assert after(*methods, members=members) == ([*methods], [])
