"""RS405 duplicate: a method is defined twice, or a block of statements stands twice in a row.

What: two definitions of one name in a class or module, of which Python keeps the last; a run of four or more statements
that is repeated directly behind itself, or later in the same block of a function; and a call `self.f(x)` for its effect
directly behind the same call.

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

Why: a port that inserts omni's block again without seeing that it is already there. The second block undoes the
statements between the two, or runs a hook twice.

Fix: delete one of the two.

Leaves alone: overloads, property setters and other definitions whose decorator extends the first definition or
registers them, definitions named `_`, definitions in different branches or with a `del` in between, runs in different
branches or blocks, short ones (fewer than four statements, or fewer than 160 characters), repeated calls without
arguments or of other objects (`rows.append(0)`), and those that may warm something up: of a method, or in a function,
with `dummy` or `warm` in its name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from runner_sync.model import Severity
from runner_sync.syntax import Function, decorator_name, is_name, walk
from runner_sync.verify.hits import Hit
from runner_sync.verify.runners.hygiene import iter_functions, iter_suites
from runner_sync.verify.runners.job import Subject
from runner_sync.verify.runners.reading import Reading

CODE = "RS405"
NAME = "duplicate"
SEVERITY: Severity = "warning"

STATEMENTS = 4
"""The fewest statements in a row that make a block; shorter ones repeat on purpose."""

CHARACTERS = 160
"""The fewest characters of such a block: four assignments of constants are no block."""


def find(subject: Subject) -> Iterator[Hit]:
    """Yield duplicated definitions, then duplicated blocks."""
    npu = subject.npu
    yield from _check_definitions(npu, npu.tree.body)
    for owner in npu.classes.values():
        yield from _check_definitions(npu, owner.node.body)
    for function in iter_functions(npu):
        for block in iter_suites(function.body):
            yield from _check_runs(npu, block)
            if not _is_warming_up(function.name):
                yield from _check_calls(npu, block)


def _check_definitions(npu: Reading, body: list[ast.stmt]) -> Iterator[Hit]:
    seen: dict[str, Function] = {}
    for statement in body:
        for name in _list_deleted_names(statement):
            seen.pop(name, None)
        if isinstance(statement, Function) and not _is_addition(statement):
            first = seen.setdefault(statement.name, statement)
            if first is not statement:
                yield npu.hit(
                    (CODE, SEVERITY),
                    statement,
                    symbol=statement.name,
                    message=f"`{statement.name}` is defined a second time and hides the one at line {first.lineno}.",
                    fix=f"Keep one of the two definitions of `{statement.name}`.",
                )


def _list_deleted_names(statement: ast.stmt) -> list[str]:
    """Return the names that a ``del`` ends."""
    targets = statement.targets if isinstance(statement, ast.Delete) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _is_addition(function: Function) -> bool:
    """Whether a definition hides no earlier one of its name.

    It may be an overload, extend the earlier one (``@size.setter``), be registered by a decorator, or be named ``_``.
    """
    if function.name == "_":
        return True
    for decorator in function.decorator_list:
        name = decorator_name(decorator)
        if name == "overload" or name.startswith("register"):
            return True
        if any(is_name(node, function.name) for node in walk(decorator)):
            return True
    return False


def _check_runs(npu: Reading, block: list[ast.stmt]) -> Iterator[Hit]:
    if len(block) < 2 * STATEMENTS:
        return
    texts = [_strip_comments(npu.text_of(statement)) for statement in block]
    position = 0
    while position < len(block):
        first, length = _find_longest_run(texts, position)
        again = range(length) if sum(map(len, texts[position : position + length])) >= CHARACTERS else ()
        if len(again) >= STATEMENTS and all(_are_equal(block[first + i], block[position + i]) for i in again):
            yield _make_hit(npu, block[first], block[position], block[position + length - 1])
            position += length
        else:
            position += 1


def _check_calls(npu: Reading, block: list[ast.stmt]) -> Iterator[Hit]:
    for first, again in pairwise(block):
        match again:
            case ast.Expr(ast.Call(ast.Attribute(owner, name), args=args, keywords=keywords)):
                is_meant = not is_name(owner, "self") or not (args or keywords) or _is_warming_up(name)
                if not is_meant and _are_equal(first, again):
                    yield _make_hit(npu, first, again, again)


def _is_warming_up(name: str) -> bool:
    """Whether a function of that name may run something several times on purpose."""
    return "dummy" in name.lower() or "warm" in name.lower()


def _strip_comments(text: str) -> str:
    """Return a statement in one line without comments; keeps a ``#`` behind a quote, which may be text."""
    lines = (line.partition("#") for line in text.split("\n"))
    kept = (code + (sign + rest if '"' in code or "'" in code else "") for code, sign, rest in lines)
    return " ".join(" ".join(kept).split())


def _are_equal(statement: ast.stmt, other: ast.stmt) -> bool:
    return ast.dump(statement) == ast.dump(other)


def _find_longest_run(texts: list[str], position: int) -> tuple[int, int]:
    """Return the start and length of the longest earlier run equal to the statements at ``position``."""
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
        message=f"What stands here already stands at line {first.lineno} of the same block.",
        fix="Delete one of the two.",
    )
