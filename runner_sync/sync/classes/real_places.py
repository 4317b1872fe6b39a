"""Find where code stands that was read as a part of a GPU runner, and say so in what the rules found.

Comes in: a run's inputs, and what the rules found in the texts that ``whole_twins`` completed. Goes out: the same with
the files and lines of the tree. May touch: the tree, by reading.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from runner_sync.sync.classes.whole_twins import Part, complete_twins, find_parts
from runner_sync.sync.trees.inputs import Inputs
from runner_sync.units import texts
from runner_sync.verify.check import CheckJob, Found
from runner_sync.verify.codes import Codes
from runner_sync.verify.runners.reading import Hit, Span

Finder = Callable[[CheckJob, Codes], Found]


def with_real_places(find: Finder, given: Inputs) -> Finder:
    """Return ``find`` with the places of the tree in what it finds; ``find`` itself if no GPU runner is in parts."""
    shifted = {
        path: shifts
        for path in dict.fromkeys(path for module in given.profile.modules for path in module.twin_paths)
        if (shifts := _find_shifts(path, given))
    }
    if not shifted:
        return find

    def find_in_place(job: CheckJob, codes: Codes) -> Found:
        found = find(job, codes)
        return replace(found, hits=tuple(_move_hit(hit, shifted) for hit in found.hits))

    return find_in_place


_Shifts = Sequence[tuple[int, str, int]]
"""For the units of a completed text, by place: their last line, the file that they are in, and what is added to a line
there."""


def _find_shifts(path: str, given: Inputs) -> _Shifts:
    """Return the shifts of the module at ``path``; none if it is as in the tree."""
    raw = given.omni.read(path)
    if raw is None or (whole := complete_twins(raw, path, given.omni, given)) == raw:
        return []
    starts = {unit.qualname: (path, unit.start) for unit in texts.unit_table(raw, path).values()}
    for owner, part in find_parts(path, given):
        starts |= _find_starts(owner, part)
    return [
        (unit.end, starts[name][0], starts[name][1] - unit.start)
        for name, unit in texts.unit_table(whole, path).items()
        if name in starts
    ]


def _find_starts(owner: str, part: Part) -> dict[str, tuple[str, int]]:
    """Return where the methods stand that the GPU class ``owner`` has from ``part``."""
    units = texts.unit_table(part.inherited.text, part.inherited.path)
    return {
        f"{owner}.{member}": (part.inherited.path, units[f"{part.name}.{member}"].start)
        for member in part.inherited.methods
    }


def _move_hit(hit: Hit, shifted: Mapping[str, _Shifts]) -> Hit:
    finding = hit.finding
    path, line, end_line = _move_span((finding.path, finding.line, finding.end_line), shifted)
    message = _rename_places(finding.message, shifted)
    moved = replace(finding, path=path, line=line, end_line=end_line, message=message)
    return replace(hit, finding=moved, also=tuple(_move_span(span, shifted) for span in hit.also))


def _rename_places(message: str, shifted: Mapping[str, _Shifts]) -> str:
    """Return a message with the real places in place of ``path:line``."""

    def rename(found: re.Match[str]) -> str:
        line = int(found[2])
        path, first, _ = _move_span((found[1], line, line), shifted)
        return f"{path}:{first}"

    return re.sub(rf"(?<![\w/])({'|'.join(map(re.escape, shifted))}):(\d+)", rename, message)


def _move_span(span: Span, shifted: Mapping[str, _Shifts]) -> Span:
    """Return where the lines of a span stand; what is between two units moves with the second."""
    path, first, last = span
    for end, real, shift in sorted(shifted.get(path, ()), key=lambda one: one[0]):
        if first <= end:
            return real, first + shift, last + shift
    return span
