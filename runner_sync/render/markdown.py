"""Render a report as GitHub-flavoured Markdown: pull-request comment, Buildkite annotation, step summary.

Comes in: a ``Report``. Goes out: Markdown within the size that the reader accepts. May touch: nothing.

The output of ``blocks`` is the maintainers' reference page, a file that is never cut short.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby

from runner_sync.model import Block, Finding, Report, ReviewItem, UnitReport
from runner_sync.render.escape import (
    make_markdown_code,
    make_markdown_fence,
    make_markdown_text,
    quote_html,
    visible,
)
from runner_sync.render.order import (
    group_by_path,
    order_blocks,
    order_cases,
    order_hunks,
    order_hunks_of_unit,
    order_questions,
    order_units,
    order_worst_first,
)
from runner_sync.render.sides import SHORT, make_difference
from runner_sync.render.summary import (
    count,
    count_reviews,
    describe_choice,
    end_sentence,
    find_chosen_side,
    format_command,
    get_kind,
    get_reason,
    get_sides,
    has_twins,
    is_changed,
    summarize,
)

# GitHub refuses comments above 65,536 characters and step summaries above 1 MiB (docs.github.com); Buildkite
# annotations are at most 1 MiB. Both limits count bytes, which are never fewer than characters, and leave
# room for what a caller puts around it.
COMMENT_LIMIT = 60_000
STEP_SUMMARY_LIMIT = 1_000_000
_SIDE_LINES = 40
_CUT = "_{} left out: this text has a size limit; `-o json` and `-o html` have everything._"
_NUMBER = 20
"""Bytes for the number and the noun that are put into ``_CUT``."""


def render_markdown(report: Report, *, limit: int = COMMENT_LIMIT) -> str:
    """Return the report as Markdown of at most ``limit`` bytes; notes take up to half of the room below the head."""
    if report.command == "blocks":
        return "\n".join(_iter_reference_page(report)).rstrip("\n") + "\n"
    if report.command == "rule":
        return "\n\n".join(_iter_rules(report)) + "\n"
    head = [f"**{make_markdown_text(summarize(report))}**", *_render_inputs(report)]
    body = _BODIES.get(report.command, _iter_findings_parts)(report)
    room = limit - sum(_measure(line) for line in head)
    said = [*report.notes, *([report.advice] if report.advice else [])]
    notes = "\n".join(f"- {note}" for note in _keep_within(map(make_markdown_text, said), room // 2, "note"))
    parts = _keep_within(body, room - _measure(notes), "part")
    return "\n\n".join([*head, *parts, *([notes] if notes else [])]) + "\n"


def _measure(part: str) -> int:
    """Return the bytes of a part, plus three for its bullet and line break, or for the blank line behind it."""
    return len(part.encode("utf-8", "replace")) + 3


def _keep_within(parts: Iterable[str], limit: int, noun: str) -> list[str]:
    """Keep whole parts while they fit into ``limit`` bytes, then say how many were left out."""
    kept: list[str] = []
    left = limit - _measure(_CUT) - _NUMBER
    dropped = 0
    for part in parts:
        left -= _measure(part)
        if left < 0 or dropped:
            dropped += 1
        else:
            kept.append(part)
    return [*kept, _CUT.format(count(dropped, noun))] if dropped else kept


def _render_inputs(report: Report) -> list[str]:
    sources = [f"{source.project} {make_markdown_code(source.ref)} ({source.kind})" for source in report.inputs]
    return [" · ".join(sources)] if sources else []


def _render_table(header: str, rows: list[list[str]]) -> str:
    names = header.split(" | ")
    lines = [f"| {header} |", f"|{' --- |' * len(names)}"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def _render_cell(text: str) -> str:
    return make_markdown_code(text, in_table=True)


def _iter_upgrade_parts(report: Report) -> Iterator[str]:
    units = [unit for unit in order_units(report.units) if is_changed(unit)]
    for path, group in group_by_path(units):
        rows = [_make_unit_row(unit, report) for unit in group]
        ported = "ported from GPU | " if has_twins(report) else ""
        header = f"unit | kind | outcome | base | taken from upstream | {ported}kept of omni | removed"
        yield f"#### {make_markdown_code(path)}\n\n{_render_table(header, rows)}"
    if report.reviews:
        yield f"### {count_reviews(report)}"
    yield from (_render_review(item) for item in order_questions(report.reviews))
    yield from _iter_findings_parts(report)


def _make_unit_row(unit: UnitReport, report: Report) -> list[str]:
    ref = unit.base or unit.gpu
    base = f"{_render_cell(ref.ref)} {make_markdown_text(ref.how)} {ref.similarity:.2f}" if ref else "–"
    ported = (unit.ported,) if has_twins(report) else ()
    figures = [str(value) for value in (unit.taken, *ported, unit.kept, unit.removed)]
    return [_render_cell(unit.unit), get_kind(unit, report), unit.outcome, base, *figures]


def _render_review(item: ReviewItem) -> str:
    place = f"{item.path}:{item.line}"
    chosen = find_chosen_side(item)
    lines = [
        f"<details><summary><b>{quote_html(item.id)}</b> {quote_html(place)} {quote_html(item.unit)}</summary>",
        f"{make_markdown_text(end_sentence(get_reason(item)))} Took {describe_choice(item)}.",
    ]
    sides = get_sides(item)
    base, newer = (sides[side].strip("\n").split("\n") for side in ("base", item.newer))
    # Of long methods, the lines that a side may have would end before the change.
    changed = make_difference(base, newer, SHORT) if max(len(base), len(newer)) > _SIDE_LINES else []
    if changed:
        lines += ["changes:", _render_side("\n".join(changed), "diff")]
    for side, text in sides.items():
        if changed and side in ("base", item.newer):
            continue
        if not (side == "chosen" and chosen in (*sides, "nothing")):
            lines.append(f"{side}:" if text.strip() else f"{side}: nothing")
            lines += [_render_side(text)] if text.strip() else []
    return "\n\n".join([*lines, "</details>"])


def _render_side(text: str, language: str = "python") -> str:
    lines = text.strip("\n").split("\n")
    rest = len(lines) - _SIDE_LINES
    fence = make_markdown_fence("\n".join(lines[:_SIDE_LINES]), language)
    return f"{fence}\n\n… {count(rest, 'more line')}" if rest > 0 else fence


def _iter_findings_parts(report: Report) -> Iterator[str]:
    findings = order_worst_first(report.findings)
    if findings:
        yield f"### {count(len(findings), 'finding')}"
    yield from (_render_finding(finding) for finding in findings)


def _render_finding(finding: Finding) -> str:
    place = f"{finding.path}:{finding.line}"
    unit = f" in {make_markdown_code(finding.unit)}" if finding.unit else ""
    text = f"- **{make_markdown_text(finding.code)}** {finding.severity} {make_markdown_code(place)}{unit}: "
    text += make_markdown_text(finding.message).rstrip(".") + "."
    if "\n" in finding.fix.strip():
        fence = make_markdown_fence(finding.fix, "diff").replace("\n", "\n  ")
        return f"{text}\n\n  {fence}"
    return f"{text} Fix: {_render_fix(finding.fix)}" if finding.fix.strip() else text


def _render_fix(fix: str) -> str:
    return make_markdown_code(fix) if fix.startswith("runner-sync ") else make_markdown_text(fix)


def _iter_reference_page(report: Report) -> Iterator[str]:
    yield "# Omni code in the runners\n"
    written = f"Written by {format_command(report, 'blocks -o markdown')}; do not edit by hand."
    yield f"{make_markdown_text(summarize(report))} {written}\n"
    yield from (f"{line}\n" for line in _render_inputs(report))
    for path, in_file in group_by_path(order_blocks(report.blocks)):
        yield f"## {make_markdown_code(path)}\n"
        for unit, blocks in groupby(in_file, key=lambda block: block.unit):
            yield f"### {make_markdown_code(unit) or 'module level'}\n"
            header = "lines | marked | purpose | names used | names defined" + (" | twin" if has_twins(report) else "")
            yield _render_table(header, [_make_block_row(block, report) for block in blocks]) + "\n"
    yield from (f"- {make_markdown_text(note)}" for note in report.notes)


def _make_block_row(block: Block, report: Report) -> list[str]:
    lines = f"{block.start}–{block.end}" if block.end > block.start else str(block.start)
    used, defined = (
        " ".join(_render_cell(name) for name in names) for names in (block.names_used, block.names_defined)
    )
    twin = [_render_cell(block.twin) if block.twin else "none"] if has_twins(report) else []
    label = make_markdown_text(block.label, in_table=True) or "–"
    return [lines, "yes" if block.marked else "no", label, used or "–", defined or "–", *twin]


def _iter_bases_parts(report: Report) -> Iterator[str]:
    for path, group in group_by_path(order_units(report.units)):
        header = "unit | kind | base" + (" | GPU twin" if has_twins(report) else "")
        rows = [[_render_cell(unit.unit), unit.kind, *_render_refs(unit)][: len(header.split(" | "))] for unit in group]
        yield f"#### {make_markdown_code(path)}\n\n{_render_table(header, rows)}"


def _render_refs(unit: UnitReport) -> list[str]:
    cells = []
    for ref in (unit.base, unit.gpu):
        names = f"{ref.project} {_render_cell(ref.ref)} {_render_cell(ref.qualname)}" if ref else "–"
        cells.append(f"{names} {make_markdown_text(ref.how)} {ref.similarity:.2f}" if ref else names)
    return cells


def _iter_explain_parts(report: Report) -> Iterator[str]:
    for unit in order_units(report.units):
        hunks = order_hunks_of_unit(unit)
        rows = [[f"{hunk.line}–{hunk.end_line}", hunk.provenance, make_markdown_text(hunk.cause)] for hunk in hunks]
        place = f"{make_markdown_code(unit.path)} {make_markdown_code(unit.unit)}"
        yield f"#### {place}\n\n{_render_table('lines | from | cause', rows)}"
    yield from (_render_review(item) for item in report.reviews)


def _iter_replay_parts(report: Report) -> Iterator[str]:
    rows = []
    for row in order_cases(report.replay):
        ratios = [f"{value:.2f}" for value in (row.effort_left, row.kept, row.recall, row.precision)]
        rest = [str(row.silent), "yes" if row.parses else "**no**", str(row.reviews), f"{row.seconds:.1f}"]
        rows.append([_render_cell(row.case), str(row.work), str(row.left), *ratios, *rest])
    if rows:
        header = "case | work | left | effort left | kept | recall | precision | silent | parses | reviews | seconds"
        yield _render_table(header, rows)
    for hunk in order_hunks(report.replay_hunks):
        title = f"{quote_html(hunk.case)} {quote_html(hunk.path)} {count(hunk.lines, 'line')}, {quote_html(hunk.side)}"
        yield f"<details><summary>{title}</summary>\n\n{_render_side(hunk.text)}\n\n</details>"


def _iter_rules(report: Report) -> Iterator[str]:
    for rule in sorted(report.rules, key=lambda rule: rule.code):
        yield f"### {make_markdown_text(rule.code)} {make_markdown_text(rule.name)}"
        # The text of a rule is the tool's own Markdown.
        yield visible(rule.text).strip() or make_markdown_text(rule.summary)


_BODIES: dict[str, Callable[[Report], Iterator[str]]] = {
    "upgrade": _iter_upgrade_parts,
    "hoist": _iter_upgrade_parts,
    "lock": _iter_bases_parts,
    "explain": _iter_explain_parts,
    "replay": _iter_replay_parts,
}
