"""What a new method of upstream's fills, and another one would empty that does not run.

Comes in: drafts, and upstream's methods with those of them that do not run. Goes out: the end of a reason. May touch:
nothing.

The two are one question: what the first keeps is never freed::

    vllm-ascend  _track      self.cached.setdefault(key, set()).add(row)     omni's copy calls it since this upgrade
                 _removed    del self.cached[key]                            nothing calls it
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from runner_sync.compose.member_text import canonical, self_names
from runner_sync.upgrade.draft import Draft


def filled_since(drafts: Sequence[Draft], owner: str, hooks: Collection[str], members: Mapping[str, str]) -> str:
    """The end of a reason about ``hooks`` that do not run: what they take out of containers that another one of
    upstream's ``members`` fills, which a method of ``owner`` newly calls. Empty if there is none."""
    mine = [draft for draft in drafts if draft.owner == owner and not draft.removed]
    others = members.keys() - hooks - {draft.member for draft in mine}
    emptied = frozenset[str]().union(*(_emptied(members[hook]) for hook in hooks))
    for draft in mine if emptied else ():
        for name in sorted((self_names(draft.text) - self_names(draft.before)) & others):
            if kept := sorted(emptied & _filled(members[name]) - _emptied(members[name])):
                calls = f"{name}, which {draft.member} calls since this upgrade"
                return f"; what would be taken out of {' and '.join(kept)} here is put there by {calls}"
    return ""


def _emptied(text: str) -> frozenset[str]:
    return _found((_DELETED, _TAKEN), text)


def _filled(text: str) -> frozenset[str]:
    return _found((_SET, _ADDED), text)


def _found(uses: Sequence[re.Pattern[str]], text: str) -> frozenset[str]:
    return frozenset(name for canon in canonical(text) for use in uses for name in use.findall(canon))


_DELETED = re.compile(r"\bdel (self\.\w+)\[")

_TAKEN = re.compile(r"(?<![\w.])(self\.\w+)(?:\[[^\]]*\])?\.(?:pop|popitem|clear|discard|remove)\(")

_SET = re.compile(r"^(self\.\w+)\[[^\]]*\] = ")

_ADDED = re.compile(r"(?<![\w.])(self\.\w+)(?:\[[^\]]*\])?\.(?:setdefault|append|add|extend|update)\(")
