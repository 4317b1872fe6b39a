"""RS110 edited-outside-block: a copied method was edited outside its Omni-new blocks since the lock was written.

What: in a copied unit, the code between the Omni-new rulers is omni's and the rest is vllm-ascend's. The rest of this
unit differs from what the lock recorded.

Example: `hidden_states = hidden_states[:num_tokens]` slipped into the copied part of `execute_model`.

Why: at the next upgrade nobody can tell such a line from the previous vllm-ascend, and it goes missing. A third of
omni's lines in copied methods stand outside any block.

Fix: put Omni-new rulers around the change; if the change is vllm-ascend's, let `runner-sync upgrade` bring it. Where it
answers a question of an upgrade, run `runner-sync lock` to record the unit as it is now (with the `--ascend-path` of
that upgrade, where it followed a checkout).

Leaves alone: edits inside blocks, layout and comments, units that are omni's own, units whose lock entry does not
record the NPU text (written by an older version).

With `--changed-since` the finding stands at the first line that the branch edited outside a block. A comment above the
`def` silences it there, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from difflib import SequenceMatcher

from runner_sync.model import TITLES, Severity
from runner_sync.verify.hits import Hit
from runner_sync.verify.runners.job import Subject
from runner_sync.verify.runners.locked import OUTSIDE, is_edited, outside_hash, outside_lines

CODE = "RS110"
NAME = "edited-outside-block"
SEVERITY: Severity = "info"


def find(subject: Subject) -> Iterator[Hit]:
    """Yield one finding per unit."""
    npu = subject.npu
    for entry in subject.module.entries:
        upstream, recorded = entry.upstream, entry.extra.get(OUTSIDE)
        if upstream is None or not isinstance(recorded, str) or not is_edited(entry, npu):
            continue
        if outside_hash(npu, entry.qualname, label=subject.profile.marker) != recorded:
            unit = npu.units.get(entry.qualname)
            if unit is None:
                continue
            edited = _find_branch_edit(subject, entry.qualname)
            hit = subject.unit_hit(
                (CODE, SEVERITY),
                unit,
                symbol=entry.qualname,
                message=f"This copy of `{upstream.qualname}` ({TITLES[upstream.project]} {upstream.ref}) was edited "
                f"outside any {subject.profile.marker} block since it was locked"
                f"{f', by this branch at line {edited}' if edited else ''}.",
                fix=f"Put {subject.profile.marker} rulers around omni's change; where it only settles a question of an "
                "upgrade, record it: `runner-sync lock`.",
            )
            yield _move_to_line(hit, edited, npu.lines[edited - 1]) if edited else hit


def _move_to_line(hit: Hit, number: int, line: str) -> Hit:
    """Place the finding at a line of its unit, so that it stands in the diff of the branch."""
    start, end = len(line) - len(line.lstrip()), len(line.rstrip())
    moved = replace(hit.finding, line=number, end_line=number, column=start + 1, end_column=end + 1)
    return replace(hit, finding=moved, home=hit.finding)


def _find_branch_edit(subject: Subject, name: str) -> int:
    """Return the first line of the unit that the branch edited outside its blocks; 0 for none."""
    before, label = subject.before, subject.profile.marker
    lines_before = outside_lines(before.npu, name, label=label) if before is not None else None
    lines_now = outside_lines(subject.npu, name, label=label)
    if not lines_before or not lines_now:
        return 0
    code_before, code_now = [[text for _, text in lines if text] for lines in (lines_before, lines_now)]
    numbers = [number for number, text in lines_now if text]
    edits = SequenceMatcher(None, code_before, code_now, autojunk=False).get_opcodes()
    first = next((start for kind, _, _, start, _ in edits if kind != "equal"), None)
    return numbers[min(first, len(numbers) - 1)] if first is not None else 0
