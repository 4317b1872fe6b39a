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
from types import MappingProxyType

from runner_sync import lineage, merge
from runner_sync.confidence import CONTESTED
from runner_sync.statements import Node, enclosing, flatten
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
    nodes: Sequence[Node],
    moved: Collection[str],
    own: Collection[str],
    *,
    repeated: Mapping[str, int] = MappingProxyType({}),
) -> list[Node]:
    """Return the ``own`` statements that stand between the first and the last ``moved`` one, or inside one of them.

    A ``repeated`` statement, which the old method has elsewhere, too, counts in the suite of a moved one, nearest to
    these and at most as often as given: the others are not part of the passage.
    """
    telling = [(k, node) for k, node in enumerate(nodes) if node.is_telling]
    known = [k for k, node in telling if node.canon in moved]
    suites = {nodes[k].parent for k in known}
    places = set(known)
    for canon, times in repeated.items():
        alike = [k for k, node in telling if node.canon == canon and node.parent in suites and k not in known]
        places.update(sorted(alike, key=lambda k: min(abs(k - one) for one in known))[:times])
    if len(places) < FEWEST:
        return []
    first, last = min(places), max(places)
    return [
        node
        for k, node in enumerate(nodes)
        if node.canon in own and (first < k < last or any(head in places for head in enclosing(nodes, k)))
    ]
