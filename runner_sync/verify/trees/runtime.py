"""The part of a world that can run on NPU: the checked classes' MROs, their live methods, their frames.

Comes in: a `World` and the paths of the checked modules. Goes out: frames, MROs, live methods, and the assignments of
an attribute that can still run. May touch: nothing else.
"""

from __future__ import annotations

import ast
import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence

from runner_sync.naming import module_name, project_of
from runner_sync.syntax import Function, is_name, is_parent, statements_of
from runner_sync.verify.answers import Answers, remembered
from runner_sync.verify.trees import importing
from runner_sync.verify.trees.classes import Assignment, Classes, ClassInfo, Method, Mro, classes_in
from runner_sync.verify.trees.frames import Frame, frame_of
from runner_sync.verify.trees.functions import reads_of, strings_of
from runner_sync.verify.trees.instance import is_own_super
from runner_sync.verify.trees.lasting import drop_replaced
from runner_sync.verify.trees.modules import Module, imports_at_start
from runner_sync.verify.trees.world import Definition, World


class Runtime:
    """The checked modules of one world and everything that runs with them. ``names`` are their paths."""

    def __init__(self, world: World, names: Sequence[str]) -> None:
        self.world = world
        self.classes = Classes(world)
        self.checked = [world.module_at(path) for path in names]
        self.answers = Answers()

    @remembered
    def frames(self, module: Module) -> list[Frame]:
        """Return every function of ``module`` as a frame; for an inherited module, only the methods that can run on
        NPU."""
        if module in self.checked:
            return self.every_frame(module)
        live = {key for mro in self.leaves() for key in self.live(mro)}
        return [frame for frame in self.every_frame(module) if id(frame.function) in live]

    @remembered
    def every_frame(self, module: Module) -> list[Frame]:
        """Return the functions of ``module``, the methods of its top-level classes, and its import code as made-up
        functions."""
        found = [Frame(module, function, None) for function in importing.make_functions(module)]
        for statement in statements_of(module.node.body):
            if isinstance(statement, Function):
                found.append(self.frame_of(module, statement))
            elif isinstance(statement, ast.ClassDef):
                info = self.classes.info_of(module, statement)
                found += [self.frame(info, s) for s in statements_of(statement.body) if isinstance(s, Function)]
        return found

    def twin(self, frame: Frame) -> Frame | None:
        """Return the frame of the same unit of the same module in this program, or ``None``."""
        return self._map_units(frame.module.path).get(frame.unit)

    @remembered
    def _map_units(self, path: str) -> dict[str, Frame]:
        modules = (module for module in (*self.checked, *self.inherited()) if module.path == path)
        frames = [frame for module in modules for frame in self.frames(module)]
        return {frame.unit: frame for frame in reversed(frames)}

    def inherited(self) -> list[Module]:
        """Return the unchecked omni modules with a class in the MRO of a checked class."""
        found = {info.module.name: info.module for info in classes_in(self.leaves()) if info.is_omnis}
        return [found[name] for name in sorted(found) if found[name] not in self.checked]

    def imported(self) -> list[Module]:
        """Return the unchecked omni modules that are imported whenever a checked module is.

        timid: skips the packages that contain them (``vllm_omni/__init__.py``), which every omni module shares.
        """
        found: dict[str, Module] = {}
        pending = [*self.checked]
        while pending:
            module = pending.pop()
            named = [name for i in imports_at_start(module) for name in (i.module, f"{i.module}.{i.name}")]
            fresh = {name for name in named if name not in found and project_of(name) == "vllm-omni"}
            known = [self.world.module(name) for name in sorted(fresh)]
            found |= {one.name: one for one in known if one is not None}
            pending += [one for one in known if one is not None and one not in self.checked]
        return [found[name] for name in sorted(found) if found[name] not in self.checked]

    def frame(self, info: ClassInfo, function: Function) -> Frame:
        """Return the frame of one method."""
        return self.frame_of(info.module, function, info)

    @remembered
    def frame_of(self, module: Module, function: Function, info: ClassInfo | None = None) -> Frame:
        """Return the frame of a function, always the same one."""
        return frame_of(module, function, info)

    def is_last(self, info: ClassInfo) -> bool:
        """Whether no class derives from this one.

        Only vllm-ascend classes can be last: some subclasses of vLLM classes are unknown, and omni code outside the
        surroundings has to run without vllm-ascend.
        """
        return info.module.project == "vllm-ascend" and not self.world.surroundings.deriving_from(info.name)

    def mros(self, info: ClassInfo) -> list[Mro]:
        """Return the MROs that ``self`` can have in a method of ``info``: the MROs of its most derived checked
        subclasses."""
        return self._group_leaves().get(info) or self.classes.mros(info)

    @remembered
    def _group_leaves(self) -> dict[ClassInfo, list[Mro]]:
        found: dict[ClassInfo, list[Mro]] = {}
        for mro in self.leaves():
            for part in mro.classes:
                found.setdefault(part, []).append(mro)
        return found

    @remembered
    def leaves(self) -> list[Mro]:
        """Return the MROs of all checked classes that no checked class derives from."""
        own = [info for module in self.checked for info in self.own_classes(module)]
        bases = {base for info in own for mro in self.classes.mros(info) for base in mro.classes[1:]}
        return [mro for info in own if info not in bases for mro in self.classes.mros(info)]

    def own_classes(self, module: Module) -> list[ClassInfo]:
        """Return the top-level classes of ``module``."""
        nodes = [b.node for bindings in module.bindings.values() for b in bindings if b.kind == "class"]
        return [self.classes.info_of(module, node) for node in nodes if isinstance(node, ast.ClassDef)]

    def checked_classes(self, module: Module) -> list[ClassInfo]:
        """Return the top-level classes of a checked module; none of an inherited one."""
        return self.own_classes(module) if module in self.checked else []

    def subclasses_near(self, info: ClassInfo) -> list[ClassInfo]:
        """Return the classes that derive from ``info``, or are it, in the modules around the runners."""
        paths = self.world.surroundings.deriving_from(info.name)
        modules = [module for path in paths if (module := self.world.module(module_name(path))) is not None]
        classes = (one for module in modules for one in self.own_classes(module))
        return [one for one in classes if any(info in mro for mro in self.classes.mros(one))]

    @remembered
    def live(self, mro: Mro) -> dict[int, Method]:
        """Return the methods of an MRO that can run.

        These are the first of each name, and the parents' methods that they call through ``super()`` or a class name.
        """
        names = [(info, name) for info in mro.classes for name in info.methods if mro.first_with(name) is info]
        return self.reach(mro, [(info, function) for info, name in names for function in info.methods[name]])

    @remembered
    def mentioned(self, mro: Mro) -> frozenset[str]:
        """Return the attribute names that the live methods of an MRO read, on any object, and their strings.

        Skips a name in a method's call of its own parent (``super().name()``), because that alone makes nothing call
        it.
        """
        return frozenset().union(*(_find_mentions(f) for _, f in self.live(mro).values()))

    def is_called(self, mro: Mro, method: str) -> bool:
        """Whether live methods, or code around the runners, mention a method of an MRO, perhaps in a string."""
        mros = [mro, *self.leaves()]  # also a worker's calls of its runner
        if any(method in self.mentioned(other) for other in mros):
            return True
        return self.world.surroundings.is_used_elsewhere(method, beside=_find_vllm_folders(mro))

    @remembered
    def runs(self, mro: Mro, info: ClassInfo, method: Function) -> bool:
        """Whether a chain of calls from outside an MRO reaches one of its live methods.

        `is_called` asks for a single mention, which a helper has even if nothing calls the method that mentions it.
        timid: assumes that all omni methods run.
        """
        pending, seen = [(info, method)], {method.name}
        while pending:
            owner, function = pending.pop()
            name = function.name
            if owner.is_omnis or name.startswith("__") or self._is_called_from_outside(mro, name):
                return True
            callers = [(i, f) for i, f in self.live(mro).values() if f.name not in seen and name in _find_mentions(f)]
            seen |= {f.name for _, f in callers}
            pending += callers
        return False

    def _is_called_from_outside(self, mro: Mro, name: str) -> bool:
        """Whether another runner or worker, on any object but ``self``, or code around them mentions ``name``."""
        others = [f for other in self.leaves() if other is not mro for _, f in self.live(other).values()]
        if any(name in _find_mentions(f, of_self=False) for f in others):
            return True
        return self.world.surroundings.is_used_elsewhere(name, beside=_find_vllm_folders(mro))

    def is_reached(
        self,
        mro: Mro,
        method: Function,
        seen: frozenset[str] = frozenset(),
        *,
        calls: Callable[[ClassInfo, Function, str], bool] = lambda *_: True,
    ) -> bool:
        """Whether code that runs calls a live method of an MRO, and not only omni's code for other platforms.

        ``calls(info, caller, name)`` says whether an omni method that mentions ``name`` may call it on NPU.
        """
        name = method.name
        if name.startswith("__") or self.world.surroundings.is_used_elsewhere(name):
            return True
        callers = [(info, f) for info, f in self.live(mro).values() if f is not method and name in _find_mentions(f)]
        if any(not info.is_omnis for info, _ in callers):
            return True
        seen |= {name}
        callers = [(info, f) for info, f in callers if f.name not in seen and calls(info, f, name)]
        return any(self.is_reached(mro, f, seen, calls=calls) for _, f in callers)

    def last_before(self, mro: Mro, method: Function) -> Method | None:
        """Return the override that keeps ``method`` from running, or ``None``.

        It is the last live method of that name before it in the MRO, and does not call ``super()``.
        """
        live = self.live(mro)
        if not mro.reached(method.name):
            return None
        owners = itertools.takewhile(lambda info: method not in info.methods.get(method.name, ()), mro.classes)
        running = [i for i in owners if any(id(f) in live for f in i.methods.get(method.name, ()))]
        return (running[-1], running[-1].methods[method.name][0]) if running else None

    def omnis_override(self, mro: Mro, method: Function) -> Frame | None:
        """Return omni's override without which ``method`` would run on an MRO, or ``None``."""
        found = self.last_before(mro, method)
        is_cause = found is not None and found[0].is_omnis and self.hides(mro, found[0], method)
        return self.frame(*found) if found is not None and is_cause else None

    def hides(self, mro: Mro, info: ClassInfo, method: Function) -> bool:
        """Whether ``method`` would run without the override in ``info``; if not, an upstream class overrides it as
        well.

        Overrides in other classes of the same project are removed, too: ``OmniNPUModelRunner._dummy_run`` and
        ``OmniGPUModelRunner._dummy_run`` both come before vllm-ascend's method.
        """
        start = mro.reached(method.name, after=info)
        behind = (c for c in mro.classes if c.module.project != info.module.project and method.name in c.methods)
        start += [(owner, function) for owner in itertools.islice(behind, 1) for function in owner.methods[method.name]]
        return id(method) in self.reach(mro, start)

    def overridden(self, info: ClassInfo, name: str) -> Iterator[Method]:
        """Yield the next methods of a name behind a class, over the MROs that ``self`` can have in it."""
        return (method for mro in self.mros(info) for method in mro.reached(name, after=info))

    def hidden_by(self, frame: Frame) -> list[Frame]:
        """Return the nearest upstream methods that an omni method overrides, over all MROs."""
        found: dict[int, Frame] = {}
        name, info = frame.function.name, frame.info
        for mro in self.mros(info) if info is not None and frame.function in info.methods.get(name, ()) else ():
            owner = next((c for c in mro.classes if not c.is_omnis and name in c.methods), None)
            found |= {id(f): self.frame(owner, f) for f in owner.methods[name]} if owner is not None else {}
        return list(found.values())

    def reach(self, mro: Mro, start: Iterable[Method]) -> dict[int, Method]:
        """Return ``start`` and every parent method that it calls, directly or not."""
        pending = list(start)
        seen: dict[int, Method] = {}
        while pending:
            info, function = pending.pop()
            if id(function) not in seen:
                seen[id(function)] = (info, function)
                pending.extend(self._find_parent_calls(mro, info, function))
        return seen

    def _find_parent_calls(self, mro: Mro, info: ClassInfo, function: Function) -> Iterator[Method]:
        for node in _find_class_reads(function):
            if is_own_super(function, node.value):
                yield from mro.reached(node.attr, after=info)
            elif isinstance(node.value, ast.Name):
                bases = [self.classes.info(one) for one in self.world.resolve(info.module, node.value.id)]
                for base_mro in self.classes.mros_of(base for base in bases if base is not None):
                    yield from base_mro.reached(node.attr)

    def definitions(self, frame: Frame, dotted: str) -> list[Definition]:
        """Return what a dotted name means in ``frame``; empty if its first part is a local variable."""
        head, _, rest = dotted.partition(".")
        if head in frame.bound:
            return []
        if head in frame.imports:
            found = [definition for imported in frame.imports[head] for definition in self.world.imported(imported)]
            for part in rest.split(".") if rest else ():
                found = [d for outer in found for d in self.world.member(outer, part)]
            return found
        return self.world.resolve(frame.module, dotted)

    def assignments(self, mro: Mro, name: str) -> list[tuple[ClassInfo, Assignment]]:
        """Return the lasting assignments of an attribute in class bodies and in methods that can still run."""
        live = self.live(mro)
        found = [(info, a) for info, a in mro.written(name) if a.function is None or id(a.function) in live]
        return drop_replaced(mro, name, found)

    def is_never_true(self, frame: Frame, test: ast.expr) -> bool:
        """Whether a condition requires a flag of ``self`` that every assignment that can run sets to ``False``."""
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            return any(self.is_never_true(frame, part) for part in test.values)
        if not frame.is_of_self(test) or frame.info is None:
            return False
        mros = self.mros(frame.info)
        values = [a.value for mro in mros for _, a in self.assignments(mro, test.attr)]
        is_false = [isinstance(value, ast.Constant) and value.value is False for value in values]
        return bool(values) and all(is_false) and not any(mro.open for mro in mros)


@functools.lru_cache(maxsize=16384)
def _find_class_reads(function: Function) -> tuple[ast.Attribute, ...]:
    """Return the attributes that a function reads of ``super()``, or of a capitalised name, as classes have."""
    return tuple(
        node
        for node in reads_of(function)
        if is_own_super(function, node.value) or (isinstance(node.value, ast.Name) and node.value.id[:1].isupper())
    )


@functools.lru_cache(maxsize=4096)
def _find_mentions(function: Function, *, of_self: bool = True) -> frozenset[str]:
    """Return the attribute names that a method reads, and its strings.

    Skips the method's own name on a parent (``super().run()`` in ``run``); without ``of_self``, skips anything on
    ``self`` or a parent.
    """
    reads = (n for n in reads_of(function) if of_self or not (is_name(n.value, "self") or is_parent(n.value)))
    read = {n.attr for n in reads if n.attr != function.name or not is_parent(n.value)}
    return strings_of(function).union(read)


def _find_vllm_folders(mro: Mro) -> set[str]:
    return {info.module.path.rpartition("/")[0] for info in mro.classes if info.module.project == "vllm"}
