"""Finds the methods that run on the instances of a class, and which of them anything calls.

Comes in: drafts and a ``ModuleJob``. Goes out: texts and answers. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from runner_sync.texts.member_text import find_called_parents, self_names
from runner_sync.upgrade.draft import Draft, texts_by_member
from runner_sync.upgrade.job import ModuleJob


@dataclass(frozen=True, slots=True)
class Running:
    """The members of a class that ``run``, each name with a text, and ``upstream``: all that upstream and vLLM have."""

    run: tuple[tuple[str, str], ...]
    upstream: tuple[tuple[str, str], ...]

    def is_used(self, member: str) -> bool:
        """Whether another member that runs uses this one."""
        return _is_used(member, self.run)

    def is_reached(self, member: str) -> bool:
        """Whether another member that runs uses this one, or it is an entry point.

        Upstream has an entry point and never uses it itself: its callers are other classes, such as the worker.
        """
        is_entry_point = any(name == member for name, _ in self.upstream) and not _is_used(member, self.upstream)
        return is_entry_point or self.is_used(member)


def _is_used(member: str, members: Sequence[tuple[str, str]]) -> bool:
    return any(name != member and member in text and member in self_names(text) for name, text in members)


def find_running(class_name: str, drafts: Sequence[Draft], job: ModuleJob) -> Running:
    """Find the members of a class that run: the first version in the MRO, and those that it calls in turn."""
    inherited = job.hierarchy.of(class_name)
    own = texts_by_member(drafts, class_name)
    omni = inherited.omnis
    new, anchor = job.upstream.new, job.module.anchor
    upstream = new.members(anchor.name) if new is not None else {}
    run = []
    for member in {**own, **omni, **upstream, **inherited.vllm}:
        for layer in (own, omni, upstream, inherited.vllm):
            if member in layer:
                run.append((member, layer[member]))
                if not find_called_parents(layer[member], member):
                    break
    return Running(tuple(run), (*upstream.items(), *inherited.vllm.items()))
