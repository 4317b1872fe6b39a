"""RS105 hidden-change: vllm-ascend added or changed a method that the NPU runner never runs.

What: a method of the upstream class that is new or reads otherwise in the target, where another base of the NPU class
comes first in the MRO, has the method too and does not call `super()`.

Example: `OmniNPUModelRunner(OmniGPUModelRunner, NPUModelRunner)` runs `OmniGPUModelRunner._update_states`. vllm-ascend
0.22.1rc1 got an `_update_states` of its own, and 0.27.1rc1 hands tokens from one pipeline rank to the next in it.

Why: nothing crashes and no copy has drifted, there is none. Until omni 0.27.0rc1 the fixes did not run on NPU.

Fix: bring the method to the NPU class, with `super()` calls that name the base which it replaces.

Leaves alone: methods that the NPU class has itself (RS101 compares those), bases that hand on to `super()`, what
vllm-ascend left as it was, and classes that inherit the upstream class through another NPU class.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from runner_sync.model import Severity
from runner_sync.verify.ancestry import calls_parent
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
    refs = Counter(follower.ref for follower in followers(subject) if is_copy(subject, follower))
    base = subject.base(refs.most_common(1)[0][0]) if refs else None
    if subject.upstream is None or base is None or subject.runner is None:
        return
    name = subject.runner.upstreams[0].name
    new, old = subject.upstream.classes.get(name), base.classes.get(name)
    if new is None or old is None:
        return
    for pair in pairs(subject):
        if any(ast.unparse(one) == name for one in pair.npu.node.bases):
            yield from _hidden(subject, pair, new, old)


def _hidden(subject: Subject, pair: Pair, new: ClassText, old: ClassText) -> Iterator[Hit]:
    for name, functions in new.methods.items():
        found = pair.npu_line.find(name)
        if found is None or found is pair.npu or calls_parent(found.methods[name][-1], name):
            continue
        before = old.methods.get(name)
        if before and are_equal(old.reading, before[-1], new.reading, functions[-1]):
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
