"""Finds attributes of ``self`` that a port reads although only unported code sets them.

Comes in: a ``ModuleJob``, its GPU side and the upgraded text. Goes out: attribute names, each with an obstacle. May
touch: nothing.

On NPU such an attribute keeps its initial value, so the code that depends on it is dead::

    GPU twin    _talk(self)       self._copies = Copies()                       left out: it uses what NPU lacks
                _finish(self)     copies = getattr(self, "_copies", None)       ported, and always None
                                  if copies is not None: …
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache

from runner_sync.fitting.members import Obstacle
from runner_sync.statements import tree_of
from runner_sync.syntax import is_name, walk
from runner_sync.texts.member_text import canonical
from runner_sync.units import texts
from runner_sync.upgrade.from_gpu.twin.gpu_side import GpuSide
from runner_sync.upgrade.job import ModuleJob


def find_unset(job: ModuleJob, side: GpuSide, text: str) -> dict[str, Obstacle]:
    """Map attributes that only unported GPU code sets to an obstacle naming the setters.

    Methods of the upgraded ``text`` newly read the attribute by ``getattr`` or ``hasattr``. Its NPU class and bases set
    it at most to an empty constant; a GPU method really sets it. Plain reads are skipped: they fail visibly, and
    another question covers them.

    timid: skips names that the old module, vllm-ascend's module or an inherited member mentions. Finds nothing with
    ``--only``, because the setter may simply not have been selected.
    """
    found: dict[str, Obstacle] = {}
    if job.settings.only or job.twin.new is None:
        return found
    after = texts.unit_texts(text, job.path)
    words = _find_words(job.text)
    if job.upstream.new is not None:
        words |= _find_words(job.upstream.new.text)
    for owner in dict.fromkeys(name.rpartition(".")[0] for name in after if "." in name):
        members = texts.select_members(after, owner)
        inherited = job.hierarchy.of(owner)
        beside = [*inherited.members.values(), *inherited.vllm.values()]
        known = words.union(members, inherited.members)
        news = {name for body in members.values() for name in _find_guarded_reads(body)} - known
        near = [body for body in (*members.values(), *beside) if body]
        news = {name for name in news if not any(_sets(body, name) for body in near)}
        for name in sorted(news):
            setters = [member for member, body in texts.select_members(side.new, owner).items() if _sets(body, name)]
            if setters:
                found[name] = Obstacle(
                    "code", name, f"set only by code that was not ported, in {' and '.join(setters)}"
                )
    return found


_WORD = re.compile(r"[A-Za-z_]\w*")


@lru_cache(maxsize=8)
def _find_words(text: str) -> frozenset[str]:
    """Return all words in a module's statements, including strings but not comments, which may be questions."""
    return frozenset(word for canon in canonical(text) for word in _WORD.findall(canon))


def _find_guarded_reads(text: str) -> Iterator[str]:
    """Yield attributes of ``self`` that a method reads only by ``getattr`` or ``hasattr``."""
    if "getattr" not in text and "hasattr" not in text:
        return
    nodes = walk(tree_of(text))
    loaded = (node for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load))
    plain = {node.attr for node in loaded if is_name(node.value, "self")}
    for node in nodes:
        match node:
            case ast.Call(
                func=ast.Name(id="getattr" | "hasattr"), args=[ast.Name(id="self"), ast.Constant(value=str(n)), *_]
            ) if n not in plain:
                yield n


def _sets(text: str, name: str) -> bool:
    """Whether a method sets an attribute of ``self`` to more than an empty constant."""
    return name in text and name in _find_set_attributes(text)


@lru_cache(maxsize=1024)
def _find_set_attributes(text: str) -> frozenset[str]:
    """Return attributes of ``self`` that a method sets to more than an empty constant such as ``None`` or ``[]``."""
    nodes = walk(tree_of(text))
    idle: set[ast.AST] = set()
    found = set()
    for node in nodes:
        match node:
            case ast.Assign(targets=targets, value=value) if _is_empty_value(value):
                idle.update(targets)
            case ast.AnnAssign(target=target, value=value) if value is None or _is_empty_value(value):
                idle.add(target)
            case ast.Call(func=ast.Name(id="setattr"), args=[ast.Name(id="self"), ast.Constant(value=str(name)), _]):
                found.add(name)
    stored = (node for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store))
    return frozenset({*found, *(node.attr for node in stored if node not in idle and is_name(node.value, "self"))})


def _is_empty_value(value: ast.expr) -> bool:
    """Whether a value only initialises or resets an attribute: ``None``, false, zero or empty."""
    match value:
        case ast.Constant(value=constant):
            return not constant
        case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
            return not elements
        case ast.Dict(keys=keys):
            return not keys
    return False
