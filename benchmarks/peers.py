"""Run the tools that people would otherwise use, on the same texts as runner-sync.

Comes in: ``Triple`` values. Goes out: merged texts as ``chunks`` parts. May touch: the programs, scratch folders.

Every tool merges unit by unit against the base that the corpus names. Only ``regenerate`` merges whole files, which is
how template tools such as copier update a project. Tools that leave conflicts are scored twice: with all conflicts
settled for the omni side, and for the upstream side.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import programs
from benchmarks.chunks import Part, conflicts, read
from runner_sync.model import Triple

Merge = Callable[[Sequence[Triple]], list[tuple[Part, ...]]]
_WRAPPER = "class _:\n"
_ALGORITHMS = ("histogram", "patience")


@dataclass(frozen=True, slots=True)
class Tool:
    """A merge tool. If it is unavailable, ``merge`` is ``None`` and ``absent`` says why."""

    name: str
    merge: Merge | None
    absent: str = ""
    whole_files: bool = False


def tools(scratch: Path) -> list[Tool]:
    """Return all peers; mergiraf may be installed in ``scratch``."""
    return [
        Tool("git merge-file", merge_file),
        *(_merge_file_with(name) for name in _ALGORITHMS),
        *(Tool(f"git merge (ort), {name}", _ort(name)) for name in _ALGORITHMS),
        _mergiraf(scratch),
        _wiggle(),
        Tool("regenerate + three-way (as copier)", merge_file, whole_files=True),
    ]


def merge_file(triples: Sequence[Triple], *options: str) -> list[tuple[Part, ...]]:
    """Run ``git merge-file`` on each triple."""
    return [
        read(_on_files(triple, lambda b, o, u: ["git", "merge-file", "-p", *options, o, b, u])) for triple in triples
    ]


def _merge_file_with(algorithm: str) -> Tool:
    name = f"git merge-file --diff-algorithm={algorithm}"
    if not programs.merge_file_knows_algorithms():
        return Tool(name, None, f"{programs.version('git', 'git')} has no such option (2.44 has)")
    return Tool(name, lambda triples: merge_file(triples, f"--diff-algorithm={algorithm}"))


def _on_files(triple: Triple, command: Callable[[str, str, str], list[str]], *, suffix: str = "") -> str:
    """Return the standard output of a merge program on scratch files of base, omni and upstream."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, name + suffix) for name in ("base", "omni", "upstream")]
        for file, text in zip(files, (triple.base, triple.omni, triple.upstream), strict=True):
            file.write_text(text, "utf-8")
        return programs.run(command(*map(str, files))).stdout.decode("utf-8")


def _ort(algorithm: str) -> Merge:
    """Return a merge of two branches of a scratch repository with one file per unit, as any git since 2.34 can do."""

    def merge(triples: Sequence[Triple]) -> list[tuple[Part, ...]]:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            programs.must(["git", "init", "-q", "."], cwd=root)
            programs.must(["git", "fast-import", "--quiet"], cwd=root, data=_branches(triples))
            programs.must(["git", "checkout", "-q", "omni"], cwd=root)
            options = ["-X", f"diff-algorithm={algorithm}", "-X", "no-renames"]
            author = ["-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "merge.conflictStyle=merge"]
            programs.run(["git", *author, "merge", "-q", "-s", "ort", *options, "-m", "-", "upstream"], cwd=root)
            return [read((root / str(k)).read_text("utf-8")) for k in range(len(triples))]

    return merge


def _branches(triples: Sequence[Triple]) -> bytes:
    out = []
    for branch in ("base", "omni", "upstream"):
        origin = "" if branch == "base" else "from refs/heads/base\n"
        out.append(
            f"commit refs/heads/{branch}\ncommitter bench <bench@localhost> 0 +0000\ndata 1\n-\n{origin}".encode()
        )
        for number, triple in enumerate(triples):
            data = getattr(triple, branch).encode("utf-8")
            out.append(b"M 100644 inline %d\ndata %d\n%s\n" % (number, len(data), data))
    return b"".join(out)


def _mergiraf(scratch: Path) -> Tool:
    path, why = programs.mergiraf(scratch)
    name = "git merge-file, then mergiraf"
    if path is None:
        return Tool(name, None, why)
    return Tool(name, lambda triples: [_second_pass(path, triple) for triple in triples])


def _second_pass(path: str, triple: Triple) -> tuple[Part, ...]:
    """Run mergiraf where git leaves conflicts; keep its result if it has fewer."""
    first = merge_file([triple])[0]
    if not conflicts(first):
        return first
    wrapper = _WRAPPER if triple.omni[:1] == " " else ""
    wrapped = Triple(wrapper + triple.base, wrapper + triple.omni, wrapper + triple.upstream)
    said = _on_files(wrapped, lambda b, o, u: [path, "merge", b, o, u], suffix=".py")
    second = read(said.removeprefix(wrapper))
    return second if said.startswith(wrapper) and conflicts(second) < conflicts(first) else first


def _wiggle() -> Tool:
    path = programs.find("wiggle")
    if path is None:
        return Tool("wiggle", None, "the Debian package wiggle is not installed")

    def merge(triples: Sequence[Triple]) -> list[tuple[Part, ...]]:
        return [read(_on_files(triple, lambda b, o, u: [path, "--merge", o, b, u])) for triple in triples]

    return Tool("wiggle", merge)
