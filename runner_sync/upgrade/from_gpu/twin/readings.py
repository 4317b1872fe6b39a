"""Translates modules of the GPU twin and of vLLM to NPU names.

Comes in: a ``ModuleJob`` and a revision. Goes out: texts of units by their NPU names. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from runner_sync import lineage
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.npu_words import InNpuWords
from runner_sync.upgrade.revision import ModuleRevision


def translate_units(job: ModuleJob, side: ModuleRevision) -> Mapping[str, str]:
    """Return the twin's translated units at one revision, by their NPU names."""
    return translate_revision(job, side).units


def translate_revision(job: ModuleJob, side: ModuleRevision) -> InNpuWords:
    """Translate a revision of the twin; for the new one, also report untranslated GPU names."""
    is_new = job.twin.new is not None and side.text == job.twin.new.text
    return job.twin.translation.module(side.text, job.profile, path=side.path, with_findings=is_new)


def find_vllm_unit(job: ModuleJob, side: ModuleRevision, name: str) -> str:
    """Return vLLM's own text of the unit with the NPU name ``name``; empty if vLLM has none."""
    origin = f"{job.profile.vllm_of(job.module).name}.{name.rpartition('.')[2]}" if "." in name else name
    return side.units.get(origin, "")


def list_vllm_canons(job: ModuleJob, text: str) -> Iterable[str]:
    """Return the canonical statements of a translated vLLM text, to compare with a GPU twin's."""
    return lineage.fingerprint(job.twin.translation.unit(text, job.profile))
