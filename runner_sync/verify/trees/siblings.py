"""vLLM's workers and runners for other platforms, and helpers that only these use: what they call, never runs on NPU.

Comes in: a `Program`, and the path of a module that names a member. Goes out: whether the member is used there on NPU.
May touch: the trees, by reading.

vLLM's ``Worker`` derives from the ``WorkerBase`` that vllm-ascend's worker has as well, and holds a runner of its own
platform: ``self.model_runner.profile_run()`` in it reaches no NPU runner.
"""

from __future__ import annotations

import ast

from runner_sync.model import PACKAGES
from runner_sync.naming import module_name
from runner_sync.syntax import Function, is_name, is_super, reached_from, statements_of, walk
from runner_sync.verify.trees.classes import ClassInfo, classes_in
from runner_sync.verify.trees.instance import may_be_instance
from runner_sync.verify.trees.modules import Module, imports_of
from runner_sync.verify.trees.program import Program


def may_use(program: Program, path: str, name: str) -> bool:
    """Whether the module at ``path`` may use a member ``name`` of an NPU runner or worker.

    It may not if every use is one of an attribute of ``self`` in a class for another platform, or stands in a helper
    that vLLM mentions only in such classes and in methods that NPU overrides.
    """
    module = program.world.module(module_name(path))
    if module is None or module.project != "vllm":
        return True
    outside: set[int] = {id(node) for node in walk(module.node) if _is_use(node, name)}
    for info in program.own_classes(module) if outside else ():
        if _is_of_other_platform(program, info):
            functions = [one for one in statements_of(info.node.body) if isinstance(one, Function)]
            outside -= {id(node) for function in functions for node in walk(function) if _is_own_use(function, node)}
    for helper in _find_definitions(module, outside) if outside else ():
        if not _is_reached(program, module, helper):
            outside -= {id(node) for node in walk(helper)}
    return bool(outside)


def _find_definitions(module: Module, nodes: set[int]) -> list[Function | ast.ClassDef]:
    """Return the top-level functions and classes that hold some of the nodes."""
    top = [one for one in statements_of(module.node.body) if isinstance(one, Function | ast.ClassDef)]
    return [one for one in top if any(id(node) in nodes for node in walk(one))]


def _is_reached(program: Program, module: Module, helper: Function | ast.ClassDef) -> bool:
    """Whether anything that may run on NPU mentions a helper. timid: also a helper that nothing mentions."""
    around, name = program.world.surroundings, helper.name
    own = [node for node in walk(module.node) if _mentions(node, name)]
    if len(own) > sum(_mentions(node, name) for node in walk(helper)):
        return True
    if any(around.having(name, project) for project in PACKAGES if project != "vllm"):
        return True
    others = [program.world.module(module_name(path)) for path in around.having(name, "vllm") if path != module.path]
    return not others or any(other is None or _may_run(program, other, name) for other in others)


def _may_run(program: Program, module: Module, name: str) -> bool:
    """Whether a module mentions a name outside of classes for other platforms and of methods that NPU hides."""
    left = {id(node) for node in walk(module.node) if _mentions(node, name)}
    leaves = program.leaves()
    for info in program.own_classes(module) if left else ():
        mros = [mro for mro in leaves if info in mro]
        if not mros and _is_of_other_platform(program, info):
            left -= {id(node) for node in walk(info.node)}
        for function in (f for own in info.methods.values() for f in own) if mros else ():
            if not any(id(function) in program.live(mro) for mro in mros):
                left -= {id(node) for node in walk(function)}
    return bool(left)


def _mentions(node: ast.AST, name: str) -> bool:
    """Whether a node has a name; an import only if it gives another one, which other code then uses."""
    match node:
        case ast.Name(id=word) | ast.Attribute(attr=word) | ast.Constant(value=word):
            return bool(word == name)
        case ast.alias(name=word, asname=str(other)):
            return word.rpartition(".")[2] == name != other
    return False


def _is_use(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Constant):
        return node.value == name
    return isinstance(node, ast.Attribute) and node.attr == name and not _is_self(node.value)


def _is_self(node: ast.expr) -> bool:
    return is_super(node) or is_name(node, "self")


def _is_own_use(function: ast.FunctionDef | ast.AsyncFunctionDef, node: ast.AST) -> bool:
    """Whether a node reads a member of an attribute of ``self``: ``self.model_runner.name``."""
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Attribute):
        return False
    return may_be_instance(function, [*reached_from(node)][-1])


def _is_of_other_platform(program: Program, info: ClassInfo) -> bool:
    """Whether a class shares a base with the checked classes, and is none of theirs, nor of vllm-ascend's."""
    checked = classes_in(program.leaves())
    if info in checked or not any(base in checked for mro in program.classes.mros(info) for base in mro.classes[1:]):
        return False
    around = program.world.surroundings
    stem = info.module.name.rpartition(".")[2]
    paths = around.having(stem, "vllm-ascend")
    modules = (program.world.module(module_name(path)) for path in paths)
    return not any(_imports(module, info) for module in modules if module is not None)


def _imports(module: Module, info: ClassInfo) -> bool:
    """Whether a module imports a class, or the module that has it as a whole."""
    wanted = {(info.module.name, info.name), (info.module.name, ""), (info.module.name, "*")}
    parent, _, stem = info.module.name.rpartition(".")
    return any((one.module, one.name) in {*wanted, (parent, stem)} for _, one in imports_of(module))
