"""Spells calls as upstream does where omni calls the same function by another name.

Comes in: a unit's text, its module's text, upstream's unit, module and methods. Goes out: the unit in upstream's
spelling. May touch: nothing.

A function that omni imports by name, upstream may call through its module.

``from pkg.tools import step`` with ``step(…)``, and ``tools.step(…)``, call the same function until somebody replaces
it in its module at start-up, as vllm-ascend does. Then only the second form calls the replacement. So upstream's form
is taken (vllm-ascend writes ``mamba_utils.preprocess_mamba(…)`` from 0.19.1rc1 on, and people followed in 0.26.0), and
the merge must not take the difference for an omni edit.

A method that omni calls, upstream may call through another one that just passes the call on. The platform may do more
there at any time::

    def _get_ascend_copy_funcs(self):       omni      self._get_copy_funcs()
        return self._get_copy_funcs()       upstream  self._get_ascend_copy_funcs()
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Mapping

from runner_sync.edits import Places, apply
from runner_sync.statements import bound_anywhere, parse_unit
from runner_sync.syntax import calls_in, walk
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


def call_as_upstream(text: str, *, base: str, upstream: str, methods: Mapping[str, str]) -> str:
    """Respell ``self.x()`` in ``text`` as ``self.y()`` if ``y`` of ``methods`` just returns ``self.x()``.

    Only in a statement that upstream has with ``self.y()`` and the base with another call there, and that is the same
    otherwise. Of the three texts, only ``text`` may call ``x``, and it must not call ``y``.
    """
    mine, before, theirs = (_find_members_called(side) for side in (text, base, upstream))
    passed_on = {name: _find_passed_on(methods[name]) for name in (theirs - mine) & methods.keys()}
    wanted = {y: x for y, x in passed_on.items() if x in mine - before - theirs}
    if not wanted:
        return text
    places, edits = Places(text), []
    counts = [Counter(ast.unparse(statement) for statement in _find_simple(side)) for side in (text, base, upstream)]
    for statement in _find_simple(text):
        spelled = ast.unparse(statement)
        for y, x in wanted.items():
            called = [call for call in calls_in(statement) if ast.unparse(call) == f"self.{x}()"]
            start, _, rest = spelled.partition(f"self.{x}()")
            if len(called) == 1 and _is_once_in_each(counts, spelled, start, f"self.{y}()", rest):
                edits.append(places.instead_of(called[0], f"self.{y}()"))
    return apply(text, edits)


def _find_members_called(text: str) -> set[str]:
    """Return the members that a unit calls on ``self``."""
    called = [call.func for call in calls_in(parse_unit(text)) if isinstance(call.func, ast.Attribute)]
    return {func.attr for func in called if ast.unparse(func.value) == "self"}


def _find_simple(text: str) -> list[ast.stmt]:
    """Return the statements of a unit that are not compound."""
    return [node for node in walk(parse_unit(text)) if isinstance(node, ast.stmt) and not hasattr(node, "body")]


def _is_once_in_each(counts: list[Counter[str]], spelled: str, start: str, called: str, rest: str) -> bool:
    """Whether omni has ``spelled`` once, upstream it with ``called``, the base with any call there."""
    mine, before, theirs = counts
    alike = re.compile(rf"{re.escape(start)}[\w.]+\([^()]*\){re.escape(rest)}")
    old = sum(count for statement, count in before.items() if alike.fullmatch(statement))
    return mine[spelled] == theirs[f"{start}{called}{rest}"] == old == 1


def _find_passed_on(method: str) -> str:
    """Return the ``x`` of a method that takes no arguments and just returns ``self.x()``; empty for another method."""
    function = parse_unit(method).body[0]
    if not isinstance(function, ast.FunctionDef) or function.decorator_list or ast.unparse(function.args) != "self":
        return ""
    found = _PASSED_ON.fullmatch(ast.unparse(function.body[-1]))
    return found[1] if found and len(function.body) == 1 + (ast.get_docstring(function) is not None) else ""


_PASSED_ON = re.compile(r"return self\.(\w+)\(\)")
