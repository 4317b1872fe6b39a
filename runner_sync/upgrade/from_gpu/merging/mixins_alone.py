"""What the twin of a unit does with a mixin that the NPU class gets, alone: it comes where the whole port is refused.

Comes in: a draft, its twin with helpers, and a ``ModuleJob``. Goes out: the sides of a port. May touch: nothing.

A mixin is set up in one method and used in others. A twin that was rebuilt otherwise says nothing against its calls::

    twin   build = self.builder(rows)          NPU   out = Output(rows)      result   out = Output(rows)
           out = build()                             self.note(out)                   self.send(out)
           self.send(out)                            return out                       self.note(out)
           self.note(out)                                                             return self.attach(out)
           return self.attach(out)
"""

from __future__ import annotations

from runner_sync.compose.member_text import self_names
from runner_sync.model import Triple
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.from_gpu.twin import inlined, mixins
from runner_sync.upgrade.from_gpu.twin.inlined import Twin
from runner_sync.upgrade.job import ModuleJob

CAME = "what uses the new mixin came alone"


def sides(draft: Draft, twin: Twin, job: ModuleJob) -> Triple | None:
    """The sides of a port that brings the uses of new mixins and nothing else; ``None`` if there are none to bring.

    The twin's helpers are inlined that the draft has in place, whatever became of the rest of them.
    """
    given = given_to(draft, job)
    if not given:
        return None
    _, now = inlined.inline_helpers(draft.text, twin, twin)
    without = mixins.remove_uses(now, given)
    return Triple(without, draft.text, now) if without != now else None


def given_to(draft: Draft, job: ModuleJob) -> frozenset[str]:
    """The names that new mixins give to the draft's class, without those that it used before: its statements with them
    are old on both sides."""
    return job.hierarchy.from_mixins(draft.owner) - self_names(draft.text)
