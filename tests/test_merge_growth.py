"""How the work and the room of a merge grow with its texts."""

from __future__ import annotations

import sys
import tracemalloc
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import pytest

from runner_sync.merge import (
    Reason,
    merge,
)
from runner_sync.merge.keeping import lost
from runner_sync.merge.matching.align import find_common
from runner_sync.model import Triple
from runner_sync.statements import flatten

if TYPE_CHECKING:
    from types import TraceFunction
from merge_samples import POLICIES


def method(steps: Sequence[str]) -> str:
    return "def run(self, rows):\n" + "".join(f"    {line}\n" for line in steps)


def among(lines: Sequence[str], word: str, argument: str = "rows") -> str:
    """A method with all lines, and behind every step one of a side's own."""
    own = (line.replace("step", word).replace("rows", argument) for line in lines)
    pairs = zip(lines, own, strict=True)
    return method([one for line, new in pairs for one in ((line, new) if "self.step" in line else (line,))])


def with_unread_additions(steps: list[str]) -> Triple:
    """Upstream gives every step a local, the only reader of which is refused."""
    new = [(step, f"v{k} = self.fetch_{k}()", f"self.refused_{k}(v{k})") for k, step in enumerate(steps)]
    return Triple(method(steps), method([*steps, "self.mine()"]), method([line for lines in new for line in lines]))


def with_removals_beside_edits(steps: list[str]) -> Triple:
    """Omni keeps no step's value, and upstream has edited what stands behind each of them."""
    rows = [(f"v{k} = {step}", f"self.tell_{k}(rows)", f"self.end_{k}(rows)") for k, step in enumerate(steps)]
    sides = (
        [line for row in rows for line in row],
        [line for row in rows for line in row[1:]],
        [line for made, told, end in rows for line in (made, told.replace("rows", "rows, 1"), end)],
    )
    return Triple(*map(method, sides))


def with_additions_of_both(steps: list[str]) -> Triple:
    """And every one of upstream's reads a local that nothing sets."""
    return Triple(method(steps), among(steps, "omni"), among(steps, "new", "cols"))


def with_readers_of_a_lost_local(steps: list[str]) -> Triple:
    """Each of upstream's additions reads a local that omni has taken out."""
    start = "total = self.start()"
    return Triple(method([start, *steps]), method(steps), among([start, *steps], "note", "total"))


def with_branches(steps: list[str]) -> Triple:
    """Each step has its condition."""
    lines = [line for k, step in enumerate(steps) for line in (f"if self.on_{k}:", f"    {step}")]
    return Triple(method(lines), among(lines, "omni"), among(lines, "new"))


def lines_run(triple: Triple, policy: str) -> Counter[str]:
    """How many lines of every function of the merge run to merge a unit."""
    room = str(Path(lost.__file__).parents[1])
    count: Counter[str] = Counter()

    def refuse(canon: str) -> Reason | None:
        return Reason("uses refused code", ("refused",)) if "refused" in canon else None

    def line(frame: FrameType, event: str, _: object) -> TraceFunction | None:
        if not frame.f_code.co_filename.startswith(room):
            return None
        if event == "line":
            count[f"{Path(frame.f_code.co_filename).stem}.{frame.f_code.co_qualname}"] += 1
        return line

    before = sys.gettrace()
    sys.settrace(line)
    try:
        merge(triple, policy=POLICIES[policy], veto=refuse)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("policy", [pytest.param("follow", marks=pytest.mark.slow), "port"])
@pytest.mark.parametrize(
    "made",
    [
        with_unread_additions,
        with_removals_beside_edits,
        with_additions_of_both,
        with_readers_of_a_lost_local,
        with_branches,
    ],
)
def test_no_part_of_a_merge_takes_four_times_the_work_for_twice_the_text(
    made: Callable[[list[str]], Triple], policy: str
) -> None:
    """A method of thousands of lines takes seconds then, and no minutes; a function that runs few lines does not count.

    A search in something sorted takes a little more than twice the work, one in all of it four times.
    """
    once, twice = (lines_run(made([f"self.step_{k}(rows)" for k in range(n)]), policy) for n in (30, 60))
    assert once.total() > 10_000
    assert {name: (once[name], n) for name, n in twice.items() if n > max(2.7 * once[name], 1000)} == {}


def test_equal_statements_in_a_row_take_room_for_a_row_and_not_for_a_table() -> None:
    """``rows.append(None)`` a thousand times on both sides is a million pairs."""

    def peak(count: int) -> int:
        left, right = flatten("a()\n" * count + "b()\n"), flatten("c()\n" + "a()\n" * count)
        tracemalloc.start()
        try:
            assert len(find_common(left, right)) == count
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    once, twice = (min(peak(count) for _ in range(3)) for count in (200, 400))
    assert 0 < twice < 3 * once
