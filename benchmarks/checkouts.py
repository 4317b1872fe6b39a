"""Make git checkouts of released trees, so that the timed commands need no network.

Comes in: releases, versions of vllm-ascend's runner. Goes out: repositories below a folder, runner files for floors.
May touch: that folder, ``git fast-import``, what ``runner_sync.sources`` touches.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import programs
from benchmarks.corpus import open_tree
from runner_sync import sources
from runner_sync.model import Project
from runner_sync.profile import ASCEND_RUNNER, ASCEND_WORKER, NPU, VLLM_RUNNER, VLLM_WORKER
from runner_sync.sync.options import silent

OMNI, ASCEND, VLLM = ("0.30.0", "0.32.0rc1"), ("0.26.0rc1", "0.30.0rc2"), ("0.30.0", "0.32.0")
"""Old and new release of each project: today's upgrade, which nobody has done yet (case HEAD)."""

_HEAVY = ("vllm_omni/diffusion/", "vllm_omni/model_executor/")
"""Model code, two thirds of the package, from which no runner inherits."""

Commit = tuple[str, Mapping[str, str]]
"""A tag (or an empty name) and the files of a commit."""


@dataclass(frozen=True, slots=True)
class Checkouts:
    """The paths of the repositories; ``ascend`` by number of runner revisions."""

    omni: Path
    vllm: Path
    ascend: Mapping[int, Path]


def make_checkouts(folder: Path, histories: Mapping[int, Sequence[str]]) -> Checkouts:
    """Make all repositories. ``histories`` maps numbers of revisions to runner texts, oldest first."""
    omni = _make_repository(folder / "omni", [_load_release("vllm-omni", version) for version in OMNI])
    vllm = _make_repository(folder / "vllm", [_load_release("vllm", version) for version in VLLM])
    ends = [_load_release("vllm-ascend", version) for version in ASCEND]
    ascend = {}
    for count, runners in histories.items():
        package = {path: text for path, text in ends[0][1].items() if path.endswith("/__init__.py")}
        past = [("", package | {ASCEND_RUNNER: text}) for text in runners[:1]]
        past += [("", {ASCEND_RUNNER: text}) for text in runners[1:]]
        ascend[count] = _make_repository(folder / f"ascend{count}", [*past, *ends])
    return Checkouts(omni, vllm, ascend)


def _load_release(project: Project, version: str) -> Commit:
    """Return a release as a commit that replaces all earlier files."""
    found = sources.open_release(project, version, progress=silent)
    paths = [path for path in found.paths() if not path.startswith(_HEAVY)]
    texts = {path: found.read(path) for path in paths}
    return f"v{version}", {path: text for path, text in texts.items() if text is not None}


def _make_repository(root: Path, commits: Iterable[Commit]) -> Path:
    root.mkdir(parents=True)
    programs.run_checked(["git", "init", "-q", "-b", "main", "."], cwd=root)
    programs.run_checked(["git", "fast-import", "--quiet"], cwd=root, data=b"".join(_iter_stream(commits)))
    programs.run_checked(["git", "reset", "-q", "--hard", "main"], cwd=root)
    return root


def _iter_stream(commits: Iterable[Commit]) -> Iterable[bytes]:
    for number, (tag, files) in enumerate(commits):
        message = (tag or f"Revision {number}").encode()
        when = 1_700_000_000 + 3600 * number
        yield b"commit refs/heads/main\ncommitter bench <bench@localhost> %d +0000\n" % when
        yield b"data %d\n%s\n" % (len(message), message)
        if tag:
            yield b"deleteall\n"
        for path, text in files.items():
            data = text.encode("utf-8")
            yield b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(data), data)
        if tag:
            yield f"reset refs/tags/{tag}\nfrom refs/heads/main\n\n".encode()


def write_runner_files(folder: Path) -> tuple[list[str], list[str]]:
    """Write the texts that an upgrade must read, and those that an offline check must read; return both file lists."""
    npu = [path for module in NPU.modules for path in module.paths]
    gpu = [module.gpu.path for module in NPU.modules if module.gpu is not None]
    offline = _write_texts(folder, "vllm-omni", OMNI[1], [*npu, *gpu])
    more = _write_texts(folder, "vllm-omni", OMNI[0], gpu)
    for version in ASCEND:
        more += _write_texts(folder, "vllm-ascend", version, (ASCEND_RUNNER, ASCEND_WORKER))
    for version in VLLM:
        more += _write_texts(folder, "vllm", version, (VLLM_RUNNER, VLLM_WORKER))
    return [*offline, *more], offline


def _write_texts(folder: Path, project: Project, version: str, paths: Iterable[str]) -> list[str]:
    found = []
    for path in dict.fromkeys(paths):
        text = open_tree(project, version).read(path)
        if text is not None:
            file = folder / f"{project}-{version}-{path.replace('/', '-')}"
            file.write_text(text, "utf-8")
            found.append(str(file))
    return found
