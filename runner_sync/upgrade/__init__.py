"""One derived module through the whole line: its bases, vllm-ascend's change, the GPU twin's change, one text again.

Comes in: a ``job.ModuleJob``, which holds every text that is needed. Goes out: a ``job.ModuleResult``: the new text,
what became of each unit, and the questions for a person. May touch: nothing; ``sync`` gets the texts.

``module.upgrade_module`` is the entry point. It makes a ``draft.Draft`` of every unit and hands the drafts from stage
to stage. Drafts are immutable: each stage returns them with one more text or question:

- ``from_upstream``: the ``base`` of each unit, and vllm-ascend's change merged into the copies;
- ``from_gpu``: the GPU twin's change, translated to NPU names, merged into that;
- ``mending``: members, records and calls adapted to what changed; ``redundant``: methods that can go;
- ``questions``: what a person must look at, and how it is worded;
- ``composing``: the module text; ``outcomes`` and ``attribution``: the result.

``new_module`` makes a module that does not exist yet, and ``finishing`` the text that is written.

Submodules are imported on first use: a ``check`` that looks for the base of a unit needs no libcst.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner_sync.doors import part_loader

if TYPE_CHECKING:
    from runner_sync.upgrade.base import Base, closest, find_base, upstream_name
    from runner_sync.upgrade.finishing import finished
    from runner_sync.upgrade.from_gpu.members.beside_twin import decide_as_it_stands
    from runner_sync.upgrade.from_gpu.twin.mixins import instance_names
    from runner_sync.upgrade.job import (
        Causes,
        Elsewhere,
        GpuBase,
        GpuTwin,
        Hierarchy,
        Inherited,
        ModuleJob,
        ModuleResult,
        ModuleRevision,
        Settings,
        Target,
        Upstream,
        Variant,
        is_selected,
    )
    from runner_sync.upgrade.module import upgrade_module
    from runner_sync.upgrade.new_module import StartJob, start_module
    from runner_sync.upgrade.npu_words import TRANSLATION, InNpuWords, Translation
    from runner_sync.upgrade.questions.same_question import ask_once

__all__ = [
    "TRANSLATION",
    "Base",
    "Causes",
    "Elsewhere",
    "GpuBase",
    "GpuTwin",
    "Hierarchy",
    "InNpuWords",
    "Inherited",
    "ModuleJob",
    "ModuleResult",
    "ModuleRevision",
    "Settings",
    "StartJob",
    "Target",
    "Translation",
    "Upstream",
    "Variant",
    "ask_once",
    "closest",
    "decide_as_it_stands",
    "find_base",
    "finished",
    "instance_names",
    "is_selected",
    "start_module",
    "upgrade_module",
    "upstream_name",
]

_MODULES = {
    "TRANSLATION": "npu_words",
    "Base": "base",
    "Causes": "job",
    "Elsewhere": "job",
    "GpuBase": "job",
    "GpuTwin": "job",
    "Hierarchy": "job",
    "InNpuWords": "npu_words",
    "Inherited": "job",
    "ModuleJob": "job",
    "ModuleResult": "job",
    "Settings": "job",
    "ModuleRevision": "job",
    "StartJob": "new_module",
    "Target": "job",
    "Translation": "npu_words",
    "Upstream": "job",
    "Variant": "job",
    "ask_once": "questions.same_question",
    "closest": "base",
    "decide_as_it_stands": "from_gpu.members.beside_twin",
    "find_base": "base",
    "finished": "finishing",
    "instance_names": "from_gpu.twin.mixins",
    "is_selected": "job",
    "start_module": "new_module",
    "upgrade_module": "module",
    "upstream_name": "base",
}

__getattr__ = part_loader(__name__, _MODULES)
