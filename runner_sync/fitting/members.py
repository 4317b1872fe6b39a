"""Decides which members of a GPU runner class its NPU twin needs, and where they go.

Comes in: the member texts of both classes, before and now, and what the NPU class inherits. Goes out: ``Member``
decisions with reasons. May touch: nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from runner_sync.statements import first_function
from runner_sync.statements.likeness import COPY
from runner_sync.texts.member_text import (
    canonical,
    find_called_parents,
    find_used_members,
    has_code_word,
    likeness,
    self_names,
    self_names_of,
)
from runner_sync.thresholds import PORTED
from runner_sync.units.splitting import bare_name

Action = Literal["port", "hook", "inherited", "unneeded", "device", "rebuilt", "left", "skipped"]
"""What becomes of a member of the GPU class that the NPU class does not define.

``port``: NPU code needs it, so it is added. ``hook``: it is added and overrides the version that the NPU class
inherits. ``inherited``: the NPU class inherits it or a version of it. ``unneeded``: nothing on NPU calls it.
``device``: it cannot run on NPU. ``rebuilt``: vllm-ascend has a version of its own. ``left`` and ``skipped``: NPU has
lacked it since before this upgrade; with ``skipped``, NPU code calls the version that it overrides.
"""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """What keeps a member out of the NPU class: code that NPU lacks, or a mixin that the class does not use.

    ``name`` is the mixin or the word in the code, and ``what`` says what is wrong with that word. ``needs`` are the
    members through which this member depends on it, the nearest first; empty for a direct dependency.
    """

    kind: Literal["code", "mixin"]
    name: str
    what: str = ""
    needs: tuple[str, ...] = ()

    @property
    def cause(self) -> str:
        """The reason, for the member that depends on it directly."""
        return (
            f"it uses {self.name}, which is {self.what}"
            if self.kind == "code"
            else f"it comes with the mixin {self.name}, which the NPU class does not have"
        )

    @property
    def sentence(self) -> str:
        return "".join(f"it needs {name}: " for name in self.needs) + self.cause


@dataclass(frozen=True, slots=True)
class Member:
    """What to do with a member of the GPU class that the NPU class does not define; ``obstacle`` keeps it out.

    ``is_newly_called`` says of one that stays out that a ported member calls it, so that NPU did not do without it.
    """

    name: str
    action: Action
    reason: str
    obstacle: Obstacle | None = None
    is_newly_called: bool = False


@dataclass(frozen=True, slots=True)
class Twins:
    """A GPU class and its NPU class, and all that decides about the members that only the GPU class has.

    The texts are already translated to NPU names; ``device`` lists what cannot be translated.
    """

    gpu_old: Mapping[str, str]
    """Members of the GPU class at the revision that the NPU class was last aligned with."""
    gpu_new: Mapping[str, str]
    """Members of the GPU class now."""
    npu: Mapping[str, str]
    """Members of the NPU class after the merge with upstream."""
    inherited: Mapping[str, str | None]
    """Members that the NPU class inherits: omni's with their texts, others with ``None``."""
    device: Mapping[str, str] = field(default_factory=dict)
    """Words of code that NPU lacks, each with the reason."""
    helpers: Mapping[str, str] = field(default_factory=dict)
    """Module-level definitions of the GPU module."""
    called_elsewhere: Collection[str] = ()
    """Members that other modules of the same family call."""
    called_by_twins: Collection[str] = ()
    """Members that the GPU twins of those modules call, so that the modules may call them after this upgrade."""
    upstream: Collection[str] = ()
    """Members that vllm-ascend's classes define themselves."""
    vllm: Mapping[str, str] = field(default_factory=dict)
    """vLLM's versions of the members."""
    known_before: Collection[str] = ()
    """Members that the GPU class had at an earlier upgrade."""
    required: Collection[str] = ()
    """Overrides that the NPU class must have, even if it lacked them before."""
    absent: Mapping[str, Obstacle] = field(default_factory=dict)
    """Names from mixins that the NPU class does not use, each with its mixin as the obstacle."""
    npu_before: Mapping[str, str] = field(default_factory=dict)
    """Members of the NPU class before the upgrade."""


def classify_members(twins: Twins) -> list[Member]:
    """Return a decision for every member of the GPU class that the NPU class lacks, in the GPU class's order."""
    bound = find_obstacles(twins)
    wanted = _find_wanted(twins, bound)
    missing = {name: text for name, text in twins.gpu_new.items() if name not in twins.npu}
    return [_decide(name, text, twins, wanted, bound) for name, text in missing.items()]


def _decide(name: str, text: str, twins: Twins, wanted: Collection[str], bound: Mapping[str, Obstacle]) -> Member:
    """Decide about one member, whose translated text is ``text``; the first condition that holds decides.

    ``wanted`` are the members that something on NPU needs, ``bound`` those that cannot run there.
    """
    is_inherited = name in twins.inherited
    if is_inherited and twins.inherited[name] == text:
        return Member(name, "inherited", "the NPU class inherits the same text")
    if name in bound:
        return _decide_bound(name, twins, bound[name])
    if _is_rebuilt(name, text, twins):
        if _was_left_out(name, twins):
            return Member(name, "left", WITHOUT)
        return Member(name, "rebuilt", REBUILT)
    if name in wanted:
        return Member(name, "hook", HOOK) if is_inherited else Member(name, "port", _explain_need(name, twins, wanted))
    if is_inherited:
        return _decide_overridden(name, twins, wanted)
    return Member(name, "unneeded", "nothing on the NPU side calls it")


def _decide_bound(name: str, twins: Twins, obstacle: Obstacle) -> Member:
    """Decide about a member that cannot run on NPU, or comes from a mixin that the NPU class does not use."""
    if _was_left_out(name, twins):
        return Member(name, "left", f"{WITHOUT}; {obstacle.sentence}")
    return Member(name, "device", obstacle.sentence, obstacle)


def _decide_overridden(name: str, twins: Twins, wanted: Collection[str]) -> Member:
    """Decide about a member that the NPU class inherits in another version and that this upgrade does not need."""
    if not _was_left_out(name, twins):
        return Member(name, "inherited", "the NPU class inherits a version of it")
    caller = _find_caller(name, twins, wanted)
    if not caller:
        return Member(name, "left", WITHOUT)
    reason = (
        f"{caller} calls {name} and gets the inherited version, not the GPU class's; {WITHOUT}; `--only "
        f"{name}` ports it"
    )
    return Member(name, "skipped", reason, is_newly_called=caller.endswith(PORTED_TOO))


def _find_caller(name: str, twins: Twins, wanted: Collection[str]) -> str:
    """Name NPU code, else a ported member, that calls a member directly or through inherited omni code; else empty.

    A ported caller is new on NPU, so earlier releases do not show that NPU works without the override.
    """
    inherited = {key: text for key, text in twins.inherited.items() if text and key not in {*twins.npu, *wanted}}
    ported = {key: text for key, text in twins.gpu_new.items() if key in wanted and not _is_rebuilt(key, text, twins)}
    for members, what in ((twins.npu, ""), (ported, PORTED_TOO)):
        for member, text in members.items():
            steps = _find_call_path(name, text, inherited)
            if steps is not None:
                through = f" (through {' and '.join(steps)})" if steps else ""
                return f"{member}{through}{what}"
    return ""


def _find_call_path(name: str, text: str, inherited: Mapping[str, str]) -> tuple[str, ...] | None:
    """Return the shortest chain of inherited members through which a text calls a member; empty for a direct call.

    ``None`` if the text does not call the member.
    """
    seen = set[str]()
    todo: list[tuple[tuple[str, ...], str]] = [((), text)]
    for steps, calling in todo:
        called = self_names(calling)
        if name in called:
            return steps
        todo += [((*steps, key), inherited[key]) for key in sorted(called - seen) if key in inherited]
        seen |= called
    return None


def _explain_need(name: str, twins: Twins, wanted: Collection[str]) -> str:
    """Say who needs a ported member: NPU code as before, NPU code since this upgrade, or only another ported member."""
    calls = "calls" if first_function(twins.gpu_new[name]) is not None else "uses"
    if "#" in name:
        return f"it belongs to {bare_name(name)}"
    if name in twins.called_elsewhere or _find_callers(name, twins.npu_before):
        return f"NPU code {calls} it"
    if callers := _find_callers(name, twins.npu):
        return f"{callers[0]} {calls} it since this upgrade"
    if name in _find_news_for_inherited(twins):
        return f"{_find_callers(name, _list_inherited_texts(twins))[0]}, which the NPU class inherits, {calls} it"
    if name in twins.called_by_twins:
        return f"another GPU runner {calls} it, and the NPU twin of that runner may do so, too"
    ported = (member for member in _find_callers(name, twins.gpu_new) if member in wanted and member != name)
    return f"{next(ported)}, which is ported too, {calls} it"


def _find_callers(name: str, members: Mapping[str, str]) -> list[str]:
    return [member for member, text in members.items() if name in self_names(text)]


PORTED_TOO = ", which is ported,"
WITHOUT = "the NPU class did without it before this upgrade, too"
HOOK = "without it, NPU would run the inherited version, which lacks what the GPU class does"
REBUILT = "the GPU class overrides vLLM's version of it, and upstream's class has another version"


def _is_rebuilt(name: str, text: str, twins: Twins) -> bool:
    """Whether a GPU override replaces a body that vllm-ascend replaces too, so that it cannot be taken over unchanged.

    Not if it calls ``super()``, because that wraps either body, or if it is new and omni's own, not an edit of vLLM's.
    """
    if name not in twins.upstream or "super()" in find_called_parents(text, name):
        return False
    return name in twins.gpu_old or _is_edit_of(text, twins.vllm.get(name, ""))


def _was_left_out(name: str, twins: Twins) -> bool:
    """Whether the GPU class had this override at an earlier upgrade, and nobody ported it then.

    Such a gap is not part of this upgrade (``check`` reports it), unless the override is ``required``.
    """
    return name in twins.known_before and name not in twins.required


def _is_edit_of(text: str, original: str) -> bool:
    """Whether ``text`` is an edited copy of ``original``."""
    return bool(original) and likeness(text, original) >= COPY


def is_port(text: str, original: str) -> bool:
    """Whether ``text`` is a port of ``original`` (translated): most of their statements are the same."""
    return likeness(text, original) >= PORTED


def _is_declaration(text: str) -> bool:
    """Whether a member is a class-level annotation without a value (``x: int``), which does nothing at run time."""
    return re.fullmatch(r"\s*\w+\s*:[^=]+", text) is not None


def _find_wanted(twins: Twins, bound: Collection[str]) -> set[str]:
    """Return members to port: overrides of inherited members and, transitively, what these and NPU code need."""
    hooks = {
        name
        for name, text in twins.gpu_new.items()
        if name not in twins.npu
        and name in twins.inherited
        and name not in bound
        and twins.inherited[name] != text
        and not _is_rebuilt(name, text, twins)
        and not _was_left_out(name, twins)
    }
    wanted: set[str] = set()
    todo = {n for text in twins.npu.values() for n in self_names(text)} | hooks
    todo |= {n for name in twins.npu for n in list_other_definitions(name, twins.gpu_new) if _is_new(n, twins)}
    todo |= {*twins.called_elsewhere, *twins.called_by_twins, *_find_news_for_inherited(twins)}
    while todo:
        name = todo.pop()
        if name in wanted or name in twins.npu or name not in twins.gpu_new or name in bound:
            continue
        if (name in twins.inherited and name not in hooks) or _is_declaration(twins.gpu_new[name]):
            continue
        wanted.add(name)
        todo |= {*self_names(twins.gpu_new[name]), *list_other_definitions(name, twins.gpu_new)}
    return wanted


def list_other_definitions(name: str, members: Iterable[str]) -> list[str]:
    """Return the further definitions of a member of this name, such as the setter of a property (``x#2`` of ``x``)."""
    return [member for member in members if member != name and bare_name(member) == name]


def _is_new(name: str, twins: Twins) -> bool:
    return name not in twins.gpu_old and name not in twins.known_before


def _find_news_for_inherited(twins: Twins) -> frozenset[str]:
    """Return new members of the GPU class that omni's code calls which the NPU class inherits."""
    news = [name for name in twins.gpu_new if _is_new(name, twins)]
    return self_names_of(_list_inherited_texts(twins).values()).intersection(news)


def _list_inherited_texts(twins: Twins) -> dict[str, str]:
    """Return omni's methods that run on NPU by inheritance."""
    return {name: text for name, text in twins.inherited.items() if text and name not in twins.npu}


def find_refused_word(refused: Iterable[str], text: str) -> str:
    """Return the first of ``refused`` that ``text`` uses, or an empty string."""
    return next((word for word in refused if has_code_word(text, word)), "")


def find_obstacles(twins: Twins) -> dict[str, Obstacle]:
    """Return members and helpers that use code NPU lacks, directly or through others, each with its obstacle.

    Includes names that the NPU class is known to lack.
    """
    texts = {name: "\n".join(canonical(text)) for name, text in {**twins.helpers, **twins.gpu_new}.items()}
    todo = {name: text for name, text in texts.items() if name not in twins.npu}
    bound = dict(twins.absent)
    for name, text in todo.items():
        word = find_refused_word(twins.device, text)
        if word:
            bound[name] = Obstacle("code", word, twins.device[word])
    found = True
    while found:
        found = False
        for name in [n for n in todo if n not in bound]:
            needs = find_used_members(
                todo[name], bound.keys() - twins.helpers.keys(), bound.keys() & twins.helpers.keys()
            )
            if needs:
                through = bound[needs[0]]
                bound[name] = replace(through, needs=(needs[0], *through.needs))
                found = True
    return bound


def find_predecessor(name: str, order: Sequence[str], have: Collection[str]) -> str | None:
    """Return the nearest member before ``name`` in ``order`` that the class has, or ``None``."""
    at = order.index(name)
    return next((other for other in reversed(order[:at]) if other in have), None)


def find_successor(name: str, order: Sequence[str], have: Collection[str]) -> str | None:
    """Return the nearest member behind ``name`` in ``order`` that the class has, or ``None``."""
    return next((other for other in order[order.index(name) + 1 :] if other in have), None)
