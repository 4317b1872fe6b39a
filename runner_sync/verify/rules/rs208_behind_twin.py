"""RS208 behind-twin: a GPU method changed since its NPU twin was brought in line with it, and the twin did not follow.

What: without a lock, the revision of the GPU method that the NPU method was last aligned with is the one it is most
like, among the last vllm-omni releases, or the commits since somebody aligned the two. Since then the GPU method has
exchanged a statement that the NPU method still has, or gained one between two that follow each other there; where the
two were nearly alike, any statement more or less is told. Only omni's statements count: those that neither vLLM's
module nor vllm-ascend's has.

Example: from vllm-omni 0.28 on a request whose last stage is not known needs no payload for a stage behind it
(`needs_payload = final_stage_id > 0`, was `final_stage_id is None or final_stage_id > 0`). The NPU runner of 0.28.0 has
the old line.

Why: 35 of the 156 recorded breakages are a change of the GPU runner that never reached NPU. Where such a change brings
no new name, no other rule can see it without a lock. Each of 39 methods told in twelve releases is behind as it says;
with this rule 3842 of the 3854 lines that people changed in methods in ten upgrades are in methods that `check` tells
of, without it 3747.

Fix: `runner-sync upgrade --gpu-only --only UNIT --omni-base REF` ports the change since the revision that the finding
names, and `runner-sync lock` records what was ported, so that RS201 tells of the next one exactly. Where NPU stays as
it is on purpose, write `# runner-sync: ignore[RS208:SYMBOL@STATE] reason` above the method, as the finding says it.

Leaves alone: (timid) units that NPU wrote in its own words, code that needs the GPU, statements that NPU has somewhere
else in the module, attributes that no NPU code reads, log messages, imports, heads of functions (RS104, RS305), what
makes records or takes them apart (RS205), and everything where a lock records GPU units (RS201) and no `--omni-base`
names a revision, where no earlier vllm-omni is at hand, or vLLM's text is not.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise, product

from runner_sync.lineage import fingerprint, nodes_of, similarity
from runner_sync.lineage.alignment import aligned_with
from runner_sync.model import Severity
from runner_sync.statements import likeness
from runner_sync.syntax import first_line
from runner_sync.verify.runners.drift import difference
from runner_sync.verify.runners.job import Subject
from runner_sync.verify.runners.locked import code_hash, definition
from runner_sync.verify.runners.parity import in_npu_words, is_device_bound, pairs, words
from runner_sync.verify.runners.reading import Function, Hit, Reading, shortened
from runner_sync.verify.runners.spots import unit_hit
from runner_sync.verify.runners.unlocked import twin_units

CODE = "RS208"
NAME = "behind-twin"
SEVERITY: Severity = "warning"

ALIGNED = 0.85
"""Dice coefficient of statements from which on two methods were nearly alike, so that one statement more or less in
the twin is no matter of NPU's own words."""

_VERSIONS = 0.5
"""Dice coefficient of words from which on a message calls two statements versions of one; a judgement."""

_MOST = 80
"""Length up to which a statement is quoted."""

_TAIL = 20
"""How much of what differs must fit into that."""

_HEAD = re.compile(r"(?:async )?def |@|import |from ")
_OF_SELF = re.compile(r"self\.(\w+)(?:: [^=]+)? = ")


def find(subject: Subject) -> Iterator[Hit]:
    """One finding per unit."""
    gpu = subject.gpu
    if gpu is None or subject.vllm is None or not subject.module.gpu_units:
        return
    around = _Surroundings(subject, gpu)
    for name, twin in twin_units(subject):
        if (behind := around.compare(name, twin)) is not None:
            yield _hit(subject, gpu, behind)


@dataclass(frozen=True, slots=True)
class _Behind:
    """The unit ``name`` lacks what its ``twin`` gained ``since`` a revision, and has what that lost."""

    name: str
    twin: str
    since: str
    missing: Sequence[str]
    leftover: Sequence[str]
    own: Sequence[str]
    """The statements of the unit."""


class _Surroundings:
    """What is known of the code around the units of one module."""

    def __init__(self, subject: Subject, gpu: Reading) -> None:
        self._subject = subject
        self._gpu = gpu
        self._profile = subject.profile

    def compare(self, name: str, twin: str) -> _Behind | None:
        """How a unit is behind its twin, if it is."""
        sides = (self._subject.npu, name), (self._gpu, twin)
        if not all(isinstance(definition(*side), Function) and side[1] in side[0].units for side in sides):
            return None
        written = self._gpu.units[twin].text
        known = [(ref, units[twin]) for ref, units in self._subject.module.gpu_units.items() if twin in units]
        if all(text == written for _, text in known):
            return None
        mine, now = self._subject.npu.units[name].text, in_npu_words(written, self._profile)
        earlier = [(ref, in_npu_words(text, self._profile)) for ref, text in known]
        revisions = [*earlier, ("", now)]
        since, base = revisions[aligned_with(mine, [text for _, text in revisions], now)]
        found = difference(base, now, mine)
        is_mixed = twin.rpartition(".")[2] in self._namesakes
        missing = [canon for canon in found.missing if canon not in self._npus and self._is_told(canon, is_mixed)]
        leftover = [canon for canon in found.leftover if self._is_told(canon, is_mixed)]
        both = [*product(leftover, missing)]
        is_replaced = any(_are_versions(*pair) for pair in both) if is_mixed else bool(both)
        is_alike = bool(missing or leftover) and similarity(mine, base) >= ALIGNED
        if is_replaced or is_alike or _is_between(missing, mine, now):
            return _Behind(name, twin, since, missing, leftover, tuple(fingerprint(mine)))
        return None

    def _is_told(self, canon: str, is_mixed: bool) -> bool:
        """Whether a statement is omni's, and no head, no log message, nothing that needs the GPU, and nothing that sets
        what no NPU code reads. In a method that vLLM has, too (``is_mixed``), omni's are those that name something of
        omni's: what else changed there came with a newer vLLM, and comes to NPU with vllm-ascend."""
        mentioned = set(re.findall(r"\w+", canon))
        if _HEAD.match(canon) or canon.startswith("logger.") or canon in self._upstreams:
            return False
        if not mentioned.isdisjoint(self._records):
            return False
        if is_device_bound(canon, self._profile) or not self._bound.isdisjoint(mentioned):
            return False
        if is_mixed and mentioned <= self._heard_of:
            return False
        stored = _OF_SELF.match(canon)
        return stored is None or stored[1] in self._mentioned

    @cached_property
    def _others(self) -> tuple[Reading, ...]:
        """vLLM's module and vllm-ascend's."""
        return tuple(one for one in (self._subject.vllm, self._subject.upstream) if one is not None)

    @cached_property
    def _upstreams(self) -> frozenset[str]:
        return frozenset(canon for one in self._others for canon in _canons(one))

    @cached_property
    def _heard_of(self) -> frozenset[str]:
        return frozenset[str]().union(*map(words, self._others))

    @cached_property
    def _namesakes(self) -> frozenset[str]:
        """The methods of vLLM's module."""
        vllm = self._subject.vllm
        return frozenset(name for c in vllm.classes.values() for name in c.methods) if vllm is not None else frozenset()

    @cached_property
    def _records(self) -> frozenset[str]:
        """The records that methods hand to each other, and the attributes that hold them."""
        return frozenset(name for record in self._profile.handovers for name in (record, _in_snake_case(record)))

    @cached_property
    def _npus(self) -> frozenset[str]:
        return frozenset(_canons(self._subject.npu))

    @cached_property
    def _bound(self) -> frozenset[str]:
        return frozenset[str]().union(*(pair.bound_names for pair in pairs(self._subject)))

    @cached_property
    def _mentioned(self) -> frozenset[str]:
        return frozenset[str]().union(*(pair.npu_mentions for pair in pairs(self._subject)))


def _is_between(missing: Collection[str], mine: str, now: str) -> bool:
    """Whether the twin has some of the ``missing`` statements between two that follow each other in the unit."""
    own, theirs = ([node.canon for node in nodes_of(text) if not node.is_comment] for text in (mine, now))
    neighbours = set(pairwise(own))
    kept = [at for at, canon in enumerate(theirs) if canon not in missing]
    return any(b > a + 1 and (theirs[a], theirs[b]) in neighbours for a, b in pairwise(kept))


def _in_snake_case(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def _canons(reading: Reading) -> Iterable[str]:
    return (canon for unit in reading.units.values() for canon in fingerprint(unit.text))


def _hit(subject: Subject, gpu: Reading, behind: _Behind) -> Hit:
    node, unit = definition(gpu, behind.twin), subject.npu.units[behind.name]
    assert node is not None
    state = code_hash(gpu, behind.twin)[:12]
    hit = unit_hit(
        subject,
        (CODE, SEVERITY),
        unit,
        symbol=behind.twin,
        message=f"The GPU twin `{behind.twin}` ({gpu.path}:{first_line(node)}) changed since vllm-omni {behind.since}: "
        f"{_said(behind)}.",
        fix=f"`runner-sync upgrade --gpu-only --only {behind.name} --omni-base {behind.since}` ports the change; where "
        "it is not for NPU, "
        f"`# runner-sync: ignore[{CODE}:{behind.twin}@{state}] reason` above this unit.",
        also=(gpu.span_of(node),),
    )
    return replace(hit, finding=replace(hit.finding, state=state))


def _said(behind: _Behind) -> str:
    """What the twin lost and gained, by two statements that are most alike, and how many more there are.

    Where nothing that it lost is here, a statement here that the gained one is a version of is shown instead.
    """
    leftover, missing = behind.leftover, behind.missing
    alike = (own for own, gained in product(behind.own, missing) if _have_one_target(own, gained))
    here = leftover or [own for own in alike if any(_likeness(own, gained) >= _VERSIONS for gained in missing)]
    pairs_of_both = product(here or [""], missing or [""])
    lost, gained = max(pairs_of_both, key=lambda pair: (_are_versions(*pair), _likeness(*pair)))
    quoted = [f"`{text}`" for text in _around_difference(lost, gained)]
    if lost and gained and _are_versions(lost, gained):
        still = "still " if leftover else ""
        what = f"in place of {quoted[0]}, which is {still}here, it has {quoted[1]}"
    else:
        parts = [f"lost {quoted[0]}, which is still here"] * bool(lost)
        parts += [f"gained {quoted[1]}, which is not here"] * bool(gained)
        what = f"it {', and '.join(parts)}"
    more = len(leftover) + len(missing) - bool(lost and leftover) - bool(gained)
    return what + (f" (and {more} more)" if more else "")


def _around_difference(lost: str, gained: str) -> list[str]:
    """Both statements, shortened; where what differs would be cut off, without what they have in common before it."""
    pairs_of_both = enumerate(zip(lost, gained, strict=False))
    common = next((at for at, (a, b) in pairs_of_both if a != b), min(len(lost), len(gained)))
    if common < _MOST - _TAIL or not lost or not gained:
        return [shortened(canon, most=_MOST) for canon in (lost, gained)]
    start = common - _MOST // 2
    return [f"…{shortened(canon[start:], most=_MOST)}" for canon in (lost, gained)]


def _are_versions(lost: str, gained: str) -> bool:
    """Whether one statement came for the other: most of their words are the same, or they assign to the same target."""
    return _likeness(lost, gained) >= _VERSIONS or _have_one_target(lost, gained)


def _have_one_target(lost: str, gained: str) -> bool:
    target, is_assigned, _ = lost.partition(" = ")
    return bool(is_assigned) and gained.startswith(f"{target} = ")


def _likeness(lost: str, gained: str) -> float:
    return likeness.dice(likeness.words(lost), likeness.words(gained))
