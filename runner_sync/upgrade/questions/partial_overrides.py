"""A method of omni's own that runs upstream's on one path, and does the same in its own way on another.

Comes in: texts of methods. Goes out: whether one lags behind. May touch: nothing.

``_sample`` of the AR runner hands on for speculative decoding; without, it calls the sampler itself, as vllm-ascend's
does there::

    if spec_decode_metadata is None:
        return self.sampler(logits)            # vllm-ascend 0.25.1rc1 prepares the sampler in front of this
    return super()._sample(logits, spec_decode_metadata)
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Collection

from runner_sync import lineage
from runner_sync.compose.paths import Under, excludes, is_on_every_path, statements_under
from runner_sync.syntax import children, parents_called


def lags_beside_call(text: str, member: str, owners: Collection[str], *, old: str, new: str) -> bool:
    """Whether a method misses what upstream changed of ``member``, on a path on which it does not run that.

    ``owners`` are the classes whose ``member`` counts as upstream's, ``super()`` among them where that leads there.
    What upstream does under the tests under which it is run counts for nothing, and a path that has nothing of
    upstream's old text is no version of it.
    """
    ways = [under for statement, under in statements_under(text) if _runs(statement, member, owners)]
    if not ways or is_on_every_path(ways):
        return False
    apart = _counted(text, lambda under: all(excludes(under, way) for way in ways))
    before, after = (_counted(side, lambda under: not any(way <= under for way in ways)) for side in (old, new))
    if not apart & before:
        return False
    mine = _counted(text, lambda _: True)
    return bool((after - before) - mine or (before - after) & apart)


def _counted(text: str, counts: Callable[[Under], bool]) -> Counter[str]:
    """The telling statements of a method that run under tests which count."""
    under = {statement.lineno: tests for statement, tests in statements_under(text)}
    nodes = [n for n in lineage.nodes_of(text) if n.is_telling and n.start in under]
    return Counter(node.canon for node in nodes if counts(under[node.start]))


def _runs(statement: ast.stmt, member: str, owners: Collection[str]) -> bool:
    """Whether a statement itself, what stands under it aside, runs the ``member`` of one of ``owners``."""
    heads = [node for node in children(statement) if not isinstance(node, ast.stmt)]
    return any(parents_called(node, member) & set(owners) for node in heads)
