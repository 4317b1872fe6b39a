"""Find the derived modules that an omni tree has, and refuse a tree that lacks required ones.

Comes in: ``Inputs``. Goes out: ``DerivedModule`` values. May touch: the omni tree, by reading. Imports nothing heavy,
because ``check`` runs in every pull request.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import StringIO

from runner_sync.errors import InputError
from runner_sync.model import TITLES, Project
from runner_sync.profile import BUILT_IN, Anchor, RunnerModule
from runner_sync.sync.trees import inputs
from runner_sync.sync.trees.class_heads import find_class_heads
from runner_sync.syntax import lasting_module_of, statements_of
from runner_sync.trees import InGit, InWork, Tree


@dataclass(frozen=True, slots=True)
class DerivedModule:
    """A derived module (NPU runner or worker) of the omni tree: its row of the profile, its path and its text."""

    module: RunnerModule
    path: str
    text: str


def find_modules(given: inputs.Inputs) -> list[DerivedModule]:
    """Return the derived modules of the omni tree in the profile's order; raise ``InputError`` if there are none."""
    found = []
    for module in given.profile.modules:
        place = inputs.read_first(given.omni, module.paths)
        if place is not None:
            found.append(DerivedModule(module, place[0], given.together.get(*place)))
    if not found:
        looked = " or ".join(given.profile.modules[0].paths)
        raise InputError(
            f"{given.omni.source.location} has no {given.profile.platform} runners ({looked}): is it a vllm-omni tree?"
        )
    return found


def note_absent_files(given: inputs.Inputs, present: Collection[str]) -> list[str]:
    """Note each file that the configuration names for a derived module or its twin and the tree lacks.

    ``present`` are the paths of the derived modules that the run has.

    Such a path is misspelt, or the file does not exist yet. Skips files of the built-in profiles, which come and go
    with versions of omni.
    """
    known = [module for profile in BUILT_IN.values() for module in profile.modules]
    built_in = {path for module in known for path in (*module.paths, *module.twin_paths)}
    absent = []
    for module in given.profile.modules:
        is_found = not set(present).isdisjoint(module.paths)
        paths = module.twin_paths if is_found else module.paths
        if paths and built_in.isdisjoint(paths) and inputs.read_first(given.omni, paths) is None:
            what = "the GPU twin" if is_found else "the module"
            absent.append(f"{given.config.source}: {what} of {module.name} is not in the tree ({' or '.join(paths)})")
    return absent


def refuse_indentation(modules: Sequence[DerivedModule]) -> None:
    """Raise ``InputError`` for a module indented with tabs, or whose first suite is not indented by four spaces.

    Merged code is indented by four spaces. Python rejects a suite that mixes it with tabs. With another width, every
    merged method would differ in layout from the rest of its module.
    """
    for found in modules:
        if re.search(r"^ *\t", found.text, re.MULTILINE):
            tabbed = (line for line, indent in _find_suites(found.text) if "\t" in indent)
            if line := next(tabbed, 0):
                raise InputError(f"{found.path}:{line}: is indented with tabs; run `ruff format` on it and then again.")
        line, first = next(_find_suites(found.text), (0, ""))
        if line and len(first) != _WIDTH:
            raise InputError(
                f"{found.path}:{line}: is indented by {len(first)} spaces and not by {_WIDTH}; run `ruff format` on it "
                f"with `indent-width = {_WIDTH}`, and then again."
            )


_WIDTH = 4
"""Spaces of one level of indentation."""


def _find_suites(text: str) -> Iterator[tuple[int, str]]:
    """Yield line and indentation of each suite that is deeper than the code before it, outside strings."""
    import tokenize

    # The parser will report the error in a text that is not Python.
    with suppress(SyntaxError, tokenize.TokenError):
        for token in tokenize.generate_tokens(StringIO(text).readline):
            if token.type == tokenize.INDENT:
                yield token.start[0], token.string


def refuse_gone(given: inputs.Inputs, modules: Sequence[DerivedModule]) -> None:
    """Raise ``InputError`` for a locked runner or GPU twin that the tree lacks, or one deleted without a commit.

    The run would otherwise look green because it does not read the file.
    """
    refuse_lost(given, {entry.path for entry in given.lock.entries} - {derived.path for derived in modules})
    refuse_twinless(given)
    refuse_deleted(given, modules)


def refuse_renamed(given: inputs.Inputs, modules: Sequence[DerivedModule], since: str | None) -> None:
    """Raise ``InputError`` if the branch renamed a runner or a GPU twin to a path that the profile does not name.

    The file would not be found or compared, and the run would look green.
    """
    if since is None or not isinstance(given.omni, InGit):
        return
    now = {old: new for new, old in given.omni.renamed(since).items()}
    found = {module.module.name for module in modules}
    paths = [path for row in given.profile.modules if row.name not in found for path in row.paths]
    twins = [path for derived in modules for path in derived.module.twin_paths]
    paths += [path for path in twins if given.omni.read(path) is None]
    if gone := next((path for path in paths if path in now), None):
        raise InputError(
            f"{gone} moved to {now[gone]} since {since}, which the configuration does not name: add that path with "
            "`extend-modules`, and then write the lock anew with `runner-sync lock`."
        )


def refuse_twinless(given: inputs.Inputs) -> None:
    """Raise ``InputError`` for a GPU runner that the lock records and the tree lacks.

    It would look as if it had dropped all its methods.
    """
    refuse_lost(given, {path for path in given.lock.gpu_paths if given.omni.read(path) is None})


def refuse_deleted(given: inputs.Inputs, modules: Sequence[DerivedModule]) -> None:
    """Raise ``InputError`` for a runner or GPU twin whose deletion is not committed.

    An upgrade would make a new runner from the GPU twin, without the code that people had written, and would silently
    port nothing from a missing twin.
    """
    present = {derived.module.name for derived in modules}
    absent = [path for module in given.profile.modules if module.name not in present for path in module.paths]
    absent += [path for path in given.profile.twin_paths if given.omni.read(path) is None]
    if absent and isinstance(given.omni, InWork) and (deleted := given.omni.dirty(absent)):
        raise InputError(
            f"{deleted[0]} is deleted and git has it: bring it back with `git checkout HEAD -- {deleted[0]}`, or "
            "commit that it is gone."
        )


def refuse_lost(given: inputs.Inputs, gone: Collection[str]) -> None:
    """Raise ``InputError`` if any locked file is ``gone`` from the tree or from the profile, and say what to do."""
    if present := sorted(path for path in gone if given.omni.read(path) is not None):
        raise InputError(
            f"{given.lock_file} records {', '.join(present)}, which no row of the configuration names any more: give a "
            "row for another file its own `name`; if this file is no longer to be checked, write the lock anew with "
            "`runner-sync lock`."
        )
    if not gone:
        return
    records = f"{given.lock_file} records {', '.join(sorted(gone))}, and the tree has no such runner"
    named = {path for module in given.profile.modules for path in (*module.paths, *module.twin_paths)}
    if named.isdisjoint(gone):
        raise InputError(
            f"{records}: the configuration names another path, and the lock must follow: write it anew with "
            "`runner-sync lock`."
        )
    raise InputError(
        f"{records}: bring it back; if it has another path now, name that with `extend-modules` in the configuration; "
        "then, or if it was deleted on purpose, write the lock anew with `runner-sync lock`."
    )


def refuse_classless(given: inputs.Inputs, modules: Sequence[DerivedModule]) -> None:
    """Raise ``InputError`` for a runner or GPU twin whose top level lacks the class that the profile names.

    Rules look for the class by name, and only members of such a class are merged. Without it they would find nothing,
    and the run would look green.
    """
    for derived in modules:
        pair = (derived.module.gpu.name if derived.module.gpu is not None else "", derived.module.name)
        for path, name, text in _find_named_classes(given, derived):
            lines = _find_class_lines(name, text)
            if not lines:
                raise InputError(
                    f"{path} has no class {name}: bring it back, or, if it has another name now, give that in the "
                    f"configuration ({_suggest_renaming(name, *pair)})."
                )
            if not any(is_at_top for _line, is_at_top in lines):
                raise InputError(
                    f"{path}:{lines[0][0]}: class {name} stands inside another statement, where its members are not "
                    "compared: move it to the top level of the module."
                )


def refuse_duplicate_class(given: inputs.Inputs, modules: Sequence[DerivedModule]) -> None:
    """Raise ``InputError`` for a runner or GPU twin that defines its class twice.

    Only the second definition runs, so a merge into the first has no effect.
    """
    for derived in modules:
        for path, name, text in _find_named_classes(given, derived):
            at_top = [line for line, is_at_top in _find_class_lines(name, text) if is_at_top]
            if len(at_top) > 1:
                raise InputError(
                    f"{path}:{at_top[-1]}: class {name} is defined in line {at_top[0]}, too: delete one of the two."
                )


def _find_named_classes(given: inputs.Inputs, derived: DerivedModule) -> list[tuple[str, str, str]]:
    """Return path, class and text of a module and of its GPU twin, if any; skip rows that name no class."""
    gpu = derived.module.gpu
    twin = given.read_twin(derived.module)
    places = [(derived.path, derived.module.name, derived.text)]
    places += [(gpu.path, gpu.name, twin)] if gpu is not None and twin is not None else []
    return [place for place in places if place[1]]


def _find_class_lines(name: str, text: str) -> list[tuple[int, bool]]:
    """Return the line of each definition of a class in a module, and whether it is at the top level.

    A single unindented line is found without parsing. In a module that does not parse, the class counts as top-level,
    because the parser will report the error.
    """
    heads = [*find_class_heads(name, text)]
    if len(heads) == 1 and (not heads[0] or text[heads[0] - 1] == "\n"):
        return [(text.count("\n", 0, heads[0]) + 1, True)]
    try:
        body = lasting_module_of(text.removeprefix("\ufeff")).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return [(1, True)] if heads else []
    found = [s for s in statements_of(body) if isinstance(s, ast.ClassDef) and s.name == name]
    return [(node.lineno, node in body) for node in found]


def has_class(name: str, text: str) -> bool:
    """Whether a module defines class ``name``, at any level; a row that names no class stands for the whole module."""
    return not name or bool(_find_class_lines(name, text))


def find_close_class(name: str, text: str) -> str:
    """Return the class of a module whose name is closest to ``name``; ``""`` if none is close."""
    import difflib

    names = re.findall(r"^class (\w+)", text, re.MULTILINE)
    return next(iter(difflib.get_close_matches(name, names, n=1)), "")


def make_class_error(lack: str, close: str) -> InputError:
    """Make the error for an upstream class of the configuration that no revision has; ``close`` is a similar one."""
    return InputError(f"{lack}; {f'did you mean {close}?' if close else 'correct `upstreams` in the configuration.'}")


def make_path_error(tree: Tree, anchor: Anchor) -> InputError:
    """Make the error for a tree without the file of the class that the runners follow."""
    return InputError(
        f"{TITLES[tree.source.project]} {tree.source.ref} has no {anchor.path}, and no other file that is clearly its "
        f"class {anchor.name}: give a tree that the runners can follow, or name the file in the configuration "
        "(`upstreams`)."
    )


def refuse_unknown_upstream(modules: Sequence[DerivedModule], project: Project, trees: Sequence[Tree]) -> None:
    """Raise ``InputError`` for a configured class of ``upstreams`` that none of ``trees`` has; the first is the target.

    Skips a class that omni's modules mention: upstream dropped it, and what breaks by that is reported.
    """
    built_in = {anchor for profile in BUILT_IN.values() for module in profile.modules for anchor in module.upstreams}
    for derived in modules:
        anchor = derived.module.anchor
        if anchor in built_in or anchor.project != project:
            continue
        texts = [text for tree in trees if (text := tree.read(anchor.path)) is not None]
        if not texts or any(has_class(anchor.name, text) for text in texts):
            continue
        if not any(re.search(rf"\b{re.escape(anchor.name)}\b", other.text) for other in modules):
            lack = f"{TITLES[project]} {trees[0].source.ref}: {anchor.path} has no class {anchor.name}"
            raise make_class_error(lack, find_close_class(anchor.name, texts[0]))


def _suggest_renaming(name: str, gpu: str, npu: str) -> str:
    """Return the configuration that maps a renamed class ``name`` of the pair ``gpu`` and ``npu``."""
    if not gpu:
        return "`modules`"
    return f"""`extend-classes = {{ {"NEW_NAME" if name == gpu else gpu} = "{"NEW_NAME" if name == npu else npu}" }}`"""
