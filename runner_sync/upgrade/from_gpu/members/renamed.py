"""Gives NPU's own form of a method the name that the GPU twin gave the method.

Comes in: drafts of a class after the port of changes, and the GPU side. Goes out: the GPU side with NPU's form, and the
drafts without the old name. May touch: nothing.

The twin's form would come as a new method, without NPU's edits, while the old method stayed behind without a caller::

    twin   def _rows(self): take(); send()        NPU   def _rows(self): take(); note(); send()
    now    def _all_rows(self): take(); send()    made  def _all_rows(self): take(); note(); send()

The same holds for a helper of NPU's own with the code of the twin's new method, of which only the call is replaced.

Leaves alone: a method that the twin changed at the same time, that NPU still calls by the old name, or that vllm-ascend
or another module uses.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from runner_sync.fitting.members import is_port
from runner_sync.texts.member_text import canonical, is_same
from runner_sync.upgrade.draft import Draft, list_members
from runner_sync.upgrade.from_gpu.members.gone_from_gpu import is_called, is_read_by_class
from runner_sync.upgrade.from_gpu.twin.gpu_side import GpuSide
from runner_sync.upgrade.job import ModuleJob


def find_renamed(class_name: str, drafts: Sequence[Draft], job: ModuleJob, side: GpuSide) -> dict[str, Draft]:
    """Return ``{new name: draft}`` of the edited methods of a class that the twin calls by another name now, and of
    NPU's own ones that do the same as a new one of the twin's."""
    members = list_members(drafts, class_name)
    prefix, have = f"{class_name}.", {draft.name for draft in members}
    news = {name: text for name, text in side.new.items() if name.startswith(prefix) and name not in side.old}
    found: dict[str, Draft] = {}
    for draft in members if news else ():
        old = side.old.get(draft.name, draft.before)
        is_edited = draft.name not in side.old or (is_port(draft.text, old) and not is_same(draft.text, old))
        if draft.name in side.new or not is_edited or not _is_own(draft):
            continue
        if _is_needed(draft, drafts, job):
            continue
        fits = [name for name, text in news.items() if name not in have and _is_same_renamed(draft, old, name, text)]
        if len(fits) == 1:
            found[fits[0]] = draft
    return found


def with_own_forms(side: GpuSide, renamed: Mapping[str, Draft]) -> GpuSide:
    """Return the GPU side with NPU's form of each renamed method under its new name."""
    own = {name: _rename(draft.text, draft.member, name.rpartition(".")[2]) for name, draft in renamed.items()}
    return replace(side, new={**side.new, **own}) if own else side


def drop_old_names(drafts: Sequence[Draft], renamed: Mapping[str, Draft]) -> list[Draft]:
    """Remove each method whose own form came under the new name; the question about that one shows both."""
    come = {draft.name for draft in drafts if draft.outcome == "added"}
    gone = {draft.name for name, draft in renamed.items() if name in come}
    return [draft.as_removed(source="gpu") if draft.name in gone else draft for draft in drafts]


def _is_own(draft: Draft) -> bool:
    return draft.chosen and draft.upstream is None and draft.text == draft.before


def _is_needed(draft: Draft, drafts: Sequence[Draft], job: ModuleJob) -> bool:
    return draft.member in job.target.elsewhere.at_all or is_called(draft, drafts) or is_read_by_class(draft, job)


def _is_same_renamed(draft: Draft, old: str, name: str, new: str) -> bool:
    return canonical(_rename(old, draft.member, name.rpartition(".")[2])) == canonical(new)


def _rename(text: str, old: str, new: str) -> str:
    return re.sub(rf"\b{re.escape(old)}\b", new, text)
