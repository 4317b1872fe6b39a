"""Ports only the uses of a mixin that the NPU class newly gets, if the whole port is refused.

Comes in: a draft, its twin with helpers, and a ``ModuleJob``. Goes out: the sides of a port. May touch: nothing.

A mixin is set up in one method and used in others. Even if the twin was otherwise rebuilt, its calls of the mixin
apply::

    twin   build = self.builder(rows)          NPU   out = Output(rows)      result   out = Output(rows)
           out = build()                             self.note(out)                   self.send(out)
           self.send(out)                            return out                       self.note(out)
           self.note(out)                                                             return self.attach(out)
           return self.attach(out)
"""

from __future__ import annotations

from runner_sync.lineage import inlined
from runner_sync.lineage.inlined import Twin
from runner_sync.model import Triple
from runner_sync.texts.member_text import self_names
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.from_gpu.twin import mixins
from runner_sync.upgrade.job import ModuleJob

CAME = "only the statements that use the new mixin were ported"


def build_sides(draft: Draft, twin: Twin, job: ModuleJob) -> Triple | None:
    """Return the sides of a port that brings only uses of new mixins; ``None`` if there are none.

    Inlines the twin's helpers that the draft has in place, regardless of changes elsewhere in them.
    """
    given = find_given_names(draft, job)
    if not given:
        return None
    _, now = inlined.inline_helpers(draft.text, twin, twin)
    without = mixins.remove_uses(now, given)
    return Triple(without, draft.text, now) if without != now else None


def find_given_names(draft: Draft, job: ModuleJob) -> frozenset[str]:
    """Return names that new mixins give to the draft's class, without those that the draft already uses.

    Statements with the latter are old on both sides.
    """
    return job.hierarchy.from_mixins(draft.owner) - self_names(draft.text)
