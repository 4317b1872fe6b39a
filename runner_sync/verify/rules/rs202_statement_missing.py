"""RS202 statement-missing: omni code of a GPU method has no counterpart in the NPU runner.

What: in a method that both twins define, a call of something that no NPU code mentions (`self.hook(…)` of an omni
method that the NPU class inherits; any other call that is made for what it does), or a run of at least three omni
statements that NPU code lacks, with a name in it that no NPU code, vLLM's or vllm-ascend's module has heard of, or a
condition with such a name on statements that NPU code has. Omni's are the statements that vLLM's own module lacks.

Example: the GPU `execute_model` of 0.22 receives full payloads from the omni connector before it updates its states;
the NPU one does not. In 0.26 the GPU `_sample` prepares duplex sampling, and NPU got that two releases later. In
0.26.0rc1 the GPU runners start their connector for a list of models `or get_stage_connector_role(…) is not None`, the
NPU runners for the list: other models waited for ever.

Why: 35 of the 156 recorded breakages. The method exists on both sides, so nothing looks missing. Three of four such
runs in the releases 0.14.0rc1 to 0.31.0rc1, and one of three such calls, came to NPU in a later release.

Fix: `runner-sync upgrade --gpu-only --only UNIT`; with `--omni-base V` also what the GPU side had before the unit was
last synced, where V is a vllm-omni in which it did not have it yet. Where NPU does without it on purpose, write
`# runner-sync: ignore[RS202:NAME] reason` above the method, as the finding says it: that accepts this call or run, and
the next one is told. `ignore[RS202] reason` accepts every one of the method.

Leaves alone: (timid) runs whose names NPU knows (it may say the same in other words), calls whose value goes into a
local variable, errors raised, calls of helpers that only the GPU class has and whose statements NPU has in place (RS207
looks at what they ask the model), conditions that ask such a helper for what NPU code knows, what a mixin brings that
NPU lacks (RS204), code that needs the GPU itself or through a helper (streams, pinned memory, Triton, device-only
names), hooks that vLLM or vllm-ascend define, and everything when vLLM's text is not at hand.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runner_sync.lineage import fingerprint, nodes_of
from runner_sync.model import Severity
from runner_sync.statements import Node
from runner_sync.syntax import assigned_names, first_line
from runner_sync.verify.ignores import named
from runner_sync.verify.runners.job import Subject
from runner_sync.verify.runners.parity import Pair, in_npu_words, is_device_bound, port_of, whole_pairs, words
from runner_sync.verify.runners.reading import Function, Hit, Reading, shortened

CODE = "RS202"
NAME = "statement-missing"
SEVERITY: Severity = "warning"

RUN = 3
"""Omni statements in a row that are reported; fewer may well be said in other words (timid)."""

IN_PLACE = 0.5
"""Share of a helper's statements that NPU code must have for its call to be a refactoring of them."""

_SYMBOL = 70
"""Length up to which a statement is a symbol: entries of baselines are made with it, so it stays as it is."""

_ASKS_MODEL = re.compile(r"\b(?:getattr|hasattr)\(self\.model, ")
_CALL = re.compile(r"([\w.]+)\(")

_STRING = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""")

_PYTHONS = frozenset({*keyword.kwlist, *keyword.softkwlist, *dir(builtins)})


def find(subject: Subject) -> Iterator[Hit]:
    """Missing hook calls (each hook once per class) and missing runs, at the NPU method."""
    if subject.vllm is None:
        return
    upstream = _canons(subject.vllm) | (_canons(subject.upstream) if subject.upstream is not None else set())
    heard_of = words(subject.vllm) | words(subject.upstream)
    for pair in whole_pairs(subject):
        present = _npu_canons(pair)
        seen: set[str] = set()
        for name, functions in pair.gpu.methods.items():
            if name in pair.npu.methods:
                missing = _Missing(subject, pair, functions[-1], present=present, upstream=upstream, heard_of=heard_of)
                for told in missing.report(seen):
                    yield _hit(subject, pair, functions[-1], told)


@dataclass(frozen=True, slots=True)
class _Told:
    """``what`` a GPU method does at a ``line`` of its own, with a ``name`` that NPU code lacks."""

    symbol: str
    name: str
    line: int
    what: str


class _Missing:
    """The omni statements of one GPU method that NPU code lacks."""

    def __init__(
        self,
        subject: Subject,
        pair: Pair,
        function: Function,
        *,
        present: set[str],
        upstream: set[str],
        heard_of: frozenset[str],
    ) -> None:
        self._profile = subject.profile
        self._pair = pair
        self._npus = present - upstream
        self._known = known = present | upstream
        self._heard_of = heard_of
        self._bound = pair.bound_names
        self._locals = assigned_names(function)
        # What the NPU class has not among its bases is RS204's.
        lacking = (c for c in pair.gpu_mro.classes if c is not pair.gpu and c not in pair.npu_mro.classes)
        self._mixed_in = {name for c in lacking for name in c.methods}
        _, *self._nodes = self._nodes_of(function)
        self._absent = [_is_plain(n) and not n.is_clause and n.canon not in known for n in self._nodes]

    def _nodes_of(self, function: Function) -> Sequence[Node]:
        return nodes_of(in_npu_words(self._pair.gpu.reading.text_of(function), self._profile))

    def report(self, seen: set[str]) -> Iterator[_Told]:
        """What the GPU method does and NPU code does not."""
        told: set[int] = set()
        for run in self._runs():
            first = shortened(run[0].canon, most=_SYMBOL)
            is_told = len(run) >= RUN and not self._is_spared(run)
            if is_told:
                told.update(node.start for node in run)
                name = self._news_of(run)[0]
                what = f"has {len(run)} omni statements in a row with `{name}`, beginning with `{first}`"
                yield _Told(first, name, run[0].start, what)
            for name, call, line in self._calls(run, only_hooks=is_told):
                if name not in seen:
                    seen.add(name)
                    yield _Told(name, name, line, f"calls `{call}(…)`")
        for name, node, done in self._conditions():
            if name not in seen and node.start not in told:
                seen.add(name)
                what = f"makes `{shortened(done.canon, most=_SYMBOL)}` depend on `{name}`"
                yield _Told(name, name, node.start, what)

    def _conditions(self) -> Iterator[tuple[str, Node, Node]]:
        """Conditions that ask for what no NPU code mentions, where NPU code does all that they lead to: the name, the
        condition, and a statement of omni's below it."""
        for at, node in enumerate(self._nodes):
            if not (self._absent[at] and node.keyword == "if") or self._is_spared([node]):
                continue
            names = [name for name in self._news_of([node]) if self._asks_for_news(name)]
            below = [(n, absent) for n, absent in zip(self._nodes, self._absent, strict=True) if n.parent == at + 1]
            done = [n for n, _ in below if n.canon in self._npus and not _is_commonplace(n)]
            if names and done and not any(absent for _, absent in below):
                yield names[0], node, done[0]

    def _asks_for_news(self, name: str) -> bool:
        """Whether a name in a condition is no helper of the GPU side that asks only for what NPU code knows."""
        helper = self._helper(name)
        if helper is None:
            return True
        own = assigned_names(helper)
        return any(word not in own for word in self._news_of(self._nodes_of(helper)[1:]))

    def _calls(self, run: Sequence[Node], *, only_hooks: bool) -> Iterator[tuple[str, str, int]]:
        """Calls of what no NPU code mentions: the name, what is written before the bracket, the line."""
        is_bound = any(self._is_bound(node) for node in run)
        for node in run:
            for written in _CALL.findall(node.canon) if not self._is_bound(node) else ():
                name = written.rpartition(".")[2]
                if self._is_news(name) and (
                    self._is_inherited(written) or (not only_hooks and not is_bound and self._is_missed(name, node))
                ):
                    yield name, written.lstrip("."), node.start

    def _is_inherited(self, written: str) -> bool:
        """Whether this is `self.hook` of an omni method that the NPU class has, too."""
        owner, _, name = written.rpartition(".")
        return owner == "self" and self._pair.npu_mro.find(name) is not None

    def _is_missed(self, name: str, node: Node) -> bool:
        """Whether ``node`` calls ``name`` for what it does, and NPU code does not do that in its own words."""
        if name in self._mixed_in or not _has_effect(node.canon):
            return False
        helper = self._helper(name)
        if helper is None:
            return True
        nodes = [n for n in self._nodes_of(helper)[1:] if _is_plain(n) and not n.is_clause]
        in_place = sum(n.canon in self._known for n in nodes)
        return in_place < len(nodes) * IN_PLACE and not any(_ASKS_MODEL.search(n.canon) for n in nodes)

    def _helper(self, name: str) -> Function | None:
        gpu = self._pair.gpu
        return gpu.methods[name][-1] if name in gpu.methods else gpu.reading.functions.get(name)

    def _runs(self) -> Iterator[list[Node]]:
        """Absent statements, in rows without one that NPU has."""
        run: list[Node] = []
        for node, absent in [*zip(self._nodes, self._absent, strict=True), (None, False)]:
            if node is not None and (node.is_comment or (node.is_clause and run)):
                continue
            if node is not None and absent:
                run.append(node)
                continue
            if run:
                yield run
            run = []

    def _is_spared(self, run: Sequence[Node]) -> bool:
        # What asks the model for a hook is RS207's.
        if any(self._is_bound(node) or _ASKS_MODEL.search(node.canon) for node in run):
            return True
        return not self._news_of(run)

    def _news_of(self, run: Sequence[Node]) -> list[str]:
        texts = [_STRING.sub(_unless_prose, node.canon) for node in run]
        return [word for text in texts for word in re.findall(r"\w+", text) if self._is_news(word)]

    def _is_bound(self, node: Node) -> bool:
        return is_device_bound(node.text, self._profile) or not self._bound.isdisjoint(node.words)

    def _is_news(self, name: str) -> bool:
        """Whether neither NPU code nor an upstream mentions ``name``; what a local variable is called says nothing."""
        is_heard_of = name in self._heard_of or name in self._pair.npu_mentions or name in self._locals
        return name.isidentifier() and name not in _PYTHONS and not is_heard_of


def _unless_prose(string: re.Match[str]) -> str:
    """A string as it is, nothing for one of several words: a message, whose words name nothing."""
    return "" if " " in string[0] else string[0]


def _is_plain(node: Node) -> bool:
    return not node.is_comment and node.kind != "docstring"


def _is_commonplace(node: Node) -> bool:
    """Whether a statement calls nothing, and may stand below any condition: ``return None``, ``ids = []``."""
    return "(" not in node.canon


def _has_effect(canon: str) -> bool:
    """Whether a statement is there for what it does: a call, a value returned, or one put into an object."""
    try:
        (statement,) = ast.parse(canon).body
    except (SyntaxError, ValueError):
        return False  # the head of a compound statement, or what only stands in a function
    if isinstance(statement, ast.Assign):
        return all(isinstance(target, ast.Attribute | ast.Subscript) for target in statement.targets)
    return isinstance(statement, ast.Expr | ast.Return)


def _canons(reading: Reading) -> set[str]:
    """The statements of a module."""
    return {canon for unit in reading.units.values() for canon in fingerprint(unit.text)}


def _npu_canons(pair: Pair) -> set[str]:
    """The statements of the NPU file and of every omni method that runs on the NPU class."""
    texts = [unit.text for unit in pair.npu.reading.units.values()]
    texts += [c.reading.text_of(f) for c, f in pair.npu_mro.live() if c.reading is not pair.npu.reading]
    return {canon for text in texts for canon in fingerprint(text)}


def _hit(subject: Subject, pair: Pair, function: Function, told: _Told) -> Hit:
    gpu, npu = pair.gpu, pair.npu
    # The text of a method begins at its decorators.
    place = f"{gpu.reading.path}:{first_line(function) + told.line - 1}"
    port = port_of(subject, f"{npu.name}.{function.name}", f"{gpu.name}.{function.name}", told.name, place)
    ignore = f"# runner-sync: ignore[{CODE}:{named(told.symbol)}] reason"
    return npu.reading.hit(
        (CODE, SEVERITY),
        npu.methods[function.name][-1],
        symbol=told.symbol,
        message=f"`{gpu.name}.{function.name}` ({place}) {told.what}; nothing that runs on `{npu.name}` does.",
        fix=f"{port} Where NPU does without it on purpose, `{ignore}`.",
        also=(gpu.reading.span_of(function),),
    )
