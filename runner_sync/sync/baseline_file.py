"""Read the baseline of accepted findings, and write it for ``--update-baseline``.

Comes in: options, configuration, a ``CheckResult``. Goes out: the remaining findings, and remarks. May touch: the
baseline file, by reading and through ``write``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from runner_sync.errors import InputError
from runner_sync.model import FileChange, Finding
from runner_sync.sync.options import CheckOptions, Tell
from runner_sync.sync.trees import inputs
from runner_sync.verify import baseline
from runner_sync.verify.baseline import Baseline, StaleEntry
from runner_sync.verify.check import CheckResult

_MOST_STALE = 10


def read_baseline(options: CheckOptions, given: inputs.Inputs) -> Baseline | None:
    """Read the baseline that the option or else the configuration names.

    Returns ``None`` if neither names one, or it is still to be made. Raises ``InputError`` for a missing or damaged
    file, and for a baseline of another profile's runners, whose entries would all look stale. If only the configuration
    names such a baseline and nothing is to be written, the run goes on without it.
    """
    file = options.baseline or given.config.baseline
    if file is None:
        if options.update_baseline:
            raise InputError("--update-baseline has no file to write: name it with --baseline FILE.")
        return None
    text = _read_text(file)
    if text is not None:
        read = baseline.load(text, path=str(file))
        other = _find_other_lock(read, given)
        if not other:
            return read
        if options.baseline is not None or options.update_baseline:
            raise InputError(f"{_describe_mismatch(file, other)}: name another file with --baseline.")
        return None
    if not options.update_baseline:
        raise InputError(f"{file}: there is no such baseline; write it with `--baseline {file} --update-baseline`.")
    return None


def _find_other_lock(read: Baseline, given: inputs.Inputs) -> str:
    """Return the lock file of the other runners that a baseline is about; empty if it is about this run's runners.

    A baseline without a lock file, as earlier versions wrote it, is recognised by the paths of its entries.
    """
    if read.lock:
        return read.lock if read.lock != given.lock_file else ""
    other = inputs.find_other_profile({path for _, path, *_ in read.counts}, given.config.profile)
    return other.lock_file if other is not None else ""


def _describe_mismatch(file: Path, lock: str) -> str:
    return f"{file} holds findings that were accepted for the runners of {lock}"


def _read_text(file: Path) -> str | None:
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: the baseline cannot be read ({error}); name another file.") from error


def apply_baseline(
    options: CheckOptions, given: inputs.Inputs, result: CheckResult
) -> tuple[tuple[Finding, ...], list[str]]:
    """Return the findings to report and remarks about the baseline, which ``--update-baseline`` writes.

    The writing is passed to ``options.postpone``. A baseline that is written for the first time accepts all findings of
    this run but those about what an upgrade left open.
    """
    file = options.baseline or given.config.baseline
    if file is None or result.baseline is None:
        return result.findings, []
    before = _read_text(file)
    if not options.update_baseline:
        read = baseline.load(before or "", path=str(file))
        if other := _find_other_lock(read, given):
            return result.findings, [f"{_describe_mismatch(file, other)}: it was not used"]
        return result.findings, _note_stale(result.stale, file)
    after = baseline.dump(replace(result.baseline, lock=given.lock_file))
    if before != after:
        _require_folder(file)
        change = FileChange(file.name, before, after)
        options.postpone(lambda tell: _write_baseline(change, file, tell))
    count = sum(result.baseline.counts.values())
    findings = tuple(baseline.drop_accepted(result.baseline, result.findings)) if before is None else result.findings
    accepts = f"{file} accepts {count} {'finding' if count == 1 else 'findings'} now"
    return findings, [accepts, *_note_never_accepted(findings)]


def _note_never_accepted(findings: Iterable[Finding]) -> list[str]:
    """Say of findings that no baseline accepts why they stay, and what settles them."""
    found = Counter(finding.code for finding in findings)
    return [
        f"{found[code]} of {code} {'stays' if found[code] == 1 else 'stay'}: no baseline accepts what an upgrade left "
        f"open; {remedy}"
        for code, remedy in baseline.NEVER_ACCEPTED.items()
        if found[code]
    ]


def _require_folder(file: Path) -> None:
    if not file.parent.is_dir():
        raise InputError(f"{file}: there is no directory {file.parent}; make it or name another baseline.")


def _write_baseline(change: FileChange, file: Path, tell: Tell) -> None:
    from runner_sync import write

    write.write([change], file.parent, tell=tell)


def _note_stale(entries: tuple[StaleEntry, ...], file: Path) -> list[str]:
    notes = [
        f"{file} accepts {entry.accepted} × {entry.code} `{entry.symbol}` in {entry.unit or entry.path}, and there is "
        f"{entry.found or 'none'}"
        for entry in entries[:_MOST_STALE]
    ]
    if len(entries) > _MOST_STALE:
        notes.append(f"and {len(entries) - _MOST_STALE} more stale entries")
    return [*notes, "shrink the baseline with --update-baseline"] if notes else []
