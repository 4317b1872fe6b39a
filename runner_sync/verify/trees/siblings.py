"""vLLM's workers and runners for other platforms: what they call, never runs on NPU.

Comes in: a `Program`, and the path of a module that names a member. Goes out: whether the member is used there on NPU.
May touch: the trees, by reading.

vLLM's ``Worker`` derives from the ``WorkerBase`` that vllm-ascend's worker has as well, and holds a runner of its own
platform: ``self.model_runner.profile_run()`` in it reaches no NPU runner.
"""

from __future__ import annotations

import ast

from runner_sync.naming import module_name
from runner_sync.syntax import Function, is_super, reached_from, statements_of, walk
from runner_sync.verify.trees.classes import ClassInfo, classes_in
from runner_sync.verify.trees.instance import may_be_instance
from runner_sync.verify.trees.modules import Module, imports_of
from runner_sync.verify.trees.program import Program


def may_use(program: Program, path: str, name: str) -> bool:
    """Whether the module at ``path`` may use a member ``name`` of an NPU runner or worker.

    It may not if every use is one of an attribute of ``self`` in a class for another platform.
    """
    module = program.world.module(module_name(path))
    if module is None or module.project != "vllm":
        return True
    outside: set[int] = {id(node) for node in walk(module.node) if _is_use(node, name)}
    for info in program.own_classes(module) if outside else ():
        if _is_of_other_platform(program, info):
            functions = [one for one in statements_of(info.node.body) if isinstance(one, Function)]
            outside -= {id(node) for function in functions for node in walk(function) if _is_own_use(function, node)}
    return bool(outside)


def _is_use(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Constant):
        return node.value == name
    return isinstance(node, ast.Attribute) and node.attr == name and not _is_self(node.value)


def _is_self(node: ast.expr) -> bool:
    return is_super(node) or (isinstance(node, ast.Name) and node.id == "self")


def _is_own_use(function: ast.FunctionDef | ast.AsyncFunctionDef, node: ast.AST) -> bool:
    """Whether a node reads a member of an attribute of ``self``: ``self.model_runner.name``."""
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Attribute):
        return False
    return may_be_instance(function, [*reached_from(node)][-1])


def _is_of_other_platform(program: Program, info: ClassInfo) -> bool:
    """Whether a class shares a base with the checked classes, and is none of theirs, nor of vllm-ascend's."""
    ours = classes_in(program.leaves())
    if info in ours or not any(base in ours for mro in program.classes.mros(info) for base in mro.classes[1:]):
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
