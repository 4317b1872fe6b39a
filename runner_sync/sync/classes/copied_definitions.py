"""Note the copies of module-level functions and records that an NPU runner imports from another file of omni's.

A copy is followed in the file of its runner, and a method also in a mixin. A function that omni moved into a module of
helpers is not, so whatever its upstream or GPU twin gains would be left out in silence.

Comes in: the inputs of a run. Goes out: notes. May touch: the trees, by reading.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress

from runner_sync import lineage
from runner_sync.errors import InputError
from runner_sync.sync.classes.imported_definitions import find_definition
from runner_sync.sync.classes.parted_runners import Parted
from runner_sync.sync.classes.whole_classes import read_whole, read_whole_twin
from runner_sync.sync.trees.inputs import Inputs
from runner_sync.sync.trees.runners import DerivedModule, find_modules
from runner_sync.texts.import_entries import read_imports
from runner_sync.units import texts


def note_copies(given: Inputs, parted: Sequence[Parted]) -> tuple[str, ...]:
    """Note each file with such copies; ``parted`` are the runners of which some are a part."""
    found = dict[tuple[str, str], list[str]]()
    modules = find_modules(given)
    runners = {module.path: module for module in modules}
    for derived in modules:
        known = {
            name for runner in parted if runner.path == derived.path for p in runner.parts for name in p.definitions
        }
        with suppress(InputError, SyntaxError):  # whoever reads the module reports what is wrong with it
            for name, path in _find_copies(derived, known, given):
                if path in runners and _follows(runners[path], name, given):
                    continue
                found.setdefault((path, derived.path), []).append(name)
    return tuple(
        f"{path}: no change is merged into {', '.join(names)}, which {runner} imports from there: copies of functions "
        f"and records are followed in the file of their runner; move them back, or merge their changes by hand"
        for (path, runner), names in found.items()
    )


def _find_copies(derived: DerivedModule, known: Collection[str], given: Inputs) -> Iterator[tuple[str, str]]:
    """Yield name and file of what the module imports from omni and would follow if it stood in the module.

    What the GPU side has from the same file is shared, and no copy.
    """
    followed, shared = list(_read_followed(derived, given)), _find_shared(derived, given)
    own = texts.whole_definitions(derived.text, derived.path)
    for name, entry in read_imports(derived.text, derived.path).items():
        versions = [defined[name] for defined in followed if name in defined]
        if not versions or name in own or name in known:
            continue
        found = find_definition(entry, given.omni)
        if found is None or found[1].path in shared:
            continue
        if any(lineage.similarity(found[1].text, version) >= lineage.COPY for version in versions):
            yield name, found[1].path


def _follows(runner: DerivedModule, name: str, given: Inputs) -> bool:
    """Whether changes of the function or class are merged into it where it stands, as the file is a runner's, too."""
    return any(name in defined for defined in _read_followed(runner, given))


def _read_followed(derived: DerivedModule, given: Inputs) -> Iterator[dict[str, str]]:
    """Yield the functions and classes of the upstream module and of the GPU twin."""
    anchor, twin = derived.module.anchor, derived.module.gpu
    tree = given.trees.get(anchor.project)
    upstream = read_whole(tree, anchor.path, given) if tree is not None else None
    for path, text in ((anchor.path, upstream), (twin.path if twin else "", read_whole_twin(derived.module, given))):
        if text is not None:
            yield texts.whole_definitions(text, path)


def _find_shared(derived: DerivedModule, given: Inputs) -> set[str]:
    """Return the files of the GPU runners, and those from which the twin imports functions and classes."""
    found = {*given.profile.twin_paths}
    twin, text = derived.module.gpu, given.read_twin(derived.module)
    if twin is not None and text is not None:
        imported = (find_definition(entry, given.omni) for entry in read_imports(text, twin.path).values())
        found |= {one[1].path for one in imported if one is not None}
    return found
