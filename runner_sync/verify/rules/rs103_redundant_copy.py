"""RS103 redundant-copy: an override says exactly what the class would inherit without it.

What: a method of an NPU class that equals, statement by statement, the next method of that name in the MRO: omni's own
parent's, or that of the target vllm-ascend where no omni class defines one in between.

Example: omni's `initialize_aclgraph_capture` was copied to change one line; vllm-ascend made the same change since.

Why: a copy that nobody needs drifts at the next release and then overrides a newer method with an older one. Omni
dropped such overrides in 0.22, 0.28 and 0.30.

Fix: delete the method.

Leaves alone: methods whose globals mean something else in the omni module (another `ExecuteModelState`, another class
imported under the same name), and methods that an omni class further along the MRO would replace by something
different.
"""

from __future__ import annotations

from collections.abc import Iterator

from runner_sync.model import Severity
from runner_sync.syntax import Function
from runner_sync.verify.hits import Hit
from runner_sync.verify.runners.ancestry import Ancestry, find_ancestry
from runner_sync.verify.runners.duplication import are_equal, has_same_globals
from runner_sync.verify.runners.job import Subject
from runner_sync.verify.runners.reading import ClassText, Reading

CODE = "RS103"
NAME = "redundant-copy"
SEVERITY: Severity = "info"


def find(subject: Subject) -> Iterator[Hit]:
    """Yield one finding per method."""
    for owner in subject.npu.classes.values():
        mro = find_ancestry(subject.library, owner)
        for name, functions in owner.methods.items() if not mro.is_open else ():
            reading, other, title = _find_inherited(subject, mro, owner, name)
            if reading is not None and other is not None and _is_same(subject, functions[-1], reading, other):
                yield _make_hit(subject, owner, functions[-1], title)


def _find_inherited(
    subject: Subject, mro: Ancestry, owner: ClassText, name: str
) -> tuple[Reading | None, Function | None, str]:
    """Return what the class would run without its own ``name``: the reading, the method and a title for the message."""
    below = mro.find(name, after=owner)
    if below is not None:
        found = below.methods[name][-1]
        return below.reading, found, f"`{below.name}.{name}` ({below.reading.path}:{found.lineno})"
    anchors = subject.runner.upstreams if subject.runner is not None else ()
    classes = subject.upstream.classes if subject.upstream is not None else {}
    owners = [classes[anchor.name] for anchor in anchors if anchor.name in classes]
    upstream = next((c.methods[name][-1] for c in owners if name in c.methods), None)
    return subject.upstream, upstream, f"{subject.profile.followed}'s `{name}`"


def _is_same(subject: Subject, function: Function, reading: Reading, other: Function) -> bool:
    npu = subject.npu
    return are_equal(npu, function, reading, other) and has_same_globals(npu, function, reading)


def _make_hit(subject: Subject, owner: ClassText, function: Function, below: str) -> Hit:
    return subject.npu.hit(
        (CODE, SEVERITY),
        function,
        symbol=function.name,
        message=f"`{owner.name}.{function.name}` equals {below}, which the class inherits anyway.",
        fix=f"Delete `{function.name}` from `{owner.name}`.",
        also=(subject.npu.span_of(function),),
    )
