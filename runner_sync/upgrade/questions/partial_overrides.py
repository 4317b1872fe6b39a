"""Checks an override that runs upstream's method and does a part of the same work itself.

Comes in: texts of methods. Goes out: whether the override lags behind, and what it sets again. May touch: nothing.

The AR runner's ``_sample`` calls upstream's method for speculative decoding. Otherwise it calls the sampler itself, as
that method does there::

    if spec_decode_metadata is None:
        return self.sampler(logits)            # vllm-ascend 0.25.1rc1 prepares the sampler in front of this
    return super()._sample(logits, spec_decode_metadata)

Its ``__init__`` calls upstream's method and then builds a buffer of its own::

    super().__init__(*args, **kwargs)
    self.input_ids = self._make_buffer(self.max_num_tokens)   # vllm-ascend 0.13.0 builds a larger one
"""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import NamedTuple

from runner_sync import lineage
from runner_sync.statements import Node, parse_function
from runner_sync.statements.parents import parent_calls, parents_called
from runner_sync.syntax import children
from runner_sync.texts.paths import Under, is_excluded, is_on_every_path, statements_under


def lags_beside_call(text: str, member: str, owners: Collection[str], *, old: str, new: str) -> bool:
    """Whether a method lacks upstream's change of ``member`` on a path where it does not run upstream's method.

    A call of ``member`` on one of ``owners`` runs upstream's method; they include ``super()`` if it leads there.
    Ignores changes under the conditions under which upstream's method is called. Ignores a path without any statement
    of upstream's old text, because it is no version of that text.
    """
    ways = [under for statement, under in statements_under(text) if _calls_member(statement, member, owners)]
    if not ways or is_on_every_path(ways):
        return False
    without_call = _count_statements(text, lambda under: all(is_excluded(under, way) for way in ways))
    before, after = (
        _count_statements(side, lambda under: not any(way <= under for way in ways)) for side in (old, new)
    )
    if not without_call & before:
        return False
    all_statements = _count_statements(text, lambda _: True)
    return bool((after - before) - all_statements or (before - after) & without_call)


def _count_statements(text: str, counts: Callable[[Under], bool]) -> Counter[str]:
    """Count the telling statements of a method whose enclosing conditions satisfy ``counts``."""
    under = {statement.lineno: tests for statement, tests in statements_under(text)}
    nodes = [n for n in lineage.list_nodes(text) if n.is_telling and n.start in under]
    return Counter(node.canon for node in nodes if counts(under[node.start]))


def _calls_member(statement: ast.stmt, member: str, owners: Collection[str]) -> bool:
    """Whether a statement, nested statements excluded, calls ``member`` of one of ``owners``."""
    heads = [node for node in children(statement) if not isinstance(node, ast.stmt)]
    return any(parents_called(node, member) & set(owners) for node in heads)


class SetAgain(NamedTuple):
    """A statement of an override that sets ``name`` again, and upstream's statements that set it before and now."""

    name: str
    own: Node
    old: str
    new: str


def find_set_again(text: str, member: str, owners: Collection[str], *, old: str, new: str) -> Iterator[SetAgain]:
    """Yield what a method sets again after a call of ``member`` on one of ``owners``, which runs upstream's method.

    Only attributes that upstream's ``new`` text sets to something that ``old`` does not. Skips a statement that
    ``new`` has, too, and one that uses the value that upstream set.
    """
    function = parse_function(text)
    calls = parent_calls(function, member) if function is not None else []
    first = min((call.lineno for owner, call in calls if owner in owners), default=None)
    if first is None:
        return
    before, now = (_group_setters(lineage.list_nodes(side)) for side in (old, new))
    for name, (*_, last) in _group_setters(n for n in lineage.list_nodes(text) if n.start > first).items():
        was, is_now = ({node.canon for node in side[name]} for side in (before, now))
        if is_now - was and last.canon not in is_now and len(re.findall(rf"{re.escape(name)}\b", last.canon)) == 1:
            yield SetAgain(name, last, *("\n".join(node.text for node in side[name]) for side in (before, now)))


def _group_setters(nodes: Iterable[Node]) -> defaultdict[str, list[Node]]:
    """Return the plain assignments to each attribute of ``self``."""
    found = defaultdict[str, list[Node]](list)
    for node in nodes:
        for name in node.facts.targets:
            if name.startswith("self."):
                found[name].append(node)
    return found
