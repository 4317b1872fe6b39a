"""RS105 hidden-change: vllm-ascend added or changed a method that the NPU runner never runs.

What: a method of the upstream class that is new in the target or changed there, and that the NPU class does not run.
Either another base of the NPU class comes first in the MRO, has the method too and does not call `super()`; or the NPU
class defines the method itself, not as a copy, and reaches upstream's neither by name nor by `super()`.

Example: `OmniNPUModelRunner(OmniGPUModelRunner, NPUModelRunner)` runs `OmniGPUModelRunner._update_states`. vllm-ascend
0.22.1rc1 got an `_update_states` of its own, which since 0.27.1rc1 hands tokens from one pipeline rank to the next.

Why: nothing crashes, and no copy drifts because there is none. Until omni 0.27.0rc1 the fixes did not run on NPU; the
`_update_states` that omni added then lacks what vllm-ascend 0.28.0rc1 put into its own.

Fix: define the method on the NPU class, with calls that name the base class instead of `super()`; or put the change
into the NPU class's own method.

Leaves alone: copies (RS101 compares those), methods that call upstream's, methods that share less than a fifth of their
statements with it, changes that the method already has, and inherited methods of classes that derive from the upstream
class through another NPU class.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from runner_sync.lineage import MODELLED, follows, share
from runner_sync.model import Severity
from runner_sync.statements.parents import parents_called
from runner_sync.verify.hits import Hit
from runner_sync.verify.runners.drift import find_followers, is_copy
from runner_sync.verify.runners.duplication import are_equal
from runner_sync.verify.runners.job import Subject
from runner_sync.verify.runners.parity import Pair, find_whole_pairs
from runner_sync.verify.runners.reading import ClassText

CODE = "RS105"
NAME = "hidden-change"
SEVERITY: Severity = "warning"


def find(subject: Subject) -> Iterator[Hit]:
    """Yield one finding per method, at the NPU class."""
    copies = [follower for follower in find_followers(subject) if is_copy(subject, follower)]
    refs = Counter(follower.ref for follower in copies)
    base = subject.base(refs.most_common(1)[0][0]) if refs else None
    if subject.upstream is None or base is None or subject.runner is None:
        return
    name = subject.runner.anchor.name
    new, old = subject.upstream.classes.get(name), base.classes.get(name)
    if new is None or old is None:
        return
    copied = {follower.unit.qualname for follower in copies}
    upstream = _Upstream(subject.target, new, old)
    for pair in find_whole_pairs(subject):
        for member in new.methods:
            if f"{pair.npu.name}.{member}" not in copied:
                yield from _check_method(pair, member, upstream)


@dataclass(frozen=True, slots=True)
class _Upstream:
    """The vllm-ascend class that the runners derive from, in ``target`` and at their base."""

    target: str
    new: ClassText
    old: ClassText

    def locate(self, name: str) -> str:
        return f"{self.new.reading.path}:{self.new.methods[name][-1].lineno}"

    def has_changed(self, name: str) -> bool:
        """Whether a method was added or changed."""
        before, now = self.old.methods.get(name), self.new.methods[name][-1]
        return not before or not are_equal(self.old.reading, before[-1], self.new.reading, now)


def _check_method(pair: Pair, name: str, upstream: _Upstream) -> Iterator[Hit]:
    running = pair.npu_mro.find(name)
    if running is None or not upstream.has_changed(name) or _is_upstream_called(pair, name, upstream.new.name):
        return
    is_direct = any(ast.unparse(base) == upstream.new.name for base in pair.npu.node.bases)
    if running is not pair.npu:
        if is_direct:
            yield _make_other_hit(pair, running, name, upstream)
        return
    # A method that calls another NPU class's method is reported at that class.
    is_reported_there = not is_direct and "super()" in parents_called(running.methods[name][-1], name)
    if not is_reported_there and _is_behind(pair, name, upstream):
        yield _make_own_hit(pair, name, upstream)


def _make_own_hit(pair: Pair, name: str, upstream: _Upstream) -> Hit:
    place = upstream.locate(name)
    return pair.npu.reading.hit(
        (CODE, SEVERITY),
        pair.npu.methods[name][-1],
        symbol=name,
        message=f"{upstream.target} changed `{upstream.new.name}.{name}` ({place}), which this method hides and "
        "does not call.",
        fix=f"Compare with {place}, and add what this method needs, too.",
    )


def _make_other_hit(pair: Pair, running: ClassText, name: str, upstream: _Upstream) -> Hit:
    change = "changed" if upstream.old.methods.get(name) else "added"
    return pair.npu.reading.hit(
        (CODE, SEVERITY),
        pair.npu.node,
        symbol=name,
        message=f"{upstream.target} {change} `{upstream.new.name}.{name}` ({upstream.locate(name)}), but "
        f"`{pair.npu.name}` runs `{running.name}.{name}`, which does not call it.",
        fix=f"Bring `{name}` to `{pair.npu.name}`, with `{running.name}.{name}(self, …)` in place of `super()`; where "
        f"NPU does without it on purpose, `# runner-sync: ignore[{CODE}:{name}] reason` above the class.",
        also=(running.reading.span_of(running.methods[name][-1]),),
    )


def _is_behind(pair: Pair, name: str, upstream: _Upstream) -> bool:
    """Whether a method of the NPU class is modelled on upstream's and lacks the changes made there."""
    if not upstream.old.methods.get(name):
        return False
    own, old, new = (each.text_of(name) for each in (pair.npu, upstream.old, upstream.new))
    return share(own, old) >= MODELLED and not follows(own, old, new)


def _is_upstream_called(pair: Pair, name: str, upstream: str) -> bool:
    """Whether the method that runs on the NPU class reaches upstream's method.

    It may call the upstream class by name, or lead there by ``super()`` past all of omni's methods.
    """
    todo = [pair.npu_mro.find(name)]
    seen: list[ClassText] = []
    while todo:
        found = todo.pop()
        if found is None:
            return True
        if found in seen:
            continue
        seen.append(found)
        called = parents_called(found.methods[name][-1], name)
        if upstream in called:
            return True
        todo += [pair.npu_mro.find(name, after=found)] if "super()" in called else []
        todo += [c for c in pair.npu_mro.classes if c.name in called and name in c.methods]
    return False
