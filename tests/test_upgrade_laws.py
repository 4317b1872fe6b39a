"""Whatever both sides do to a method, the file that an upgrade writes is Python.

Methods are made at random as for the nesting laws.
"""

from __future__ import annotations

import difflib
import random
import textwrap

import pytest
from test_nesting_laws import Maker, method

from runner_sync import merge
from runner_sync.edits import margin
from runner_sync.model import Triple
from runner_sync.profile import NPU
from runner_sync.statements import compiles
from runner_sync.upgrade.draft import Draft, Stage
from runner_sync.upgrade.from_gpu.asking.ported_passages import list_questions
from runner_sync.upgrade.job import ModuleJob, Upstream
from runner_sync.upgrade.module import ModuleResult, upgrade_module
from runner_sync.upgrade.placing import place
from runner_sync.upgrade.revision import ModuleRevision

MODULE = NPU.modules[0]
PATH = MODULE.anchor.path


def runner(text: str, name: str = "OmniNPUModelRunner") -> str:
    return f"class {name}(Base):\n" + textwrap.indent(text, "    ")


def upgraded(triple: Triple) -> ModuleResult:
    """A copy in omni's runner, brought from one release of vllm-ascend to the next."""
    sides = {"0.1": triple.base, "0.2": triple.upstream}
    old, new = (ModuleRevision(ref, runner(text, "NPUModelRunner"), PATH) for ref, text in sides.items())
    return upgrade_module(ModuleJob(NPU, MODULE, "runner.py", runner(triple.omni), Upstream(new=new, bases=(old, new))))


def made_at_random(seed: int) -> Triple:
    body = Maker(seed, "b").body()
    return Triple(*map(method, (body, *(Maker(seed, side).edited(body) for side in "ou"))))


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_the_file_is_python_and_has_what_was_merged(first: int) -> None:
    grown = 0
    for seed in range(first, first + 20):
        triple = made_at_random(seed)
        result = upgraded(triple)
        assert compiles(result.after), result.after
        grown += result.after != runner(triple.omni)
    assert grown > 5


def test_a_merge_that_is_no_python_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    base = "def run(self, a):\n    take(a)\n    pack(a)\n    send(a)\n"
    triple = Triple(base, base.replace("take(a)", "take(a, 1)"), base.replace("send(a)", "send(a, 2)"))
    monkeypatch.setattr(merge, "merge", lambda *_, **__: merge.Merged("    def run(:\n", (), parses=False))
    result = upgraded(triple)
    assert result.after == runner(triple.omni)
    assert "did not parse" in "".join(item.reason for item in result.reviews)


def new_lines(before: str, after: str) -> set[int]:
    rows = difflib.SequenceMatcher(None, before.split("\n"), after.split("\n"), autojunk=False).get_opcodes()
    return {row + 1 for tag, _, _, first, end in rows if tag != "equal" for row in range(first, end)}


def completed_at_random(text: str, seed: int) -> str:
    """The text with a statement behind some of those on one line, as a mend puts one there."""
    draw = random.Random(seed)
    lines = []
    for line in text.split("\n"):
        lines.append(line)
        if line.endswith(")") and compiles(line.strip()) and draw.random() < 0.5:
            lines.append(margin(line) + "mended = 1")
    return "\n".join(lines)


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_each_ported_line_is_in_a_question_whatever_later_steps_write(first: int) -> None:
    """Within what a port changed, or at its end, nothing is left without a question because lines were added above."""
    job = ModuleJob(NPU, MODULE, "runner.py", "")
    for seed in range(first, first + 20):
        triple = made_at_random(seed)
        before, after = triple.base, triple.upstream
        asked = list_questions(Draft("R.run", (Stage(before),)), job, after=after, twin=after)
        draft = Draft("R.run", (Stage(before),)).with_stage_and_moved_questions(after, "gpu").with_questions(*asked)
        done = completed_at_random(after, seed)
        lines = done.split("\n")
        placed = [place(item, lines, 1) for item in draft.with_completion(done).reviews]
        covered = {row for item in placed for row in range(item.line, item.end_line + 1)}
        ported = new_lines(before, after)
        kept = {now for was, now in zip(*matching(after, done), strict=True) if was in ported}
        left = {row for row in kept - covered if lines[row - 1].strip() and not lines[row - 1].strip().startswith("#")}
        assert not left, (seed, [lines[row - 1] for row in sorted(left)])


def matching(before: str, after: str) -> tuple[list[int], list[int]]:
    """The lines of one text that stand in the other as well, in both."""
    matcher = difflib.SequenceMatcher(None, before.split("\n"), after.split("\n"), autojunk=False)
    pairs = [(a + k + 1, b + k + 1) for a, b, size in matcher.get_matching_blocks() for k in range(size)]
    return [a for a, _ in pairs], [b for _, b in pairs]
