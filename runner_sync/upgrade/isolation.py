"""Keeps a mistake of this program in one unit, or in one step, from costing the rest of an upgrade.

Comes in: a piece of work, and what stands if it fails. Goes out: the result of one of the two. May touch: nothing.

An upgrade of thirty units that ends at the first unexpected exception is worth nothing to its user, although
twenty-nine units came through. So the unit stays as it is, or the step is left out, and a review item says so. Ruff
treats a file on which it panics alike. Only a run that asks for it is isolated (``Settings.isolates``), as those of the
command line are unless ``--traceback`` is given. Tests and replays end at the mistake.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from runner_sync.confidence import DEFECT
from runner_sync.errors import InputError, describe_mistake
from runner_sync.model import Provenance
from runner_sync.upgrade.draft import MODULE, Draft
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.questions.reviews import Shown, make_review

Made = TypeVar("Made")
Step = Callable[[Sequence[Draft]], Sequence[Draft]]


def attempt(job: ModuleJob, work: Callable[[], Made], otherwise: Callable[[str], Made]) -> Made:
    """Return ``work()``; if it fails by a mistake of this program, ``otherwise`` of a text that names the mistake.

    Bad input, a failing disk, too little memory, and sources that are nested too deeply are no such mistakes: these
    are raised. So is every exception if the run is not isolated.
    """
    try:
        return work()
    except (InputError, OSError, MemoryError, RecursionError):
        raise
    except Exception as error:
        if not job.settings.isolates:
            raise
        return otherwise(describe_mistake(error))


def take_steps(steps: Sequence[Step], drafts: Sequence[Draft], job: ModuleJob, *, purpose: str) -> list[Draft]:
    """Return the drafts after all steps, one after the other; a failing step is left out, with a question.

    ``purpose`` says what a step does: the question reads "a step that ``purpose`` failed".
    """
    for step in steps:
        drafts = attempt(job, partial(step, drafts), partial(_leave_out, drafts, job, purpose))
    return [*drafts]


def attempt_change(
    draft: Draft, job: ModuleJob, work: Callable[[], Draft], *, upstream: str, source: Provenance
) -> Draft:
    """Return ``work()``, which merges the change of ``source`` up to the text ``upstream`` into the draft.

    If it fails by a mistake of this program, returns the draft as `leave_alone` does.
    """
    return attempt(job, work, lambda why: leave_alone(draft, job, upstream=upstream, source=source, why=why))


def leave_alone(draft: Draft, job: ModuleJob, *, upstream: str, source: Provenance, why: str) -> Draft:
    """Return the draft as a unit that is not selected, with a question: the change of ``source`` was not merged."""
    shown = Shown(omni=draft.text, upstream=upstream, chosen=draft.text)
    from_gpu = source == "gpu"
    whose = "the GPU runner's" if from_gpu else "upstream's"
    reason = _word(f"{whose} change was not merged", why)
    item = make_review(draft, job.path, reason=reason, confidence=DEFECT, shown=shown, from_gpu=from_gpu)
    return replace(draft, chosen=False).with_questions(item)


def _leave_out(drafts: Sequence[Draft], job: ModuleJob, purpose: str, why: str) -> list[Draft]:
    """Return the drafts with one more, for a question about the module that says that a step is missing."""
    draft = Draft.for_question(MODULE)
    reason = _word(f"a step that {purpose} failed, so its questions and changes are missing", why)
    return [*drafts, draft.with_questions(make_review(draft, job.path, reason=reason, confidence=DEFECT))]


def _word(what: str, why: str) -> str:
    return f"{what}, by a mistake in runner-sync ({why}): run again with --traceback, and report what it prints"
