"""Render the changed files as one patch for ``git apply``.

Comes in: ``Report.changes`` (texts with LF newlines) and ``Report.units`` (causes of hunks). Goes out: unified diff
text, empty when nothing changed. May touch: nothing.

Format: git-diff(1), "Generating patch text with -p". The free text after the second ``@@`` names the unit and the cause
of the hunk for reviewers; ``git apply`` ignores it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from runner_sync.model import FileChange, Report, UnitReport
from runner_sync.render.escape import one_line, visible
from runner_sync.render.order import order_changes, order_units

_CONTEXT = 3
_COLORS = {"+": "32", "-": "31", "@": "36"}
_NO_NEWLINE = "\\ No newline at end of file\n"
_ESCAPES = {"\a": "a", "\b": "b", "\t": "t", "\n": "n", "\v": "v", "\f": "f", "\r": "r", '"': '"', "\\": "\\"}
_HEADING = 120

Opcode = tuple[str, int, int, int, int]


def render_diff(report: Report, *, color: bool = False) -> str:
    """Return the patch of all changes in path order.

    Plain output is exact, byte for byte, so that it applies. Coloured output is for reading only: control characters of
    the sources are escaped there.
    """
    units = order_units(report.units)
    lines = [line for change in order_changes(report.changes) for line in diff_file(change, units)]
    return "".join(_paint(line) for line in lines) if color else "".join(lines)


def diff_file(change: FileChange, units: tuple[UnitReport, ...] = ()) -> Iterator[str]:
    """Yield the lines of one file's patch, each with its newline."""
    old, new = _split_lines(change.before or ""), _split_lines(change.after or "")
    before, after = _quote(f"a/{change.path}"), _quote(f"b/{change.path}")
    yield f"diff --git {before} {after}\n"
    if change.before is None:
        yield "new file mode 100644\n"
    elif change.after is None:
        yield "deleted file mode 100644\n"
    if old == new:
        return
    yield f"--- {'/dev/null' if change.before is None else before + _make_tab(change.path)}\n"
    yield f"+++ {'/dev/null' if change.after is None else after + _make_tab(change.path)}\n"
    own_units = tuple(unit for unit in units if unit.path == change.path)
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        yield _format_header(group, own_units)
        yield from _iter_body(group, old, new)


def _split_lines(text: str) -> list[str]:
    # str.splitlines also breaks at form feeds and U+2028, unlike git.
    lines = [line + "\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _format_header(group: list[Opcode], units: tuple[UnitReport, ...]) -> str:
    old = _format_range(group[0][1], group[-1][2])
    new = _format_range(group[0][3], group[-1][4])
    first = min(code[3] for code in group if code[0] != "equal") + 1
    last = max(code[4] for code in group if code[0] != "equal")
    heading = _make_heading(units, first, max(first, last))
    return f"@@ -{old} +{new} @@{' ' + heading if heading else ''}\n"


def _format_range(start: int, end: int) -> str:
    length = end - start
    first = start + 1 if length else start
    return str(first) if length == 1 else f"{first},{length}"


def _make_heading(units: tuple[UnitReport, ...], first: int, last: int) -> str:
    """Return the names and causes of the unit hunks that overlap the new lines from ``first`` to ``last``."""
    found: dict[str, None] = {}
    for unit in units:
        for hunk in unit.hunks:
            if hunk.line <= last and first <= hunk.end_line:
                found[unit.unit] = None
                found[hunk.cause] = None
    text = one_line(" · ".join(name for name in found if name))
    return text if len(text) <= _HEADING else text[: _HEADING - 1] + "…"


def _iter_body(group: list[Opcode], old: list[str], new: list[str]) -> Iterator[str]:
    for tag, old_start, old_end, new_start, new_end in group:
        if tag == "equal":
            yield from _prefix_lines(" ", old[old_start:old_end])
            continue
        yield from _prefix_lines("-", old[old_start:old_end])
        yield from _prefix_lines("+", new[new_start:new_end])


def _prefix_lines(sign: str, lines: list[str]) -> Iterator[str]:
    for line in lines:
        if line.endswith("\n"):
            yield sign + line
        else:
            yield f"{sign}{line}\n"
            yield _NO_NEWLINE


def _quote(path: str) -> str:
    """Quote a path as git does with core.quotePath: C escapes and octal bytes inside double quotes."""
    raw = path.encode("utf-8", "surrogatepass")
    if all(0x20 <= byte < 0x7F and byte not in b'"\\' for byte in raw):
        return path
    return '"' + "".join(_quote_byte(byte) for byte in raw) + '"'


def _quote_byte(byte: int) -> str:
    character = chr(byte)
    if character in _ESCAPES:
        return "\\" + _ESCAPES[character]
    return character if 0x20 <= byte < 0x7F else f"\\{byte:03o}"


def _make_tab(path: str) -> str:
    """Return the tab that git writes after a file name with spaces to mark its end."""
    return "\t" if " " in path else ""


def _paint(line: str) -> str:
    body = visible(line[:-1])
    code = "1" if line.startswith(("diff ", "--- ", "+++ ", "new file", "deleted file")) else _COLORS.get(line[:1])
    return f"\x1b[{code}m{body}\x1b[0m\n" if code else f"{body}\n"
