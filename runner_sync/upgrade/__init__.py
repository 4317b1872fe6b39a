"""Upgrades one derived module: finds its bases, merges vllm-ascend's and the GPU twin's changes, composes the new text.

Comes in: a ``job.ModuleJob`` with every text that is needed. Goes out: a ``job.ModuleResult`` with the new text, the
outcome of each unit, and the review items. May touch: nothing; ``sync`` loads the texts.

``module.upgrade_module`` is the entry point. It makes a ``draft.Draft`` of every unit and passes the drafts from stage
to stage. Drafts are immutable: each stage returns new drafts with one more text or question:

- ``from_upstream`` finds the ``base`` of each unit and merges vllm-ascend's change into the copies;
- ``from_gpu`` translates the GPU twin's change (``npu_words``, ``twin_names``) and merges it into the result;
- ``mending`` and ``returning`` adapt members, records, calls and returns to the changes, ``import_forms`` the imports,
  and ``redundant`` removes methods that can go;
- ``questions`` makes and words the review items;
- ``composing`` makes the module text, and ``outcomes`` and ``attribution`` make the result;
- ``finishing`` makes the text that is written, and ``placing`` keeps line numbers right.

``revision`` is a module at one revision. ``set_aside`` takes out units that no longer follow their original, and
``isolation`` turns a mistake of this program in one unit into a question. ``new_module`` makes a module that does not
exist yet. ``lines``, ``running``, ``renamed_locals``, ``never_had`` and ``missing_imports`` answer single questions of
several stages.

Submodules are imported on first use, so that a ``check`` that looks for the base of a unit does not import libcst.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner_sync.doors import part_loader

if TYPE_CHECKING:
    from runner_sync.upgrade.base import Base, closest, find_base, name_in_upstream
    from runner_sync.upgrade.finishing import finish
    from runner_sync.upgrade.from_gpu.members.beside_twin import decide_without_upgrade
    from runner_sync.upgrade.from_gpu.twin.mixins import find_instance_names
    from runner_sync.upgrade.job import (
        Causes,
        Elsewhere,
        GpuTwin,
        Hierarchy,
        Inherited,
        ModuleJob,
        ModuleResult,
        Settings,
        Target,
        Upstream,
        Variant,
        is_selected,
    )
    from runner_sync.upgrade.module import upgrade_module
    from runner_sync.upgrade.new_module import StartJob, start_module
    from runner_sync.upgrade.npu_words import TRANSLATION, InNpuWords, Translation
    from runner_sync.upgrade.placing import relocate
    from runner_sync.upgrade.questions.one_decision import ask_once
    from runner_sync.upgrade.revision import GpuBase, ModuleRevision

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
    "decide_without_upgrade",
    "find_base",
    "find_instance_names",
    "finish",
    "is_selected",
    "name_in_upstream",
    "relocate",
    "start_module",
    "upgrade_module",
]

_MODULES = {
    "base": "Base closest find_base name_in_upstream",
    "finishing": "finish",
    "from_gpu.members.beside_twin": "decide_without_upgrade",
    "from_gpu.twin.mixins": "find_instance_names",
    "job": (
        "Causes Elsewhere GpuTwin Hierarchy Inherited is_selected ModuleJob ModuleResult Settings Target Upstream "
        "Variant"
    ),
    "module": "upgrade_module",
    "new_module": "start_module StartJob",
    "npu_words": "InNpuWords TRANSLATION Translation",
    "placing": "relocate",
    "questions.one_decision": "ask_once",
    "revision": "GpuBase ModuleRevision",
}

__getattr__ = part_loader(__name__, _MODULES)
