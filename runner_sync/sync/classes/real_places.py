"""Find where code stands that was read as a part of a runner, and say so in what the rules found.

Comes in: a run's inputs, and what the rules found in the texts that ``whole_twins`` and ``parted_runners`` completed.
Goes out: the same with the files and lines of the tree. May touch: the tree, by reading.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from runner_sync.model import Finding
from runner_sync.naming import imported_by
from runner_sync.sync.classes.whole_twins import MovedMethods, complete_twins, find_imported, find_moved_methods
from runner_sync.sync.trees.inputs import Inputs
from runner_sync.syntax import module_of
from runner_sync.texts.import_entries import import_statements, read_imports
from runner_sync.units import texts
from runner_sync.verify.check import Places
from runner_sync.verify.hits import Hit, Span

if TYPE_CHECKING:
    from runner_sync.sync.classes.parted_runners import Parted


def find_real_places(given: Inputs, parted: Sequence[Parted] = ()) -> Places | None:
    """Return a function that puts the places of the tree into what rules found; ``None`` if no runner is in parts.

    ``parted`` are the NPU runners that the rules read whole.
    """
    shifted = {path: shifts for path in given.profile.twin_paths if (shifts := _find_shifts(path, given))}
    shifted |= {runner.path: _find_shifts_of(runner) for runner in parted}
    if not shifted:
        return None

    def put_in_place(hits: Sequence[Hit]) -> Sequence[Hit]:
        placed: dict[Finding, Hit] = {}
        for hit in hits:
            moved = _move_hit(hit, shifted)
            placed.setdefault(moved.finding, moved)  # an import that both texts have was found twice
        return tuple(placed.values())

    return put_in_place


def find_unit_places(runner: Parted) -> dict[str, tuple[str, int]]:
    """Return, by unit of an NPU runner that was read whole, the file that has it and what is added to a line there."""
    starts = {name: (runner.path, unit.start) for name, unit in texts.unit_table(runner.text, runner.path).items()}
    for part in runner.parts:
        there = texts.unit_table(part.text, part.path)
        named = {f"{runner.name}.{name}": f"{part.name}.{name}" for name in part.methods}
        named |= {name: name for name in part.definitions}
        starts |= {name: (part.path, there[own].start) for name, own in named.items() if own in there}
    whole = texts.unit_table(runner.whole, runner.path)
    return {name: (starts[name][0], starts[name][1] - unit.start) for name, unit in whole.items() if name in starts}


def _find_shifts_of(runner: Parted) -> _Shifts:
    """Return the shifts of an NPU runner: of its own lines, of its parts' methods, and of the imports for these."""
    whole, places = texts.unit_table(runner.whole, runner.path), find_unit_places(runner)
    moved = {f"{runner.name}.{name}" for part in runner.parts for name in part.methods}
    return [
        (min(unit.start for name, unit in whole.items() if name in moved) - 1, runner.path, 0),
        *((whole[name].end, *place) for name, place in places.items()),
        *_find_shifts_of_imports(runner),
    ]


def _find_shifts_of_imports(runner: Parted) -> Iterator[tuple[int, str, int]]:
    """Yield the shifts of the imports that only the parts make, at the end of the whole text."""
    own = read_imports(runner.text)
    there = {
        entry.bound: (part.path, statement.lineno)
        for part in runner.parts
        for statement in import_statements(module_of(part.text).body)
        for entry in imported_by(statement)
    }
    for statement in import_statements(module_of(runner.whole).body):
        names = [entry.bound for entry in imported_by(statement)]
        if own.keys().isdisjoint(names) and names[0] in there:
            path, line = there[names[0]]
            yield statement.end_lineno or statement.lineno, path, line - statement.lineno


_Shifts = Sequence[tuple[int, str, int]]
"""For the units of a completed text, by place: their last line, the file that they are in, and what is added to a line
there."""


def _find_shifts(path: str, given: Inputs) -> _Shifts:
    """Return the shifts of the module at ``path``; none if it is as in the tree."""
    raw = given.omni.read(path)
    if raw is None or (whole := complete_twins(raw, path, given.omni, given)) == raw:
        return []
    starts = {unit.qualname: (path, unit.start) for unit in texts.unit_table(raw, path).values()}
    for owner, part in find_moved_methods(path, given):
        starts |= _find_starts(owner, part)
    starts |= {one.unit.qualname: (one.unit.path, one.unit.start) for one in find_imported(path, given)}
    return [
        (unit.end, starts[name][0], starts[name][1] - unit.start)
        for name, unit in texts.unit_table(whole, path).items()
        if name in starts
    ]


def _find_starts(owner: str, part: MovedMethods) -> dict[str, tuple[str, int]]:
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
