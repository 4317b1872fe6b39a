"""Call the NPU where the GPU runner calls CUDA: streams, events, graphs, device strings.

    -stream: torch.cuda.Stream = torch.cuda.current_stream()
    +stream: torch.npu.Stream = torch.npu.current_stream()
    -self.device = torch.device(f"cuda:{self.local_rank}")
    +self.device = torch.device(f"npu:{self.local_rank}")
    -if value.device.type == "cuda":
    +if value.device.type == "npu":

Leaves alone: strings that are no device (``profiler == "cuda"``, a key, a message, ``name.startswith("cuda")``, what is
raised, a decorator's), ``torch.version.cuda`` and the rest of the profile's ``device_only``, what a ``hasattr`` asks
about, patches such as ``torch.cuda.Event = …``, ``from torch.cuda import …``, names with "cuda" in them, comments.
Why: these have an NPU twin of the same signature; everything else needs a person, who is told where a device may be
meant: ``t.cuda()``, ``d.type == "cuda"``, ``d = "cuda" if … else "cpu"``, ``device = "cuda"``, ``{"device": "cuda"}``,
an argument of a call that is not torch's; and where a tensor is asked ``t.is_cuda``, which none on an NPU is. On a
device that torch's tensors tell by themselves, such as XPU, ``t.is_cuda`` becomes ``t.is_xpu``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial

import libcst as cst

from runner_sync.transforms.concrete_tree import get_dotted_name
from runner_sync.transforms.job import Doubt, Job, NodeEdit, make_rename
from runner_sync.transforms.scopes import CallSite, Scope, Use

CONSTRUCTORS = ("torch.device", "torch.Generator", "torch.autocast", "torch.amp.autocast")
METHODS = ("to",)
KEYWORDS = {"device": "", "device_type": "torch", "type": "torch.device"}
"""Keywords that take a device, each with the function or package they belong to (empty: any function)."""

DEVICES = ("device", "device_type", "type")
"""Last names of expressions that may well be a device if they are compared with a device name."""

TENSORS_TELL = frozenset({"mps", "mtia", "xla", "xpu"})
"""Devices for which torch's own tensors have an attribute such as ``is_xpu``."""

LOOK_UPS = frozenset({"get", "pop", "setdefault", "hasattr", "getattr", "setattr", "delattr"})
MESSAGES = frozenset({"logger", "logging", "log", "print", "warnings", "record_function"})
"""Words in the name of a call whose string arguments are keys (``LOOK_UPS``), or messages and labels."""

STRING_METHODS = frozenset(
    {"startswith", "endswith", "replace", "split", "rsplit", "partition", "rpartition", "removeprefix", "removesuffix"}
)
"""String methods that take a substring of any meaning. If they are called on a device's name, the substring may be a
device."""


def is_below(name: str, prefix: str) -> bool:
    """Whether dotted ``name`` is ``prefix`` or below it."""
    return name == prefix or name.startswith(f"{prefix}.")


def is_device(text: cst.CSTNode, device: str) -> bool:
    """Whether a string literal is ``device`` or ``device:N``."""
    if isinstance(text, cst.FormattedString):
        first = text.parts[0] if text.parts else None
        return isinstance(first, cst.FormattedStringText) and first.value == f"{device}:"
    return isinstance(text, cst.SimpleString) and re.fullmatch(rf"{device}(:\d+)?", text.raw_value) is not None


def is_device_type(node: cst.CSTNode) -> bool:
    """Whether ``node`` reads ``….device.type``."""
    if not (isinstance(node, cst.Attribute) and node.attr.value == "type"):
        return False
    owner = node.value.attr if isinstance(node.value, cst.Attribute) else node.value
    return isinstance(owner, cst.Name) and owner.value == "device"


def holds_device(holder: cst.CSTNode) -> bool:
    """Whether a name, an attribute or a key says that its value is a device: ``device_type``, ``"device"``, ``dev``."""
    if isinstance(holder, cst.Subscript) and isinstance(index := holder.slice[0].slice, cst.Index):
        holder = index.value
    name = holder.raw_value if isinstance(holder, cst.SimpleString) else _get_last_name(holder)
    return any(word in ("dev", "device") for word in name.split("_"))


def is_key_or_message(call: cst.Call) -> bool:
    """Whether the string arguments of a call are keys or messages."""
    *owners, last = get_dotted_name(call.func).split(".")
    return last in LOOK_UPS or not MESSAGES.isdisjoint((*owners, last))


def is_string_method(call: cst.Call) -> bool:
    """Whether a call is a string method on something other than a device: ``name``, but not ``device`` or
    ``str(device)``."""
    func = call.func
    if not (isinstance(func, cst.Attribute) and func.attr.value in STRING_METHODS):
        return False
    owner = func.value
    if isinstance(owner, cst.Call) and len(owner.args) == 1:
        owner = owner.args[0].value
    return _get_last_name(owner) not in DEVICES


def is_raised_or_decorates(call: cst.Call, parents: Mapping[cst.CSTNode, cst.CSTNode]) -> bool:
    """Whether a call is, or is part of, a raised exception or a decorator: its strings are messages or names."""
    above = parents.get(call)
    if isinstance(above, cst.Decorator):
        return True
    while above is not None and not isinstance(above, cst.BaseSmallStatement | cst.BaseCompoundStatement):
        above = parents.get(above)
    return isinstance(above, cst.Raise)


def rewrite(job: Job) -> Iterator[NodeEdit | Doubt]:
    """Yield edits of calls, annotations and device strings."""
    roots = _collect_roots(job)
    for use in job.code.uses:
        if _get_root(use.origin) in roots:
            yield from _rename_use(job, use)
    old, new = job.profile.device
    for text, (scope, is_certain) in _find_devices(job, old).items():
        if is_certain:
            node = text.parts[0] if isinstance(text, cst.FormattedString) else text
            yield NodeEdit(node, partial(_replace_device, old=old, new=new))
        else:
            yield _make_doubt(text, scope, job.code.tree.code_for_node(text), "it may mean a device")
    yield from _translate_questions(job, f"is_{old}", f"is_{new}" if new in TENSORS_TELL else "")
    for call in job.code.calls:
        func = call.node.func
        if not isinstance(func, cst.Attribute) or func.attr.value != old:
            continue
        if call.callee is None or not any(_find_rows(job, call.callee.origin)):
            yield _make_doubt(func, call.scope, get_dotted_name(func) or f".{old}", f"it may move something to {old}")


def _translate_questions(job: Job, name: str, new: str) -> Iterator[NodeEdit | Doubt]:
    """Yield an edit or, without ``new``, a doubt about each object asked for ``is_cuda``; ``self`` may be no tensor.

    ``platform.is_cuda()``, a call, answers correctly on NPU.
    """
    for use in job.code.uses:
        node = use.parts[-1]
        if not isinstance(node, cst.Attribute) or node.attr.value != name or _is_called_or_set(node, job):
            continue
        if new and get_dotted_name(node.value) != "self":
            yield NodeEdit(node, lambda read: read.with_changes(attr=cst.Name(new)))
        else:
            yield _make_doubt(node, use.scope, use.dotted, "it is false for a tensor on an NPU")


def _is_called_or_set(node: cst.Attribute, job: Job) -> bool:
    above = job.code.parents.get(node)
    return isinstance(above, cst.AssignTarget) or (isinstance(above, cst.Call) and above.func is node)


Place = tuple[cst.CSTNode, Scope, bool]
"""An expression that may be a device, its scope, and whether it certainly is one."""


def _find_devices(job: Job, device: str) -> dict[cst.CSTNode, tuple[Scope, bool]]:
    """Return the literals that may mean ``device``, each with its scope and whether it certainly does."""
    places = [place for call in job.code.calls for place in _iter_arguments(call, job.code.parents)]
    places += [place for comparison, scope in job.code.comparisons for place in _iter_compared(comparison, scope)]
    # A conditional expression that is an argument was handled with its call.
    places += [(value, scope, False) for holder, value, scope in job.code.held if holds_device(holder)]
    choices = [one for one in job.code.choices if not isinstance(job.code.parents[one[0]], cst.Arg)]
    places += [(choice, scope, False) for choice, scope in choices]
    found: dict[cst.CSTNode, tuple[Scope, bool]] = {}
    for value, scope, is_certain in places:
        for text in _iter_choices(value):
            if is_device(text, device):
                found.setdefault(text, (scope, is_certain))
    return found


def _iter_choices(value: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield the possible values of an expression: both sides of ``a if … else b`` and of ``a or b``, or the
    expression."""
    if isinstance(value, cst.IfExp):
        found: tuple[cst.CSTNode, ...] = (value.body, value.orelse)
    elif isinstance(value, cst.BooleanOperation):
        found = (value.left, value.right)
    else:
        yield value
        return
    for one in found:
        yield from _iter_choices(one)


def _get_last_name(node: cst.CSTNode) -> str:
    named = node.attr if isinstance(node, cst.Attribute) else node
    return named.value if isinstance(named, cst.Name) else ""


def _make_doubt(node: cst.CSTNode, scope: Scope, symbol: str, reason: str) -> Doubt:
    message = f"{symbol} was not translated: {reason}."
    return Doubt(node, scope.qualname, symbol, message, "translate by hand or leave out")


def _collect_roots(job: Job) -> frozenset[str]:
    """Return the first parts of the profile's dotted names: a quick test, because few other names begin with one."""
    return frozenset(
        _get_root(name) for name in (*job.profile.device_only, *(old for old, _ in job.profile.attributes))
    )


def _get_root(name: str) -> str:
    return name.partition(".")[0]


def _find_rows(job: Job, name: str) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the profile's entries for dotted ``name``: prefixes in ``device_only``, and pairs in ``attributes``."""
    refused = [prefix for prefix in job.profile.device_only if is_below(name, prefix)]
    return refused, [pair for pair in job.profile.attributes if is_below(name, pair[0])]


def _rename_use(job: Job, use: Use) -> Iterator[NodeEdit | Doubt]:
    refused, found = _find_rows(job, use.origin)
    if not refused and not found:
        return
    old, new = max(found, key=lambda pair: len(pair[0]), default=("", ""))
    reason = f"{refused[0]} has no NPU twin" if refused else _find_refusal(use, old, new)
    if reason:
        yield _make_doubt(use.parts[-1], use.scope, use.dotted, reason)
    else:
        root = _get_root(use.dotted)
        local = [".".join([root, *full.split(".")[1:]]) for full in (old, new)]
        yield make_rename(use.parts[old.count(".")] if len(use.parts) > 1 else use.parts[0], *local)


def _find_refusal(use: Use, old: str, new: str) -> str:
    """Return why ``use`` cannot be renamed from ``old`` to ``new``; empty if it can be."""
    imported = use.binding.origin if use.binding else ""
    if use.guarded:
        return "a hasattr decides whether it runs"
    if use.stored:
        return "assigning to it patches torch"
    # timid: torch_npu registers torch.npu as a module only when it has been imported first.
    if "." in imported:
        return f"it is imported as {imported}"
    return "" if new.partition(".")[0] == old.partition(".")[0] else f"{new} would need an import"


def _iter_arguments(call: CallSite, parents: Mapping[cst.CSTNode, cst.CSTNode]) -> Iterator[Place]:
    """Yield the arguments of a call that may be devices."""
    func = call.node.func
    origin = call.callee.origin if call.callee else ""
    takes_device = origin in CONSTRUCTORS or (isinstance(func, cst.Attribute) and func.attr.value in METHODS)
    takes_words = (
        is_key_or_message(call.node) or is_string_method(call.node) or is_raised_or_decorates(call.node, parents)
    )
    for at, arg in enumerate(call.node.args):
        name = arg.keyword.value if arg.keyword else ""
        owner = KEYWORDS.get(name)
        if owner == "" or (owner and is_below(origin, owner)) or (at == 0 and not name and takes_device):
            yield arg.value, call.scope, True
        elif "device" in name or not (name or takes_words):
            yield arg.value, call.scope, False


def _iter_compared(comparison: cst.Comparison, scope: Scope) -> Iterator[Place]:
    """Yield what is compared with something that is, or may be, a device."""
    target = comparison.comparisons[0]
    sides = (comparison.left, target.comparator)
    is_equality = isinstance(target.operator, cst.Equal | cst.NotEqual)
    for device, value in (sides, sides[::-1]):
        if is_device_type(device) and is_equality:
            yield value, scope, True
        elif _get_last_name(device) in DEVICES:
            elements = value.elements if isinstance(value, cst.Tuple | cst.List | cst.Set) else ()
            yield from ((one, scope, False) for one in (value, *(element.value for element in elements)))


def _replace_device(node: cst.SimpleString | cst.FormattedStringText, *, old: str, new: str) -> cst.CSTNode:
    return node.with_changes(value=node.value.replace(old, new, 1))
