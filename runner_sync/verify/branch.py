"""Tells which findings concern what a branch touched, so that `check --changed-since` reports nothing else.

Comes in: changed lines by path, the files now and at the start of the branch. Goes out: whether a hit concerns the
branch. May touch: nothing but what the libraries can read.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from runner_sync.errors import InputError
from runner_sync.model import Finding
from runner_sync.verify.hits import Hit, Span
from runner_sync.verify.rules import rs201_gpu_changed, rs410_conflict_markers
from runner_sync.verify.runners.job import Library
from runner_sync.verify.runners.locked import is_unchanged
from runner_sync.verify.runners.reading import Reading

Lines = Mapping[str, Set[int]]


class Branch:
    """What a branch touched.

    ``changed`` are lines by path in the files ``now``. ``before`` are the files at the start of the branch, if known.
    """

    def __init__(self, changed: Lines, now: Library, before: Library | None) -> None:
        self._now = now
        self._before = before
        self._lines = {path: self._find_changed_lines(path, lines) for path, lines in changed.items()}
        self._code: dict[str, Set[int]] = {}
        self._written: dict[str, Set[int]] = {}

    def is_about(self, hit: Hit) -> bool:
        """Whether a finding concerns the branch; layout and comments do not count for a finding about code."""
        finding = hit.finding
        # A conflict keeps rules from checking code that the branch may have touched.
        if finding.code == rs410_conflict_markers.CODE or hit.is_branchs:
            return True
        own = [] if self._is_at_new_bases(finding) else [(finding.path, finding.line, finding.end_line)]
        spans = [*own, *hit.also]
        return any(self._is_touched(span, is_text=hit.is_text) for span in spans)

    def is_port(self, finding: Finding) -> bool:
        """Whether a finding is about a unit that was edited since the lock, as its GPU twin was."""
        return (finding.code, finding.severity) == rs201_gpu_changed.PORTED

    def _is_at_new_bases(self, finding: Finding) -> bool:
        """Whether a finding stands at the header of a class to which the branch only gave other bases.

        That touches nothing that an old finding is about; a finding that the bases caused is new.
        """
        if finding.path not in self._lines or finding.path not in self._now.paths():
            return False
        try:
            now, before = self._read_both(finding.path)
            if now is None or before is None:
                return False
            place = (finding.line, finding.column)
            here = [c for c in now.classes.values() if (c.node.lineno, c.node.col_offset + 1) == place]
            return any(c.name in before.classes and c.bases != before.classes[c.name].bases for c in here)
        except InputError:
            return False

    def _is_touched(self, span: Span, *, is_text: bool) -> bool:
        path, start, end = span
        rows = range(start, end + 1)
        if self._lines.get(path, frozenset()).isdisjoint(rows):
            return False
        if self._before is None:
            return True
        if is_text:
            return not self._find_written_lines(path).isdisjoint(rows)
        if path not in self._code:
            self._code[path] = self._drop_unchanged_units(path)
        return not self._code[path].isdisjoint(rows)

    def _find_changed_lines(self, path: str, lines: Set[int]) -> Set[int]:
        """Return a file's touched lines; only those that differ if git calls all touched, as for changed line ends."""
        now, before = self._read_both(path) if path in self._now.paths() else (None, None)
        if now is None or before is None or len(lines) < len(now.lines) - 1:
            return lines
        # A deletion counts as its two neighbouring lines, as elsewhere.
        spans = _find_changed_spans(before, now)
        return {n for start, end in spans for n in (range(start + 1, end + 1) if end > start else (start, start + 1))}

    def _find_written_lines(self, path: str) -> Set[int]:
        """Return a file's lines that the branch wrote, without the neighbours of those that it deleted."""
        if path not in self._written:
            now, before = self._read_both(path) if path in self._now.paths() else (None, None)
            self._written[path] = self._lines[path]
            if now is not None and before is not None:
                spans = _find_changed_spans(before, now)
                self._written[path] = {n for start, end in spans for n in range(start + 1, end + 1)}
        return self._written[path]

    def _drop_unchanged_units(self, path: str) -> Set[int]:
        """Return the touched lines of a file, without those of units whose code is unchanged."""
        lines = self._lines[path]
        now, before = self._read_both(path)
        if now is None or before is None:
            return lines
        try:
            rows = {name: range(unit.start, unit.end + 1) for name, unit in now.units.items()}
            same = [r for name, r in rows.items() if not lines.isdisjoint(r) and is_unchanged(now, before, name)]
        except InputError:
            return lines
        return {line for line in lines if not any(line in r for r in same)}

    def _read_both(self, path: str) -> tuple[Reading | None, Reading | None]:
        return self._now.at(path), self._before.at(path) if self._before is not None else None


def _find_changed_spans(before: Reading, now: Reading) -> list[tuple[int, int]]:
    """Return the changed places of a file as it is now: the lines before the first, and up to the last."""
    from difflib import SequenceMatcher

    compared = SequenceMatcher(None, before.lines, now.lines).get_opcodes()
    return [(start, end) for kind, _, _, start, end in compared if kind != "equal"]
