"""Asks where a function of the GPU twin's module changed that NPU lacks, and an NPU method has its work in line.

Comes in: drafts, a ``ModuleJob`` and the GPU side. Goes out: the drafts with questions. May touch: nothing.

The function is no method, so no port compares it with anything of NPU's, and the call itself does not change::

    GPU twin   rows = _to_host(states[:count])     _to_host:  return tensor.detach().to("cpu")
    NPU        rows = states[:count].detach().to("cpu")
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from runner_sync.lineage import list_nodes
from runner_sync.model import ReviewItem
from runner_sync.statements import Node, first_function, tree_of
from runner_sync.statements.calls import words_called
from runner_sync.syntax import walk
from runner_sync.texts.member_text import find_reached, is_same_but_for_hints
from runner_sync.texts.names import defined_names
from runner_sync.units.texts import select_members
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.from_gpu.asking.changed_helpers import ask_at, read_before
from runner_sync.upgrade.from_gpu.twin.gpu_side import GpuSide
from runner_sync.upgrade.from_gpu.twin.readings import translate_units
from runner_sync.upgrade.job import ModuleJob


def ask_about_changed_functions(drafts: Sequence[Draft], job: ModuleJob, side: GpuSide) -> list[Draft]:
    """Ask about each changed function that the twin of a method calls and whose work the method does in line.

    That is a statement that sets the same, holds the arguments of the call, and calls something that the function
    calls. Skips functions that NPU's module defines or imports.
    """
    have = defined_names(job.text) if any(name not in job.units for name in _list_functions(side.new)) else frozenset()
    return [
        draft.with_questions(*_find_questions(draft, job, side, have))
        if draft.chosen and draft.owner and not draft.removed and draft.name in side.old.keys() & side.new.keys()
        else draft
        for draft in drafts
    ]


def _list_functions(units: Mapping[str, str]) -> dict[str, str]:
    """Return the functions among the units of a module that are no methods."""
    return {name: text for name, text in units.items() if "." not in name and first_function(text) is not None}


def _find_questions(draft: Draft, job: ModuleJob, side: GpuSide, have: frozenset[str]) -> Iterator[ReviewItem]:
    old = _list_functions(translate_units(job, side.bases[draft.name].side))
    new = _list_functions(side.new)
    lacking = {name: text for name, text in new.items() if name in old and name not in have}
    changed = {name: old[name] for name, text in lacking.items() if not is_same_but_for_hints(old[name], text)}
    before = read_before(changed, "", job, side)
    if not before:
        return
    methods = select_members(side.new, draft.owner)
    reached = [methods.get(draft.member, ""), *(methods[name] for name in find_reached(side.new[draft.name], methods))]
    calls = [node for text in reached for node in list_nodes(text) if not node.is_comment]
    own = [node for node in list_nodes(draft.text)[1:] if not node.is_comment]
    for name, text in before.items():
        places = [node for node in own if any(_is_in_line(node, call, name, text) for call in calls)]
        yield from ask_at(draft, job, name, (text, new[name]), places)


def _is_in_line(node: Node, call: Node, name: str, function: str) -> bool:
    """Whether a statement of NPU's does in line what the twin's statement ``call`` leaves to a function."""
    if f"{name}(" not in call.canon or f"{name}(" in node.canon or call.compound or node.compound:
        return False
    target, _, _ = call.canon.partition(" = ")
    arguments = _read_arguments(call, name)
    return (
        target == node.canon.partition(" = ")[0] != node.canon
        and bool(arguments)
        and all(argument in node.canon for argument in arguments)
        and not words_called(function).isdisjoint(words_called(node.canon) - words_called(call.canon))
    )


def _read_arguments(call: Node, name: str) -> list[str]:
    """Return the arguments that a statement passes to a function, without constants."""
    tree = tree_of(call.canon)
    calls = [one for one in walk(tree) if isinstance(one, ast.Call) and ast.unparse(one.func) == name]
    values = [value for one in calls for value in (*one.args, *(keyword.value for keyword in one.keywords))]
    return [ast.unparse(value) for value in values if not isinstance(value, ast.Constant)]
