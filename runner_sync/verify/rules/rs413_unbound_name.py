"""RS413 unbound-name: a name is read that nothing binds, or nothing before it.

What: a name that code of an NPU module reads at run time, and that neither an import, a definition, an assignment nor
Python binds; or a local that is read where no path has set it. One finding per function and name.

Example:

    payload = self._build_payload(hidden_states)
    output.pooler_output = payloads       # renamed at one of two places: NameError

Why: the file parses and imports, and the first request that comes to the line ends in a `NameError`. Ports leave such
names behind: an import that was not taken along, a local that its new code spells differently.

Fix: import the name, or spell it as the code that binds it.

Leaves alone: annotations, modules with `import *`, `globals()`, `exec` or a handler of `NameError`, names with two
underscores at both ends, `_` (which gettext installs), `WindowsError`, and locals read in a loop that sets them,
perhaps in an earlier round.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from runner_sync.model import Severity
from runner_sync.syntax import Function, walk
from runner_sync.texts.assignment import find_reads_before_all
from runner_sync.texts.bindings import annotating, names_read_at_run_time, unbound_names
from runner_sync.verify.hits import Hit
from runner_sync.verify.runners.job import Subject
from runner_sync.verify.runners.reading import Reading

CODE = "RS413"
NAME = "unbound-name"
SEVERITY: Severity = "error"

_BOUND_ELSEWHERE = frozenset({"_", "WindowsError"})
"""Names that another module, or another system, adds to Python's own."""

_BINDERS = frozenset({"globals", "exec", "NameError", "UnboundLocalError"})


def find(subject: Subject) -> Iterator[Hit]:
    """Yield one finding per function and name, at the first read."""
    npu = subject.npu
    if "*" in npu.imports or any(isinstance(node, ast.Name) and node.id in _BINDERS for node in npu.nodes):
        return
    yield from _find_early(npu)
    for name in sorted(unbound_names(npu.text, npu.nodes) - _BOUND_ELSEWHERE):
        if name.startswith("__"):
            continue
        for part in npu.parts(name):
            read = _find_read(part, name)
            if read is not None:
                yield _make_hit(npu, read, f"`{name}` is read here, and nothing binds it.")


def _find_early(npu: Reading) -> Iterator[Hit]:
    """Yield a finding for each local that is read before any path has set it."""
    for function in npu.nodes:
        early = find_reads_before_all(function) if isinstance(function, Function) else {}
        names = [node for node in walk(function) if isinstance(node, ast.Name)] if early else []
        first = {node.id: node for node in reversed(names) if early.get(node.id) == node.lineno}
        for read in first.values():
            yield _make_hit(npu, read, f"`{read.id}` is read here, and no path has set it before.")


def _find_read(part: ast.stmt, name: str) -> ast.Name | None:
    """Return the first read of a global ``name`` in a statement, outside annotations."""
    if name not in names_read_at_run_time(ast.unparse(part)):
        return None
    apart = annotating(part)
    names = (node for node in walk(part) if isinstance(node, ast.Name) and id(node) not in apart)
    reads = [node for node in names if node.id == name and isinstance(node.ctx, ast.Load)]
    return min(reads, key=lambda node: (node.lineno, node.col_offset), default=None)


def _make_hit(npu: Reading, read: ast.Name, message: str) -> Hit:
    fix = f"Import or set `{read.id}` before this line, or write the name that is meant."
    return npu.hit((CODE, SEVERITY), read, symbol=read.id, message=message, fix=fix)
