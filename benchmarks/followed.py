"""Repeat the corpus on the vllm-ascend commit that people followed instead of the nearest release.

Comes in: a checkout of vllm-ascend with its history. Goes out: ``Row`` values and a Markdown table. May touch: what
``runner_sync.sources`` touches.

The corpus names releases, the best that a maintainer can be given. But people copied from a commit between two
releases, and vllm-ascend's changes between that commit and the release count against every tool. The commit is found
without a tool: it is the revision whose methods share most lines with the released copies.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks import tables
from benchmarks.corpus import ALIKE, measure_likeness, open_tree, select_cases
from benchmarks.scoring import Row, average, from_replay
from benchmarks.upstreams import Version, load_revisions, open_checkout
from runner_sync.lineage import timeline
from runner_sync.profile import NPU
from runner_sync.sync import replaying
from runner_sync.sync.trees import inputs
from runner_sync.sync.upgrade_options import ReplayOptions
from runner_sync.units import texts


def make_section(names: Sequence[str], path: Path) -> str:
    """Return the section: one row per case, and their mean. Raises ``InputError`` for a path without history."""
    versions = load_revisions(path)
    rows = [_replay(case, find_followed(case, versions), path) for case in select_cases(names)]
    head = ("case, vllm-ascend commit", "effort left", "kept", "recall", "precision", "silent", "review items")
    rows.append(replace(average(rows), tool="mean"))
    cells = [
        (
            row.tool,
            tables.format_number(row.effort_left, 3),
            tables.format_number(row.kept, 3),
            tables.format_number(row.recall),
            tables.format_number(row.precision),
            str(row.silent),
            str(row.conflicts),
        )
        for row in rows
    ]
    return f"\n### On the commit that people followed\n\n{tables.format_table(head, cells)}"


def find_followed(case: replaying.Case, versions: Sequence[Version]) -> Version:
    """Return the revision that is nearest to the released runners of a case."""
    namesakes: dict[str, set[str]] = {}
    for version in versions:
        for name, method in version.methods.items():
            namesakes.setdefault(name, set()).add(method)
    copies = [
        (name, member)
        for name, member in _iter_released(case)
        if any(measure_likeness(method, member) >= ALIKE for method in namesakes.get(name, ()))
    ]
    return find_nearest(copies, versions)


def find_nearest(copies: Sequence[tuple[str, str]], versions: Sequence[Version]) -> Version:
    """Return the version whose methods are closest to ``copies`` (names and texts); among equals, the newest.

    ``versions`` are oldest first. Closeness is the Dice coefficient of the lines of all copies and all methods of the
    same names, each taken as one text.
    """
    return max(reversed(versions), key=lambda version: _measure_nearness(copies, version))


def _iter_released(case: replaying.Case) -> Iterator[tuple[str, str]]:
    for module in NPU.runners:
        place = inputs.read_first(open_tree("vllm-omni", case.omni_after), module.paths)
        yield from texts.members(place[1], module.name, place[0]).items() if place else ()


def _measure_nearness(copies: Sequence[tuple[str, str]], version: Version) -> float:
    common = total = 0
    for name, copy in copies:
        copy_lines, method_lines = timeline.count_lines(copy), timeline.count_lines(version.methods.get(name, ""))
        common += (copy_lines & method_lines).total()
        total += copy_lines.total() + method_lines.total()
    return 2 * common / total if total else 0.0


def _replay(case: replaying.Case, version: Version, path: Path) -> Row:
    done = replaying.run(case, ReplayOptions(), ascend=open_checkout(path, version.ref))
    return from_replay(f"{case.id}, {version.ref}", replaying.row(done))
