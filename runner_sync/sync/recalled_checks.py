"""Recalls what the rules found when they last looked at the same texts.

Comes in: a job without trees of vllm-ascend and vLLM, and codes. Goes out: ``Found``. May touch: the cache folder, and
what the job can read.

In CI and before commits, the same few files are checked again and again.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import astuple, replace
from typing import Any

from runner_sync.model import Finding
from runner_sync.sources import cache
from runner_sync.sync import recalled
from runner_sync.verify.check_job import CheckJob, TextReader
from runner_sync.verify.codes import Codes
from runner_sync.verify.hits import Found, Hit
from runner_sync.verify.mistakes import find_failed

_KIND = "checks"


def find(job: CheckJob, codes: Codes) -> Found:
    """Return ``rule_runs.find``, recalled if an earlier run had the same job and codes and read the same texts."""
    read = job.read
    if read is None or not _is_of_texts(job):
        return _run_rules(job, codes)
    key = _make_key(job, codes)
    known = _recall(key, read)
    if known is not None:
        return known
    recorder = recalled.Recorder(read)
    found = _run_rules(replace(job, read=recorder), codes)
    # An error at the branch's start, in a file or in a rule may be gone the next time.
    if found.branch_error is None and not recorder.has_failed and not find_failed(hit.finding for hit in found.hits):
        recalled.keep(_KIND, key, astuple(found), recorder.digests)
    return found


def _run_rules(job: CheckJob, codes: Codes) -> Found:
    from runner_sync.verify import rule_runs  # what is recalled needs no rule

    return rule_runs.find(job, codes)


def _is_of_texts(job: CheckJob) -> bool:
    """Whether the job consists of texts: what the rules read in whole trees is not recorded."""
    return not any((job.before, job.around, job.world, job.old_world, job.compared, job.branch_point))


def _make_key(job: CheckJob, codes: Codes) -> str:
    # Values with equal representations are equal: all are dataclasses, tuples and mappings of texts and numbers.
    return recalled.make_key(repr((job.profile, job.modules, job.beside, codes)))


def _recall(key: str, read: TextReader) -> Found | None:
    with suppress(*cache.OTHER_FORM):
        answer = recalled.recall(_KIND, key, read)
        return _unpack(answer) if answer is not None else None
    return None


# By hand, because importing a library for it would take a tenth of the time of a run that recalls.
def _unpack(row: list[Any]) -> Found:
    hits, ignored, is_whole, _, unfollowed, known = row
    return Found(tuple(map(_unpack_hit, hits)), ignored, is_whole, None, tuple(unfollowed), known)


def _unpack_hit(row: list[Any]) -> Hit:
    finding, also, is_branchs, is_text, is_done, home = row
    spans = tuple((path, first, last) for path, first, last in also)
    at_home = None if home is None else _unpack_finding(home)
    return Hit(_unpack_finding(finding), spans, is_branchs, is_text, is_done, at_home)


def _unpack_finding(row: list[Any]) -> Finding:
    *values, cause = row
    return Finding(*values) if cause is None else replace(Finding(*values), cause=_unpack_finding(cause))
