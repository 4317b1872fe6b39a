"""Render a report for a person at a terminal.

Comes in: a ``Report``, whether to use colours, the width in columns. Goes out: text. May touch: nothing.

All text from a source tree passes through ``escape.visible`` or ``escape.one_line``.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from runner_sync.render.escape import one_line, visible
from runner_sync.render.excerpt import has_columns, index_lines, quote_lines
from runner_sync.render.ink import PROVENANCE_STYLE, SEVERITY_STYLE, Ink
from runner_sync.render.order import order_findings, order_hunks_of_unit, order_questions, order_units
from runner_sync.render.sides import SHORT, make_difference
from runner_sync.render.summary import count, describe_choice, find_chosen_side, get_reason, get_sides, summarize
from runner_sync.render.widths import measure, shorten

if TYPE_CHECKING:
    from runner_sync.model import Finding, Hunk, Report, ReviewItem, RuleText, Source, UnitReport

_SIDE_LINES = SHORT
_LEFT_OUT_LINES = 12
_MOST_CAUSES = 12
_SHORT_FIX = 40
"""Length of a fix that is repeated, because a reference to it would hardly be shorter."""

Section = Callable[["Report", Ink], str]


def render_text(report: Report, *, color: bool = False, width: int = 100) -> str:
    """Return the report as text: sections separated by empty lines, then one summary sentence."""
    ink = Ink(color, width)
    sections = [section(report, ink) for section in _SECTIONS.get(report.command, _FINDING_SECTIONS)]
    sections.append(_render_closing(report, ink))
    return "\n\n".join(section for section in sections if section) + "\n"


def _render_closing(report: Report, ink: Ink) -> str:
    # Painted line by line, so that a pager that begins in the middle shows the style.
    return "\n".join(ink.paint(line, "bold") for line in ink.fold(one_line(summarize(report))).split("\n"))


def _render_inputs(report: Report, ink: Ink) -> str:
    return "\n".join(f"{source.project:<11}  {_render_input(source, ink)}" for source in report.inputs)


def _render_input(source: Source, ink: Ink) -> str:
    names = [source.ref, source.version or "", source.location]
    details = dict.fromkeys(one_line(text) for text in names[1:] if text and text != source.ref)
    return f"{one_line(source.ref)}  {ink.paint(', '.join([source.kind, *details]), 'dim')}"


def render_notes(report: Report, *, color: bool = False, width: int = 100) -> str:
    """Return the notes of a report as `render_text` shows them; no newline ends the text."""
    return _render_notes(report, Ink(color, width))


def _render_notes(report: Report, ink: Ink) -> str:
    return "\n".join(ink.fold(f"note: {one_line(note)}") for note in (*report.notes, report.advice) if note)


def _render_findings(report: Report, ink: Ink) -> str:
    lines = index_lines(report)
    found = order_findings(report.findings)
    fixes: dict[tuple[str, int, str], set[str]] = {}
    for finding in found:
        fixes.setdefault((finding.path, finding.line, finding.code), set()).add(finding.fix)
    first: dict[tuple[str, str], Finding] = {}
    parts = []
    for finding in found:
        like = first.setdefault((finding.path, finding.fix), finding)
        # The reader finds the fix by code and line, so these must name one fix.
        like = like if len(fixes[like.path, like.line, like.code]) == 1 else finding
        parts.append("\n".join(_iter_finding(finding, lines.get(finding.path, []), ink, like=like)))
    return "\n\n".join(parts)


def _iter_finding(finding: Finding, lines: list[str], ink: Ink, *, like: Finding) -> Iterator[str]:
    """Yield the lines of a finding; only the place of its fix if the finding ``like`` above has the same."""
    style = SEVERITY_STYLE[finding.severity]
    place = one_line(_format_place(finding.path, finding.line, finding.end_line))
    if has_columns(finding) and finding.end_line <= finding.line:
        place += f":{finding.column}"
    yield from _iter_head(finding.code, style, place, finding.unit, ink)
    yield ink.fold(f"{finding.severity}: {one_line(finding.message)}", indent="  ")
    gutter = len(str(finding.line + _SIDE_LINES))
    for excerpt in quote_lines(lines, finding, width=max(ink.width - gutter - 4, 20)):
        yield f" {ink.paint(f'{excerpt.number:>{gutter}} |', 'blue')} {excerpt.text}".rstrip()
        if excerpt.caret:
            yield f" {ink.paint(' ' * gutter + ' |', 'blue')} {ink.paint(excerpt.caret, style)}"
    if like is not finding and len(finding.fix) > _SHORT_FIX:
        yield f"  fix: as for {like.code} in line {like.line}"
        return
    yield from _iter_fix(finding.fix, ink)


def _iter_head(mark: str, style: str, place: str, unit: str, ink: Ink) -> Iterator[str]:
    mark, unit = one_line(mark), one_line(unit)
    fits = measure(mark) + measure(place) + measure(unit) + 3 <= ink.width
    head = f"{ink.paint(mark, style)} {place}"
    yield f"{head}  {ink.paint(unit, 'bold')}" if unit and fits else head
    if unit and not fits:
        yield f"  {ink.paint(unit, 'bold')}"


def _iter_fix(fix: str, ink: Ink) -> Iterator[str]:
    if "\n" not in fix.strip():
        if fix.strip():
            yield ink.fold(f"fix: {one_line(fix)}", indent="  ")
        return
    yield "  fix:"
    for line in visible(fix.strip("\n")).split("\n"):
        style = {"+": "green", "-": "red"}.get(line[:1])
        yield f"    {ink.paint(line, style) if style else line}".rstrip()


def _format_place(path: str, line: int, end_line: int) -> str:
    return f"{path}:{line}-{end_line}" if end_line > line else f"{path}:{line}"


def render_items(items: Sequence[ReviewItem], *, color: bool = False, width: int = 100, in_full: bool = False) -> str:
    """Return review items as `render_text` shows them; no newline ends the text.

    ``in_full`` shortens only long text of omni's that stays as it is.
    """
    return _format_items(items, Ink(color, width), in_full=in_full, is_kept_cut=in_full)


def _render_reviews(report: Report, ink: Ink) -> str:
    return _format_items(report.reviews, ink, in_full=report.command == "explain")


def _format_items(reviews: Sequence[ReviewItem], ink: Ink, *, in_full: bool, is_kept_cut: bool = False) -> str:
    items = order_questions(reviews)
    contents = {item.id: _get_content(item) for item in items}
    parts = []
    for item in items:
        is_repeated = contents.get(item.part_of) == contents[item.id]
        lines = _iter_review(item, ink, is_repeated=is_repeated, in_full=in_full, is_kept_cut=is_kept_cut)
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _get_content(item: ReviewItem) -> tuple[str, ...]:
    """Return the reason and the texts of a review item, without indentation."""
    shown = ("\n".join(line.strip() for line in side.split("\n")).strip() for side in get_sides(item).values())
    return (item.reason, *shown)


def _iter_review(item: ReviewItem, ink: Ink, *, is_repeated: bool, in_full: bool, is_kept_cut: bool) -> Iterator[str]:
    """Yield the lines of a review item; if it only repeats the question it is part of, only the place."""
    place = one_line(_format_place(item.path, item.line, item.end_line))
    yield from _iter_head(item.id, "yellow", place, item.unit, ink)
    if is_repeated:
        yield f"  review: the same as {one_line(item.part_of)}, with the same texts"
        return
    yield ink.fold(f"review: {one_line(get_reason(item))}", indent="  ")
    yield f"  took {describe_choice(item)}"
    chosen = find_chosen_side(item)
    sides = {
        side: [line.rstrip() for line in visible(text).strip("\n").split("\n")] if text.strip() else []
        for side, text in get_sides(item).items()
    }
    if chosen in sides or chosen == "nothing":
        del sides["chosen"]
    # If nothing was chosen, the dropped text is shown nowhere else.
    most = _LEFT_OUT_LINES if chosen == "nothing" else _SIDE_LINES
    changed = make_difference(sides["base"], sides[item.newer], most)
    if changed:
        yield from _iter_side("changes", changed, ink, alike=0, most=None if in_full else _LEFT_OUT_LINES)
    for side, lines in sides.items():
        if changed and side in ("base", item.newer):
            continue
        # Without a base one side added the text; the other side lost nothing and is not shown.
        if lines or (sides["base"] and side != "base"):
            others = [sides[name] for name in ("base", item.newer, "omni") if name != side and sides[name]]
            alike = 0 if in_full else _count_alike(lines, others[0] if others else (), most)
            limit = None if in_full else most
            if is_kept_cut and side == chosen == "omni" and len(lines) > _LEFT_OUT_LINES:
                limit = _LEFT_OUT_LINES
            yield from _iter_side(side, lines, ink, alike=alike, most=limit)


def _count_alike(lines: Sequence[str], other: Sequence[str], most: int) -> int:
    """Count the first lines of a long side to leave out: those that ``other`` begins with, too, except the last."""
    if not other or len(lines) <= most:
        return 0
    matcher = difflib.SequenceMatcher(None, lines, other, autojunk=False)
    first = next((i for tag, i, *_ in matcher.get_opcodes() if tag != "equal"), 0)
    return max(0, min(first - 1, len(lines) - most))


def _iter_side(side: str, lines: Sequence[str], ink: Ink, *, alike: int, most: int | None) -> Iterator[str]:
    """Yield ``most`` lines of a side, without the first ``alike`` lines, which another side has, too.

    Without ``most``, yields all lines, and each as long as it is.
    """
    indent = min((len(line) - len(line.lstrip()) for line in lines if line), default=0)
    room = max(ink.width - 16, 20)
    rest = lines[alike:] if len(lines) > alike else lines
    bodies = [line[indent:] for line in rest[:most]] or ["(nothing)"]
    shown = bodies if most is None else [shorten(body, room) for body in bodies]
    shown = [f"… {count(alike, 'line')} alike", *shown] if rest is not lines and alike else shown
    shown += [f"… {count(len(rest) - most, 'more line')}"] if most is not None and len(rest) > most else []
    for index, line in enumerate(shown):
        yield f"  {ink.paint(f'{side if not index else str():>8} |', 'blue')} {line}".rstrip()


def _render_causes(report: Report, ink: Ink) -> str:
    tally: dict[tuple[str, str], int] = {}
    for unit in report.units:
        for hunk in unit.hunks:
            key = (one_line(hunk.cause), hunk.provenance)
            tally[key] = tally.get(key, 0) + 1
    ranked = sorted(tally.items(), key=lambda entry: (-entry[1], entry[0]))
    lines = [f"  {count(number, 'hunk'):>10}  {_render_cause(key, ink)}" for key, number in ranked[:_MOST_CAUSES]]
    if len(ranked) > _MOST_CAUSES:
        lines.append(f"              and {count(len(ranked) - _MOST_CAUSES, 'more cause')} (-o json lists all)")
    return "\n".join(["Causes of the changes:", *lines]) if lines else ""


def _render_cause(key: tuple[str, str], ink: Ink) -> str:
    cause, provenance = key
    return f"{ink.paint(f'{provenance:<8}', PROVENANCE_STYLE[provenance])}  {cause or '(no cause recorded)'}"


def _render_units(report: Report, ink: Ink) -> str:
    from runner_sync.render.tables import tabulate_units

    return tabulate_units(report, ink)


def _render_lock(report: Report, ink: Ink) -> str:
    from runner_sync.render.tables import tabulate_bases

    return tabulate_bases(report, ink)


def _render_blocks(report: Report, ink: Ink) -> str:
    from runner_sync.render.tables import tabulate_blocks

    return tabulate_blocks(report, ink)


def _render_replay(report: Report, ink: Ink) -> str:
    from runner_sync.render.tables import tabulate_replay

    return tabulate_replay(report, ink)


def _render_explain(report: Report, ink: Ink) -> str:
    lines = index_lines(report)
    return "\n\n".join("\n".join(_iter_origin(unit, lines, ink)) for unit in order_units(report.units))


def _iter_origin(unit: UnitReport, lines: dict[str, list[str]], ink: Ink) -> Iterator[str]:
    yield f"{one_line(unit.path)}  {ink.paint(one_line(unit.unit), 'bold')}  {unit.kind}"
    for ref in (unit.base, unit.gpu):
        if ref is not None:
            evidence = f"{one_line(ref.how)}, similarity {ref.similarity:.2f}"
            yield f"  from {one_line(f'{ref.project} {ref.ref} {ref.path} {ref.qualname}')} ({evidence})"
    for hunk in order_hunks_of_unit(unit):
        yield from _iter_origin_hunk(hunk, lines.get(unit.path, []), ink)


def _iter_origin_hunk(hunk: Hunk, lines: list[str], ink: Ink) -> Iterator[str]:
    span = f"{hunk.line}-{hunk.end_line}" if hunk.end_line > hunk.line else str(hunk.line)
    yield f"  {span:>11}  {_render_cause((one_line(hunk.cause), hunk.provenance), ink)}"
    for number in range(max(hunk.line, 1), min(hunk.end_line, len(lines)) + 1):
        yield f"  {ink.paint(f'{number:>11} |', 'blue')} {visible(lines[number - 1])}".rstrip()


def _render_moved(report: Report, ink: Ink) -> str:
    marks = {"added": ("+", "green"), "removed": ("-", "red")}
    lines = []
    for unit in order_units(report.units):
        mark, style = marks.get(unit.outcome, (" ", "dim"))
        lines.append(f"{ink.paint(mark, style)} {one_line(unit.unit)}  {ink.paint(one_line(unit.path), 'dim')}")
    return "\n".join(lines)


def _render_rules(report: Report, ink: Ink) -> str:
    rules = sorted(report.rules, key=lambda rule: rule.code)
    if len(rules) == 1:
        title = one_line(f"{rules[0].code} {rules[0].name}")
        return f"{ink.paint(title, 'bold')}\n\n{_fold_prose(visible(rules[0].text).strip(), ink)}"
    names = [one_line(rule.name) for rule in rules]
    width = max(map(len, names), default=0)
    pairs = zip(rules, names, strict=True)
    return "\n".join(_render_rule_line(rule, name, width, ink) for rule, name in pairs)


def _render_rule_line(rule: RuleText, name: str, width: int, ink: Ink) -> str:
    """Put code, name and summary side by side; the summary goes below if code and name take over half the width."""
    head = f"  {name:<{width}}  "
    is_narrow = len(rule.code) + len(head) > ink.width // 2
    folded = ink.fold(one_line(rule.summary), indent="  " if is_narrow else " " * (len(rule.code) + len(head)))
    rest = f"{head.rstrip()}\n{folded}" if is_narrow else f"{head}{folded.lstrip()}"
    return f"{ink.paint(rule.code, 'bold')}{rest}"


def _fold_prose(text: str, ink: Ink) -> str:
    """Fold the paragraphs of ``text`` to the width; examples and lists keep their lines."""
    parts = text.split("\n\n")
    return "\n\n".join(part if re.search(r"^(\s|- |\|)", part, re.MULTILINE) else ink.fold(part) for part in parts)


_FINDING_SECTIONS: tuple[Section, ...] = (_render_inputs, _render_findings, _render_notes)
_SECTIONS: dict[str, tuple[Section, ...]] = {
    "upgrade": (_render_inputs, _render_units, _render_causes, _render_reviews, _render_findings, _render_notes),
    "blocks": (_render_inputs, _render_blocks, _render_notes),
    "lock": (_render_inputs, _render_lock, _render_notes),
    "explain": (_render_inputs, _render_explain, _render_reviews, _render_notes),
    "hoist": (_render_inputs, _render_moved, _render_notes),
    "replay": (_render_replay, _render_notes),
    "rule": (_render_rules, _render_notes),
}
