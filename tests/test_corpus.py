"""The engine on released code: scores that may only get better, and upgrades that change nothing without a cause."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from conftest import PINS

from runner_sync.lock import load
from runner_sync.model import Project
from runner_sync.profile import NPU
from runner_sync.sync import ReplayOptions, TreeOptions, Upgrade, UpgradeOptions, lock, upgrade
from runner_sync.sync.replaying import Replayed, cases, largest, row, run
from runner_sync.sync.synced.twin_bases import RELEASES
from runner_sync.sync.trees import inputs as sync_inputs
from runner_sync.sync.trees.patched_tree import PatchedTree
from runner_sync.trees import Tree

pytestmark = pytest.mark.corpus

Release = Callable[[Project, str], Tree]
SCORES = tomllib.loads((Path(__file__).parent / "corpus_scores.toml").read_text("utf-8"))
CASES = {case.id: case for case in cases()}
MORE = {
    case.id: case
    for name in ("more", "candidates", "further", "gpu")
    for case in cases(Path(__file__).parents[1] / "benchmarks" / f"{name}.toml")
}

WORSE, BETTER = 0.005, 0.02

BASES = {
    "0.14.0": "0.14.0rc1",
    "0.16.0": "0.15.0rc1",
    "0.18.0rc1": "0.17.0rc1",
    "0.18.0": "0.17.0rc1",
    "0.20.0rc1": "0.17.0rc1",
    "0.20.0": "0.19.1rc1",
    "0.21.0rc1": "0.19.1rc1",
    "0.22.0": "0.19.1rc1",
    "0.23.0rc1": "0.19.1rc1",
    "0.24.0rc1": "0.19.1rc1",
    "0.24.0": "0.19.1rc1",
    "0.25.0rc1": "0.19.1rc1",
    "0.26.0rc1": "0.19.1rc1",
    "0.26.0": "0.25.1rc1",
    "0.27.0rc1": "0.25.1rc1",
    "0.28.0rc1": "0.25.1rc1",
    "0.28.0": "0.25.1rc1",
    "0.29.0rc1": "0.25.1rc1",
    "0.30.0rc1": "0.22.1rc1",
    "0.30.0": "0.22.1rc1",
    "0.31.0rc1": "0.22.1rc1",
    "0.32.0rc1": "0.22.1rc1",
}
"""vllm-omni release → the vllm-ascend release that most of its copied units come from, as ``upgrade`` infers it."""


@pytest.fixture(scope="session")
def replayed(corpus_release: Release) -> Callable[[str, str], Replayed]:
    """A case replayed in a mode, once per session."""

    @cache
    def once(name: str, mode: str) -> Replayed:
        case = {**CASES, **MORE}[name]
        for version in (*before_omni(case.omni_before), case.omni_before, case.omni_after):
            corpus_release("vllm-omni", version)
        for version in (*before(case.ascend_base), case.ascend_base, case.ascend):
            if version:
                corpus_release("vllm-ascend", version)
        return run(case, ReplayOptions(gpu=mode == "both"))

    return once


def before(base: str) -> list[str]:
    """The release before the one that a case names as base: it tells what the base was the first to have."""
    known = list(PINS["vllm-ascend"])
    return known[known.index(base) - 1 :][:1] if base in known[1:] else []


def before_omni(base: str) -> list[str]:
    """The releases before a base: what a candidate owes counts as new, and a port may rest on what came earlier."""
    known = list(PINS["vllm-omni"])
    return known[: known.index(base)][-RELEASES:]


def hunks(item: Replayed) -> str:
    """The largest differences to what people released, for the message of a failure."""
    return "\n\n".join(f"{h.path} only {h.side} ({h.lines} lines):\n{h.text}" for h in largest(item, 3))


SCORED = [pytest.param(name, mode, id=f"{name}-{mode}") for mode, known in SCORES.items() for name in known]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "mode"), SCORED)
def test_scores_never_get_worse(name: str, mode: str, replayed: Callable[[str, str], Replayed]) -> None:
    item = replayed(name, mode)
    score, known = row(item), SCORES[mode][name]
    assert score.parses
    assert score.effort_left <= known["effort_left"] + WORSE, f"{score}\n{hunks(item)}"
    assert score.kept <= known["kept"] + BETTER, f"{score}\n{hunks(item)}"
    assert score.precision >= known["precision"] - BETTER, f"{score}\n{hunks(item)}"
    assert score.recall >= known["recall"] - WORSE, f"{score}\n{hunks(item)}"
    assert score.silent <= known["silent"], f"{score}\n{hunks(item)}"
    better = known["effort_left"] - score.effort_left
    assert better <= BETTER, f"promote me: {score}; set effort_left of {mode}.{name} in corpus_scores.toml"


LIMITS = {
    "upstream": {"effort_left": 0.65, "kept": 0.50, "precision": 0.75},
    "both": {"effort_left": 0.30, "kept": 0.20, "recall": 0.75, "precision": 0.90},
}
"""What the project promises as means over the cases."""


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "name"), [(mode, name) for mode, limits in LIMITS.items() for name in limits])
def test_means_stay_within_what_is_promised(mode: str, name: str, replayed: Callable[[str, str], Replayed]) -> None:
    values = {case: getattr(row(replayed(case, mode)), name) for case in CASES}
    mean, limit = sum(values.values()) / len(values), LIMITS[mode][name]
    kept = mean >= limit if name in ("recall", "precision") else mean <= limit
    assert kept, f"mean {name} {mean:.3f}, promised {limit}: {values}"


def options(omni: str, ascend: str, *, base: str | None = None, gpu: bool = False) -> UpgradeOptions:
    return UpgradeOptions(
        omni=TreeOptions(version=omni), ascend=TreeOptions(version=ascend), ascend_base=base, gpu=gpu, verify=False
    )


def planned(corpus_release: Release, wanted: UpgradeOptions) -> Upgrade:
    corpus_release("vllm-omni", wanted.omni.version or "")
    corpus_release("vllm-ascend", wanted.ascend.version or "")
    return upgrade(wanted)


@pytest.mark.slow
@pytest.mark.parametrize(("omni", "base"), BASES.items())
def test_onto_its_own_base_a_release_keeps_its_bytes(omni: str, base: str, corpus_release: Release) -> None:
    result = planned(corpus_release, options(omni, base, base=base))
    assert [change.path for change in result.changes] == []
    assert result.report.reviews == ()


@pytest.mark.parametrize("omni", ["0.22.0"])
def test_units_that_come_from_the_target_keep_their_bytes(omni: str, corpus_release: Release) -> None:
    """Here the bases are inferred over all releases, and the other units may change."""
    result = planned(corpus_release, options(omni, BASES[omni]))
    own = [unit for unit in result.report.units if unit.base is not None and unit.base.ref == BASES[omni]]
    assert len(own) >= 5
    assert {unit.unit for unit in own if unit.outcome != "unchanged"} == set()


UPGRADES = [("0.18.0", "0.19.1rc1"), ("0.22.0", "0.22.1rc1"), ("0.26.0", "0.28.0rc1"), ("0.32.0rc1", "0.30.0rc2")]


def overlaid(texts: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on the omni tree has these texts, a lock among them."""
    opened = sync_inputs.open_omni

    def upgraded(*arguments: object, **options: object) -> sync_inputs.Inputs:
        given = opened(*arguments, **options)  # type: ignore[arg-type]
        return replace(given, omni=PatchedTree(given.omni, texts), lock=load(texts[NPU.lock_file]))

    monkeypatch.setattr(sync_inputs, "open_omni", upgraded)


@pytest.mark.slow
@pytest.mark.parametrize("gpu", [False, True], ids=["upstream", "both"])
@pytest.mark.parametrize(("omni", "ascend"), UPGRADES)
def test_a_second_upgrade_changes_nothing_and_asks_nothing(
    omni: str, ascend: str, gpu: bool, corpus_release: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = options(omni, ascend, gpu=gpu)
    first = planned(corpus_release, wanted)
    assert first.changes
    for change in first.changes:
        compile(change.after or "", change.path, "exec", dont_inherit=True)
    assert first.lock is not None
    texts = {change.path: change.after or "" for change in (*first.changes, first.lock)}
    overlaid(texts, monkeypatch)
    second = upgrade(wanted)
    assert {c.path: changed(texts.get(c.path, ""), c.after or "") for c in second.changes} == {}
    assert [item.reason for item in second.report.reviews] == []


@pytest.mark.slow
@pytest.mark.parametrize(("omni", "ascend"), [("0.28.0", "0.30.0rc2"), ("0.32.0rc1", "0.30.0rc2")])
def test_a_lock_made_before_changes_nothing_of_an_upgrade_and_of_the_next(
    omni: str, ascend: str, corpus_release: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lock is what the upgrade would have inferred."""
    wanted = options(omni, ascend, gpu=True)
    without = {change.path: change.after or "" for change in planned(corpus_release, wanted).changes}
    made = lock(wanted).lock
    assert made is not None
    texts = {NPU.lock_file: made.after or ""}
    overlaid(texts, monkeypatch)
    first = upgrade(wanted)
    assert {
        c.path: changed(without.get(c.path, ""), c.after or "") for c in first.changes if c.after != without[c.path]
    } == {}
    assert first.lock is not None
    texts |= {change.path: change.after or "" for change in (*first.changes, first.lock)}
    second = upgrade(wanted)
    assert [change.path for change in second.changes] == []
    assert [item.reason for item in second.report.reviews] == []


def changed(before: str, after: str) -> list[str]:
    """The lines by which two texts differ, for the message of a failure."""
    return list(difflib.unified_diff(before.split("\n"), after.split("\n"), n=1, lineterm=""))[2:40]
