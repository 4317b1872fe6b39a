"""``python -m benchmarks.rebases``: omni's GPU runners on the next vLLM, what breaks, and what mends it.

Compares what ``verify`` reports, what people mended, and what ``upgrade`` mends.

Comes in: releases of vllm-omni and vLLM. Goes out: ``Rebase`` rows, one per pair. May touch: what
``runner_sync.sources`` touches.

All but five rules were made before anybody looked at these runners. RS321, and parts of RS302, RS313 and RS319, report
five of the breaks and were made while reading them. RS322, made while reading the NPU runners, reports one. A break is
reported if a release's runners have it on the vLLM of the next release and not on their own. It is mended if the next
release's runners do not have it. The authors of this benchmark wrote neither. It proves how many of the reported breaks
people found worth mending, and that an upgrade repairs them. It does not show unreported breaks.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from benchmarks import corpus, section, tables
from benchmarks.debts import get_vllm_version
from benchmarks.spread import spread
from runner_sync import sync
from runner_sync.model import Finding, Project
from runner_sync.profile import GPU
from runner_sync.sync.options import TreeOptions
from runner_sync.sync.upgrade_options import UpgradeOptions
from runner_sync.trees import Tree
from runner_sync.verify import breakage
from runner_sync.verify.trees.world import World

RELEASES = (
    *("0.12.0rc1", "0.14.0", "0.16.0", "0.18.0", "0.20.0", "0.22.0"),
    *("0.24.0", "0.26.0", "0.28.0", "0.30.0", "0.32.0rc1"),
)

Break = tuple[str, str]
"""The code and the symbol of findings with one cause."""


@dataclass(frozen=True, slots=True)
class Rebase:
    """One pair of releases: the reported breaks, those that people or an upgrade left, and the new ones in the upgrade.

    ``reviews`` is the number of review items of the upgrade.
    """

    omni: str
    vllm: str
    told: frozenset[Break]
    left_by_people: frozenset[Break]
    left_by_upgrade: frozenset[Break]
    new_in_upgrade: frozenset[Break]
    reviews: int


def rebase(omni: str, following: str) -> Rebase:
    """Return one row. Raises ``InputError``."""
    old, new = get_vllm_version(omni), get_vllm_version(following)
    reported, released = find_breaks(omni, new, old), find_breaks(following, new, old)
    options = UpgradeOptions(omni=TreeOptions(version=omni), vllm=TreeOptions(version=new), profile="gpu")
    report = sync.upgrade(options).report
    made = _get_breaks(report.findings)
    new_in_upgrade = made - reported - find_breaks(omni, new, None)
    return Rebase(omni, new, reported, reported & released, reported & made, new_in_upgrade, len(report.reviews))


def find_breaks(omni: str, new: str, old: str | None) -> frozenset[Break]:
    """Return what breaks in a release's GPU runners on vLLM ``new`` and, if given, not on vLLM ``old``."""
    tree = corpus.open_tree("vllm-omni", omni)
    own = [path for module in GPU.modules for path in module.paths if tree.read(path) is not None]
    world = _make_world(omni, new)
    return _get_breaks(
        breakage.find(world, _make_world(omni, old) if old is not None else None, [*own, *world.beside(own)])
    )


def _make_world(omni: str, vllm: str) -> World:
    trees: dict[Project, Tree] = {
        "vllm-omni": corpus.open_tree("vllm-omni", omni),
        "vllm": corpus.open_tree("vllm", vllm),
    }
    return World(trees, surroundings=GPU.surroundings)


def _get_breaks(findings: Iterable[Finding]) -> frozenset[Break]:
    return frozenset((finding.code, finding.symbol) for finding in findings)


def make_rows() -> list[Rebase]:
    """Return one row per release except the last. Raises ``InputError``."""
    return spread(_rebase_pair, list(pairwise(RELEASES)))


def _rebase_pair(pair: tuple[str, str]) -> Rebase:
    return rebase(*pair)


def report() -> str:
    """Return the rows and the remaining breaks as Markdown. Raises ``InputError``."""
    found = make_rows()
    head = ("GPU runners of", "on vLLM", "told", "mended by people", "mended by upgrade", "new in that", "review items")
    cells = [(row.omni, row.vllm, *map(str, _count(row))) for row in found]
    sums = [sum(column) for column in zip(*map(_count, found), strict=True)]
    cells.append(("all", "", *map(str, sums)))
    lines = [
        f"- {row.omni}, left by {who}: {', '.join(f'{code} {symbol}' for code, symbol in sorted(left))}"
        for row in found
        for who, left in (("people", row.left_by_people), ("the upgrade", row.left_by_upgrade | row.new_in_upgrade))
        if left
    ]
    return "\n".join([f"## GPU runners on the next vLLM\n\n{tables.format_table(head, cells)}", *lines, ""])


def _count(row: Rebase) -> tuple[int, ...]:
    reported = len(row.told)
    return (
        reported,
        reported - len(row.left_by_people),
        reported - len(row.left_by_upgrade),
        len(row.new_in_upgrade),
        row.reviews,
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return 2 if an input cannot be read."""
    return section.run("rebases", report, __doc__.split("\n")[0], argv)


if __name__ == "__main__":
    sys.exit(main())
