"""RS304 missing-attribute: `self.x` is read, but nobody in the MRO defines it.

What: a read of `self.x` (or a call of `self.x()`) in an NPU runner where no class of the real MRO (omni NPU → omni GPU
→ vllm-ascend → vLLM → mixins, in every branch of a conditional base) has a method, property, class attribute or
assignment `self.x = …`, and no start-up patch adds one. The rule also reports an attribute that only one branch of a
conditional base has: the runner fails wherever another branch is taken. An assignment after a read in the same method
does not define the attribute (`if self.x: self.x = False`, `self.x += 1`), nor does a bare declaration. Also a read of
`super().x` that nothing behind the class defines.

Example: `self._all_gather_hidden_states_and_aux(hidden_states)`, which vllm-ascend dropped in 0.28;
`self.uses_xdrope_dim` after vLLM removed XD-RoPE; `if self.calculate_kv_scales: self.calculate_kv_scales = False` of
0.27.0rc1, which vLLM 0.28 no longer sets; `hasattr(self, "_positions_cpu")` of 0.21.0rc1, which vLLM 0.23 no longer
has: experts are routed and never copied out.

Why: an `AttributeError` in the first forward pass, on hardware only. 20 of the 156 recorded breakages.

Fix: use what the target uses in its place, or drop the statement as the target did.

In omni code that NPU inherits, the rule reports attributes that a GPU runner defines and no NPU runner: the method
works on GPU and fails on NPU. It does not report them where a condition around the read, or around every call of the
method, tests the platform or device, the class of `self`, or an attribute that GPU and NPU classes define differently
(`if self.has_epoch:`).

Attributes that a class lacks because it lost one of its bases are one finding, at the class.

With the old trees the rule also reports an attribute that one class that runs the method lost, even if its sibling
classes set it; an attribute that `__init__` reads, an `__init__` set in the old trees, and only a later method sets
now; and `if hasattr(self, "x"):` without another branch where upstream no longer defines `x`: a warning, since nothing
fails. A read under a flag of `self` that the target only ever sets to `False` cannot fail today: it is a warning.

Leaves alone: reads under a condition that tests for the attribute with `hasattr`/`getattr`, code that runs only after a
`hasattr` of what its object lacks, code in `try`/`except AttributeError`, version switches, attributes of one branch of
a conditional base below the condition that chooses this branch, classes with `__getattr__`, a dynamic `setattr` or a
base outside the trees, attributes that other modules write on a runner that they get (`runner.x = …`), and mixins
without a checked user.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator
from dataclasses import replace

from runner_sync.model import Finding, Severity
from runner_sync.syntax import is_super, walk
from runner_sync.verify.trees import gpu_only
from runner_sync.verify.trees.classes import ClassInfo, Mro, classes_in
from runner_sync.verify.trees.frames import Frame, class_finding
from runner_sync.verify.trees.functions import calls_of, reads_of
from runner_sync.verify.trees.initial import find_late_writer, is_set_at_start, may_others_set
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.steps import Step, step_of, steps
from runner_sync.verify.trees.successors import find_successor
from runner_sync.verify.trees.vain import is_asked_in_vain
from runner_sync.verify.trees.values.giving import defines_member

CODE = "RS304"
NAME = "missing-attribute"
SEVERITY: Severity = "error"

# The attributes of every object (`dir(object)`) and those that a class statement adds.
_OF_OBJECT = frozenset(
    {*dir(object), "__dict__", "__name__", "__qualname__", "__mro__", "__annotations__", "__bases__"}
)


def find(program: Program, module: Module, old: Program | None = None) -> Iterator[Finding]:
    """Yield reads of attributes that no MRO of the class defines, and `hasattr` tests that became always false."""
    for frame in program.frames(module):
        step = step_of(program, frame, old)
        for node in (*frame.own_reads(), *_find_parent_reads(program, frame)):
            if is_missing(program, frame, node):
                advice = _advise_replacement(program, frame, node, step) if old is not None else ""
                cause = _find_lost_base(step, node.attr) if step is not None else None
                yield replace(_make_finding(program, frame, node, instead=advice), cause=cause)
            elif step is not None and (head := _find_class_lacking(step, node)):
                yield _make_finding(program, frame, node, head=head)
            elif step is not None and (late := _find_late_writer(step, node)):
                yield _make_late_finding(frame, node, late)
    for step in steps(program, module, old):
        for call, name in _find_hasattr_tests(step.frame):
            if _is_gone(step, name):
                yield _make_hasattr_finding(step.frame, call, name)


def _find_late_writer(step: Step, node: ast.Attribute) -> str:
    """Return the method that sets an attribute which ``__init__`` reads, if an ``__init__`` did so in the old trees and
    none does now; else an empty text."""
    frame, name = step.frame, node.attr
    is_first = frame.function.name == "__init__" and not _is_exempt(frame, node) and frame.runs_at_once(node)
    now, was = step.mros if is_first and frame.is_self(node.value) else ([], [])
    late = [mro for mro in now if not mro.open and not is_set_at_start(step.program, mro, name)]
    if not late or not all(is_set_at_start(step.old, mro, name) for mro in was):
        return ""
    if step.program.world.surroundings.is_set_on_runner(name):
        return ""
    is_open = any(may_others_set(step.program, mro, frame, node) for mro in late)
    return "" if is_open else find_late_writer(step.program, late[0], name)


def _make_late_finding(frame: Frame, node: ast.Attribute, late: str) -> Finding:
    return frame.finding(
        (CODE, SEVERITY),
        node,
        symbol=node.attr,
        message=f"`{ast.unparse(node)}` is read in `__init__`, and only `{late}` sets it now, which runs later.",
        fix=f"Read what the target's `__init__` uses in place of `{node.attr}`, or read it after `{late}`.",
    )


def find_inherited(program: Program, module: Module) -> Iterator[Finding]:
    """Yield reads in inherited omni code of attributes that a GPU runner has, and no NPU runner."""
    for frame in program.frames(module):
        for node in frame.own_reads():
            giver = gpu_only.find_gpu_definer(program, frame, node) if is_missing(program, frame, node) else None
            if giver is not None:
                yield _make_gpu_only_finding(program, frame, node, giver)


def _make_gpu_only_finding(program: Program, frame: Frame, node: ast.Attribute, giver: ClassInfo) -> Finding:
    assert frame.info is not None
    heads = dict.fromkeys(f"`{mro.head.name}`" for mro in program.mros(frame.info))
    runs = "runs" if len(heads) == 1 else "run"
    remark = _describe_dead_condition(program, frame, node)
    return frame.finding(
        (CODE, "warning" if remark else SEVERITY),
        node,
        symbol=node.attr,
        message=f"`{ast.unparse(node)}` is read in code that {' and '.join(heads)} {runs}, too, but only "
        f"{giver.label} defines it, and they do not derive from that.{remark}",
        fix=f"Define `{node.attr}` in `{frame.info.name}`, or on NPU as `{giver.name}` does.",
    )


def _find_hasattr_tests(frame: Frame) -> Iterator[tuple[ast.Call, str]]:
    """Yield each ``hasattr(self, "name")`` in a condition without another branch.

    timid: code with another branch, or that tests several names, is ready for several versions.
    """
    nodes = frame.nodes() if frame.owner is not None and "hasattr" in frame.module.text else []
    elsewhere = {id(inner) for n in nodes if isinstance(n, ast.If) for part in n.orelse for inner in walk(part)}
    whole = [n.test for n in nodes if isinstance(n, ast.If) and not n.orelse and id(n) not in elsewhere]
    tests = [one for test in whole for one in _read_hasattr(frame, test)]
    yield from tests if len({name for _, name in tests}) == 1 else ()


def _read_hasattr(frame: Frame, test: ast.expr) -> Iterator[tuple[ast.Call, str]]:
    match test:
        case ast.BoolOp(op=ast.And(), values=parts):
            yield from (one for part in parts for one in _read_hasattr(frame, part))
        case ast.Call(func=ast.Name(id="hasattr"), args=[ast.Name() as who, ast.Constant(value=str(name))]):
            if frame.is_self(who):
                yield test, name


def _is_gone(step: Step, name: str) -> bool:
    """Whether upstream code gave every old MRO the attribute, and no MRO has it now."""
    mros, was = step.mros
    around = step.program.world.surroundings
    if around.is_set_on_runner(name) or any(mro.open or _find_definers(mro, name) for mro in mros):
        return False
    return bool(was) and all(any(not info.is_omnis for info in _find_definers(mro, name)) for mro in was)


def _make_hasattr_finding(frame: Frame, call: ast.Call, name: str) -> Finding:
    return frame.finding(
        (CODE, "warning"),
        call,
        symbol=name,
        message=f"`{ast.unparse(call)}` is never true on the target: nothing in the MRO defines `{name}` there, and "
        "what stands under it does not run.",
        fix=f"Follow what the target uses in place of `{name}`, or drop the statement.",
    )


def _find_parent_reads(program: Program, frame: Frame) -> Iterator[ast.Attribute]:
    """Yield a method's reads behind its own class: ``super().load()``.

    RS315 reports an override that calls a missing parent method and that nobody calls.
    """
    info, own = frame.info, frame.function.name
    for node in frame.nodes() if info is not None and "super()" in frame.module.text else ():
        if isinstance(node, ast.Attribute) and frame.is_super(node.value) and not node.attr.startswith("__"):
            mros = program.mros(info) if info is not None and node.attr == own else []
            if not mros or any(program.is_called(mro, own) for mro in mros):
                yield node


def is_missing(program: Program, frame: Frame, node: ast.Attribute) -> bool:
    """Whether nothing defines the attribute of ``self`` that ``node`` reads, nor may define it unseen."""
    if frame.info is None or _is_exempt(frame, node):
        return False
    mros = program.mros(frame.info)
    lacking = {id(mro.head.node) for mro in mros if _lacks(mro, frame, node)}
    if not lacking or any(id(mro.head.node) not in lacking for mro in mros):
        return False
    is_chosen = any(_find_owners(mro, frame, node) for mro in mros) and _is_below_switch(frame, node)
    return not is_chosen and not _is_excused(program, frame, node)


def _find_class_lacking(step: Step, node: ast.Attribute) -> ClassInfo | None:
    """Return a class that runs this method and had the attribute only before, whatever its sibling classes set."""
    program, frame = step.program, step.frame
    mros, was = step.mros if not _is_exempt(frame, node) else ([], [])
    for mro in mros:
        old_twins = [one for one in was if not one.open and one.head.key == mro.head.key]
        if _lacks(mro, frame, node) and old_twins and all(_find_owners(one, step.before, node) for one in old_twins):
            is_run = id(frame.function) in program.live(mro) and not _is_below_switch(frame, node)
            return mro.head if is_run and not _is_excused(program, frame, node) else None
    return None


def _is_exempt(frame: Frame, node: ast.Attribute) -> bool:
    return node.attr in _OF_OBJECT or frame.may_lack(node)


def _is_excused(program: Program, frame: Frame, node: ast.Attribute) -> bool:
    """Whether other code sets the attribute on a runner, or the read never runs; asked last, because it costs most."""
    return program.world.surroundings.is_set_on_runner(node.attr) or is_asked_in_vain(program, frame, node)


def _lacks(mro: Mro, frame: Frame, node: ast.Attribute) -> bool:
    if mro.open or _find_owners(mro, frame, node):
        return False
    # timid: a class without bases may be mixed into a class that is not in sight.
    return not is_super(node.value) or mro.classes[-1] is not frame.info


def _find_owners(mro: Mro, frame: Frame, node: ast.Attribute) -> list[ClassInfo]:
    """Return the classes of an MRO that define what ``node`` reads; for ``super()`` those behind the frame's class."""
    if not is_super(node.value):
        return _find_definers(mro, node.attr)
    behind = mro.behind(frame.info) if frame.info is not None and frame.info in mro else ()
    return [info for info in behind if node.attr in info.methods or info.written_in_body(node.attr)]


def _find_definers(mro: Mro, name: str) -> list[ClassInfo]:
    return [info for info in mro.classes if defines_member(info, name)]


def _is_below_switch(frame: Frame, node: ast.Attribute) -> bool:
    """Whether ``node`` stands under a condition by which the module also chooses what it imports."""
    switches = {ast.unparse(s.test) for s in frame.module.node.body if isinstance(s, ast.If)}
    return any(switch in ast.unparse(test) for test in frame.conditions(node) for switch in switches)


def _make_finding(
    program: Program, frame: Frame, node: ast.Attribute, *, head: ClassInfo | None = None, instead: str = ""
) -> Finding:
    """Make the finding for a missing attribute.

    ``head`` is the one class that lacks the attribute while another class that runs the method has it; ``instead``
    advises another attribute.
    """
    assert frame.info is not None
    remark = _describe_dead_condition(program, frame, node)
    owners = [owner for mro in program.mros(frame.info) for owner in _find_owners(mro, frame, node)]
    branch = owners and head is None
    who = f"only `{owners[0].name}`, one branch of a conditional base," if branch else "nothing"
    where = f"behind `{frame.info.name}` in the MRO" if is_super(node.value) else f"in the MRO of `{frame.info.name}`"
    where = f"in the MRO of `{head.name}`, which runs this," if head is not None else where
    return frame.finding(
        (CODE, "warning" if remark else SEVERITY),
        node,
        symbol=node.attr,
        message=f"`{ast.unparse(node)}` is read, but {who} {where} defines it.{remark}",
        fix=(f"{instead}; else follow" if instead else "Follow")
        + f" what the target uses in place of `{node.attr}`, or drop the statement.",
    )


def _find_lost_base(step: Step, name: str) -> Finding | None:
    """Return the cause shared by all attributes that an omni class lacks since it lost a base, or ``None``."""
    (mros, old_mros), old = step.mros, step.old
    owners = [owner for mro in old_mros for owner in _find_definers(mro, name)]
    was = {info.key: info for info in classes_in(old_mros)}
    omnis = (info for info in classes_in(mros) if info.is_omnis and info.key in was)
    for info, then in ((info, was[info.key]) for info in omnis):
        for base in _find_lost_bases(info, then):
            found = (old.classes.info(definition) for definition in old.world.bases(then.module, base))
            lost = old.classes.mros_of(one for one in found if one is not None)
            if any(owner in mro for mro in lost for owner in owners):
                return _make_base_cause(info, ast.unparse(base))
    return None


def _find_lost_bases(info: ClassInfo, then: ClassInfo) -> list[ast.expr]:
    now = {ast.unparse(base) for base in info.node.bases}
    return [base for base in then.node.bases if ast.unparse(base) not in now]


def _make_base_cause(info: ClassInfo, base: str) -> Finding:
    return class_finding(
        (CODE, SEVERITY),
        info,
        symbol=base,
        message=f"`{info.name}` no longer derives from `{base}`: nothing defines {{}}, and code that runs reads them.",
        fix=f"Derive from `{base}` as before, or from what defines them now.",
    )


def _describe_dead_condition(program: Program, frame: Frame, node: ast.Attribute) -> str:
    """Return the remark for a read that cannot run today, or ``""``."""
    tests = (ast.unparse(test) for test in frame.conditions(node) if program.is_never_true(frame, test))
    return next((f" Today the condition `{test}` is never true." for test in tests), "")


def _advise_replacement(program: Program, frame: Frame, node: ast.Attribute, step: Step | None) -> str:
    """Advise a replacement for an attribute: upstream's new name for it, or a similar name."""
    later = find_successor(step, node.attr) if step is not None else None
    if later is not None:
        lines = "one line" if later.lines == 1 else f"{later.lines} lines"
        return f"Write `{later.name}`, which {later.place} has in its place in {lines}"
    near = _find_similar_name(program, frame, node, step)
    return f"Write `{near}` if that is meant" if near else ""


def _find_similar_name(program: Program, frame: Frame, node: ast.Attribute, step: Step | None) -> str:
    """Return a similar name of the MRO for a misspelt one, or ``""``.

    A call needs the name of a method. Names that the overridden method reads come first. A name that the old trees have
    is not misspelt: upstream removed it (``pcp_size`` is no ``dcp_size``), and only a new name that the overridden
    method reads may stand in its place.
    """
    assert frame.info is not None
    classes = classes_in(program.mros(frame.info))
    is_called = any(call.func is node for call in calls_of(frame.function))
    known = {one for cls in classes for one in (cls.methods if is_called else (*cls.methods, *cls.written))}
    read = known & {one.attr for hidden in program.hidden_by(frame) for one in reads_of(hidden.function)}
    was = step.mros[1] if step is not None else []
    if any(_find_definers(mro, node.attr) for mro in was):
        read, known = {one for one in read if not any(mro.has(one) for mro in was)}, set()
    near = (difflib.get_close_matches(node.attr, sorted(each), n=1, cutoff=ALIKE) for each in (read, known))
    return next((one for found in near for one in found), "")


ALIKE = 0.85
"""From this share of common characters on, a name may be a misspelling of another: one letter in seven."""
