"""Vetoes single statements of the GPU twin that a port must not bring.

Comes in: what NPU does not have. Goes out: functions from a canonical statement to the reason for a refusal, or
``None``. May touch: nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping

from runner_sync.fitting.members import Obstacle, find_refused_word
from runner_sync.merge import Kind, Reason, Veto
from runner_sync.statements import Node, flatten
from runner_sync.statements.calls import names_called
from runner_sync.texts.member_text import find_used_members

_RESULTS = re.compile(r"\(?\w[\w, ]*, ?\w[\w, ]*\)? = self\.(\w+)\(")
"""A statement that unpacks the result of a method of ``self``."""


def veto_for(
    bound: Mapping[str, Obstacle],
    device: Mapping[str, str],
    upstream: Collection[str] = (),
    *,
    have: Iterable[str] = (),
    helpers: Collection[str] = (),
) -> Veto:
    """Return a veto on statements that use ``bound`` members or ``device`` code, or unpack an ``upstream`` member's
    result.

    ``bound`` are members (or, if among ``helpers``, module-level functions) that need the GPU. A member that upstream
    overrides may return other values than vLLM's version, which the GPU runner calls. Allows such unpacking if NPU's
    own statements, ``have``, already contain it.
    """
    known = {match[0] for canon in have if (match := _RESULTS.match(canon))}
    functions = bound.keys() & set(helpers)
    members = bound.keys() - functions

    def refuse(canon: str) -> Reason | None:
        needs = find_used_members(canon, members, functions) if bound else ()
        if needs and bound[needs[0]].name == needs[0]:
            return Reason("uses refused code", (needs[0],), detail=bound[needs[0]].what)
        if needs:
            return Reason("needs an absent member", (needs[0],), detail=bound[needs[0]].sentence)
        word = find_refused_word(device, canon)
        if word:
            return Reason("uses refused code", (word,), detail=device[word])
        results = _RESULTS.match(canon)
        if results and results[1] in upstream and results[0] not in known:
            return Reason("unpacks other results", (results[1],))
        return None

    return refuse


def refuse_idle_calls(gives_up: Callable[[str], str], have: Iterable[str], veto: Veto) -> Veto:
    """Extend ``veto`` to calls that return at once on this platform, as ``gives_up`` tells for a called name.

    Allows calls that NPU's own statements, ``have``, already make. On GPU such a call replaces code that does the work
    here: `schedule_async_write` of vllm-omni 0.24.0 would have turned the prefix cache off.
    """
    known = {name for canon in have for name in names_called(canon)}

    def refuse(canon: str) -> Reason | None:
        called = [name for name in names_called(canon) if name not in known]
        path, name = next(((path, name) for name in called if (path := gives_up(name))), ("", ""))
        if not name:
            return veto(canon)
        return Reason(
            "uses refused code",
            (name.rpartition(".")[2],),
            detail=f"a function that returns at once without a GPU ({path})",
        )

    return refuse


def refuse_taken_out(followed: str, npu: str, twin: str, veto: Veto) -> Veto:
    """Extend ``veto`` to blocks of ``twin`` that the ``followed`` upstream text has and of which ``npu`` has nothing.

    Somebody took such a block out of the copy. Single statements do not count: omni may have them in another form.
    """
    had, have = ({node.canon for node in flatten(text)} for text in (followed, npu))
    blocks: dict[str, list[Node]] = {}
    nodes = flatten(twin)
    for node in nodes:
        above = node.parent
        while above > 0:
            blocks.setdefault(nodes[above].canon, []).append(node)
            above = nodes[above].parent
    taken_out = {
        head
        for head, inside in blocks.items()
        if head in had - have
        and len(steps := [node.canon for node in inside if node.is_telling]) > 1
        and had.issuperset(steps)
        and have.isdisjoint(steps)
    }
    return lambda canon: Reason("taken out of the copy") if canon in taken_out else veto(canon)


_HEAD = re.compile(r"(?:@.*\n)*(?:async )?def ")


def refuse_readers(missing: Mapping[str, Kind], veto: Veto) -> Veto:
    """Extend ``veto`` to statements that read a ``missing`` name or take it as a parameter.

    The reason tells why the name is missing.
    """
    words = "|".join(map(re.escape, sorted(missing)))
    anywhere = re.compile(rf"(?<![\w.])({words})\b")
    read = re.compile(rf"{anywhere.pattern}(?! ?=[^=])")

    def refuse(canon: str) -> Reason | None:
        match = (anywhere if _HEAD.match(canon) else read).search(canon) if missing else None
        return Reason(missing[match[1]], (match[1],)) if match else veto(canon)

    return refuse
