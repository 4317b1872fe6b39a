"""RS402 device-calls: `torch.cuda` in NPU code, or in a method that NPU inherits.

What: a name below `torch.cuda` (an attribute chain or an import) in an NPU module, or in a method of omni's that an
NPU class inherits: there also under the name that the module imports it by or sets to it (`from torch import cuda`,
`_device = torch.cuda`), and in a function of the module that the method calls. Every module in the folders of the NPU
modules counts as one where their path says `npu`, helpers and runners that no profile names, too. Of inherited methods
also `if tensor.is_cuda:`, which is never true there: a warning.

Example:

    torch.cuda.synchronize()        # on NPU: torch.npu.synchronize()

Why: torch has no CUDA in an Ascend image; the call raises, or, worse, waits for nothing. People almost never leak one
by hand. This rule guards ported and generated code, and what a GPU runner gains that NPU runs as it is.

`OmniGPUModelRunner._store_value` of 0.22.0 to 0.32.0rc1 copies to the host what `t.is_cuda`, and so nothing on NPU.

Fix: `torch.npu.…`, or leave the statement out where NPU has no such call. An inherited method: override it on NPU, or
ask the platform in it.

Leaves alone: a profile whose device is the GPU's own; strings and comments, `vllm` names that only contain the word
(`cudagraph_mode`, `CUDAGraphMode`), the question `torch.cuda.is_available()` as a condition, and what runs only after a
yes to it: in the branch, behind `and` or an early `return` (not behind a `raise`, which keeps NPU out). Of inherited
methods: those that NPU overrides, or that nobody there calls, what only names a type (annotations, `isinstance`,
`cast`, `except`), what only asks (`torch.cuda.device_count()`), what stands in a `try` or below `suppress`, and of a
method that tests for the device or the platform, by a function of the module, too, what is not in front of the first
test, or all of it where its callers all test.
A question about `is_cuda` beside others, or in a method that asks for another device, too.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Iterator, Sequence

from runner_sync.model import Severity
from runner_sync.syntax import walk
from runner_sync.verify.device_words import says_device
from runner_sync.verify.expecting import DEVICE_ERRORS, caught, holding
from runner_sync.verify.runners.ancestry import Ancestry, ancestry
from runner_sync.verify.runners.device_names import ASKING, Gpu, may_name, names_in
from runner_sync.verify.runners.job import Subject
from runner_sync.verify.runners.parity import mentioned, words
from runner_sync.verify.runners.patch import patch
from runner_sync.verify.runners.reading import ClassText, Function, Hit, Reading, dotted

CODE = "RS402"
NAME = "device-calls"
SEVERITY: Severity = "error"

# Which arguments of a call are types that it uses nothing of.
_TYPES = {"isinstance": slice(1, None), "issubclass": slice(None), "cast": slice(1)}


def find(subject: Subject) -> Iterator[Hit]:
    """One finding per name, and one per inherited method."""
    npu, gpu = subject.npu, Gpu(*subject.profile.device)
    if gpu.word == gpu.npu_word:
        return
    yield from _inherited(subject, gpu)
    if not may_name(npu.text, gpu):
        return
    spared = _spared(npu, gpu.root)
    for node in npu.nodes:
        read = gpu.root if gpu.is_used(node) else ""
        name = _imported(node, gpu.root) if isinstance(node, ast.Import | ast.ImportFrom) else read
        if name and id(node) not in spared:
            yield _make_hit(npu, node, name, root=gpu.root, new_root=f"torch.{gpu.npu_word}")


def _imported(node: ast.Import | ast.ImportFrom, root: str) -> str:
    package, _, word = root.partition(".")
    if isinstance(node, ast.ImportFrom):
        module = node.module or ""
        below = module == root or module.startswith(f"{root}.")
        return module if below else root if module == package and any(a.name == word for a in node.names) else ""
    return next((a.name for a in node.names if a.name == root or a.name.startswith(f"{root}.")), "")


def _spared(reading: Reading, root: str) -> set[int]:
    """What only runs where there is a GPU, and the conditions that ask for one."""
    if f"{root}.is_available" not in reading.text:
        return set()
    parts = [*holding(reading.nodes, lambda part: _is_asked(part, root) or None)]
    parts += [test for node in reading.nodes for test in _conditions(node) if _is_asked(test, root)]
    return {id(inner) for part in parts for inner in walk(part)}


def _is_asked(test: ast.expr, root: str) -> bool:
    return f"{root}.is_available" in ast.unparse(test)


def _conditions(node: ast.AST) -> list[ast.expr]:
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
    return npu.hit(
        (CODE, SEVERITY),
        node,
        symbol=name,
        message=f"`{root}` does not exist on the NPU; this fails or does nothing there.",
        fix=patch(npu.path, npu.text, {number: line.replace(root, new_root)}) if safe else f"Use `{new_root}`.",
    )


def _inherited(subject: Subject, gpu: Gpu) -> Iterator[Hit]:
    """The methods from outside the NPU modules that run on a class of this one, and on no NPU class in front of it."""
    runners = {npu for _, npu in subject.profile.classes}
    own = {*(module.path for module in subject.job.modules), *subject.job.beside}
    # A module beside the runners that has none of them is not even parsed.
    is_runners = any(f"class {name}" in subject.npu.text for name in runners)
    for head in subject.npu.classes.values() if is_runners else ():
        mro = ancestry(subject.library, head) if head.name in runners else None
        if mro is None or mro.is_open:
            continue
        outside = [c for c in mro.classes if c.reading.path not in own]
        above = [ancestry(subject.library, c) for c in mro.classes[1:] if c.name in runners]
        for owner, function in _naming(subject, outside, gpu):
            if not mro.is_live(owner, function) or any(other.is_live(owner, function) for other in above):
                continue
            if not _is_called(subject, mro, function):
                continue
            known = _known_in(subject, owner.reading, gpu)
            used = _unasked(function, known)
            if used is not None and not _is_only_asked(subject, mro, function):
                yield _at_class(head, owner, function, used, gpu.root)
            asked = _asked_of_tensor(function, known) if used is None else None
            if asked is not None:
                yield _never_true(head, owner, function, asked, subject.profile.device)


def _known_in(subject: Subject, reading: Reading, gpu: Gpu) -> Gpu:
    return subject.library.answers.once(
        (_known_in, reading.path), lambda: names_in(reading, gpu, _helpers_use, _is_asker)
    )


def _naming(subject: Subject, classes: Iterable[ClassText], gpu: Gpu) -> Iterator[tuple[ClassText, Function]]:
    """The methods that may use the GPU, or ask a tensor for it; classes of files that do neither are not even
    parsed."""
    asks = f".is_{gpu.word}"
    for owner in classes:
        if may_name(owner.reading.text, gpu) or asks in owner.reading.text:
            known = _known_in(subject, owner.reading, gpu)
            for function in (function for functions in owner.methods.values() for function in functions):
                text = owner.reading.text_of(function)
                if asks in text or known.may_be_in(text):
                    yield owner, function


def _is_called(subject: Subject, mro: Ancestry, function: Function) -> bool:
    """Whether anything that runs on NPU names the method; without the upstreams at hand, they may do."""
    if subject.upstream is None or subject.vllm is None:
        return True
    others = [other for _, other in mro.live() if other is not function]
    return function.name in mentioned(others) or function.name in words(subject.upstream) | words(subject.vllm)


def _is_only_asked(subject: Subject, mro: Ancestry, function: Function) -> bool:
    """Whether each method that names this one tests for the device or the platform: it may well be for a GPU only."""
    others = [pair for pair in mro.live() if pair[1] is not function and function.name in mentioned([pair[1]])]
    by_upstream = function.name in words(subject.upstream) | words(subject.vllm)
    gpu = Gpu(*subject.profile.device)
    known = [(other, _known_in(subject, owner.reading, gpu).within(other)) for owner, other in others]
    return bool(others) and not by_upstream and all(_asks(*one) for one in known)


def _helpers_use(function: Function, gpu: Gpu) -> ast.AST | None:
    """The first use of the GPU in a function that methods call.

    timid: not what only runs if its result is called, nor what it takes where it is given nothing else.
    """
    run = _run_by_name(function, _in_front(function, gpu.within(function)))
    parts = [part for node in walk(function)[1:] if id(node) not in run for part in _left_to_callers(node)]
    return _unasked(function, gpu, idle=parts)


def _run_by_name(function: Function, statements: Sequence[ast.stmt]) -> set[int]:
    """The functions in a function that some of its statements call by their names, or that one of those calls."""
    nested = {node.name: node for node in walk(function)[1:] if isinstance(node, Function)}
    run, todo = set[int](), [statements] if nested else []
    while todo:
        calls = [node.func for part in todo.pop() for node in _at_once(part) if isinstance(node, ast.Call)]
        called = [nested[call.id] for call in calls if isinstance(call, ast.Name) and call.id in nested]
        todo += [inner.body for inner in called if id(inner) not in run]
        run |= {id(inner) for inner in called}
    return run


def _at_once(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all below it that runs where it stands: nothing in the body of a function."""
    if isinstance(node, Function | ast.Lambda):
        return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _at_once(child)


def _left_to_callers(node: ast.AST) -> list[ast.AST]:
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


def _is_asker(statement: ast.stmt, gpu: Gpu) -> bool:
    """Whether a function returns, or a name is set to, what the code runs on: `return torch.cuda.is_available()`."""
    if not isinstance(statement, Function):
        return _are_about([answer for _, answer in _answers(statement, gpu)], gpu)
    gpu = gpu.within(statement)
    found = [node.value for node in walk(statement) if isinstance(node, ast.Return) and node.value is not None]
    says_yes = any(isinstance(value, ast.Constant) and isinstance(value.value, bool) for value in found)
    return _are_about(found, gpu) or (says_yes and _asks(statement, gpu))


def _unasked(function: Function, gpu: Gpu, *, idle: Sequence[ast.AST] = ()) -> ast.AST | None:
    """The first use of the GPU in a method that has not asked what it runs on by then."""
    gpu = gpu.within(function)
    first = _in_front(function, gpu)
    nodes = walk(function) if first is function.body else [node for part in first for node in walk(part)]
    spared = {id(inner) for part in (*idle, *(p for node in nodes for p in _idle(node))) for inner in walk(part)}
    return next((use for node in nodes if id(node) not in spared and (use := gpu.use(node)) is not None), None)


def _in_front(function: Function, gpu: Gpu) -> list[ast.stmt]:
    """The statements of a function in front of its first question about the device or the platform."""
    if not _asks(function, gpu):
        return function.body
    return list(itertools.takewhile(lambda statement: not _may_ask(statement, gpu), function.body))


def _asks(function: Function, gpu: Gpu) -> bool:
    """Whether a test of a method, or a local that one of them reads, has to do with the device or the platform."""
    return _are_about(_questions(walk(function), gpu), gpu)


def _questions(nodes: Sequence[ast.AST], gpu: Gpu) -> list[ast.expr]:
    """The tests among some nodes, and what is set to the locals that they read."""
    tests = [test for node in nodes for test in _tests(node)]
    read = {node.id for test in tests for node in walk(test) if isinstance(node, ast.Name)}
    return tests + [a for node in nodes for name, a in _answers(node, gpu) if name in read]


def _may_ask(statement: ast.stmt, gpu: Gpu) -> bool:
    """Whether a statement tests for the device or the platform, or sets a local to what one of them is."""
    nodes = walk(statement)
    tests = [test for node in nodes for test in _tests(node)]
    return _are_about([*tests, *(a for node in nodes for _, a in _answers(node, gpu))], gpu)


def _are_about(tests: list[ast.expr], gpu: Gpu) -> bool:
    """Whether expressions name the device or the platform; ``cudagraph_mode`` names neither."""
    said = list(mentioned(tests))
    if any(name in gpu.names or name in gpu.askers for name in said):
        return True
    return any(says_device(name, (gpu.word, gpu.npu_word)) for name in said)


def _asked_of_tensor(function: Function, gpu: Gpu) -> ast.Attribute | None:
    """``tensor.is_cuda`` as a condition of its own, in a method without calls of the GPU, which that may well be for,
    and without a question about any other device."""
    nodes, gpu = walk(function), gpu.within(function)
    said = mentioned(_questions(nodes, gpu))
    others = (gpu.npu_word, "platform", "device")
    is_told = any(name in gpu.askers or any(word in name.lower() for word in others) for name in said)
    if is_told or any(gpu.use(node) is not None for node in nodes):
        return None
    for test in (node.test for node in nodes if isinstance(node, ast.If | ast.IfExp)):
        asked = test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else test
        if isinstance(asked, ast.Attribute) and asked.attr == f"is_{gpu.word}":
            return asked
    return None


def _answers(node: ast.AST, gpu: Gpu) -> Iterator[tuple[str, ast.expr]]:
    """The local that a statement sets and its value; not what is made on the GPU (`stream = torch.cuda.Stream()`),
    unless it asks whether there is one."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.expr() as value):
            is_made = any(gpu.is_used(inner) for inner in walk(value))
            if not is_made or not ASKING.isdisjoint(mentioned([value])):
                yield name, value


def _tests(node: ast.AST) -> list[ast.expr]:
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


def _idle(node: ast.AST) -> list[ast.AST]:
    """What of a node only names a type, only asks, or is meant to fail where it cannot be had."""
    match node:
        case ast.Attribute(value=asked, attr=name) if name in ASKING and dotted(asked):
            return [asked]
        case ast.Try() | ast.TryStar() | ast.With() | ast.AsyncWith():
            return [*caught(node, DEVICE_ERRORS)]
        case ast.ExceptHandler(type=ast.expr() as kind):
            return [kind]
        case ast.Call(func=function, args=given) if (name := dotted(function).rpartition(".")[2]) in _TYPES:
            return [*given[_TYPES[name]]]
    parts = [getattr(node, name, None) for name in ("annotation", "returns")]
    return [part for part in parts if part is not None]


def _never_true(
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


def _at_class(head: ClassText, owner: ClassText, function: Function, used: ast.AST, root: str) -> Hit:
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
