"""Replay upgrades that people made by hand, and score the tool against the released result (``replay``).

Comes in: ``ReplayOptions``; the cases are in ``corpus.toml``. Goes out: a ``Report`` with replay rows and hunks. May
touch: what ``sources`` touches.
"""

from __future__ import annotations

import difflib
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Literal

import msgspec

from runner_sync import score
from runner_sync.config import Config
from runner_sync.errors import InputError
from runner_sync.lock import Lock
from runner_sync.model import ReplayHunk, ReplayRow, Report, ReviewItem, mean_ratios
from runner_sync.profile import BUILT_IN
from runner_sync.statements import is_python
from runner_sync.sync import planning
from runner_sync.sync.options import Progress, TreeOptions
from runner_sync.sync.trees import inputs
from runner_sync.sync.trees.patched_tree import PatchedTree
from runner_sync.sync.upgrade_options import ReplayOptions, UpgradeOptions
from runner_sync.trees import Tree
from runner_sync.upgrade import ModuleResult


class Case(msgspec.Struct, frozen=True):
    """One hand-made upgrade of the runners of a built-in profile.

    ``ascend`` is empty if the runners follow vLLM. A case without ``omni_after``, the released result, is not replayed.
    """

    id: str
    omni_before: str
    vllm_before: str
    ascend: str = ""
    profile: Literal["npu", "gpu", "gpu-v2"] = "npu"
    omni_after: str = ""
    ascend_base: str = ""
    vllm_after: str = ""
    note: str = ""
    left_by_git: dict[str, float] = {}


class _Corpus(msgspec.Struct):
    case: list[Case]


@dataclass(frozen=True, slots=True)
class Replayed:
    """One replayed case: the tool's results, and by path the released texts (``truth``)."""

    case: Case
    results: tuple[ModuleResult, ...]
    truth: Mapping[str, str]
    seconds: float


def cases(path: Path | None = None) -> list[Case]:
    """Return the cases of a corpus file, or of the tool's own one; raise ``InputError`` if it cannot be read."""
    try:
        own = resources.files("runner_sync").joinpath("corpus.toml")
        text = path.read_text("utf-8") if path else own.read_text("utf-8")
        return [case for case in msgspec.toml.decode(text, type=_Corpus).case if case.omni_after]
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); name a corpus file that is there.") from error
    except msgspec.MsgspecError as error:
        raise InputError(f"{path or 'corpus.toml'}: is no corpus ({error}); see runner_sync/corpus.toml.") from error


def replay(options: ReplayOptions) -> Report:
    """Replay the named cases; raise ``InputError`` for an unknown case or an unreadable release."""
    known = {case.id: case for case in cases(options.corpus)}
    for name in options.cases:
        if name not in known:
            raise InputError(f"no case {name!r}: there are {', '.join(known)}.")
    done = [run(known[name], options) for name in options.cases or known]
    rows = tuple(row(item) for item in done)
    hunks = tuple(hunk for item in done for hunk in largest(item, options.hunks))
    return Report("replay", replay=rows, replay_hunks=hunks, summary=_compute_means(rows))


def run(case: Case, options: ReplayOptions, *, ascend: Tree | None = None) -> Replayed:
    """Repeat one upgrade: the old runners in the new omni tree, onto the case's vllm-ascend or ``ascend``.

    Uses the built-in configuration. Scores only the runners; workers are upgraded as well, but people hardly change
    them.
    """
    started = time.perf_counter()
    config = Config(profile=BUILT_IN[case.profile])
    before, after = (_open_omni(version, options.progress) for version in (case.omni_before, case.omni_after))
    old, truth = {}, {}
    for module in config.profile.runners:
        was, now = inputs.read_first(before, module.paths), inputs.read_first(after, module.paths)
        if was is not None and now is not None:
            old[now[0]], truth[now[0]] = was[1], now[1]
    given = inputs.Inputs(
        omni=PatchedTree(after, old),
        root=None,
        config=config,
        lock=Lock(),
        ascend=ascend or (inputs.open_at("vllm-ascend", case.ascend, None, options.progress) if case.ascend else None),
        vllm=inputs.open_at("vllm", case.vllm_after, None, options.progress),
    )
    results, *_ = planning.plan(_make_options(case, options), given)
    scored = tuple(result for result in results if result.path in truth)
    return Replayed(case, scored, truth, time.perf_counter() - started)


def _open_omni(version: str, progress: Progress) -> Tree:
    return inputs.open_at("vllm-omni", version, None, progress)


def _make_options(case: Case, options: ReplayOptions) -> UpgradeOptions:
    return UpgradeOptions(
        ascend_base=case.ascend_base or None,
        omni_base=case.omni_before,
        vllm_base=case.vllm_before,
        vllm=TreeOptions(version=case.vllm_after),
        gpu=options.gpu,
        progress=options.progress,
    )


def row(item: Replayed) -> ReplayRow:
    """Score one case."""
    total, kept = score.Score(), score.Score()
    silent, parses = 0, True
    for result in item.results:
        truth = item.truth[result.path]
        total += score.score_module(result.before, result.after, truth)
        kept += score.score_kept(result.before, result.after, truth)
        parses = parses and is_python(result.after)
        silent += sum(silent_errors(result, truth).values())
    return ReplayRow(
        case=item.case.id,
        work=total.work,
        left=total.left,
        effort_left=round(total.effort_left, 3),
        kept=round(kept.effort_left, 3),
        recall=round(total.recall, 3),
        precision=round(total.precision, 3),
        silent=silent,
        parses=parses,
        reviews=sum(len(result.reviews) for result in item.results),
        seconds=round(item.seconds, 1),
    )


def silent_errors(result: ModuleResult, truth: str) -> Counter[tuple[str, str]]:
    """Return the lines that the tool changed, people did not, and no review item shows, counted by sign and line."""
    old, made, new = (score.normalise(text) for text in (result.before, result.after, truth))
    wrong = score.changed_lines(old, made) - score.changed_lines(old, new)
    shown = {line for item in result.reviews for line in _shown_lines(item)}
    return Counter({key: count for key, count in wrong.items() if key[1].strip() not in shown})


def _shown_lines(item: ReviewItem) -> Iterable[str]:
    """Yield the lines of all texts of a review item."""
    for text in (item.base, item.omni, item.upstream, item.chosen):
        yield from (line.strip() for line in score.normalise_part(text).split("\n"))


def largest(item: Replayed, count: int) -> list[ReplayHunk]:
    """Return the ``count`` longest runs of lines that only the result or only the released text has."""
    found: list[ReplayHunk] = []
    for result in item.results:
        made, truth = (score.normalise(text).split("\n") for text in (result.after, item.truth[result.path]))
        for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, made, truth, autojunk=False).get_opcodes():
            sides = (("tool", made[i1:i2]), ("truth", truth[j1:j2])) if tag != "equal" else ()
            runs = [(side, lines) for side, lines in sides if lines]
            found += [ReplayHunk(item.case.id, result.path, side, len(rows), "\n".join(rows)) for side, rows in runs]
    return sorted(found, key=lambda hunk: -hunk.lines)[:count]


def _compute_means(rows: tuple[ReplayRow, ...]) -> dict[str, int | str]:
    if not rows:
        return {}
    means = {f"mean_{name}": f"{mean:.3f}" for name, mean in mean_ratios(rows).items()}
    return {"cases": len(rows), **means, "silent": sum(row.silent for row in rows)}
