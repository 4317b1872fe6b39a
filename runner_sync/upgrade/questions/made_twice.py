"""Asks about a call that upstream moved out of a method that omni overrides, into one that runs.

Comes in: drafts and a ``ModuleJob``. Goes out: the drafts with questions. May touch: nothing.

Neither method is wrong by itself: the override still makes the call, as upstream's method did, and the other one got it
from upstream. vLLM 0.15 moved ``_update_states_after_model_execute`` from ``_sample`` to ``sample_tokens``, and
vllm-ascend 0.14.0rc1 overrides ``_sample``::

    vLLM, old   sample_tokens: self._sample()                   _sample: self.update()
    vLLM, new   sample_tokens: self._sample(); self.update()    _sample:
    override                                                    _sample: self.update()
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from runner_sync.confidence import CONTESTED
from runner_sync.listing import at_most
from runner_sync.thresholds import NAMED
from runner_sync.upgrade.draft import Draft, texts_by_member
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.questions.hidden import find_own_calls, find_upstream_members
from runner_sync.upgrade.questions.reviews import Shown, ask


def ask_about_made_twice(drafts: Sequence[Draft], job: ModuleJob) -> list[Draft]:
    """Ask at each override about every call of its own that upstream moved from its method to one that runs."""
    ref, old, new = find_upstream_members(drafts, job)
    owner = job.module.name
    running = {**new, **job.hierarchy.of(owner).omnis, **texts_by_member(drafts, owner)}
    asked: list[Draft] = []
    for draft in drafts:
        is_override = draft.owner == owner and draft.kind == "override" and not draft.removed
        hosts = _find_hosts(draft, running, old, new) if is_override and draft.member in new else {}
        for call, names in hosts.items():
            there = at_most(NAMED, names)
            reason = (
                f"{job.upstream_title} no longer calls {call} in this method since {ref}, but in {there}; this "
                "override still calls it: is the work done twice?"
            )
            shown = Shown(old.get(draft.member, ""), draft.text, new[draft.member], chosen=draft.text)
            draft = ask(draft, job.path, reason=reason, confidence=CONTESTED, shown=shown)
        asked.append(draft)
    return asked


def _find_hosts(
    draft: Draft, running: Mapping[str, str], old: Mapping[str, str], new: Mapping[str, str]
) -> dict[str, list[str]]:
    """Return the calls that upstream ended in the draft's method and the draft still makes, with the methods that
    upstream gave the call and that make it in this class.
    """
    ended = find_own_calls([old.get(draft.member, "")]) - find_own_calls([new[draft.member]])
    found: dict[str, list[str]] = {}
    for call in sorted(ended & find_own_calls([draft.text])):
        newly = [name for name in new if call in find_own_calls([new[name]]) - find_own_calls([old.get(name, "")])]
        if names := [name for name in newly if name != draft.member and call in find_own_calls([running[name]])]:
            found[".".join(call)] = names
    return found
