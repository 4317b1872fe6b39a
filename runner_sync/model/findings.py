"""Describe what the rules find.

Goes out: frozen dataclasses. May touch: nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from runner_sync.model.words import Severity


@dataclass(frozen=True, slots=True)
class Finding:
    """What ``check`` and ``verify`` report, with a stable rule code (RS1xx … RS5xx).

    ``state`` is the digest of the text, so that accepting a finding does not accept it for the next version of the
    text. ``old_state`` is the digest in comments and baselines of earlier versions of this tool. ``cause`` is a finding
    that replaces all findings with the same cause; ``{}`` (attributes) or ``{names}`` in its message stands for their
    symbols: see `verify.causes`.
    """

    code: str
    severity: Severity
    path: str
    line: int
    end_line: int
    unit: str
    symbol: str
    message: str
    fix: str = ""
    column: int = 0
    end_column: int = 0
    state: str = ""
    old_state: str = ""
    cause: Finding | None = field(default=None, compare=False)

    @property
    def identity(self) -> tuple[str, str, str, str]:
        """What stays the same when lines move: code, path, unit and symbol."""
        return self.code, self.path, self.unit, self.symbol
