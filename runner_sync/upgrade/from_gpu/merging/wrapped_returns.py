"""Wraps NPU's returns in a method where the twin newly wraps its own.

Comes in: the texts of a port, then the ported draft. Goes out: the texts without these changes, and the draft with
NPU's returns wrapped, and a question. May touch: nothing.

NPU returns the value in another form, so a merge would not find the twin's statement::

    twin, old   if self.state is None:         NPU   if self.state is None:
                    return Output.of(kv)                 output = copy(EMPTY)
    twin, new   if self.state is None:                   output.kv = kv
                    return self.attach(Output.of(kv))    return output

The twin's value may change at the same time. The merge brings the new value, unless NPU has no such return, or
vllm-ascend's statements, which stay, set what NPU returns: with another value they would have no effect.

Leaves alone: a return under no condition, or under a condition that a side has twice; a condition below which the twin
now has two returns or already wrapped one; a condition without an NPU return directly below it, or with one already
wrapped.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from runner_sync.confidence import INFERRED
from runner_sync.edits import margin
from runner_sync.fitting.handing_over import called_self_method, wrap_given_returns
from runner_sync.merge import Veto
from runner_sync.model import Triple
from runner_sync.statements import Node, below, enclosing, flatten, flatten_sides, in_suite, parse_unit
from runner_sync.statements.dataflow import binds, reads
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.questions.reviews import Shown, make_review

_Conditions = tuple[str, ...]
"""The conditions around a statement, including those of the branches before its own, the innermost first."""


@dataclass(frozen=True, slots=True)
class Wrapped:
    """A return of the twin, old and new, that the twin newly passes to ``method``, and the conditions around it.

    ``is_other_value`` if the returned value changes as well.
    """

    conditions: _Conditions
    method: str
    old: Node
    new: Node
    is_other_value: bool = False


def find_newly_wrapped(sides: Triple, veto: Veto, foreign: Collection[str], pinned: Collection[str]) -> list[Wrapped]:
    """Return the twin's newly wrapped returns whose NPU counterparts can be wrapped, too.

    Skips those that ``veto`` refuses and ``foreign`` changes, which are vLLM's own. ``pinned`` statements of NPU stay
    regardless of the twin.
    """
    found = []
    base, omni, upstream = flatten_sides(sides)
    places = (_list_conditions(base, k) for k, node in enumerate(base) if node.keyword == "return")
    for conditions in dict.fromkeys(conditions for conditions in places if conditions):
        was, own, new = (_find_returns_below(nodes, conditions) for nodes in (base, omni, upstream))
        one = _match_newly_wrapped(was, new[0], conditions) if len(new) == 1 else None
        if one is None or one.new.canon in foreign or not own or any(_is_wrapped(node) for node in own):
            continue
        keeps_value = one.is_other_value and _has_pinned_value(
            omni, conditions, pinned, {node.canon for node in upstream}
        )
        if not keeps_value and any(node.canon == one.old.canon for node in own):
            continue
        if not any(veto(f"return self.{one.method}({node.canon.removeprefix('return ')})") for node in own):
            found.append(one)
    return found


def remove_wrapping_changes(sides: Triple, wrapped: Sequence[Wrapped]) -> Triple:
    """Remove the change of these returns from the texts of the port, so that the merge does not bring it."""
    for one in wrapped:
        if one.is_other_value:
            sides = replace(sides, upstream=_restore_old_return(sides.upstream, one))
        else:
            sides = replace(sides, base=wrap_given_returns(one.method, sides.base, [one.old.start]))
    return sides


def wrap_returns(draft: Draft, job: ModuleJob, wrapped: Sequence[Wrapped]) -> Draft:
    """Wrap each NPU return below these conditions, with one question per condition."""
    for one in wrapped:
        own = _find_returns_below(flatten(draft.text), one.conditions)
        if not own:
            continue
        draft = draft.with_completion(wrap_given_returns(one.method, draft.text, [node.start for node in own]))
        now = "\n".join(node.text for node in _find_returns_below(flatten(draft.text), one.conditions))
        stays = "; the GPU runner also returns another value now" if one.is_other_value else ""
        shown = Shown(one.old.text, "\n".join(node.text for node in own), one.new.text, now)
        reason = (
            f"the GPU runner now passes what it returns here through self.{one.method}; NPU's return, which has its "
            f"own value, does so, too{stays}; the changed lines have not run on this platform yet"
        )
        item = make_review(
            draft, job.path, reason=reason, confidence=INFERRED, shown=shown, line=own[0].start, from_gpu=True
        )
        draft = draft.with_questions(replace(item, end_line=own[-1].start))
    return draft


def _match_newly_wrapped(was: Sequence[Node], new: Node, conditions: _Conditions) -> Wrapped | None:
    """Match ``new`` to the twin's old returns below the condition, if only ``new`` is wrapped; else ``None``."""
    method = _find_wrapping_method(new)
    if not method or not was or any(_is_wrapped(node) for node in was):
        return None
    if len(was) == 1 and _is_same_value(was[0], new):
        return Wrapped(conditions, method, was[0], new)
    return Wrapped(conditions, method, was[-1], new, is_other_value=True) if _is_wrapped_call(new) else None


def _has_pinned_value(
    omni: Sequence[Node], conditions: _Conditions, pinned: Collection[str], twins: Collection[str]
) -> bool:
    """Whether ``pinned`` statements absent from ``twins`` set what NPU returns directly below a condition."""
    direct, _ = _split_returns_below(omni, conditions)
    head = next(k for k in enclosing(omni, direct[0]) if omni[k].canon == conditions[0])
    own = {omni[k].canon: binds(omni[k]) for k in below(omni, head) if k < direct[0]}
    given = reads(omni[direct[0]])
    return any(given & names for canon, names in own.items() if canon in pinned and canon not in twins)


def _restore_old_return(text: str, one: Wrapped) -> str:
    """Put the twin's old return in the place of the new one."""
    lines = text.split("\n")
    first = one.new.start - 1
    return "\n".join([*lines[:first], margin(lines[first]) + one.old.canon, *lines[one.new.end :]])


def _list_conditions(nodes: Sequence[Node], index: int) -> _Conditions:
    return tuple(nodes[k].canon for k in enclosing(nodes, index) if nodes[k].is_condition)


def _split_returns_below(nodes: Sequence[Node], conditions: _Conditions) -> tuple[list[int], list[int]]:
    """Return the returns of a value directly in the innermost condition's suite, and all below it.

    Returns none if the text has that condition twice or not at all.
    """
    heads = [
        k
        for k, node in enumerate(nodes)
        if node.canon == conditions[0] and _list_conditions(nodes, k) == conditions[1:]
    ]
    if len(heads) != 1:
        return [], []
    (head,) = heads
    inner = {j for k in below(nodes, head) if nodes[k].is_clause and nodes[k].owner == head for j in below(nodes, k)}
    inner |= {j for k in below(nodes, head) if nodes[k].defines for j in below(nodes, k)}
    found = [k for k in below(nodes, head) if k not in inner and _returns_value(nodes[k])]
    return [k for k in found if k in in_suite(nodes, head)], found


def _find_returns_below(nodes: Sequence[Node], conditions: _Conditions) -> list[Node]:
    """Return the returns below a condition if exactly one is directly below it."""
    direct, found = _split_returns_below(nodes, conditions)
    return [nodes[k] for k in found] if len(direct) == 1 else []


def _parse_value(node: Node) -> ast.expr | None:
    statement = parse_unit(node.canon).body[0] if node.keyword == "return" else None
    return statement.value if isinstance(statement, ast.Return) else None


def _returns_value(node: Node) -> bool:
    """Whether the node returns something other than a constant."""
    value = _parse_value(node)
    return value is not None and not isinstance(value, ast.Constant)


def _is_wrapped(node: Node) -> bool:
    value = _parse_value(node)
    return value is not None and bool(called_self_method(value))


def _find_wrapping_method(new: Node) -> str:
    """Return the method of ``self`` that a return passes one value to and nothing else; else an empty string."""
    value = _parse_value(new)
    if not isinstance(value, ast.Call) or len(value.args) != 1 or value.keywords:
        return ""
    return called_self_method(value)


def _is_wrapped_call(new: Node) -> bool:
    """Whether a return passes on the result of a call.

    A name does not suffice: the old value may have been made from it, and the method may do that now.
    """
    value = _parse_value(new)
    return isinstance(value, ast.Call) and isinstance(value.args[0], ast.Call)


def _is_same_value(old: Node, new: Node) -> bool:
    """Whether ``new`` passes on exactly what ``old`` returns."""
    was, now = _parse_value(old), _parse_value(new)
    return was is not None and isinstance(now, ast.Call) and ast.dump(now.args[0]) == ast.dump(was)
