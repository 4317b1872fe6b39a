"""Take the result of a runner that was read whole apart again, into results of the files that hold it.

Comes in: a ``ModuleResult`` about a `classes.parted_runners.Parted` runner. Goes out: one result for each file, and,
once these are finished, the whole one again. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from runner_sync.compose.imports import Provider, remove_import, settle_imports
from runner_sync.model import Hunk, ReviewItem, UnitReport
from runner_sync.naming import module_name
from runner_sync.sync.classes.parted_runners import Part, Parted
from runner_sync.texts.import_entries import read_imports
from runner_sync.texts.names import undefined_names, used_names
from runner_sync.units import insert_definition, join, record_classes, replace_units, texts, units
from runner_sync.upgrade import ModuleResult, relocate


def split_results(results: Sequence[ModuleResult], parted: Sequence[Parted], *, package: str) -> list[ModuleResult]:
    """Return the results, with those of ``parted`` runners taken apart.

    A part in a file of its own follows its runner. What a part has in the file of another runner joins the result of
    that one.
    """
    made = {result.path: result for result in results}
    for runner in parted:
        made |= {piece.path: piece for piece in _split(runner, made, package)}
    return list(made.values())


def join_results(
    finished: Sequence[ModuleResult], results: Sequence[ModuleResult], parted: Sequence[Parted]
) -> list[ModuleResult]:
    """Return ``results`` with the texts of the files that are ``finished``, as runs read these."""
    runners, made = {one.path: one for one in parted}, {one.path: one for one in finished}
    whole = []
    for result in results:
        runner, after = runners.get(result.path), made[result.path].after
        guests = [part for one in parted for part in one.parts if part.path == result.path and one is not runner]
        if runner is not None:
            parts = tuple(replace(part, text=made[part.path].after) for part in runner.parts)
            after = replace(runner, text=after, parts=parts).whole
        for part in guests:
            after = part.cut_out(after)
        whole.append(replace(result, after=after) if runner is not None or guests else made[result.path])
    return whole


def name_after_runners(finished: Sequence[ModuleResult], parted: Sequence[Parted]) -> list[ModuleResult]:
    """Return the results with the units of parts called as in the whole runner, as options and the lock call them."""
    names = {(part.path, own): name for one in parted for name, (part, own) in _map_names(one).items()}
    return [
        replace(
            result,
            units=tuple(replace(unit, unit=names.get((unit.path, unit.unit), unit.unit)) for unit in result.units),
            reviews=tuple(replace(item, unit=names.get((item.path, item.unit), item.unit)) for item in result.reviews),
        )
        for result in finished
    ]


def _split(runner: Parted, results: Mapping[str, ModuleResult], package: str) -> list[ModuleResult]:
    """Return the results of the files of ``runner``, with what is said about lines of the whole text."""
    result = results[runner.path]
    pieces = {path: results[path].after if path in results else text for path, text in runner.rest.items()}
    del pieces[runner.path]
    for part in runner.parts:
        if part.path != runner.path:
            pieces[part.path] = _write_part(pieces[part.path], result, runner, part, package)
    own = _write_own(result, runner, pieces, package) if result.after != result.before else runner.text
    pieces = {runner.path: own, **pieces}
    places = _Places(result, runner, own, pieces)
    reports = [places.move_unit(unit) for unit in _drop_emptied(result, runner).units]
    reviews = [places.move_item(item) for item in result.reviews]
    texts_before = {runner.path: runner.text, **{part.path: part.text for part in runner.parts}}
    split = list[ModuleResult]()
    for path, text in pieces.items():
        host = replace(result, units=(), reviews=()) if path == runner.path else results.get(path)
        host = _move_lines(_drop_emptied(host, runner), text) if host is not None else ModuleResult(path, "", "")
        units = (*host.units, *(unit for unit in reports if unit.path == path))
        items = (*host.reviews, *(item for item in reviews if item.path == path))
        split.append(replace(host, before=texts_before[path], after=text, units=units, reviews=items))
    return split


def _drop_emptied(result: ModuleResult, runner: Parted) -> ModuleResult:
    """Return the result without the classes that are one unit only because their methods were read elsewhere."""
    emptied = {part.name for part in runner.parts if part.path == result.path}
    emptied &= {*record_classes(texts.parsed(result.after, result.path))}
    return replace(result, units=tuple(unit for unit in result.units if unit.unit not in emptied))


def _write_part(text: str, result: ModuleResult, runner: Parted, part: Part, package: str) -> str:
    """Return the text of a part's file with the runner's new texts of what it has, and what they need.

    ``text`` has the class without its methods, as `Part.cut_out` leaves it.
    """
    after, was = _read_pieces(result.after, runner.path), _read_pieces(part.text, part.path)
    before = part.put_back(text, {name: was[f"{part.name}.{name}"] for name in part.methods})
    edits = {f"{part.name}.{name}": after.get(f"{runner.name}.{name}") for name in part.methods}
    edits |= {name: after.get(name) for name in part.definitions}
    edits = {name: body for name, body in edits.items() if body != was.get(name)}
    if not edits:
        return before
    text = join(replace_units(texts.parsed(before, part.path), edits, whole=part.definitions))
    for body in _find_new_helpers(result, runner, text).values():
        text = join(insert_definition(texts.parsed(text, part.path), body, before=part.name))
    old, new = read_imports(result.before, runner.path), read_imports(result.after, runner.path)
    moved = {name: (old[name], new[name]) for name in old.keys() & new.keys() if old[name] != new[name]}
    moves = {(was.module, was.name): now.module for was, now in moved.values() if was.name == now.name}
    provider = Provider(result.after, module_name(runner.path))
    return settle_imports(before, text, [provider], moves=moves, first_party=package).text


def _write_own(result: ModuleResult, runner: Parted, pieces: Mapping[str, str], package: str) -> str:
    """Return the text of the runner's own file: without what its parts have, and the imports that only they need."""
    after = texts.parsed(result.after, runner.path)
    there, defined = _read_pieces(result.after, runner.path), texts.whole_definitions(runner.text, runner.path)
    gone = [f"{runner.name}.{name}" for part in runner.parts for name in part.methods]
    gone += [name for part in runner.parts for name in part.definitions]
    in_parts = {name for path, text in pieces.items() for name in texts.whole_definitions(text, path)}
    gone += [name for name in texts.whole_definitions(result.after, runner.path) if name in in_parts - defined.keys()]
    text = join(replace_units(after, dict.fromkeys((name for name in gone if name in there), None)))
    for part in runner.parts:
        if part.path == runner.path:
            text = _put_back_own(text, part, runner, there)
    own, added = read_imports(runner.text), read_imports(runner.whole)
    for name, entry in read_imports(text).items():
        if name in added.keys() - own.keys() or (name not in own and name not in used_names(text)):
            text = remove_import(text, entry)
    providers = [Provider(text, module_name(path)) for path, text in pieces.items()]
    providers.append(Provider(result.after, module_name(runner.path)))
    text = settle_imports(runner.text, text, providers, first_party=package).text
    return text if text.strip() != runner.text.strip() else runner.text


def _put_back_own(text: str, part: Part, runner: Parted, there: Mapping[str, str]) -> str:
    """Return the text of the runner's own file with the methods of a part that stands in it, too."""
    was = _read_pieces(part.text, part.path)
    now = {name: there.get(f"{runner.name}.{name}") for name in part.methods}
    text = part.put_back(text, {name: body or was[f"{part.name}.{name}"] for name, body in now.items()})
    removed = dict.fromkeys((f"{part.name}.{name}" for name, body in now.items() if body is None), None)
    return join(replace_units(texts.parsed(text, part.path), removed)) if removed else text


def _move_lines(result: ModuleResult, text: str) -> ModuleResult:
    """Return the result with the lines that it speaks of in ``text``."""
    units = tuple(replace(u, hunks=tuple(relocate(u.hunks, old=result.after, new=text))) for u in result.units)
    return replace(result, units=units, reviews=tuple(relocate(result.reviews, old=result.after, new=text)))


def _read_pieces(text: str, path: str) -> dict[str, str]:
    """Return the texts of members, functions and whole classes by qualified name."""
    return {**texts.unit_texts(text, path), **texts.whole_definitions(text, path)}


def _find_new_helpers(result: ModuleResult, runner: Parted, text: str) -> dict[str, str]:
    """Return the functions and classes that the run brought into the module and that a part's ``text`` needs.

    They cannot be imported from the runner's own file, which imports the part.
    """
    known = texts.whole_definitions(result.before, runner.path)
    new = {n: body for n, body in texts.whole_definitions(result.after, runner.path).items() if n not in known}
    found, needed = dict[str, str](), undefined_names(text) & new.keys()
    while needed:
        found |= {name: new[name] for name in needed}
        needed = frozenset().union(*(used_names(body) for body in found.values())) & new.keys() - found.keys()
    return {name: body for name, body in new.items() if name in found}


@dataclass(frozen=True, slots=True)
class _Span:
    """Lines of the whole text that stand in a part, ``shift`` lines further down there."""

    start: int
    end: int
    part: Part
    shift: int


class _Places:
    """Moves what a result says about lines of the whole text to the files that have them."""

    def __init__(self, result: ModuleResult, runner: Parted, own: str, pieces: Mapping[str, str]) -> None:
        self._whole, self._own = result.after, own
        self._names = _map_names(runner)
        self._tops = {part.path: _find_line(pieces[part.path], part.path, part.name) for part in runner.parts}
        self._spans = list[_Span]()
        for name, unit in texts.unit_table(result.after, runner.path).items():
            if name in self._names:
                part, own_name = self._names[name]
                there = texts.unit_table(pieces[part.path], part.path).get(own_name)
                if there is not None:
                    self._spans.append(_Span(unit.start, unit.end, part, there.start - unit.start))

    def move_unit(self, unit: UnitReport) -> UnitReport:
        """Return the report on a unit with the file, the name and the lines that the unit has."""
        hunks = tuple(self._move_hunk(hunk) for hunk in unit.hunks)
        if unit.unit not in self._names:
            return replace(unit, hunks=hunks)
        part, name = self._names[unit.unit]
        return replace(unit, path=part.path, unit=name, hunks=hunks)

    def move_item(self, item: ReviewItem) -> ReviewItem:
        """Return the item with the file, the name and the lines of its unit, or, if that is gone, of the class."""
        span = self._find_span(item.line)
        if item.unit not in self._names:
            (moved,) = relocate([item], old=self._whole, new=self._own)
            return moved
        part, name = self._names[item.unit]
        line, end_line = self._tops[part.path], self._tops[part.path]
        if span is not None and span.part is part:
            line, end_line = item.line + span.shift, min(item.end_line, span.end) + span.shift
        return replace(item, path=part.path, unit=name, line=line, end_line=end_line)

    def _move_hunk(self, hunk: Hunk) -> Hunk:
        span = self._find_span(hunk.line)
        if span is None:
            (moved,) = relocate([hunk], old=self._whole, new=self._own)
            return moved
        return replace(hunk, line=hunk.line + span.shift, end_line=min(hunk.end_line, span.end) + span.shift)

    def _find_span(self, line: int) -> _Span | None:
        return next((span for span in self._spans if span.start <= line <= span.end), None)


def _map_names(runner: Parted) -> dict[str, tuple[Part, str]]:
    """Return the part and the name there of each unit that a part has, by its name in the whole text."""
    methods = {f"{runner.name}.{one}": (part, f"{part.name}.{one}") for part in runner.parts for one in part.methods}
    return {**methods, **{name: (part, name) for part in runner.parts for name in part.definitions}}


def _find_line(text: str, path: str, name: str) -> int:
    """Return the line of the head of class ``name``."""
    return next((unit.start for unit in units(texts.parsed(text, path)) if unit.qualname == name), 1)
