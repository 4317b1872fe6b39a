"""RS105 hidden-change: vllm-ascend added or changed a method that the NPU runner never runs.

What: a method of the upstream class that reads otherwise in the target, or is new there, where another base of the NPU
class comes first in the MRO, has the method too and does not call `super()`; or where the NPU class has a method of its
own in its place, no copy, that calls neither.

Example: `OmniNPUModelRunner(OmniGPUModelRunner, NPUModelRunner)` runs `OmniGPUModelRunner._update_states`. vllm-ascend
0.22.1rc1 got an `_update_states` of its own, and 0.27.1rc1 hands tokens from one pipeline rank to the next in it.

Why: nothing crashes and no copy has drifted, there is none. Until omni 0.27.0rc1 the fixes did not run on NPU; the
`_update_states` that came then lacks what vllm-ascend 0.28.0rc1 put into its own.

Fix: bring the method to the NPU class, with `super()` calls that name the base which it replaces; put the change into
the method of its own.

Leaves alone: copies (RS101 compares those), methods that hand on to upstream's, those that have less than a fifth of
their statements from it, what vllm-ascend left as it was or they have already, and what classes inherit that have the
upstream class through another NPU class.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Set

from runner_sync.lineage import MODELLED, follows, share
from runner_sync.model import Severity
from runner_sync.syntax import parents_called
from runner_sync.verify.drift import followers, is_copy
from runner_sync.verify.duplication import are_equal
from runner_sync.verify.job import Subject
from runner_sync.verify.parity import Pair, pairs
from runner_sync.verify.reading import ClassText, Hit

CODE = "RS105"
NAME = "hidden-change"
SEVERITY: Severity = "warning"


def find(subject: Subject) -> Iterator[Hit]:
    """One finding per method, at the NPU class."""
    copies = [follower for follower in followers(subject) if is_copy(subject, follower)]
    refs = Counter(follower.ref for follower in copies)
    base = subject.base(refs.most_common(1)[0][0]) if refs else None
    if subject.upstream is None or base is None or subject.runner is None:
        return
    name = subject.runner.upstreams[0].name
    new, old = subject.upstream.classes.get(name), base.classes.get(name)
    if new is None or old is None:
        return
    copied = {follower.unit.qualname for follower in copies}
    for pair in pairs(subject):
        is_direct = any(ast.unparse(one) == name for one in pair.npu.node.bases)
        yield from _hidden(subject, pair, new, old, copied=copied, is_direct=is_direct)


def _hidden(
    subject: Subject, pair: Pair, new: ClassText, old: ClassText, *, copied: Set[str], is_direct: bool
) -> Iterator[Hit]:
    for name, functions in new.methods.items():
        found = pair.npu_mro.find(name)
        before = old.methods.get(name)
        if found is None or f"{pair.npu.name}.{name}" in copied or (found is not pair.npu and not is_direct):
            continue
        if found is pair.npu and not (before and _lags(pair, name, old.text_of(name), new.text_of(name))):
            continue
        if before and are_equal(old.reading, before[-1], new.reading, functions[-1]):
            continue
        if _hands_on(pair, name, new.name):
            continue
        if found is pair.npu:
            if not is_direct and "super()" in parents_called(found.methods[name][-1], name):
                continue  # said of the NPU class that it hands on to
            yield pair.npu.reading.hit(
                (CODE, SEVERITY),
                found.methods[name][-1],
                symbol=name,
                message=f"vllm-ascend {subject.module.upstream_ref} changed `{new.name}.{name}` ({new.reading.path}:"
                f"{functions[-1].lineno}), which this method takes the place of and does not call.",
                fix=f"Compare with {new.reading.path}:{functions[-1].lineno}, and put in what belongs here, too.",
            )
            continue
        yield pair.npu.reading.hit(
            (CODE, SEVERITY),
            pair.npu.node,
            symbol=name,
            message=f"vllm-ascend {subject.module.upstream_ref} {'changed' if before else 'added'} `{new.name}.{name}` "
            f"({new.reading.path}:{functions[-1].lineno}), but `{pair.npu.name}` runs `{found.name}.{name}`, which "
            "does not call it.",
            fix=f"Bring `{name}` to `{pair.npu.name}`, with `{found.name}.{name}(self, …)` in place of `super()`.",
            also=(found.reading.span_of(found.methods[name][-1]),),
        )


def _lags(pair: Pair, name: str, old: str, new: str) -> bool:
    """Whether a method of the NPU class is written after upstream's, and does not follow what changed there."""
    own = pair.npu.text_of(name)
    return share(own, old) >= MODELLED and not follows(own, old, new)


def _hands_on(pair: Pair, name: str, upstream: str) -> bool:
    """Whether what runs on the NPU class calls upstream's method: by name, or by `super()` past all of omni's."""
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
