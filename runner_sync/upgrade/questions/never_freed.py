"""Names containers that a new upstream method fills and that another upstream method, which does not run, would empty.

Comes in: drafts, and upstream's methods with those that do not run. Goes out: the end of a reason. May touch: nothing.

The two belong to one question, because the kept entries are never freed::

    vllm-ascend  _track      self.cached.setdefault(key, set()).add(row)     omni's copy calls it since this upgrade
                 _removed    del self.cached[key]                            nothing calls it
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from runner_sync.texts.member_text import canonical, self_names
from runner_sync.upgrade.draft import Draft


def mention_filled(drafts: Sequence[Draft], owner: str, hooks: Collection[str], members: Mapping[str, str]) -> str:
    """Return the end of a reason about ``hooks`` that do not run: the containers that they would empty.

    Another one of upstream's ``members``, which a method of ``owner`` newly calls, must fill these containers. Returns
    an empty string if there are none.
    """
    mine = [draft for draft in drafts if draft.owner == owner and not draft.removed]
    others = members.keys() - hooks - {draft.member for draft in mine}
    emptied = frozenset[str]().union(*(_find_emptied(members[hook]) for hook in hooks))
    for draft in mine if emptied else ():
        for name in sorted((self_names(draft.text) - self_names(draft.before)) & others):
            if kept := sorted(emptied & _find_filled(members[name]) - _find_emptied(members[name])):
                calls = f"{name}, which {draft.member} calls since this upgrade"
                return f"; so nothing empties {' and '.join(kept)}, which is filled by {calls}"
    return ""


def _find_emptied(text: str) -> frozenset[str]:
    return _find_matches((_DELETED, _TAKEN), text)


def _find_filled(text: str) -> frozenset[str]:
    return _find_matches((_SET, _ADDED), text)


def _find_matches(uses: Sequence[re.Pattern[str]], text: str) -> frozenset[str]:
    return frozenset(name for canon in canonical(text) for use in uses for name in use.findall(canon))


_DELETED = re.compile(r"\bdel (self\.\w+)\[")

_TAKEN = re.compile(r"(?<![\w.])(self\.\w+)(?:\[[^\]]*\])?\.(?:pop|popitem|clear|discard|remove)\(")

_SET = re.compile(r"^(self\.\w+)\[[^\]]*\] = ")

_ADDED = re.compile(r"(?<![\w.])(self\.\w+)(?:\[[^\]]*\])?\.(?:setdefault|append|add|extend|update)\(")
