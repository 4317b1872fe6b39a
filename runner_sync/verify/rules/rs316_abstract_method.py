"""RS316 abstract-method: an upstream base declares a method abstract, and nobody in the MRO defines it.

What: an NPU runner or worker in whose real MRO (in every branch of a conditional base) the first class that has a name
is one of vllm-ascend or vLLM and declares it with `@abstractmethod`, in a hierarchy of `ABC`, `Protocol` or `ABCMeta`.
Also `Part(...)` in an NPU runner, where `Part` is such an upstream class, or an omni class that derives from one.

Example: `NPUARWorker` after vLLM made `WorkerBase` an `ABC` with an abstract method that vllm-ascend's `NPUWorker` does
not have yet.

Why: `TypeError: Can't instantiate abstract class` before the first step. No code calls the missing method, so no other
rule sees it.

Fix: define the method as another class of the target does.

Leaves alone: classes with an omni subclass, with a base outside the trees, or under a decorator that may add methods;
classes that are abstract on purpose (`ABC` or `Protocol` among their own bases, an own `@abstractmethod`);
`@abstractmethod` without a class that enforces it; methods that an omni class declares abstract itself; methods that a
start-up patch adds. Also calls of a class with a `__new__`, which may make another object, of a class that a start-up
patch replaces or a condition chooses, and calls in a `try` or under a version switch.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from runner_sync.model import Finding, Severity
from runner_sync.signatures import decorator_names
from runner_sync.syntax import Function, generic_of, last_word
from runner_sync.verify.expecting import CALL_ERRORS
from runner_sync.verify.trees.classes import ClassInfo, Mro
from runner_sync.verify.trees.frames import Frame, class_finding
from runner_sync.verify.trees.known import all_known
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.program import Program

CODE = "RS316"
NAME = "abstract-method"
SEVERITY: Severity = "error"

_ENFORCING = frozenset({"ABC", "Protocol"})
# Class decorators that add no methods which upstream declares.
_ADDS_NOTHING = frozenset({"dataclass", "final", "runtime_checkable"})


def find(program: Program, module: Module, _old: Program | None = None) -> Iterable[Finding]:
    """Yield classes of ``module``, and classes that it calls, which cannot be instantiated."""
    for mro in program.leaves():
        if mro.head.module is not module or mro.open or not any(_is_enforcing(info) for info in mro.classes):
            continue
        if not _is_meant_abstract(mro.head) and not program.world.surroundings.has_subclass_in(
            "vllm-omni", mro.head.name
        ):
            for owner, function in _find_abstract(mro):
                yield _make_finding(mro.head, owner, function)
    for frame in program.frames(module):
        for node in frame.nodes():
            if isinstance(node, ast.Call) and not frame.is_guarded(node, CALL_ERRORS):
                yield from _check_call(program, frame, node)


def _check_call(program: Program, frame: Frame, call: ast.Call) -> Iterator[Finding]:
    """Report a call of a class that cannot be instantiated; checked classes are reported at their own head instead."""
    made = program.named_classes(frame, call.func) or program.held_classes(frame, call.func)
    if not made or any(instance.info.module in program.checked for instance in made):
        return
    mros = program.classes.mros_of(instance.info for instance in made)
    left = all_known(next(_find_abstract(mro), None) if _is_decided_by_methods(program, mro) else None for mro in mros)
    if left:
        head, (owner, function) = mros[0].head, left[0]
        yield frame.finding(
            (CODE, SEVERITY),
            call,
            symbol=f"{head.name}.{function.name}",
            message=f"{_describe_lack(head, owner, function)}, so this call fails.",
            fix=f"Make an object of a class that defines `{function.name}`, as the target does.",
        )


def _is_decided_by_methods(program: Program, mro: Mro) -> bool:
    """Whether only abstract methods can decide if the MRO's class can be instantiated."""
    if mro.open or mro.has("__new__") or not any(_is_enforcing(info) for info in mro.classes):
        return False
    adds_nothing = decorator_names(mro.head.node) <= _ADDS_NOTHING
    return adds_nothing and not program.world.patches_of(f"{mro.head.module.name}.{mro.head.name}")


def _is_enforcing(info: ClassInfo) -> bool:
    """Whether a class enforces `@abstractmethod`, by its own bases."""
    metaclasses = [ast.unparse(k.value) for k in info.node.keywords if k.arg == "metaclass"]
    has_enforcing_base = any(last_word(generic_of(base)) in _ENFORCING for base in info.node.bases)
    return has_enforcing_base or any("ABCMeta" in text for text in metaclasses)


def _is_meant_abstract(info: ClassInfo) -> bool:
    """Whether a class is abstract on purpose (own abstract methods, or ``ABC`` or the like among its bases).

    A decorator that may add methods counts as well.
    """
    has_own = any(_is_abstract(function) for functions in info.methods.values() for function in functions)
    return has_own or _is_enforcing(info) or bool(decorator_names(info.node) - _ADDS_NOTHING)


def _find_abstract(mro: Mro) -> Iterator[tuple[ClassInfo, Function]]:
    """Yield the abstract upstream methods that no earlier class of the MRO defines."""
    seen: set[str] = set()
    for info in mro.classes:
        for name, functions in info.methods.items():
            is_abstract = all(_is_abstract(function) for function in functions)
            if name not in seen and is_abstract and not info.is_omnis:
                yield info, functions[0]
        seen |= info.methods.keys()
        seen |= {name for name in info.written if info.written_in_body(name)}


def _is_abstract(function: Function) -> bool:
    return any(name.startswith("abstract") for name in decorator_names(function))


def _describe_lack(head: ClassInfo, owner: ClassInfo, function: Function) -> str:
    declares = f"`{owner.name}` ({owner.place_of(function)}) declares `{function.name}` abstract"
    return f"{declares}, and no class in the MRO of `{head.name}` defines it"


def _make_finding(head: ClassInfo, owner: ClassInfo, function: Function) -> Finding:
    return class_finding(
        (CODE, SEVERITY),
        head,
        symbol=function.name,
        message=f"{_describe_lack(head, owner, function)}, so no instance can be made.",
        fix=f"Define `{function.name}` as another class of the target does.",
    )
