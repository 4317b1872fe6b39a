"""Follow runner classes to the files that they have moved to.

Comes in: a profile and a tree. Goes out: ``Moves``: the new paths by the old ones. May touch: the tree, by reading.

A profile names one file for each class. If a tree lacks that file, and another file of the package defines the class,
the class has moved there. Where several files do, it is the one that shares most lines with the derived modules, if it
shares at least twice as many as the next: vllm-ascend and vLLM each have a second runner of the same name. So even the
only file that defines an upstream class is refused if it shares less than ``FOLLOWED`` of the lines of what follows
that class. A file that a profile names for something else is not taken. If the file stayed for the sake of old imports,
and imports the class itself, the class has moved to where that import leads.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from runner_sync.model import PACKAGES, TITLES
from runner_sync.naming import module_name, paths_of, project_of
from runner_sync.profile import BUILT_IN, VLLM_RUNNER, Anchor, Profile, RunnerModule
from runner_sync.sync.trees.class_heads import defines
from runner_sync.texts.import_entries import read_imports
from runner_sync.trees import Tree, peek

Moves = Mapping[str, str]
"""``{old path: new path}``, of all projects."""


def find_moves(profile: Profile, tree: Tree, omni: Tree) -> Moves:
    """Return the files of ``profile`` without their classes in ``tree``, with the files that have these now.

    ``omni`` has the derived modules.
    """
    places = dict(_list_places(profile, tree))
    taken = _list_taken(profile)
    led = {path: place for path, name in places.items() if (place := _follow_import(name, path, tree)) not in taken}
    wanted = {path: name for path, name in places.items() if tree.read(path) is None}
    found = _search(tree, set(wanted.values()), taken) if wanted else {}
    chosen = dict(led)
    for path, name in wanted.items():
        if name in found:
            chosen[path] = _choose(found[name], tree, _read_followers(profile, path, omni))
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
        f"{TITLES[project]} {refs[project]} has in {new} what was in {old}: the runners follow it there"
        for old, new in moves.items()
        if (project := project_of(module_name(old))) is not None and project in refs
    )


def has_class_of(profile: Profile, path: str, text: str) -> bool:
    """Whether ``text`` defines a class for which ``profile`` names ``path``."""
    anchors = [a for module in profile.modules for a in (*module.upstreams, module.gpu) if a is not None]
    return any(anchor.path == path and defines(anchor.name, text) for anchor in anchors)


def _list_places(profile: Profile, tree: Tree) -> Iterator[tuple[str, str]]:
    """Yield path and class of each place of ``profile`` where ``tree`` should have the class and has not.

    A derived module counts once, at the first of its paths that the tree has.
    """
    project = tree.source.project
    for module in profile.modules:
        places = [(a.path, a.name) for a in (*module.upstreams, profile.vllm_of(module)) if a.project == project]
        if project == "vllm-omni":
            places += [(module.gpu.path, module.gpu.name)] if module.gpu is not None else []
            present = (path for path in module.paths if tree.read(path) is not None)
            places.append((next(present, module.paths[0]), module.name))
        yield from ((path, name) for path, name in places if name and not defines(name, tree.read(path) or ""))


def _follow_import(name: str, path: str, tree: Tree) -> str | None:
    """Return the file that defines class ``name``, which the module at ``path`` imports from its own package.

    Returns ``None`` if the import gives the class another name, or leads to no class.
    """
    seen = [path]
    while (text := tree.read(seen[-1])) is not None and not defines(name, text):
        try:
            entry = read_imports(text, seen[-1]).get(name)
        except SyntaxError:
            return None
        files = paths_of(entry.module) if entry is not None and entry.name == name else ()
        present = [file for file in files if project_of(module_name(file)) == tree.source.project]
        following = next((file for file in present if file not in seen and tree.read(file) is not None), None)
        if following is None:
            return None
        seen.append(following)
    return seen[-1] if text is not None and len(seen) > 1 else None


def _search(tree: Tree, names: Collection[str], taken: Collection[str]) -> Mapping[str, Sequence[str]]:
    """Return ``{class: files that define it}``, without the files ``taken``."""
    places = defaultdict[str, list[str]](list)
    heads = re.compile(rf"^class ({'|'.join(map(re.escape, sorted(names)))})\b", re.MULTILINE)
    for path in tree.paths(f"{PACKAGES[tree.source.project]}/") if names else ():
        if path not in taken:
            for name in {*heads.findall(peek(tree, path) or "")}:
                places[name].append(path)
    return places


def _read_followers(profile: Profile, path: str, omni: Tree) -> set[str]:
    """Return the lines of the derived modules that follow a class at ``path``, or else of all of them."""
    following = [m for m in profile.modules if path in {*(a.path for a in m.upstreams), profile.vllm_of(m).path}]
    texts = [omni.read(place) or "" for module in following or profile.modules for place in module.paths]
    return {line.strip() for text in texts for line in text.splitlines()}


def _choose(paths: Sequence[str], tree: Tree, lines: Collection[str]) -> str | None:
    """Return the only path, or the one whose text shares at least twice as many ``lines`` as every other's.

    An upstream file must share ``FOLLOWED`` of them.
    """
    from runner_sync.thresholds import FOLLOWED  # a check of files that stayed needs no threshold

    least = 0.0 if tree.source.project == "vllm-omni" else FOLLOWED
    shared = {path: len({line.strip() for line in (peek(tree, path) or "").splitlines()} & {*lines}) for path in paths}
    ranked = sorted(paths, key=lambda path: -shared[path])
    is_clear = len(ranked) == 1 or (ranked and shared[ranked[0]] >= 2 * shared[ranked[1]] > 0)
    return ranked[0] if is_clear and shared[ranked[0]] >= least * len(lines) else None


def _list_taken(profile: Profile) -> set[str]:
    """Return the files that ``profile`` or a built-in one names."""
    modules = [(other, module) for other in (profile, *BUILT_IN.values()) for module in other.modules]
    rows = [(*m.paths, *m.twin_paths, *(a.path for a in m.upstreams), o.vllm_of(m).path) for o, m in modules]
    return {path for row in rows for path in row}


def _move_module(module: RunnerModule, moves: Moves) -> RunnerModule:
    moved = [moves[path] for path in module.paths if path in moves]
    return replace(
        module,
        paths=(*moved, *module.paths),
        upstreams=tuple(_move_anchor(anchor, moves) for anchor in module.upstreams),
        gpu=_move_anchor(module.gpu, moves) if module.gpu is not None else None,
    )


def _move_anchor(anchor: Anchor, moves: Moves) -> Anchor:
    moved = replace(anchor, vllm=moves.get(anchor.vllm or VLLM_RUNNER, anchor.vllm))
    return replace(moved, path=moves[anchor.path], former=anchor.places) if anchor.path in moves else moved
