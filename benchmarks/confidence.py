"""``python -m benchmarks.confidence``: how often what a review item says was chosen is what people released.

Comes in: the corpus cases. Goes out: a Markdown table on standard output, by level of ``runner_sync.confidence``.
May touch: what ``runner_sync.sources`` touches.

A statement is decided by an item where not all of its sides and the choice have it. Tool and people agree on it when it
was chosen and stands in the unit as released, or was left out and does not.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path

from benchmarks import tables
from runner_sync import confidence, score
from runner_sync.model import ReviewItem
from runner_sync.sync import replaying
from runner_sync.sync.options import ReplayOptions
from runner_sync.units import texts

LEVELS = {value: name for name, value in vars(confidence).items() if name.isupper()}
SUITES = {"pass", "else:", "try:", "finally:", "if 1:"}
"""Lines that every text has, or that unparsing a part of one adds."""


def agreement(item: ReviewItem, truth: str) -> tuple[int, int]:
    """How many lines of code an item decides, and on how many of them the unit's released text agrees with it."""
    released = _lines(truth)
    chosen, omni, upstream = (_lines(text) for text in (item.chosen, item.omni, item.upstream))
    decided = (chosen | omni | upstream) - (chosen & omni & upstream)
    return len(decided), sum((line in chosen) == (line in released) for line in decided)


def _lines(text: str) -> set[str]:
    lines = {line.strip() for line in score.normalise_part(text).split("\n")} if text.strip() else set()
    return lines - SUITES - {""}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--corpus", type=Path, help="a corpus file instead of the built-in one")
    counts: dict[float, list[tuple[int, int]]] = defaultdict(list)
    for case in replaying.cases(parser.parse_args().corpus):
        done = replaying.run(case, ReplayOptions())
        for result in done.results:
            released = texts.unit_texts(done.truth[result.path], result.path)
            for item in result.reviews:
                counts[item.confidence].append(agreement(item, released.get(item.unit, "")))
    rows = []
    for level, found in sorted(counts.items(), reverse=True):
        decided, agreed = (sum(column) for column in zip(*found, strict=True))
        share = tables.percent(agreed / decided) if decided else "–"
        rows.append((f"{LEVELS[level]} {level}", str(len(found)), str(decided), share))
    print(tables.table(("level", "items", "lines decided", "as released"), rows), end="")


if __name__ == "__main__":
    main()
