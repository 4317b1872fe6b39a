"""Three-way merge of a condition, operand by operand of its ``and`` or ``or``.

Comes in: the base, omni and upstream texts of the head of an ``if``, ``elif`` or ``while``. Goes out: the merged head,
or ``None``; or the operands that one side added. May touch: nothing.

Tokens do not tell that two changes are apart where one takes away the operator that holds the operands together::

    base      if images and not audio or embeds:          omni      if images and not audio:
    upstream  if (images and not audio and not raw) or embeds:      if images and not audio and not raw:

timid: only where each side keeps, changes or removes operands of the base, or adds some where the other adds and
removes none; what one side changed the other must not have removed.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from difflib import SequenceMatcher

from runner_sync.statements import tree_of


def with_operands(base: str, omni: str, upstream: str) -> str | None:
    """The head with both sides' changes to its condition, on one line."""
    words = {text.split(maxsplit=1)[0] for text in (base, omni, upstream) if text.strip()}
    word = words.pop() if len(words) == 1 else ""
    tests = [_test(text) for text in (base, omni, upstream)]
    if word not in _WORDS or "#" in base + omni + upstream or any(test is None for test in tests):
        return None
    merged = _merged(*(test for test in tests if test is not None))
    return f"{word} {_written(merged)}:" if merged is not None else None


_WORDS = ("if", "elif", "while")


def added_guards(base: str, side: str) -> list[str]:
    """The operands that a side added with ``and`` to the condition of an ``if`` or ``elif``, if it did nothing else to
    that: its suite runs in fewer cases, and in no others. Empty if it changed or removed any."""
    heads = [text.split(maxsplit=1)[0] for text in (base, side) if text.strip()]
    was, now = _test(base), _test(side)
    if heads not in (["if", "if"], ["elif", "elif"]) or was is None or now is None:
        return []
    return [_written(one) for one in _added_with_and(was, now) or []]


def _added_with_and(was: ast.expr, now: ast.expr) -> list[ast.expr] | None:
    """The operands of any ``and`` that only ``now`` has; ``None`` if the two differ in anything else."""
    if _written(was) == _written(now):
        return []
    fates = _fates(_operands(was, now.op), now.values) if isinstance(now, ast.BoolOp) else None
    if fates is None or not isinstance(now, ast.BoolOp) or (isinstance(now.op, ast.Or) and _added(fates)):
        return None
    found = [one for before, _ in fates for one in before]
    for old, (_, new) in zip(_operands(was, now.op), fates, strict=False):
        inside = _added_with_and(old, new) if new is not None else None
        if inside is None:
            return None
        found += inside
    return found


def _test(head: str) -> ast.expr | None:
    """The condition of a head; ``None`` if it is none."""
    text = f"{head.strip().removeprefix('el')}\n    pass\n"
    match tree_of(text).body:
        case [ast.If(test=test)] | [ast.While(test=test)]:
            return _plain(test, text)
    return None


def _plain(test: ast.expr, source: str) -> ast.expr:
    """A copy of a condition with each operand that is none of ``and`` or ``or`` as one name: its text."""
    if isinstance(test, ast.BoolOp):
        return ast.BoolOp(test.op, [_plain(value, source) for value in test.values])
    text = ast.get_source_segment(source, test) or ""
    text = ast.unparse(test) if "\n" in text or not text else text
    return ast.Name(f"({text})" if isinstance(test, _LOOSE) else text)


_LOOSE = (ast.IfExp, ast.Lambda, ast.NamedExpr)
"""What binds less than ``or``, so that it stands in brackets, which are no part of it."""


def _written(test: ast.expr) -> str:
    if not isinstance(test, ast.BoolOp):
        return ast.unparse(test)
    parts = (f"({_written(value)})" if isinstance(value, ast.BoolOp) else _written(value) for value in test.values)
    return f" {'and' if isinstance(test.op, ast.And) else 'or'} ".join(parts)


def _merged(base: ast.expr, omni: ast.expr, upstream: ast.expr) -> ast.expr | None:
    was, mine, theirs = map(_written, (base, omni, upstream))
    if mine in (was, theirs):
        return upstream
    if theirs == was:
        return omni
    if not isinstance(base, ast.BoolOp):
        return None
    operands = [_operands(side, base.op) for side in (base, omni, upstream)]
    found = _operand_by_operand(*operands)
    if not found:
        return None
    return found[0] if len(found) == 1 else ast.BoolOp(base.op, found)


def _operands(test: ast.expr, operator: ast.boolop) -> list[ast.expr]:
    """The operands of a condition, or the condition itself as the only one."""
    return test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, type(operator)) else [test]


def _operand_by_operand(
    base: Sequence[ast.expr], omni: Sequence[ast.expr], upstream: Sequence[ast.expr]
) -> list[ast.expr] | None:
    mine, theirs = _fates(base, omni), _fates(base, upstream)
    if mine is None or theirs is None or (_gave_up(mine) and _added(theirs)) or (_gave_up(theirs) and _added(mine)):
        return None
    found: list[ast.expr] = []
    for k, old in enumerate([*base, None]):
        (before_o, now_o), (before_u, now_u) = mine[k], theirs[k]
        if before_o and before_u:
            return None
        found += before_o or before_u
        if old is None or (now_o is None and now_u is None):
            continue
        if now_o is None or now_u is None:
            if _written(now_o or now_u or old) != _written(old):
                return None
            continue
        merged = _merged(old, now_o, now_u)
        if merged is None:
            return None
        found.append(merged)
    return found


def _gave_up(fates: Sequence[_Fate]) -> bool:
    """Whether a side has an operand of the base no more; the other's new ones may be of the kind that it gave up."""
    return any(now is None for _, now in fates[:-1])


def _added(fates: Sequence[_Fate]) -> bool:
    return any(before for before, _ in fates)


_Fate = tuple[list[ast.expr], ast.expr | None]


def _fates(base: Sequence[ast.expr], side: Sequence[ast.expr]) -> list[_Fate] | None:
    """``(added before it, what stands for it)`` for each operand of the base, and at the end what was added behind all;
    ``None`` where that is not plain."""
    was, now = ([_written(one) for one in operands] for operands in (base, side))
    fates: list[_Fate] = [([], None) for _ in [*base, None]]
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
        if tag == "insert":
            fates[i1][0].extend(side[j1:j2])
        elif tag != "delete" and i2 - i1 == j2 - j1:
            for k in range(i1, i2):
                fates[k] = (fates[k][0], side[j1 + k - i1])
        elif tag == "replace":
            return None
    return fates
