"""The score of ``replay``: how much of a hand-made upgrade a tool leaves to do.

docs/how-it-works.md ("The score") defines it.

Comes in: module texts before, as released, and as the tool wrote them. Goes out: ``Score`` values. May touch: the
``git`` program, for ``git diff --minimal`` on texts in a temporary directory.
"""

from __future__ import annotations

import ast
import subprocess
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from runner_sync.syntax import Function

Lines = Counter[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Score:
    """Counts of changed lines.

    ``work``: changed by people; ``done``: changed by the tool; ``left``: still different after the tool; ``hit``:
    common to ``work`` and ``done``.
    """

    work: int = 0
    done: int = 0
    left: int = 0
    hit: int = 0

    def __add__(self, other: Score) -> Score:
        return Score(self.work + other.work, self.done + other.done, self.left + other.left, self.hit + other.hit)

    @property
    def effort_left(self) -> float:
        return self.left / self.work if self.work else float(bool(self.left))

    @property
    def recall(self) -> float:
        return self.hit / self.work if self.work else 1.0

    @property
    def precision(self) -> float:
        return self.hit / self.done if self.done else 1.0


def normalise(text: str) -> str:
    """Return a module's text from ``ast.unparse``, so that layout and comments never count. Raises ``SyntaxError``."""
    return ast.unparse(ast.parse(text)) + "\n"


def normalise_part(text: str) -> str:
    """Normalise a part of a module, completed by the first of ``_FRAMES`` that makes it parse.

    The frame stays in the result. Returns ``text`` unchanged if no frame fits.
    """
    for before, behind in _FRAMES:
        try:
            return ast.unparse(ast.parse(before + text + behind))
        except SyntaxError:
            continue
    return text


_FRAMES = (
    ("", ""),
    ("", "\n    pass"),
    ("if 1:\n", ""),
    ("if 1:\n    pass\n", "\n    pass"),
    ("", "\ndef _(): pass"),
)
"""Texts before and behind a part that complete it to a module: none; a suite for a head; a head for a suite; an ``if``
and a suite for a clause's head (``else:``); a function for a decorator."""


def changed_lines(old: str, new: str) -> Lines:
    """Return the multiset of ``("+"|"-", line)`` of ``git diff --minimal`` from ``old`` to ``new``."""
    if old == new:
        return Counter()
    with tempfile.TemporaryDirectory() as folder:
        before, after = Path(folder, "a"), Path(folder, "b")
        before.write_text(old, "utf-8")
        after.write_text(new, "utf-8")
        command = [
            "git",
            "diff",
            "--no-index",
            "--no-color",
            "--no-ext-diff",
            "--diff-algorithm=minimal",
            "-U0",
            str(before),
            str(after),
        ]
        out = subprocess.run(command, capture_output=True, text=True, check=False, encoding="utf-8").stdout
    lines = out.split("\n")  # unlike git, str.splitlines also cuts at form feeds and U+2028
    body = lines[next(i for i, line in enumerate(lines) if line.startswith("@@")) :]
    return Counter((line[0], line[1:]) for line in body if line[:1] in "+-" and line)


def score_texts(before: str, tool: str, truth: str) -> Score:
    """Score one module or unit; the three texts are already normalised."""
    work, done = changed_lines(before, truth), changed_lines(before, tool)
    left = changed_lines(tool, truth)
    return Score(work.total(), done.total(), left.total(), (work & done).total())


def score_module(before: str, tool: str, truth: str) -> Score:
    """Score one module; if the tool's text does not parse, all of the work is left."""
    old, new = normalise(before), normalise(truth)
    try:
        made = normalise(tool)
    except SyntaxError:
        work = changed_lines(old, new).total()
        return Score(work, 0, work, 0)
    return score_texts(old, made, new)


def unparse_methods(text: str) -> Mapping[str, str]:
    """Return ``{qualname: unparsed text}`` of every method and module-level function of a module."""
    found: dict[str, str] = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.ClassDef):
            for member in node.body:
                if isinstance(member, Function):
                    found[f"{node.name}.{member.name}"] = ast.unparse(member) + "\n"
        elif isinstance(node, Function):
            found[node.name] = ast.unparse(node) + "\n"
    return found


def score_kept(before: str, tool: str, truth: str) -> Score:
    """Score the methods that exist both before and after (*kept*)."""
    old, new = unparse_methods(before), unparse_methods(truth)
    try:
        made = unparse_methods(tool)
    except SyntaxError:
        made = {}
    total = Score()
    for name in old.keys() & new.keys():
        total += score_texts(old[name], made.get(name, ""), new[name])
    return total
