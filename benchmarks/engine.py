"""Run runner-sync on a corpus case, whole or without one part (ablations).

Comes in: the name of a variant and of a case. Goes out: a ``Row``; as a program, that row as JSON on standard output.
May touch: what ``runner_sync.sources`` touches.

An ablation replaces one public function of a room by a poorer one. Each runs in its own process, so that variants share
no cache.
"""

from __future__ import annotations

import difflib
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, replace
from types import ModuleType
from typing import Any

from benchmarks import scoring
from benchmarks.chunks import Conflict, settle
from benchmarks.corpus import select_cases
from benchmarks.peers import merge_file
from runner_sync import merge, transforms
from runner_sync.errors import InputError
from runner_sync.markers import read_markers
from runner_sync.model import Triple
from runner_sync.sources import cache
from runner_sync.statements import parses
from runner_sync.sync import planning, replaying
from runner_sync.sync.upgrade_options import ReplayOptions
from runner_sync.transforms import class_names
from runner_sync.upgrade import ModuleJob, ModuleResult, ModuleRevision, upgrade_module

WHOLE = "runner-sync"


def run(variant: str, case_id: str) -> scoring.Row:
    """Run one variant on one case in this process. Raises ``InputError`` for unknown names."""
    if variant not in VARIANTS:
        raise InputError(f"no variant {variant!r}: there are {', '.join(VARIANTS)}.")
    case = select_cases([case_id])[0]
    if variant in WITHOUT_BASE:
        case = _drop_base(case)
    if variant != WHOLE:
        _forget_answers()
    VARIANTS[variant]()
    done = replaying.run(case, ReplayOptions(gpu=variant != "no GPU port"))
    return scoring.from_replay(WHOLE if variant == WHOLE else f"{WHOLE}, {variant}", replaying.row(done))


def measure(variant: str, case_id: str) -> scoring.Row:
    """Call ``run`` in a fresh process. Raises ``InputError`` with the last line of its error output."""
    command = [sys.executable, "-m", "benchmarks.engine", variant, case_id]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise InputError(f"{variant} on {case_id}: {done.stderr.strip().splitlines()[-1]}")
    return scoring.Row(**json.loads(done.stdout.splitlines()[-1]))


def _drop_base(case: replaying.Case) -> replaying.Case:
    fields: dict[str, Any] = {name: getattr(case, name) for name in case.__struct_fields__}
    return replaying.Case(**fields | {"ascend_base": ""})


def _replace_member(room: ModuleType, name: str, poorer: object) -> None:
    """Replace a room's name by ``poorer``. Raises ``InputError`` if it is missing, or the ablation would silently do
    nothing."""
    if name not in vars(room):
        raise InputError(f"{room.__name__} has no {name} any more: mend this ablation.")
    vars(room)[name] = poorer


def _forget_answers() -> None:
    """Disable the answer cache, so that the whole tool and an ablation do not share answers."""
    _replace_member(cache, "load_answer", lambda _what, _key: None)
    _replace_member(cache, "store_answer", lambda _what, _key, _answer: None)


def _keep_whole() -> None:
    """Remove nothing."""


def _use_nearest_release() -> None:
    """Use one base for every unit, and no revisions between releases, as a tool without lineage would."""

    def poorer(job: ModuleJob) -> ModuleResult:
        return upgrade_module(replace(job, upstream=replace(job.upstream, bases=_list_candidates(job)[:1])))

    _replace_member(planning, "upgrade_module", poorer)


def _list_candidates(job: ModuleJob) -> tuple[ModuleRevision, ...]:
    """Return the revisions that a unit may have been copied from."""
    return tuple(side for side in job.upstream.bases if side.is_base)


def _use_latest_release() -> None:
    """Use the release before the new one as every unit's base, as a tool without any base information would."""

    def poorer(job: ModuleJob) -> ModuleResult:
        return upgrade_module(replace(job, upstream=replace(job.upstream, bases=_list_candidates(job)[-2:-1])))

    _replace_member(planning, "upgrade_module", poorer)


def _use_line_merge() -> None:
    """Replace the structured merge by ``git merge-file``; each conflict is settled for omni and becomes a decision."""

    def poorer(triple: Triple, **_options: object) -> merge.Merged:
        parts = merge_file([triple])[0]
        text = settle(parts, "omni")
        decisions = tuple(
            merge.Decision(1, 1, merge.Reason("both changed a part"), 0.5, "", part.omni, part.upstream, part.omni)
            for part in parts
            if isinstance(part, Conflict)
        )
        return merge.Merged(text, decisions, parses(text))

    _replace_member(merge, "merge", poorer)


def _drop_rewrites() -> None:
    """Keep GPU names, except those of classes, without which no GPU unit would find its NPU twin."""
    _replace_member(transforms, "REWRITES", {"class_names": class_names.rewrite})


def _keep_only_marked() -> None:
    """Treat only code between Omni-new markers as omni's in copied units."""
    whole = merge.merge

    def poorer(triple: Triple, **options: Any) -> merge.Merged:
        if options.get("policy") is merge.PORT:
            return whole(triple, **options)
        return whole(replace(triple, omni=keep_marked(triple.base, triple.omni)), **options)

    _replace_member(merge, "merge", poorer)


def keep_marked(base: str, omni: str) -> str:
    """Return ``base`` with the marked blocks of ``omni`` in their places; ``omni`` if the result is not Python."""
    marked = {
        line for region in read_markers(omni, label="Omni-new").regions for line in range(region.start, region.end + 1)
    }
    old, new = base.splitlines(keepends=True), omni.splitlines(keepends=True)
    out: list[str] = []
    plain = [line.strip() for line in old], [line.strip() for line in new]
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, *plain, autojunk=False).get_opcodes():
        if tag == "equal":
            out += new[j1:j2]
        else:
            out += old[i1:i2] + [new[k] for k in range(j1, j2) if k + 1 in marked]
    text = "".join(out)
    return text if parses(text) else omni


VARIANTS: dict[str, Callable[[], None]] = {
    WHOLE: _keep_whole,
    "base inferred": _keep_whole,
    "no lineage, base told": _use_nearest_release,
    "no lineage, base guessed": _use_latest_release,
    "no structure": _use_line_merge,
    "no GPU port": _keep_whole,
    "no rewrites": _drop_rewrites,
    "markers only": _keep_only_marked,
}
"""The ablations by name."""

WITHOUT_BASE = ("base inferred", "no lineage, base guessed")
"""Variants that are not given the release that the runners were last synced to."""


if __name__ == "__main__":
    print(json.dumps(asdict(run(*sys.argv[1:3]))))
