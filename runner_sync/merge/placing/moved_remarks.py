"""Carry omni's comments inside a statement over to where upstream has moved, and edited, the statement.

Comes in: the kept strands of a ``Weave`` with their contents. Goes out: other contents for some of them, and ``Doubt``
values about comments without a place. May touch: nothing.

To the merge, a statement that upstream moved and edited is one removed and one added. Omni's comments inside the old
one, or behind it, are about the new one::

    omni      self.start()              upstream  self.model(          result    self.model(
              self.model(                             ids=ids,                       ids=ids,  # the talker's
                  ids=ids,  # the talker's            rows=rows,                     rows=rows,
              )                                   )                              )
                                                  self.start()                   self.start()
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from runner_sync.confidence import CONTESTED
from runner_sync.merge.matching.successors import successor
from runner_sync.merge.phrases.contents import Content, with_own_remarks
from runner_sync.merge.phrases.inner_remarks import with_remarks
from runner_sync.merge.placing.remarks import remarks_on
from runner_sync.merge.reason import Kind, Reason
from runner_sync.merge.weave import Doubt, Strand, Weave
from runner_sync.model import Triple
from runner_sync.rulers import is_drawn


def with_moved_remarks(
    weave: Weave,
    kept: Sequence[Strand],
    contents: Mapping[Strand, Content],
    *,
    asked: Collection[Strand],
    heritage: Collection[str],
) -> tuple[dict[Strand, Content], list[Doubt]]:
    """``contents`` with omni's comments inside their statements' successors, and the doubts about comments of omni's
    that are gone.

    No doubt about comments inside a statement that is ``asked`` about, nor about one above a statement that another
    revision of upstream has, too (``heritage``).
    """
    made, doubts, here = dict(contents), list[Doubt](), set(kept)
    above = {about: block for block, about in remarks_on(weave.omni)}
    for index, (node, strand) in enumerate(zip(weave.omni, weave.of_omni, strict=True)):
        if node.is_comment or strand in here:
            continue
        gone = [weave.omni[k] for k in above.get(index, ()) if (s := weave.of_omni[k]).sides == "o" and s not in here]
        lost = [remark.text for remark in gone if remark.canon not in heritage and not is_drawn(remark.text)]
        there = None
        if "#" in node.text and strand.sides == "bo" and strand not in asked:
            there = successor(weave, strand, kept)
            base = weave.base[strand.in_base]
            if there is None:
                lost += with_remarks("", Triple(base.text, node.text, ""))[1]
            else:
                sides = base, node, weave.upstream[there.in_upstream]
                made[there], reason = with_own_remarks(made[there], None, sides)
                lost += reason.names if reason is not None else ()
        if lost:
            kind: Kind = "remark removed" if there is None else "remark left out"
            doubts.append(Doubt(strand, Reason(kind, tuple(lost)), CONTESTED, there))
    return made, doubts
