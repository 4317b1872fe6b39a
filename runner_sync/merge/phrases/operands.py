"""Merge a condition three-way, operand by operand of its ``and`` or ``or``.

Comes in: the base, omni and upstream heads of an ``if``, ``elif`` or ``while``. Goes out: the merged head or ``None``;
or the operands that one side added. May touch: nothing.

A merge by token conflicts where one side removes the operator that holds the operands together::

    base      if images and not audio or embeds:          omni      if images and not audio:
    upstream  if (images and not audio and not raw) or embeds:      if images and not audio and not raw:

timid: each side may only keep, change or remove operands of the base, or add some where the other side adds and removes
none. A side must not have removed an operand that the other changed.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from difflib import SequenceMatcher

from runner_sync.statements import tree_of


def with_operands(base: str, omni: str, upstream: str) -> str | None:
    """Return the head with both sides' changes to its condition, on one line; ``None`` for a conflict."""
    words = {text.split(maxsplit=1)[0] for text in (base, omni, upstream) if text.strip()}
    word = words.pop() if len(words) == 1 else ""
    tests = [_parse_test(text) for text in (base, omni, upstream)]
    if word not in _WORDS or "#" in base + omni + upstream or any(test is None for test in tests):
        return None
    merged = _merge_tests(*(test for test in tests if test is not None))
    return f"{word} {_print_test(merged)}:" if merged is not None else None


_WORDS = ("if", "elif", "while")


def find_added_guards(base: str, side: str) -> list[str]:
    """Return the operands that a side added with ``and`` to the condition of an ``if`` or ``elif``.

    With them the suite runs in fewer cases and in no others. Empty if the side changed anything else in the condition.
    """
    heads = [text.split(maxsplit=1)[0] for text in (base, side) if text.strip()]
    was, now = _parse_test(base), _parse_test(side)
    if heads not in (["if", "if"], ["elif", "elif"]) or was is None or now is None:
        return []
    return [_print_test(one) for one in _find_added_with_and(was, now) or []]


def _find_added_with_and(was: ast.expr, now: ast.expr) -> list[ast.expr] | None:
    """Return the operands of any ``and`` that only ``now`` has; ``None`` if the two differ in anything else."""
    if _print_test(was) == _print_test(now):
        return []
    fates = _match_operands(_split_operands(was, now.op), now.values) if isinstance(now, ast.BoolOp) else None
    if fates is None or not isinstance(now, ast.BoolOp) or (isinstance(now.op, ast.Or) and _has_added(fates)):
        return None
    found = [one for before, _ in fates for one in before]
    for old, (_, new) in zip(_split_operands(was, now.op), fates, strict=False):
        inside = _find_added_with_and(old, new) if new is not None else None
        if inside is None:
            return None
        found += inside
    return found


def _parse_test(head: str) -> ast.expr | None:
    """Return the condition of a head; ``None`` if it has none."""
    text = f"{head.strip().removeprefix('el')}\n    pass\n"
    match tree_of(text).body:
        case [ast.If(test=test)] | [ast.While(test=test)]:
            return _flatten_operands(test, text)
    return None


def _flatten_operands(test: ast.expr, source: str) -> ast.expr:
    """Copy a condition, with each operand that is no ``and`` or ``or`` replaced by one name: its text."""
    if isinstance(test, ast.BoolOp):
        return ast.BoolOp(test.op, [_flatten_operands(value, source) for value in test.values])
    text = ast.get_source_segment(source, test) or ""
    text = ast.unparse(test) if "\n" in text or not text else text
    return ast.Name(f"({text})" if isinstance(test, _LOOSE) else text)


_LOOSE = (ast.IfExp, ast.Lambda, ast.NamedExpr)
"""Expressions that bind less tightly than ``or``, so that they stand in brackets."""


def _print_test(test: ast.expr) -> str:
    if not isinstance(test, ast.BoolOp):
        return ast.unparse(test)
    parts = (
        f"({_print_test(value)})" if isinstance(value, ast.BoolOp) else _print_test(value) for value in test.values
    )
    return f" {'and' if isinstance(test.op, ast.And) else 'or'} ".join(parts)


def _merge_tests(base: ast.expr, omni: ast.expr, upstream: ast.expr) -> ast.expr | None:
    base_text, omni_text, upstream_text = map(_print_test, (base, omni, upstream))
    if omni_text in (base_text, upstream_text):
        return upstream
    if upstream_text == base_text:
        return omni
    if not isinstance(base, ast.BoolOp):
        return None
    operands = [_split_operands(side, base.op) for side in (base, omni, upstream)]
    found = _merge_operands(*operands)
    if not found:
        return None
    return found[0] if len(found) == 1 else ast.BoolOp(base.op, found)


def _split_operands(test: ast.expr, operator: ast.boolop) -> list[ast.expr]:
    """Return the operands of a condition, or the condition itself as the only one."""
    return test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, type(operator)) else [test]


def _merge_operands(
    base: Sequence[ast.expr], omni: Sequence[ast.expr], upstream: Sequence[ast.expr]
) -> list[ast.expr] | None:
    omni_fates, upstream_fates = _match_operands(base, omni), _match_operands(base, upstream)
    if (
        omni_fates is None
        or upstream_fates is None
        or (_has_removed(omni_fates) and _has_added(upstream_fates))
        or (_has_removed(upstream_fates) and _has_added(omni_fates))
    ):
        return None
    found: list[ast.expr] = []
    for k, old in enumerate([*base, None]):
        (before_o, now_o), (before_u, now_u) = omni_fates[k], upstream_fates[k]
        if before_o and before_u:
            return None
        found += before_o or before_u
        if old is None or (now_o is None and now_u is None):
            continue
        if now_o is None or now_u is None:
            if _print_test(now_o or now_u or old) != _print_test(old):
                return None
            continue
        merged = _merge_tests(old, now_o, now_u)
        if merged is None:
            return None
        found.append(merged)
    return found


def _has_removed(fates: Sequence[_Fate]) -> bool:
    """Whether a side removed an operand of the base: the other side's new operands may be of the removed kind."""
    return any(now is None for _, now in fates[:-1])


def _has_added(fates: Sequence[_Fate]) -> bool:
    return any(before for before, _ in fates)


_Fate = tuple[list[ast.expr], ast.expr | None]


def _match_operands(base: Sequence[ast.expr], side: Sequence[ast.expr]) -> list[_Fate] | None:
    """Return ``(added before it, replacement)`` for each base operand, and finally what was added behind all.

    ``None`` where operands do not match one by one.
    """
    was, now = ([_print_test(one) for one in operands] for operands in (base, side))
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
