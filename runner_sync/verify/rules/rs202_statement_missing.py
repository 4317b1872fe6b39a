"""RS202 statement-missing: omni code of a GPU method has no counterpart in the NPU runner.

What: three kinds of omni code in a method that both twins define, where omni's statements are those that vLLM's own
module lacks. (1) A call of a name that no NPU code mentions: `self.hook(…)` of an omni method that the NPU class
inherits, or any other call that is made for its effect. (2) A run of at least three omni statements that NPU code
lacks, with a name that neither NPU code nor vLLM's or vllm-ascend's module mentions. (3) A condition with such a name
above statements that NPU code has.

Example: the GPU `execute_model` of 0.22 receives full payloads from the omni connector before it updates its states;
the NPU one does not. In 0.26 the GPU `_sample` prepares duplex sampling, which NPU got two releases later. In 0.26.0rc1
the GPU runners start their connector for a list of models `or get_stage_connector_role(…) is not None`, the NPU runners
only for the list: other models waited for ever.

Why: 35 of the 156 recorded breakages. The method exists on both sides, so nothing looks missing. Of such runs in the
releases 0.14.0rc1 to 0.31.0rc1, three in four came to NPU in a later release, and of such calls one in three.

Fix: `runner-sync upgrade --gpu-only --only UNIT`. With `--omni-base V` it also ports what the GPU side had before the
unit was last synced, where V is a vllm-omni without that code. Where NPU lacks it on purpose, write `# runner-sync:
ignore[RS202:NAME] reason` above the method, as the finding gives it: that accepts this call or run, and the next one is
reported. `ignore[RS202] reason` accepts every one of the method.

Leaves alone: (timid) runs whose names NPU code mentions (it may do the same in other words); calls whose value goes
into a local variable; errors raised; calls of helpers that only the GPU class has and whose statements NPU has in place
(RS207 checks what they ask the model); calls of a function that returns one expression, where NPU has the expression;
conditions that call such a helper about names that NPU code knows; what uses a mixin that NPU lacks, if RS204 reports
it; code that needs the GPU itself or through a helper (streams, pinned memory, Triton, device-only names); calls of
methods that return first where there is no CUDA; code that never runs there, because every model with the hook that
decides about it answers `None`, and locals for such code alone; hooks that vLLM or vllm-ascend define; calls of a
member that no class of the given trees has, because they fail on GPU, too; and everything when vLLM's text is not at
hand.
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runner_sync.lineage import fingerprint, list_nodes
from runner_sync.model import Severity
from runner_sync.profile.vllm import MODEL
from runner_sync.statements import Node
from runner_sync.statements.calls import names_called
from runner_sync.syntax import Function, assigned_names, first_line
from runner_sync.verify.hits import Hit
from runner_sync.verify.ignores import symbol_in_comment
from runner_sync.verify.mixins import find_folded_members
from runner_sync.verify.runners.idle_calls import is_idle
from runner_sync.verify.runners.idle_statements import find_idle_lines, has_effect
from runner_sync.verify.runners.job import Subject
from runner_sync.verify.runners.parity import (
    Pair,
    describe_port,
    find_whole_pairs,
    is_device_bound,
    read_canons,
    read_upstream_canons,
    read_upstream_words,
    translate_to_npu,
)
from runner_sync.verify.runners.reading import shorten_code
from runner_sync.verify.runners.written_out import write_out

CODE = "RS202"
NAME = "statement-missing"
SEVERITY: Severity = "warning"

RUN = 3
"""The fewest consecutive omni statements to report; fewer may well be written in other words (timid)."""

IN_PLACE = 0.5
"""From this share of a helper's statements in NPU code on, the helper call counts as their refactoring."""

_SYMBOL = 70
"""The length limit of a statement used as a symbol. Never change it: baseline entries are made with it."""

_ASKS_MODEL = re.compile(rf"\b(?:getattr|hasattr)\({re.escape(MODEL)}, ")

_STRING = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""")

_SELF = re.compile(r"""(?:(?<![\w.])self\.|\b(?:get|has|set)attr\(self, ['"])(\w+)""")

_PYTHON_NAMES = frozenset({*keyword.kwlist, *keyword.softkwlist, *dir(builtins)})


def find(subject: Subject) -> Iterator[Hit]:
    """Yield missing calls (each once per class), runs and conditions, at the NPU method."""
    if subject.vllm is None:
        return
    upstream, known_words = read_upstream_canons(subject), read_upstream_words(subject)
    for pair in find_whole_pairs(subject):
        present = _collect_npu_canons(pair)
        seen: set[str] = set()
        for name, functions in pair.gpu.methods.items():
            if name in pair.npu.methods:
                comparison = _MethodComparison(
                    subject, pair, functions[-1], present=present, upstream=upstream, known_words=known_words
                )
                for lack in comparison.find_lacks(seen):
                    yield _make_hit(subject, pair, functions[-1], lack)


@dataclass(frozen=True, slots=True)
class _Lack:
    """GPU code from ``line`` to ``last`` of a method that NPU code lacks: a ``name`` in it, and ``what`` it does."""

    symbol: str
    name: str
    line: int
    last: int
    what: str


class _MethodComparison:
    """The omni statements of one GPU method that NPU code lacks."""

    def __init__(
        self,
        subject: Subject,
        pair: Pair,
        function: Function,
        *,
        present: frozenset[str],
        upstream: frozenset[str],
        known_words: frozenset[str],
    ) -> None:
        self._profile = subject.profile
        self._pair = pair
        self._npu_only = present - upstream
        self._known_canons = known = present | upstream
        self._known_words = known_words
        self._bound_names = pair.bound_names
        self._locals = assigned_names(function)
        _, *self._nodes = self._parse_nodes(function)
        self._absent = [
            _is_plain(n) and not n.is_clause and n.canon not in known and not self._is_written_out(n)
            for n in self._nodes
        ]
        self._function = function
        self._idle_lines = frozenset[int]()
        self._mixed_in = find_folded_members(subject, pair)
        self._of_mixin = self._find_uses_of_mixins()

    def _find_uses_of_mixins(self) -> list[bool]:
        """Tell which statements only serve a mixin that NPU lacks.

        Such a statement uses a member of it, or stands below one that does and has no other name that NPU code does not
        know. A loop over such statements is one, too.
        """
        found: list[bool] = []
        for node in self._nodes:
            is_use = not self._mixed_in.isdisjoint(_SELF.findall(node.canon))
            is_below = node.parent > 0 and found[node.parent - 1]
            is_served = is_use or (is_below and self._mixed_in.issuperset(self._find_unknown_names([node])))
            found.append(is_served and not self._has_inherited_call(node))
        for at, node in reversed([*enumerate(self._nodes)]):
            below = [one for one, n in zip(found, self._nodes, strict=True) if n.parent == at + 1 and _is_plain(n)]
            is_loop = node.keyword == "for" and not any(map(self._is_unknown_call, names_called(node.canon)))
            found[at] = found[at] or (is_loop and bool(below) and all(below))
        return found

    def _has_inherited_call(self, node: Node) -> bool:
        """Whether a statement calls a hook that NPU inherits, that no NPU code calls, and that does something."""
        called = (name for name in names_called(node.canon) if name != self._find_idle_call(node))
        return any(self._is_unknown_call(name) and self._is_inherited(name) for name in called)

    def _find_idle_call(self, node: Node) -> str:
        """Return what a statement calls, if it is a call that does nothing on NPU, or of a helper that needs the GPU;
        else an empty text."""
        called, pair = node.canon.partition("(")[0], self._pair
        if called.removeprefix("self.") in self._bound_names:
            return called
        return called if self._is_unknown_call(called) and is_idle(pair, called) else ""

    def _is_idle(self, node: Node) -> bool:
        """Whether a statement does nothing on NPU, and calls no hook that does."""
        is_idle = node.start in self._idle_lines or bool(self._find_idle_call(node))
        return is_idle and not self._has_inherited_call(node)

    def _is_unknown_call(self, written: str) -> bool:
        return self._is_unknown(written.rpartition(".")[2])

    def _parse_nodes(self, function: Function) -> Sequence[Node]:
        return list_nodes(translate_to_npu(self._pair.gpu.reading.text_of(function), self._profile))

    def _is_written_out(self, node: Node) -> bool:
        """Whether NPU code has a statement with what a called function returns in place of the call."""
        called = ((written, self._find_function(written)) for written in names_called(node.canon))
        texts = (write_out(node.canon, written, f) for written, f in called if f is not None and not node.compound)
        return any(canon in self._known_canons for text in texts for canon in fingerprint(text))

    def _find_function(self, written: str) -> Function | None:
        """Return a helper of the GPU side, or an imported function of omni's, that a call means."""
        imported = self._pair.gpu.reading.imports.get(written, ())
        modules = ((self._pair.library.module(entry.module), entry.name) for entry in imported)
        found = (reading.functions.get(name) for reading, name in modules if reading is not None)
        return next(found, None) or self._find_helper(written.removeprefix("self."))

    def find_lacks(self, seen: set[str]) -> Iterator[_Lack]:
        """Yield what the GPU method does and NPU code does not; adds the names to ``seen``."""
        if any(self._compare({*seen})):  # most methods lack nothing, and what comes to nothing takes long to tell
            lines = {node.start for node, absent in zip(self._nodes, self._absent, strict=True) if absent}
            self._idle_lines = find_idle_lines(self._pair, self._function, lines)
            yield from self._compare(seen)

    def _compare(self, seen: set[str]) -> Iterator[_Lack]:
        reported_lines: set[int] = set()
        for run in self._find_runs():
            first = shorten_code(run[0].canon, most=_SYMBOL)
            is_reported = len(run) >= RUN and not self._is_left_alone(run)
            if is_reported:
                reported_lines.update(node.start for node in run)
                name = self._find_unknown_names(run)[0]
                what = f"has {len(run)} omni statements in a row with `{name}`, beginning with `{first}`"
                yield _Lack(first, name, run[0].start, run[-1].start, what)
            for name, call, line in self._find_calls(run, only_hooks=is_reported):
                if name not in seen:
                    seen.add(name)
                    yield _Lack(name, name, line, line, f"calls `{call}(…)`")
        for name, node, statement in self._find_conditions():
            if name not in seen and node.start not in reported_lines:
                seen.add(name)
                what = f"makes `{shorten_code(statement.canon, most=_SYMBOL)}` depend on `{name}`"
                yield _Lack(name, name, node.start, node.start, what)

    def _find_conditions(self) -> Iterator[tuple[str, Node, Node]]:
        """Find conditions with a name unknown to NPU code, whose whole body NPU code has.

        Yields the name, the condition, and one omni statement of the body.
        """
        for at, node in enumerate(self._nodes):
            is_missing = self._absent[at] and not self._of_mixin[at] and not self._is_idle(node)
            if not (is_missing and node.keyword == "if") or self._is_left_alone([node]):
                continue
            names = [name for name in self._find_unknown_names([node]) if self._is_new_to_npu(name)]
            below = [(n, absent) for n, absent in zip(self._nodes, self._absent, strict=True) if n.parent == at + 1]
            present = [n for n, _ in below if n.canon in self._npu_only and not _is_commonplace(n)]
            if names and present and not any(absent for _, absent in below):
                yield names[0], node, present[0]

    def _is_new_to_npu(self, name: str) -> bool:
        """Whether a name is no helper of the GPU side, or a helper that itself uses names unknown to NPU code."""
        helper = self._find_helper(name)
        if helper is None:
            return True
        own = assigned_names(helper)
        return any(word not in own for word in self._find_unknown_names(self._parse_nodes(helper)[1:]))

    def _find_calls(self, run: Sequence[Node], *, only_hooks: bool) -> Iterator[tuple[str, str, int]]:
        """Find calls of names unknown to NPU code; yields the name, the text before the bracket, and the line."""
        is_bound = any(self._is_device_bound(node) for node in run)
        for node in run:
            for written in names_called(node.canon) if not self._is_device_bound(node) else ():
                if (self._is_unknown_call(written) and written != self._find_idle_call(node)) and (
                    self._is_inherited(written)
                    or (not only_hooks and not is_bound and self._is_effect_missing(written, node))
                ):
                    yield written.rpartition(".")[2], written.lstrip("."), node.start

    def _is_inherited(self, written: str) -> bool:
        """Whether this is `self.hook` of an omni method that the NPU class has, too."""
        owner, _, name = written.rpartition(".")
        return owner == "self" and self._pair.npu_mro.find(name) is not None

    def _is_effect_missing(self, written: str, node: Node) -> bool:
        """Whether ``node`` makes a call for its effect, and NPU code does not have that effect in its own words."""
        name = written.rpartition(".")[2]
        is_parents = any(name in c.methods for c in self._pair.lacking)
        if is_parents or not has_effect(node.canon) or self._is_defined_nowhere(written):
            return False
        helper = self._find_helper(name)
        if helper is None:
            return True
        nodes = [n for n in self._parse_nodes(helper)[1:] if _is_plain(n) and not n.is_clause]
        in_place = sum(n.canon in self._known_canons for n in nodes)
        return in_place < len(nodes) * IN_PLACE and not any(_ASKS_MODEL.search(n.canon) for n in nodes)

    def _is_defined_nowhere(self, written: str) -> bool:
        """Whether the trees at hand show that a call fails on GPU, too."""
        from runner_sync.verify.trees.lacking import is_lacking  # most jobs have no trees

        gpu, world = self._pair.gpu, self._pair.library.job.world
        return world is not None and is_lacking(world, gpu.reading.path, gpu.name, written)

    def _find_helper(self, name: str) -> Function | None:
        gpu = self._pair.gpu
        return gpu.methods[name][-1] if name in gpu.methods else gpu.reading.functions.get(name)

    def _find_runs(self) -> Iterator[list[Node]]:
        """Yield the runs of absent statements that no present one interrupts; skips idle calls and uses of mixins."""
        run: list[Node] = []
        rows = zip(self._nodes, self._absent, self._of_mixin, strict=True)
        for node, absent, of_mixin in [*rows, (None, False, False)]:
            is_passed = node is not None and (node.is_comment or (node.is_clause and run))
            is_skipped = node is not None and self._is_idle(node)
            if of_mixin or is_passed or is_skipped:
                continue
            if node is not None and absent:
                run.append(node)
                continue
            if run:
                yield run
            run = []

    def _is_left_alone(self, run: Sequence[Node]) -> bool:
        # RS207 reports code that asks the model for a hook.
        if any(self._is_device_bound(node) or _ASKS_MODEL.search(node.canon) for node in run):
            return True
        return not self._find_unknown_names(run)

    def _find_unknown_names(self, run: Sequence[Node]) -> list[str]:
        texts = [_STRING.sub(_drop_prose, node.canon) for node in run]
        return [word for text in texts for word in re.findall(r"\w+", text) if self._is_unknown(word)]

    def _is_device_bound(self, node: Node) -> bool:
        return is_device_bound(node.text, self._profile) or not self._bound_names.isdisjoint(node.words)

    def _is_unknown(self, name: str) -> bool:
        """Whether neither NPU code nor an upstream mentions ``name``; names of local variables do not count."""
        is_heard_of = name in self._known_words or name in self._pair.npu_mentions or name in self._locals
        return name.isidentifier() and name not in _PYTHON_NAMES and not is_heard_of


def _drop_prose(string: re.Match[str]) -> str:
    """Return a string unchanged, or ``""`` for one of several words: the words of a message name nothing."""
    return "" if " " in string[0] else string[0]


def _is_plain(node: Node) -> bool:
    return not node.is_comment and node.kind != "docstring"


def _is_commonplace(node: Node) -> bool:
    """Whether a statement calls nothing, and so may stand below any condition: ``return None``, ``ids = []``."""
    return "(" not in node.canon


def _collect_npu_canons(pair: Pair) -> frozenset[str]:
    """Return the canonical statements of the NPU file and of every omni method that runs on the NPU class."""
    texts = [c.reading.text_of(f) for c, f in pair.npu_mro.live() if c.reading is not pair.npu.reading]
    return read_canons(pair.npu.reading).union(canon for text in texts for canon in fingerprint(text))


def _make_hit(subject: Subject, pair: Pair, function: Function, lack: _Lack) -> Hit:
    gpu, npu = pair.gpu, pair.npu
    # The text of a method begins at its decorators.
    line, last = (first_line(function) + number - 1 for number in (lack.line, lack.last))
    place = f"{gpu.reading.path}:{line}"
    port = describe_port(subject, f"{npu.name}.{function.name}", f"{gpu.name}.{function.name}", lack.name, place)
    ignore = f"# runner-sync: ignore[{CODE}:{symbol_in_comment(lack.symbol)}] reason"
    return npu.reading.hit(
        (CODE, SEVERITY),
        npu.methods[function.name][-1],
        symbol=lack.symbol,
        message=f"`{gpu.name}.{function.name}` ({place}) {lack.what}; nothing that runs on `{npu.name}` does.",
        fix=f"{port} Where NPU does without it on purpose, `{ignore}`.",
        also=(gpu.reading.span_around(function, line, last),),
    )
