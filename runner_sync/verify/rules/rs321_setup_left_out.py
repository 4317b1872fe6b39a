"""RS321 setup-left-out: an override hides the only call of a function without which a module refuses to work.

What: the method that an override hides calls a function which sets a global of its module (`global _manager`); another
function of that module asserts that the global is set, or raises; no code that runs calls the setting function.

Example: `init_device` of omni's GPU workers, a copy, after vLLM 0.14 began to call `init_workspace_manager` in its own.
`current_workspace_manager` asserts that somebody did.

Why: the worker starts, and the first model with experts ends in a distant `AssertionError`. Both workers of 0.12.0rc1
had that on vLLM 0.14, and got the call in 0.14.0.

Fix: call it in the override as the hidden method does.

Leaves alone: functions named by running code of the runners and workers, or by any module except the hidden method's
and their own, outside methods of the hidden method's name; globals that are only reset to `None`, or that no function
requires.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from runner_sync.errors import InputError
from runner_sync.model import Finding, Severity
from runner_sync.statements.assigning import assignments_of
from runner_sync.syntax import Function, dotted_name, is_name, is_nothing, walk
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.functions import find_required_name, nodes_of, words_of
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.world import Definition, World

CODE = "RS321"
NAME = "setup-left-out"
SEVERITY: Severity = "error"


def find(program: Program, module: Module, _old: Program | None = None) -> Iterable[Finding]:
    """Yield overrides in ``module`` that hide the only call of a function that sets a required global."""
    for frame in program.frames(module):
        for hidden in program.hidden_by(frame):
            for call, definition in _find_setups(program, hidden):
                if not _is_called(program, definition, beside=hidden):
                    yield _make_finding(frame, hidden, call, definition)


def _find_setups(program: Program, hidden: Frame) -> Iterator[tuple[ast.Call, Definition]]:
    """Yield a method's calls of functions that set a global which their module requires."""
    for node in nodes_of(hidden.function):
        dotted = dotted_name(node.func) if isinstance(node, ast.Call) else None
        if not isinstance(node, ast.Call) or not dotted or dotted.partition(".")[0] == hidden.owner:
            continue
        definitions = program.definitions(hidden, dotted)
        if len(definitions) == 1 and _is_setup(definitions[0]):
            yield node, definitions[0]


def _is_setup(definition: Definition) -> bool:
    function, module = definition.node, definition.module
    if definition.kind != "function" or not isinstance(function, Function) or module is None:
        return False
    names = _find_globals_set(function)
    others = (f for f in module.node.body if isinstance(f, Function) and f is not function)
    return bool(names) and any(names & find_required_name(s) for other in others for s in other.body)


def _find_globals_set(function: Function) -> set[str]:
    declared = {name for node in nodes_of(function) if isinstance(node, ast.Global) for name in node.names}
    pairs = [pair for node in nodes_of(function) for pair in assignments_of(node)] if declared else []
    given = [(target, value) for target, value, _ in pairs if not is_nothing(value)]
    return declared & {target.id for target, _ in given if isinstance(target, ast.Name)}


def _is_called(program: Program, definition: Definition, *, beside: Frame) -> bool:
    """Whether code that runs with the runners, or that stands in another module, names the function."""
    name = definition.last_name
    if any(name in module.text for module in (*program.checked, *program.inherited(), *program.imported())):
        return True
    running = (one for mro in program.leaves() for one in program.live(mro).values())
    candidates = (function for info, function in running if name in info.module.text)
    if any(name in words_of(function) or _has_name(function, name) for function in candidates):
        return True
    world, apart = program.world, {module.path for module in (beside.module, definition.module) if module is not None}
    paths = {path for project in world.trees for path in world.surroundings.having(name, project)} - apart
    return any(_is_named_in(world, path, name, outside=beside.function.name) for path in sorted(paths))


def _is_named_in(world: World, path: str, name: str, *, outside: str) -> bool:
    """Whether a module names a function outside methods called ``outside``, imports it under another name, or does not
    parse.

    Such methods are of other platforms' classes: those of the runners and workers were looked at before.
    """
    try:
        module = world.module_at(path)
    except InputError:
        return True
    classes = (node for node in walk(module.node) if isinstance(node, ast.ClassDef))
    methods = (f for one in classes for f in one.body if isinstance(f, Function) and f.name == outside)
    apart = {node for method in methods for node in nodes_of(method)}
    return module.error is not None or any(_names(node, name) for node in walk(module.node) if node not in apart)


def _names(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Name(id=word) | ast.Attribute(attr=word) | ast.alias(name=word, asname=str()):
            return word == name
        case ast.Constant(value=str(text)):
            return text.rpartition(".")[2] == name
    return False


def _has_name(function: Function, name: str) -> bool:
    return any(is_name(node, name) for node in nodes_of(function))


def _make_finding(frame: Frame, hidden: Frame, call: ast.Call, definition: Definition) -> Finding:
    name = definition.last_name
    return frame.finding(
        (CODE, SEVERITY),
        frame.function,
        symbol=name,
        message=f"This override hides the only call of `{definition.name}` "
        f"({hidden.place_of(call)}), without which that module refuses to work.",
        fix=f"Call `{name}` here as {hidden.unit} does.",
    )
