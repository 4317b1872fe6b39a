"""Format Markdown tables, and update a results file in which every command owns one section.

Comes in: headings, cells, texts. Goes out: Markdown. May touch: the results file passed to ``write_section``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from benchmarks.scoring import Row


def format_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table; all columns but the first are right-aligned."""
    rule = [":--", *("--:" for _ in head[1:])]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, rule, *rows)) + "\n"


def format_number(value: float | None, digits: int = 2) -> str:
    """Return a number with fixed digits, or a dash for ``None``."""
    return "–" if value is None else f"{value:.{digits}f}"


def format_percent(value: float) -> str:
    """Return a share in per cent."""
    return f"{100 * value:.1f} %"


def format_quality(rows: Sequence[Row]) -> str:
    """Return rows of the quality table as Markdown."""
    head = ("tool", "effort left", "kept", "recall", "precision", "silent", "conflicts", "given up", "parses")
    cells = [
        (
            row.tool,
            format_number(row.effort_left, 3),
            format_number(row.kept, 3),
            format_number(row.recall),
            format_number(row.precision),
            str(row.silent),
            str(row.conflicts),
            str(row.broken),
            "yes" if row.parses else "no",
        )
        for row in rows
    ]
    return format_table(head, cells)


def format_by_case(rows: Sequence[Row]) -> str:
    """Return a table of ``effort_left`` of every tool in every case."""
    cases = list(dict.fromkeys(row.case for row in rows))
    found = {(row.tool, row.case): format_number(row.effort_left, 3) for row in rows}
    tools = list(dict.fromkeys(row.tool for row in rows))
    return format_table(
        ("effort left", *cases), [(tool, *(found.get((tool, case), "–") for case in cases)) for tool in tools]
    )


def write_section(path: Path, name: str, text: str) -> None:
    """Put ``text`` between the marks of section ``name``, which is appended if the file has none."""
    start, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    section = f"{start}\n{text.strip()}\n{end}"
    old = path.read_text("utf-8") if path.exists() else f"# Benchmarks, {path.stem}\n"
    pattern = re.compile(re.escape(start) + r".*?" + re.escape(end), re.DOTALL)
    new = pattern.sub(lambda _: section, old) if pattern.search(old) else f"{old.rstrip()}\n\n{section}\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(new, "utf-8")
