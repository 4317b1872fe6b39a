"""Finds attributes of ``self`` that the GPU twin renamed everywhere, and renames them in the texts of a port.

Comes in: the twin's units, old and new, and the texts of a port. Goes out: names, and texts. May touch: nothing.

A merge would see a change in every statement with the name. Where NPU has one of these in another form, the attribute
would be set under one name and read under the other. Renamed beforehand, only the other changes are left::

    GPU twin   self.kept_ids = None         NPU       ids = getattr(self, "kept_ids", None)
                                                      self.kept_ids = None
    now        self.moved_ids = None        ported    ids = getattr(self, "moved_ids", None)
                                                      self.moved_ids = None

Leaves alone: a name that the twin still has, or had before; one that vllm-ascend's module, or NPU's, has in the other
sense; methods, whose definitions are units of their own.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from runner_sync.model import Triple
from runner_sync.statements import first_function
from runner_sync.texts.member_text import canonical
from runner_sync.thresholds import MOST_OF_THE_USES
from runner_sync.upgrade.from_gpu.twin.gpu_side import GpuSide
from runner_sync.upgrade.from_gpu.twin.readings import translate_units
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.revision import ModuleRevision

_WORD = re.compile(r"\b[A-Za-z_]\w*\b")
_ATTRIBUTE = re.compile(r"\bself\.([A-Za-z_]\w*)")

_Module = tuple[str, Mapping[str, str]]
"""The text of a module of the twin, and its units."""

_FEWEST = 2
"""An attribute in a single statement may as well be another one."""


@dataclass(frozen=True, slots=True)
class Renames:
    """The attributes that the twin renamed, cached per revision."""

    job: ModuleJob
    _known: dict[tuple[str, str], Mapping[str, str]] = field(default_factory=dict)

    def apply(self, sides: Triple, then: ModuleRevision, side: GpuSide) -> Triple:
        """Return the texts of a port since ``then``, with the new names in the base and in omni's."""
        key = (then.text, side.module_text)
        if key not in self._known:
            old = translate_units(self.job, then)
            self._known[key] = _find_renamed(self.job, (then.text, old), (side.module_text, side.new))
        return rename_in_sides(sides, self._known[key])


def _find_renamed(job: ModuleJob, then: _Module, now: _Module) -> dict[str, str]:
    """Return the old and new name of each attribute that the twin renamed everywhere."""
    (_, old), (_, new) = then, now
    upstream = job.upstream.new.text if job.upstream.new is not None else ""
    before, after = (_list_words([text, *units.values()]) for text, units in (then, now))
    methods = {name.rpartition(".")[2] for name, text in old.items() if first_function(text) is not None}
    gone = _list_attributes(old.values()) - after - methods - _list_words([upstream])
    come = _list_attributes(new.values()) - before - _list_words([job.text, upstream])
    return _pair(gone, come, old, new) if gone and come else {}


def rename_in_sides(sides: Triple, renamed: Mapping[str, str]) -> Triple:
    """Return the texts of a port with the new names in the base and in omni's; unchanged if omni's has none of them."""
    words = set(_WORD.findall(sides.omni)) & renamed.keys()
    if not words:
        return sides
    pattern = re.compile(rf"\b(?:{'|'.join(sorted(words))})\b")
    base, omni = (pattern.sub(lambda match: renamed[match[0]], text) for text in (sides.base, sides.omni))
    return Triple(base, omni, sides.upstream)


def _list_words(texts: Iterable[str]) -> set[str]:
    return {word for text in texts for word in _WORD.findall(text)}


def _list_attributes(texts: Iterable[str]) -> set[str]:
    return {name for text in texts for name in _ATTRIBUTE.findall(text)}


def _pair(gone: set[str], come: set[str], old: Mapping[str, str], new: Mapping[str, str]) -> dict[str, str]:
    """Pair names if most statements with the old one are there with the new one, and no other pair has either."""
    had, have = (_index_statements(units.values(), names) for units, names in ((old, gone), (new, come)))
    found: dict[str, str] = {}
    for was in sorted(gone):
        fits = [now for now in sorted(come) if _is_renamed(was, now, had[was], have[now])]
        if len(fits) == 1:
            found[was] = fits[0]
    taken = Counter(found.values())
    return {was: now for was, now in found.items() if taken[now] == 1}


def _index_statements(texts: Iterable[str], names: set[str]) -> Mapping[str, Counter[str]]:
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for text in texts:
        for canon in canonical(text):
            for name in names.intersection(_WORD.findall(canon)):
                found[name][canon] += 1
    return found


def _is_renamed(was: str, now: str, had: Counter[str], have: Counter[str]) -> bool:
    renamed = Counter({re.sub(rf"\b{was}\b", now, canon): count for canon, count in had.items()})
    same = (renamed & have).total()
    return same >= _FEWEST and same >= MOST_OF_THE_USES * max(had.total(), have.total())
