"""The fake ``sync`` of the other tests stands for the real one: same names, same parameters, same values."""

from __future__ import annotations

import inspect
from dataclasses import fields

import pytest
from cli_samples import FakeSync
from cli_samples import Upgrade as FakeUpgrade

from runner_sync import sync

PARAMETERS = {
    "upgrade": ["options"],
    "apply": ["upgrade", "options"],
    "lock": ["options"],
    "check": ["options"],
    "verify": ["options"],
    "blocks": ["options"],
    "explain": ["options", "file", "line"],
    "explain_item": ["options", "beginning"],
    "find_open": ["options"],
    "settle": ["found", "decisions"],
    "hoist": ["options", "unit"],
    "kept_files": ["options"],
    "require_place": ["options"],
    "rules": ["code"],
    "replay": ["options"],
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_the_real_sync_takes_what_the_commands_give(name: str) -> None:
    parameters = inspect.signature(getattr(sync, name)).parameters.values()
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    assert len(positional) >= len(PARAMETERS[name])
    assert all(p.default is not p.empty for p in positional[len(PARAMETERS[name]) :])


def test_the_fake_has_the_same_names() -> None:
    module = FakeSync().module()
    assert [name for name in PARAMETERS if not hasattr(module, name)] == []


def test_a_planned_upgrade_has_the_same_fields() -> None:
    assert [field.name for field in fields(FakeUpgrade)] == [field.name for field in fields(sync.Upgrade)]
