"""Measure how often the inferred base is right.

Comes in: versions of vllm-ascend's runner module, the corpus. Goes out: ``Hits`` values. May touch: what
``runner_sync.sources`` touches.

Planted: omni's insertions are applied to a method of a known version, with all versions as candidates. The text
decides, not the version: versions with the same text of a method are the same base. Recorded: for every copied unit of
an omni release, the inferred base is compared with the release that the corpus names (which may be wrong, because
people sync partly).
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.corpus import ALIKE, measure_likeness, open_tree, select_cases
from benchmarks.deltas import plant
from benchmarks.planted import load_deltas
from benchmarks.upstreams import Version
from runner_sync import lineage
from runner_sync.lineage import timeline
from runner_sync.profile import NPU
from runner_sync.sync.trees import inputs
from runner_sync.units import texts

NEAR = 1
"""The maximum distance of a near miss, in different texts of a method."""


@dataclass(frozen=True, slots=True)
class Hits:
    """Of ``asked`` units, ``right`` bases were found exactly, ``near`` at most ``NEAR`` texts away.

    ``told`` lists the wrong answers, most frequent first (for recorded bases).
    """

    what: str
    asked: int
    right: int
    near: int
    told: str = ""


def score_planted(versions: Sequence[Version], count: int, *, seed: int = 1) -> Hits:
    """Infer the base of ``count`` plantings over all ``versions`` (oldest first)."""
    drawn = random.Random(seed)
    places = [(k, delta) for k in range(len(versions)) for delta in load_deltas()]
    drawn.shuffle(places)
    asked = right = near = 0
    for k, delta in places:
        if asked == count:
            break
        base = versions[k].methods.get(delta.method)
        kept = [one for one in delta.insertions if base is not None and plant(base, [one])]
        text = plant(base, kept) if base is not None and kept else None
        if base is None or text is None:
            continue
        known = list(dict.fromkeys(v.methods[delta.method] for v in versions if delta.method in v.methods))
        found = find_base(text, known)
        asked += 1
        right += found == base
        near += abs(known.index(found) - known.index(base)) <= NEAR
    return Hits(f"planted in {len(versions)} versions", asked, right, near)


def find_base(text: str, candidates: Sequence[str]) -> str:
    """Return the candidate that the tool takes as the base: the closest by lines, then by statements."""
    text_lines = timeline.count_lines(text)
    closest = sorted(
        range(len(candidates)), key=lambda k: (-lineage.dice(text_lines, timeline.count_lines(candidates[k])), k)
    )
    kept = sorted(closest[: timeline.KEPT])
    origin = lineage.find_origin(text, [lineage.Candidate(str(k), candidates[k]) for k in kept])
    assert origin is not None
    return origin.text


def score_recorded(versions: Sequence[Version]) -> list[Hits]:
    """Infer the base of every copied unit of the corpus's releases over all released versions."""
    known: dict[str, str] = {}
    for case in select_cases():
        known.setdefault(case.omni_before, case.ascend_base)
        known.setdefault(case.omni_after, case.ascend)
    return [_score_release(omni, ascend, versions) for omni, ascend in known.items()]


def _score_release(omni: str, ascend: str, versions: Sequence[Version]) -> Hits:
    by_ref = {version.ref: version for version in versions}
    asked = right = near = 0
    wrong: Counter[str] = Counter()
    for module in NPU.runners:
        place = inputs.read_first(open_tree("vllm-omni", omni), module.paths)
        for name, text in texts.members(place[1], module.name, place[0]).items() if place else ():
            base = by_ref[ascend].methods.get(name) if ascend in by_ref else None
            if base is None or measure_likeness(base, text) < ALIKE:
                continue
            candidates = [lineage.Candidate(v.ref, v.methods[name]) for v in versions if name in v.methods]
            origin = lineage.find_origin(text, candidates)
            assert origin is not None
            order = list(dict.fromkeys(candidate.text for candidate in candidates))
            asked += 1
            right += origin.text == base
            near += abs(order.index(origin.text) - order.index(base)) <= NEAR
            wrong[origin.ref] += origin.text != base
    others = ", ".join(f"{ref} ({count})" for ref, count in wrong.most_common() if count)
    return Hits(f"omni {omni}, recorded vllm-ascend {ascend}", asked, right, near, others)
