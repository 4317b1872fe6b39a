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
from benchmarks.chunks import Part, count_conflicts, read
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


def list_tools(scratch: Path) -> list[Tool]:
    """Return all peers; mergiraf may be installed in ``scratch``."""
    return [
        Tool("git merge-file", merge_file),
        *(_make_merge_file_tool(name) for name in _ALGORITHMS),
        *(Tool(f"git merge (ort), {name}", _make_ort_merge(name)) for name in _ALGORITHMS),
        _make_mergiraf_tool(scratch),
        _make_wiggle_tool(),
        Tool("regenerate + three-way (as copier)", merge_file, whole_files=True),
    ]


def merge_file(triples: Sequence[Triple], *options: str) -> list[tuple[Part, ...]]:
    """Run ``git merge-file`` on each triple."""
    return [
        read(_run_on_files(triple, lambda b, o, u: ["git", "merge-file", "-p", *options, o, b, u]))
        for triple in triples
    ]


def _make_merge_file_tool(algorithm: str) -> Tool:
    name = f"git merge-file --diff-algorithm={algorithm}"
    if not programs.has_merge_file_algorithms():
        return Tool(name, None, f"{programs.describe_version('git', 'git')} has no such option (2.44 has)")
    return Tool(name, lambda triples: merge_file(triples, f"--diff-algorithm={algorithm}"))


def _run_on_files(triple: Triple, command: Callable[[str, str, str], list[str]], *, suffix: str = "") -> str:
    """Return the standard output of a merge program on scratch files of base, omni and upstream."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, name + suffix) for name in ("base", "omni", "upstream")]
        for file, text in zip(files, (triple.base, triple.omni, triple.upstream), strict=True):
            file.write_text(text, "utf-8")
        return programs.run(command(*map(str, files))).stdout.decode("utf-8")


def _make_ort_merge(algorithm: str) -> Merge:
    """Return a merge of two branches of a scratch repository with one file per unit, as any git since 2.34 can do."""

    def merge(triples: Sequence[Triple]) -> list[tuple[Part, ...]]:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            programs.run_checked(["git", "init", "-q", "."], cwd=root)
            programs.run_checked(["git", "fast-import", "--quiet"], cwd=root, data=_make_branches(triples))
            programs.run_checked(["git", "checkout", "-q", "omni"], cwd=root)
            options = ["-X", f"diff-algorithm={algorithm}", "-X", "no-renames"]
            author = ["-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "merge.conflictStyle=merge"]
            programs.run(["git", *author, "merge", "-q", "-s", "ort", *options, "-m", "-", "upstream"], cwd=root)
            return [read((root / str(k)).read_text("utf-8")) for k in range(len(triples))]

    return merge


def _make_branches(triples: Sequence[Triple]) -> bytes:
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


def _make_mergiraf_tool(scratch: Path) -> Tool:
    path, why = programs.mergiraf(scratch)
    name = "git merge-file, then mergiraf"
    if path is None:
        return Tool(name, None, why)
    return Tool(name, lambda triples: [_run_second_pass(path, triple) for triple in triples])


def _run_second_pass(path: str, triple: Triple) -> tuple[Part, ...]:
    """Run mergiraf where git leaves conflicts; keep its result if it has fewer."""
    first = merge_file([triple])[0]
    if not count_conflicts(first):
        return first
    wrapper = _WRAPPER if triple.omni[:1] == " " else ""
    wrapped = Triple(wrapper + triple.base, wrapper + triple.omni, wrapper + triple.upstream)
    output = _run_on_files(wrapped, lambda b, o, u: [path, "merge", b, o, u], suffix=".py")
    second = read(output.removeprefix(wrapper))
    return second if output.startswith(wrapper) and count_conflicts(second) < count_conflicts(first) else first


def _make_wiggle_tool() -> Tool:
    path = programs.find("wiggle")
    if path is None:
        return Tool("wiggle", None, "the Debian package wiggle is not installed")

    def merge(triples: Sequence[Triple]) -> list[tuple[Part, ...]]:
        return [read(_run_on_files(triple, lambda b, o, u: [path, "--merge", o, b, u])) for triple in triples]

    return Tool("wiggle", merge)
