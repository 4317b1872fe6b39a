"""Build a profile from a built-in one and the values that the configuration sets, replaces or adds.

Comes in: a ``Reader``. Goes out: a ``Profile``. May touch: nothing.

Profile tables (``modules``, ``names``, ``keywords``, ``attributes``, ``members``, ``classes``, ``device-only``,
``unported``, ``gpu-imports``, ``handovers``, ``surroundings``) replace the built-in ones. With the prefix ``extend-``
their rows are put before the built-in rows and replace those with the same subject. If ``classes`` rename a runner
class of the built-in profile, its entry in ``modules`` gets the new name, too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from runner_sync.config.reader import Reader
from runner_sync.profile import KeywordRewrite, NameRewrite, Output, Profile, RunnerModule, SamplerHook

_DOTTED = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)+")

_Row = TypeVar("_Row")


def read_profile(reader: Reader, built_in: Profile) -> Profile:
    """Return ``built_in`` with the configuration's values. Raises ``InputError`` for a wrong value."""
    classes = _read_classes(reader, built_in)
    modules = tuple(_rename_module(module, classes, built_in) for module in _read_modules(reader, built_in))
    return replace(
        built_in,
        name=reader.word("name", built_in.name),
        package=_read_package(reader, modules, built_in),
        platform=reader.word("platform", built_in.platform),
        lock_file=_read_lock_file(reader, modules, built_in),
        marker=reader.word("marker", built_in.marker),
        modules=modules,
        names=_read_rows(reader, "names", NameRewrite, built_in.names),
        keywords=_read_rows(reader, "keywords", KeywordRewrite, built_in.keywords),
        device_only=_read_names(reader, "device-only", built_in.device_only),
        device=reader.value("device", tuple[str, str], built_in.device),
        unported=_read_rows(reader, "unported", str, built_in.unported),
        vllm_class=reader.word("vllm-class", built_in.vllm_class),
        sampler_hook=reader.value("sampler-hook", SamplerHook, built_in.sampler_hook),
        output=reader.value("output", Output, built_in.output),
        gpu_imports=_read_rows(reader, "gpu-imports", str, built_in.gpu_imports),
        handovers=_read_rows(reader, "handovers", str, built_in.handovers),
        surroundings=_read_rows(reader, "surroundings", str, built_in.surroundings),
        attributes=_read_dotted_pairs(reader, "attributes", built_in.attributes),
        members=_read_dotted_pairs(reader, "members", built_in.members),
        classes=_add_twins(reader, classes, modules, built_in),
    )


def _read_modules(reader: Reader, built_in: Profile) -> tuple[RunnerModule, ...]:
    modules: tuple[RunnerModule, ...] = _read_rows(reader, "modules", RunnerModule, built_in.modules)
    if not modules:
        raise reader.error("modules is empty; name at least one derived module, or leave it out.")
    for module in modules:
        for key in ("paths", "upstreams"):
            if not getattr(module, key):
                raise reader.error(f"the module {module.name!r} has no {key}; name at least one.")
        anchors = [*module.upstreams, *([module.gpu] if module.gpu is not None else [])]
        for path in (*module.paths, *(place for one in anchors for place in (one.path, one.vllm) if place)):
            _require_inside(reader, f"a path of the module {module.name!r}", path)
    return modules


def _require_inside(reader: Reader, what: str, path: str) -> None:
    """Raise ``InputError`` for a path that does not name a file of a tree as all commands write it."""
    if "\\" in path or any(part in ("", ".", "..") for part in path.split("/")):
        raise reader.error(
            f"{what} is {path!r}, which names no file inside the tree; write it from the root of the tree, such as "
            "folder/file."
        )


def _read_package(reader: Reader, modules: Sequence[RunnerModule], built_in: Profile) -> str:
    """Return the top package of the derived modules. Raises ``InputError`` for one within it, or without any of them.

    Imports from their own package would then count as foreign, and missing mixins of it would go unnoticed.
    """
    package = reader.word("package", built_in.package)
    top = re.split(r"[./]", package)[0]
    if top and top != package:
        raise reader.error(f"package is {package!r}, which lies within a package; name the top one, {top}.")
    paths = [path for module in modules for path in module.paths]
    if not any(path.startswith(f"{package}/") for path in paths):
        raise reader.error(f"package is {package!r}, but the derived modules lie elsewhere ({paths[0]}); name theirs.")
    return package


def _read_lock_file(reader: Reader, modules: Sequence[RunnerModule], built_in: Profile) -> str:
    """Return the lock's file name. Raises ``InputError`` for a place outside of the tree, and for source code, which a
    lock would replace."""
    name = reader.word("lock-file", built_in.lock_file)
    _require_inside(reader, "lock-file", name.removeprefix("./"))
    paths = {path for module in modules for path in module.paths}
    if name.endswith(".py") or name in paths:
        raise reader.error(f"lock-file is {name!r}, which is source code; name a file of its own, such as x.lock.")
    return name


def _read_classes(reader: Reader, built_in: Profile) -> tuple[tuple[str, str], ...]:
    """Return ``(GPU class, NPU class)`` pairs.

    An added pair replaces all pairs that share one of its names, because the other name is a new name for the same
    class.
    """
    added = reader.value("extend-classes", dict[str, str], {}).items()
    pairs = _read_pairs(reader, "classes", built_in.classes)
    return tuple(pair for pair in pairs if pair in added or not any(set(pair) & set(other) for other in added))


def _add_twins(
    reader: Reader, classes: tuple[tuple[str, str], ...], modules: Sequence[RunnerModule], built_in: Profile
) -> tuple[tuple[str, str], ...]:
    """Return ``classes`` with each module and its twin. A configured pair of the same GPU class wins.

    A built-in pair goes with its module unless it is configured, too: the other platform's class would stand in
    translated code.
    """
    given = {pair for key in ("classes", "extend-classes") for pair in reader.value(key, dict[str, str], {}).items()}
    configured = [pair for pair in classes if pair in given or pair not in built_in.classes]
    twins = [(module.gpu.name, module.name) for module in modules if module.gpu is not None and module.gpu.name]
    pairs: dict[str, str] = {}
    for gpu, npu in (*configured, *twins):
        pairs.setdefault(gpu, npu)
    return tuple(pairs.items())


def _rename_module(module: RunnerModule, classes: tuple[tuple[str, str], ...], built_in: Profile) -> RunnerModule:
    """Give ``module`` and its GPU twin their new class names if ``classes`` lack the built-in pair of names."""
    pair = next(((gpu, npu) for gpu, npu in built_in.classes if npu == module.name), None)
    twin = module.gpu
    if pair is None or pair in classes or twin is None or twin.name != pair[0]:
        return module
    gpu, npu = next((other for other in classes if set(other) & set(pair)), pair)
    return replace(module, name=npu, gpu=replace(twin, name=gpu))


def _read_rows(reader: Reader, key: str, kind: type[_Row], built_in: tuple[_Row, ...]) -> tuple[_Row, ...]:
    """Return the rows of ``extend-KEY``, then the rows of ``KEY`` (or the built-in ones) with other subjects."""
    rows = reader.value(key, tuple[kind, ...], built_in)  # type: ignore[valid-type]
    added = reader.value(f"extend-{key}", tuple[kind, ...], ())  # type: ignore[valid-type]
    return _put_before(added, rows)


def _read_pairs(reader: Reader, key: str, built_in: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    rows = tuple(reader.value(key, dict[str, str], dict(built_in)).items())
    added = tuple(reader.value(f"extend-{key}", dict[str, str], {}).items())
    if (added, rows) == ((), built_in):
        return built_in
    # A longer name is more specific: torch.cuda.graph must come before torch.cuda.
    return tuple(sorted(_put_before(added, rows), key=lambda pair: -pair[0].count(".")))


def _read_dotted_pairs(reader: Reader, key: str, built_in: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """Like ``_read_pairs``, for dotted names. Raises ``InputError`` for a name without a dot.

    The part before the first dot is looked up in the imports of a module.
    """
    for table in (key, f"extend-{key}"):
        for pair in reader.value(table, dict[str, str], {}).items():
            for name in pair:
                if not _DOTTED.fullmatch(name):
                    raise reader.error(f"{table} has {name!r}; write a dotted name such as torch.cuda.")
    return _read_pairs(reader, key, built_in)


def _read_names(reader: Reader, key: str, built_in: tuple[str, ...]) -> tuple[str, ...]:
    """Like ``_read_rows``, for names with or without dots. Raises ``InputError`` for any other text."""
    for table in (key, f"extend-{key}"):
        for name in reader.value(table, tuple[str, ...], ()):
            if not all(part.isidentifier() for part in name.split(".")):
                raise reader.error(f"{table} has {name!r}; write a name such as torch.cuda.")
    return _read_rows(reader, key, str, built_in)


def _put_before(added: tuple[_Row, ...], rows: tuple[_Row, ...]) -> tuple[_Row, ...]:
    """Return ``added``, then the ``rows`` with other subjects. Rows of one table may share a subject as
    alternatives."""
    subjects = {_get_subject(row) for row in added}
    return (*added, *(row for row in rows if _get_subject(row) not in subjects))


def _get_subject(row: Any) -> Any:
    """Return the subject of a row. An added row replaces the rows with the same subject."""
    match row:
        case RunnerModule():
            return row.name
        case NameRewrite():
            return row.module, row.name
        case KeywordRewrite():
            return row.call, row.name
        case tuple():
            return row[0]
    return row
