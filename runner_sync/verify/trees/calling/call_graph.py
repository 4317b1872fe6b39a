"""What calls reach, over the real MRO.

Comes in: a `World` and the modules that are checked. Goes out: the possible callees of a call; none where they cannot
be told, so that a rule reports nothing. May touch: nothing else. `Program` infers the objects that methods are called
on.
"""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Sequence

from runner_sync.syntax import Function, dotted_name
from runner_sync.verify.trees.calling import callees, wrappers
from runner_sync.verify.trees.calling.aliases import meant
from runner_sync.verify.trees.calling.callees import Callee
from runner_sync.verify.trees.classes import ClassInfo, Mro
from runner_sync.verify.trees.frames import Frame, class_frame
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.runtime import Runtime
from runner_sync.verify.trees.values.annotations import Instance
from runner_sync.verify.trees.world import Definition, World

MAX_DEPTH = 6
"""Expressions followed one after the other to find the class of the first; beyond that it counts as unknown."""

Question = tuple[Module, Function, ClassInfo | None, ast.expr, int]
"""The cache key of an expression: its frame, the node, and the steps that led to it. Every rule asks about the same few
thousand."""


def question(frame: Frame, node: ast.expr, depth: int) -> Question:
    """The key that an answer about ``node`` is cached under."""
    return frame.module, frame.function, frame.info, node, depth


class CallGraph(Runtime, ABC):
    """The calls of one world; answers are cached."""

    def __init__(self, world: World, names: Sequence[str]) -> None:
        super().__init__(world, names)
        self._reached: dict[Question, list[list[Callee]]] = {}

    def callees(self, frame: Frame, call: ast.Call, depth: int = 0) -> list[list[Callee]]:
        """Groups of callees, one per MRO; a call is wrong when it fits no member of some group."""
        asked = question(frame, call, depth)
        if asked not in self._reached:
            self._reached[asked] = self._callees(frame, call, depth)
        return self._reached[asked]

    def _callees(self, frame: Frame, call: ast.Call, depth: int) -> list[list[Callee]]:
        function = call.func
        if isinstance(function, ast.Name):
            named = meant(frame, call) if function.id in frame.bound and depth <= MAX_DEPTH else call
            if named is not call:
                return self.callees(frame, named, depth + 1)
            return self._of_definitions(self.definitions(frame, function.id))
        if not isinstance(function, ast.Attribute):
            return []
        if frame.is_super(function.value) and frame.info is not None:
            mros = [mro for mro in self.mros(frame.info) if frame.info in mro]
            return [self.method(mro, function.attr, after=frame.info) for mro in mros]
        if frame.is_self(function.value) and frame.info is not None:
            found = [self.method(mro, function.attr) for mro in self.mros(frame.info)]
            return found if any(found) else self._constructors([i.info for i in self.held_classes(frame, function)])
        dotted = dotted_name(function)
        definitions = self.definitions(frame, dotted) if dotted else []
        if definitions and not all(d.kind in ("external", "value") for d in definitions):
            return self._of_definitions(definitions)
        through_class = self._through_class(frame, function)
        if through_class:
            return [through_class]
        instances = self.infer(frame, function.value, depth + 1) or []
        groups = [self.method(mro, function.attr) for i in instances for mro in self.classes.mros(i.info)]
        # timid: of a union only a call that no member accepts is wrong.
        return [[callee for group in groups for callee in group]] if all(groups) else []

    def mros_of(self, frame: Frame, node: ast.expr, depth: int = 0, *, only_exact: bool = False) -> list[Mro]:
        """The MROs of the object that an expression is; of another than ``self``, with ``only_exact``, where it is made
        in sight."""
        if frame.info is not None and frame.is_self(node):
            return self.mros(frame.info)
        instances = self.infer(frame, node, depth) or []
        is_known = not only_exact or all(instance.exact for instance in instances)
        return [mro for i in instances for mro in self.classes.mros(i.info)] if is_known else []

    def branches(self, info: ClassInfo) -> list[frozenset[str]]:
        """For each MRO of a class, the classes in it that not all of the MROs have: they tell it from the others."""
        names = [frozenset(f"{c.module.name}.{c.name}" for c in mro.classes) for mro in self.mros(info)]
        shared = frozenset.intersection(*names or [frozenset()])
        return [one - shared for one in names]

    def method(
        self, mro: Mro, name: str, *, after: ClassInfo | None = None, through_class: bool = False
    ) -> list[Callee]:
        """The callees of ``self.name(…)`` on an MRO; empty when the name is unknown or assigned to, or a decorator
        hides the signature."""
        reached = mro.find(name, after=after)
        if reached is None or (mro.open and reached[0] is not mro.head):
            return []
        info, functions = reached
        if after is None and any(name in c.written for c in mro.classes):
            return []
        found = [self._of_function(f, info.module, info, through_class=through_class) for f in functions]
        known = [callee for callee in found if callee is not None]
        return known if len(known) == len(found) else []

    def _through_class(self, frame: Frame, function: ast.Attribute) -> list[Callee]:
        dotted = dotted_name(function.value)
        found: list[Callee] = []
        for definition in self.definitions(frame, dotted) if dotted else ():
            info = self.classes.info(definition)
            if info is None:
                return []
            for mro in self.classes.mros(info):
                found.extend(self.method(mro, function.attr, through_class=True))
        return found

    def _of_definitions(self, definitions: Sequence[Definition]) -> list[list[Callee]]:
        """One group with the callees of all definitions; for a single class, one group per constructor: its conditional
        bases may lead to several."""
        meant = self.with_patches(definitions)
        info = self.classes.info(meant[0]) if len(meant) == 1 else None
        if info is not None:
            return self._constructors([info])
        reached = [self._of_definition(definition) for definition in meant]
        return [[callee for group in reached for callee in group] if all(reached) else []]

    def _of_definition(self, definition: Definition) -> list[Callee]:
        info = self.classes.info(definition)
        node, module = definition.node, definition.module
        if info is not None:
            return callees.constructors(self.classes, info)
        if definition.kind != "function" or not isinstance(node, Function) or module is None:
            return []
        callee = self._of_function(node, module, None, through_class=True)
        return [callee] if callee is not None else []

    def _of_function(
        self, function: Function, module: Module, info: ClassInfo | None, *, through_class: bool
    ) -> Callee | None:
        """A function with the signature that callers see; ``None`` where a decorator may change that of one of omni's
        own, or hides that of an upstream one."""
        found = callees.of_function(function, module, info, through_class=through_class)
        if found is not None or module.project == "vllm-omni":
            return found
        met = wrappers.met(self.world, function, module)
        return callees.as_wrapped(function, *met, info, through_class=through_class) if met is not None else None

    def promised(self, callee: Callee) -> tuple[Module, ast.expr | None]:
        """The return annotation of a callee and its module; for an unannotated method, that of the method it
        overrides."""
        function, info = callee.function, callee.info
        if function is None or function.returns is not None or info is None:
            return callee.module, function.returns if function is not None else None
        mros = [mro for mro in self.mros(info) if info in mro]
        hidden = [found for mro in mros if (found := mro.find(function.name, after=info)) is not None]
        said = [(owner.module, other.returns) for owner, others in hidden for other in others if other.returns]
        return said[0] if said else (callee.module, None)

    def _constructors(self, infos: Sequence[ClassInfo]) -> list[list[Callee]]:
        return [[callee] for info in infos for callee in callees.constructors(self.classes, info)]

    def with_patches(self, definitions: Sequence[Definition]) -> list[Definition]:
        """Definitions, each followed by what start-up patches replace it with."""
        return [d for definition in definitions for d in (definition, *self.world.patches_of(definition.name))]

    def named_classes(self, frame: Frame, node: ast.expr) -> list[Instance]:
        """Instances of the classes that ``node`` names; none unless all that the (dotted) name can mean are classes."""
        dotted = dotted_name(node)
        definitions = self.definitions(frame, dotted) if dotted else []
        infos = [self.classes.info(definition) for definition in definitions]
        return [Instance(info, True) for info in infos if info is not None] if all(infos) else []

    def held_classes(self, frame: Frame, node: ast.expr) -> list[Instance]:
        """The classes that ``self.x`` itself stands for (``model_runner_cls = Runner``); none unless only class bodies
        of the MRO set it."""
        if not frame.is_of_self(node):
            return []
        found: list[Instance] = []
        for mro in self.mros(frame.info) if frame.info is not None else []:
            written = mro.written(node.attr)
            held = [self.named_classes(class_frame(i), a.value) for i, a in written if a.value and i is written[0][0]]
            if mro.open or not held or not all(held) or any(a.function or not a.value for _, a in written):
                return []
            found.extend(instance for classes in held for instance in classes)
        return found

    @abstractmethod
    def infer(self, frame: Frame, node: ast.expr, depth: int = 0) -> list[Instance] | None:
        """The classes that ``node`` can be an instance of (a value ``None`` adds none); ``None`` when they are
        unknown."""
