"""``python -m benchmarks.told``: what ``check`` says of runners before an upgrade, and what people changed then.

Comes in: hand-made upgrades (the corpus and the cases of ``more.toml``, ``further.toml`` and ``candidates.toml``). Goes
out: ``Coverage`` rows, one per upgrade. May touch: what ``runner_sync.sources`` touches, and a temporary folder.

The old NPU runners are checked inside the newer omni tree, against the vllm-ascend that people upgraded to, without
given bases. A changed method counts as told if a finding is about it. The benchmark proves that a maintainer who reads
the findings sees the methods that need work, and how many others. It does not prove that a finding names all the work
in its method.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import corpus, section, tables
from benchmarks.spread import spread
from runner_sync import score
from runner_sync.model import Finding
from runner_sync.profile import NPU
from runner_sync.sync import checking, replaying
from runner_sync.sync.options import CheckOptions, TreeOptions
from runner_sync.sync.trees import inputs

MORE = ("more.toml", "further.toml", "candidates.toml")

_DRIFT_OR_BREAKAGE = ("RS1", "RS2", "RS3")
"""Findings that ask for a change when upstream or GPU moves; the others are about the text itself."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """The changed lines of one upgrade, and how many ``check`` reported beforehand.

    Lines are counted in methods of both releases (``changed``), in ``new`` and in ``dropped`` ones; ``…_told`` counts
    those in reported methods. A new method counts as reported if a finding names it. ``told`` is the number of reported
    methods, ``left_alone`` are those that people did not change, ``silent`` the changed methods without a finding.
    """

    case: str
    changed: int
    changed_told: int
    new: int
    new_told: int
    dropped: int
    dropped_told: int
    told: int
    left_alone: tuple[str, ...]
    silent: tuple[str, ...]


def load_cases() -> list[replaying.Case]:
    """Return the upgrades."""
    folder = Path(__file__).parent
    return [*replaying.cases(), *(case for name in MORE for case in replaying.cases(folder / name))]


def measure_case(case: replaying.Case) -> Coverage:
    """Return the row of one upgrade. Raises ``InputError``."""
    before, after = {}, {}
    for module in NPU.runners:
        old = inputs.read_first(corpus.open_tree("vllm-omni", case.omni_before), module.paths)
        new = inputs.read_first(corpus.open_tree("vllm-omni", case.omni_after), module.paths)
        if old is not None and new is not None:
            before[new[0]], after[new[0]] = old[1], new[1]
    return compare(case.id, before, after, check_runners(case, before))


def check_runners(case: replaying.Case, runners: dict[str, str]) -> Sequence[Finding]:
    """Return the findings of ``check`` for old ``runners`` within the tree of the newer release."""
    tree = corpus.open_tree("vllm-omni", case.omni_after)
    with tempfile.TemporaryDirectory() as folder:
        for path in tree.paths():
            text = runners.get(path) or (tree.read(path) if path.endswith((".py", ".toml")) else None)
            if text is not None:
                place = Path(folder, path)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(text, "utf-8")
        options = CheckOptions(
            omni=TreeOptions(path=Path(folder)),
            ascend=TreeOptions(version=case.ascend),
            vllm=TreeOptions(version=case.vllm_after),
            select=_DRIFT_OR_BREAKAGE,
        )
        return checking.check(options).findings


def compare(name: str, before: dict[str, str], after: dict[str, str], found: Sequence[Finding]) -> Coverage:
    """Return the row of runners ``before`` and ``after``, by path, with the findings ``found`` by ``check``."""
    about = {(finding.path, finding.unit) for finding in found}
    words = set(re.findall(r"\w+", " ".join(f"{finding.symbol} {finding.message}" for finding in found)))
    sums: Counter[str] = Counter()
    reported: Counter[str] = Counter()
    silent: list[str] = []
    touched = set()
    for path in after:
        old, new = score.unparse_methods(before[path]), score.unparse_methods(after[path])
        for unit in dict.fromkeys([*old, *new]):
            work = score.changed_lines(old.get(unit, ""), new.get(unit, "")).total()
            kind = "changed" if unit in old and unit in new else "new" if unit in new else "dropped"
            is_told = (path, unit) in about or (kind == "new" and unit.rpartition(".")[2] in words)
            sums[kind] += work
            reported[kind] += work if is_told else 0
            touched |= {(path, unit)} if work else set()
            silent += [unit] if work and kind == "changed" and not is_told else []
    known = {(path, unit) for path, text in before.items() for unit in score.unparse_methods(text)}
    return Coverage(
        name,
        changed=sums["changed"],
        changed_told=reported["changed"],
        new=sums["new"],
        new_told=reported["new"],
        dropped=sums["dropped"],
        dropped_told=reported["dropped"],
        told=len(about & known),
        left_alone=tuple(sorted(unit for path, unit in (about & known) - touched)),
        silent=tuple(silent),
    )


def report() -> str:
    """Return the rows and the unreported methods as Markdown. Raises ``InputError``."""
    found = spread(measure_case, load_cases())
    lines_of = ("lines in changed methods", "of methods told", "in new ones", "told", "in dropped ones", "told")
    head = ("upgrade", *lines_of, "methods told of", "left alone by people")
    cells = [(one.case, *map(str, _count(one))) for one in found]
    cells.append(("all", *(str(sum(column)) for column in zip(*map(_count, found), strict=True))))
    lines = [
        f"- {one.case}, {what}: {', '.join(names)}"
        for one in found
        for what, names in (("not told of", one.silent), ("told of and left alone", one.left_alone))
        if names
    ]
    return "\n".join([f"## What check says before an upgrade\n\n{tables.format_table(head, cells)}", *lines, ""])


def _count(one: Coverage) -> tuple[int, ...]:
    lines = (one.changed, one.changed_told, one.new, one.new_told, one.dropped, one.dropped_told)
    return (*lines, one.told, len(one.left_alone))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return 2 if an input cannot be read."""
    return section.run("told", report, __doc__.split("\n")[0], argv)


if __name__ == "__main__":
    sys.exit(main())
