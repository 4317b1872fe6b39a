"""Names calls that upstream gave up in the same step in which it changed a method that omni's own method hides.

Comes in: a ``ModuleJob`` and its drafts, upstream's methods then and now, and a hidden method. Goes out: the end of a
reason. May touch: nothing.

The copies of the calling methods follow upstream, so that work which upstream moved to the hidden method is done
nowhere. For example, vllm-ascend 0.28.0rc1 hands over sampled tokens between pipeline stages in ``_update_states``, and
no longer by calls in ``execute_model`` and ``sample_tokens``, of which omni has copies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from runner_sync.model import TITLES
from runner_sync.statements.calls import names_called
from runner_sync.texts.member_text import canonical, self_names
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.job import Inherited, ModuleJob

NAMED = 3
"""The most calls, and the most methods, that a reason names."""


def mention_given_up_calls(
    drafts: Sequence[Draft], job: ModuleJob, *, old: Mapping[str, str], new: Mapping[str, str], hidden: str, mine: str
) -> str:
    """Return the end of a reason about method ``hidden``: calls that upstream gave up in methods that omni copies.

    ``mine`` is omni's version of the hidden method, ``old`` and ``new`` are the methods of upstream's class. Returns an
    empty string if there are no such calls, or if upstream's method gained no statement that could do their work. Skips
    a removed method, which has its own questions.
    """
    if set(canonical(new[hidden])[1:]) <= set(canonical(old.get(hidden, ""))):
        return ""
    before = dict.fromkeys(name for member, text in old.items() if member != hidden for name in _list_own_calls(text))
    dropped = [name for name in before if _is_dropped(name, job, new, mine)]
    copied = [member for member in old if member in new and member != hidden]
    gone = {
        name: found for name in dropped if (found := [m for m in copied if _has_given_up_call(m, name, drafts, job)])
    }
    if not gone:
        return ""
    members = [member for member in copied if any(member in found for found in gone.values())]
    whose, them = TITLES[job.module.upstreams[0].project], "its" if len(gone) == 1 else "their"
    return (
        f"; in the same step {whose} no longer calls {_join([*gone])} in {_join(members)}: if {them} work moved into "
        f"the hidden method, it is not done on {job.profile.platform}"
    )


def _list_own_calls(text: str) -> list[str]:
    """Return the methods that a method calls on ``self``, in the order of the text."""
    called = (name.split(".") for name in names_called(text))
    return [path[1] for path in called if path[0] == "self" and len(path) == 2]


def _is_dropped(name: str, job: ModuleJob, new: Mapping[str, str], mine: str) -> bool:
    """Whether upstream's module no longer names a method that still exists, and ``mine`` does not call it either."""
    inherited = job.hierarchy.inherited.get(job.module.name, Inherited())
    is_there = name in new or name in inherited.vllm
    assert job.upstream.new is not None
    return is_there and name not in self_names(job.upstream.new.text) and name not in self_names(mine)


def _has_given_up_call(member: str, name: str, drafts: Sequence[Draft], job: ModuleJob) -> bool:
    """Whether omni's method ``member`` called ``name`` and no longer does.

    For a method of another module, which comes later, the call before is enough. Parts of a copy may be of a later
    upstream, so omni's text counts and not the upstream text.
    """
    own = [d for d in drafts if d.owner == job.module.name and d.member == member and not d.removed]
    if any(name in _list_own_calls(draft.before) and name not in _list_own_calls(draft.text) for draft in own):
        return True
    return member in job.target.elsewhere.callers(name)


def _join(names: Sequence[str]) -> str:
    """Join names as words: ``a``, ``a and b``, ``a, b and c``, ``a, b, c and 2 more``."""
    *first, last = names if len(names) <= NAMED else [*names[:NAMED], f"{len(names) - NAMED} more"]
    return f"{', '.join(first)} and {last}" if first else last
