"""RS104 signature-drift: vllm-ascend changed the parameters of a method that the NPU runner overrides.

What: a parameter that is new in the target's method and that the override does not take; or a parameter that the target
dropped and the override still requires.

Example: vllm-ascend's `initialize_kv_cache` gained `kv_cache_allocation_context`, while omni's override kept `(self,
kv_cache_config)`.

Why: vllm-ascend's own code begins to pass the new parameter, and the first call raises a `TypeError` from code that
nobody in omni wrote. RS305 reports the callers where the whole trees are at hand; this rule needs one file only.

Fix: take the parameter and pass it on (`runner-sync upgrade --only UNIT`).

Leaves alone: overrides with `*args, **kwargs`, renamed annotations and defaults, parameters the override already has.
"""

from __future__ import annotations

from collections.abc import Iterator

from runner_sync.model import Severity
from runner_sync.signatures import defaults_of
from runner_sync.syntax import Function
from runner_sync.verify.hits import Hit
from runner_sync.verify.runners.drift import find_followers
from runner_sync.verify.runners.job import Subject
from runner_sync.verify.runners.locked import find_definition

CODE = "RS104"
NAME = "signature-drift"
SEVERITY: Severity = "warning"


def find(subject: Subject) -> Iterator[Hit]:
    """Yield one finding per override."""
    if subject.upstream is None:
        return
    for follower in find_followers(subject):
        base = subject.base(follower.ref)
        own = find_definition(subject.npu, follower.unit.qualname)
        old = find_definition(base, follower.name) if base is not None else None
        new = find_definition(subject.upstream, follower.name)
        if not isinstance(own, Function) or not isinstance(old, Function) or not isinstance(new, Function):
            continue
        changes = _find_differences(own, old, new)
        if changes:
            yield subject.unit_hit(
                (CODE, SEVERITY),
                follower.unit,
                symbol=", ".join(name for name, _ in changes),
                message=f"{subject.target} {' and '.join(text for _, text in changes)} in "
                f"`{follower.name}`; this override does not follow.",
                fix=f"runner-sync upgrade --only {follower.unit.qualname}",
            )


def _find_differences(own: Function, old: Function, new: Function) -> list[tuple[str, str]]:
    taken, before, after = defaults_of(own), defaults_of(old), defaults_of(new)
    added = [] if own.args.kwarg else [n for n in after if n not in before and n not in taken]
    dropped = [n for n in before if n not in after and n in taken and taken[n] is None]
    return [(n, f"added the parameter `{n}`") for n in added] + [(n, f"dropped the parameter `{n}`") for n in dropped]
