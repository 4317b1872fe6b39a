"""Attributes of ``self`` that a port reads, and that only code which did not come ever sets.

Comes in: a ``ModuleJob``, its GPU side and the upgraded text. Goes out: names with what sets them on the GPU side. May
touch: nothing.

What is read here is always as at first, so the statements around it are dead::

    GPU twin    _talk(self)       self._copies = Copies()                       left out: it uses what NPU has not
                _finish(self)     copies = getattr(self, "_copies", None)       ported, and always None
                                  if copies is not None: …
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from runner_sync.compose.member_text import canonical
from runner_sync.compose.members import Obstacle
from runner_sync.statements import tree_of
from runner_sync.syntax import is_name, walk
from runner_sync.units import texts
from runner_sync.upgrade.from_gpu.twin.gpu_side import GpuSide
from runner_sync.upgrade.job import ModuleJob


def unset(job: ModuleJob, side: GpuSide, text: str) -> dict[str, Obstacle]:
    """The attributes that methods of the upgraded ``text`` read only now, and that its classes never set to anything
    but a constant like ``None``, while the GPU class does in methods or passages that did not come.

    Only what a method asks for by name: a plain read fails for everybody to see, and is asked about.

    timid: none that any word in the code of the old module, or of vllm-ascend's, or a member that is inherited could
    mean; and none with ``--only``, where what sets it may simply not have been asked for.
    """
    found: dict[str, Obstacle] = {}
    if job.settings.only or job.twin.new is None:
        return found
    after = texts.unit_texts(text, job.path)
    words = _words(job.text)
    if job.upstream.new is not None:
        words |= _words(job.upstream.new.text)
    for owner in dict.fromkeys(name.rpartition(".")[0] for name in after if "." in name):
        mine = _members(owner, after)
        inherited = job.hierarchy.inherited.get(owner)
        beside = [*inherited.members.values(), *inherited.vllm.values()] if inherited is not None else []
        known = words.union(mine, inherited.members if inherited is not None else ())
        news = {name for body in mine.values() for name in _read(body)} - known
        news -= {name for body in (*mine.values(), *beside) if body for name in _set(body)}
        for name in sorted(news):
            setters = [member for member, body in _members(owner, side.new).items() if name in _set(body)]
            if setters:
                found[name] = Obstacle("code", name, f"set only by what did not come, in {' and '.join(setters)}")
    return found


_WORD = re.compile(r"[A-Za-z_]\w*")


@lru_cache(maxsize=8)
def _words(text: str) -> frozenset[str]:
    """All words in the statements of a module, those of its strings included; its comments may be questions."""
    return frozenset(word for canon in canonical(text) for word in _WORD.findall(canon))


def _members(owner: str, units: Mapping[str, str]) -> dict[str, str]:
    prefix = f"{owner}."
    return {name.removeprefix(prefix): text for name, text in units.items() if name.startswith(prefix)}


def _read(text: str) -> Iterator[str]:
    """Attributes of ``self`` that a method asks for by name, and reads in no other way."""
    nodes = walk(tree_of(text))
    loaded = (node for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load))
    plain = {node.attr for node in loaded if is_name(node.value, "self")}
    for node in nodes:
        match node:
            case ast.Call(
                func=ast.Name(id="getattr" | "hasattr"), args=[ast.Name(id="self"), ast.Constant(value=str(n)), *_]
            ) if n not in plain:
                yield n


@lru_cache(maxsize=1024)
def _set(text: str) -> frozenset[str]:
    """Attributes of ``self`` that a method sets, to more than a constant such as ``None`` or ``[]``."""
    nodes = walk(tree_of(text))
    idle: set[ast.AST] = set()
    found = set()
    for node in nodes:
        match node:
            case ast.Assign(targets=targets, value=value) if _is_idle(value):
                idle.update(targets)
            case ast.AnnAssign(target=target, value=value) if value is None or _is_idle(value):
                idle.add(target)
            case ast.Call(func=ast.Name(id="setattr"), args=[ast.Name(id="self"), ast.Constant(value=str(name)), _]):
                found.add(name)
    stored = (node for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store))
    return frozenset({*found, *(node.attr for node in stored if node not in idle and is_name(node.value, "self"))})


def _is_idle(value: ast.expr) -> bool:
    """Whether a value is what one sets an attribute to before or after use: ``None``, false, zero or empty."""
    match value:
        case ast.Constant(value=constant):
            return not constant
        case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
            return not elements
        case ast.Dict(keys=keys):
            return not keys
    return False
