"""RS208 behind-twin: a GPU method changed since its NPU twin was brought in line with it, and the twin did not follow.

What: without a lock, the base of the NPU method is the revision of the GPU method that it resembles most, among the
last vllm-omni releases or the commits since somebody aligned the two. Since that base the GPU method has replaced a
statement that the NPU method still has, or gained one between two statements that are adjacent on NPU. Where the two
were nearly alike, any added or dropped statement is reported. Helpers whose statements NPU has in place of their calls
belong to the method. Only omni's statements count: those that are in neither vLLM's module nor vllm-ascend's.

Example: from vllm-omni 0.28 on, the answer for a request whose last stage is unknown is no longer remembered: the GPU
runner returns it first, and then has `needs_payload = final_stage_id > 0`. The NPU runner of 0.28.0 has the old
`needs_payload = final_stage_id is None or final_stage_id > 0`.

Why: 35 of the 156 recorded breakages are a change of the GPU runner that never reached NPU. Without a lock no other
rule sees such a change if it brings no new name. Each of the 39 methods reported in twelve releases is behind as the
finding says. Of the 3854 lines that people changed in methods in ten upgrades, `check` reports the methods of 3839 with
this rule, and of 3747 without it.

Fix: `runner-sync upgrade --gpu-only --only UNIT --omni-base REF` ports the change since the revision that the finding
names. `runner-sync lock` then records what was ported, so that RS201 reports the next change exactly. Where NPU stays
as it is on purpose, write `# runner-sync: ignore[RS208:SYMBOL@STATE] reason` above the method, as the finding gives it.

Leaves alone: (timid) units that NPU wrote in its own words, code that needs the GPU or comes to nothing without it (as
RS202 and RS207 tell it), statements that NPU has elsewhere in the module, attributes that no NPU code reads, log
messages, labels for a profiler, declarations, imports, heads of functions (RS104, RS305), statements that construct or
unpack records (RS205). Silent where a lock records GPU units (RS201) and no `--omni-base` names a revision, where no
earlier vllm-omni is at hand, and without vLLM's text.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise, product

from runner_sync.lineage import fingerprint, list_nodes, similarity
from runner_sync.lineage.alignment import aligned_with
from runner_sync.lineage.inlined import find_twin_helpers
from runner_sync.model import Severity
from runner_sync.syntax import Function, first_line
from runner_sync.verify.hits import Hit
from runner_sync.verify.runners.drift import compare_statements
from runner_sync.verify.runners.idle_statements import find_idle_canons
from runner_sync.verify.runners.job import Subject
from runner_sync.verify.runners.locked import code_hash, find_definition, hash_text
from runner_sync.verify.runners.parity import (
    attribute_of_record,
    is_device_bound,
    make_pairs,
    read_canons,
    read_upstream_canons,
    read_upstream_words,
)
from runner_sync.verify.runners.reading import Reading
from runner_sync.verify.runners.statement_pairs import (
    UNTOLD,
    are_alike,
    are_versions,
    have_same_target,
    measure_likeness,
    quote_around_difference,
)
from runner_sync.verify.runners.unlocked import find_twin_units, key_by_npu_name, read_unit_texts

CODE = "RS208"
NAME = "behind-twin"
SEVERITY: Severity = "warning"

ALIGNED = 0.85
"""From this Dice coefficient of statements on, two methods were nearly alike.

One statement more or less in the twin is then no rewording on NPU.
"""

_OF_SELF = re.compile(r"self\.(\w+)(?:: [^=]+)? = ")


def find(subject: Subject) -> Iterator[Hit]:
    """Yield one finding per unit."""
    gpu = subject.gpu
    if gpu is None or subject.vllm is None or not subject.module.gpu_units:
        return
    context = _ModuleContext(subject, gpu)
    for name, twin in find_twin_units(subject):
        if (lag := context.find_lag(name, twin)) is not None:
            yield _make_hit(subject, gpu, lag)


@dataclass(frozen=True, slots=True)
class _Lag:
    """What the NPU unit ``name`` lacks of its ``twin`` since a revision, and has that the twin dropped.

    ``helpers`` are methods that the twin calls and whose statements the unit has in place.
    """

    name: str
    twin: str
    helpers: tuple[str, ...]
    since: str
    missing: Sequence[str]
    leftover: Sequence[str]
    own: Sequence[str]
    """The statements of the unit."""


def _is_behind(
    missing: Sequence[str], leftover: Sequence[str], own_text: str, *, base: str, now: str, is_vllms: bool
) -> bool:
    """Whether statements that a unit lacks, or still has, show that it is behind its twin.

    They do if one is a version of the other (any two, in a method that vLLM does not have), if the unit is like the
    ``base``, or if something is missing between two statements that the twin has ``now``.
    """
    both = [*product(leftover, missing)]
    is_replaced = any(are_versions(*pair) for pair in both) if is_vllms else bool(both)
    is_alike = bool(missing or leftover) and similarity(own_text, base) >= ALIGNED
    return is_replaced or is_alike or _is_inserted_between(missing, own_text, now)


class _ModuleContext:
    """The code around the units of one module."""

    def __init__(self, subject: Subject, gpu: Reading) -> None:
        self._subject = subject
        self._gpu = gpu
        self._profile = subject.profile

    def find_lag(self, name: str, twin: str) -> _Lag | None:
        """Return how a unit is behind its twin, or ``None``."""
        sides = (self._subject.npu, name), (self._gpu, twin)
        if not all(isinstance(find_definition(*side), Function) and side[1] in side[0].units for side in sides):
            return None
        npu_units, present = read_unit_texts(self._subject)
        tables = [(ref, units) for ref, units in self._earlier if name in units] + [("", present)]
        helpers = sorted({helper for _, units in tables for helper in find_twin_helpers(name, npu_units, units)})
        own_text, written = npu_units[name], [units[name] for _, units in tables]
        whole = ["\n".join(units[one] for one in (name, *helpers) if one in units) for _, units in tables]
        if len({*whole}) == 1:
            return None
        compared = written if len({*written}) > 1 else whole  # if the twin is the same, only its helpers can tell
        nearest = aligned_with(own_text, compared, compared[-1])
        since, base, now = tables[nearest][0], whole[nearest], whole[-1]
        is_vllms = twin.rpartition(".")[2] in self._vllm_methods
        missing, leftover = self._find_changed(base, now, own_text, helpers=helpers, is_vllms=is_vllms)
        if _is_behind(missing, leftover, own_text, base=base, now=now, is_vllms=is_vllms) and missing:
            idle = self._find_idle_canons(twin)  # only now, because what comes to nothing takes long to tell
            missing = [canon for canon in missing if canon not in idle]
        if not _is_behind(missing, leftover, own_text, base=base, now=now, is_vllms=is_vllms):
            return None
        used = tuple(self._profile.gpu_name(helper) for helper in helpers if helper in present)
        return _Lag(name, twin, used, since, missing, leftover, tuple(fingerprint(own_text)))

    def _find_changed(
        self, base: str, now: str, own_text: str, *, helpers: Collection[str], is_vllms: bool
    ) -> tuple[list[str], list[str]]:
        """Return the relevant statements that a unit lacks of its twin now, and those that it still has of the base.

        A call of one of the ``helpers`` is not missing: the unit has their code in place.
        """
        found = compare_statements(base, now, own_text)
        called = {helper.rpartition(".")[2] for helper in helpers}
        missing = [
            canon
            for canon in found.missing
            if canon not in self._npu_canons
            and self._is_relevant(canon, is_vllms=is_vllms)
            and not called.intersection(re.findall(r"self\.(\w+)\(", canon))
        ]
        return missing, [canon for canon in found.leftover if self._is_relevant(canon, is_vllms=is_vllms)]

    def _find_idle_canons(self, twin: str) -> frozenset[str]:
        """Return the statements of a GPU method that come to nothing on NPU."""
        owner, _, method = twin.rpartition(".")
        pair = next((one for one in make_pairs(self._subject) if one.gpu.name == owner), None)
        functions = pair.gpu.methods.get(method, ()) if pair is not None else ()
        return find_idle_canons(pair, functions[-1]) if pair is not None and functions else frozenset()

    def _is_relevant(self, canon: str, *, is_vllms: bool) -> bool:
        """Whether a changed statement is omni's and matters on NPU.

        Heads, log messages, labels for a profiler, declarations, code that needs the GPU, and assignments to attributes
        that no NPU code reads do not matter. In a method that vLLM has, too (``is_vllms``), a statement is omni's
        only if it has a word that neither upstream has: other changes came with a newer vLLM, and reach NPU through
        vllm-ascend.
        """
        mentioned = set(re.findall(r"\w+", canon))
        if UNTOLD.match(canon) or canon in self._upstream_canons:
            return False
        if not mentioned.isdisjoint(self._record_names):
            return False
        if is_device_bound(canon, self._profile) or not self._bound_names.isdisjoint(mentioned):
            return False
        if is_vllms and mentioned <= self._upstream_words:
            return False
        stored = _OF_SELF.match(canon)
        return stored is None or stored[1] in self._npu_mentions

    @cached_property
    def _earlier(self) -> list[tuple[str, dict[str, str]]]:
        """The earlier units of the twin's module as NPU would spell them, by NPU name, each with its revision."""
        revisions = self._subject.module.gpu_units.items()
        return [(ref, key_by_npu_name(units, self._profile)) for ref, units in revisions]

    @cached_property
    def _upstream_canons(self) -> frozenset[str]:
        return read_upstream_canons(self._subject)

    @cached_property
    def _upstream_words(self) -> frozenset[str]:
        return read_upstream_words(self._subject)

    @cached_property
    def _vllm_methods(self) -> frozenset[str]:
        """The methods of vLLM's module."""
        vllm = self._subject.vllm
        return frozenset(name for c in vllm.classes.values() for name in c.methods) if vllm is not None else frozenset()

    @cached_property
    def _record_names(self) -> frozenset[str]:
        """The records that methods pass to each other, and the attributes that hold them."""
        return frozenset(name for record in self._profile.handovers for name in (record, attribute_of_record(record)))

    @cached_property
    def _npu_canons(self) -> frozenset[str]:
        return read_canons(self._subject.npu)

    @cached_property
    def _bound_names(self) -> frozenset[str]:
        return frozenset[str]().union(*(pair.bound_names for pair in make_pairs(self._subject)))

    @cached_property
    def _npu_mentions(self) -> frozenset[str]:
        return frozenset[str]().union(*(pair.npu_mentions for pair in make_pairs(self._subject)))


def _is_inserted_between(missing: Collection[str], own_text: str, twin_text: str) -> bool:
    """Whether the twin has some of the ``missing`` statements between two that are adjacent in the unit."""
    own_canons, twin_canons = (
        [node.canon for node in list_nodes(text) if not node.is_comment] for text in (own_text, twin_text)
    )
    neighbours = set(pairwise(own_canons))
    kept = [at for at, canon in enumerate(twin_canons) if canon not in missing]
    return any(b > a + 1 and (twin_canons[a], twin_canons[b]) in neighbours for a, b in pairwise(kept))


def _make_hit(subject: Subject, gpu: Reading, lag: _Lag) -> Hit:
    names = (lag.twin, *lag.helpers)
    nodes = [node for name in names if (node := find_definition(gpu, name)) is not None]
    codes = [code_hash(gpu, name) for name in names]
    state = (hash_text(" ".join(codes)) if lag.helpers else codes[0])[:12]
    with_helpers = f", with {', '.join(f'`{name}`' for name in lag.helpers)}," if lag.helpers else ""
    hit = subject.unit_hit(
        (CODE, SEVERITY),
        subject.npu.units[lag.name],
        symbol=lag.twin,
        message=f"The GPU twin `{lag.twin}` ({gpu.path}:{first_line(nodes[0])}){with_helpers} changed since vllm-omni "
        f"{lag.since}: {_describe_lag(lag)}.",
        fix=f"`runner-sync upgrade --gpu-only --only {lag.name} --omni-base {lag.since}` ports the change; where "
        "it is not for NPU, "
        f"`# runner-sync: ignore[{CODE}:{lag.twin}@{state}] reason` above this unit.",
        also=tuple(map(gpu.span_of, nodes)),
    )
    return replace(hit, finding=replace(hit.finding, state=state))


def _describe_lag(lag: _Lag) -> str:
    """Describe what the twin lost and gained by the two most similar statements, and count the rest.

    If the unit still has no lost statement, a statement of the unit that resembles a gained one is shown instead.
    """
    leftover, missing = lag.leftover, lag.missing
    alike = (own for own, gained in product(lag.own, missing) if have_same_target(own, gained))
    candidates = leftover or [own for own in alike if any(are_alike(own, gained) for gained in missing)]
    pairs_of_both = product(candidates or [""], missing or [""])
    lost, gained = max(pairs_of_both, key=lambda pair: (are_versions(*pair), measure_likeness(*pair)))
    quoted = [f"`{text}`" for text in quote_around_difference(lost, gained)]
    if lost and gained and are_versions(lost, gained):
        still = "still " if leftover else ""
        what = f"in place of {quoted[0]}, which is {still}here, it has {quoted[1]}"
    else:
        parts = [f"lost {quoted[0]}, which is still here"] * bool(lost)
        parts += [f"gained {quoted[1]}, which is not here"] * bool(gained)
        what = f"it {', and '.join(parts)}"
    more = len(leftover) + len(missing) - bool(lost and leftover) - bool(gained)
    return what + (f" (and {more} more)" if more else "")
