"""``python -m benchmarks.quality``: the corpus by runner-sync, ablations and peers; planted upgrades; inference.

Comes in: options. Goes out: Markdown on standard output, or a section of ``--out`` with a plot beside it. May touch:
what the other modules here touch.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks import corpus, engine, followed, inference, peers, planted, plots, programs, scoring, tables, upstreams
from benchmarks.chunks import SIDES
from benchmarks.scoring import Row
from runner_sync.errors import InputError

RELEASE_STEPS = (1, 2, 4)
"""Steps between plantings if the versions are releases."""

INFERENCE_COUNTS = (50, 150)
_PLOTTED = (
    "nothing",
    "git merge-file, omni side",
    "git merge-file, upstream side",
    "wiggle, upstream side",
    engine.WHOLE,
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return 2 if an input cannot be read."""
    options = _make_parser().parse_args(argv)
    try:
        text, plot = report(options)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if options.out is None:
        print(text)
        return 0
    picture = options.out.with_name(f"{options.out.stem}-quality.svg")
    tables.write_section(options.out, "quality", f"{text}\n![effort left by case and tool]({picture.name})")
    picture.write_text(plot, "utf-8")
    return 0


def _make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__.split("\n")[0])
    parser.add_argument("--case", action="append", default=[], metavar="ID", help="only this case (repeatable)")
    parser.add_argument(
        "--ascend-path", type=Path, metavar="DIR", help="vllm-ascend checkout: its commits as targets, planted upgrades"
    )
    parser.add_argument("--planted", type=int, default=300, metavar="N", help="planted upgrades (0: none)")
    parser.add_argument("--no-ablations", action="store_true", help="runner-sync whole only")
    parser.add_argument(
        "--tools", type=Path, metavar="DIR", help="where mergiraf is or is installed to (default: scratch)"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="results file; a plot is written beside it")
    return parser


def report(options: argparse.Namespace) -> tuple[str, str]:
    """Return the quality section and its plot. Raises ``InputError``."""
    with tempfile.TemporaryDirectory() as folder:
        tools = peers.list_tools(options.tools or Path(folder))
        rows = measure(options.case, tools, ablations=not options.no_ablations)
        text = "\n".join([_format_corpus(rows, tools), *_measure_followed(options), *_measure_planted(options)])
    groups = {
        case: {r.tool: r.effort_left for r in rows if r.case == case and r.tool in _PLOTTED}
        for case in _list_cases(rows)
    }
    return text, plots.draw_bars("Work left by case and tool", "effort_left (less is better)", groups, top=1.2, line=1)


def measure(cases: Sequence[str], tools: Sequence[peers.Tool], *, ablations: bool) -> list[Row]:
    """Return the rows of every tool and variant on every case."""
    rows: list[Row] = []
    for case in corpus.select_cases(cases):
        problem = corpus.load_problem(case)
        rows.append(scoring.score_nothing(problem))
        for tool in tools:
            if tool.merge is not None:
                _say(f"{case.id}: {tool.name}")
                rows += scoring.score_tool(tool, problem, SIDES)
        for variant in engine.VARIANTS if ablations else (engine.WHOLE,):
            _say(f"{case.id}: {engine.WHOLE}, {variant}")
            rows.append(engine.measure(variant, case.id))
    return rows


def _say(what: str) -> None:
    print(what, file=sys.stderr)


def _list_cases(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row.case for row in rows))


def _format_corpus(rows: Sequence[Row], tools: Sequence[peers.Tool]) -> str:
    names = list(dict.fromkeys(row.tool for row in rows))
    means = [scoring.average(row for row in rows if row.tool == name) for name in names]
    whole = [row for row in means if not row.tool.startswith(f"{engine.WHOLE},")]
    parts = [row for row in means if row.tool.startswith(engine.WHOLE)]
    out = [
        "## Quality\n",
        f"Mean over {', '.join(_list_cases(rows))}; {_describe_versions()}.\n",
        tables.format_quality(whole),
    ]
    out += [f"- {tool.name}: absent, {tool.absent}." for tool in tools if tool.merge is None]
    if len(parts) > 1:
        out += ["\n### runner-sync with parts taken out\n", tables.format_quality(parts)]
    return "\n".join([*out, "\n### By case\n", tables.format_by_case(rows)])


def _describe_versions() -> str:
    found = [(name, programs.find(name)) for name in ("git", "wiggle")]
    return ", ".join(programs.describe_version(name, path) for name, path in found if path)


def _measure_followed(options: argparse.Namespace) -> list[str]:
    if options.ascend_path is None:
        return []
    _say("the commits that people followed")
    return [followed.make_section(options.case, options.ascend_path)]


def _measure_planted(options: argparse.Namespace) -> list[str]:
    if not options.planted:
        return []
    released = upstreams.load_releases()
    revisions = upstreams.load_revisions(options.ascend_path) if options.ascend_path is not None else []
    pools = [
        ("releases", released, RELEASE_STEPS),
        ("revisions", revisions, planted.STEPS),
        ("releases of vLLM", upstreams.load_vllm_releases(), RELEASE_STEPS),
    ]
    out = []
    for what, versions, steps in pools:
        for kind in planted.KINDS if versions else ():
            _say(f"planted {kind} over {len(versions)} {what}")
            cases = planted.sample(versions, options.planted, kind=kind, steps=steps)
            out.append(_format_planted(f"{len(versions)} {what}", kind, cases, what))
    return [*out, _format_inference(released, revisions)]


def _format_planted(pool: str, kind: planted.Kind, cases: Sequence[planted.Planted], what: str) -> str:
    rows = [outcome for case in cases for outcome in planted.score_tools(case)]
    summaries = planted.summarise(rows)
    for step in sorted({case.step for case in cases}):
        summaries += planted.summarise(rows, step=step)
    cells = [
        (
            one.tool,
            "all" if one.step is None else str(one.step),
            str(one.cases),
            tables.format_number(one.effort_left, 4),
            tables.format_percent(one.done),
            tables.format_percent(one.unasked),
            tables.format_number(one.doubts),
            str(one.broken),
        )
        for one in summaries
    ]
    head = ("tool", f"{what} apart", "cases", "effort left", "exact", "wrong unasked", "doubts per case", "broken")
    methods = ", ".join(f"`{name}` {count}" for name, count in planted.count_by_method(cases).items())
    return f"\n### Planted upgrades over {pool}: {kind}\n\n{methods}.\n\n{tables.format_table(head, cells)}"


def _format_inference(released: Sequence[upstreams.Version], revisions: Sequence[upstreams.Version]) -> str:
    hits = [inference.score_planted(released, 100)]
    for count in (*(n for n in INFERENCE_COUNTS if n < len(revisions)), *([len(revisions)] if revisions else [])):
        _say(f"base inference over {count} revisions")
        hits.append(inference.score_planted(revisions[-count:], 100))
    hits += inference.score_recorded(released)
    cells = [(hit.what, str(hit.asked), str(hit.right), str(hit.near), hit.told or "–") for hit in hits]
    head = ("base", "methods", "right", "at most one text away", "found instead")
    return f"\n### Base inference\n\n{tables.format_table(head, cells)}"


if __name__ == "__main__":
    sys.exit(main())
