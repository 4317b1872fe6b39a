"""The classes that expressions are instances of, over the real MRO.

Comes in: a `World` and the modules that are checked. Goes out: the classes an expression can be an instance of, and all
answers of a `CallGraph`. May touch: nothing else. Unknown is ``None`` or empty, so that a rule reports nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from runner_sync.syntax import dotted_name, is_name, is_none, is_nothing
from runner_sync.verify.answers import remembered
from runner_sync.verify.trees.calling.call_graph import MAX_DEPTH, CallGraph
from runner_sync.verify.trees.calling.callees import Callee
from runner_sync.verify.trees.classes import Assignment, ClassInfo, Mro
from runner_sync.verify.trees.frames import Frame, class_frame, module_frame
from runner_sync.verify.trees.functions import is_plain, returns_of
from runner_sync.verify.trees.values import elements
from runner_sync.verify.trees.values.annotations import (
    Instance,
    find_entered_type,
    find_property_type,
    resolve_annotation,
    unite,
)
from runner_sync.verify.trees.values.uses import is_copied_to_itself, is_copy
from runner_sync.verify.trees.world import Definition


class Program(CallGraph):
    """Call and type questions about one world; answers are cached."""

    @remembered
    def infer(self, frame: Frame, node: ast.expr, depth: int = 0) -> list[Instance] | None:
        if depth > MAX_DEPTH:
            return None
        if frame.narrowed and ast.unparse(node) in frame.narrowed:
            kind = frame.narrowed_to(node)
            named = self.named_classes(frame, kind) if kind is not None else []
            # The class in the test is usually the base of several: `isinstance(self.drafter, EagleProposer)`.
            is_base = any(self.world.surroundings.has_subclass(instance.info.name) for instance in named)
            return named if named and not is_base else None
        if isinstance(node, ast.Name):
            return self._infer_name(frame, node, depth)
        if isinstance(node, ast.Call):
            return self._infer_call(frame, node, depth)
        if isinstance(node, ast.Attribute):
            return self._infer_attribute(frame, node, depth)
        if isinstance(node, ast.Subscript):
            return elements.infer_item(self, frame, node, depth)
        if isinstance(node, ast.NamedExpr):
            return self.infer(frame, node.value, depth + 1)
        if isinstance(node, ast.IfExp):
            return unite([self.infer(frame, part, depth + 1) for part in (node.body, node.orelse)])
        if is_none(node):
            return []
        return None

    def _infer_name(self, frame: Frame, read: ast.Name, depth: int) -> list[Instance] | None:
        name = read.id
        if frame.is_self(read):
            return None
        if not frame.bound.get(name):
            return self._infer_global(frame, name, depth)
        if name in frame.imports:
            return None
        bindings = [node for node in frame.bound_before(read) if not is_copied_to_itself(node, name)]
        return unite([self._infer_bound(frame, node, name, depth) for node in bindings]) if bindings else None

    def _infer_bound(self, frame: Frame, node: ast.AST, name: str, depth: int) -> list[Instance] | None:
        """Return the classes that a name gets from one of the nodes that bind it."""
        match node:
            case ast.arg():
                return self._infer_parameter(frame, node)
            case ast.Assign(targets=targets, value=value) if any(is_name(target, name) for target in targets):
                return self.infer(frame, value, depth + 1)
            case ast.Assign():
                return elements.infer_unpacked(self, frame, node, name, depth=depth)
            case ast.AnnAssign(annotation=annotation):
                return self._infer_annotation(frame, annotation)
            case ast.NamedExpr(value=value):
                return self.infer(frame, value, depth + 1)
            case ast.With() | ast.AsyncWith():
                return self._infer_entered(frame, node, name, depth)
            case ast.For() | ast.AsyncFor() | ast.comprehension():
                return elements.infer_loop_variable(self, frame, node, name, depth=depth)
        return None

    def _infer_parameter(self, frame: Frame, parameter: ast.arg) -> list[Instance] | None:
        """Return the classes of a parameter's annotation; without one, of the same parameter in the overridden
        methods."""
        if parameter.annotation is not None or frame.info is None:
            return self._infer_annotation(frame, parameter.annotation)
        hidden = (self.frame(*one) for one in self.overridden(frame.info, frame.function.name))
        same = [(f, other) for f in hidden for other in f.bound.get(parameter.arg, ()) if isinstance(other, ast.arg)]
        return unite([self._infer_annotation(f, other.annotation) for f, other in same]) if same else None

    def _infer_global(self, frame: Frame, name: str, depth: int) -> list[Instance] | None:
        definitions = self.definitions(frame, name)
        found = [self._infer_value(definition, depth) for definition in self.with_patches(definitions)]
        return unite(found) if found else None

    def _infer_value(self, definition: Definition, depth: int) -> list[Instance] | None:
        module = definition.module
        if definition.kind != "value" or module is None:
            return None
        bound = module.bindings[definition.last_name]
        frame = module_frame(module)
        declared = [self._infer_annotation(frame, other.annotation) for other in bound if other.annotation is not None]
        if declared:
            return unite(declared)
        # timid: if a name is assigned more than once, only an annotation counts.
        value = definition.value if len(bound) == 1 else None
        return self.infer(frame, value, depth + 1) if value is not None else None

    def _infer_call(self, frame: Frame, call: ast.Call, depth: int) -> list[Instance] | None:
        if is_copy(call):
            return self.infer(frame, call.args[0], depth + 1)
        constructed = self.named_classes(frame, call.func) or self.held_classes(frame, call.func)
        if constructed:
            return constructed
        found = [self._infer_returned(callee, depth) for callee in self.reached(frame, call, depth + 1)]
        return unite(found) if found else elements.infer_item(self, frame, call, depth)

    def _infer_returned(self, callee: Callee, depth: int) -> list[Instance] | None:
        function = callee.function
        if function is None or not is_plain(function):
            return None
        frame = self.frame_of_callee(callee)
        if function.returns is not None:
            return self._infer_annotation(frame, function.returns)
        values = list(returns_of(function))
        found = unite([self.infer(frame, v, depth + 1) if v else [] for v in values]) if values else None
        return resolve_annotation(self.classes, *self.declared_return(callee)) if found is None and values else found

    def frame_of_callee(self, callee: Callee) -> Frame:
        """Return the frame of a callee that is a function, no constructor: a method's frame has its class."""
        assert callee.function is not None
        return self.frame_of(callee.module, callee.function, callee.info)

    def _infer_entered(
        self, frame: Frame, node: ast.With | ast.AsyncWith, name: str, depth: int
    ) -> list[Instance] | None:
        """Return the classes of ``name`` in ``with f() as name``, by the annotation of a ``contextmanager``
        generator."""
        calls = [item.context_expr for item in node.items if is_name(item.optional_vars, name)]
        entered = [c for call in calls if isinstance(call, ast.Call) for c in self.reached(frame, call, depth + 1)]
        found = [(callee.module, find_entered_type(callee.function)) for callee in entered]
        return unite([resolve_annotation(self.classes, *one) for one in found]) if found else None

    def _infer_annotation(self, frame: Frame, annotation: ast.expr | None) -> list[Instance] | None:
        return resolve_annotation(self.classes, frame.module, annotation)

    def _infer_attribute(self, frame: Frame, node: ast.Attribute, depth: int) -> list[Instance] | None:
        mros = self.mros_of(frame, node.value, depth + 1)
        return unite([self.attribute(mro, node.attr, depth + 1) for mro in mros]) if mros else None

    def attribute(self, mro: Mro, name: str, depth: int = 0) -> list[Instance] | None:
        """Return the classes that ``self.name`` can hold on an MRO, from the assignments that can still run or the
        annotation of a property."""
        if mro.open:
            return None
        if (given := find_property_type(mro, name)) is not None:
            return resolve_annotation(self.classes, *given)
        written = [pair for pair in self.assignments(mro, name) if not self._is_uninformative(*pair)]
        first = [(info, a) for info, a in written if info is written[0][0]]
        # The first class assigns it again: `self.drafter: AscendEagleProposer | …` after vLLM's `__init__`.
        annotated = [assignment for _, assignment in first if assignment.annotation is not None]
        # A declaration counts only if no assignment gives a known value: upstream's record is not what omni stores.
        valued = [pair for pair in written if not _only_declares(pair[1])]
        found = [self._infer_assigned(info, a, depth) for info, a in (first if annotated else valued)]
        if not annotated and None in found:
            known = self._find_declared_calls(mro, name, written)
            found = [
                known.get(self._identify_called(mro, *pair), one) if one is None else one
                for one, pair in zip(found, valued, strict=True)
            ]
        if not annotated and not any(found):
            found = [self._infer_assigned(info, a, depth) for info, a in written]
        if annotated and all(_only_declares(assignment) for assignment in annotated):
            others = [self._infer_assigned(info, a, depth) for info, a in written if info is not written[0][0]]
            found.append(self._select_derived(unite([part for part in others if part]) or [], unite(found) or []))
        return unite(found) if found else None

    def _find_declared_calls(
        self, mro: Mro, name: str, written: Sequence[tuple[ClassInfo, Assignment]]
    ) -> dict[str, list[Instance] | None]:
        """Return the declared classes of an upstream attribute, by each function whose result the declaring project
        assigns to it, in methods that run or not: others may assign what comes from there as well."""
        declared = [(info, a) for info, a in written if a.annotation is not None and not info.is_omnis]
        found: dict[str, list[Instance] | None] = {}
        for info, assignment in declared[:1]:
            of_project = (pair for pair in mro.written(name) if pair[0].module.project == info.module.project)
            called = {self._identify_called(mro, *pair) for pair in of_project} - {""}
            found = dict.fromkeys(called, self._infer_assigned(info, assignment, 0)) if called else {}
        return found

    def _identify_called(self, mro: Mro, info: ClassInfo, assignment: Assignment) -> str:
        """Return the function whose result is assigned: by its path from ``self``, or else by its place.

        Empty for any other value, for a local's method, and for a method that omni overrides.
        """
        value, function = assignment.value, assignment.function
        dotted = (dotted_name(value.func) or "") if isinstance(value, ast.Call) else ""
        if function is None or not dotted:
            return ""
        if dotted.startswith("self."):
            first = mro.first_with(dotted.removeprefix("self."))
            return "" if first is not None and first.is_omnis else dotted
        found = self.definitions(self.frame(info, function), dotted)
        return found[0].place if len(found) == 1 else ""

    def _is_uninformative(self, info: ClassInfo, assignment: Assignment) -> bool:
        """Whether an assignment only declares the attribute, with no known class: a mixin's ``batch: Any``."""
        if not assignment.is_bare or assignment.annotation is None:
            return False
        return resolve_annotation(self.classes, info.module, assignment.annotation) is None

    def _select_derived(self, assigned: Sequence[Instance], declared: Sequence[Instance]) -> list[Instance]:
        """Return the assigned classes that derive from a declared class: vLLM's ``EagleProposer`` if vllm-ascend
        declares its base."""
        mros = [(instance, mro) for instance in assigned for mro in self.classes.mros(instance.info)]
        return [i for i, mro in mros if any(d.info in mro and d.info is not i.info for d in declared)]

    def _infer_assigned(self, info: ClassInfo, assignment: Assignment, depth: int) -> list[Instance] | None:
        function = assignment.function
        frame = self.frame(info, function) if function is not None else class_frame(info)
        value = assignment.value
        if assignment.annotation is not None:
            declared = self._infer_annotation(frame, assignment.annotation)
            # For `x: Unknown | None = None` other assignments decide.
            return [] if declared is None and _only_declares(assignment) else declared
        return self.infer(frame, value, depth + 1) if value is not None and function is not None else None


def _only_declares(assignment: Assignment) -> bool:
    """Whether an assignment sets no value but ``None``: ``drafter: Drafter``, ``self.drafter: Drafter | None =
    None``."""
    return is_nothing(assignment.value)
