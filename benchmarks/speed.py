"""``python -m benchmarks.speed``: time and memory of whole commands, as multiples of the floor, and how they grow.

Comes in: options. Goes out: Markdown on standard output, or a section of ``--out`` with a plot beside it. May touch:
what the other modules here touch.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks import checkouts, plots, tables, upstreams
from benchmarks.checkouts import ASCEND, OMNI, VLLM, Checkouts
from benchmarks.process import Figures, Job, measure, run_once
from runner_sync.errors import InputError
from runner_sync.profile import ASCEND_RUNNER

FLOOR, BARE, START = "floor: libcst", "floor: ast", "floor: Python starts"
OFFLINE_BARE = "floor: ast, offline check"
COUNTS = (50, 150, 600)
_READ_BLOBS = (
    'cd "$0" && git log --format= --raw --no-abbrev --full-history HEAD -- "$1" '
    "| cut -d' ' -f4 | sort -u | git cat-file --batch"
)
_TOOL = (sys.executable, "-m", "runner_sync", "--quiet")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return 2 if an input cannot be read."""
    options = _make_parser().parse_args(argv)
    try:
        with tempfile.TemporaryDirectory() as folder:
            figures, counts = run(options, Path(folder))
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    text = report(figures, counts, options.rounds)
    if options.out is None:
        print(text)
        return 0
    picture = options.out.with_name(f"{options.out.stem}-speed.svg")
    tables.write_section(options.out, "speed", f"{text}\n![time by revisions]({picture.name})")
    picture.write_text(_draw_plot(figures, counts), "utf-8")
    return 0


def _make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__.split("\n")[0])
    parser.add_argument("--ascend-path", type=Path, metavar="DIR", help="vllm-ascend checkout whose history is used")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="interleaved rounds (default: 5)")
    parser.add_argument("--only", default="", metavar="WORD", help="only commands with this in their name, and floors")
    parser.add_argument("--out", type=Path, metavar="FILE", help="results file; a plot is written beside it")
    return parser


def run(options: argparse.Namespace, folder: Path) -> tuple[dict[str, Figures], list[int]]:
    """Make the checkouts, then time every command. Raises ``InputError``."""
    versions = (
        upstreams.load_revisions(options.ascend_path)
        if options.ascend_path
        else upstreams.load_releases(ASCEND[0])[:-1]
    )
    texts = [version.text for version in versions]
    counts = sorted({min(count, len(texts)) for count in COUNTS})
    _say("making checkouts")
    made = checkouts.make_checkouts(folder, {count: texts[-count:] for count in counts})
    (folder / "floor").mkdir()
    jobs = [*_list_floor_jobs(*checkouts.write_runner_files(folder / "floor")), *_list_command_jobs(made, folder)]
    kept = [job for job in jobs if job.name.startswith("floor") or options.only in job.name]
    _make_lock(made, folder)
    return measure(kept, options.rounds, say=_say, scratch=folder), counts


def _say(what: str) -> None:
    print(what, file=sys.stderr)


def _list_floor_jobs(upgrade: Sequence[str], offline: Sequence[str]) -> list[Job]:
    script = str(Path(__file__).with_name("floor.py"))
    wanted: tuple[tuple[str, str, Sequence[str]], ...] = (
        (START, "none", ()),
        (FLOOR, "libcst", upgrade),
        (BARE, "ast", upgrade),
        (OFFLINE_BARE, "ast", offline),
    )
    return [Job(name, (sys.executable, script, mode, *files), good=(0,)) for name, mode, files in wanted]


def _list_command_jobs(made: Checkouts, folder: Path) -> list[Job]:
    least = min(made.ascend)
    trees = ("--omni-path", str(made.omni), "--vllm-path", str(made.vllm))
    bases = ("--omni-base", f"v{OMNI[0]}", "--vllm-base", f"v{VLLM[0]}")
    ascend = ("--ascend-path", str(made.ascend[least]), "--ascend-base", f"v{ASCEND[0]}")
    cache = {"RUNNER_SYNC_CACHE": str(folder / "cache")}
    locked = ("--omni-path", str(folder / "locked"))
    jobs = [
        Job("upgrade, base told", (*_TOOL, "upgrade", "--diff", *trees, *bases, *ascend), cache),
        Job(
            "upgrade, base told, no verify",
            (*_TOOL, "upgrade", "--diff", "--no-verify", *trees, *bases, *ascend),
            cache,
        ),
        *_list_locked_jobs((*_TOOL, "check", *locked), folder / "cache-locked"),
        Job("check, with vllm-ascend", (*_TOOL, "check", *locked, *trees[2:], *ascend), cache),
        Job("verify", (*_TOOL, "verify", "--typecheck", "none", *trees, *ascend, *bases[2:]), cache),
        Job("blocks", (*_TOOL, "blocks", *trees[:2]), cache),
    ]
    for count, path in made.ascend.items():
        command = (*_TOOL, "upgrade", "--diff", "--no-verify", *trees, *bases, "--ascend-path", str(path))
        for state in ("cold", "warm"):
            own = folder / f"cache-{state}-{count}"
            empty = (lambda own=own: shutil.rmtree(own, ignore_errors=True)) if state == "cold" else None
            jobs.append(Job(_name_inferred(count, state), command, {"RUNNER_SYNC_CACHE": str(own)}, empty))
        jobs.append(Job(_name_reading(count), ("sh", "-c", _READ_BLOBS, str(path), ASCEND_RUNNER), good=(0,)))
    return jobs


def _list_locked_jobs(command: tuple[str, ...], own: Path) -> list[Job]:
    """Return ``check`` from the lock with an empty cache, and again with what that run has left there."""
    cache = {"RUNNER_SYNC_CACHE": str(own)}
    return [
        Job("check, lock only", command, cache, lambda: shutil.rmtree(own, ignore_errors=True)),
        Job("check, lock only, again", command, cache),
    ]


def _name_inferred(count: int, state: str) -> str:
    return f"upgrade, base inferred over {count}, {state}"


def _name_reading(count: int) -> str:
    return f"floor: each blob read, {count}"


def _make_lock(made: Checkouts, folder: Path) -> None:
    """Copy the omni checkout and lock it; without a lock, ``check`` is later listed as absent."""
    shutil.copytree(made.omni, folder / "locked", symlinks=True)
    ascend = ("--ascend-path", str(made.ascend[min(made.ascend)]), "--ascend-base", f"v{ASCEND[0]}")
    vllm = ("--vllm-path", str(made.vllm), "--vllm-base", f"v{VLLM[0]}", "--omni-base", f"v{OMNI[0]}")
    command = (*_TOOL, "lock", "--omni-path", str(folder / "locked"), *ascend, *vllm)
    _, why = run_once(Job("lock", command), folder)
    if why:
        _say(f"no lock: {why}")


def report(figures: Mapping[str, Figures], counts: Sequence[int], rounds: int) -> str:
    """Return the speed section."""
    floor, bare = figures[FLOOR], figures[BARE]
    rows = []
    for one in figures.values():
        if not one.absent:
            cells = (f"{one.cpu / floor.cpu:.2f}", f"{one.seconds / floor.seconds:.2f}", f"{one.cpu / bare.cpu:.2f}")
            rows.append((one.name, *cells, f"{one.mib:.0f}", f"{one.seconds:.2f}"))
    head = ("process", "CPU ÷ libcst", "wall ÷ libcst", "CPU ÷ ast", "peak MiB", "wall s here")
    what = (
        f"Whole processes, medians of {rounds} interleaved rounds; case HEAD: omni {OMNI[0]} → {OMNI[1]} on "
        f"vllm-ascend {ASCEND[0]} → {ASCEND[1]}, vLLM {VLLM[0]} → {VLLM[1]}, all from git checkouts.\n"
    )
    out = [
        "## Speed\n",
        what,
        tables.format_table(head, rows),
        *(f"- {one.name}: absent, {one.absent}" for one in figures.values() if one.absent),
        "\n### Targets\n",
        tables.format_table(("target", "measured", "met"), _list_targets(figures, counts)),
    ]
    return "\n".join(out)


def _list_targets(figures: Mapping[str, Figures], counts: Sequence[int]) -> list[tuple[str, str, str]]:
    """Return the targets in CPU time, which other load disturbs least, as multiples of parsing every file once."""
    floor = figures[FLOOR].cpu
    most = max(counts)
    cold, warm = (_get_cpu(figures, _name_inferred(most, state)) for state in ("cold", "warm"))
    locked, again = (_get_cpu(figures, f"check, lock only{state}") for state in ("", ", again"))
    known = _get_cpu(figures, "upgrade, base told, no verify")
    reading = _get_cpu(figures, _name_reading(most)) or 0.0
    wanted = [
        ("upgrade, base told ≤ 2 × libcst", _divide(_get_cpu(figures, "upgrade, base told"), floor), 2.0),
        ("the same without verify ≤ 2 × libcst", _divide(known, floor), 2.0),
        (f"inferred over {most}, cold ≤ 4 × libcst + one read of each blob", _divide(cold, 4 * floor + reading), 1.0),
        (f"inferred over {most}, warm ≤ 1.2 × base told", _divide(warm, known), 1.2),
        ("check, lock only ≤ 1.5 × ast", _divide(locked, figures[OFFLINE_BARE].cpu), 1.5),
        ("the same again ≤ 1.5 × ast", _divide(again, figures[OFFLINE_BARE].cpu), 1.5),
        ("check, with vllm-ascend ≤ 1.5 × libcst", _divide(_get_cpu(figures, "check, with vllm-ascend"), floor), 1.5),
    ]
    rows = [(what, "–" if x is None else f"{x:.2f}", _judge(x, limit)) for what, x, limit in wanted]
    peak = max((one.mib for one in figures.values() if one.name.startswith("upgrade") and not one.absent), default=None)
    return [*rows, ("upgrade, peak memory ≤ 400 MiB", tables.format_number(peak, 0), _judge(peak, 400))]


def _get_cpu(figures: Mapping[str, Figures], name: str) -> float | None:
    one = figures.get(name)
    return one.cpu if one is not None and not one.absent else None


def _divide(value: float | None, unit: float | None) -> float | None:
    return value / unit if value is not None and unit else None


def _judge(value: float | None, limit: float) -> str:
    return "absent" if value is None else "yes" if value <= limit else "no"


def _draw_plot(figures: Mapping[str, Figures], counts: Sequence[int]) -> str:
    floor = figures[FLOOR].cpu
    names = {"base inferred, cold": "cold", "base inferred, warm": "warm"}
    lines: dict[str, list[tuple[float, float]]] = {}
    for name, state in names.items():
        known = [(count, _get_cpu(figures, _name_inferred(count, state))) for count in counts]
        lines[name] = [(count, cpu / floor) for count, cpu in known if cpu is not None]
    given_base = _get_cpu(figures, "upgrade, base told, no verify")
    lines["base told"] = [(count, given_base / floor) for count in counts] if given_base else []
    lines["floor: libcst"] = [(count, 1.0) for count in counts]
    drawn = {name: points for name, points in lines.items() if points}
    return plots.draw_lines(
        "CPU time of upgrade (no verify)", "multiples of the libcst floor", drawn, label="revisions"
    )


if __name__ == "__main__":
    sys.exit(main())
