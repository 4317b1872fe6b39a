"""RS210 left-behind: a branch took a method out of omni's shared code, and NPU code still uses it.

What: `self.x` in an NPU class, where an omni class that it inherits from had the method `x` when the branch began, no
omni class that it inherits from has it now, and no code on the GPU side mentions the name any more: the method was
renamed or dropped there.

Example: a pull request renames `OmniGPUModelRunner.extract_multimodal_outputs` and its calls in the GPU runners, and
the NPU runners go on calling it.

Why: an `AttributeError` in the first forward pass, on hardware only. RS304 tells it with the trees of vllm-ascend and
vLLM at hand, and a pull request is often checked without.

Fix: use the new name, or drop the call.

Leaves alone: names that the text of vLLM or vllm-ascend has, where it is at hand; members that anything in the class
sets, functions that ask for the name in quotes, and special methods. Needs the omni tree as it was (`check
--changed-since`), and is silent where RS304 can look.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from runner_sync.model import Severity
from runner_sync.syntax import is_name, self_attributes_set, walk
from runner_sync.verify.hits import Hit
from runner_sync.verify.runners.job import Subject
from runner_sync.verify.runners.parity import Pair, find_mentions, make_pairs, read_upstream_words
from runner_sync.verify.runners.reading import ClassText

CODE = "RS210"
NAME = "left-behind"
SEVERITY: Severity = "error"


def find(subject: Subject) -> Iterator[Hit]:
    """Yield one finding per method and member."""
    before = subject.before
    if before is None or subject.job.world is not None:
        return
    earlier = {pair.npu.name: pair for pair in make_pairs(before)}
    for pair in make_pairs(subject):
        gone = _find_gone(subject, earlier[pair.npu.name], pair) if pair.npu.name in earlier else {}
        for functions in pair.npu.methods.values() if gone else ():
            yield from _check(pair, functions[-1], gone)


def _find_gone(subject: Subject, was: Pair, now: Pair) -> dict[str, ClassText]:
    """Return the inherited omni methods that the branch took away and no GPU code mentions, each with its old class."""
    had = {m: c for c in was.npu_mro.classes if c.reading is not was.npu.reading for m in c.methods}
    gone = had.keys() - {m for c in now.npu_mro.classes for m in (*c.methods, *c.assigned)}
    if not gone:
        return {}
    functions = [f for c in now.npu_mro.classes for own in c.methods.values() for f in own]
    known = {name for f in functions for name in self_attributes_set(f)} | read_upstream_words(subject)
    readings = {c.reading.path: c.reading for c in (*now.gpu_mro.classes, now.gpu) if c not in now.npu_own}
    used = find_mentions(reading.tree for reading in readings.values())
    return {name: had[name] for name in sorted(gone.difference(known, used)) if not name.startswith("__")}


def _check(pair: Pair, function: ast.FunctionDef | ast.AsyncFunctionDef, gone: dict[str, ClassText]) -> Iterator[Hit]:
    told: set[str] = set()
    for node in walk(function):
        if not (isinstance(node, ast.Attribute) and node.attr in gone and is_name(node.value, "self")):
            continue
        owner = gone[node.attr]
        if node.attr in told or re.search(rf"[\"']{node.attr}[\"']", pair.npu.reading.text_of(function)):
            continue
        told.add(node.attr)
        yield pair.npu.reading.hit(
            (CODE, SEVERITY),
            node,
            symbol=node.attr,
            message=f"`{owner.name}` had `{node.attr}` where the branch began ({owner.reading.path}), and no omni "
            f"class of `{pair.npu.name}` has it now; nothing on the GPU side uses it any more.",
            fix="Use what the GPU side uses in its place, or drop the statement.",
        )
