"""Asks about overrides of vLLM methods that upstream added and that nothing calls.

Comes in: drafts and a ``ModuleJob``. Goes out: drafts with one question each. May touch: nothing.

They are inherited, but omni overrides the vLLM methods that would call them. For example, vllm-ascend 0.30.0 frees
request state in ``_on_request_state_removed``, which vLLM's ``_update_states`` calls and omni's full copy does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from runner_sync.confidence import CONTESTED
from runner_sync.texts.member_text import find_called_parents, has_class_call, self_names
from runner_sync.upgrade.draft import Draft, texts_by_member
from runner_sync.upgrade.job import Inherited, ModuleJob, is_selected
from runner_sync.upgrade.questions.hidden import calls_super, find_upstream_members, is_direct_base
from runner_sync.upgrade.questions.reviews import Shown, ask
from runner_sync.upgrade.running import find_running


def ask_about_uncalled_hooks(drafts: Sequence[Draft], job: ModuleJob) -> Iterator[Draft]:
    """Yield a draft with a question for such overrides; those with the same caller share one question."""
    if not is_direct_base(job):
        return
    name = job.module.name
    ref, old, new = find_upstream_members(drafts, job)
    for caller, (first, *others) in _find_uncalled_hooks(drafts, job, old=old, new=new).items():
        them = "them" if others else "it"
        what = f"this method and {', '.join(others)}" if others else "this method"
        reason = (
            f"{job.upstream_title} added {what} since {ref}, but nothing calls {them}: vLLM does in {caller}, "
            "which omni overrides without that call"
        )
        draft = Draft.for_question(f"{name}.{first}")
        shown = Shown(upstream="\n".join(new[member] for member in (first, *others)))
        yield ask(draft, job.path, reason=reason, confidence=CONTESTED, shown=shown)


def _find_uncalled_hooks(
    drafts: Sequence[Draft], job: ModuleJob, *, old: Mapping[str, str], new: Mapping[str, str]
) -> dict[str, list[str]]:
    """Return the hooks that never run, by the first vLLM method that would call them.

    ``old`` and ``new`` are the methods of upstream's class by name.
    """
    anchor, name = job.module.anchor, job.module.name
    inherited = job.hierarchy.of(name)
    own = texts_by_member(drafts, name)
    behind = inherited.omnis
    hooks = [m for m in new if m not in old and m in inherited.vllm and m not in behind and m not in own]
    if not hooks:
        return {}
    running = find_running(name, drafts, job)
    found: dict[str, list[str]] = {}
    for hook in [m for m in hooks if not running.is_used(m) and is_selected(f"{name}.{m}", job.settings.only)]:
        callers = [m for m in inherited.vllm if m != hook and hook in self_names(_read_without_omni(m, new, inherited))]
        if callers and not any(
            _reaches_upstream(m, own.get(m), anchor.name, inherited.members.get(m)) for m in callers
        ):
            found.setdefault(callers[0], []).append(hook)
    return found


def _read_without_omni(member: str, new: Mapping[str, str], inherited: Inherited) -> str:
    """Return the method as it would run without omni: upstream's text, and vLLM's text if that is called or alone."""
    text = new.get(member, "")
    return text if text and not calls_super(text, member) else text + inherited.vllm[member]


def _reaches_upstream(member: str, own: str | None, upstream: str, behind: str | None) -> bool:
    """Whether upstream's version of a method runs in the end.

    ``own`` is the class's own version, ``behind`` that of an omni base class, if any.
    """
    if own is not None and has_class_call(own, upstream, member):
        return True
    if own is not None and not find_called_parents(own, member):
        return False
    return behind is None or calls_super(behind, member)
