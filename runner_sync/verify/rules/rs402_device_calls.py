"""RS402 device-calls: `torch.cuda` in NPU code, or in a method that NPU inherits.

What: a name below `torch.cuda` (an attribute chain or an import) in an NPU module, or in an omni method that an NPU
class inherits. In inherited methods the rule also finds the name by which the module imports it or to which it is
assigned (`from torch import cuda`, `_device = torch.cuda`), and uses in a function of the module that the method calls.
Every module in the folders of the NPU modules counts as one if its path says `npu`, also helpers and runners that no
profile names. Also calls that place something on the GPU: `x.cuda()`, `x.to("cuda")`, `torch.device("cuda:0")`,
`torch.zeros(4, device="cuda")`. In inherited methods also `if tensor.is_cuda:`, which is never true on NPU: a warning.

Example:

    torch.cuda.synchronize()        # on NPU: torch.npu.synchronize()

Why: torch has no CUDA in an Ascend image; the call raises, or, worse, waits for nothing. People almost never leak one
by hand. This rule guards ported and generated code, and new GPU runner code that NPU inherits.

`OmniGPUModelRunner._store_value` of 0.22.0 to 0.32.0rc1 copies to the host only if `t.is_cuda`, so never on NPU.

Fix: `torch.npu.…` or `self.device`, or drop the statement where NPU has no such call. Override an inherited method on
NPU, or test the platform in it.

Leaves alone: a profile whose device is the GPU's own; strings and comments; `vllm` names that only contain the word
(`cudagraph_mode`, `CUDAGraphMode`); `torch.cuda.is_available()` as a condition, and code that runs only if it is true:
in the branch, behind `and` or an early `return` (not behind a `raise`, which keeps NPU out). Of inherited methods:
those that NPU overrides or that no NPU code calls; mere types (annotations, `isinstance`, `cast`, `except`); mere
questions (`torch.cuda.device_count()`); code in a `try` or below `suppress`. In a method that tests the device or
platform, also through a function of the module, only code before the first test counts, and none if all its callers
test. Also an `is_cuda` test next to others, or in a method that tests for another device.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Iterator, Sequence

from runner_sync.model import Severity
from runner_sync.syntax import Function, walk
from runner_sync.verify.device_words import is_device_name
from runner_sync.verify.expecting import DEVICE_ERRORS, find_after_yes, find_caught
from runner_sync.verify.hits import Hit
from runner_sync.verify.runners.ancestry import Ancestry, find_ancestry
from runner_sync.verify.runners.device_names import ASKING, Gpu, find_gpu_names, may_name
from runner_sync.verify.runners.job import Subject
from runner_sync.verify.runners.parity import find_mentions, read_upstream_words
from runner_sync.verify.runners.patch import patch
from runner_sync.verify.runners.reading import ClassText, Reading, dotted

CODE = "RS402"
NAME = "device-calls"
SEVERITY: Severity = "error"

# The arguments of a call that are mere types.
_TYPES = {"isinstance": slice(1, None), "issubclass": slice(None), "cast": slice(1)}


def find(subject: Subject) -> Iterator[Hit]:
    """Yield one finding per name, and one per inherited method."""
    npu, gpu = subject.npu, Gpu(*subject.profile.device)
    if gpu.word == gpu.npu_word:
        return
    yield from _check_inherited(subject, gpu)
    if not may_name(npu.text, gpu):
        return
    spared = _find_spared_nodes(npu, gpu.root)
    for node in npu.nodes:
        read = gpu.title(node) if gpu.is_used(node) else ""
        name = _read_import(node, gpu.root) if isinstance(node, ast.Import | ast.ImportFrom) else read
        if name and id(node) not in spared:
            yield _make_hit(npu, node, name, root=gpu.root, new_root=f"torch.{gpu.npu_word}")


def _read_import(node: ast.Import | ast.ImportFrom, root: str) -> str:
    package, _, word = root.partition(".")
    if isinstance(node, ast.ImportFrom):
        module = node.module or ""
        below = module == root or module.startswith(f"{root}.")
        return module if below else root if module == package and any(a.name == word for a in node.names) else ""
    return next((a.name for a in node.names if a.name == root or a.name.startswith(f"{root}.")), "")


def _find_spared_nodes(reading: Reading, root: str) -> set[int]:
    """Return the nodes that only run where there is a GPU, and the conditions that test for one."""
    if f"{root}.is_available" not in reading.text:
        return set()
    parts = [*find_after_yes(reading.nodes, lambda part: _has_availability_test(part, root) or None)]
    parts += [test for node in reading.nodes for test in _list_conditions(node) if _has_availability_test(test, root)]
    return {id(inner) for part in parts for inner in walk(part)}


def _has_availability_test(test: ast.expr, root: str) -> bool:
    return f"{root}.is_available" in ast.unparse(test)


def _list_conditions(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            return [test]
        case ast.BoolOp(values=values):
            return values
    return []


def _make_hit(npu: Reading, node: ast.AST, name: str, *, root: str, new_root: str) -> Hit:
    number = node.lineno  # type: ignore[attr-defined]
    line = npu.lines[number - 1]
    safe = line.count(root) == 1 and isinstance(node, ast.Attribute)
    if isinstance(node, ast.Call):
        message, remedy = (
            f"`{name}` names a GPU, which an NPU machine does not have.",
            "Use the runner's `self.device`.",
        )
    else:
        message, remedy = f"`{root}` does not exist on the NPU; this fails or does nothing there.", f"Use `{new_root}`."
    return npu.hit(
        (CODE, SEVERITY),
        node,
        symbol=name,
        message=message,
        fix=patch(npu.path, npu.text, {number: line.replace(root, new_root)}) if safe else remedy,
    )


def _check_inherited(subject: Subject, gpu: Gpu) -> Iterator[Hit]:
    """Check the inherited methods that run on a runner class of this module, and on none of its NPU parents."""
    runners = {npu for _, npu in subject.profile.classes}
    own = {*(module.path for module in subject.job.modules), *subject.job.beside}
    # A module without runner classes is not even parsed.
    is_runners = any(f"class {name}" in subject.npu.text for name in runners)
    for head in subject.npu.classes.values() if is_runners else ():
        mro = find_ancestry(subject.library, head) if head.name in runners else None
        if mro is None or mro.is_open:
            continue
        outside = [c for c in mro.classes if c.reading.path not in own]
        above = [find_ancestry(subject.library, c) for c in mro.classes[1:] if c.name in runners]
        for owner, function in _find_candidates(subject, outside, gpu):
            if not mro.is_live(owner, function) or any(other.is_live(owner, function) for other in above):
                continue
            if not _is_called(subject, mro, function):
                continue
            known = _find_gpu_names(subject, owner.reading, gpu)
            used = _find_untested_use(function, known)
            if used is not None and not _has_testing_callers(subject, mro, function):
                yield _make_class_hit(head, owner, function, used, gpu.title(used))
            tensor_test = _find_tensor_test(function, known) if used is None else None
            if tensor_test is not None:
                yield _make_tensor_hit(head, owner, function, tensor_test, subject.profile.device)


def _find_gpu_names(subject: Subject, reading: Reading, gpu: Gpu) -> Gpu:
    return subject.library.answers.once(
        (_find_gpu_names, reading.path), lambda: find_gpu_names(reading, gpu, _find_use_in_helper, _is_device_test)
    )


def _find_candidates(subject: Subject, classes: Iterable[ClassText], gpu: Gpu) -> Iterator[tuple[ClassText, Function]]:
    """Yield the methods that may use the GPU or test a tensor for it; other files are not even parsed."""
    asks = f".is_{gpu.word}"
    for owner in classes:
        if may_name(owner.reading.text, gpu) or asks in owner.reading.text:
            known = _find_gpu_names(subject, owner.reading, gpu)
            for function in (function for functions in owner.methods.values() for function in functions):
                text = owner.reading.text_of(function)
                if asks in text or known.may_be_in(text):
                    yield owner, function


def _is_called(subject: Subject, mro: Ancestry, function: Function) -> bool:
    """Whether code that runs on NPU names the method; ``True`` without the upstreams, which may call it."""
    if subject.upstream is None or subject.vllm is None:
        return True
    others = [other for _, other in mro.live() if other is not function]
    return function.name in find_mentions(others) or function.name in read_upstream_words(subject)


def _has_testing_callers(subject: Subject, mro: Ancestry, function: Function) -> bool:
    """Whether each method that names this one tests the device or platform: this one may be for a GPU only."""
    others = [pair for pair in mro.live() if pair[1] is not function and function.name in find_mentions([pair[1]])]
    by_upstream = function.name in read_upstream_words(subject)
    gpu = Gpu(*subject.profile.device)
    known = [(other, _find_gpu_names(subject, owner.reading, gpu).within(other)) for owner, other in others]
    return bool(others) and not by_upstream and all(_has_device_test(*one) for one in known)


def _find_use_in_helper(function: Function, gpu: Gpu) -> ast.AST | None:
    """Return the first use of the GPU in a called function. timid: skips deferred code and fallback values."""
    called = _find_called_functions(function, _list_statements_before_test(function, gpu.within(function)))
    parts = [part for node in walk(function)[1:] if id(node) not in called for part in _list_deferred_parts(node)]
    return _find_untested_use(function, gpu, idle=parts)


def _find_called_functions(function: Function, statements: Sequence[ast.stmt]) -> set[int]:
    """Return the nested functions that the statements call by name, directly or through each other."""
    nested = {node.name: node for node in walk(function)[1:] if isinstance(node, Function)}
    found, todo = set[int](), [statements] if nested else []
    while todo:
        calls = [node.func for part in todo.pop() for node in _walk_immediate(part) if isinstance(node, ast.Call)]
        called = [nested[call.id] for call in calls if isinstance(call, ast.Name) and call.id in nested]
        todo += [inner.body for inner in called if id(inner) not in found]
        found |= {id(inner) for inner in called}
    return found


def _walk_immediate(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and all nodes below it, except function bodies."""
    if isinstance(node, Function | ast.Lambda):
        return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _walk_immediate(child)


def _list_deferred_parts(node: ast.AST) -> list[ast.AST]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
            return [node]
        case ast.BoolOp(op=ast.Or(), values=[_, *others]):
            return [*others]
        case ast.IfExp(body=body, orelse=other):
            return [body, other]
        case ast.arguments(defaults=defaults, kw_defaults=others):
            return [*defaults, *(other for other in others if other is not None)]
    return []


def _is_device_test(statement: ast.stmt, gpu: Gpu) -> bool:
    """Whether a function returns, or a name is set to, a test of the device: `return torch.cuda.is_available()`."""
    if not isinstance(statement, Function):
        return _are_about_device([answer for _, answer in _find_assignment(statement, gpu)], gpu)
    gpu = gpu.within(statement)
    found = [node.value for node in walk(statement) if isinstance(node, ast.Return) and node.value is not None]
    says_yes = any(isinstance(value, ast.Constant) and isinstance(value.value, bool) for value in found)
    return _are_about_device(found, gpu) or (says_yes and _has_device_test(statement, gpu))


def _find_untested_use(function: Function, gpu: Gpu, *, idle: Sequence[ast.AST] = ()) -> ast.AST | None:
    """Return the first use of the GPU before the method tests what it runs on."""
    gpu = gpu.within(function)
    first = _list_statements_before_test(function, gpu)
    nodes = walk(function) if first is function.body else [node for part in first for node in walk(part)]
    spared = {id(inner) for part in (*idle, *(p for n in nodes for p in _list_idle(n))) for inner in walk(part)}
    return next((use for node in nodes if id(node) not in spared and (use := gpu.use(node)) is not None), None)


def _list_statements_before_test(function: Function, gpu: Gpu) -> list[ast.stmt]:
    """Return the statements of a function before its first test of the device or platform."""
    if not _has_device_test(function, gpu):
        return function.body
    return list(itertools.takewhile(lambda statement: not _may_test_device(statement, gpu), function.body))


def _has_device_test(function: Function, gpu: Gpu) -> bool:
    """Whether a test of a method, or a local that a test reads, names the device or platform."""
    return _are_about_device(_collect_tests(walk(function), gpu), gpu)


def _collect_tests(nodes: Sequence[ast.AST], gpu: Gpu) -> list[ast.expr]:
    """Return the tests among some nodes, and the values of the locals that they read."""
    tests = [test for node in nodes for test in _list_tests(node)]
    read = {node.id for test in tests for node in walk(test) if isinstance(node, ast.Name)}
    return tests + [a for node in nodes for name, a in _find_assignment(node, gpu) if name in read]


def _may_test_device(statement: ast.stmt, gpu: Gpu) -> bool:
    """Whether a statement tests the device or platform, or sets a local to one of them."""
    nodes = walk(statement)
    tests = [test for node in nodes for test in _list_tests(node)]
    return _are_about_device([*tests, *(a for node in nodes for _, a in _find_assignment(node, gpu))], gpu)


def _are_about_device(tests: list[ast.expr], gpu: Gpu) -> bool:
    """Whether expressions name the device or the platform; ``cudagraph_mode`` names neither."""
    names = list(find_mentions(tests))
    if any(name in gpu.names or name in gpu.askers for name in names):
        return True
    return any(is_device_name(name, (gpu.word, gpu.npu_word)) for name in names)


def _find_tensor_test(function: Function, gpu: Gpu) -> ast.Attribute | None:
    """Return a whole condition ``tensor.is_cuda``; none in methods that use the GPU or test for another device."""
    nodes, gpu = walk(function), gpu.within(function)
    names = find_mentions(_collect_tests(nodes, gpu))
    others = (gpu.npu_word, "platform", "device")
    tests_device = any(name in gpu.askers or any(word in name.lower() for word in others) for name in names)
    if tests_device or any(gpu.use(node) is not None for node in nodes):
        return None
    for test in (node.test for node in nodes if isinstance(node, ast.If | ast.IfExp)):
        condition = test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else test
        if isinstance(condition, ast.Attribute) and condition.attr == f"is_{gpu.word}":
            return condition
    return None


def _find_assignment(node: ast.AST, gpu: Gpu) -> Iterator[tuple[str, ast.expr]]:
    """Yield the local that a statement sets, and its value; skips GPU objects (`stream = torch.cuda.Stream()`)."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.expr() as value):
            is_made = any(gpu.is_used(inner) for inner in walk(value))
            if not is_made or not ASKING.isdisjoint(find_mentions([value])):
                yield name, value


def _list_tests(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.BoolOp(values=values):
            return values[:-1]
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test) | ast.Assert(test=test):
            return [test]
        case ast.Match(subject=subject):
            return [subject]
        case ast.match_case(guard=ast.expr() as guard):
            return [guard]
        case ast.comprehension(ifs=ifs):
            return ifs
    return []


def _list_idle(node: ast.AST) -> list[ast.AST]:
    """Return the parts of a node that only name a type, only ask, or whose failure is handled."""
    match node:
        case ast.Attribute(value=asked, attr=name) if name in ASKING and dotted(asked):
            return [asked]
        case ast.Try() | ast.TryStar() | ast.With() | ast.AsyncWith():
            return [*find_caught(node, DEVICE_ERRORS)]
        case ast.ExceptHandler(type=ast.expr() as kind):
            return [kind]
        case ast.Call(func=function, args=given) if (name := dotted(function).rpartition(".")[2]) in _TYPES:
            return [*given[_TYPES[name]]]
    parts = [getattr(node, name, None) for name in ("annotation", "returns")]
    return [part for part in parts if part is not None]


def _make_tensor_hit(
    head: ClassText, owner: ClassText, function: Function, asked: ast.Attribute, device: tuple[str, str]
) -> Hit:
    place, text = f"{owner.reading.path}:{asked.lineno}", ast.unparse(asked)
    return head.reading.hit(
        (CODE, "warning"),
        head.node,
        symbol=f"{owner.name}.{function.name}({asked.attr})",
        message=f"`{head.name}` runs `{owner.name}.{function.name}`, where `{text}` ({place}) is never true on the "
        f"{device[1].upper()}: what it does for a tensor on the device is left out.",
        fix=f"Ask for `{ast.unparse(asked.value)}.device.type` in it ({place}), or override `{function.name}`.",
        also=(owner.reading.span_of(function),),
    )


def _make_class_hit(head: ClassText, owner: ClassText, function: Function, used: ast.AST, root: str) -> Hit:
    place = f"{owner.reading.path}:{used.lineno}"  # type: ignore[attr-defined]
    return head.reading.hit(
        (CODE, SEVERITY),
        head.node,
        symbol=f"{owner.name}.{function.name}",
        message=f"`{head.name}` runs `{owner.name}.{function.name}`, which uses `{root}` ({place}); this fails or does "
        "nothing on the NPU.",
        fix=f"Override `{function.name}` on `{head.name}`, or ask the platform in it ({place}).",
        also=(owner.reading.span_of(function),),
    )
