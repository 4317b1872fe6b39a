"""Collect the input of the rules of ``check``: every NPU module with the texts that the chosen rules compare.

Comes in: trees, lock, options, chosen codes. Goes out: ``CheckModule`` values. May touch: the trees, and what
``sources`` touches to read a base. Without an upstream tree, reads only the omni tree.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from runner_sync.errors import InputError
from runner_sync.lock import Entry
from runner_sync.model import TITLES
from runner_sync.profile import RunnerModule
from runner_sync.sync.options import CheckOptions
from runner_sync.sync.trees import inputs, pairs
from runner_sync.sync.trees.runners import DerivedModule, make_path_error
from runner_sync.trees import Tree
from runner_sync.verify.catalog import codes_with
from runner_sync.verify.check_job import CheckModule
from runner_sync.verify.codes import Codes

if TYPE_CHECKING:
    from runner_sync.verify.trees.surroundings import Surroundings

LOCKED = codes_with("lock")
"""Rules that compare with the lock."""

DRIFT = codes_with("upstream")
"""Rules that compare the target vllm-ascend with the base."""

AGAINST_VLLM = codes_with("vllm")
"""Rules that need vLLM's modules, to tell omni code in the GPU runners from vLLM code."""

EARLIER_TWINS = codes_with("earlier twin")
"""Rules that compare the GPU twins with their earlier revisions."""

_OF_TWINS = codes_with("twin")


def idle_codes(given: inputs.Inputs) -> tuple[str, ...]:
    """Return the codes of rules that find nothing: those that compare with GPU twins, if the profile has none."""
    return () if given.profile.has_twins else _OF_TWINS


def describe_modules(
    options: CheckOptions, given: inputs.Inputs, modules: Sequence[DerivedModule], codes: Codes
) -> tuple[CheckModule, ...]:
    """Describe each module with its GPU twin and lock entries.

    As far as ``codes`` need them, adds target and base texts and vLLM's module.
    """
    described = [describe_module(given, derived) for derived in modules]
    if given.followed is not None and codes.wants_any((*DRIFT, "RS103")):
        inputs.require_one_followed(given.profile)
        described = [_add_upstream(*pair, given, given.followed) for pair in zip(described, modules, strict=True)]
        if codes.wants_any(DRIFT):
            described = _add_bases(options, given, modules, described)
    if codes.wants_any(AGAINST_VLLM):
        described = _add_vllm(options, given, modules, described)
    return tuple(described)


def search_trees(
    given: inputs.Inputs, described: Sequence[CheckModule], codes: Codes
) -> Callable[[], Surroundings] | None:
    """Return what makes the texts of the trees, for rules that look for a word in all of omni; ``None`` if none does.

    Rules that need vLLM's modules do so, to see which models have a hook of the GPU runners.
    """
    if not codes.wants_any(AGAINST_VLLM) or all(module.vllm_text is None for module in described):
        return None

    def make() -> Surroundings:
        from runner_sync.verify.trees.surroundings import Surroundings

        return Surroundings({**given.trees, "vllm-omni": given.whole_omni}, given.profile.surroundings)

    return make


def wants_earlier_twins(options: CheckOptions, given: inputs.Inputs, codes: Codes) -> bool:
    """Whether a run needs earlier revisions of the GPU twins.

    A chosen rule must compare with them, an upstream must be at hand to tell omni code from vLLM code, and either no
    lock records the twins or an option names their revision.
    """
    if not codes.wants_any(EARLIER_TWINS) or not given.profile.has_twins:
        return False
    if given.followed is None and given.vllm is None:
        return False
    return options.omni_base is not None or not given.lock.gpu_paths


def describe_module(given: inputs.Inputs, derived: DerivedModule) -> CheckModule:
    """Describe a module with its GPU twin and lock entries."""
    twin = derived.module.gpu
    return CheckModule(
        derived.path,
        derived.text,
        gpu_path=twin.path if twin is not None else "",
        gpu_text=_read_twin(derived.module, given),
        entries=tuple(given.lock.of(derived.path)),
        upstream_path=derived.module.anchor.path,
    )


def _read_twin(module: RunnerModule, given: inputs.Inputs) -> str | None:
    """Return the whole text of a module's GPU twin; ``None`` without one."""
    if module.gpu is None:
        return None
    known = given.together.get(module.gpu.path)
    return known if known is not None else _read_whole(given.omni, module.gpu.path, given)


def _read_whole(tree: Tree, path: str, given: inputs.Inputs) -> str | None:
    from runner_sync.sync.classes.whole_classes import read_whole

    return read_whole(tree, path, given)


def find_neighbours(given: inputs.Inputs, modules: Sequence[DerivedModule]) -> tuple[str, ...]:
    """Return the paths of the other modules in the folders of the NPU modules, and below.

    timid: takes only folders that have the platform's name in their path (``platforms/npu/worker``) and hold no GPU
    runner. A configuration may put a runner anywhere, which does not make its neighbours NPU code.
    """
    own = {derived.path for derived in modules}
    twins = {path for derived in modules for path in derived.module.twin_paths}
    word, folders = given.profile.device[1], {path[: path.rfind("/") + 1] for path in own}
    folders = {f for f in folders if word in re.split(r"[\W_]+", f) and not any(twin.startswith(f) for twin in twins)}
    return tuple(sorted({path for folder in folders for path in given.omni.paths(folder)} - own))


def note_missing_upstream(given: inputs.Inputs, described: Sequence[CheckModule]) -> Iterable[str]:
    """Note each upstream file that a worker follows and the target lacks, so that it was not compared."""
    if given.followed is not None and any(module.upstream_text is not None for module in described):
        for path in dict.fromkeys(module.upstream_path for module in described if module.upstream_text is None):
            tree = f"{TITLES[given.profile.followed]} {given.followed.source.ref}"
            yield f"{tree} has no {path}: what follows it was not compared with it"


def _add_upstream(module: CheckModule, derived: DerivedModule, given: inputs.Inputs, followed: Tree) -> CheckModule:
    """Add the target's text of the upstream module that ``module`` follows.

    If the target has no such file (0.12 had ``worker_v1.py``), a worker is returned unchanged, and a runner raises
    ``InputError``.
    """
    text = _read_whole(followed, module.upstream_path, given)
    if text is None:
        if derived.module not in given.profile.runners:
            return module
        raise make_path_error(followed, derived.module.anchor)
    return replace(module, upstream_text=text, upstream_ref=followed.source.ref)


def _add_bases(
    options: CheckOptions, given: inputs.Inputs, modules: Sequence[DerivedModule], described: Sequence[CheckModule]
) -> list[CheckModule]:
    """Add base texts to the modules, by option, else by lock, else by inference."""
    read = _UpstreamReader(options, given)
    if (base := options.base(given.profile.followed)) is not None:
        runners = {derived.path for derived in modules if derived.module in given.profile.runners}
        return [
            _add_named_base(module, base, read, needed=module.path in runners)
            if module.upstream_text is not None
            else module
            for module in described
        ]
    if any(entry.upstream is not None for entry in given.lock.entries):
        return [_add_locked_bases(module, read) for module in described]
    return [
        replace(module, entries=entries, base_texts=texts)
        for module, (entries, texts) in zip(described, _infer_entries(options, given, modules), strict=True)
    ]


class _UpstreamReader:
    """Reads modules of older upstream revisions and opens each tree once."""

    def __init__(self, options: CheckOptions, given: inputs.Inputs) -> None:
        self._options = options
        self._given = given
        self.project, self.lock_file = given.profile.followed, given.lock_file
        self._trees: dict[str, Tree] = {}

    def text(self, ref: str, path: str) -> str | None:
        """Return the text of ``path`` at ``ref``; ``None`` if that revision has no such file."""
        followed = self._given.followed
        if followed is not None and pairs.is_ref_of(ref, followed):
            return _read_whole(followed, path, self._given)
        if ref not in self._trees:
            self._trees[ref] = pairs.open_followed_at(ref, self._given, self._options)
        return _read_whole(self._trees[ref], path, self._given)


def _add_named_base(module: CheckModule, ref: str, read: _UpstreamReader, *, needed: bool) -> CheckModule:
    """Add the base that an option names; raise ``InputError`` if it lacks a file that is ``needed``."""
    text = read.text(ref, module.upstream_path)
    if text is None and not needed:
        return module
    if text is None:
        raise InputError(
            f"{TITLES[read.project]} {ref} has no {module.upstream_path}: name another revision with "
            f"--{inputs.option_word(read.project)}-base."
        )
    entries = tuple(
        replace(entry, upstream=replace(entry.upstream, ref=ref)) if entry.upstream is not None else entry
        for entry in module.entries
    )
    return replace(module, entries=entries, base_text=text, base_ref=ref)


def _add_locked_bases(module: CheckModule, read: _UpstreamReader) -> CheckModule:
    """Add the base texts that the lock names; raise ``InputError`` if one has changed since."""
    from runner_sync.sync.synced.locked import require_locked

    places = {entry.upstream.ref: entry.upstream.path for entry in module.entries if entry.upstream is not None}
    found = {ref: text for ref in sorted(places) if (text := read.text(ref, places[ref])) is not None}
    for ref, text in found.items():
        locked = [
            entry.upstream for entry in module.entries if entry.upstream is not None and entry.upstream.ref == ref
        ]
        require_locked(locked, text, places[ref], read.lock_file)
    return replace(module, base_texts=found)


def _infer_entries(
    options: CheckOptions, given: inputs.Inputs, modules: Sequence[DerivedModule]
) -> Iterable[tuple[tuple[Entry, ...], Mapping[str, str]]]:
    """Yield for each module lock entries with the inferred bases of its units, and the base texts by ref.

    Both are empty for a module that holds a merge conflict, which does not parse and which another rule reports.
    """
    from runner_sync.sync.synced.inference import infer_bases
    from runner_sync.unmerged import conflicts

    whole = [derived for derived in modules if not conflicts(derived.text)]
    known = {derived.path: bases for derived, bases in infer_bases(options, given, whole)}
    for derived in modules:
        bases = known.get(derived.path, {})
        refs = {unit: replace(base.ref, how="inferred") for unit, base in bases.items()}
        entries = tuple(Entry(derived.path, unit, upstream=ref) for unit, ref in refs.items())
        yield entries, {base.ref.ref: base.side.text for base in bases.values()}


def _add_vllm(
    options: CheckOptions, given: inputs.Inputs, modules: Sequence[DerivedModule], described: Sequence[CheckModule]
) -> list[CheckModule]:
    """Add vLLM's own module to the runners, unless no vLLM can be named.

    timid: workers get none. Each platform sets up its device in its own way, so code of a GPU worker that vLLM lacks is
    not necessarily code that NPU lacks.
    """
    near = [tree for tree in (given.vllm,) if tree is not None]
    if not near and given.followed is None:
        return list(described)
    tree = pairs.open_vllm_of_omni(options, given, near)
    if tree is None:
        return list(described)
    profile = given.profile
    return [
        replace(module, vllm_text=_read_whole(tree, profile.vllm_of(derived.module).path, given))
        if derived.module in profile.runners
        else module
        for module, derived in zip(described, modules, strict=True)
    ]
