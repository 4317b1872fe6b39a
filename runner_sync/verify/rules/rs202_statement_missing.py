"""RS202 statement-missing: omni code of a GPU method has no counterpart in the NPU runner.

What: in a method that both twins define, a call `self.hook(…)` of an omni method that the NPU class inherits and no NPU
code mentions, or a run of at least four omni statements that NPU code lacks and half of which use names that no NPU
code, vLLM's or vllm-ascend's module has heard of. Omni's are the statements that vLLM's own module lacks.

Example: the GPU `execute_model` of 0.22 receives full payloads from the omni connector before it updates its states;
the NPU one does not. In 0.26 the GPU `_sample` prepares duplex sampling, and NPU got that two releases later.

Why: 35 of the 156 recorded breakages. The method exists on both sides, so nothing looks missing.

Fix: `runner-sync upgrade --only UNIT`; what the GPU side had before the unit was last synced, by hand.

Leaves alone: (timid) short runs, runs whose names NPU knows (it may say the same in other words), calls of helpers that
only the GPU class has (RS207 looks at what they ask the model), code that needs the GPU itself or through a helper
(streams, pinned memory, Triton, device-only names), hooks that vLLM or vllm-ascend define, and everything when vLLM's
text is not at hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from runner_sync.lineage import nodes_of
from runner_sync.model import Severity
from runner_sync.statements import Node
from runner_sync.syntax import first_line
from runner_sync.verify.job import Subject
from runner_sync.verify.locked import unit_texts
from runner_sync.verify.parity import Pair, in_npu_words, is_device_bound, pairs, port_of, words
from runner_sync.verify.reading import Function, Hit, Reading

CODE = "RS202"
NAME = "statement-missing"
SEVERITY: Severity = "warning"

RUN = 4
"""Omni statements in a row that are reported; fewer may well be said in other words (timid)."""

UNKNOWN = 0.5
"""Share of them that must use a name which nobody on the NPU side has heard of."""

_ASKS_MODEL = re.compile(r"\b(?:getattr|hasattr)\(self\.model, ")
_HOOK = re.compile(r"\bself\.(\w+)\(")


def find(subject: Subject) -> Iterator[Hit]:
    """Missing hook calls (each hook once per class) and missing runs, at the NPU method."""
    if subject.vllm is None:
        return
    known = _canons(subject.vllm) | (_canons(subject.upstream) if subject.upstream is not None else set())
    heard_of = words(subject.vllm) | words(subject.upstream)
    for pair in pairs(subject):
        present = {node.canon for node in _npu_nodes(pair)}
        seen: set[str] = set()
        for name, functions in pair.gpu.methods.items():
            if name in pair.npu.methods:
                missing = _Missing(subject, pair, functions[-1], known=known | present, heard_of=heard_of)
                for symbol, line, what in missing.report(seen):
                    yield _hit(pair, functions[-1], line=line, symbol=symbol, what=what)


class _Missing:
    """The omni statements of one GPU method that NPU code lacks."""

    def __init__(
        self, subject: Subject, pair: Pair, function: Function, *, known: set[str], heard_of: frozenset[str]
    ) -> None:
        self._profile = subject.profile
        self._pair = pair
        self._heard_of = heard_of
        self._bound = pair.bound_names(subject.profile)
        self._nodes = nodes_of(in_npu_words(pair.gpu.reading.text_of(function), subject.profile))
        self._absent = [
            not n.is_comment and n.kind != "docstring" and not n.is_clause and n.canon not in known for n in self._nodes
        ]

    def report(self, seen: set[str]) -> Iterator[tuple[str, int, str]]:
        """Symbol, line within the method, and what the GPU method does there."""
        for hook, line in self._hooks():
            if hook not in seen:
                seen.add(hook)
                yield hook, line, f"calls `self.{hook}(…)`"
        for run in self._runs():
            first = _short(run[0].canon)
            yield first, run[0].start, f"has {len(run)} omni statements in a row, beginning with `{first}`"

    def _hooks(self) -> Iterator[tuple[str, int]]:
        """Omni methods that are called here and that no NPU code mentions, with the line of the call."""
        for node, absent in zip(self._nodes, self._absent, strict=True):
            if not absent or self._is_bound(node):
                continue
            for hook in _HOOK.findall(node.canon):
                # A helper of the GPU class alone may be a refactoring of what NPU has in one piece.
                inherited = self._pair.npu_line.find(hook) is not None
                if inherited and hook not in self._heard_of and hook not in self._pair.npu_mentions:
                    yield hook, node.start

    def _runs(self) -> Iterator[list[Node]]:
        """Runs of absent statements, at least half of which use names unheard of on NPU."""
        run: list[Node] = []
        for node, absent in [*zip(self._nodes, self._absent, strict=True), (None, False)]:
            if node is not None and (node.is_comment or (node.is_clause and run)):
                continue
            if node is not None and absent:
                run.append(node)
                continue
            if len(run) >= RUN and not self._is_spared(run):
                yield run
            run = []

    def _is_spared(self, run: Sequence[Node]) -> bool:
        # What asks the model for a hook is RS207's.
        if any(self._is_bound(node) or _ASKS_MODEL.search(node.canon) for node in run):
            return True
        return sum(self._is_unheard_of(node) for node in run) < len(run) * UNKNOWN

    def _is_bound(self, node: Node) -> bool:
        return is_device_bound(node.text, self._profile) or not self._bound.isdisjoint(node.words)

    def _is_unheard_of(self, node: Node) -> bool:
        """Whether ``node`` uses a name that neither NPU code nor an upstream mentions."""
        names = (word for word in node.words if word.isidentifier() and word not in self._heard_of)
        return any(name not in self._pair.npu_mentions for name in names)


def _canons(reading: Reading) -> set[str]:
    texts = unit_texts(reading.text, reading.path).values()
    return {node.canon for unit in texts for node in nodes_of(unit.text) if not node.is_comment}


def _npu_nodes(pair: Pair) -> list[Node]:
    """The statements of the NPU file and of every omni method that runs on the NPU class."""
    texts = [unit.text for unit in pair.npu.reading.units.values()]
    texts += [c.reading.text_of(f) for c, f in pair.npu_line.live() if c.reading is not pair.npu.reading]
    return [node for text in texts for node in nodes_of(text) if not node.is_comment and node.kind != "docstring"]


def _short(canon: str) -> str:
    line = " ".join(canon.split())
    return line if len(line) <= 70 else f"{line[:67]}…"


def _hit(pair: Pair, function: Function, *, line: int, symbol: str, what: str) -> Hit:
    gpu, npu = pair.gpu, pair.npu
    # The text of a method begins at its decorators.
    place = f"{gpu.reading.path}:{first_line(function) + line - 1}"
    return npu.reading.hit(
        (CODE, SEVERITY),
        npu.methods[function.name][-1],
        symbol=symbol,
        message=f"`{gpu.name}.{function.name}` ({place}) {what}; nothing that runs on `{npu.name}` does.",
        fix=port_of(f"{npu.name}.{function.name}", place),
        also=(gpu.reading.span_of(function),),
    )
