"""Spells calls as upstream does where omni imports a function by name and upstream calls it through its module.

Comes in: a unit's text, its module's text, upstream's unit and module. Goes out: the unit in upstream's spelling. May
touch: nothing.

``from pkg.tools import step`` with ``step(…)``, and ``tools.step(…)``, call the same function until somebody replaces
it in its module at start-up, as vllm-ascend does. Then only the second form calls the replacement. So upstream's form
is taken (vllm-ascend writes ``mamba_utils.preprocess_mamba(…)`` from 0.19.1rc1 on, and people followed in 0.26.0), and
the merge must not take the difference for an omni edit.
"""

from __future__ import annotations

import ast
import re

from runner_sync.edits import Places, apply
from runner_sync.statements import bound_anywhere, parse_unit
from runner_sync.syntax import walk
from runner_sync.texts.import_entries import read_imports


def spell_as_upstream(text: str, module: str, *, upstream: str, upstream_module: str) -> str:
    """Respell each name in ``text`` that omni's ``module`` imports and ``upstream`` calls through its module.

    For example, ``step`` becomes ``tools.step``. A name stays if ``text`` itself binds it or the name of the module.
    """
    omni_imports, upstream_imports = read_imports(module), read_imports(upstream_module)
    modules = {entry.dotted: bound for bound, entry in upstream_imports.items()}
    spelled = {
        bound: f"{modules[entry.module]}.{entry.name}"
        for bound, entry in omni_imports.items()
        if entry.name and bound not in upstream_imports and entry.module in modules
    }
    bound_names = bound_anywhere(parse_unit(text))
    wanted = {
        bound: called
        for bound, called in spelled.items()
        if re.search(rf"(?<![\w.]){re.escape(called)}\(", upstream)
        and not {bound, called.partition(".")[0]} & bound_names
    }
    return _rename(text, wanted) if wanted else text


def _rename(text: str, names: dict[str, str]) -> str:
    places, nodes = Places(text), walk(parse_unit(text))
    found = [node for node in nodes if isinstance(node, ast.Name) and node.id in names]
    return apply(text, [places.instead_of(node, names[node.id]) for node in found])
