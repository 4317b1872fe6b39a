"""RS207 hook-missing: the GPU runner asks for a model hook, or fills an output field, that NPU code leaves out.

What: two things that omni's GPU code does and no NPU code that can run on the twin does. It asks for a model hook:
`hasattr(self.model, "x")`, `getattr(self.model, "x", …)`, or a function that gets the name
(`self._model_omni_flag(model, "x")`). Or it sets a field of `OmniModelRunnerOutput`.

Example: `getattr(self.model, "omni_pooler_payload_include_hidden", True)` in the GPU runner's `load_model` only. In
0.23.0rc1 the GPU runners pass their payload on as `multimodal_outputs`, the NPU runners still as `pooler_output`.

Why: a model with the hook works on GPU, and NPU silently ignores the hook; an output field that nobody fills is `None`
downstream. 20 of the 156 recorded breakages.

Fix: port the statements around it: `runner-sync upgrade --only UNIT`, or `--only 'CLASS*'` where NPU lacks the whole
method. Port by hand what the GPU side had before the unit was last synced.

Leaves alone: hooks that only a GPU can have (without one, every model of omni that has the hook answers `None` at once,
or sets the flag to false), hooks that are asked for only where a model has another missing one (its finding names
them), hooks that vLLM's or vllm-ascend's own module asks for (NPU gets those from vllm-ascend), device-bound GPU
code, hooks that NPU code mentions in any way, fields that NPU code mentions where it makes no such record or fills one
in ways that cannot be read (`**fields`), fields whose value comes from a mixin that NPU lacks, if RS204 reports it, and
everything when vLLM's text is not at hand.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from runner_sync.model import Severity
from runner_sync.profile import Output
from runner_sync.statements.assigning import targets_of
from runner_sync.syntax import Function, calls_in, is_none, walk, walk_suites
from runner_sync.verify.hits import Hit
from runner_sync.verify.mixins import find_folded_members, find_own_members
from runner_sync.verify.runners.gated_hooks import find_gates, is_asked_on_gpu_only
from runner_sync.verify.runners.job import Subject
from runner_sync.verify.runners.model_hooks import find_model_hooks
from runner_sync.verify.runners.parity import Pair, describe_port, find_whole_pairs, read_upstream_words
from runner_sync.verify.runners.reading import dotted

CODE = "RS207"
NAME = "hook-missing"
SEVERITY: Severity = "warning"

_HOOK, _FIELD = "model hook", "output field"


def find(subject: Subject) -> Iterator[Hit]:
    """Yield one finding per hook or field, at the NPU method that replaces the GPU method, else at the class."""
    if subject.vllm is None:
        return
    upstream = read_upstream_words(subject)
    output = subject.profile.output
    for pair in find_whole_pairs(subject):
        missing = _find_missing(subject, pair, upstream, output)
        hooks = [one.name for one in missing if one.what == _HOOK]
        gates = find_gates(pair, [name for name in hooks if not is_asked_on_gpu_only(pair, name)])
        for one in missing:
            if one.what == _FIELD or (one.name in gates and not gates[one.name]):
                behind = [name for name, gate in gates.items() if gate == one.name] if one.what == _HOOK else []
                yield _make_hit(subject, pair, one, behind)


class _Missing(NamedTuple):
    """A hook or field that a GPU method has at ``node`` and NPU code lacks."""

    function: Function
    node: ast.AST
    name: str
    what: str


def _find_missing(subject: Subject, pair: Pair, upstream: frozenset[str], output: Output) -> list[_Missing]:
    """Return what NPU code lacks, each name once."""
    found: dict[str, _Missing] = {}
    filled = _find_filled_fields(pair, output)
    mixed_in = find_folded_members(subject, pair)
    for function in _find_gpu_only_methods(pair):
        if function.name in pair.bound_names:
            continue
        for name, node, what in _find_names(function, output, pair.asking):
            known = pair.npu_mentions if what == _HOOK or filled is None or is_none(node) else filled
            is_mixins = what == _FIELD and not mixed_in.isdisjoint(find_own_members(node))
            if name not in upstream and name not in known and not is_mixins:
                found.setdefault(name, _Missing(function, node, name, what))
    return [*found.values()]


def _find_filled_fields(pair: Pair, output: Output) -> frozenset[str] | None:
    """Return the fields that NPU code gives its output records; ``None`` without records or if unreadable."""
    live = [function for _, function in pair.npu_mro.live()]
    tops = [*live, pair.npu.reading.tree]
    made = [call for top in tops for call in calls_in(top) if dotted(call.func) == output.name]
    if not made or any(call.args or any(k.arg is None for k in call.keywords) for call in made):
        return None
    set_later = {
        target.attr
        for top in tops
        for node in walk_suites(top)
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in targets_of(node)
        if isinstance(target, ast.Attribute)
    }
    return frozenset({k.arg for call in made for k in call.keywords if k.arg} | set_later)


def _find_gpu_only_methods(pair: Pair) -> Iterator[Function]:
    """Yield the methods of the GPU class that run on it and not on the NPU class."""
    shared = {id(function) for _, function in pair.npu_mro.live()}
    for owner, function in pair.gpu_mro.live():
        # Other classes of the GPU MRO are reported for their own twins; RS204 reports a missing mixin.
        if owner is pair.gpu and id(function) not in shared:
            yield function


def _find_names(function: Function, output: Output, asking: Mapping[str, int]) -> Iterator[tuple[str, ast.AST, str]]:
    for name, call in find_model_hooks(function, asking):
        yield name, call, _HOOK
    outputs = {output.variable}
    for node in walk(function):
        if isinstance(node, ast.Call) and dotted(node.func) == output.name:
            yield from ((k.arg, k.value, _FIELD) for k in node.keywords if k.arg)
        elif (
            isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and dotted(node.value.func) == output.name
        ):
            outputs.add(dotted(node.targets[0]))
    for node in walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
            target = node.targets[0]
            if dotted(target.value) in outputs:
                yield target.attr, node, _FIELD


def _describe_lack(pair: Pair, name: str) -> str:
    """Describe how NPU code lacks a name; an output field may be mentioned there and not set."""
    return "set nowhere in" if name in pair.npu_mentions else "nowhere in"


def _make_hit(subject: Subject, pair: Pair, missing: _Missing, behind: Sequence[str]) -> Hit:
    """Make the finding about a name; ``behind`` are hooks that only matter with it."""
    function, node, name, what = missing
    line, owner = node.lineno, pair.gpu  # type: ignore[attr-defined]
    own = next((c for c in pair.npu_own if function.name in c.methods), None)
    at: ast.AST = own.methods[function.name][-1] if own is not None else pair.npu.node
    reading = own.reading if own is not None else pair.npu.reading
    # A helper that NPU lacks is ported with its callers.
    unit = f"{own.name}.{function.name}" if own is not None else f"'{pair.npu.name}*'"
    place = f"{owner.reading.path}:{line}"
    named = ", ".join(f"`{one}`" for one in behind)
    and_behind = f"; the same goes for {named}, which only matters behind it" if behind else ""
    without = f"Where NPU does without it on purpose, `# runner-sync: ignore[{CODE}:{name}] reason`."
    return reading.hit(
        (CODE, SEVERITY),
        at,
        symbol=name,
        message=f"The {what} `{name}` of `{owner.name}.{function.name}` ({place}) is {_describe_lack(pair, name)} the "
        f"code that runs on `{pair.npu.name}`{and_behind}.",
        fix=f"{describe_port(subject, unit, f'{owner.name}.{function.name}', name, place)} {without}",
        also=(owner.reading.span_around(function, line, line),),
    )
