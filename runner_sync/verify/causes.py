"""Merges findings with a common cause into one, at the place of the cause.

Comes in: findings. Goes out: the findings, those with one cause folded. May touch: nothing.

A constructor that no longer calls its parent leaves a hundred attributes unset; a reviewer wants the one place at
fault. Folding comes last, because the baseline may accept each finding by itself, or it may have existed before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from runner_sync.model import Finding

FEW = 3
"""The most symbols that a message names; the others are counted."""


def fold_causes(findings: Iterable[Finding]) -> list[Finding]:
    """Return ``findings`` with one finding for all symbols of a cause, in place of the first.

    Findings of one symbol stay."""
    rows: dict[tuple[str, ...], list[Finding]] = {}
    for number, finding in enumerate(findings):
        cause = finding.cause
        key = (cause.code, cause.path, cause.unit, cause.symbol) if cause is not None else (str(number),)
        rows.setdefault(key, []).append(finding)
    return [finding for row in rows.values() for finding in _fold_row(row)]


def _fold_row(row: Sequence[Finding]) -> list[Finding]:
    symbols = list(dict.fromkeys(finding.symbol for finding in row))
    cause = row[0].cause
    if cause is None or len(symbols) == 1:
        return [replace(finding, cause=None) for finding in row]
    # A cause with an error among its findings is an error.
    severity = "error" if any(finding.severity == "error" for finding in row) else cause.severity
    listed = cause.message.replace("{}", _list_symbols(symbols, "attributes")).replace(
        "{names}", _list_symbols(symbols, "names")
    )
    return [replace(cause, severity=severity, message=listed, cause=cause)]


def _list_symbols(symbols: Sequence[str], noun: str) -> str:
    named = [f"`{symbol}`" for symbol in symbols]
    if len(named) > FEW:
        named = [*named[: FEW - 1], named[FEW - 1] + f" and {len(named) - FEW} more"]
        return f"{len(symbols)} {noun} ({', '.join(named)})"
    return f"{', '.join(named[:-1])} and {named[-1]}"
