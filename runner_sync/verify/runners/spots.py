"""Places findings at units: at the line of the `def`, not at the comments above.

Comes in: a `Subject` and a unit of its NPU file. Goes out: hits. May touch: nothing.
"""

from __future__ import annotations

from runner_sync.model import Severity, Unit
from runner_sync.verify.runners.job import Subject
from runner_sync.verify.runners.locked import find_definition
from runner_sync.verify.runners.reading import Hit, Span


def unit_hit(
    subject: Subject,
    rule: tuple[str, Severity],
    unit: Unit,
    *,
    symbol: str,
    message: str,
    fix: str,
    also: tuple[Span, ...] = (),
) -> Hit:
    """Make a finding at the ``def`` line of ``unit``; a change anywhere in the unit makes it concern the branch."""
    spans = ((unit.path, unit.start, unit.end), *also)
    node = find_definition(subject.npu, unit.qualname)
    if node is None:
        hit = subject.npu.hit_lines(
            rule, (unit.start, unit.start), symbol=symbol, message=message, fix=fix, unit=unit.qualname
        )
        return Hit(hit.finding, spans)
    return subject.npu.hit(rule, node, symbol=symbol, message=message, fix=fix, also=spans)
