"""What calls reach and what expressions are, over the real MRO.

Comes in: a `World` and the modules that are checked. Goes out: the possible callees of a call, the classes an
expression can be an instance of. May touch: nothing else. What cannot be told is ``None`` or empty: a rule then says
nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from runner_sync import signatures
from runner_sync.signatures import Signature
from runner_sync.syntax import is_name
from runner_sync.verify.classes import Assignment, ClassInfo, Lineup
from runner_sync.verify.frames import Frame, class_frame, frame_of
from runner_sync.verify.modules import FunctionNode, Module, decorator_name, is_plain, returns_of
from runner_sync.verify.runtime import Runtime, dotted_name, is_super
from runner_sync.verify.world import Definition

_MAX_DEPTH = 6
"""Steps from one expression to the next in which a class is looked for; beyond them it counts as unknown."""

# Decorators that leave the parameters as they are written.
_TRANSPARENT = frozenset(
    {
        "staticmethod", "classmethod", "abstractmethod", "override", "overload", "final", "contextmanager",
        "asynccontextmanager", "inference_mode", "no_grad", "lru_cache", "cache", "capture", "instrument", "deprecated",
        "disable",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Callee:
    """One function or constructor that a call can reach. ``function`` is ``None`` for a generated constructor."""

    name: str
    place: str
    signature: Signature
    function: FunctionNode | None
    module: Module
    info: ClassInfo | None


@dataclass(frozen=True, slots=True, eq=False)
class Instance:
    """An expression's class. ``exact``: constructed in sight, so no subclass can hide behind it."""

    info: ClassInfo
    exact: bool


class Program(Runtime):
    """Call and type questions about one world."""

    def callees(self, frame: Frame, call: ast.Call, depth: int = 0) -> list[list[Callee]]:
        """Groups of callees, one per lineup; a call is wrong when it fits no member of some group."""
        function = call.func
        if isinstance(function, ast.Name):
            return [self._of_definitions(self.definitions(frame, function.id))]
        if not isinstance(function, ast.Attribute):
            return []
        if is_super(function.value) and frame.info is not None:
            lines = [line for line in self.lineups(frame.info) if frame.info in line]
            return [self.method(line, function.attr, after=frame.info) for line in lines]
        if frame.owner and is_name(function.value, frame.owner) and frame.info is not None:
            return [self.method(line, function.attr) for line in self.lineups(frame.info)]
        dotted = dotted_name(function)
        definitions = self.definitions(frame, dotted) if dotted else []
        if definitions and not all(d.kind in ("external", "value") for d in definitions):
            return [self._of_definitions(definitions)]
        through_class = self._through_class(frame, function)
        if through_class:
            return [through_class]
        instances = self.infer(frame, function.value, depth + 1) or []
        groups = [self.method(line, function.attr) for i in instances for line in self.classes.lineups(i.info)]
        # timid: of a union only a call that no member accepts is wrong.
        return [[callee for group in groups for callee in group]] if all(groups) else []

    def method(
        self, line: Lineup, name: str, *, after: ClassInfo | None = None, through_class: bool = False
    ) -> list[Callee]:
        """The callees of ``self.name(…)`` on a lineup; empty when it is unknown, assigned or decorated out of sight."""
        reached = line.find(name, after=after)
        if reached is None or (line.open and reached[0] is not line.head):
            return []
        info, functions = reached
        if after is None and any(name in c.written for c in line.classes):
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
            for line in self.classes.lineups(info):
                found.extend(self.method(line, function.attr, through_class=True))
        return found

    def _of_definitions(self, definitions: Sequence[Definition]) -> list[Callee]:
        found: list[Callee] = []
        for definition in self._with_patches(definitions):
            info = self.classes.info(definition)
            node, module = definition.node, definition.module
            callee = None
            if info is not None:
                callee = self.constructor(info)
            elif definition.kind == "function" and isinstance(node, FunctionNode) and module is not None:
                callee = self._of_function(node, module, None, through_class=True)
            if callee is None:
                return []
            found.append(callee)
        return found

    def _with_patches(self, definitions: Sequence[Definition]) -> list[Definition]:
        return [d for definition in definitions for d in (definition, *self.world.patches_of(definition.name))]

    def _of_function(
        self, function: FunctionNode, module: Module, info: ClassInfo | None, *, through_class: bool
    ) -> Callee | None:
        if not all(decorator_name(d) in _TRANSPARENT for d in function.decorator_list):
            return None
        bound = info is not None and signatures.is_bound(function, through_class=through_class)
        signature = signatures.of_function(function, bound=bound)
        return Callee(function.name, f"{module.path}:{function.lineno}", signature, function, module, info)

    def constructor(self, info: ClassInfo) -> Callee | None:
        """The constructor of a class, written, generated or inherited, ``None`` when it cannot be told."""
        lines = self.classes.lineups(info)
        if len(lines) != 1 or lines[0].open or any("__new__" in c.methods for c in lines[0].classes):
            return None
        for part in lines[0].classes:
            decorators = {decorator_name(d) for d in part.node.decorator_list}
            if any(ast.unparse(base).endswith("NamedTuple") for base in part.node.bases):
                return Callee(info.name, part.place, signatures.of_fields(part.fields), None, part.module, part)
            if "dataclass" in decorators and "__init__" not in part.methods:
                return self._dataclass_constructor(info, lines[0].classes[lines[0].classes.index(part) :])
            if decorators - {"dataclass", "final", "runtime_checkable"}:
                return None
            if "__init__" in part.methods or "__init__" in part.written:
                return self._written_constructor(info, part)
        return None

    def _written_constructor(self, info: ClassInfo, part: ClassInfo) -> Callee | None:
        functions = part.methods.get("__init__", [])
        if len(functions) != 1:
            return None
        callee = self._of_function(functions[0], part.module, part, through_class=False)
        return Callee(info.name, callee.place, callee.signature, callee.function, part.module, info) if callee else None

    def _dataclass_constructor(self, info: ClassInfo, classes: Sequence[ClassInfo]) -> Callee | None:
        """What the dataclass ``classes[0]`` and those it inherits from generate, called as ``info``."""
        fields: dict[str, bool] = {}
        for part in reversed(classes):
            text = "".join(ast.unparse(d) for d in part.node.decorator_list) + ast.unparse(part.node)
            # timid: generated parameters that these words change are not modelled.
            if any(word in text for word in ("KW_ONLY", "kw_only", "InitVar", "init=False")):
                return None
            if "dataclass" in {decorator_name(d) for d in part.node.decorator_list}:
                fields.update(part.fields)
        made = classes[0]
        return Callee(info.name, made.place, signatures.of_fields(list(fields.items())), None, made.module, made)

    def infer(self, frame: Frame, node: ast.expr, depth: int = 0) -> list[Instance] | None:
        """The classes ``node`` can be an instance of, ``None`` counted out; ``None`` when it cannot be told."""
        if depth > _MAX_DEPTH or (frame.narrowed and ast.unparse(node) in frame.narrowed):
            return None
        if isinstance(node, ast.Name):
            return self._infer_name(frame, node.id, depth)
        if isinstance(node, ast.Call):
            return self._infer_call(frame, node, depth)
        if isinstance(node, ast.Attribute):
            return self._infer_attribute(frame, node, depth)
        if isinstance(node, ast.IfExp):
            return _union([self.infer(frame, part, depth + 1) for part in (node.body, node.orelse)])
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
        for line in self.lineups(frame.info) if frame.info is not None else []:
            written = [(info, a) for info in line.classes for a in info.written.get(node.attr, ())]
            held = [self.named_classes(class_frame(i), a.value) for i, a in written if a.value and i is written[0][0]]
            if line.open or not held or not all(held) or any(a.function or not a.value for _, a in written):
                return []
            found.extend(instance for classes in held for instance in classes)
        return found

    def _infer_name(self, frame: Frame, name: str, depth: int) -> list[Instance] | None:
        if name == frame.owner and frame.info is not None:
            return None
        nodes = frame.bound.get(name)
        if not nodes:
            return self._infer_global(frame, name)
        found: list[list[Instance] | None] = []
        for node in nodes:
            if isinstance(node, ast.arg):
                found.append(self.annotated(frame, node.annotation))
            elif isinstance(node, ast.Assign) and any(is_name(t, name) for t in node.targets):
                found.append(self.infer(frame, node.value, depth + 1))
            elif isinstance(node, ast.AnnAssign):
                found.append(self.annotated(frame, node.annotation))
            else:
                return None
        return _union(found)

    def _infer_global(self, frame: Frame, name: str) -> list[Instance] | None:
        bindings = [] if name in frame.imports else frame.module.bindings.get(name, [])
        declared = [binding.annotation for binding in bindings if binding.annotation is not None]
        # timid: of what is assigned in several functions, only the annotation speaks.
        return _union([self.annotated(frame, annotation) for annotation in declared]) if declared else None

    def _infer_call(self, frame: Frame, call: ast.Call, depth: int) -> list[Instance] | None:
        constructed = self.named_classes(frame, call.func) or self._held_classes(frame, call.func)
        if constructed:
            return constructed
        found = [self._returned(callee, depth) for group in self.callees(frame, call, depth + 1) for callee in group]
        return _union(found) if found else None

    def _returned(self, callee: Callee, depth: int) -> list[Instance] | None:
        function = callee.function
        if function is None or not is_plain(function):
            return None
        frame = self.frame(callee.info, function) if callee.info else frame_of(callee.module, function, None)
        if function.returns is not None:
            return self.annotated(frame, function.returns)
        values = list(returns_of(function))
        return _union([self.infer(frame, v, depth + 1) if v else [] for v in values]) if values else None

    def annotated(self, frame: Frame, annotation: ast.expr | None) -> list[Instance] | None:
        """The classes of an annotation: names, strings and unions with ``None``; anything generic is unknown."""
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            try:
                return self.annotated(frame, ast.parse(annotation.value, mode="eval").body)
            except SyntaxError:
                return None
        if isinstance(annotation, ast.Constant) and annotation.value is None:
            return []
        if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
            return _union([self.annotated(frame, annotation.left), self.annotated(frame, annotation.right)])
        if isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value).endswith("Optional"):
            return self.annotated(frame, annotation.slice)
        dotted = dotted_name(annotation) if annotation is not None else None
        infos = [self.classes.info(d) for d in (self.world.resolve(frame.module, dotted) if dotted else [])]
        return [Instance(info, False) for info in infos if info is not None] if infos and all(infos) else None

    def _infer_attribute(self, frame: Frame, node: ast.Attribute, depth: int) -> list[Instance] | None:
        if frame.owner and is_name(node.value, frame.owner) and frame.info is not None:
            return _union([self.attribute(line, node.attr, depth + 1) for line in self.lineups(frame.info)])
        owners = self.infer(frame, node.value, depth + 1)
        if not owners:
            return None
        return _union(
            [self.attribute(line, node.attr, depth + 1) for o in owners for line in self.classes.lineups(o.info)]
        )

    def attribute(self, line: Lineup, name: str, depth: int = 0) -> list[Instance] | None:
        """The classes that ``self.name`` can hold on a lineup, from the assignments that can still run."""
        if line.open:
            return None
        found = [self._assigned(info, assignment, depth) for info, assignment in self.assignments(line, name)]
        return _union(found) if found else None

    def _assigned(self, info: ClassInfo, assignment: Assignment, depth: int) -> list[Instance] | None:
        function = assignment.function
        frame = self.frame(info, function) if function is not None else class_frame(info)
        value = assignment.value
        if assignment.annotation is not None:
            declared = self.annotated(frame, assignment.annotation)
            # `x: Unknown` and `x: Unknown | None = None` declare; the assignments elsewhere tell.
            only_declares = value is None or (isinstance(value, ast.Constant) and value.value is None)
            return [] if declared is None and only_declares else declared
        return self.infer(frame, value, depth + 1) if value is not None and function is not None else None


def _union(parts: Sequence[list[Instance] | None]) -> list[Instance] | None:
    if any(part is None for part in parts):
        return None
    unique: dict[tuple[int, bool], Instance] = {}
    for part in parts:
        for instance in part or ():
            unique.setdefault((id(instance.info), instance.exact), instance)
    return list(unique.values())
