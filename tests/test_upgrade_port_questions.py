"""What the questions about a port show: whole statements, each once, as the twin has them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from textwrap import indent

import pytest
from sync_samples import (
    AR,
    BASE,
    GPU_AR,
    GPU_BASE,
    GPU_TWIN,
    NPU_TWIN,
    OMNI_TREE,
    Trees,
    check_upgrade,
    commit,
    dedent,
    lay_out,
    port_of,
    stay_at_home,
)

from runner_sync.merge import Decision, Reason
from runner_sync.profile import NPU
from runner_sync.upgrade.draft import Draft, Stage
from runner_sync.upgrade.from_gpu.asking import ported_passages
from runner_sync.upgrade.from_gpu.merging.left_out import drop_already_present, join_left_out
from runner_sync.upgrade.job import ModuleJob

BROUGHT, CHANGED = ported_passages.TAKEN_OVER, ported_passages.CHANGED

TWO_ENDS = """\
        first = rows[0]
        if self.is_done(first):
            self.note(first)
            self.close(first)
            self.count += 1
            return first
        kept = self.keep(first)
        self.note(kept)
        self.close(kept)
        return {end}
"""


@pytest.mark.parametrize(
    ("end", "asked"), [pytest.param("first", 1, id="the same twice"), pytest.param("kept", 2, id="two of a kind")]
)
def test_the_same_change_twice_is_one_question_with_a_comment_at_each_place(
    end: str, asked: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = NPU_TWIN.partition("        first = ")[2]
    npu, was = (text.replace("        first = " + body, TWO_ENDS.format(end=end)) for text in (NPU_TWIN, GPU_TWIN))
    now = re.sub(r"return (first|kept)", r"return self.attach(\1)", was)
    text, questions = port_of(tmp_path, monkeypatch, npu, was, now)
    places = [number for number, line in enumerate(text.split("\n"), 1) if "return self.attach(" in line]
    ported = [line for line in questions.split("\n") if line.startswith("ported")]
    assert text.count("# runner-sync: review") == len(places) == 2
    assert len(ported) == asked
    assert ported[0].endswith(f"; the same again at line {places[1]}") == (asked == 1)


OUTPUT = """
    def _output(self, rows, total):
        self.note(rows)
        return self.pack(
            rows,
            total=total,
            hidden=self.last_hidden,
        )
"""


def test_what_a_port_changes_in_a_statement_is_shown_as_the_whole_statement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    commit(trees.ascend_new)
    grown = OUTPUT.replace("            hidden", "            stage=self.stage,\n            hidden")
    lay_out(trees.omni, {AR: dedent(OMNI_TREE[AR]) + OUTPUT})
    for method in (OUTPUT, grown):
        lay_out(trees.omni, {GPU_AR: dedent(OMNI_TREE[GPU_AR]) + method})
        commit(trees.omni)
    bases = {"ascend_base": "HEAD", "omni_base": "HEAD~1", "vllm_base": "0.20.0"}
    result = check_upgrade(trees.upgrade(trees.ascend_new, **bases, verify=False))
    (item,) = (item for item in result.report.reviews if item.unit == "NPUARModelRunner._output")
    text = next(change.after or "" for change in result.changes if change.path == AR).split("\n")
    assert item.omni.split() == OUTPUT.partition("rows)\n")[2].split()
    assert item.chosen.split() == " ".join(text[item.line - 1 : item.end_line]).split()
    assert item.chosen.startswith("return self.pack(")
    assert "stage=self.stage" in item.chosen
    assert item.chosen.endswith(")")


NOTED = "        self.note(\n            rows,\n            stage=self.stage,\n        )\n"
SENT = "        self.send(\n            total,\n            stage=self.stage,\n        )\n"


@pytest.mark.parametrize(
    ("was", "now", "omni", "chosen"),
    [(NOTED, NOTED + SENT, "", SENT), (NOTED + SENT, NOTED, SENT, "")],
    ids=["brought", "taken away"],
)
def test_a_call_that_a_port_puts_behind_another_one_is_shown_alone(
    was: str, now: str, omni: str, chosen: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    commit(trees.ascend_new)
    first, last = OUTPUT.split("        self.note(rows)\n")
    lay_out(trees.omni, {AR: dedent(OMNI_TREE[AR]) + first + was + last})
    for body in (was, now):
        lay_out(trees.omni, {GPU_AR: dedent(OMNI_TREE[GPU_AR]) + first + body + last})
        commit(trees.omni)
    bases = {"ascend_base": "HEAD", "omni_base": "HEAD~1", "vllm_base": "0.20.0"}
    result = check_upgrade(trees.upgrade(trees.ascend_new, **bases, verify=False))
    (item,) = (item for item in result.report.reviews if item.unit == "NPUARModelRunner._output")
    assert (item.omni.split(), item.chosen.split()) == (omni.split(), chosen.split())


@pytest.mark.parametrize(
    ("new", "reason"),
    [
        pytest.param("", "removed, because the GPU runner no longer has it", id="gone"),
        pytest.param(
            "        self.note(first, rows)\n",
            "ported from the GPU runner; the changed lines have not run on this platform yet",
            id="changed",
        ),
    ],
)
def test_what_the_gpu_runner_took_out_is_not_said_to_be_new(
    new: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    npu, was = (text.replace("kept = ", "self.note(first)\n        kept = ") for text in (NPU_TWIN, GPU_TWIN))
    text, questions = port_of(tmp_path, monkeypatch, npu, was, was.replace("        self.note(first)\n", new))
    assert ("self.note(first)" in text) is False
    assert questions.split("\n") == [reason]


@pytest.mark.parametrize(
    ("was", "now", "said"),
    [
        pytest.param("", "self.note(rows)\n", BROUGHT, id="new"),
        pytest.param("# once\n", "self.note(rows)\n", BROUGHT, id="in the place of a comment"),
        pytest.param("names = {'a', 'b'}\n", "names = {'a', 'b', 'c'}\n", CHANGED, id="one name more"),
        pytest.param(
            "if hasattr(model, 'f'):\n    model.f(rows)\n",
            "f = getattr(model, 'f', None)\nif callable(f):\n    f(rows)\n",
            CHANGED,
            id="in another form",
        ),
    ],
)
def test_a_change_of_lines_that_run_is_not_said_never_to_have_run(was: str, now: str, said: str) -> None:
    """Two strings more in `_OMNI_CONNECTOR_INIT_ARCHS` of vllm-omni 0.26.0, which nine others are in."""
    whole = (f"self.start(rows)\n{passage}self.stop(rows)\n" for passage in (was, now))
    before, after = (f"    def run(self, rows):\n{indent(text, ' ' * 8)}" for text in whole)
    job = ModuleJob(NPU, NPU.modules[0], "runner.py", "")
    asked = ported_passages.list_questions(Draft("Runner.run", (Stage(before),)), job, after=after, twin=after)
    assert [item.reason for item in asked] == [said]


@pytest.mark.parametrize(
    ("was", "now", "asked"),
    [
        pytest.param("", '"""Run the rows."""\n', 0, id="a docstring more"),
        pytest.param('"""Run."""\n', '"""Run the rows."""\n', 0, id="another docstring"),
        pytest.param("", "# Run the rows.\n", 0, id="a comment more"),
        pytest.param("self.start()\n", "self.start()  # the rows\n", 0, id="a comment behind a statement"),
        pytest.param("", '"""Run the rows."""\nself.start()\n', 1, id="a statement below the docstring"),
        pytest.param("name = 'run'\n", "name = 'run the rows'\n", 1, id="another string"),
        pytest.param("", "name = 'run the rows'\n", 1, id="a string that is kept"),
    ],
)
def test_a_docstring_is_no_code_that_has_to_run(was: str, now: str, asked: int) -> None:
    """`_sample` of 0.28.0 on 0.30.0rc1 got a docstring that "has not run on this platform yet"."""
    before, after = (f"def run(self, rows):\n{indent(f'{body}self.stop(rows)', ' ' * 4)}\n" for body in (was, now))
    job, draft = ModuleJob(NPU, NPU.modules[0], "runner.py", ""), Draft("Runner.run", (Stage(before),))
    assert len(ported_passages.list_questions(draft, job, after=after, twin=after)) == asked


PICKED = "out = pick(rows.to(state.device))\n"
IN_BRANCHES = "if is_first():\n    {0}    send(state.tensors)\nelse:\n    {0}    keep(out)\n"
IN_FRONT = f"{PICKED}if is_first():\n    send(state.tensors)\nelse:\n    keep(out)\n"


@pytest.mark.parametrize(
    ("after", "twin", "branches"),
    [
        pytest.param(
            IN_BRANCHES.format(PICKED), IN_FRONT, ["'if is_first()', 'else' of 'if is_first()'"], id="once in front"
        ),
        pytest.param(
            IN_BRANCHES.format(PICKED),
            IN_BRANCHES.format(PICKED).replace("else:\n    out", "else:\n    same"),
            ["'else' of 'if is_first()'"],
            id="in one of the branches",
        ),
        pytest.param(IN_BRANCHES.format(PICKED), IN_BRANCHES.format(PICKED), [], id="as in the twin"),
        pytest.param(f"if is_on():\n    {PICKED}", PICKED, [], id="once, under another condition"),
        pytest.param(f"{PICKED}{PICKED}", PICKED, [], id="in no branch"),
    ],
)
def test_a_branch_that_the_twin_does_not_have_around_a_statement_is_named(
    after: str, twin: str, branches: list[str]
) -> None:
    """0.23.0rc1 on 0.24.0rc1: below `if not get_pp_group().is_last_rank`, ``hidden_states`` has no ``.device``."""
    text, model, was = (
        f"def run(self, rows, state):\n    self.start()\n{indent(body, ' ' * 4)}"
        for body in (after, twin, after.replace("rows.to(state.device)", "rows"))
    )
    job, draft = ModuleJob(NPU, NPU.modules[0], "runner.py", ""), Draft("Runner.run", (Stage(was),))
    asked = ported_passages.list_questions(draft, job, after=text, twin=model)
    said = re.findall(
        "has this statement outside of (.*): does its new form work there", "\n".join(i.reason for i in asked)
    )
    assert said == branches


GATED = "if self.is_on:\n    self.note(rows)\n"
MOVED_HERE = ported_passages.MOVED_HERE


@pytest.mark.parametrize(
    ("before", "after", "theirs", "said"),
    [
        pytest.param("{0}{1}", "{0}{1}{0}", "", ported_passages.HAD, id="stands already"),
        pytest.param("{0}{1}", "{1}{0}", "", MOVED_HERE, id="stood elsewhere"),
        pytest.param("{1}", "{1}{0}", "{0}", ported_passages.SHARED, id="vllm-ascend's, too"),
        pytest.param(
            "{1}", "{1}{0}", "self.note(rows)\n", ported_passages.PARTLY_KNOWN, id="a part of it vllm-ascend's"
        ),
        pytest.param("{1}", "{1}{0}", "return\n", BROUGHT, id="not of vllm-ascend"),
        pytest.param("return\n{1}", "return\n{1}return\n{0}", "", BROUGHT, id="a return says nothing"),
    ],
)
def test_what_stands_in_the_method_is_not_said_never_to_have_run(
    before: str, after: str, theirs: str, said: str
) -> None:
    many = "".join(f"self.step_{k}(rows)\n" for k in range(6))
    head = "    def run(self, rows):\n"
    passages = (before, after, theirs or "return\n")
    old, new, upstream = (f"{head}{indent(text.format(GATED, many), ' ' * 8)}" for text in passages)
    job = ModuleJob(NPU, NPU.modules[0], "runner.py", "")
    draft = Draft("Runner.run", (Stage(old),), upstream=upstream)
    asked = ported_passages.list_questions(draft, job, after=new, twin=new)
    assert [item.reason for item in asked if item.chosen] == [said]


STEPS = """\
        first = rows[0]
        {above}kept = self.keep(first)
        total = len(kept)
        last = rows[-1]
        more = self.keep(last)
        {below}return self._fetch(more, total)
"""
NOTES = "self.note(first)\n        "
CLOSES = "self.close(first)\n        "


@pytest.mark.parametrize(
    ("was", "now", "reason"),
    [
        pytest.param(("", NOTES), (NOTES + CLOSES, ""), "moved from here", id="whole"),
        pytest.param(
            ("", NOTES + CLOSES), (NOTES, ""), "removed here, because the GPU runner no longer has a part", id="half"
        ),
        pytest.param(("", CLOSES), (NOTES, ""), "removed, because the GPU runner no longer has it", id="not"),
        pytest.param((NOTES, NOTES), (NOTES, ""), "removed, because the GPU runner no longer has it", id="one of two"),
    ],
)
def test_what_stands_elsewhere_now_is_not_said_to_be_taken_out(
    was: tuple[str, str], now: tuple[str, str], reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, after = (STEPS.format(above=above, below=below) for above, below in (was, now))
    body = NPU_TWIN.partition("        first = ")[2]
    npu, old = (text.replace("        first = " + body, before) for text in (NPU_TWIN, GPU_TWIN))
    _, questions = port_of(tmp_path, monkeypatch, npu, old, old.replace(before, after))
    assert questions.split("\n")[-1].startswith(reason)


BLOCK = "if use_async:\n    snapshot = copy(rows)\n    rows = snapshot.rows"
BLOCK_LEFT_OUT = Decision(4, 4, Reason("suite around other statements"), 0.5, "", "", BLOCK, "")


def left_out(text: str, name: str) -> Decision:
    return Decision(4, 4, Reason("reads what nothing sets", (name,)), 0.5, "", "", text, "")


@pytest.mark.parametrize(
    ("others", "shown"),
    [
        pytest.param(
            [left_out("snapshot = copy(rows)", "copy"), left_out("rows = snapshot.rows", "snapshot")], [], id="all"
        ),
        pytest.param(
            [left_out("snapshot = copy(rows)", "copy"), left_out("close(snapshot)", "snapshot")],
            ["close(snapshot)"],
            id="one of them",
        ),
        pytest.param([left_out("rows = snapshot", "snapshot")], ["rows = snapshot"], id="none: it only begins so"),
    ],
)
def test_what_stands_in_a_block_that_was_left_out_is_no_second_question(
    others: list[Decision], shown: list[str]
) -> None:
    """0.32.0rc1 on vllm-ascend 0.30.0rc2 had a block of the GPU runner's ``sample_tokens`` in two questions."""
    first, *rest = join_left_out([BLOCK_LEFT_OUT, *others])
    assert first == BLOCK_LEFT_OUT
    assert [item.upstream for item in rest] == shown


def test_halves_of_features_are_a_question_beside_what_nothing_sets() -> None:
    half = [replace(left_out(f"use({name})", name), reason=Reason("half of a feature", (name,))) for name in "ab"]
    unset = [left_out(f"read({name})", name) for name in "cd"]
    found = join_left_out([half[0], unset[0], half[1], unset[1]])
    assert [(item.reason.kind, item.reason.names, item.reason.passages) for item in found] == [
        ("half of a feature", ("a", "b"), 2),
        ("reads what nothing sets", ("c", "d"), 2),
    ]


def test_of_changes_that_are_left_out_together_what_the_first_one_stood_for_is_chosen() -> None:
    changed = [
        replace(left_out(f"send({name})", name), base="send(1)", omni=f"send({at})", chosen=f"send({at})")
        for at, name in enumerate("ab")
    ]
    (whole,) = join_left_out(changed)
    assert (whole.base, whole.omni, whole.upstream, whole.chosen) == ("", "send(0)", "send(a)\nsend(b)", "send(0)")


LIMITED = """
    def _plan(self, rows, total{limit}):
        self.note(rows)
        {reader}
        self.attach(rows, total)
        {more}self.close(rows)
        return self.count(rows)
"""


@pytest.mark.parametrize(
    ("own", "comes"),
    [
        pytest.param("self.stage(rows[0], self.count, self.talker)", True, id="all that reads it has a place"),
        pytest.param("self.on_npu = True", False, id="a part has none"),
    ],
)
def test_a_parameter_that_stays_out_is_not_said_to_be_set_by_nothing(
    own: str, comes: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``randomize_inputs`` of `_dummy_run` in vllm-omni 0.32.0."""
    was = LIMITED.format(limit="", reader="self.stage(rows[0], self.count, self.talker)", more="")
    now = LIMITED.format(
        limit=", limit=None",
        reader="self.stage(rows[0], self.count, self.talker, until=limit)",
        more="if limit:\n            self.send(limit)\n        ",
    )
    mine = LIMITED.format(limit="", reader=own, more="")
    text, questions = port_of(tmp_path, monkeypatch, NPU_TWIN + mine, GPU_TWIN + was, GPU_TWIN + now)
    assert ("limit=None" in text) == ("self.send(limit)" in text) == comes
    assert ("the GPU runner newly sets limit, and not all statements that use this fit here" in questions) != comes
    assert "which nothing sets here" not in questions


def test_noop_what_stands_in_a_block_that_came_in_is_a_question() -> None:
    block = replace(BLOCK_LEFT_OUT, chosen=BLOCK)
    inside = left_out("rows = snapshot.rows", "snapshot")
    assert join_left_out([block, inside]) == [block, inside]


CLAUSES = """\
    def _collect(self, rows):
        kept = self.keep(rows)
        if kept:
            self.note(1)
        elif rows:
            self.note(2)
        else:
            self.note(3)
        try:
            self.close(kept)
        except KeyError:
            self.note(4)
        except ValueError:
            self.note(5)
        finally:
            self.open(kept)
        return self._fetch(rows, kept)
"""


@pytest.mark.parametrize(
    "gone",
    [
        pytest.param("        else:\n            self.note(3)\n", id="else"),
        pytest.param("        elif rows:\n            self.note(2)\n", id="elif"),
        pytest.param("        except ValueError:\n            self.note(5)\n", id="except"),
        pytest.param("        finally:\n            self.open(kept)\n", id="finally"),
    ],
)
def test_a_clause_that_the_twin_drops_is_taken_out_and_asked_about(
    gone: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows that go are no Python by themselves."""
    npu = CLAUSES.replace("        return", "        self.on_npu()\n        return")
    text, questions = port_of(
        tmp_path,
        monkeypatch,
        f"{NPU_TWIN}\n{npu}",
        f"{GPU_TWIN}\n{CLAUSES}",
        f"{GPU_TWIN}\n{CLAUSES.replace(gone, '')}",
    )
    assert npu.replace(gone, "") in re.sub(r" *# runner-sync: review[^\n]*\n", "", text)
    assert ported_passages.TAKEN_OUT in questions


HAS_IT = "plan = self.plan\nif plan is not None and self.is_ready:\n    plan.close()\n"


@pytest.mark.parametrize(
    ("passage", "omni", "asked"),
    [
        pytest.param("if plan is not None:\n    plan.close()", HAS_IT, False, id="omni closes it further down"),
        pytest.param("if plan is not None:\n    plan.send()", HAS_IT, True, id="another step"),
        pytest.param("plan.close()\nplan.send()", HAS_IT, True, id="one step more"),
        pytest.param("if plan is not None:\n    self.reset()", HAS_IT + "self.reset()\n", True, id="not with the name"),
        pytest.param("if plan is not None:\n    return", HAS_IT + "return\n", True, id="nothing that tells"),
        pytest.param("if plan is not None:", HAS_IT, True, id="a condition around what omni has"),
    ],
)
def test_what_stands_below_its_setter_is_not_asked_about_where_it_was_left_out(
    passage: str, omni: str, asked: bool
) -> None:
    """``capturer.finalize_pending_copy()`` of vllm-omni 0.24.0, which vllm-ascend 0.26.0rc1 had brought before."""
    item = left_out(passage, "plan")
    assert drop_already_present([item], omni) == [item] * asked


def test_noop_a_changed_statement_is_asked_about_wherever_else_it_stands() -> None:
    changed = replace(left_out("plan.close()", "plan"), base="self.close()", chosen="self.close()")
    assert drop_already_present([changed], HAS_IT) == [changed]


OWN = dedent("""
    def run(self, rows):
        self.start()
        if self.is_cached:
            rows = self.cached(rows)
        else:
            rows = self.built(rows)
        return rows
""")
PORTED = OWN.replace("(rows)\n", "(rows, self.limit)\n")
PASSAGE = """
    rows = self.cached(rows, self.limit)
else:
    rows = self.built(rows, self.limit)
"""


@pytest.mark.parametrize(
    ("twin", "said"),
    [
        pytest.param(
            PORTED.replace("else:", "if rows is None:"),
            PASSAGE.replace("else", "if rows is None"),
            id="under another condition",
        ),
        pytest.param(
            PORTED.replace("built(rows, self.limit", "built(rows, self.limit, self.rank"),
            PASSAGE.replace("built(rows, self.limit", "built(rows, self.limit, self.rank"),
            id="a merge of both",
        ),
        pytest.param(
            PORTED.replace("    rows = self.built", "    if rows:\n            rows = self.built"),
            PASSAGE.replace("    rows = self.built", "    if rows:\n        rows = self.built"),
            id="under one more condition",
        ),
        pytest.param(
            PORTED.replace("    rows = self.built", "    async for _ in rows:\n            rows = self.built"),
            PASSAGE.replace("    rows = self.built", "    async for _ in rows:\n        rows = self.built"),
            id="in a loop",
        ),
        pytest.param(
            PORTED.replace(
                "    rows = self.built",
                "    try:\n            self.check()\n        except KeyError:\n            rows = self.built",
            ),
            PASSAGE.replace("    rows = self.built", "    except KeyError:\n        rows = self.built"),
            id="for an exception",
        ),
        pytest.param(PORTED, PASSAGE, id="as it was ported"),
    ],
)
def test_a_ported_passage_is_shown_as_the_twin_has_it(twin: str, said: str) -> None:
    """Of 0.22.0 on 0.25.1rc1 an ``else`` was quoted as the GPU twin's, where it has a condition of its own."""
    draft, job = Draft("R.run", (Stage(OWN),), chosen=True), ModuleJob(NPU, NPU.modules[1], "runner.py", "")
    (item,) = ported_passages.list_questions(draft, job, after=PORTED, twin=twin)
    assert (item.upstream, item.chosen) == (said.strip("\n"), PASSAGE.strip("\n"))


READS_KEPT = "        if self.keeps:\n            self.note(first)\n"
SETS_KEPT = """
    def __init__(self, config):
        super().__init__(config)
        self.keeps = triton.keeps(config)
"""


@pytest.mark.parametrize(
    ("here", "read", "asks"),
    [
        pytest.param("", READS_KEPT, True, id="the method that sets it does not come"),
        pytest.param("", READS_KEPT.replace("self.keeps", 'getattr(self, "keeps", False)'), False, id="asked for"),
        pytest.param("\n    def reset(self):\n        self.keeps = False\n", READS_KEPT, False, id="set here"),
        pytest.param("\n    keeps = False\n", READS_KEPT, False, id="a class attribute"),
    ],
)
def test_what_only_the_gpu_class_sets_is_a_question_where_it_is_read(
    here: str, read: str, asks: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another class of the NPU module sets an attribute of that name; it does not run in this one."""
    other = "\n\nclass Beside:\n    def __init__(self):\n        self.keeps = True\n"
    now = GPU_TWIN.replace("        return self._fetch", f"{read}        return self._fetch") + SETS_KEPT
    text, questions = port_of(tmp_path, monkeypatch, NPU_TWIN + here + other, GPU_TWIN, now)
    assert "self.note(first)" in text
    assert ("self.keeps is read here, but only the GPU class sets it, in __init__" in questions) == asks


PREPARE = '\n    def prepare(self, config):\n        {0}.prepare({1}config)\n        self.keeps = config["keeps"]\n'


@pytest.mark.parametrize(
    ("here", "asks"),
    [
        pytest.param("NPUModelRunner.prepare(self, config)", True, id="hidden by the NPU base"),
        pytest.param("super().prepare(config)", False, id="called by the NPU base"),
        pytest.param("OmniGPUModelRunner.prepare(self, config)", False, id="called by its class"),
        pytest.param("self.keeps = NPUModelRunner.prepare(self, config)", False, id="the NPU base sets it itself"),
    ],
)
def test_what_only_a_hidden_method_of_a_gpu_base_sets_is_a_question_where_it_is_read(
    here: str, asks: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`load_model` of `OmniNPUModelRunner` calls vllm-ascend's and leaves out that of `OmniGPUModelRunner`."""
    gpu, npu = (dedent(OMNI_TREE[path]) for path in (GPU_BASE, BASE))
    beside = {
        GPU_BASE: gpu + PREPARE.format("super()", ""),
        BASE: f"{npu}\n    def prepare(self, config):\n        {here}\n        self.own = config\n",
    }
    now = GPU_TWIN.replace("        return self._fetch", f"{READS_KEPT}        return self._fetch")
    text, questions = port_of(tmp_path, monkeypatch, NPU_TWIN, GPU_TWIN, now, beside=beside)
    assert "self.note(first)" in text
    assert ("self.keeps is read here, but only the GPU class sets it, in prepare" in questions) == asks
