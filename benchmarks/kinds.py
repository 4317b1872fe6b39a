"""``python -m benchmarks.kinds``: methods, ports, planted ports, mended breaks, planted breaks, parity.

Comes in: ``kinds.toml`` and the corpus files. Goes out: Markdown on standard output, or a section of ``--out``. May
touch: what the other modules here touch.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from benchmarks import breakages, corpus, debts, peers, planted_ports, scoring, section, tables
from benchmarks.chunks import SIDES, settle
from benchmarks.spread import spread
from runner_sync import score
from runner_sync.profile import NPU
from runner_sync.statements import parses
from runner_sync.sync import replaying, upgrade
from runner_sync.sync.opening import open_inputs
from runner_sync.sync.options import TreeOptions
from runner_sync.sync.trees import inputs
from runner_sync.sync.trees.patched_tree import PatchedTree
from runner_sync.sync.trees.runners import find_modules
from runner_sync.sync.upgrade_options import ReplayOptions, UpgradeOptions
from runner_sync.transforms import translate
from runner_sync.trees import Tree
from runner_sync.verify import breakage
from runner_sync.verify.trees.world import World

HERE = Path(__file__).parent


class Port(msgspec.Struct, frozen=True):
    """Two releases of vllm-omni on one vllm-ascend."""

    before: str
    after: str
    ascend: str
    seen: bool = False


class Fix(msgspec.Struct, frozen=True):
    """A release of vllm-omni and a vllm-ascend that it was not made for."""

    omni: str
    ascend: str
    seen: bool = False


class _Kinds(msgspec.Struct):
    port: list[Port]
    fix: list[Fix]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return 2 if an input cannot be read."""
    return section.run("kinds", report, __doc__.split("\n")[0], argv)


def report() -> str:
    """Return the section. Raises ``InputError``."""
    kinds = msgspec.toml.decode((HERE / "kinds.toml").read_bytes(), type=_Kinds)
    full = [*replaying.cases(), *replaying.cases(HERE / "more.toml")]
    ports = [(port, _make_case(port)) for port in kinds.port]
    methods = [row for rows in spread(score_methods, [*full, *(case for _, case in ports)]) for row in rows]
    taken = spread(score_port, ports)
    mended = spread(count_breaks, kinds.fix)
    return "\n".join(
        [
            "## Other kinds of truth\n",
            _format_methods(methods),
            _format_ports(taken),
            planted_ports.report(),
            _format_fixes(mended),
            breakages.report(),
            debts.report(),
        ]
    )


def _make_case(port: Port) -> replaying.Case:
    return replaying.Case(
        id=f"{port.before} → {port.after}",
        omni_before=port.before,
        omni_after=port.after,
        ascend_base=port.ascend,
        ascend=port.ascend,
        vllm_before=port.before.split("rc")[0],
        vllm_after=port.after.split("rc")[0],
    )


# --- single methods


@dataclass(frozen=True, slots=True)
class Method:
    """One tool on one method that people changed: the number of lines to change, and of those left."""

    tool: str
    work: int
    left: int

    @property
    def effort_left(self) -> float:
        return self.left / self.work


def score_methods(case: replaying.Case) -> list[Method]:
    """Score every tool on each method that people changed and that exists before and after."""
    found = []
    done = {result.path: result.after for result in replaying.run(case, ReplayOptions()).results}
    for runner in corpus.load_problem(case).runners:
        before, truth = score.unparse_methods(runner.before), score.unparse_methods(runner.truth)
        made = {"runner-sync": score.unparse_methods(done[runner.path]), **_merge_by_git(runner)}
        for name in [name for name in before if name in truth and before[name] != truth[name]]:
            for tool, result in made.items():
                total = score.score_texts(before[name], result.get(name, ""), truth[name])
                found.append(Method(tool, total.work, total.left))
    return found


def _merge_by_git(runner: corpus.Runner) -> dict[str, dict[str, str]]:
    copies = dict(corpus.iter_copies(runner))
    merged = peers.merge_file(list(copies.values()))
    found = {}
    for side in SIDES:
        edits = {name: settle(parts, side) for name, parts in zip(copies, merged, strict=True)}
        good = {name: text for name, text in edits.items() if parses(text)}
        found[f"git merge-file, {side} side"] = dict(
            score.unparse_methods(scoring.edit_units(runner.before, good, runner.path))
        )
    return found


def _format_methods(rows: Sequence[Method]) -> str:
    head = ("tool", "methods", "finished", "at least half", "less", "nothing", "worse than nothing", "lines left")
    cells = []
    for tool in dict.fromkeys(row.tool for row in rows):
        efforts = [row.effort_left for row in rows if row.tool == tool]
        bounds = ((0, 0), (0, 0.5), (0.5, 1), (1, 1), (1, float("inf")))
        counts = [_count_between(efforts, low, high) for low, high in bounds]
        left, work = (sum(getattr(row, what) for row in rows if row.tool == tool) for what in ("left", "work"))
        cells.append((tool, str(len(efforts)), *map(str, counts), tables.format_number(left / work)))
    return f"### Single methods\n\n{tables.format_table(head, cells)}"


def _count_between(values: Iterable[float], low: float, high: float) -> int:
    """Return how many values are in (``low``, ``high``], or (``low``, ``high``) if ``high`` is 1, or equal to both
    bounds."""
    if low == high:
        return sum(value == low for value in values)
    return sum(low < value < high or (value == high and high != 1) for value in values)


# --- ports between two releases


@dataclass(frozen=True, slots=True)
class PortScore:
    """What people and the tool ported, in added lines; blank lines do not count.

    ``people``: added by people and new in the GPU runners; ``both``: of these, also added by the tool. ``tool``: all
    lines that the tool added; of these, ``right`` were also added by people, and ``later`` in a later release.
    """

    name: str
    seen: bool
    people: int
    both: int
    tool: int
    right: int
    later: int
    asked: int
    silent: int


def score_port(one: tuple[Port, replaying.Case]) -> PortScore:
    """Score one port."""
    port, case = one
    done = replaying.run(case, ReplayOptions())
    new, old = (_read_gpu_lines(corpus.open_tree("vllm-omni", version)) for version in (port.after, port.before))
    later = [_read_npu_lines(corpus.open_tree("vllm-omni", version)) for version in _list_later(port.after)]
    people = both = tool = right = taken = silent = 0
    for result in done.results:
        before, made, truth = (score.normalise(t) for t in (result.before, result.after, done.truth[result.path]))
        work, changed = score.changed_lines(before, truth), score.changed_lines(before, made)
        silent += replaying.silent_errors(result, done.truth[result.path]).total()
        for (sign, line), count in work.items():
            if sign == "+" and line.strip() in new - old:
                people += count
                both += min(count, changed[sign, line])
        for (sign, line), count in changed.items():
            if sign == "+" and line.strip():
                tool += count
                right += min(count, work[sign, line])
                missed = count - min(count, work[sign, line])
                taken += missed if any(line.strip() in lines for lines in later) else 0
    asked = sum(len(result.reviews) for result in done.results)
    return PortScore(case.id, port.seen, people, both, tool, right, taken, asked, silent)


def _list_later(version: str) -> list[str]:
    kinds = msgspec.toml.decode((HERE / "kinds.toml").read_bytes(), type=_Kinds)
    known = list(dict.fromkeys(port.after for port in kinds.port))
    return known[known.index(version) + 1 :]


def _read_gpu_lines(tree: Tree) -> set[str]:
    found = [(m.gpu.path, tree.read(m.gpu.path)) for m in NPU.runners if m.gpu is not None]
    return {line for path, text in found if text for line in _iter_lines(translate(text, NPU, path=path).text)}


def _read_npu_lines(tree: Tree) -> set[str]:
    found = [inputs.read_first(tree, module.paths) for module in NPU.runners]
    return {line for place in found if place is not None for line in _iter_lines(place[1])}


def _iter_lines(text: str) -> Iterator[str]:
    return (line.strip() for line in score.normalise(text).split("\n") if line.strip())


def _format_ports(rows: Sequence[PortScore]) -> str:
    head = ("port", "read before", "ported by people", "by the tool, too", "added by the tool", "right", "taken later")
    cells = [
        (
            row.name,
            "yes" if row.seen else "no",
            str(row.people),
            str(row.both),
            str(row.tool),
            str(row.right),
            str(row.later),
            str(row.asked),
            str(row.silent),
        )
        for row in rows
    ]
    return f"### Ports between two releases\n\n{tables.format_table((*head, 'review items', 'silent'), cells)}"


# --- breaks


@dataclass(frozen=True, slots=True)
class BreakCounts:
    """Breaks (RS3xx) against a target: present before an upgrade, left by it, and made by it."""

    name: str
    seen: bool
    before: int
    left: int
    made: tuple[str, ...]


def count_breaks(fix: Fix) -> BreakCounts:
    """Count breaks before and after an upgrade without a given base. Raises ``InputError``."""
    options = UpgradeOptions(omni=TreeOptions(version=fix.omni), ascend=TreeOptions(version=fix.ascend), verify=False)
    given = open_inputs(options)
    paths = [found.path for found in find_modules(given)]

    def found_in(omni: Tree) -> dict[tuple[str, str], str]:
        assert given.ascend is not None
        assert given.vllm is not None
        world = World(
            {"vllm-omni": omni, "vllm-ascend": given.ascend, "vllm": given.vllm},
            surroundings=given.profile.surroundings,
        )
        return {(f.code, _drop_digits(f.message)): f.message for f in breakage.find(world, None, paths)}

    before = found_in(given.omni)
    made = {change.path: change.after for change in upgrade(options).changes if change.after is not None}
    after = found_in(PatchedTree(given.omni, made))
    new = tuple(f"{key[0]}: {message}" for key, message in after.items() if key not in before)
    name = f"{fix.omni} on vllm-ascend {fix.ascend}"
    return BreakCounts(name, fix.seen, len(before), len(before.keys() & after.keys()), new)


def _drop_digits(message: str) -> str:
    """Return a message without line numbers, which an upgrade moves."""
    return "".join(char for char in message if not char.isdigit())


def _format_fixes(rows: Sequence[BreakCounts]) -> str:
    head = ("upgrade", "read before", "breaks before", "left", "made by the upgrade")
    cells = [
        [row.name, "yes" if row.seen else "no", str(row.before), str(row.left), str(len(row.made))] for row in rows
    ]
    for seen, what in ((True, "all that were read"), (False, "all that were not")):
        some = [row for row in rows if row.seen == seen]
        sums = (sum(row.before for row in some), sum(row.left for row in some), sum(len(row.made) for row in some))
        cells.append([what, "", *map(str, sums)])
    notes = [f"- {row.name}: {message}" for row in rows for message in row.made]
    return "\n".join([f"### Breaks\n\n{tables.format_table(head, cells)}", *notes, ""])


if __name__ == "__main__":
    sys.exit(main())
