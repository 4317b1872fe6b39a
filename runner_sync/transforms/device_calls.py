"""Call the NPU where the GPU runner calls CUDA: streams, events, graphs, device strings.

    -stream: torch.cuda.Stream = torch.cuda.current_stream()
    +stream: torch.npu.Stream = torch.npu.current_stream()
    -self.device = torch.device(f"cuda:{self.local_rank}")
    +self.device = torch.device(f"npu:{self.local_rank}")
    -if value.device.type == "cuda":
    +if value.device.type == "npu":

Leaves alone: strings that are no device (``profiler == "cuda"``, ``in ("cuda", "musa")``), ``torch.version.cuda`` and
the rest of the profile's ``device_only``, what a ``hasattr`` asks about, patches such as ``torch.cuda.Event = …``,
``from torch.cuda import …``, names with "cuda" in them, comments.
Why: these have an NPU twin of the same signature; everything else needs a person.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import libcst as cst

from runner_sync.transforms.job import Doubt, Edit, Job, reworded
from runner_sync.transforms.scopes import CallSite, Use

CONSTRUCTORS = ("torch.device",)
METHODS = ("to",)
KEYWORDS = ("device",)


def is_below(name: str, prefix: str) -> bool:
    """Whether dotted ``name`` is ``prefix`` or something in it."""
    return name == prefix or name.startswith(f"{prefix}.")


def is_device(text: cst.CSTNode, device: str) -> bool:
    """Whether a string literal is ``device`` or ``device:N``."""
    if isinstance(text, cst.FormattedString):
        first = text.parts[0] if text.parts else None
        return isinstance(first, cst.FormattedStringText) and first.value.startswith(f"{device}:")
    return isinstance(text, cst.SimpleString) and text.raw_value.partition(":")[0] == device


def is_device_type(node: cst.CSTNode) -> bool:
    """Whether ``node`` reads ``….device.type``."""
    if not (isinstance(node, cst.Attribute) and node.attr.value == "type"):
        return False
    owner = node.value.attr if isinstance(node.value, cst.Attribute) else node.value
    return isinstance(owner, cst.Name) and owner.value == "device"


def rewrite(job: Job) -> Iterator[Edit | Doubt]:
    """Edits of calls, annotations and device strings."""
    for use in job.code.uses:
        yield from _renamed(job, use)
    old, new = job.profile.device
    arguments = (text for call in job.code.calls for text in _arguments(call))
    for text in (*_compared(job), *arguments):
        if is_device(text, old):
            node = text.parts[0] if isinstance(text, cst.FormattedString) else text
            yield Edit(node, partial(_with_device, old=old, new=new))


def _renamed(job: Job, use: Use) -> Iterator[Edit | Doubt]:
    name = use.origin
    refused = [prefix for prefix in job.profile.device_only if is_below(name, prefix)]
    found = [pair for pair in job.profile.attributes if is_below(name, pair[0])]
    if not refused and not found:
        return
    old, new = max(found, key=lambda pair: len(pair[0]), default=("", ""))
    reason = f"{refused[0]} has no NPU twin" if refused else _refusal(use, old, new)
    if reason:
        message = f"{use.dotted} was not translated: {reason}."
        yield Doubt(use.parts[-1], use.scope.qualname, use.dotted, message, "translate by hand or leave out")
    else:
        root = use.dotted.partition(".")[0]
        local = [".".join([root, *full.split(".")[1:]]) for full in (old, new)]
        yield reworded(use.parts[old.count(".")] if len(use.parts) > 1 else use.parts[0], *local)


def _refusal(use: Use, old: str, new: str) -> str:
    imported = use.binding.origin if use.binding else ""
    if use.guarded:
        return "a hasattr decides whether it runs"
    if use.stored:
        return "assigning to it patches torch"
    # timid: torch_npu registers torch.npu as a module only when it has been imported first.
    if "." in imported:
        return f"it is imported as {imported}"
    return "" if new.partition(".")[0] == old.partition(".")[0] else f"{new} would need an import"


def _arguments(call: CallSite) -> Iterator[cst.CSTNode]:
    func = call.node.func
    constructs = call.callee is not None and call.callee.origin in CONSTRUCTORS
    moves = isinstance(func, cst.Attribute) and func.attr.value in METHODS
    for at, arg in enumerate(call.node.args):
        if (arg.keyword and arg.keyword.value in KEYWORDS) or (at == 0 and not arg.keyword and (constructs or moves)):
            yield arg.value


def _compared(job: Job) -> Iterator[cst.CSTNode]:
    for comparison, _ in job.code.comparisons:
        target = comparison.comparisons[0]
        if is_device_type(comparison.left) and isinstance(target.operator, cst.Equal | cst.NotEqual):
            yield target.comparator


def _with_device(node: cst.SimpleString | cst.FormattedStringText, *, old: str, new: str) -> cst.CSTNode:
    return node.with_changes(value=node.value.replace(old, new, 1))
