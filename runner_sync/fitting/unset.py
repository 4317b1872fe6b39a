"""Leaves out arguments that upstream newly passes in a call and whose value nothing here sets, because they would fail.

Comes in: a method's text before and after a merge, and upstream's text. Goes out: the text without one such argument.
May touch: nothing.

Omni may have dropped the statements that set the local, or never had them: for example, vllm-ascend 0.25.1rc1 passes
``routed_experts=routed_experts_snapshot`` in a call, and sets that local in five statements that omni's copy lacks.
"""

from __future__ import annotations

import ast

from runner_sync.edits import Places, apply
from runner_sync.fitting.repair import Repair
from runner_sync.statements import as_module, mentions, parse_unit, parses
from runner_sync.syntax import calls_in, walk
from runner_sync.texts.assignment import find_locals
from runner_sync.texts.names import used_names


def drop_unset_argument(before: str, text: str, upstream: str, *, base: str = "") -> Repair | None:
    """Return the method without the first keyword argument that reads an upstream local which ``text`` never binds.

    Skips an argument whose local ``before`` already read. The change is settled and needs no question if ``base``, the
    upstream text that ``before`` was made from, passed the same argument and omni's call did not.
    """
    if not parses(text) or not parses(before):
        return None
    free = (find_locals(upstream) & used_names(as_module(text))) - used_names(as_module(before))
    tree = parse_unit(text)
    unset = {id(mention.node) for mention in mentions(tree.body) if mention.name in free} if free else set()
    for call in walk(tree) if unset else ():
        for key in call.keywords if isinstance(call, ast.Call) else ():
            read = sorted({node.id for node in walk(key.value) if isinstance(node, ast.Name) and id(node) in unset})
            if read and isinstance(call, ast.Call) and (key.arg is not None or not _has_unpacking_call(before, call)):
                places = Places(text)
                argument_text = places.source(key)
                argument = f"{key.arg}=" if key.arg is not None else "the argument behind **"
                reason = f"left out: {argument}, because nothing here sets {read[0]}"
                made = apply(text, [places.removal(call, key)])
                is_settled = _has_same_argument(base, call, key) and bool(_find_calls(before, call))
                return Repair(made, call.lineno, argument_text, reason, is_gone=True, is_settled=is_settled)
    return None


def _has_unpacking_call(text: str, call: ast.Call) -> bool:
    """Whether ``text`` calls the same function with ``**``, which may pass the argument in question."""
    return any(key.arg is None for known in _find_calls(text, call) for key in known.keywords)


def _has_same_argument(text: str, call: ast.Call, key: ast.keyword) -> bool:
    """Whether ``text`` calls the same function with the same argument."""
    return any(ast.dump(key) == ast.dump(other) for known in _find_calls(text, call) for other in known.keywords)


def _find_calls(text: str, call: ast.Call) -> list[ast.Call]:
    """Return the calls of the same function in ``text``."""
    found = calls_in(parse_unit(text)) if parses(text) else []
    return [other for other in found if ast.dump(other.func) == ast.dump(call.func)]
