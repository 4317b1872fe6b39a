"""RS405 duplicate: a method is defined twice, or a block of statements stands twice in a row.

What: two definitions of one name in a class or module, of which Python keeps the last; and a run of four or more equal
statements that directly follows itself, or returns in the same block of a function.

Example:

    self.omni_prefix_cache = None
    self.has_talker_mtp = hasattr(self.model, "talker_mtp")
    self._downstream_payload_cache = {}
    self._omni_per_req_additional_information = None
    ...
    self.omni_prefix_cache = None          # pasted again when the next vllm-ascend version was ported
    self.has_talker_mtp = hasattr(self.model, "talker_mtp")
    self._downstream_payload_cache = {}
    self._omni_per_req_additional_information = None

Why: a port that puts omni's block back without seeing that it is already there. The second one undoes what the
statements between them did, or runs a hook twice.

Fix: delete one of the two.

Leaves alone: overloads, the setter of a property and whatever else a decorator adds to the first definition or
registers, what is called `_`, definitions in different branches or with a `del` in between, runs that stand in
different branches or blocks, and short ones (fewer than four statements, or fewer than 160 characters).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from runner_sync.model import Severity
from runner_sync.syntax import decorator_name, is_name, walk
from runner_sync.verify.runners.hygiene import blocks, functions
from runner_sync.verify.runners.job import Subject
from runner_sync.verify.runners.reading import Function, Hit, Reading

CODE = "RS405"
NAME = "duplicate"
SEVERITY: Severity = "warning"

STATEMENTS = 4
"""Statements in a row that are a block; shorter ones repeat on purpose."""

CHARACTERS = 160
"""Characters that such a block has at least: four assignments of constants are no block."""


def find(subject: Subject) -> Iterator[Hit]:
    """Duplicated definitions, then duplicated blocks."""
    npu = subject.npu
    yield from _definitions(npu, npu.tree.body)
    for owner in npu.classes.values():
        yield from _definitions(npu, owner.node.body)
    for function in functions(npu):
        for block in blocks(function.body):
            yield from _runs(npu, block)


def _definitions(npu: Reading, body: list[ast.stmt]) -> Iterator[Hit]:
    seen: dict[str, Function] = {}
    for statement in body:
        for name in _deleted(statement):
            seen.pop(name, None)
        if isinstance(statement, Function) and not _stands_beside(statement):
            first = seen.setdefault(statement.name, statement)
            if first is not statement:
                yield npu.hit(
                    (CODE, SEVERITY),
                    statement,
                    symbol=statement.name,
                    message=f"`{statement.name}` is defined a second time and hides the one at line {first.lineno}.",
                    fix=f"Keep one of the two definitions of `{statement.name}`.",
                )


def _deleted(statement: ast.stmt) -> list[str]:
    """The names that a ``del`` ends."""
    targets = statement.targets if isinstance(statement, ast.Delete) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _stands_beside(function: Function) -> bool:
    """Whether a definition hides no earlier one of its name: an overload, one that the earlier one takes up
    (``@size.setter``), or one that a decorator registers, where its own name means nothing, as ``_`` never does."""
    if function.name == "_":
        return True
    for decorator in function.decorator_list:
        name = decorator_name(decorator)
        if name == "overload" or name.startswith("register"):
            return True
        if any(is_name(node, function.name) for node in walk(decorator)):
            return True
    return False


def _runs(npu: Reading, block: list[ast.stmt]) -> Iterator[Hit]:
    if len(block) < 2 * STATEMENTS:
        return
    texts = [_code(npu.text_of(statement)) for statement in block]
    position = 0
    while position < len(block):
        first, length = _longest(texts, position)
        again = range(length) if sum(map(len, texts[position : position + length])) >= CHARACTERS else ()
        if len(again) >= STATEMENTS and all(_are_equal(block[first + i], block[position + i]) for i in again):
            yield _make_hit(npu, block[first], block[position], block[position + length - 1])
            position += length
        else:
            position += 1


def _code(text: str) -> str:
    """A statement in one line without comments. A ``#`` behind a quote, which may be text, is kept."""
    lines = (line.partition("#") for line in text.split("\n"))
    kept = (code + (sign + rest if '"' in code or "'" in code else "") for code, sign, rest in lines)
    return " ".join(" ".join(kept).split())


def _are_equal(statement: ast.stmt, other: ast.stmt) -> bool:
    return ast.dump(statement) == ast.dump(other)


def _longest(texts: list[str], position: int) -> tuple[int, int]:
    """Where the longest earlier run equal to the one at ``position`` begins, and how many statements it has."""
    best = (0, 0)
    for start in range(position):
        length = 0
        while (
            start + length < position
            and position + length < len(texts)
            and texts[start + length] == texts[position + length]
        ):
            length += 1
        if length > best[1]:
            best = (start, length)
    return best


def _make_hit(npu: Reading, first: ast.stmt, start: ast.stmt, end: ast.stmt) -> Hit:
    return npu.hit_lines(
        (CODE, SEVERITY),
        (start.lineno, end.end_lineno or end.lineno),
        symbol=" ".join(npu.lines[start.lineno - 1].split()),
        message=f"These statements already stand at line {first.lineno} of the same block.",
        fix="Delete one of the two runs.",
    )
