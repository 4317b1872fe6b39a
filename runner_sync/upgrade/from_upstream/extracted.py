"""Asks about omni's additions to a passage that upstream took out into a new method.

Comes in: a merged draft, and the methods of the upstream class before and now. Goes out: the draft with questions. May
touch: nothing.

The additions stay in the old method, so they no longer run between the statements that they stood between::

    upstream, old   rows = run(); cache(rows)                  upstream, new   rows = self._run()
    copy            rows = run(); rows = fix(rows); cache(rows)
    result          rows = self._run(); rows = fix(rows)
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from runner_sync import lineage, merge
from runner_sync.confidence import CONTESTED
from runner_sync.statements import ROOT, Node, enclosing, flatten
from runner_sync.texts.member_text import canonical, find_reached, self_names
from runner_sync.units.splitting import bare_name
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.questions.reviews import Shown, ask

FEWEST = 2
"""Statements that a new method, with those it calls, must have from the old one to count as taken out of it."""


def ask_about_extracted(
    draft: Draft,
    path: str,
    *,
    base: str,
    old: Mapping[str, str],
    new: Mapping[str, str],
    in_place: Collection[str] = (),
) -> Draft:
    """Return a merged copy with a question at the call of each new method that took statements around omni's code.

    ``base`` is the text that the copy was made from; ``old`` and ``new`` are the methods of the upstream class.
    Additions that are ``in_place`` still stand between the same statements.
    """
    assert draft.upstream is not None
    called = self_names(draft.upstream) - self_names(base)
    gone = lineage.fingerprint(base).keys() - lineage.fingerprint(draft.upstream).keys()
    added = {name: text for name, text in new.items() if bare_name(name) not in old}
    for name in (name for name in added if bare_name(name) in called):
        use = re.compile(rf"\bself\.{re.escape(bare_name(name))}\b")
        call = next((node for node in flatten(draft.text) if use.search(node.canon)), None)
        parts = [added[part] for part in sorted({name} | find_reached(added[name], added))]
        moved = {
            canon for part in merge.rename_alike(base, parts) for canon in lineage.fingerprint(part) if canon in gone
        }
        kept = (set(draft.own) & set(canonical(draft.text))).difference(in_place)
        inside = find_inside(flatten(draft.before), moved, kept) if call is not None else []
        if inside and call is not None:
            reason = f"upstream took the code around omni's additions out into {name}; they stand outside of it now"
            omni = "\n".join(node.text for node in inside)
            shown = Shown(omni=omni, upstream=new[name], chosen=call.text)
            draft = ask(draft, path, reason=reason, confidence=CONTESTED, shown=shown, line=call.start)
    return draft


def find_inside(
    nodes: Sequence[Node], moved: Collection[str], own: Collection[str], *, repeated: Collection[str] = ()
) -> list[Node]:
    """Return the ``own`` statements that stand between the first and the last ``moved`` one, or inside one of them.

    A ``repeated`` statement, which the old method has elsewhere, too, counts in the suite of a moved one.
    """
    telling = [(k, node) for k, node in enumerate(nodes) if node.is_telling]
    suites = {node.parent for _, node in telling if node.canon in moved}
    places = [
        k for k, node in telling if node.canon in moved or (node.canon in repeated and node.parent in suites - {ROOT})
    ]
    if len(places) < FEWEST:
        return []
    return [
        node
        for k, node in enumerate(nodes)
        if node.canon in own and (places[0] < k < places[-1] or any(head in places for head in enclosing(nodes, k)))
    ]
