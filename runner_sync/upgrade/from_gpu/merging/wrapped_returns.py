"""Carries a method that the twin newly hands a return to over to NPU's returns at the same place.

Comes in: the texts of a port, then the ported draft. Goes out: the texts without what is no change any more, and the
draft with NPU's returns handing over, and a question. May touch: nothing.

The value has another form on NPU, so the statement would be one that NPU does not have::

    twin, old   if self.state is None:         NPU   if self.state is None:
                    return Output.of(kv)                 output = copy(EMPTY)
    twin, new   if self.state is None:                   output.kv = kv
                    return self.attach(Output.of(kv))    return output

The value may change with that. It comes by the merge, unless NPU has no such return, or what its return hands out is
set there by statements that stay, as vllm-ascend has them: without the value they would do nothing.

Leaves alone: what stands under no condition, or under one that a side has twice; a condition below which the twin has
two returns now, or had one that went through a method; one directly below which NPU has no return, or below which one
goes through a method already.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from runner_sync.compose.handing_over import method_called, wrapped_in
from runner_sync.confidence import INFERRED
from runner_sync.edits import margin
from runner_sync.merge import Veto
from runner_sync.model import Triple
from runner_sync.statements import Node, below, enclosing, flatten, in_suite, parse_unit
from runner_sync.statements.dataflow import binds, reads
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.questions.reviews import Shown, review

_Way = tuple[str, ...]
"""The conditions around a statement, with those of the branches before its own, the innermost first."""


@dataclass(frozen=True, slots=True)
class Wrapped:
    """A return of the twin's, as it was and is, which a ``method`` gets now, and the ``way`` to it.

    ``is_other_value`` if it returns something else than before, too.
    """

    way: _Way
    method: str
    old: Node
    new: Node
    is_other_value: bool = False


def wrapped_by_twin(
    sides: Triple, veto: Veto, foreign: Collection[str], pinned: Collection[str] = frozenset()
) -> list[Wrapped]:
    """The twin's returns that go through a method now where NPU's can, too, unless ``veto`` refuses that or the change
    is ``foreign``, vLLM's own. ``pinned`` statements of NPU's stay, whatever the twin does with them."""
    found = []
    base, omni, upstream = (flatten(text) for text in (sides.base, sides.omni, sides.upstream))
    for way in dict.fromkeys(_ways_to_returns(base)):
        new, mine = _only_return(upstream, way), _returns_below(omni, way)
        one = _newly_handed(_returns_below(base, way), new, way) if new is not None else None
        if one is None or one.new.canon in foreign or not mine or any(_is_handed(node) for node in mine):
            continue
        keeps = one.is_other_value and _keeps_value(omni, way, pinned, {node.canon for node in upstream})
        if not keeps and any(node.canon == one.old.canon for node in mine):
            continue
        if not any(veto(f"return self.{one.method}({node.canon.removeprefix('return ')})") for node in mine):
            found.append(one)
    return found


def settled(sides: Triple, wrapped: Sequence[Wrapped]) -> Triple:
    """The texts of the port without the change of these returns: nothing else is to come of them."""
    for one in wrapped:
        if one.is_other_value:
            sides = replace(sides, upstream=_with_old_return(sides.upstream, one))
        else:
            sides = replace(sides, base=wrapped_in(one.method, sides.base, [one.old.start]))
    return sides


def hand_over(draft: Draft, job: ModuleJob, wrapped: Sequence[Wrapped]) -> Draft:
    """The ported draft, each return below such a condition handed over, with one question for each condition."""
    for one in wrapped:
        mine = _returns_below(flatten(draft.text), one.way)
        if not mine:
            continue
        draft = draft.completed(wrapped_in(one.method, draft.text, [node.start for node in mine]))
        now = "\n".join(node.text for node in _returns_below(flatten(draft.text), one.way))
        stays = ", and the GPU runner has another value here now" if one.is_other_value else ""
        shown = Shown(one.old.text, "\n".join(node.text for node in mine), one.new.text, now)
        reason = (
            f"the GPU runner hands what it returns here to self.{one.method} now; so does this, though it returns"
            f" something else{stays}; with this change it has not run on this platform yet"
        )
        item = review(
            draft, job.path, reason=reason, confidence=INFERRED, shown=shown, line=mine[0].start, from_gpu=True
        )
        draft = draft.asking(replace(item, end_line=mine[-1].start))
    return draft


def _newly_handed(was: Sequence[Node], new: Node, way: _Way) -> Wrapped | None:
    """The twin's return ``new`` in the place of those below the condition before, if it alone goes through a method."""
    method = _method_of(new)
    if not method or not was or any(_is_handed(node) for node in was):
        return None
    if len(was) == 1 and _is_handed_on(was[0], new):
        return Wrapped(way, method, was[0], new)
    return Wrapped(way, method, was[-1], new, is_other_value=True) if _makes_what_it_hands(new) else None


def _keeps_value(omni: Sequence[Node], way: _Way, pinned: Collection[str], twins: Collection[str]) -> bool:
    """Whether what NPU returns directly below a condition is set there by ``pinned`` statements that are not the
    ``twins``."""
    direct, _ = _below_condition(omni, way)
    (head,) = (k for k in enclosing(omni, direct[0]) if omni[k].canon == way[0])
    own = {omni[k].canon: binds(omni[k]) for k in below(omni, head) if k < direct[0]}
    given = reads(omni[direct[0]])
    return any(given & names for canon, names in own.items() if canon in pinned and canon not in twins)


def _with_old_return(text: str, one: Wrapped) -> str:
    """The twin's text with its old return in the place of the new one."""
    lines = text.split("\n")
    first, end = one.new.start - 1, one.new.start - 1 + len(one.new.lines)
    return "\n".join([*lines[:first], margin(lines[first]) + one.old.canon, *lines[end:]])


def _way(nodes: Sequence[Node], index: int) -> _Way:
    return tuple(nodes[k].canon for k in enclosing(nodes, index) if nodes[k].is_condition)


def _ways_to_returns(nodes: Sequence[Node]) -> Iterator[_Way]:
    """The ways to the returns under conditions."""
    yield from (way for k, node in enumerate(nodes) if node.keyword == "return" and (way := _way(nodes, k)))


def _below_condition(nodes: Sequence[Node], way: _Way) -> tuple[list[int], list[int]]:
    """The returns of a value directly in the suite of the condition at the end of ``way``, and all below it; none if a
    text has that condition twice or not at all."""
    heads = [k for k, node in enumerate(nodes) if node.canon == way[0] and _way(nodes, k) == way[1:]]
    if len(heads) != 1:
        return [], []
    (head,) = heads
    inner = {j for k in below(nodes, head) if nodes[k].is_clause and nodes[k].owner == head for j in below(nodes, k)}
    inner |= {j for k in below(nodes, head) if nodes[k].defines for j in below(nodes, k)}
    found = [k for k in below(nodes, head) if k not in inner and _gives(nodes[k])]
    return [k for k in found if k in in_suite(nodes, head)], found


def _only_return(nodes: Sequence[Node], way: _Way) -> Node | None:
    """The return directly below a condition, if there is no other one below it."""
    direct, found = _below_condition(nodes, way)
    return nodes[found[0]] if len(found) == len(direct) == 1 else None


def _returns_below(nodes: Sequence[Node], way: _Way) -> list[Node]:
    """The returns below a condition, if one stands directly below it."""
    direct, found = _below_condition(nodes, way)
    return [nodes[k] for k in found] if len(direct) == 1 else []


def _value(node: Node) -> ast.expr | None:
    statement = parse_unit(node.canon).body[0] if node.keyword == "return" else None
    return statement.value if isinstance(statement, ast.Return) else None


def _gives(node: Node) -> bool:
    """Whether it returns something other than a constant."""
    value = _value(node)
    return value is not None and not isinstance(value, ast.Constant)


def _is_handed(node: Node) -> bool:
    value = _value(node)
    return value is not None and bool(method_called(value))


def _method_of(new: Node) -> str:
    """The method of ``self`` that a return hands one value to, and nothing more; else empty."""
    value = _value(new)
    if not isinstance(value, ast.Call) or len(value.args) != 1 or value.keywords:
        return ""
    return method_called(value)


def _makes_what_it_hands(new: Node) -> bool:
    """Whether a return hands on the result of a call: a name may be what the old value was made of, and the method may
    make that now."""
    value = _value(new)
    return isinstance(value, ast.Call) and isinstance(value.args[0], ast.Call)


def _is_handed_on(old: Node, new: Node) -> bool:
    """Whether ``new`` hands on just what ``old`` returns."""
    was, now = _value(old), _value(new)
    return was is not None and isinstance(now, ast.Call) and ast.dump(now.args[0]) == ast.dump(was)
