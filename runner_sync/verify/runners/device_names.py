"""Finds the names under which a module uses `torch.cuda`, and the nodes that use it or place something on its device.

Comes in: a `Reading`, the words of GPU and NPU. Goes out: a `Gpu`, which tells whether a node uses `torch.cuda`. May
touch: nothing.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from runner_sync.naming import Import, imported_by
from runner_sync.syntax import Function, walk
from runner_sync.verify.runners.reading import Reading, dotted

ASKING = frozenset({"is_available", "device_count", "is_initialized"})
"""Functions of `torch.cuda` that only query the machine, and work on every machine."""


@dataclass(frozen=True, slots=True)
class Gpu:
    """The names under which a module uses `torch.cuda`, whose dotted name is ``root``.

    ``names`` are bound to `torch.cuda` or something in it. ``askers`` only query what the code runs on. ``helpers``
    maps each function that uses `torch.cuda` to the node that does.
    """

    word: str
    npu_word: str
    names: frozenset[str] = frozenset()
    askers: frozenset[str] = frozenset()
    helpers: Mapping[str, ast.AST] = field(default_factory=dict)

    @property
    def root(self) -> str:
        """The module of torch that does not work on NPU: ``torch.cuda``."""
        return f"torch.{self.word}"

    def use(self, node: ast.AST) -> ast.AST | None:
        """Return the node itself if it uses `torch.cuda`, the use inside the helper that it calls, or ``None``."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in self.helpers:
            return self.helpers[node.func.id]
        return node if self.is_used(node) else None

    def is_used(self, node: ast.AST) -> bool:
        """Whether a node reads one of the names, is exactly ``root`` (`torch.cuda.Stream` counts once), or places
        something on the GPU.
        """
        if isinstance(node, ast.Call):
            return bool(_name_placement(node, self.word))
        if isinstance(node, ast.Name):
            return node.id in self.names and isinstance(node.ctx, ast.Load)
        return isinstance(node, ast.Attribute) and dotted(node) == self.root

    def title(self, node: ast.AST) -> str:
        """Return what a message calls a used node."""
        placed = _name_placement(node, self.word) if isinstance(node, ast.Call) else ""
        return placed or self.root

    def within(self, function: Function) -> Gpu:
        """Return the names inside a function. Its bindings shadow the module's names, and its imports add names."""
        from runner_sync.statements import bound_anywhere  # few checks reach a method that may use the GPU

        own = bound_anywhere(function)
        names, askers = _split_askers([entry for node in walk(function) for entry in _find_imports(node, self.root)])
        helpers = {name: node for name, node in self.helpers.items() if name not in own}
        return replace(self, names=(self.names - own) | names, askers=(self.askers - own) | askers, helpers=helpers)

    def may_be_in(self, text: str) -> bool:
        """Whether the text of a function contains one of the names or helpers, or passes `may_name`."""
        return any(name in text for name in (*self.names, *self.helpers)) or may_name(text, self)


def find_gpu_names(
    reading: Reading,
    gpu: Gpu,
    first_use: Callable[[Function, Gpu], ast.AST | None],
    is_asker: Callable[[ast.stmt, Gpu], bool],
) -> Gpu:
    """Return the names of a module that are bound to `torch.cuda` or query it, and the functions that use it.

    ``first_use`` finds the use in a function, ``is_asker`` recognises a statement that only queries. A name counts only
    if bound once, unconditionally.
    """
    if not may_name(reading.text, gpu):
        return gpu
    from runner_sync.statements import mentions  # few modules name `torch.cuda`

    bound = Counter(mention.name for mention in mentions(reading.tree.body) if mention.kind != "reads")
    bound.update(
        name for mention in re.findall(r"\bglobal ([\w, ]+)", reading.text) for name in re.findall(r"\w+", mention)
    )
    imported = [entry for statement in reading.tree.body for entry in _find_imports(statement, gpu.root)]
    names, askers = _split_askers([entry for entry in imported if bound[entry.bound] == 1])
    found = replace(gpu, names=names, askers=askers)
    helpers: dict[str, ast.AST] = {}
    for statement in reading.tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if bound[name] == 1:
                if is_asker(statement, found) or (isinstance(value, ast.Attribute) and value.attr in ASKING):
                    found = replace(found, askers=found.askers | {name})
                elif any(found.is_used(part) for part in _walk_chain(value)):
                    found = replace(found, names=found.names | {name})
    for statement in reading.tree.body:
        if isinstance(statement, Function) and bound[statement.name] == 1:
            use = first_use(statement, found) if found.may_be_in(reading.text_of(statement)) else None
            if use is not None:
                helpers[statement.name] = use
            elif is_asker(statement, found):
                found = replace(found, askers=found.askers | {statement.name})
    return replace(found, helpers=helpers)


def _split_askers(imported: Sequence[Import]) -> tuple[frozenset[str], frozenset[str]]:
    """Split imported names into names that use `torch.cuda` and names that only query it."""
    names = {entry.bound: entry.name in ASKING for entry in imported}
    return frozenset(n for n, asks in names.items() if not asks), frozenset(n for n, asks in names.items() if asks)


def may_name(text: str, gpu: Gpu) -> bool:
    """Whether a text contains `torch.cuda`, may import it from torch, or may place something on the GPU."""
    if gpu.root in text or re.search(rf"\.{gpu.word}\(|[\"']{gpu.word}[\"':]", text):
        return True
    return any(gpu.word in found[1] for found in re.finditer(r"from torch import (\([^()]*\)|[^\n]+)", text))


def _name_placement(call: ast.Call, word: str) -> str:
    """Return how a call places something on the GPU, or an empty string: `x.cuda()`, `x.to("cuda")`, `device="cuda:0"`.

    timid: the device must be written in the call itself.
    """
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if name == word:
        return f".{word}()"
    if call.args and (name == "to" or dotted(call.func) == "torch.device") and _is_device(call.args[0], word):
        return f"{'.to' if name == 'to' else 'torch.device'}({ast.unparse(call.args[0])})"
    given = (one.value for one in call.keywords if one.arg == "device" and _is_device(one.value, word))
    return next((f"device={ast.unparse(value)}" for value in given), "")


def _is_device(value: ast.expr, word: str) -> bool:
    """Whether an expression is ``"cuda"``, ``"cuda:0"`` or ``f"cuda:{rank}"``."""
    first = value.values[0] if isinstance(value, ast.JoinedStr) and value.values else value
    text = first.value if isinstance(first, ast.Constant) else None
    return isinstance(text, str) and (text == word or text.startswith(f"{word}:"))


def _walk_chain(value: ast.expr) -> Iterator[ast.expr]:
    """Yield ``a.b.c``, ``a.b`` and ``a`` for ``a.b.c``; nothing for an expression that is no such chain."""
    while dotted(value) and isinstance(value, ast.Attribute):
        yield value
        value = value.value
    if isinstance(value, ast.Name):
        yield value


def _find_imports(node: ast.AST, root: str) -> Iterator[Import]:
    """Yield the entries of an import that bind ``root`` or something in it."""
    entries = imported_by(node) if isinstance(node, ast.Import | ast.ImportFrom) else ()
    return (entry for entry in entries if f"{entry.dotted}.".startswith(f"{root}."))
