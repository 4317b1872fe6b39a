"""RS205 state-fields: the record that `execute_model` hands to `sample_tokens` differs from the GPU's, or is taken
apart in another order.

What: an omni field of a `NamedTuple` such as `ExecuteModelState` that the GPU twin has and the NPU one lacks; and a
construction or unpacking whose variables have the names of the fields in another order.

Example:

    class ExecuteModelState(NamedTuple):
        cudagraph_stats: Any
        batch_desc: BatchDescriptor
        multimodal_outputs: Any

    cudagraph_stats, multimodal_outputs, batch_desc = self.execute_model_state

Why: the number of values still fits, so nothing fails at the mistake; a tensor of the wrong kind travels on. The record
is copied three times (vLLM, vllm-ascend, omni) and gains a field in every second release.

Fix: list fields, construction and unpacking in one order; add the missing field to all three.

Leaves alone: fields of vLLM's own record (NPU follows vllm-ascend's), fields whose name NPU code mentions anyway (it
computes the value itself), variables with other names, keyword construction, and wrong counts (RS302 and RS303 report
those where the target trees are at hand).
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from runner_sync.model import Severity
from runner_sync.syntax import Function, walk
from runner_sync.verify.hits import Hit
from runner_sync.verify.runners.hygiene import iter_functions
from runner_sync.verify.runners.job import Subject
from runner_sync.verify.runners.parity import attribute_of_record
from runner_sync.verify.runners.reading import ClassText, Reading, dotted

CODE = "RS205"
NAME = "state-fields"
SEVERITY: Severity = "error"


def find(subject: Subject) -> Iterator[Hit]:
    """Yield missing fields at the record, and wrong orders where the record is constructed or unpacked."""
    for record in _find_records(subject.npu).values():
        yield from _check_fields(subject, record)
    for name, record in _find_visible_records(subject).items():
        yield from _check_uses(subject.npu, name, record)


def _find_records(reading: Reading | None) -> dict[str, ClassText]:
    classes = reading.classes.items() if reading is not None else ()
    return {name: c for name, c in classes if _has_fields(c)}


def _has_fields(owner: ClassText) -> bool:
    return any(base.endswith("NamedTuple") for base in owner.bases)


def _find_visible_records(subject: Subject) -> dict[str, ClassText]:
    found = _find_records(subject.npu)
    for name in [handed for handed in subject.profile.handovers if handed in subject.npu.imports]:
        known = subject.library.find_class(subject.npu, name)
        if known is not None and _has_fields(known):
            found[name] = known
    return found


def _check_fields(subject: Subject, record: ClassText) -> Iterator[Hit]:
    twin = _find_records(subject.gpu).get(record.name)
    if twin is None or subject.gpu is None:
        return
    own = record.fields
    vllm = _find_records(subject.vllm).get(record.name)
    for name, field in twin.fields.items():
        # timid: NPU code that mentions the name may get the value from elsewhere.
        if name in own or re.search(rf"\b{name}\b", subject.npu.text) or not _is_omni_field(subject, field.node, vllm):
            continue
        yield record.reading.hit(
            (CODE, SEVERITY),
            record.node,
            symbol=f"{record.name}.{name}",
            message=f"The GPU's `{record.name}` carries `{name}` ({subject.gpu.path}:{field.node.lineno}), but the "
            "NPU's does not, so no NPU code receives it.",
            fix=f"Add `{name}` to `{record.name}`, where it is made, and where it is unpacked.",
            also=(subject.gpu.span_of(field.node),),
        )


def _is_omni_field(subject: Subject, field: ast.AnnAssign, vllm: ClassText | None) -> bool:
    """Whether vLLM's record lacks the field; without vLLM's text, whether a comment above attributes it to omni."""
    if vllm is not None:
        return dotted(field.target) not in vllm.fields
    assert subject.gpu is not None
    lines = subject.gpu.lines
    above = field.lineno - 1
    while above and lines[above - 1].lstrip().startswith("#"):
        above -= 1
    stem = subject.profile.marker.split("-")[0].lower()
    return any(stem in line.partition("#")[2].lower() for line in lines[above : field.lineno])


def _check_uses(npu: Reading, name: str, record: ClassText) -> Iterator[Hit]:
    fields = [*record.fields]
    used = (f for f in iter_functions(npu) if name in (text := npu.text_of(f)) or attribute_of_record(name) in text)
    for function in used:
        holders = _find_record_locals(function, name)
        for node in walk(function):
            if isinstance(node, ast.Call) and dotted(node.func) == name and not node.keywords:
                yield from _check_order(npu, node.args, fields, what=f"`{name}(…)` is made")
            elif isinstance(node, ast.Assign) and (_is_record(node.value, name) or dotted(node.value) in holders):
                for target in node.targets:
                    parts = getattr(target, "elts", [])
                    yield from _check_order(npu, parts, fields, what=f"`{name}` is unpacked")


def _find_record_locals(function: Function, name: str) -> set[str]:
    """Return the locals that hold the record and nothing else."""
    stores = Counter(n.id for n in walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    assigned = [node for node in walk(function) if isinstance(node, ast.Assign) and _is_record(node.value, name)]
    return {t.id for node in assigned for t in node.targets if isinstance(t, ast.Name) and stores[t.id] == 1}


def _is_record(value: ast.expr, name: str) -> bool:
    # `ExecuteModelState` travels in `self.execute_model_state`.
    return dotted(value).rpartition(".")[2] == attribute_of_record(name)


def _check_order(npu: Reading, parts: Sequence[ast.expr], fields: list[str], *, what: str) -> Iterator[Hit]:
    if any(isinstance(part, ast.Starred) for part in parts):
        return
    for position, part in enumerate(parts[: len(fields)]):
        name = dotted(part).removeprefix("self.")
        if name in fields and fields.index(name) != position:
            yield npu.hit(
                (CODE, SEVERITY),
                part,
                symbol=f"{fields[position]}={name}",
                message=f"{what} with `{name}` in place {position + 1}, where the field `{fields[position]}` stands; "
                f"`{name}` is field {fields.index(name) + 1}.",
                fix=f"Put `{name}` in place {fields.index(name) + 1}.",
            )
            return
