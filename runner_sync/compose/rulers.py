"""Encloses code ported from the GPU runners in omni's ruler comments, in the style of the file.

Comes in: the text of a unit before and after the port, the lines that rulers already enclose, and the ruler. Goes out:
the text with rulers; blocks that touch each other become one. May touch: nothing.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Sequence
from itertools import pairwise

from runner_sync.edits import margin, without_lines
from runner_sync.rulers import ruler_title
from runner_sync.statements import as_module, parse_unit
from runner_sync.syntax import same_code, walk


def enclose_additions(
    before: str, after: str, *, marked: Collection[int], ruler: str, beside: Collection[int] | None = None
) -> str:
    """Return ``after`` with a ruler above and below every run of whole statements that ``before`` does not have.

    ``marked`` are the 1-based lines of ``after`` that rulers already enclose. A run that is not whole statements at one
    depth (a changed head, or the end of one suite and the start of the next) stays unchanged. If ``beside`` is given,
    so does a run that does not touch one of these lines.
    """
    lines = after.split("\n")
    spans = _find_statement_spans(after)
    for start, end in reversed(_find_insertions(before.split("\n"), lines)):
        first, last = _trim_blank_lines(lines, start, end)
        whole = _is_whole(spans, first, last)
        if not whole or any(k in marked for k in range(first, last + 1)):
            continue
        if beside is not None and {first - 1, last + 1}.isdisjoint(beside):
            continue
        indent = margin(lines[first - 1])
        attempt = [*lines[: first - 1], indent + ruler, *lines[first - 1 : last], indent + ruler, *lines[last:]]
        if same_code(as_module("\n".join(attempt)), as_module(after)):
            lines = attempt
    return "\n".join(lines)


def enclose_members(texts: Sequence[str], *, ruler: str) -> str:
    """Return the members as one text, with a ruler above the first and below the last."""
    indent = margin(next(line for line in texts[0].split("\n") if line.strip()))
    body = "\n".join(text.rstrip("\n") + "\n" for text in texts)
    return f"{indent}{ruler}\n{body}{indent}{ruler}\n"


def join_blocks(plain: str, enclosed: str, regions: Sequence[tuple[int, int]]) -> str:
    """Return ``enclosed`` without the rulers between a block that ``plain`` does not have and an adjacent block.

    ``regions`` are the first and last lines of the blocks of ``enclosed``, rulers included. Rulers with a title of
    their own stay::

        # ---- Omni-new ----
        ported()
        # ---- Omni-new ----    goes
        # ---- Omni-new ----    goes
        own()
        # ---- Omni-new ----
    """
    lines = enclosed.split("\n")
    drawn = {line for first, last in _find_insertions(plain.split("\n"), lines) for line in range(first, last + 1)}
    gone: set[int] = set()
    for upper, lower in pairwise(sorted(regions)):
        alike = len({_style_of(lines[line - 1]) for line in (*upper, *lower)}) == 1
        between = lines[upper[1] : lower[0] - 1]
        if alike and drawn & {*upper, *lower} and upper[1] < lower[0] and not "".join(between).strip():
            gone |= {upper[1], lower[0]}
    return without_lines(enclosed, gone)


def _style_of(line: str) -> tuple[str, str]:
    """Return indentation and title of a ruler, which identify its style whatever its width."""
    return margin(line), (ruler_title(line.strip()) or "").lower()


def _find_insertions(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int]]:
    opcodes = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return [(j1 + 1, j2) for tag, _, _, j1, j2 in opcodes if tag == "insert"]


def _trim_blank_lines(lines: Sequence[str], start: int, end: int) -> tuple[int, int]:
    while start < end and not lines[start - 1].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    return start, end


def _find_statement_spans(text: str) -> list[list[tuple[int, int]]]:
    """Return for each suite the first and last lines of its statements."""
    suites = []
    for node in walk(parse_unit(text)):
        for name in ("body", "orelse", "finalbody"):
            suite = getattr(node, name, None)
            if isinstance(suite, list) and suite:
                suites.append([(s.lineno, s.end_lineno or s.lineno) for s in suite])
    return suites


def _is_whole(spans: Sequence[Sequence[tuple[int, int]]], first: int, last: int) -> bool:
    """Whether lines ``first`` to ``last`` contain one or more whole statements of one suite, and nothing else."""
    started = [span[0] for suite in spans for span in suite if first <= span[0] <= last]
    for suite in spans:
        inside = [span for span in suite if first <= span[0] and span[1] <= last]
        cut = [s for s in suite if s not in inside and s[0] <= last and s[1] >= first]
        if inside and not cut and all(inside[0][0] <= line <= inside[-1][1] for line in started):
            return True
    return False
