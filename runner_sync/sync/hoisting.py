"""Move a method that is the same on GPU and NPU to one place that both use (``hoist``).

Comes in: ``UpgradeOptions`` and a unit's name. Goes out: an ``Upgrade`` with report and changes; nothing is written
yet. May touch: what ``sources`` touches, by reading.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath

from runner_sync import lock as locks
from runner_sync import units as unit_room
from runner_sync import write
from runner_sync.compose import imports
from runner_sync.compose.layout import format_changes
from runner_sync.edits import without_lines
from runner_sync.errors import InputError
from runner_sync.markers import read_markers
from runner_sync.model import FileChange, Hunk, Report, UnitReport
from runner_sync.naming import Import, module_name
from runner_sync.sync.hoist_remarks import make_shared_text, note_lost_remarks
from runner_sync.sync.hoist_target import Definition, Move, find_move
from runner_sync.sync.nested import blame_deepest_file
from runner_sync.sync.notes import run_notes
from runner_sync.sync.planned import Upgrade
from runner_sync.sync.trees import inputs
from runner_sync.sync.trees.runners import find_modules, refuse_duplicate_class
from runner_sync.sync.upgrade_options import UpgradeOptions
from runner_sync.syntax import names_in
from runner_sync.texts import import_entries
from runner_sync.texts.names import defined_names
from runner_sync.units.texts import unit_table

Edit = Callable[[str], str]


def hoist(options: UpgradeOptions, unit: str) -> Upgrade:
    """Plan the move of ``unit``; raise ``InputError`` with the reason if it cannot be shared."""
    given = _open_trees(options)
    with blame_deepest_file(given):
        return _plan_move(given, unit, options.out)


def _plan_move(given: inputs.Inputs, unit: str, out: Path | None) -> Upgrade:
    modules = find_modules(given)
    refuse_duplicate_class(given, modules)
    move = find_move(given, modules, unit)
    edited = _Files(given, move)
    _PLACES[move.place](edited, move)
    if given.root is not None:
        write.refuse_lone_returns([path for path, text in edited.before.items() if text is not None], given.root)
    changes, unformatted = edited.changes()
    report = Report(
        "hoist",
        inputs=given.sources,
        units=tuple(_report_units(move, edited.target, {change.path: change.after or "" for change in changes})),
        changes=changes,
        notes=(f"{move.npu.qualname}: {move.reason}", *note_lost_remarks(move), *unformatted),
    )
    root = out if out is not None else given.root
    lock = _make_lock_change(given, move)
    patch = write.as_on_disk([*changes, *([lock] if lock is not None else [])], given.root)
    return Upgrade(report, changes, root, lock, patch)


def _open_trees(options: UpgradeOptions) -> inputs.Inputs:
    given = inputs.open_omni(options)
    ascend = inputs.open_target("vllm-ascend", options.ascend, given.config, options.progress)
    vllm = inputs.open_target("vllm", options.vllm, given.config, options.progress)
    return given.with_trees({"vllm-ascend": ascend, "vllm": vllm})


class _Files:
    """The files of a move, each before and after.

    ``target`` is the new place of the method, as path and qualified name; ``label`` is the label of omni's markers.
    """

    def __init__(self, given: inputs.Inputs, move: Move) -> None:
        self.given = given
        self.label = given.profile.marker
        self.before: dict[str, str | None] = {}
        self.after: dict[str, str] = {}
        self.target: tuple[str, str] = (move.gpu.path, move.gpu.qualname)

    def text(self, path: str) -> str | None:
        if path not in self.before:
            self.before[path] = self.given.omni.read(path)
        return self.after.get(path, self.before[path])

    def edit(self, path: str, edit: Edit) -> None:
        text = self.text(path)
        assert text is not None
        self.after[path] = edit(text)

    def create(self, path: str, text: str) -> None:
        self.before.setdefault(path, None)
        self.after[path] = text

    def changes(self) -> tuple[tuple[FileChange, ...], tuple[str, ...]]:
        """Return the changed files, formatted by the repository's ruff settings, and a note if that failed."""
        found, failures = [], []
        for path, after in sorted(self.after.items()):
            before = self.before[path]
            final, failure = format_changes(before or "", after, path=path, root=self.given.root)
            failures.append(failure)
            ast.parse(final)
            if final != before:
                found.append(FileChange(path, before, final))
        return tuple(found), run_notes.note_unformatted(failures)


def _delete_npu_copy(files: _Files, move: Move) -> None:
    files.edit(move.npu.path, lambda text: _remove_unit(text, move.npu, files.label))


def _import_from_gpu(files: _Files, move: Move) -> None:
    entry = Import(module_name(move.gpu.path), move.gpu.name, move.gpu.name)
    files.edit(move.npu.path, lambda text: imports.add_import(_remove_unit(text, move.npu, files.label), entry))


def _move_to_base(files: _Files, move: Move) -> None:
    files.target = (move.base_path, f"{move.base}.{move.gpu.name}")
    body = make_shared_text(move)
    files.edit(move.base_path, lambda text: _add_member(_add_logger(text, move.base, move), move.base, body, move))
    _remove_both(files, move)


def _remove_both(files: _Files, move: Move) -> None:
    for side in (move.gpu, move.npu):
        files.edit(side.path, lambda text, side=side: _remove_unit(text, side, files.label))  # type: ignore[misc]


def _move_to_mixin(files: _Files, move: Move) -> None:
    """Move the method to a mixin beside the GPU class, made if need be, and make the mixin a base of both classes."""
    path, name = _name_mixin(move, files.given.profile.platform)
    files.target = (path, f"{name}.{move.gpu.name}")
    existing = files.text(path)
    pieces = unit_room.split(existing).pieces if existing is not None else ()
    if existing is not None and not any(piece.kind == "class" and piece.name == name for piece in pieces):
        raise InputError(f"{path} is there already without a class {name}: rename it, or add the class.")
    if existing is None:
        files.create(path, _make_mixin(move, name))
    files.edit(path, lambda text: _add_member(_add_logger(text, name, move), name, make_shared_text(move), move))
    _remove_both(files, move)
    for side in (move.gpu, move.npu):
        files.edit(side.path, lambda text, side=side: _add_mixin(text, side, path, name))  # type: ignore[misc]


_PLACES: Mapping[str, Callable[[_Files, Move], None]] = {
    "inherited": _delete_npu_copy,
    "function": _import_from_gpu,
    "base": _move_to_base,
    "mixin": _move_to_mixin,
}


def _remove_unit(text: str, side: Definition, label: str) -> str:
    """Remove the definition, the imports that only it used, and the markers that enclosed only it."""
    cut = unit_room.join(unit_room.replace_units(unit_room.split(text, path=side.path), {side.qualname: None}))
    return imports.settle_imports(text, _remove_empty_blocks(cut, text, label), ()).text


def _remove_empty_blocks(text: str, before: str, label: str) -> str:
    """Remove pairs of markers that enclose nothing, unless ``before`` had as many of them."""
    empty, empty_before = (
        [region for region in read_markers(source, label=label).regions if "empty" in region.problems]
        for source in (text, before)
    )
    if len(empty) <= len(empty_before):
        return text
    lines = {line for region in empty for line in range(region.start, region.end + 1)}
    return without_lines(text, lines)


def _add_member(text: str, owner: str, body: str, move: Move) -> str:
    """Add the method to the end of class ``owner``, with the imports that it needs.

    Raises ``InputError`` if the method needs a name that only the GPU module defines, because importing it would be
    circular, or a name of unknown origin.
    """
    extended = unit_room.join(unit_room.insert_member(unit_room.split(text), owner, body))
    module = module_name(move.gpu.path)
    settled = imports.settle_imports(text, extended, (imports.Provider(move.gpu.reading.text, module),))
    needed = [row for row in settled.added if row.startswith(f"from {module} import ")]
    if needed or settled.unknown:
        names = ", ".join([*(row.rpartition(" ")[2] for row in needed), *settled.unknown])
        raise InputError(f"{move.npu.qualname} needs {names} of {move.gpu.path}, which its new place cannot import.")
    return settled.text


def _name_mixin(move: Move, platform: str) -> tuple[str, str]:
    """Return path and class name of the shared mixin.

    It lies beside the GPU module and is named like the NPU one without the ``platform``.
    """
    stem = PurePosixPath(move.npu.path).stem.removeprefix(f"{platform.lower()}_")
    path = PurePosixPath(move.gpu.path).with_name(f"{stem}_mixin.py")
    return str(path), f"{move.npu.owner.replace(platform, '')}Mixin"


def _make_mixin(move: Move, name: str) -> str:
    licence, future = _read_opening(move.gpu.reading.text)
    parts = [
        f'{licence}"""What {move.gpu.owner} and {move.npu.owner} share."""\n',
        future,
        f'\nclass {name}:\n    """Methods that are the same on GPU and NPU."""\n',
    ]
    return "\n".join(part for part in parts if part)


def _read_opening(text: str) -> tuple[str, str]:
    """Return licence comment and future import of a module, each as text, empty if missing."""
    rows = text.split("\n")
    count = next((k for k, row in enumerate(rows) if not row.startswith("#")), 0)
    licence = "".join(f"{row}\n" for row in rows[:count])
    future = "from __future__ import annotations\n" if "from __future__ import annotations" in text else ""
    return licence, future


def _add_logger(text: str, owner: str, move: Move) -> str:
    """Add a logger above class ``owner``, if the method uses one and the module has none."""
    uses_logger = "logger" in names_in(move.gpu.node)
    source = move.gpu.reading.text
    row = next((row for row in source.split("\n") if row.startswith("logger = ")), "")
    if not uses_logger or not row or "logger" in defined_names(text):
        return text
    extended = unit_room.join(unit_room.insert_definition(unit_room.split(text), f"{row}\n", before=owner))
    maker = import_entries.read_imports(source, move.gpu.path).get(re.split(r"\W", row.removeprefix("logger = "))[0])
    return imports.add_import(extended, maker) if maker is not None else extended


def _add_mixin(text: str, side: Definition, path: str, name: str) -> str:
    """Make mixin ``name`` of ``path`` the first base of the class that the method is taken from."""
    module = unit_room.split(text, path=side.path)
    bases = [base.expression for base in unit_room.class_bases(module, side.owner)]
    if name in bases:
        return text
    derived = unit_room.join(unit_room.set_bases(module, side.owner, [name, *bases]))
    return imports.add_import(derived, Import(module_name(path), name, name))


def _report_units(move: Move, target: tuple[str, str], texts: Mapping[str, str]) -> list[UnitReport]:
    path, name = target
    reports = [UnitReport(move.npu.qualname, move.npu.path, "own", "removed")]
    if (path, name) != (move.gpu.path, move.gpu.qualname):
        unit = unit_table(texts[path], path)[name]
        cause = f"moved from {move.gpu.path} ({move.gpu.qualname}) and {move.npu.path} ({move.npu.qualname})"
        hunk = Hunk(unit.start, unit.end, "gpu", cause)
        reports.append(UnitReport(move.gpu.qualname, move.gpu.path, "own", "removed"))
        reports.append(UnitReport(name, path, "own", "added", hunks=(hunk,)))
    return reports


def _make_lock_change(given: inputs.Inputs, move: Move) -> FileChange | None:
    """Remove the NPU unit from the lock; return ``None`` if no lock records it."""
    before = given.omni.read(given.lock_file)
    if before is None:
        return None
    kept = tuple(e for e in given.lock.entries if e.key != (move.npu.path, move.npu.qualname))
    if len(kept) == len(given.lock.entries):
        return None
    return FileChange(given.lock_file, before, locks.dump(replace(given.lock, entries=kept)))
