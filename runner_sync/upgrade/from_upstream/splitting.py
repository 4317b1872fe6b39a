"""A method that upstream took apart: the second half of a copy follows into the new method.

Comes in: texts of methods. Goes out: which new method was split off which old one; two methods as one text, to be
merged with the copy of the undivided one, and cut again. May touch: nothing.

What omni added to the undivided method has its place by the statements around it, and these now stand in two methods.
Merged one by one, omni's additions to the second half would have nowhere to go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from runner_sync import lineage
from runner_sync.compose.member_text import head_and_body, self_names
from runner_sync.edits import margin
from runner_sync.statements import parses

CUT = "__runner_sync_cut__()"
"""The statement between the two halves; it never reaches a file."""

FROM_OLD = 0.4
"""Share of a new method's statements, helpers of its own included, that must come from the old one; or, where those do
more than what was there, of the statements that left the old one, if they are more than one or two."""


def split_off(member: str, *, base: str, copy: str, old: Mapping[str, str], new: Mapping[str, str]) -> str:
    """The new method (its key in ``new``) that was split off the one called ``member``, or an empty string.

    ``base`` is the undivided text, ``copy`` omni's copy of it (it must still have that part), ``old`` and ``new`` are
    the methods of the upstream class before and after. A helper that either half calls was taken out of its middle and
    is no second half (`_sample` of vllm-ascend 0.14.0rc1, beside `sample_tokens`).
    """
    if member not in new:
        return ""
    fresh = {name: text for name, text in new.items() if name not in old}
    called = self_names(new[member]).union(*(self_names(text) for text in fresh.values()))
    gone = (lineage.fingerprint(base) - lineage.fingerprint(new[member])) & lineage.fingerprint(copy)
    best, found = 0, ""
    for name in (name for name in fresh if name not in called):
        body = Counter(canon for text in with_helpers(name, fresh) for canon in lineage.fingerprint(text).elements())
        taken = (body & gone).total()
        has_most = taken >= lineage.FEWEST and taken >= gone.total() * FROM_OLD
        if taken > best and (has_most or taken >= body.total() * FROM_OLD):
            best, found = taken, name
    return found


def with_helpers(name: str, methods: Mapping[str, str]) -> list[str]:
    """The text of a method, and of those of ``methods`` that it calls, directly or not."""
    names, todo = {name: None}, [name]
    while todo:
        used = self_names(methods[todo.pop()])
        more = [other for other in methods if other in used and other not in names]
        names |= dict.fromkeys(more)
        todo += more
    return [methods[other] for other in names]


def joined(first: str, second: str) -> str:
    """Two methods as one, with the cut between the body of the first and that of the second."""
    head, body = head_and_body(second)
    indent = " " * _column(body)
    return f"{first.rstrip(chr(10))}\n{indent}{CUT}\n{body.lstrip(chr(10))}" if head else first


def cut(text: str, second: str) -> tuple[str, str] | None:
    """The two methods again, the second with the head of ``second``; ``None`` when the cut is not where it belongs."""
    lines = text.split("\n")
    places = [k for k, line in enumerate(lines) if line.strip() == CUT]
    head, body = head_and_body(second)
    if len(places) != 1 or not head or lines[places[0]] != " " * _column(body) + CUT:
        return None
    first, rest = "\n".join(lines[: places[0]]).rstrip(), "\n".join(lines[places[0] + 1 :])
    halves = (first + "\n", head + rest.lstrip("\n"))
    return halves if all(parses(half) for half in halves) else None


def row_of_cut(text: str) -> int:
    """1-based line of the cut."""
    return next(k for k, line in enumerate(text.split("\n"), start=1) if line.strip() == CUT)


def first_row(text: str) -> int:
    """How many lines stand before the body of a method."""
    return head_and_body(text)[0].count("\n")


def _column(body: str) -> int:
    return len(margin(next((line for line in body.split("\n") if line.strip()), "")))
