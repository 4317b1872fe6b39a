"""RS308 typed-attribute: an attribute of an object whose class is known does not exist there.

What: `x.attribute` where every class that `x` can be is fully visible in the target and none has the attribute: `x` is
constructed in sight, or annotated with a class of vllm-ascend without subclasses. For other annotated classes the rule
reports attributes that the class had, or that were set on such objects, in the old trees. Also `Class.attribute` on the
class itself. With the old trees also:

- `x[key]`, `len(x)`, `for … in x` and `… in x` of objects that lost the special method for it, and `x["key"]` where the
  `TypedDict` lost that key;
- methods that the class of an object with a base outside the trees (`torch.nn.Module`) had and lost;
- attributes and items of members that now hold only lists, numbers and the like, and held something with the attribute
  before; for fields of other objects and elements of containers, their annotations count;
- members of an object of unknown class (`self.model.x`) whose name stands nowhere in the target any more, or that only
  assignments from outside gave to such objects, which are gone, where upstream now reads the name from something else.

Example: `RoutedExpertsCapturer.get_instance()` after vLLM dropped the class method;
`self.ascend_config.enable_async_exponential`, which vllm-ascend dropped in 0.25.1rc1; there also
`self.sampler.do_async_exponential(...)` of a sampler that is a torch module; `get_forward_context().sp_enabled`, which
0.14.0rc1 set on each forward context and 0.15.0rc1 does not; `self.model.clear_all_moe_loads()`, which 0.22.1rc1 put on
the model and 0.23.0rc1 has in its EPLB adaptor.

Why: upstream moves fields between its state objects at nearly every release. 7 of the 156 recorded breakages.

Fix: read it from where the target keeps it now, under its new name if a member of similar name, and of the same value
or type, stands in its place. Where the target has it nowhere, leave out what reads it.

Leaves alone: objects annotated with a class of vLLM, or with one that has subclasses, without old trees (a subclass may
have the attribute); reads under a condition that tests for the attribute with `hasattr`/`getattr`; names that the code
tests with `isinstance` or `type`, except the body of `if isinstance(x, Class):` for a class without subclasses; classes
with `__getattr__` (which does not answer reads on the class itself) or bases outside the trees; attributes that a
function of the class's module or another module writes (for a field that the class itself lost, only writes on an
object of that name and subclasses that have it count); keys that the function tests (`"key" in x`), that any module
sets, or that omni writes into a dictionary; fields that the function itself stores, constructs or tests; for objects of
unknown class, names of one word, and names that anything in the trees still mentions. In omni's GPU code that a runner
inherits, the rule checks only attributes of objects of known class.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from runner_sync.model import Finding, Severity
from runner_sync.syntax import last_word
from runner_sync.verify.trees import vanished
from runner_sync.verify.trees.classes import Mro, classes_in, is_record
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.lost_members import advise_replacement
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.overridden_reads import find_other_read
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.steps import Step, step_of
from runner_sync.verify.trees.values import builtin, items
from runner_sync.verify.trees.values.annotations import Instance
from runner_sync.verify.trees.values.guards import find_tests_of
from runner_sync.verify.trees.values.settled import is_settled_here
from runner_sync.verify.trees.values.typed_dicts import keys_of

CODE = "RS308"
NAME = "typed-attribute"
SEVERITY: Severity = "error"

_OF_EVERY_CLASS = frozenset(
    {
        *dir(tuple), *dir(type), "__annotations__", "__dict__", "__dataclass_fields__", "__dataclass_params__",
        "__members__",
    }
)  # fmt: skip

# What a NamedTuple adds.
_OF_RECORDS = frozenset({"_replace", "_asdict", "_fields", "_field_defaults", "_make"})

# The methods of every torch module: a class that no longer overrides one still has it.
_OF_MODULES = frozenset(
    {
        "add_module", "apply", "bfloat16", "buffers", "children", "compile", "cpu", "cuda", "double", "eval", "float",
        "forward", "half", "load_state_dict", "modules", "mtia", "musa", "named_buffers", "named_children",
        "named_modules", "named_parameters", "npu", "parameters", "register_buffer", "register_module",
        "register_parameter", "requires_grad_", "share_memory", "state_dict", "to", "to_empty", "train", "type", "xpu",
        "zero_grad",
    }
)  # fmt: skip


def find(program: Program, module: Module, old: Program | None = None) -> Iterable[Finding]:
    """Return reads, calls and item accesses on objects that lack the member, one per line and member."""
    found = {(finding.line, finding.symbol): finding for finding in reversed([*_find(program, module, old)])}
    return reversed(found.values())


def has_member(program: Program, frame: Frame, node: ast.Attribute) -> bool:
    """Whether an object of a class that the value of ``node`` may have has the attribute; false for unknown classes."""
    named = program.named_classes(frame, node.value)
    instances = named or program.infer(frame, node.value) or []
    return any(_may_have(program, instance, node.attr, is_class=bool(named)) for instance in instances)


def _find(program: Program, module: Module, old: Program | None) -> Iterator[Finding]:
    """Yield the findings, in the order of the code.

    Inherited code gets only the check of known classes, because a check of all objects there takes a seventh longer.
    """
    is_checked = module in program.checked
    for frame in program.frames(module):
        step = step_of(program, frame, old)
        for node in frame.nodes():
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and not _is_exempt(frame, node):
                missing = _find_classes_lacking(program, frame, node, step)
                if missing:
                    yield _make_finding(program, frame, node, node.attr, missing, old)
                elif step is not None and is_checked:
                    yield from list(_check_builtin(step, node)) or _check_unknown(step, node)
            if step is None or not is_checked:
                continue
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
                yield from _check_key(step, node)
            if isinstance(node, ast.Subscript):
                yield from _check_builtin_item(step, node)
            for value, name in items.find_special_methods(frame, node):
                lost = _find_classes_without(step, value, name)
                if lost:
                    yield _make_finding(program, frame, value, name, lost, old)


def _check_key(step: Step, node: ast.Subscript) -> Iterator[Finding]:
    """Report a key of a ``TypedDict`` that its type lost."""
    program, frame = step.program, step.frame
    key = node.slice.value if isinstance(node.slice, ast.Constant) else None
    if not isinstance(key, str) or _compare_types_with_key(program, frame, node.value, key) != "none":
        return
    if frame.may_lack_key(node) or _compare_types_with_key(step.old, step.before, node.value, key) != "all":
        return
    infos = [instance.info for instance in program.infer(frame, node.value) or ()]
    around = program.world.surroundings
    # Checked last, because it searches all texts of the trees.
    if not around.may_give_key(key) and not any(around.has_subclass(info.name) for info in infos):
        text, info = ast.unparse(node.value), infos[0]
        yield frame.finding(
            (CODE, SEVERITY),
            node,
            symbol=f"{info.name}[{key}]",
            message=f"`{text}` has no `{key}` any more: {info.label} does not name it.",
            fix=advise_replacement(program, step.old, info, key, used_as=key),
        )


def _compare_types_with_key(program: Program, frame: Frame, value: ast.expr, key: str) -> Literal["all", "none", ""]:
    """Whether all possible types of a dictionary have a key, or none; empty for some, and for an unknown type."""
    instances = program.infer(frame, value) or []
    keys = [keys_of(program.classes, instance.info) for instance in instances]
    has = {key in known for known in keys if known is not None}
    return "" if not keys or None in keys or len(has) != 1 else "all" if has == {True} else "none"


def _check_builtin(step: Step, node: ast.Attribute) -> Iterator[Finding]:
    """Report a member of another kind before that now only holds builtin values, which lack the attribute."""
    held = builtin.find_held_types(step.program, step.frame, node.value)
    kinds = held or builtin.find_declared_types(step.program, step.frame, node.value)
    if kinds is None or any(hasattr(kind, node.attr) for kind in kinds) or _may_be_another(step, node, held):
        return
    text = ast.unparse(node.value)
    yield step.frame.finding(
        (CODE, SEVERITY),
        node,
        symbol=f"{text.rpartition('.')[2]}.{node.attr}",
        message=f"`{text}` has no `{node.attr}`: in the target it holds {_list_types(kinds)}.",
        fix=f"Use `{text}` as the target does.",
    )


def _check_builtin_item(step: Step, node: ast.Subscript) -> Iterator[Finding]:
    kinds = items.find_refusing_types(step, node)
    if kinds:
        text = ast.unparse(node.value)
        yield step.frame.finding(
            (CODE, SEVERITY),
            node,
            symbol=f"{text.rpartition('.')[2]}[{ast.unparse(node.slice)}]",
            message=f"`{ast.unparse(node)}` fails: in the target `{text}` holds {_list_types(kinds)}.",
            fix=f"Use `{text}` as the target does.",
        )


def _list_types(kinds: Iterable[type]) -> str:
    return " or ".join(f"`{name}`" for name in sorted(kind.__name__ for kind in kinds))


def _may_be_another(step: Step, node: ast.Attribute, held: frozenset[type] | None) -> bool:
    """Whether the object of an attribute may be of other than the builtin types, or lacked the attribute before.

    ``held`` are the types that were read from its assignments.
    """
    if find_tests_of(step.frame.function, node.value):
        return True
    is_field = held is None or not step.frame.is_of_self(node.value)
    if is_field and (is_settled_here(step.program, step.frame, node.value) or builtin.was_derived(step, node)):
        return True
    was = builtin.find_types(step.old, step.before, node.value)
    if was is not None:
        had = any(hasattr(kind, node.attr) for kind in was)
    else:
        had = held is not None or _had_before(step, node.value, node.attr)[0]
    around = step.program.world.surroundings
    # Checked last, because it searches all texts around the runners.
    return not had or (
        held is not None and isinstance(node.value, ast.Attribute) and around.is_written_elsewhere(node.value.attr)
    )


def _check_unknown(step: Step, node: ast.Attribute) -> Iterator[Finding]:
    """Report a member of an object of unknown class that nothing in the target can give it."""
    had_from = vanished.find_lost_definition(step, node)
    if had_from:
        text = ast.unparse(node.value)
        yield step.frame.finding(
            (CODE, SEVERITY),
            node,
            symbol=f"{text.rpartition('.')[2]}.{node.attr}",
            message=f"`{text}` has no `{node.attr}` any more: in the old target it came from {had_from}, and nothing "
            "in the new one puts it there.",
            fix=_advise_other_read(step.program, step.frame, node, is_rare=True)
            or f"Follow what the target uses in place of `{node.attr}`.",
        )


def _find_classes_without(step: Step, value: ast.expr, name: str) -> list[Instance]:
    """Return the possible classes of an object if all lack a special method that it had before, else none."""
    if step.frame.has_asked(value, name):
        return []
    program = step.program
    found = program.infer(step.frame, value) or []
    names = (name, *items.SUBSTITUTES.get(name, ()))
    pairs = [(one, each) for one in found for each in names]
    has = any(
        is_record(i.info) or _may_have(program, i, each) or _has_subclass_with(program, i, each) for i, each in pairs
    )
    return found if found and not has and _had_before(step, value, *names)[0] else []


def _is_exempt(frame: Frame, node: ast.Attribute) -> bool:
    return frame.is_self(node.value) or node.attr in _OF_EVERY_CLASS or frame.may_lack(node)


def _find_classes_lacking(program: Program, frame: Frame, node: ast.Attribute, step: Step | None) -> list[Instance]:
    named = program.named_classes(frame, node.value)
    instances = named or program.infer(frame, node.value) or []
    if not instances or any(_may_have(program, i, node.attr, is_class=bool(named)) for i in instances):
        return instances if step is not None and not named and _has_lost_method(step, node, instances) else []
    if any(_is_set_beside(program, instance, node.attr, is_class=bool(named)) for instance in instances):
        return []
    is_sealed = all(instance.exact or program.is_last(instance.info) for instance in instances)
    defined, given = _had_before(step, node.value, node.attr) if step is not None else (False, False)
    if not is_sealed and not defined and not given:
        return []
    around = program.world.surroundings
    if not defined:
        return [] if around.is_written(node.attr) else instances
    # The class itself defined it before, so a write of the same name elsewhere concerns another class.
    spoken_of = (ast.unparse(node.value).rstrip("()").rpartition(".")[2], *(i.info.name for i in instances))
    is_written = any(around.is_written_on(name, node.attr) for name in spoken_of)
    return [] if is_written or any(_has_subclass_with(program, i, node.attr) for i in instances) else instances


def _is_set_beside(program: Program, instance: Instance, name: str, *, is_class: bool) -> bool:
    """Whether code in the module of the class or of a base sets the attribute on such objects, or on the class."""
    attribute = re.escape(name)
    for info in classes_in(program.classes.mros(instance.info)):
        owner = rf"\b{re.escape(info.name)}" if is_class else r"(?<!\bself)"
        set_by_name = rf"setattr\([^,()]*,\s*[\"']{attribute}[\"']"
        if re.search(rf"{owner}\.{attribute}\s*(:[^=\n]+)?=[^=]|{set_by_name}", info.module.text):
            return True
    return False


def _has_subclass_with(program: Program, instance: Instance, name: str) -> bool:
    """Whether a subclass in sight of the runners has the attribute."""
    if instance.exact:
        return False
    mros = program.classes.mros_of(program.subclasses_near(instance.info))
    return any(instance.info in mro and mro.has(name) for mro in mros)


def _may_have(program: Program, instance: Instance, name: str, *, is_class: bool = False) -> bool:
    """Whether an object of a class, or the class itself, has the attribute or may have it out of sight."""
    mros = program.classes.mros(instance.info)
    if name in _OF_RECORDS and any(is_record(info) for info in classes_in(mros)):
        return True
    if is_class:
        return any(mro.is_foreign or mro.has(name) for mro in mros)
    return any(mro.open or mro.has_method(name) or program.assignments(mro, name) for mro in mros)


def _has_lost_method(step: Step, node: ast.Attribute, instances: Sequence[Instance]) -> bool:
    """Whether classes with a base outside the trees lost a method of their own."""
    if node.attr in _OF_MODULES or not all(instance.exact for instance in instances):
        return False
    mros = step.program.classes.mros_of(instance.info for instance in instances)
    was = step.old.mros_of(step.before, node.value)
    if not any(mro.has_method(node.attr) for mro in was):
        return False
    if any(mro.has(node.attr) or any(info.open or info.has_getattr for info in mro.classes) for mro in mros):
        return False
    known = {base for mro in was for base in _find_outside_bases(mro)}
    around = step.program.world.surroundings
    return all(_find_outside_bases(mro) <= known for mro in mros) and not around.is_written_elsewhere(node.attr)


def _find_outside_bases(mro: Mro) -> set[str]:
    """Return the last words of the bases that no class of the MRO is."""
    bases = {last_word(base) for info in mro.classes for base in info.node.bases}
    return bases - {info.name for info in mro.classes}


def _had_before(step: Step, value: ast.expr, *names: str) -> tuple[bool, bool]:
    """Whether the old class of the object, or its built-in type, defined one of the attributes, and whether other
    modules set the first on such objects."""
    old = step.old
    named = old.named_classes(step.before, value)
    instances = named or old.infer(step.before, value) or []
    if not instances:
        kinds = builtin.find_types(old, step.before, value) or ()
        return any(hasattr(kind, name) for kind in kinds for name in names), False
    defined = any(_may_have(old, one, name, is_class=bool(named)) for one in instances for name in names)
    return defined, old.world.surroundings.is_written_elsewhere(names[0])


def _make_finding(
    program: Program, frame: Frame, node: ast.expr, name: str, instances: list[Instance], old: Program | None
) -> Finding:
    info = instances[0].info
    read = node if isinstance(node, ast.Attribute) and node.attr == name else None
    text = ast.unparse(node if read is None else read.value)
    what = "this class" if text.split(".")[-1] == info.name else f"{_article(info.name)} `{info.name}`"
    advice = _advise_other_read(program, frame, read) if read is not None else ""
    return frame.finding(
        (CODE, SEVERITY),
        node,
        symbol=f"{info.name}.{name}",
        message=f"`{text}` has no `{name}`: {what} ({info.place}) does not define it.",
        fix=advice
        or advise_replacement(program, old, info, name, used_as=items.OPERATIONS.get(name, name).format(text)),
    )


def _article(name: str) -> str:
    return "an" if name.lstrip("_")[:1] in "AEIOUaeiou" else "a"


def _advise_other_read(program: Program, frame: Frame, node: ast.Attribute, *, is_rare: bool = False) -> str:
    other = find_other_read(program, frame, node, is_rare=is_rare)
    return f"Write `{other.text}` if that is meant, as {other.place} does." if other is not None else ""
