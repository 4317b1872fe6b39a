"""RS316 abstract-method: an upstream base declares a method abstract, and nobody in the MRO defines it.

What: an NPU runner or worker in whose real MRO (in every branch of a conditional base) the first class that has a name
is one of vllm-ascend or vLLM and declares it with `@abstractmethod`, in a hierarchy of `ABC`, `Protocol` or `ABCMeta`.
Also `Part(...)` in an NPU runner, where `Part` is such a class: one of upstream, or one of omni that derives from it.

Example: `NPUARWorker` after vLLM made `WorkerBase` an `ABC` with an abstract method that vllm-ascend's `NPUWorker` does
not have yet.

Why: `TypeError: Can't instantiate abstract class` before the first step. No code calls what is missing, so no other
rule sees it.

Fix: define the method as another class of the target does.

Leaves alone: classes from which another one of omni's derives, those with a base outside the trees, those that say
themselves that they are abstract (`ABC` or `Protocol` among their own bases, an own `@abstractmethod`), those under a
decorator that may add methods, `@abstractmethod` without a class that enforces it, what an omni class declares abstract
itself, methods that a start-up patch adds. Of calls those of a class with a `__new__`, which may make another one, of
one that a start-up patch replaces or a condition chooses, and those that stand in a `try` or under a version switch.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from runner_sync.model import Finding, Severity
from runner_sync.syntax import decorator_name, last_word
from runner_sync.verify.expecting import CALL_ERRORS
from runner_sync.verify.trees.classes import ClassInfo, Mro
from runner_sync.verify.trees.frames import Frame, class_finding
from runner_sync.verify.trees.functions import FunctionNode
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.program import Program

CODE = "RS316"
NAME = "abstract-method"
SEVERITY: Severity = "error"

_ENFORCING = frozenset({"ABC", "Protocol"})
# Class decorators that define none of the methods that upstream declares.
_ADDS_NOTHING = frozenset({"dataclass", "final", "runtime_checkable"})


def find(program: Program, module: Module, _old: Program | None = None) -> Iterable[Finding]:
    """Classes of ``module``, and those that it calls, which cannot be instantiated. The old program is not needed."""
    for mro in program.leaves():
        if mro.head.module is not module or mro.open or not any(_enforces(info) for info in mro.classes):
            continue
        if not _is_meant_abstract(mro.head) and not program.world.surroundings.has_subclass_in(
            "vllm-omni", mro.head.name
        ):
            for owner, function in _left_abstract(mro):
                yield _make_finding(mro.head, owner, function)
    for frame in program.frames(module):
        for node in frame.nodes():
            if isinstance(node, ast.Call) and not frame.is_guarded(node, CALL_ERRORS):
                yield from _check_call(program, frame, node)


def _check_call(program: Program, frame: Frame, call: ast.Call) -> Iterator[Finding]:
    """Whether a call instantiates a class that cannot be; checked classes are reported at their own head instead."""
    made = program.named_classes(frame, call.func) or program.held_classes(frame, call.func)
    if not made or any(instance.info.module in program.checked for instance in made):
        return
    mros = [mro for instance in made for mro in program.classes.mros(instance.info)]
    left = [next(_left_abstract(mro), None) if _cannot_be_made(program, mro) else None for mro in mros]
    if all(left) and left[0] is not None:
        head, (owner, function) = mros[0].head, left[0]
        yield frame.finding(
            CODE,
            SEVERITY,
            call,
            symbol=f"{head.name}.{function.name}",
            message=f"`{owner.name}` ({owner.module.path}:{function.lineno}) declares `{function.name}` abstract, and "
            f"no class in the MRO of `{head.name}` defines it, so this call fails.",
            fix=f"Make an object of a class that defines `{function.name}`, as the target does.",
        )


def _cannot_be_made(program: Program, mro: Mro) -> bool:
    """Whether nothing but the methods of its classes decides if there can be an object of an MRO's class."""
    if mro.open or mro.has("__new__") or not any(_enforces(info) for info in mro.classes):
        return False
    decorators = {decorator_name(decorator) for decorator in mro.head.node.decorator_list}
    return decorators <= _ADDS_NOTHING and not program.world.patches_of(f"{mro.head.module.name}.{mro.head.name}")


def _enforces(info: ClassInfo) -> bool:
    """Whether a class makes `@abstractmethod` mean something, by its own bases."""
    bases = [base.value if isinstance(base, ast.Subscript) else base for base in info.node.bases]
    metaclasses = [ast.unparse(k.value) for k in info.node.keywords if k.arg == "metaclass"]
    is_told = any(last_word(base) in _ENFORCING for base in bases)
    return is_told or any("ABCMeta" in text for text in metaclasses)


def _is_meant_abstract(info: ClassInfo) -> bool:
    """Whether a class is abstract on purpose (own abstract methods, or ``ABC`` or the like among its bases), or a
    decorator may add what it lacks."""
    has_own = any(_is_abstract(function) for functions in info.methods.values() for function in functions)
    decorators = {decorator_name(decorator) for decorator in info.node.decorator_list}
    return has_own or _enforces(info) or bool(decorators - _ADDS_NOTHING)


def _left_abstract(mro: Mro) -> Iterator[tuple[ClassInfo, FunctionNode]]:
    """The upstream declarations that no class before them in the MRO fills in."""
    seen: set[str] = set()
    for info in mro.classes:
        for name, functions in info.methods.items():
            is_abstract = all(_is_abstract(function) for function in functions)
            if name not in seen and is_abstract and info.module.project != "vllm-omni":
                yield info, functions[0]
        seen |= info.methods.keys()
        seen |= {name for name in info.written if info.written_in_body(name)}


def _is_abstract(function: FunctionNode) -> bool:
    return any(decorator_name(decorator).startswith("abstract") for decorator in function.decorator_list)


def _make_finding(head: ClassInfo, owner: ClassInfo, function: FunctionNode) -> Finding:
    return class_finding(
        CODE,
        SEVERITY,
        head,
        symbol=function.name,
        message=f"`{owner.name}` ({owner.module.path}:{function.lineno}) declares `{function.name}` abstract, and no "
        f"class in the MRO of `{head.name}` defines it, so no instance can be made.",
        fix=f"Define `{function.name}` as another class of the target does.",
    )
