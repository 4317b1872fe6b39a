"""Carry omni's comments inside a statement to the place where upstream moved and edited it.

Comes in: the kept strands of a ``Weave`` with their contents. Goes out: new contents for some strands, and ``Doubt``
values about comments without a place. May touch: nothing.

The merge treats a statement that upstream moved and edited as one removal and one addition. Omni's comments inside or
behind the old statement belong to the new one::

    omni      self.start()              upstream  self.model(          result    self.model(
              self.model(                             ids=ids,                       ids=ids,  # the talker's
                  ids=ids,  # the talker's            rows=rows,                     rows=rows,
              )                                   )                              )
                                                  self.start()                   self.start()
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from runner_sync.confidence import CONTESTED
from runner_sync.merge.matching.successors import find_successor
from runner_sync.merge.phrases.contents import Content, with_own_remarks
from runner_sync.merge.phrases.inner_remarks import with_remarks
from runner_sync.merge.placing.remarks import find_remarks
from runner_sync.merge.reason import Kind, Reason
from runner_sync.merge.weave import Doubt, Strand, Weave
from runner_sync.model import Triple
from runner_sync.rulers import is_drawn, is_review


def carry_over_remarks(
    weave: Weave,
    kept: Sequence[Strand],
    contents: Mapping[Strand, Content],
    *,
    asked: Collection[Strand],
    heritage: Collection[str],
) -> tuple[dict[Strand, Content], list[Doubt]]:
    """Add omni's inner comments to the successors of their statements; also return doubts about lost comments.

    Skips comments inside statements in ``asked``, and comments above a statement that are in ``heritage`` (another
    upstream revision has them).
    """
    made, doubts, kept_strands = dict(contents), list[Doubt](), set(kept)
    above = {about: block for block, about in find_remarks(weave.omni)}
    for index, (node, strand) in enumerate(zip(weave.omni, weave.of_omni, strict=True)):
        if node.is_comment or strand in kept_strands:
            continue
        gone = [
            weave.omni[k]
            for k in above.get(index, ())
            if (s := weave.of_omni[k]).sides == "o" and s not in kept_strands
        ]
        said = [remark for remark in gone if not is_drawn(remark.text) and not is_review(remark.text)]
        lost = [remark.text for remark in said if remark.canon not in heritage]
        following = None
        if "#" in node.text and strand.sides == "bo" and strand not in asked:
            following = find_successor(weave, strand, kept)
            base = weave.base[strand.in_base]
            if following is None:
                lost += with_remarks("", Triple(base.text, node.text, ""))[1]
            else:
                sides = base, node, weave.upstream[following.in_upstream]
                made[following], reason = with_own_remarks(made[following], None, sides)
                lost += reason.names if reason is not None else ()
        if lost:
            kind: Kind = "remark removed" if following is None else "remark left out"
            doubts.append(Doubt(strand, Reason(kind, tuple(lost)), CONTESTED, following))
    return made, doubts
