"""RS209 parity-lost: a branch took omni code out of an NPU method that its GPU twin still has.

What: statements that both twins had where the branch began, that the GPU twin still has, and that no NPU code has any
more. They were dropped (a warning), or replaced by another form (an `info`). The lock does not record the NPU method as
it is now.

Example: a pull request reverts a port, but only its NPU half: `self.flush_full_payload_outputs(flush_ids)` stays in
`GPUARModelRunner.execute_model` and goes from `NPUARModelRunner.execute_model`.

Why: nothing else tells. The lock says that NPU has this text of the GPU twin, which did not change (RS201), and the
next `upgrade` brings only what is newer.

Fix: put the statements back. Where NPU is meant to do without them, `runner-sync lock` records the method as it is.

Leaves alone: units that the lock records as they are now, as after an `upgrade`; statements that moved to other NPU
code or to what it inherits; log messages, imports and declarations; calls of a parent, where RS320 can look; what vLLM
or vllm-ascend has as well, where their text is at hand, and otherwise what stands outside the Omni-new blocks of a copy
and uses nothing that is known to be omni's, an import from omni or a member of a mixin (RS110 reports those edits);
methods that are gone (RS111, RS203). Needs the omni tree as it was (`check --changed-since`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property

from runner_sync.lineage import fingerprint, list_nodes
from runner_sync.model import Severity
from runner_sync.naming import project_of
from runner_sync.syntax import first_line, self_attributes_set
from runner_sync.verify.hits import Hit
from runner_sync.verify.runners.job import Subject
from runner_sync.verify.runners.locked import find_definition, is_edited, is_unchanged, outside_lines
from runner_sync.verify.runners.parity import Pair, make_pairs, read_upstream_canons, translate_to_npu
from runner_sync.verify.runners.reading import ClassText, Reading
from runner_sync.verify.runners.statement_pairs import UNTOLD, are_versions, quote_around_difference
from runner_sync.verify.runners.unlocked import find_twin_units

CODE = "RS209"
NAME = "parity-lost"
SEVERITY: Severity = "warning"
REPLACED: tuple[str, Severity] = (CODE, "info")
"""The code and severity for statements that the NPU method has in another form now."""


def find(subject: Subject) -> Iterator[Hit]:
    """Yield one finding per unit."""
    gpu, before = subject.gpu, subject.before
    if gpu is None or before is None or before.npu.text == subject.npu.text:
        return
    comparison = _Comparison(subject, before)
    recorded = {e.qualname for e in subject.module.entries if is_edited(e, subject.npu) is False}
    for name, twin in find_twin_units(subject):
        if name in recorded or name not in before.npu.units or is_unchanged(subject.npu, before.npu, name):
            continue
        lost, gained = comparison.find_lost(gpu, name, twin)
        if lost:
            yield _make_hit(subject, gpu, (name, twin), lost, gained)


class _Comparison:
    """One NPU module now and where the branch began."""

    def __init__(self, subject: Subject, before: Subject) -> None:
        self._subject = subject
        self._before = before

    def find_lost(self, gpu: Reading, name: str, twin: str) -> tuple[list[str], list[str]]:
        """Return the statements that a unit lost and its twin has, and those that the unit gained."""
        then, now = (fingerprint(side.npu.units[name].text) for side in (self._before, self._subject))
        there = self._read_twin(gpu, twin)
        if self._before.gpu is not None:
            there &= self._read_twin(self._before.gpu, twin)
        gone = then - now
        lost = [
            canon
            for canon in gone
            if there[canon] > now[canon]
            and not UNTOLD.match(canon)
            and not (self._subject.job.world is not None and "super()." in canon)
            and self._canons_now[canon] < self._canons_then[canon]
            and self._is_omnis(canon, name)
        ]
        return lost, [*(now - then)]

    def _read_twin(self, gpu: Reading, twin: str) -> Counter[str]:
        unit = gpu.units.get(twin)
        return Counter(fingerprint(translate_to_npu(unit.text, self._subject.profile)) if unit is not None else ())

    def _is_omnis(self, canon: str, name: str) -> bool:
        if self._subject.vllm is not None:
            return canon not in self._upstream_canons
        entry = next((e for e in self._before.module.entries if e.qualname == name), None)
        npu = self._before.npu
        outside = outside_lines(npu, name, label=self._subject.profile.marker)
        if entry is None or entry.upstream is None or outside is None:
            return True
        numbers, unit = {number for number, _ in outside}, npu.units[name]
        is_in_block = any(n.canon == canon and unit.start + n.start - 1 not in numbers for n in list_nodes(unit.text))
        return is_in_block or not self._omni_names.isdisjoint(re.findall(r"\w+", canon))

    @cached_property
    def _omni_names(self) -> frozenset[str]:
        """What only omni has, whatever is known of upstream: imports from omni, and members of its mixins."""
        npu, pairs = self._before.npu, make_pairs(self._before)
        imported = {n for n, rows in npu.imports.items() if any(project_of(r.module) == "vllm-omni" for r in rows)}
        mixins = {c.name: c for pair in pairs for c in pair.npu_mro.classes if _is_mixin(pair, c)}
        methods = [f for c in mixins.values() for functions in c.methods.values() for f in functions]
        members = {name for f in methods for name in (f.name, *self_attributes_set(f)) if not name.startswith("__")}
        return frozenset(imported | members)

    @cached_property
    def _upstream_canons(self) -> frozenset[str]:
        return read_upstream_canons(self._subject)

    @cached_property
    def _canons_now(self) -> Counter[str]:
        return _count_canons(self._subject)

    @cached_property
    def _canons_then(self) -> Counter[str]:
        return _count_canons(self._before)


def _is_mixin(pair: Pair, owner: ClassText, *below: ClassText) -> bool:
    """Whether a class derives from omni's classes alone, if any: none of its members is upstream's."""
    bases = [pair.library.find_class(owner.reading, base) for base in owner.node.bases]
    return owner not in below and all(base is not None and _is_mixin(pair, base, owner, *below) for base in bases)


def _count_canons(subject: Subject) -> Counter[str]:
    """Count the statements of an NPU module and of the other classes whose methods its classes run."""
    texts = [unit.text for unit in subject.npu.units.values()]
    classes = {c.name: c for pair in make_pairs(subject) for c in pair.npu_mro.classes}
    others = [c for c in classes.values() if c.reading is not subject.npu]
    texts += [c.reading.text_of(f) for c in others for functions in c.methods.values() for f in functions]
    return sum((Counter(fingerprint(text)) for text in texts), Counter[str]())


def _make_hit(subject: Subject, gpu: Reading, names: tuple[str, str], lost: Sequence[str], gained: list[str]) -> Hit:
    name, twin = names
    node = find_definition(gpu, twin)
    place = f"{gpu.path}:{first_line(node)}" if node is not None else gpu.path
    forms = {canon: next((new for new in gained if are_versions(canon, new)), "") for canon in lost}
    shown = next((canon for canon, form in forms.items() if not form), lost[0])
    quoted = [f"`{text}`" for text in quote_around_difference(shown, forms[shown])]
    more = f" (and {len(lost) - 1} more)" if len(lost) > 1 else ""
    now = f", and this unit has {quoted[1]} in its place now" if forms[shown] else ", and no NPU code has it any more"
    is_locked = any(entry.qualname == name for entry in subject.module.entries)
    record = (
        "`runner-sync lock` records that" if is_locked else f"`# runner-sync: ignore[{CODE}] reason` above this unit"
    )
    return subject.unit_hit(
        REPLACED if all(forms.values()) else (CODE, SEVERITY),
        subject.npu.units[name],
        symbol=twin,
        message=f"The branch took {quoted[0]}{more} out of this unit; the GPU twin `{twin}` ({place}) still has "
        f"it{now}.",
        fix=f"Put it back, or change the GPU twin, too; where NPU is meant to differ, {record}.",
    )
