"""What calls reach and what expressions are, over the real MRO.

Comes in: a `World` and the modules that are checked. Goes out: the possible callees of a call, the classes an
expression can be an instance of. May touch: nothing else. What cannot be told is ``None`` or empty: a rule then says
nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from runner_sync.syntax import dotted_name, is_name, is_super
from runner_sync.verify import callees, elements, wrappers
from runner_sync.verify.aliases import meant
from runner_sync.verify.annotations import Instance, entered_type, instances, tuple_parts, union
from runner_sync.verify.callees import Callee
from runner_sync.verify.classes import Assignment, ClassInfo, Mro, is_record
from runner_sync.verify.frames import Frame, class_frame, frame_of, module_frame
from runner_sync.verify.modules import FunctionNode, Module, is_plain, returns_of
from runner_sync.verify.runtime import Runtime
from runner_sync.verify.world import Definition, World

_MAX_DEPTH = 6
"""Steps from one expression to the next in which a class is looked for; beyond them it counts as unknown."""

# Of the standard library's `copy` and `dataclasses`.
_COPYING = frozenset({"copy", "copy.copy", "deepcopy", "copy.deepcopy", "replace", "dataclasses.replace"})


_Question = tuple[Module, FunctionNode, ClassInfo | None, ast.expr, int]
"""An expression, the frame that it stands in, and the steps that led to it. Every rule asks about the same few
thousand."""


def _question(frame: Frame, node: ast.expr, depth: int) -> _Question:
    return frame.module, frame.function, frame.info, node, depth


class Program(Runtime):
    """Call and type questions about one world. What was answered once is remembered."""

    def __init__(self, world: World, names: Sequence[str]) -> None:
        super().__init__(world, names)
        self._reached: dict[_Question, list[list[Callee]]] = {}
        self._inferred: dict[_Question, list[Instance] | None] = {}

    def callees(self, frame: Frame, call: ast.Call, depth: int = 0) -> list[list[Callee]]:
        """Groups of callees, one per MRO; a call is wrong when it fits no member of some group."""
        question = _question(frame, call, depth)
        if question not in self._reached:
            self._reached[question] = self._callees(frame, call, depth)
        return self._reached[question]

    def _callees(self, frame: Frame, call: ast.Call, depth: int) -> list[list[Callee]]:
        function = call.func
        if isinstance(function, ast.Name):
            named = meant(frame, call) if function.id in frame.bound and depth <= _MAX_DEPTH else call
            if named is not call:
                return self.callees(frame, named, depth + 1)
            return self._of_definitions(self.definitions(frame, function.id))
        if not isinstance(function, ast.Attribute):
            return []
        if is_super(function.value) and frame.info is not None:
            mros = [mro for mro in self.mros(frame.info) if frame.info in mro]
            return [self.method(mro, function.attr, after=frame.info) for mro in mros]
        if frame.owner and is_name(function.value, frame.owner) and frame.info is not None:
            found = [self.method(mro, function.attr) for mro in self.mros(frame.info)]
            return found if any(found) else self._constructors([i.info for i in self._held_classes(frame, function)])
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

    def callees_since(
        self, frame: Frame, call: ast.Call, *, old: Program, before: Frame
    ) -> list[tuple[list[Callee], list[Callee]]]:
        """The callees of a call and those that it had in ``old``, group by group.

        Branches of a conditional base belong together by what sets them apart, where both programs have the same ones:
        they may stand in another order.
        """
        now, was = self.callees(frame, call), old.callees(before, call)
        if frame.info is not None and before.info is not None:
            mine, theirs = self.branches(frame.info), old.branches(before.info)
            if set(mine) == set(theirs) and len(mine) == len(now) == len(was):
                of = dict(zip(theirs, was, strict=True))
                return [(group, of[branch]) for branch, group in zip(mine, now, strict=True)]
        return list(zip(now, was, strict=False))

    def branches(self, info: ClassInfo) -> list[frozenset[str]]:
        """What tells each MRO of a class from the others: the classes that not all of them have."""
        names = [frozenset(f"{c.module.name}.{c.name}" for c in mro.classes) for mro in self.mros(info)]
        shared = frozenset.intersection(*names or [frozenset()])
        return [one - shared for one in names]

    def method(
        self, mro: Mro, name: str, *, after: ClassInfo | None = None, through_class: bool = False
    ) -> list[Callee]:
        """The callees of ``self.name(…)`` on an MRO; empty when it is unknown, assigned or decorated out of sight."""
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
        """One group of all; of a class with a conditional base one for each branch."""
        meant = self._with_patches(definitions)
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
        if definition.kind != "function" or not isinstance(node, FunctionNode) or module is None:
            return []
        callee = self._of_function(node, module, None, through_class=True)
        return [callee] if callee is not None else []

    def _of_function(
        self, function: FunctionNode, module: Module, info: ClassInfo | None, *, through_class: bool
    ) -> Callee | None:
        """A function as its callers meet it: of one that omni decorates itself, nothing is said."""
        found = callees.of_function(function, module, info, through_class=through_class)
        if found is not None or module.project == "vllm-omni":
            return found
        met = wrappers.met(self.world, function, module)
        return callees.as_wrapped(function, *met, info, through_class=through_class) if met is not None else None

    def _constructors(self, infos: Sequence[ClassInfo]) -> list[list[Callee]]:
        return [[callee] for info in infos for callee in callees.constructors(self.classes, info)]

    def _with_patches(self, definitions: Sequence[Definition]) -> list[Definition]:
        return [d for definition in definitions for d in (definition, *self.world.patches_of(definition.name))]

    def infer(self, frame: Frame, node: ast.expr, depth: int = 0) -> list[Instance] | None:
        """The classes ``node`` can be an instance of, ``None`` counted out; ``None`` when it cannot be told."""
        if depth > _MAX_DEPTH:
            return None
        question = _question(frame, node, depth)
        if question not in self._inferred:
            self._inferred[question] = self._infer(frame, node, depth)
        return self._inferred[question]

    def _infer(self, frame: Frame, node: ast.expr, depth: int) -> list[Instance] | None:
        if frame.narrowed and ast.unparse(node) in frame.narrowed:
            kind = frame.narrowed_to(node)
            named = self.named_classes(frame, kind) if kind is not None else []
            # What is asked for is mostly the base of several: `isinstance(self.drafter, EagleProposer)`.
            is_base = any(self.world.surroundings.has_subclass(instance.info.name) for instance in named)
            return named if named and not is_base else None
        if isinstance(node, ast.Name):
            return self._infer_name(frame, node, depth)
        if isinstance(node, ast.Call):
            return self._infer_call(frame, node, depth)
        if isinstance(node, ast.Attribute):
            return self._infer_attribute(frame, node, depth)
        if isinstance(node, ast.Subscript):
            return elements.taken(self, frame, node, depth)
        if isinstance(node, ast.NamedExpr):
            return self.infer(frame, node.value, depth + 1)
        if isinstance(node, ast.IfExp):
            return union([self.infer(frame, part, depth + 1) for part in (node.body, node.orelse)])
        if isinstance(node, ast.Constant) and node.value is None:
            return []
        return None

    def named_classes(self, frame: Frame, node: ast.expr) -> list[Instance]:
        """The classes that ``node`` names, when it is the (dotted) name of classes and of nothing else."""
        dotted = dotted_name(node)
        definitions = self.definitions(frame, dotted) if dotted else []
        infos = [self.classes.info(definition) for definition in definitions]
        return [Instance(info, True) for info in infos if info is not None] if all(infos) else []

    def _held_classes(self, frame: Frame, node: ast.expr) -> list[Instance]:
        """The classes that ``self.x`` is, where only class bodies of the MRO set it (``model_runner_cls = Runner``)."""
        if not isinstance(node, ast.Attribute) or not frame.owner or not is_name(node.value, frame.owner):
            return []
        found: list[Instance] = []
        for mro in self.mros(frame.info) if frame.info is not None else []:
            written = [(info, a) for info in mro.classes for a in info.written.get(node.attr, ())]
            held = [self.named_classes(class_frame(i), a.value) for i, a in written if a.value and i is written[0][0]]
            if mro.open or not held or not all(held) or any(a.function or not a.value for _, a in written):
                return []
            found.extend(instance for classes in held for instance in classes)
        return found

    def _infer_name(self, frame: Frame, read: ast.Name, depth: int) -> list[Instance] | None:
        name = read.id
        if name == frame.owner and frame.info is not None:
            return None
        if not frame.bound.get(name):
            return self._infer_global(frame, name, depth)
        if name in frame.imports:
            return None
        found: list[list[Instance] | None] = []
        for node in frame.bound_before(read):
            if isinstance(node, ast.arg):
                found.append(self._infer_parameter(frame, node))
            elif isinstance(node, ast.Assign) and any(is_name(t, name) for t in node.targets):
                if not _is_copy(node.value, of=name):
                    found.append(self.infer(frame, node.value, depth + 1))
            elif isinstance(node, ast.Assign):
                found.append(self._infer_part(frame, node, name, depth))
            elif isinstance(node, ast.AnnAssign):
                found.append(self._annotated(frame, node.annotation))
            elif isinstance(node, ast.NamedExpr):
                found.append(self.infer(frame, node.value, depth + 1))
            elif isinstance(node, ast.With | ast.AsyncWith):
                found.append(self._infer_entered(frame, node, name, depth))
            elif isinstance(node, elements.Loop):
                found.append(elements.looped(self, frame, node, name, depth=depth))
            else:
                return None
        return union(found) if found else None

    def _infer_parameter(self, frame: Frame, parameter: ast.arg) -> list[Instance] | None:
        """What its annotation says; without one, what the method that this one overrides says of that name."""
        if parameter.annotation is not None or frame.info is None:
            return self._annotated(frame, parameter.annotation)
        mros = [mro for mro in self.mros(frame.info) if frame.info in mro]
        reached = [mro.find(frame.function.name, after=frame.info) for mro in mros]
        hidden = [self.frame(found[0], function) for found in reached if found for function in found[1]]
        same = [(f, other) for f in hidden for other in f.bound.get(parameter.arg, ()) if isinstance(other, ast.arg)]
        return union([self._annotated(f, other.annotation) for f, other in same]) if same else None

    def _infer_part(self, frame: Frame, node: ast.Assign, name: str, depth: int) -> list[Instance] | None:
        """One part of what is taken apart: of a ``NamedTuple``, or of what a function annotates as ``tuple[A, B]``."""
        target = node.targets[0]
        parts = target.elts if len(node.targets) == 1 and isinstance(target, ast.Tuple) else []
        places = [number for number, part in enumerate(parts) if is_name(part, name)]
        if not places or not all(isinstance(part, ast.Name) for part in parts):
            return None
        declared = [(module, types[places[0]]) for module, types in self._parts(frame, node.value, len(parts), depth)]
        return union([instances(self.classes, *part) for part in declared]) if declared else None

    def _parts(
        self, frame: Frame, value: ast.expr, size: int, depth: int
    ) -> list[tuple[Module, Sequence[ast.expr | None]]]:
        """The annotations of the parts of a value that has ``size`` of them; empty when some way to get it has none."""
        if isinstance(value, ast.Call):
            reached = [callee for group in self.callees(frame, value, depth + 1) for callee in group]
            promised = [self._promised(callee) for callee in reached]
            returned = [(module, tuple_parts(annotation)) for module, annotation in promised]
            parts = [(module, types) for module, types in returned if types is not None and len(types) == size]
            return [*parts] if len(parts) == len(returned) else []
        records = [i.info for i in self.infer(frame, value, depth + 1) or () if is_record(i.info)]
        fitting = [info for info in records if len(info.fields) == size]
        return [(i.module, [i.written[name][0].annotation for name, _ in i.fields]) for i in fitting]

    def _infer_global(self, frame: Frame, name: str, depth: int) -> list[Instance] | None:
        definitions = self.definitions(frame, name)
        found = [self._infer_value(definition, depth) for definition in self._with_patches(definitions)]
        return union(found) if found else None

    def _infer_value(self, definition: Definition, depth: int) -> list[Instance] | None:
        module, binding = definition.module, definition.binding
        if definition.kind != "value" or module is None or binding is None:
            return None
        bound = module.bindings[definition.name.rpartition(".")[2]]
        outside = module_frame(module)
        declared = [self._annotated(outside, other.annotation) for other in bound if other.annotation is not None]
        if declared:
            return union(declared)
        # timid: of what is assigned more than once, only the annotation speaks.
        return self.infer(outside, binding.value, depth + 1) if len(bound) == 1 and binding.value is not None else None

    def _infer_call(self, frame: Frame, call: ast.Call, depth: int) -> list[Instance] | None:
        if _is_copy(call):
            return self.infer(frame, call.args[0], depth + 1)
        constructed = self.named_classes(frame, call.func) or self._held_classes(frame, call.func)
        if constructed:
            return constructed
        found = [self._returned(callee, depth) for group in self.callees(frame, call, depth + 1) for callee in group]
        return union(found) if found else elements.taken(self, frame, call, depth)

    def _returned(self, callee: Callee, depth: int) -> list[Instance] | None:
        function = callee.function
        if function is None or not is_plain(function):
            return None
        frame = self.frame(callee.info, function) if callee.info else frame_of(callee.module, function, None)
        if function.returns is not None:
            return self._annotated(frame, function.returns)
        values = list(returns_of(function))
        found = union([self.infer(frame, v, depth + 1) if v else [] for v in values]) if values else None
        return instances(self.classes, *self._promised(callee)) if found is None and values else found

    def _promised(self, callee: Callee) -> tuple[Module, ast.expr | None]:
        """What a function says that it returns; of an override without a word the method that it overrides."""
        function, info = callee.function, callee.info
        if function is None or function.returns is not None or info is None:
            return callee.module, function.returns if function is not None else None
        mros = [mro for mro in self.mros(info) if info in mro]
        hidden = [found for mro in mros if (found := mro.find(function.name, after=info)) is not None]
        said = [(owner.module, other.returns) for owner, others in hidden for other in others if other.returns]
        return said[0] if said else (callee.module, None)

    def _infer_entered(
        self, frame: Frame, node: ast.With | ast.AsyncWith, name: str, depth: int
    ) -> list[Instance] | None:
        """What ``with f() as name`` enters, by the annotation of a generator under ``contextmanager``."""
        calls = [item.context_expr for item in node.items if is_name(item.optional_vars, name)]
        groups = [g for call in calls if isinstance(call, ast.Call) for g in self.callees(frame, call, depth + 1)]
        found = [(c.module, entered_type(c.function)) for group in groups for c in group]
        return union([instances(self.classes, *one) for one in found]) if found else None

    def _annotated(self, frame: Frame, annotation: ast.expr | None) -> list[Instance] | None:
        return instances(self.classes, frame.module, annotation)

    def _infer_attribute(self, frame: Frame, node: ast.Attribute, depth: int) -> list[Instance] | None:
        if frame.owner and is_name(node.value, frame.owner) and frame.info is not None:
            return union([self.attribute(mro, node.attr, depth + 1) for mro in self.mros(frame.info)])
        owners = self.infer(frame, node.value, depth + 1)
        if not owners:
            return None
        return union([self.attribute(mro, node.attr, depth + 1) for o in owners for mro in self.classes.mros(o.info)])

    def attribute(self, mro: Mro, name: str, depth: int = 0) -> list[Instance] | None:
        """The classes that ``self.name`` can hold on an MRO, from the assignments that can still run."""
        if mro.open:
            return None
        written = [pair for pair in self.assignments(mro, name) if not self._says_nothing(*pair)]
        first = [(info, a) for info, a in written if info is written[0][0]]
        # Whoever says what it holds sets it anew: `self.drafter: AscendEagleProposer | …` after vLLM's `__init__`.
        told = [assignment for _, assignment in first if assignment.annotation is not None]
        found = [self._assigned(info, assignment, depth) for info, assignment in (first if told else written)]
        if told and all(_only_declares(assignment) for assignment in told):
            others = [self._assigned(info, a, depth) for info, a in written if info is not written[0][0]]
            found.append(self._deriving(union([part for part in others if part]) or [], union(found) or []))
        return union(found) if found else None

    def _says_nothing(self, info: ClassInfo, assignment: Assignment) -> bool:
        """Whether a class only declares that there is such an attribute: a mixin's ``batch: Any``."""
        if not assignment.is_bare or assignment.annotation is None:
            return False
        return instances(self.classes, info.module, assignment.annotation) is None

    def _deriving(self, assigned: Sequence[Instance], declared: Sequence[Instance]) -> list[Instance]:
        """Of what is assigned, what is of a class below one that is declared: vLLM's own ``EagleProposer`` where
        vllm-ascend declares its base."""
        mros = [(instance, mro) for instance in assigned for mro in self.classes.mros(instance.info)]
        return [i for i, mro in mros if any(d.info in mro and d.info is not i.info for d in declared)]

    def _assigned(self, info: ClassInfo, assignment: Assignment, depth: int) -> list[Instance] | None:
        function = assignment.function
        frame = self.frame(info, function) if function is not None else class_frame(info)
        value = assignment.value
        if assignment.annotation is not None:
            declared = self._annotated(frame, assignment.annotation)
            # Of `x: Unknown | None = None` the assignments elsewhere tell.
            return [] if declared is None and _only_declares(assignment) else declared
        return self.infer(frame, value, depth + 1) if value is not None and function is not None else None


def _only_declares(assignment: Assignment) -> bool:
    """Whether nothing is set but a placeholder: ``drafter: Drafter`` or ``self.drafter: Drafter | None = None``."""
    value = assignment.value
    return value is None or (isinstance(value, ast.Constant) and value.value is None)


def _is_copy(node: ast.expr, *, of: str | None = None) -> bool:
    """Whether a call hands back an object of its first argument's class, with ``of`` only that name's."""
    if not isinstance(node, ast.Call) or len(node.args) != 1 or dotted_name(node.func) not in _COPYING:
        return False
    return of is None or is_name(node.args[0], of)
