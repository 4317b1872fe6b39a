"""``python -m benchmarks.pulls``: pull requests of vllm-omni, made by the tool and by people.

Comes in: checkouts of vllm-omni and vllm-ascend with their histories, and ``pulls.toml``. Goes out: a table. May touch:
what ``runner_sync.sources`` touches, and a clone of the first checkout in a temporary directory.

The tree before a commit is upgraded as its maintainers would have done it, without a given base, and the runners are
compared with those of the commit. Corpus cases go from release to release; these cases are the steps that people took.
If a commit changed both the GPU and the NPU runners, the tree is that commit with the NPU runners of its parent, and
the parent is given as the base. If it ported another commit, tree and base come from that commit and its parent.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import git

from benchmarks import tables
from runner_sync import score, sources
from runner_sync.errors import InputError
from runner_sync.profile import NPU
from runner_sync.sync import TreeOptions, UpgradeOptions, upgrade
from runner_sync.sync.trees import inputs

NPU_FOLDERS = ("vllm_omni/platforms/npu/worker", "vllm_omni/worker/npu")
KINDS = ("step", "fix", "catch up", "port", "commit")

Kind = Literal["step", "fix", "catch up", "port", "commit"]


@dataclass(frozen=True, slots=True)
class Pull:
    """One row of ``pulls.toml``, which documents its fields."""

    number: int
    commit: str
    ascend: str
    kind: Kind
    vllm: str | None = None
    of: str | None = None

    @property
    def title(self) -> str:
        return f"#{self.number}" if self.of is None else f"#{self.number}, of {self.of}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The work left for a pull request, and the number of review items."""

    pull: Pull
    total: score.Score = field(default_factory=score.Score)
    reviews: int = 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return 2 if an input cannot be read."""
    options = _make_parser().parse_args(argv)
    wanted = [pull for pull in load_pulls() if not options.number or pull.number in options.number]
    try:
        text = make_table([score_pull(pull, options.omni_path, options.ascend_path) for pull in wanted])
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if options.out is None:
        print(text)
    else:
        tables.write_section(options.out, "pulls", f"## Pull requests\n\n{text}")
    return 0


def load_pulls() -> list[Pull]:
    """Return all rows of ``pulls.toml``, oldest first."""
    rows = tomllib.loads(Path(__file__).with_name("pulls.toml").read_text("utf-8"))["pull"]
    return [Pull(**row) for row in rows]


def score_pull(pull: Pull, omni: Path, ascend: Path) -> Outcome:
    """Score the upgrade of the tree before a pull request against its result. Raises ``InputError``."""
    with tempfile.TemporaryDirectory() as folder:
        place, ref, gpu = omni, f"{pull.commit}^", pull.of or pull.commit
        if _has_gpu_changes(omni, gpu):
            place = Path(folder, "vllm-omni")
            ref = _commit_with_npu_runners(ref, gpu, omni, place)
        planned = upgrade(
            UpgradeOptions(
                omni=TreeOptions(path=place, ref=ref),
                ascend=TreeOptions(path=ascend, ref=pull.ascend),
                vllm=TreeOptions(version=pull.vllm),
                omni_base=f"{gpu}^" if pull.kind in ("port", "commit") else None,
                upstream=pull.kind in ("step", "fix"),
                out=Path(folder, "unwritten"),
                verify=False,
            )
        )
    before, after = (sources.open_path("vllm-omni", omni, ref=name) for name in (f"{pull.commit}^", pull.commit))
    made = {change.path: change.after or "" for change in planned.changes}
    total = score.Score()
    for module in NPU.runners:
        old, new = inputs.read_first(before, module.paths), inputs.read_first(after, module.paths)
        if old is not None and new is not None:
            total += score.score_module(old[1], made.get(old[0], old[1]), new[1])
    return Outcome(pull, total, len(planned.report.reviews))


def make_table(outcomes: Sequence[Outcome]) -> str:
    """Return one row per pull request, grouped by kind, and the sum of each kind."""
    head = ("pull request", "kind", "work", "left", "effort left", "recall", "precision", "review items")
    return tables.format_table(head, list(_iter_rows(outcomes)))


def _iter_rows(outcomes: Sequence[Outcome]) -> Iterator[tuple[str, ...]]:
    for kind in KINDS:
        found = [one for one in outcomes if one.pull.kind == kind]
        whole = sum((one.total for one in found), start=score.Score())
        named = [(one.pull.title, one.total, one.reviews) for one in found]
        if len(found) > 1:
            named.append((f"all {len(found)}", whole, sum(one.reviews for one in found)))
        for name, total, reviews in named:
            is_whole = kind != "fix"  # a fix did only the minimum, so only what it did can be compared
            figures = [total.effort_left if is_whole else None, total.recall, total.precision if is_whole else None]
            yield name, kind, str(total.work), str(total.left), *map(tables.format_number, figures), str(reviews)


def _has_gpu_changes(omni: Path, commit: str) -> bool:
    """Whether a commit changed the GPU runners."""
    paths = [module.gpu.path for module in NPU.runners if module.gpu is not None]
    return bool(_run_git(omni, "diff", "--name-only", f"{commit}^", commit, "--", *paths))


def _commit_with_npu_runners(before: str, gpu: str, omni: Path, place: Path) -> str:
    """Clone ``omni`` to ``place`` and commit ``gpu`` with the NPU runners of the commit ``before``."""
    _run_git(omni, "clone", "--quiet", "--shared", "--no-checkout", str(omni.resolve()), str(place))
    _run_git(place, "read-tree", gpu)
    for folder in NPU_FOLDERS:
        _run_git(place, "rm", "-r", "-f", "--quiet", "--cached", "--ignore-unmatch", folder)
        if _run_git(place, "ls-tree", before, folder):
            _run_git(place, "read-tree", f"--prefix={folder}/", f"{before}:{folder}")
    return _run_git(place, "commit-tree", _run_git(place, "write-tree"), "-p", f"{gpu}^", "-m", "The GPU runners alone")


def _run_git(place: Path, *words: str) -> str:
    """Return the standard output of a git command, run with an anonymous identity. Raises ``InputError``."""
    who = {f"GIT_{role}_{what}": "nobody@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    try:
        return str(git.Git(str(place)).execute(["git", *words], env={**os.environ, **who}))
    except git.GitCommandError as error:
        raise InputError(f"{place}: git {words[0]} failed: {str(error.stderr).strip()}.") from error


def _make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pulls", description=__doc__.split("\n")[0])
    parser.add_argument("number", type=int, nargs="*", metavar="NUMBER", help="only these pull requests")
    for name, what in (("omni", "vllm-omni"), ("ascend", "vllm-ascend")):
        parser.add_argument(
            f"--{name}-path", type=Path, required=True, metavar="DIR", help=f"{what} checkout with its history"
        )
    parser.add_argument("--out", type=Path, metavar="FILE", help="results file")
    return parser


if __name__ == "__main__":
    sys.exit(main())
