"""Find what upstream added to a condition under which omni has other statements than upstream.

Comes in: a ``Weave`` and a strand that all three sides have. Goes out: the operands. May touch: nothing.

Here ``not raw`` keeps ``ids = None`` from running, and omni has nothing of the kind. A merge of both conditions would
keep omni's statement, which upstream never had in mind, from running::

    base                  omni                    upstream
        if a or c:            if a:                   if (a and not raw) or c:
            ids = None            ids = self.own()        ids = None

timid: not where omni's statements are those of another side, or versions of them, or call the same; nor where they
mention what the new operand is about, for then it may have to hold for them as well.
"""

from __future__ import annotations

import re
from keyword import iskeyword

from runner_sync.merge.phrases.operands import added_guards
from runner_sync.merge.weave import Strand, Weave
from runner_sync.statements import Node, below, in_suite
from runner_sync.statements.likeness import VERSION, similarity


def guards_of_another_suite(weave: Weave, strand: Strand) -> tuple[str, ...]:
    """The operands that upstream added to a condition, if that is all it changed in it, and if omni's condition lacks
    them and is around other statements than upstream's."""
    base, omni = weave.base[strand.in_base], weave.omni[strand.in_omni]
    added = added_guards(f"{base.canon}:", f"{weave.upstream[strand.in_upstream].canon}:")
    if not added or any(":=" in one or one in omni.canon for one in added):
        return ()
    mine, theirs = _suite(weave, strand, "o"), [*_suite(weave, strand, "b"), *_suite(weave, strand, "u")]
    is_other = mine and theirs and not {of for _, of in mine} & {of for _, of in theirs}
    nodes, others = [node for node, _ in mine], [node for node, _ in theirs]
    if not is_other or _are_versions(nodes, others) or _about(added) & _about([node.canon for node in nodes]):
        return ()
    return tuple(added)


def _suite(weave: Weave, head: Strand, side: str) -> list[tuple[Node, Strand]]:
    """The telling statements of one side in the suite of a head, with their strands."""
    nodes, of = weave.side(side)
    inside = (k for top in in_suite(nodes, head.on(side)) for k in below(nodes, top))
    return [(nodes[k], of[k]) for k in inside if nodes[k].is_telling]


def _are_versions(nodes: list[Node], others: list[Node]) -> bool:
    """Whether any statement is a version of one of the ``others``, or they call a function of one name."""
    called, theirs = ({name for node in side for name in _CALLED.findall(node.canon)} for side in (nodes, others))
    return bool(called & theirs) or any(similarity(one, other) >= VERSION for one in nodes for other in others)


_CALLED = re.compile(r"(\w+)\(")


def _about(texts: list[str]) -> set[str]:
    """The names in some texts; of members of ``self`` these, whatever is asked of them."""
    found = (name for text in texts for name in _NAME.findall(text))
    return {name for name in found if not iskeyword(name) and name != "self"}


_NAME = re.compile(r"(?:(?<![\w.])self\.|(?<![\w.]))([A-Za-z_]\w*)")
