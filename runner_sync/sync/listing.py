"""List the code of the runners that is omni's (``blocks``), and explain where the rest comes from (``explain``).

Comes in: ``CheckOptions``. Goes out: a ``Report``. May touch: what ``sources`` touches; a run that names only a folder
without a lock stays offline.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path, PurePosixPath

from runner_sync.blocks import list_blocks
from runner_sync.errors import InputError
from runner_sync.lineage.provenance import Span, joined
from runner_sync.model import TITLES, Block, FileChange, Hunk, Report, UnitReport
from runner_sync.profile import BUILT_IN, GPU, Profile
from runner_sync.sync import origins
from runner_sync.sync.classes.parted_runners import Parted, read_whole_runners
from runner_sync.sync.classes.real_places import find_unit_places
from runner_sync.sync.nested import blame_deepest_file
from runner_sync.sync.notes import next_commands
from runner_sync.sync.options import CheckOptions, TreeOptions
from runner_sync.sync.origins import Traced, Trees
from runner_sync.sync.port_status import PortKind, PortStatus, find_port_statuses
from runner_sync.sync.synced.claims import mark_altered
from runner_sync.sync.trees import inputs, pairs
from runner_sync.sync.trees.runners import DerivedModule, find_modules, note_absent_files, refuse_classless, refuse_gone
from runner_sync.user_paths import resolved


def blocks(options: CheckOptions) -> Report:
    """List the omni blocks of the NPU runners and their GPU twins, and the fate of each GPU unit on NPU.

    Finds unmarked omni code, too: in the NPU runners with a vllm-ascend or a lock, in the GPU runners with a vLLM.
    Raises ``InputError`` for a runner or twin that does not parse or lacks its class, for a locked file that is
    missing, and for a base that cannot be read.
    """
    given = inputs.open_omni(options)
    modules = find_modules(given)
    refuse_gone(given, modules)
    refuse_classless(given, modules)
    given, parted = read_whole_runners(mark_altered(options, pairs.open_targets(options, given)))
    modules = find_modules(given)  # again, because a class that they follow may have moved
    found: list[Block] = []
    statuses: list[PortStatus] = []
    with blame_deepest_file(given):
        trees = origins.gather_trees(options, given, modules)
        for module in trees.modules:
            found += _list_npu_blocks(trees, module, parted)
            gpu_blocks = list(_list_gpu_blocks(trees, module))
            of_module = find_port_statuses(trees, module, gpu_blocks)
            by_unit = {status.unit: status for status in of_module}
            statuses += of_module
            found += [replace(block, twin=by_unit[block.unit].sentence(block)) for block in gpu_blocks]
    tally = Counter(status.kind for status in statuses)
    report = Report(
        "blocks",
        inputs=trees.sources,
        blocks=tuple(found),
        notes=(
            *given.note_moves(),
            *_note_limits(trees, dict(tally)),
            *note_absent_files(given, [derived.path for derived in modules]),
        ),
        summary={f"gpu_{name}": count for name, count in sorted(tally.items())},
    )
    return next_commands.complete_commands(report, options, given)


def _list_npu_blocks(trees: Trees, derived: DerivedModule, parted: Sequence[Parted]) -> Iterator[Block]:
    """Yield the omni blocks of an NPU module; only marked ones if no upstream is at hand."""
    places, traced = _find_places(derived, parted), list(_trace(trees, derived, parted))
    marked = origins.find_marked_lines(derived.text, derived.path, trees.given)
    lines = _find_omni_lines(traced) if trees.sides[derived.path] else None
    twins = {t.unit.qualname: t.gpu.qualname for t in traced if t.gpu is not None}
    listed = list_blocks(
        derived.text,
        path=derived.path,
        units=[t.unit for t in traced],
        marked=marked,
        omni_lines=lines,
        marker=trees.given.profile.marker,
    )
    for block in listed:
        path, shift = places.get(block.unit, (block.path, 0))
        moved = replace(block, path=path, start=block.start + shift, end=block.end + shift)
        yield replace(moved, twin=twins.get(block.unit))


def _trace(trees: Trees, derived: DerivedModule, parted: Sequence[Parted]) -> Iterator[Traced]:
    """Trace the units of an NPU module, but no class that is one only because its methods are a runner's."""
    emptied = {part.name for runner in parted for part in runner.parts if part.path == derived.path}
    yield from (traced for traced in origins.trace_npu(trees, derived) if traced.unit.qualname not in emptied)


def _find_places(derived: DerivedModule, parted: Sequence[Parted]) -> dict[str, tuple[str, int]]:
    """Return where the units of a module stand that was read whole, as `find_unit_places` does; empty for another."""
    return next((find_unit_places(runner) for runner in parted if runner.path == derived.path), {})


def _trace_file(trees: Trees, path: str, parted: Sequence[Parted]) -> Iterator[Traced]:
    """Trace the units of the NPU file at ``path``, those of runners that have a part in it, too."""
    for derived in trees.modules:
        places = _find_places(derived, parted)
        if path == derived.path or any(place == path for place, _shift in places.values()):
            for traced in _trace(trees, derived, parted):
                unit = traced.unit
                place, shift = places.get(unit.qualname, (unit.path, 0))
                if place == path:
                    spans = tuple(replace(s, start=s.start + shift, end=s.end + shift) for s in traced.spans)
                    unit = replace(unit, path=place, start=unit.start + shift, end=unit.end + shift)
                    yield replace(traced, unit=unit, spans=spans)


def _list_blocks_of_file(trees: Trees, path: str, parted: Sequence[Parted]) -> Iterator[Block]:
    """Yield the omni blocks of the NPU file at ``path``."""
    for derived in trees.modules:
        yield from (block for block in _list_npu_blocks(trees, derived, parted) if block.path == path)


def _list_gpu_blocks(trees: Trees, derived: DerivedModule) -> Iterator[Block]:
    """Yield the omni blocks of a module's GPU twin; only those that comments mark if no vLLM is at hand."""
    anchor = derived.module.gpu
    text = trees.given.omni.read(anchor.path) if anchor is not None else None
    if anchor is None or text is None:
        return
    traced = list(origins.trace_gpu(trees, derived))
    yield from list_blocks(
        text,
        path=anchor.path,
        units=[t.unit for t in traced],
        marked=origins.find_marked_lines(text, anchor.path, trees.given),
        omni_lines=_find_omni_lines(traced) if trees.vllm is not None else None,
        marker=trees.given.profile.marker,
    )


def _find_omni_lines(traced: Sequence[Traced]) -> frozenset[int]:
    """Return the lines that do not come from upstream: omni's own and ports."""
    spans = [span for unit in traced for span in unit.spans if span.provenance != "upstream"]
    return frozenset(line for span in spans for line in range(span.start, span.end + 1))


def _note_limits(trees: Trees, tally: Mapping[PortKind, int]) -> Iterator[str]:
    profile = trees.given.profile
    if not trees.knows_upstream:
        yield (
            f"{profile.platform} runners by their markers only: with {inputs.options_of(profile.followed)} omni code "
            "outside markers is found too"
        )
    if trees.vllm is None and any(derived.module.gpu is not None for derived in trees.modules):
        yield "GPU runners by their comments only: with --vllm-path or --vllm-version all of omni's code there is found"
    if tally:
        units = ", ".join(f"{count} {name}" for name, count in sorted(tally.items(), key=lambda row: (-row[1], row[0])))
        yield f"omni units of the GPU runners on NPU: {units}"


def explain(options: CheckOptions, file: str, line: int | None = None) -> Report:
    """Explain where the statements of a runner come from, or the one at ``line`` (1-based).

    ``file`` is an NPU runner or a GPU twin, relative to the omni tree or to the current folder. If it lies elsewhere on
    disk, reads the omni tree around it. Raises ``InputError`` for another file, for a line that does not exist, and if
    there is no upstream to compare with.
    """
    given = pairs.open_targets(options, inputs.open_omni(_choose_omni_tree(options, file)))
    given, parted = read_whole_runners(mark_altered(options, given))
    modules = find_modules(given)
    path, module, is_npu = _find_runner(given, modules, file, parted)
    text = given.omni.read(path) or ""
    count = len(text.removesuffix("\n").split("\n")) if text else 0
    if line is not None and line > count:
        has = "is empty" if not count else "has 1 line" if count == 1 else f"has {count} lines"
        raise InputError(f"{path} {has}: there is no line {line}.")
    with blame_deepest_file(given):
        trees = origins.gather_trees(options, given, modules, with_vllm=not is_npu)
        _require_upstream(trees, is_npu=is_npu)
        traced = _trace_file(trees, path, parted) if is_npu else origins.trace_gpu(trees, module)
        chosen = [unit for unit in traced if line is None or unit.unit.start <= line <= unit.unit.end]
        listed = list(_list_blocks_of_file(trees, path, parted) if is_npu else _list_gpu_blocks(trees, module))
    units = tuple(_report_unit(unit, line, listed) for unit in chosen)
    return Report(
        "explain",
        inputs=trees.sources,
        units=units,
        changes=(FileChange(path, text, text),),
        notes=(*given.note_moves(), *_note_nearest_line(units, line)),
    )


def _note_nearest_line(units: Sequence[UnitReport], line: int | None) -> list[str]:
    """Note that the nearest statement is shown, if the given line holds none."""
    hunks = [hunk for unit in units for hunk in unit.hunks]
    if line is None or not hunks or any(hunk.line <= line <= hunk.end_line for hunk in hunks):
        return []
    where = "above" if hunks[0].line <= line else "below"
    return [f"line {line} has no statement; this is the nearest one {where} it"]


def _choose_omni_tree(options: CheckOptions, file: str) -> CheckOptions:
    """Name the omni tree around ``file``, if no tree is named and the file is outside the current folder."""
    place = resolved(Path(file))
    if options.omni.is_given or not place.is_file() or place.is_relative_to(Path.cwd()):
        return options
    return replace(options, omni=TreeOptions(path=place.parent))


def _find_runner(
    given: inputs.Inputs, modules: Sequence[DerivedModule], file: str, parted: Sequence[Parted]
) -> tuple[str, DerivedModule, bool]:
    """Return the path that ``file`` means, its derived module, and whether it is the NPU side of that module.

    A bare file name will do. Raises ``InputError`` for a file that is neither an NPU runner nor a GPU twin.
    """
    sides = [(derived.path, derived, True) for derived in modules]
    twins = [(derived.module.gpu.path, derived, False) for derived in modules if derived.module.gpu is not None]
    sides += [twin for twin in twins if given.omni.read(twin[0]) is not None]
    owners = {derived.path: derived for derived in modules}
    sides += [(part.path, owners[runner.path], True) for runner in parted for part in runner.parts]
    names = _list_spellings(given, file)
    exact = [side for side in sides if side[0] in names]
    alike = [side for side in sides if PurePosixPath(side[0]).name == file]
    if exact or alike:
        return (exact or alike)[0]
    _refuse_absent(given, file, [twin[0] for twin in twins])
    paths = [PurePosixPath(side[0]).name for side in sides]
    close = get_close_matches(PurePosixPath(file).name, paths, n=1, cutoff=0.8)
    hint = f"did you mean {close[0]}? Or " if close and close != [PurePosixPath(file).name] else ""
    known = ", ".join(derived.path for derived in modules)
    tree = given.omni.source.location
    raise InputError(f"{file} is no runner of the tree in {tree}: {hint}name one of {known}, or a GPU twin.")


def _refuse_absent(given: inputs.Inputs, file: str, twins: Sequence[str]) -> None:
    """Raise ``InputError`` for a runner or twin that the tree lacks, and for a runner of another profile."""
    names, tree = _list_spellings(given, file), given.omni.source.location
    own = _runner_paths(given.profile)
    meant = [path for path in (*own, *twins) if path in names or PurePosixPath(path).name == file]
    if meant and all(given.omni.read(path) is None for path in meant):
        raise InputError(
            f"{tree} has no {meant[0]}: bring it back, or say with `extend-modules` in the configuration where it is "
            "now."
        )
    for other, profile in BUILT_IN.items():
        if names & {*_runner_paths(profile)} - {*own}:
            raise InputError(f"{file} is a runner of another profile: ask with --profile {other}.")


def _runner_paths(profile: Profile) -> list[str]:
    """Return the possible paths of a profile's derived modules."""
    return [path for module in profile.modules for path in module.paths]


def _list_spellings(given: inputs.Inputs, file: str) -> set[str]:
    """Return the paths in the tree that ``file`` may mean: as given, and as a path on disk."""
    names = {PurePosixPath(file).as_posix()}
    root = resolved(given.root) if given.root is not None else None
    place = resolved(Path(file))
    if root is not None and place.is_relative_to(root):
        names.add(place.relative_to(root).as_posix())
    return names


def _require_upstream(trees: Trees, *, is_npu: bool) -> None:
    project = trees.given.profile.followed
    title = TITLES[project]
    if is_npu and not trees.knows_upstream:
        raise InputError(
            f"cannot tell {title}'s lines from omni's: name a {title} with {inputs.options_of(project)}, "
            f"or record the bases with `runner-sync lock --{inputs.option_word(project)}-version V`."
        )
    if not is_npu and trees.vllm is None:
        known = trees.given.omni.read(GPU.lock_file) is not None
        locked = ", or ask with --profile gpu, whose lock says what was copied" if known else ""
        raise InputError(
            f"cannot tell vLLM's lines from omni's: name a vLLM with --vllm-path or --vllm-version{locked}."
        )


def _report_unit(traced: Traced, line: int | None, listed: Sequence[Block]) -> UnitReport:
    """Report a unit with one hunk per run of lines of the same origin, or with the hunk at ``line``."""
    spans = [span for span in traced.spans if line is None or span.start <= line <= span.end]
    if line is not None and not spans:
        # A blank or closing line belongs to the statement above it.
        above = [span for span in traced.spans if span.start <= line]
        spans = above[-1:] or list(traced.spans[:1])
    hunks = tuple(Hunk(span.start, span.end, span.provenance, _describe_cause(span, listed)) for span in joined(spans))
    return UnitReport(
        traced.unit.qualname, traced.unit.path, traced.kind, "unchanged", traced.base, traced.gpu, hunks=hunks
    )


def _describe_cause(span: Span, listed: Sequence[Block]) -> str:
    """Return what ``explain`` says about one span."""
    if span.provenance == "omni":
        label = next((block.label for block in listed if block.start <= span.start <= block.end), "")
        edited = f", edits {_describe_origin(span)}" if span.where else ""
        return f"{'marked' if span.marked else 'not marked'}{edited}{f': {label}' if label else ''}"
    origin = _describe_origin(span)
    return f"{origin} (marked as omni's)" if span.marked and span.provenance == "upstream" else origin


def _describe_origin(span: Span) -> str:
    """Return source and lines of a span, for example ``vllm-ascend 0.30.0rc2 lines 12-14``."""
    lines = ""
    if span.lines is not None:
        first, last = span.lines
        lines = f"line {first}" if first == last else f"lines {first}-{last}"
    return " ".join(part for part in (span.where, lines) if part)
