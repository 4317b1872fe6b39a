"""``python -m benchmarks.confidence``: how often people released what a review item chose.

Comes in: the corpus cases. Goes out: a Markdown table on standard output, by level of ``runner_sync.confidence``. May
touch: what ``runner_sync.sources`` touches.

An item decides a statement if some, but not all, of its two sides and its choice contain it. Tool and people agree on
the statement if it is in both the choice and the released unit, or in neither.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path

from benchmarks import tables
from runner_sync import confidence, score
from runner_sync.model import ReviewItem
from runner_sync.sync import replaying
from runner_sync.sync.upgrade_options import ReplayOptions
from runner_sync.units import texts

LEVELS = {value: name for name, value in vars(confidence).items() if name.isupper()}
SUITES = {"pass", "else:", "try:", "finally:", "if 1:"}
"""Lines that every text has, or that unparsing a part of a text adds."""


def count_agreement(item: ReviewItem, truth: str) -> tuple[int, int]:
    """Return the number of code lines that an item decides, and on how many the released text agrees."""
    released = _get_lines(truth)
    chosen, omni, upstream = (_get_lines(text) for text in (item.chosen, item.omni, item.upstream))
    decided = (chosen | omni | upstream) - (chosen & omni & upstream)
    return len(decided), sum((line in chosen) == (line in released) for line in decided)


def _get_lines(text: str) -> set[str]:
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
                counts[item.confidence].append(count_agreement(item, released.get(item.unit, "")))
    rows = []
    for level, found in sorted(counts.items(), reverse=True):
        decided, agreed = (sum(column) for column in zip(*found, strict=True))
        share = tables.format_percent(agreed / decided) if decided else "–"
        rows.append((f"{LEVELS[level]} {level}", str(len(found)), str(decided), share))
    print(tables.format_table(("level", "items", "lines decided", "as released"), rows), end="")


if __name__ == "__main__":
    main()
