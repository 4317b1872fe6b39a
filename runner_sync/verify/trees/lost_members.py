"""What to write in place of a member that a class lost.

Comes in: a class that lacks the member, and the old trees. Goes out: the text of a fix. May touch: the trees, by
reading.

A member counts as renamed if a new one with a similar name stands in its place in the class, with the same value or
type: ``DecodeOnly = 2`` of an enum is ``DECODE_ONLY = 2`` now. The name need not be similar if the type is a class that
no other member of the old or new class has.
"""

from __future__ import annotations

import ast
import difflib
import re
import typing
from collections.abc import Sequence
from dataclasses import dataclass

from runner_sync.model import PACKAGES, TITLES
from runner_sync.syntax import Function
from runner_sync.verify.trees.classes import ClassInfo
from runner_sync.verify.trees.program import Program

ALIKE = 0.6
"""From this share of common letters on, two names may be of one member; a judgement. The place and the value or type
must agree as well."""


def advise_replacement(program: Program, old: Program | None, info: ClassInfo, name: str, *, used_as: str) -> str:
    """Return what to do about a member that ``info`` lacks; ``used_as`` is how omni uses it."""
    was = _find_class(old, info) if old is not None else None
    known = [one for mro in old.classes.mros(was) for one in mro.classes] if old is not None and was is not None else []
    for one in known:
        now = next((i for mro in program.classes.mros(info) for i in mro.classes if i.key == one.key), None)
        renamed = _find_renamed(one, now, name) if now is not None else None
        if renamed is not None and now is not None:
            return f"Write `{renamed.name}`, which {now.place_of(renamed.node)} has in its place."
    package = info.module.path.partition("/")[0]
    title = next((TITLES[project] for project, one in PACKAGES.items() if one == package), "")
    follow = f"Follow what the target uses in place of `{used_as}`"
    if title in ("", "vllm-omni") or program.world.surroundings.find_definition(name):
        return f"{follow}."
    if any(one.has(name) for one in known):
        return f"{follow}, or leave out what reads it: nothing in the target defines `{name}`."
    why = f"the feature is newer than this {title}, or gone from it"
    return f"Nothing in the target defines `{name}`: {why}. Leave out what reads it."


def _find_class(old: Program, info: ClassInfo) -> ClassInfo | None:
    """Return the same class of the old trees, or ``None``."""
    module = old.world.module(info.module.name)
    return next((one for one in old.own_classes(module) if one.name == info.name), None) if module else None


@dataclass(frozen=True, slots=True)
class _Member:
    """A member where a class first defines it; ``content`` is its type, else its value; or its code, unnamed."""

    name: str
    node: ast.AST
    content: str


def _find_renamed(was: ClassInfo, now: ClassInfo, name: str) -> _Member | None:
    """Return the new member that stands where the class had ``name``, or ``None``."""
    before, after = _list_members(was), _list_members(now)
    names, later = [one.name for one in before], [one.name for one in after]
    if name not in names or name in later:
        return None
    index = names.index(name)
    for tag, i, j, k, end in difflib.SequenceMatcher(None, names, later, autojunk=False).get_opcodes():
        if tag == "replace" and i <= index < j and j - i == end - k:
            one, new = before[index], after[k + index - i]
            is_same = _are_alike(name, new.name) or all(_is_distinctive(one.content, part) for part in (before, after))
            is_new = new.name not in names and is_same
            return new if is_new and one.content == new.content else None
    return None


def _is_distinctive(content: str, members: Sequence[_Member]) -> bool:
    """Whether only one of the members has a type, and that names a class: a field of it needs no similar name."""
    named = set(_CLASS.findall(content)) - _COMMON
    return bool(named) and sum(member.content == content for member in members) == 1


_CLASS = re.compile(r"(?<![\w.])(?:\w+\.)*([A-Z]\w*[a-z]\w*)\b(?!\()")
_COMMON = frozenset(typing.__all__) | {"Enum", "None", "Tensor"}
"""Words that say little about a field."""


def _are_alike(name: str, other: str) -> bool:
    words = (name.lower().replace("_", ""), other.lower().replace("_", ""))
    return difflib.SequenceMatcher(None, *words).ratio() >= ALIKE


def _list_members(info: ClassInfo) -> list[_Member]:
    found = [_Member(name, f, _describe_code(f)) for name, functions in info.methods.items() for f in functions[:1]]
    for name, writes in info.written.items():
        part = writes[0].annotation or writes[0].value
        content = ast.unparse(part) if part is not None else ""
        found += [_Member(name, writes[0].node, content)] if name not in info.methods else []
    return sorted(found, key=lambda one: getattr(one.node, "lineno", 0))


def _describe_code(function: Function) -> str:
    return "\n".join(ast.unparse(part) for part in (function.args, *function.decorator_list, *function.body))
