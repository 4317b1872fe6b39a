"""What calls reach, over the real MRO.

Comes in: a `World` and the modules that are checked. Goes out: the possible callees of a call; none if they are
unknown, so that a rule reports nothing. May touch: nothing else. `Program` infers the objects that methods are called
on.
"""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace

from runner_sync.signatures import decorator_names
from runner_sync.syntax import Function, dotted_name, generic_of
from runner_sync.verify.answers import remembered
from runner_sync.verify.trees.calling import callees, forwarding, wrappers
from runner_sync.verify.trees.calling.aliases import resolve_alias
from runner_sync.verify.trees.calling.callees import Callee
from runner_sync.verify.trees.classes import ClassInfo, Mro
from runner_sync.verify.trees.frames import Frame, class_frame, module_frame
from runner_sync.verify.trees.known import all_known, join_known
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.runtime import Runtime
from runner_sync.verify.trees.values.annotations import Instance
from runner_sync.verify.trees.world import Definition

MAX_DEPTH = 6
"""Expressions followed in a chain to find the class of the first; beyond that it counts as unknown."""


class CallGraph(Runtime, ABC):
    """The calls of one world; answers are cached."""

    @remembered
    def callees(self, frame: Frame, call: ast.Call, depth: int = 0) -> list[list[Callee]]:
        """Return groups of callees, one per MRO; a call is wrong if it fits no member of some group."""
        function = call.func
        if isinstance(function, ast.Name):
            real_call = resolve_alias(frame, call) if function.id in frame.bound and depth <= MAX_DEPTH else call
            if real_call is not call:
                return self.callees(frame, real_call, depth + 1)
            return self._callees_of_definitions(self.definitions(frame, function.id))
        if not isinstance(function, ast.Attribute):
            return []
        if frame.is_super(function.value) and frame.info is not None:
            mros = [mro for mro in self.mros(frame.info) if frame.info in mro]
            return [self.method(mro, function.attr, after=frame.info) for mro in mros]
        if frame.is_self(function.value) and frame.info is not None:
            return self._callees_of_self(frame, frame.info, function, depth)
        return self._callees_of_attribute(frame, function, depth)

    def _callees_of_self(
        self, frame: Frame, info: ClassInfo, function: ast.Attribute, depth: int
    ) -> list[list[Callee]]:
        """Return the groups of ``self.function(…)``: of the methods, or else of the classes or objects held there."""
        found = [self.method(mro, function.attr) for mro in self.mros(info)]
        if any(found):
            return found
        held = self._group_constructors([i.info for i in self.held_classes(frame, function)])
        return held or self._group_called(frame, function, depth) or found

    def _callees_of_attribute(self, frame: Frame, function: ast.Attribute, depth: int) -> list[list[Callee]]:
        """Return the groups of a call of an attribute of anything but ``self``: of a module, a class, or an object."""
        dotted = dotted_name(function)
        definitions = self.definitions(frame, dotted) if dotted else []
        if definitions and not all(d.kind in ("external", "value") for d in definitions):
            return self._callees_of_definitions(definitions)
        if dotted and self._is_module_value(frame, dotted, definitions):
            return self._callees_of_definitions(definitions)
        through_class = self._find_through_class(frame, function)
        if through_class:
            return [through_class]
        groups = [self.method(mro, function.attr) for mro in self.mros_of(frame, function.value, depth + 1)]
        # timid: for a union, only a call that no member accepts is wrong.
        return [join_known(groups)] if groups and all(groups) else self._group_called(frame, function, depth)

    def reached(self, frame: Frame, call: ast.Call, depth: int = 0) -> list[Callee]:
        """Return the callees of all groups."""
        return [callee for group in self.callees(frame, call, depth) for callee in group]

    def mros_of(self, frame: Frame, node: ast.expr, depth: int = 0, *, only_exact: bool = False) -> list[Mro]:
        """Return the MROs of the object that an expression is.

        With ``only_exact``, an object other than ``self`` counts only if it is constructed here.
        """
        if frame.info is not None and frame.is_self(node):
            return self.mros(frame.info)
        instances = self.infer(frame, node, depth) or []
        is_known = not only_exact or all(instance.exact for instance in instances)
        return self.classes.mros_of(instance.info for instance in instances) if is_known else []

    def branches(self, info: ClassInfo) -> list[frozenset[str]]:
        """Return for each MRO of a class the classes that tell it from the others: not all of its MROs have them."""
        names = [frozenset(f"{c.module.name}.{c.name}" for c in mro.classes) for mro in self.mros(info)]
        shared = frozenset.intersection(*names or [frozenset()])
        return [one - shared for one in names]

    def method(
        self, mro: Mro, name: str, *, after: ClassInfo | None = None, through_class: bool = False
    ) -> list[Callee]:
        """Return the callees of ``self.name(…)`` on an MRO.

        Empty if the name is unknown or assigned to, or if a decorator hides the signature.
        """
        reached = mro.find(name, after=after)
        if reached is None or (mro.open and reached[0] is not mro.head):
            return []
        info, functions = reached
        if after is None and any(name in c.written for c in mro.classes):
            return []
        found = (self._callee_of_function(f, info.module, info, through_class=through_class) for f in functions)
        return [one if through_class else self._see_through(mro, one) for one in all_known(found)]

    def _see_through(self, mro: Mro, callee: Callee) -> Callee:
        """Return an override that hands all its arguments on with the signature of the method that gets them.

        Any other callee stays as it is.
        """
        function, info = callee.function, callee.info
        parent = forwarding.find_parent(function) if function is not None else None
        if function is None or info is None or parent is None:
            return callee
        frame = self.frame(info, function)
        if frame.is_super(parent):
            hidden = self.method(mro, function.name, after=info)
        else:
            bases = all_known(self.classes.info(one) for one in self.definitions(frame, ast.unparse(parent)))
            found = [
                one for base in bases if base in mro for one in self.method(self.classes.mros(base)[0], function.name)
            ]
            hidden = found if len({one.info for one in found}) == 1 else []
        is_one = len(hidden) == 1 and hidden[0].info is not info
        return replace(callee, signature=hidden[0].signature, place=hidden[0].place) if is_one else callee

    def _is_module_value(self, frame: Frame, dotted: str, definitions: Sequence[Definition]) -> bool:
        """Whether a dotted name is a value of a module that no other module replaces: ``kernels.is_paged``."""
        owner, _, name = dotted.rpartition(".")
        if not definitions or any(d.kind != "value" or d.last_name != name for d in definitions):
            return False
        is_of_module = all(d.kind == "module" for d in self.definitions(frame, owner))
        return is_of_module and not self.world.surroundings.is_written_elsewhere(name)

    def _find_through_class(self, frame: Frame, function: ast.Attribute) -> list[Callee]:
        dotted = dotted_name(function.value)
        found: list[Callee] = []
        for definition in self.definitions(frame, dotted) if dotted else ():
            info = self.classes.info(definition)
            if info is None:
                return []
            for mro in self.classes.mros(info):
                found.extend(self.method(mro, function.attr, through_class=True))
        return found

    def _callees_of_definitions(self, definitions: Sequence[Definition]) -> list[list[Callee]]:
        """Return one group with the callees of all definitions.

        For a single class, return one group per constructor, because its conditional bases may lead to several.
        """
        patched = self.with_patches(definitions)
        info = self.classes.info(patched[0]) if len(patched) == 1 else None
        if info is not None:
            return self._group_constructors([info])
        return [join_known(self._callees_of_definition(definition) for definition in patched)]

    def _callees_of_definition(self, definition: Definition) -> list[Callee]:
        info = self.classes.info(definition)
        node, module = definition.node, definition.module
        if info is not None:
            return callees.find_constructors(self.classes, info)
        if definition.kind == "value" and module is not None:
            return self._callees_of_value(definition, module)
        if definition.kind != "function" or not isinstance(node, Function) or module is None:
            return []
        callee = self._callee_of_function(node, module, None, through_class=True)
        return [callee] if callee is not None else []

    def _callees_of_value(self, definition: Definition, module: Module) -> list[Callee]:
        """Return the callees of a module's ``name = lambda …``, or of ``name = Class()``: the method ``__call__``."""
        value, name = definition.value, definition.last_name
        if isinstance(value, ast.Lambda):
            callee = callees.from_function(callees.make_function(name, value), module, None, through_class=True)
            return [callee] if callee is not None else []
        made = self.named_classes(module_frame(module), value.func) if isinstance(value, ast.Call) else []
        mros = self.classes.mros_of(instance.info for instance in made)
        if any(mro.has_method("__new__") or any(_may_make_another(info) for info in mro.classes) for mro in mros):
            return []
        return [replace(callee, name=name) for callee in join_known(self.method(mro, "__call__") for mro in mros)]

    def _group_called(self, frame: Frame, function: ast.Attribute, depth: int) -> list[list[Callee]]:
        """Return one group with what runs if the object that an attribute holds is called: ``self.sampler(logits)``.

        timid: only for objects that are constructed in sight, since a subclass may take other arguments.
        """
        groups = [self._find_called(mro) for mro in self.mros_of(frame, function, depth + 1, only_exact=True)]
        found = join_known(groups) if all(groups) else []
        return [[replace(callee, name=function.attr) for callee in found]] if found else []

    def _find_called(self, mro: Mro) -> list[Callee]:
        """Return the method ``__call__`` of an object, or ``forward`` of a torch module, which calls that."""
        if mro.has_method("__new__") or any(info.open or _may_make_another(info) for info in mro.classes):
            return []
        if mro.has("__call__") or not _is_torch_module(mro):
            return self.method(mro, "__call__")
        return [] if mro.written("forward") else self.method(replace(mro, open=False), "forward")

    def _callee_of_function(
        self, function: Function, module: Module, info: ClassInfo | None, *, through_class: bool
    ) -> Callee | None:
        """Return a function with the signature that callers see, or ``None`` if a decorator makes it unknown."""
        found = callees.from_function(function, module, info, through_class=through_class)
        if found is not None or module.is_omnis:
            return found
        visible = wrappers.find_visible_function(self.world, function, module)
        if visible is None:
            return None
        return callees.from_wrapper(function, visible, info, through_class=through_class)

    def declared_return(self, callee: Callee) -> tuple[Module, ast.expr | None]:
        """Return the return annotation of a callee and its module; for an unannotated method, of the first annotated
        one that it overrides."""
        function, info = callee.function, callee.info
        if function is None or function.returns is not None or info is None:
            return callee.module, function.returns if function is not None else None
        behind = (owner for mro in self.mros(info) if info in mro for owner in mro.behind(info))
        overridden = ((owner, hidden) for owner in behind for hidden in owner.methods.get(function.name, ()))
        annotated = ((owner.module, hidden.returns) for owner, hidden in overridden if hidden.returns)
        return next(annotated, (callee.module, None))

    def _group_constructors(self, infos: Sequence[ClassInfo]) -> list[list[Callee]]:
        return [[callee] for info in infos for callee in callees.find_constructors(self.classes, info)]

    def with_patches(self, definitions: Sequence[Definition]) -> list[Definition]:
        """Return the definitions, each followed by what start-up patches replace it with."""
        return [d for definition in definitions for d in (definition, *self.world.patches_of(definition.name))]

    def named_classes(self, frame: Frame, node: ast.expr) -> list[Instance]:
        """Return instances of the classes that ``node`` names; empty unless all meanings of the (dotted) name are
        classes."""
        dotted = dotted_name(node)
        definitions = self.definitions(frame, dotted) if dotted else []
        return [Instance(info, True) for info in all_known(self.classes.info(one) for one in definitions)]

    def held_classes(self, frame: Frame, node: ast.expr) -> list[Instance]:
        """Return the classes that ``self.x`` itself stands for (``model_runner_cls = Runner``).

        Empty unless only class bodies of the MRO set it.
        """
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
        """Return the classes that ``node`` can be an instance of (a value ``None`` adds none); ``None`` if they are
        unknown."""


def _may_make_another(info: ClassInfo) -> bool:
    """Whether a decorator or a metaclass may make a call of the class return something else."""
    return bool(info.node.keywords) or bool(decorator_names(info.node) - {"dataclass"})


_TORCH_MODULES = frozenset({"Module", "nn.Module", "torch.nn.Module"})
_PLAIN_BASES = frozenset({"object", "ABC", "abc.ABC", "Generic", "typing.Generic"})


def _is_torch_module(mro: Mro) -> bool:
    """Whether torch's module is the only base outside the trees."""
    known = {info.name for info in mro.classes}
    bases = {ast.unparse(generic_of(base)) for info in mro.classes for base in info.node.bases}
    outside = {base for base in bases if base.rpartition(".")[2] not in known} - _PLAIN_BASES
    return bool(outside) and outside <= _TORCH_MODULES
