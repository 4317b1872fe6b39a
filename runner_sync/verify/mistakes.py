"""Keeps a mistake of this program in one rule from ending the run.

Comes in: the work of a rule on a file. Goes out: its findings, or one error that names the mistake, so that a run in
which a rule failed is never green: no old tree, branch or baseline makes it known. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from runner_sync.errors import REPORT_MISTAKE, attempt
from runner_sync.model import Finding

_SYMBOL = "mistake in runner-sync"


def find_isolated(
    code: str, path: str, find: Callable[[], Iterable[Finding]], *, isolates: bool, of_old: bool = False
) -> list[Finding]:
    """Return what ``find``, the rule of ``code`` on the file at ``path``, finds; with ``isolates`` a finding about its
    mistake if it makes one.

    ``of_old``: the file is that of the older trees, with which findings are compared.
    """
    where = "the older trees, so what is new is not known" if of_old else "this file, which it did not check"

    def tell(why: str) -> list[Finding]:
        message = f"{code} failed on {where}, by a mistake in runner-sync ({why})."
        fix = f"{REPORT_MISTAKE[0].upper()}{REPORT_MISTAKE[1:]}."
        return [Finding(code, "error", path, 1, 1, "<module>", _SYMBOL, message, fix)]

    return attempt(lambda: list(find()), tell, isolates=isolates)


def find_failed(findings: Iterable[Finding]) -> frozenset[str]:
    """Return the codes of the rules that failed."""
    return frozenset(finding.code for finding in findings if is_mistake(finding))


def is_mistake(finding: Finding) -> bool:
    """Whether a finding says that its rule failed."""
    return finding.symbol == _SYMBOL
