"""Follow runner classes to the files that they have moved to.

Comes in: a profile and a tree. Goes out: ``Moves``: the new paths by the old ones. May touch: the tree, by reading.

A profile names one file for each class. If a tree lacks that file, and another file of the package defines the class,
the class has moved there. Where several files do, it is the one that shares most lines with the derived modules, if it
shares at least twice as many as the next: vllm-ascend and vLLM each have a second runner of the same name. A file that
a profile names for something else is not taken.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from runner_sync.model import PACKAGES, TITLES
from runner_sync.naming import module_name, project_of
from runner_sync.profile import BUILT_IN, Anchor, Profile, RunnerModule
from runner_sync.trees import Tree, peek

Moves = Mapping[str, str]
"""``{old path: new path}``, of all projects."""


def find_moves(profile: Profile, tree: Tree, omni: Tree) -> Moves:
    """Return the files of ``profile`` that ``tree`` lacks, with the files that have their classes now.

    ``omni`` has the derived modules.
    """
    wanted = {path: name for path, name in _list_places(profile, tree) if name}
    if not wanted:
        return {}
    found = _search(profile, tree, set(wanted.values()))
    derived = [omni.read(path) for module in profile.modules for path in module.paths]
    lines = {line.strip() for text in derived if text is not None for line in text.splitlines()}
    chosen = {path: _choose(found.get(name, ()), tree, lines) for path, name in wanted.items()}
    return {path: place for path, place in chosen.items() if place is not None}


def with_moves(profile: Profile, moves: Moves) -> Profile:
    """Return ``profile`` with the new paths, also in the modules of its translated names.

    The old paths of derived modules stay behind the new ones, and so do the rows of names: older revisions have them.
    """
    if not moves:
        return profile
    dotted = {module_name(old): module_name(new) for old, new in moves.items()}
    rows = [replace(row, new_module=dotted.get(row.new_module, row.new_module)) for row in profile.names]
    moved = [replace(row, module=dotted[row.module]) for row in rows if row.module in dotted]
    modules = tuple(_move_module(module, moves) for module in profile.modules)
    return replace(profile, modules=modules, names=tuple(dict.fromkeys([*moved, *rows])))


def describe_moves(moves: Moves, refs: Mapping[str, str]) -> tuple[str, ...]:
    """Return a note on each file that was followed to another path; ``refs`` are the trees' by project."""
    return tuple(
        f"{TITLES[project]} {refs[project]} has {new} in place of {old}: the runners follow it there"
        for old, new in moves.items()
        if (project := project_of(module_name(old))) is not None and project in refs
    )


def _list_places(profile: Profile, tree: Tree) -> Iterator[tuple[str, str]]:
    """Yield path and class of each file of ``profile`` that ``tree`` should have and lacks."""
    project = tree.source.project
    for module in profile.modules:
        if project == "vllm-omni" and all(tree.read(path) is None for path in module.paths):
            yield module.paths[0], module.name
        anchors = [*module.upstreams, profile.vllm_of(module), *filter(None, [module.gpu])]
        yield from ((a.path, a.name) for a in anchors if a.project == project and tree.read(a.path) is None)


def _search(profile: Profile, tree: Tree, names: Collection[str]) -> Mapping[str, Sequence[str]]:
    """Return ``{class: files that define it}``, without files that a profile names."""
    taken = {path for other in (profile, *BUILT_IN.values()) for path in _list_paths(other)}
    places = defaultdict[str, list[str]](list)
    heads = re.compile(rf"\nclass ({'|'.join(map(re.escape, sorted(names)))})\b")
    for path in tree.paths(f"{PACKAGES[tree.source.project]}/"):
        if path not in taken:
            for name in {*heads.findall(f"\n{peek(tree, path) or ''}")}:
                places[name].append(path)
    return places


def _choose(paths: Sequence[str], tree: Tree, lines: Collection[str]) -> str | None:
    """Return the only path, or the one whose text shares at least twice as many ``lines`` as every other's."""
    shared = {path: len({line.strip() for line in (peek(tree, path) or "").splitlines()} & {*lines}) for path in paths}
    ranked = sorted(paths, key=lambda path: -shared[path])
    is_clear = len(ranked) == 1 or (ranked and shared[ranked[0]] >= 2 * shared[ranked[1]] > 0)
    return ranked[0] if is_clear else None


def _list_paths(profile: Profile) -> Iterator[str]:
    for module in profile.modules:
        yield from (*module.paths, *module.twin_paths, *(anchor.path for anchor in module.upstreams))
        yield profile.vllm_of(module).path


def _move_module(module: RunnerModule, moves: Moves) -> RunnerModule:
    moved = [moves[path] for path in module.paths if path in moves]
    return replace(
        module,
        paths=(*moved, *module.paths),
        upstreams=tuple(_move_anchor(anchor, moves) for anchor in module.upstreams),
        gpu=_move_anchor(module.gpu, moves) if module.gpu is not None else None,
    )


def _move_anchor(anchor: Anchor, moves: Moves) -> Anchor:
    moved = replace(anchor, vllm=moves.get(anchor.vllm, anchor.vllm))
    return replace(moved, path=moves[anchor.path], former=anchor.places) if anchor.path in moves else moved
