"""What calls reach and what expressions are, over the real MRO.

Comes in: a `World` and the modules that are checked. Goes out: the possible callees of a call, the classes an
expression can be an instance of, the functions of a lineup that can still run. May touch: nothing else. What
cannot be told is ``None`` or empty: a rule then says nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from runner_sync.verify import signatures
from runner_sync.verify.classes import Assignment, Classes, ClassInfo, Lineup, is_name
from runner_sync.verify.frames import Frame, frame_of, frames_of
from runner_sync.verify.modules import FunctionNode, Module, decorator_name, is_plain, nodes_of, returns_of
from runner_sync.verify.signatures import Signature
from runner_sync.verify.world import Definition, World

_MAX_DEPTH = 6

# Decorators that leave the parameters as they are written.
_TRANSPARENT = frozenset(
    {
        "staticmethod", "classmethod", "abstractmethod", "override", "overload", "final", "contextmanager",
        "asynccontextmanager", "inference_mode", "no_grad", "lru_cache", "cache", "capture", "instrument", "deprecated",
        "torch_async_thread", "disable", "support_torch_compile",
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


class Program:
    """Name, call and type questions about one world. ``names`` are the paths of the checked modules."""

    def __init__(self, world: World, names: Sequence[str]) -> None:
        self.world = world
        self.classes = Classes(world)
        self.checked = [world.module_at(path) for path in names]
        self._frames: dict[str, list[Frame]] = {}
        self._frame: dict[int, Frame] = {}
        self._leaves: dict[int, list[Lineup]] | None = None
        self._live: dict[int, dict[int, tuple[ClassInfo, FunctionNode]]] = {}
        self.calls_seen: dict[int, dict[str, list[tuple[Frame, ast.Call]]]] = {}

    def frames(self, module: Module) -> list[Frame]:
        """Every function of ``module`` as a frame; of an inherited module only the methods that can run on NPU."""
        if module.name not in self._frames:
            found = frames_of(self.classes, module)
            if module not in self.checked:
                live = {key for line in self.leaves() for key in self.live(line)}
                found = [frame for frame in found if id(frame.function) in live]
            self._frames[module.name] = found
        return self._frames[module.name]

    def twin(self, frame: Frame) -> Frame | None:
        """The frame of the same unit of the same module in this program, ``None`` when there is none."""
        module = next((m for m in (*self.checked, *self.inherited()) if m.path == frame.module.path), None)
        own = self.frames(module) if module is not None else []
        return next((other for other in own if other.unit == frame.unit), None)

    def inherited(self) -> list[Module]:
        """Omni modules that are not checked themselves but whose classes stand in the MRO of a checked class."""
        found = {
            c.module.name: c.module for line in self.leaves() for c in line.classes if c.module.project == "vllm-omni"
        }
        return [found[name] for name in sorted(found) if found[name] not in self.checked]

    def frame(self, info: ClassInfo, function: FunctionNode) -> Frame:
        """The frame of one method, remembered."""
        if id(function) not in self._frame:
            self._frame[id(function)] = frame_of(info.module, function, info)
        return self._frame[id(function)]

    def lineups(self, info: ClassInfo) -> list[Lineup]:
        """The MROs that ``self`` can have in a method of ``info``: those of its most derived checked subclasses."""
        if self._leaves is None:
            self._leaves = self._find_leaves()
        return self._leaves.get(id(info.node)) or self.classes.lineups(info)

    def leaves(self) -> list[Lineup]:
        """The lineups of all checked classes that no checked class derives from."""
        own = [info for module in self.checked for info in self.own_classes(module)]
        bases = {id(base.node) for info in own for line in self.classes.lineups(info) for base in line.classes[1:]}
        return [line for info in own if id(info.node) not in bases for line in self.classes.lineups(info)]

    def own_classes(self, module: Module) -> list[ClassInfo]:
        """Top-level classes of ``module``."""
        nodes = [b.node for bindings in module.bindings.values() for b in bindings if b.kind == "class"]
        return [self.classes.info_of(module, node) for node in nodes if isinstance(node, ast.ClassDef)]

    def _find_leaves(self) -> dict[int, list[Lineup]]:
        found: dict[int, list[Lineup]] = {}
        for line in self.leaves():
            for info in line.classes:
                found.setdefault(id(info.node), []).append(line)
        return found

    def live(self, line: Lineup) -> dict[int, tuple[ClassInfo, FunctionNode]]:
        """The methods of a lineup that can run: the first of each name, and what those reach by ``super()`` or name."""
        if id(line) not in self._live:
            first = [
                (info, f)
                for info in line.classes
                for name, functions in info.methods.items()
                if _is_first(line, info, name)
                for f in functions
            ]
            self._live[id(line)] = self.reach(line, first)
        return self._live[id(line)]

    def reach(
        self, line: Lineup, start: Iterable[tuple[ClassInfo, FunctionNode]]
    ) -> dict[int, tuple[ClassInfo, FunctionNode]]:
        """``start`` and every parent method that it calls, directly or not."""
        pending = list(start)
        seen: dict[int, tuple[ClassInfo, FunctionNode]] = {}
        while pending:
            info, function = pending.pop()
            if id(function) not in seen:
                seen[id(function)] = (info, function)
                pending.extend(self._parent_calls(line, info, function))
        return seen

    def _parent_calls(
        self, line: Lineup, info: ClassInfo, function: FunctionNode
    ) -> Iterator[tuple[ClassInfo, FunctionNode]]:
        for node in nodes_of(function):
            if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
                continue
            if is_super(node.value):
                reached = line.find(node.attr, after=info) if info in line else None
                yield from ((reached[0], f) for f in reached[1]) if reached else ()
            elif isinstance(node.value, ast.Name) and node.value.id[:1].isupper():
                for definition in self.world.resolve(info.module, node.value.id):
                    base = self.classes.info(definition)
                    for base_line in self.classes.lineups(base) if base else ():
                        reached = base_line.find(node.attr)
                        yield from ((reached[0], f) for f in reached[1]) if reached else ()

    def definitions(self, frame: Frame, dotted: str) -> list[Definition]:
        """What a dotted name means in ``frame``; empty when its head is a local variable."""
        head, _, rest = dotted.partition(".")
        if head in frame.bound:
            return []
        if head in frame.imports:
            found = [
                d
                for i in frame.imports[head]
                for d in self.world.lookup(i.module if i.name or i.alias != i.module.split(".")[0] else i.alias, i.name)
            ]
            for part in rest.split(".") if rest else ():
                found = [d for outer in found for d in self.world.member(outer, part)]
            return found
        return self.world.resolve(frame.module, dotted)

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
        """The constructor of a class, written or generated, ``None`` when it cannot be told."""
        decorators = {decorator_name(d) for d in info.node.decorator_list}
        lines = self.classes.lineups(info)
        if len(lines) != 1 or lines[0].open or any("__new__" in c.methods for c in lines[0].classes):
            return None
        if any(ast.unparse(base).endswith("NamedTuple") for base in info.node.bases):
            return Callee(info.name, info.place, signatures.of_fields(info.fields), None, info.module, info)
        if "dataclass" in decorators and "__init__" not in info.methods:
            return self._dataclass_constructor(info, lines[0])
        if decorators - {"dataclass", "final", "runtime_checkable"}:
            return None
        reached = lines[0].find("__init__")
        if reached is None or len(reached[1]) != 1:
            return None
        callee = self._of_function(reached[1][0], reached[0].module, reached[0], through_class=False)
        return (
            Callee(info.name, callee.place, callee.signature, callee.function, callee.module, info) if callee else None
        )

    def _dataclass_constructor(self, info: ClassInfo, line: Lineup) -> Callee | None:
        fields: dict[str, bool] = {}
        for part in reversed(line.classes):
            text = "".join(ast.unparse(d) for d in part.node.decorator_list) + ast.unparse(part.node)
            # timid: generated parameters that these words change are not modelled.
            if any(word in text for word in ("KW_ONLY", "kw_only", "InitVar", "init=False")):
                return None
            if "dataclass" in {decorator_name(d) for d in part.node.decorator_list}:
                fields.update(part.fields)
        return Callee(info.name, info.place, signatures.of_fields(list(fields.items())), None, info.module, info)

    def infer(self, frame: Frame, node: ast.expr, depth: int = 0) -> list[Instance] | None:
        """The classes ``node`` can be an instance of, ``None`` counted out; ``None`` when it cannot be told."""
        if depth > _MAX_DEPTH or ast.unparse(node) in frame.narrowed:
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

    def _infer_name(self, frame: Frame, name: str, depth: int) -> list[Instance] | None:
        if name == frame.owner and frame.info is not None:
            return None
        nodes = frame.bound.get(name)
        if not nodes:
            return None
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

    def _infer_call(self, frame: Frame, call: ast.Call, depth: int) -> list[Instance] | None:
        dotted = dotted_name(call.func)
        infos = [self.classes.info(d) for d in (self.definitions(frame, dotted) if dotted else [])]
        if infos and all(infos):
            return [Instance(info, True) for info in infos if info is not None]
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

    def is_never_true(self, frame: Frame, test: ast.expr) -> bool:
        """Whether a condition asks for a flag of ``self`` that every assignment which can run sets to ``False``."""
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            return any(self.is_never_true(frame, part) for part in test.values)
        own = isinstance(test, ast.Attribute) and frame.owner is not None and is_name(test.value, frame.owner)
        if not own or not isinstance(test, ast.Attribute) or frame.info is None:
            return False
        lines = self.lineups(frame.info)
        values = [a.value for line in lines for _, a in self.assignments(line, test.attr)]
        is_false = [isinstance(value, ast.Constant) and value.value is False for value in values]
        return bool(values) and all(is_false) and not any(line.open for line in lines)

    def assignments(self, line: Lineup, name: str) -> list[tuple[ClassInfo, Assignment]]:
        """The assignments of an attribute in methods that can still run, and in class bodies."""
        live = self.live(line)
        pairs = [(info, a) for info in line.classes for a in info.written.get(name, ())]
        return [(info, a) for info, a in pairs if a.function is None or id(a.function) in live]

    def _assigned(self, info: ClassInfo, assignment: Assignment, depth: int) -> list[Instance] | None:
        function = assignment.function
        frame = self.frame(info, function) if function is not None else _class_frame(info)
        value = assignment.value
        if assignment.annotation is not None:
            declared = self.annotated(frame, assignment.annotation)
            # `x: Unknown` and `x: Unknown | None = None` declare; the assignments elsewhere tell.
            only_declares = value is None or (isinstance(value, ast.Constant) and value.value is None)
            return [] if declared is None and only_declares else declared
        return self.infer(frame, value, depth + 1) if value is not None and function is not None else None


def _class_frame(info: ClassInfo) -> Frame:
    empty = ast.parse("def _(): ...").body[0]
    assert isinstance(empty, ast.FunctionDef)
    return Frame(info.module, empty, None)


def _union(parts: Sequence[list[Instance] | None]) -> list[Instance] | None:
    if any(part is None for part in parts):
        return None
    unique: dict[tuple[int, bool], Instance] = {}
    for part in parts:
        for instance in part or ():
            unique.setdefault((id(instance.info), instance.exact), instance)
    return list(unique.values())


def _is_first(line: Lineup, info: ClassInfo, name: str) -> bool:
    return next(c for c in line.classes if name in c.methods) is info


def is_super(node: ast.expr) -> bool:
    """Whether ``node`` is ``super()`` (with or without arguments)."""
    return isinstance(node, ast.Call) and is_name(node.func, "super")


def dotted_name(node: ast.expr) -> str | None:
    """``a.b.c`` as text, ``None`` for any other expression."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        inner = dotted_name(node.value)
        return f"{inner}.{node.attr}" if inner else None
    return None
