"""Modules of the GPU twin and of vLLM in NPU words.

Comes in: a ``ModuleJob`` and a revision. Goes out: texts of units by their NPU names. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from runner_sync import lineage
from runner_sync.units import texts
from runner_sync.upgrade.job import ModuleJob, ModuleRevision
from runner_sync.upgrade.npu_words import InNpuWords


def translated_units(job: ModuleJob, side: ModuleRevision) -> Mapping[str, str]:
    """The twin's units at one revision, translated, by their NPU names."""
    return translated(job, side).units


def translated(job: ModuleJob, side: ModuleRevision) -> InNpuWords:
    """A revision of the twin in NPU words; of the new one also what was left in GPU words."""
    is_new = job.twin.new is not None and side.text == job.twin.new.text
    return job.twin.translation.module(side.text, job.profile, side.path, is_new)


def vllm_unit(job: ModuleJob, side: ModuleRevision, name: str) -> str:
    """vLLM's own text of the unit that is called ``name`` on NPU; empty if vLLM has none."""
    origin = f"{job.profile.vllm_of(job.module).name}.{name.rpartition('.')[2]}" if "." in name else name
    return texts.unit_texts(side.text, side.path).get(origin, "")


def vllm_canons(job: ModuleJob, text: str) -> Iterable[str]:
    """The canonical statements of a vLLM text, translated, to be compared with those of a GPU twin."""
    return lineage.fingerprint(job.twin.translation.unit(text, job.profile))
