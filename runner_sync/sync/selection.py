"""Choose the rules of a run by options and configuration.

Comes in: options and configuration. Goes out: ``Codes``; ``InputError`` for an unknown code, because a typing error
must not make a run green. May touch: nothing; the rules themselves are not imported.
"""

from __future__ import annotations

from collections.abc import Iterable

from runner_sync.config import Config
from runner_sync.errors import InputError
from runner_sync.sync.options import CheckOptions
from runner_sync.verify.catalog import known_codes
from runner_sync.verify.codes import BREAKAGE, Codes


def choose_codes(options: CheckOptions, settings: Config) -> Codes:
    """Return the codes of a ``check``; a rule in ``--select`` runs even if the configuration ignores it."""
    _refuse_unknown(options.select, "--select")
    _refuse_unknown(options.ignore, "--ignore")
    place = str(settings.source or "the configuration")
    _refuse_unknown(settings.select, f"{place}: select")
    _refuse_unknown(settings.ignore, f"{place}: ignore")
    for pattern, codes in settings.per_path_ignores.items():
        _refuse_unknown(codes, f"{place}: per-path-ignores.{pattern}")
    if options.select:
        return Codes(options.select, options.ignore)
    return Codes(settings.select, (*settings.ignore, *options.ignore))


def choose_codes_for_verify(options: CheckOptions, settings: Config) -> Codes:
    """Return the codes of a ``verify``: those of ``check`` that are about breakage (RS3xx).

    Raises ``InputError`` if ``--select`` names none of them. If only the configuration selects none, all of them run.
    """
    codes = choose_codes(options, settings)
    if not codes.select:
        return Codes((BREAKAGE,), codes.ignore)
    kept = [code for code in codes.select if code.startswith(BREAKAGE)]
    kept += [BREAKAGE for code in codes.select if code == "ALL" or BREAKAGE.startswith(code)]
    if not kept:
        if not options.select:
            return Codes((BREAKAGE,), codes.ignore)
        named = ", ".join(options.select)
        raise InputError(f"--select {named}: verify reports RS3xx only; run `runner-sync check --select {named}`.")
    return Codes(tuple(dict.fromkeys(kept)), codes.ignore)


def _refuse_unknown(codes: Iterable[str], where: str) -> None:
    for code in codes:
        if code == "ALL" or any(known.startswith(code) for known in known_codes()):
            continue
        raise InputError(f"{where} {code}: there is no such rule; `runner-sync rule` lists them all.")
