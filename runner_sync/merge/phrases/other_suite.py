"""Find what upstream added to a condition that encloses other statements in omni.

Comes in: a ``Weave`` and a strand that all three sides have. Goes out: the added operands. May touch: nothing.

Here ``not raw`` keeps ``ids = None`` from running, which omni does not have. Merging both conditions would keep omni's
statement from running, which upstream did not intend::

    base                  omni                    upstream
        if a or c:            if a:                   if (a and not raw) or c:
            ids = None            ids = self.own()        ids = None

timid: skips a condition whose omni statements are shared with another side, are versions of its statements, or call the
same function; also one whose statements mention a name in the new operand, because it may have to hold for them.
"""

from __future__ import annotations

import re
from keyword import iskeyword

from runner_sync.merge.phrases.operands import find_added_guards
from runner_sync.merge.weave import Strand, Weave
from runner_sync.statements import Node, below, in_suite
from runner_sync.statements.calls import words_called
from runner_sync.statements.likeness import VERSION, similarity


def find_guards_of_another_suite(weave: Weave, strand: Strand) -> tuple[str, ...]:
    """Return the operands that upstream added to a condition whose omni suite has other statements.

    Empty if upstream changed anything else in the condition, or if omni's condition has one of the operands.
    """
    base, omni = weave.base[strand.in_base], weave.omni[strand.in_omni]
    added = find_added_guards(f"{base.canon}:", f"{weave.upstream[strand.in_upstream].canon}:")
    if not added or any(":=" in one or one in omni.canon for one in added):
        return ()
    own, other = _list_suite(weave, strand, "o"), [*_list_suite(weave, strand, "b"), *_list_suite(weave, strand, "u")]
    is_other = own and other and not {of for _, of in own} & {of for _, of in other}
    nodes, others = [node for node, _ in own], [node for node, _ in other]
    if not is_other or _are_versions(nodes, others) or _find_names(added) & _find_names([node.canon for node in nodes]):
        return ()
    return tuple(added)


def _list_suite(weave: Weave, head: Strand, side: str) -> list[tuple[Node, Strand]]:
    """Return the telling statements of one side in the suite of a head, with their strands."""
    nodes, strands = weave.side(side)
    inside = (k for top in in_suite(nodes, head.on(side)) for k in below(nodes, top))
    return [(nodes[k], strands[k]) for k in inside if nodes[k].is_telling]


def _are_versions(nodes: list[Node], others: list[Node]) -> bool:
    """Whether a statement is a version of one of the ``others``, or both call a function of the same name."""
    called, others_called = ({name for node in side for name in words_called(node.canon)} for side in (nodes, others))
    return bool(called & others_called) or any(similarity(one, other) >= VERSION for one in nodes for other in others)


def _find_names(texts: list[str]) -> set[str]:
    """Return the names in some texts; of an attribute path of ``self`` only the first attribute."""
    found = (name for text in texts for name in _NAME.findall(text))
    return {name for name in found if not iskeyword(name) and name != "self"}


_NAME = re.compile(r"(?:(?<![\w.])self\.|(?<![\w.]))([A-Za-z_]\w*)")
