"""Questions about what a whole class reads and sets once its methods are merged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from sync_samples import (
    ASCEND,
    ASCEND_NEW,
    ASCEND_OLD,
    BASE,
    OMNI_TREE,
    Trees,
    check_upgrade,
    commit,
    dedent,
    lay_out,
    stay_at_home,
)

from runner_sync.confidence import DEFECT
from runner_sync.profile import NPU
from runner_sync.upgrade.draft import Draft, Stage
from runner_sync.upgrade.job import Hierarchy, Inherited, ModuleJob, Upstream
from runner_sync.upgrade.module import upgrade_module
from runner_sync.upgrade.questions.defects import (
    ask_about_never_set,
    ask_about_order,
    ask_about_repeated,
    ask_about_returns,
    ask_about_unknown,
)
from runner_sync.upgrade.questions.reviews import Shown, make_review
from runner_sync.upgrade.revision import ModuleRevision

FIRST = "        self._update_states(scheduler_output)\n"
SETS = FIRST + "        self.started = self.clock()\n"
READS = """
    def took(self):
        if hasattr(self, "started"):
            return self.clock() - 1
        return None
"""


def unset(folder: Path, *, new: str = "", omni: str = READS) -> list[str]:
    """What is asked about ``self.started``, which upstream's and omni's ``execute_model`` set before the upgrade."""
    trees = Trees(folder)
    lay_out(trees.omni, {BASE: dedent(OMNI_TREE[BASE]).replace(FIRST, SETS, 1) + omni})
    commit(trees.omni)
    lay_out(trees.ascend_old, {ASCEND: dedent(ASCEND_OLD[ASCEND]).replace(FIRST, SETS, 1)})
    commit(trees.ascend_old)
    lay_out(trees.ascend_old, {ASCEND: dedent(ASCEND_NEW[ASCEND]) + new})
    commit(trees.ascend_old)
    result = check_upgrade(trees.upgrade(trees.ascend_old, gpu=False, verify=False, ascend_base="HEAD~1"))
    return [f"{item.unit}: {item.reason}" for item in result.report.reviews if "self.started" in item.reason]


@pytest.fixture(autouse=True)
def _no_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stay_at_home(monkeypatch, tmp_path)


def test_what_nothing_sets_any_more_is_a_question_where_it_is_asked_for(tmp_path: Path) -> None:
    assert unset(tmp_path) == ["OmniNPUModelRunner.took: self.started is read here, but nothing sets it any more"]


def test_what_upstream_sets_elsewhere_now_is_none(tmp_path: Path) -> None:
    assert unset(tmp_path, new="\n    def start(self):\n        self.started = 1\n") == []


def test_what_nothing_reads_is_none(tmp_path: Path) -> None:
    assert unset(tmp_path, omni="\n    def took(self):\n        return self.clock()\n") == []


@pytest.mark.parametrize(
    "line", ["return self.started", "self.started_at = 1", "del self.started"], ids=["read", "a longer name", "deleted"]
)
def test_what_only_looks_like_setting_it_is_not_enough(line: str, tmp_path: Path) -> None:
    assert unset(tmp_path, new=f"\n    def start(self):\n        {line}\n") == [
        "OmniNPUModelRunner.took: self.started is read here, but nothing sets it any more"
    ]


@pytest.mark.parametrize(
    "line",
    ["self.started: int = 1", "self.started += 1", 'setattr(self, "started", 1)'],
    ids=["typed", "added", "set by name"],
)
def test_other_ways_to_set_it(line: str, tmp_path: Path) -> None:
    assert unset(tmp_path, new=f"\n    def start(self):\n        {line}\n") == []


def under_a_condition(folder: Path, imported: str) -> tuple[str, list[str]]:
    """The module and the questions about ``pack``, which upstream has ``imported`` and calls."""
    trees = Trees(folder)
    commit(trees.ascend_old)
    calls = dedent(ASCEND_NEW[ASCEND]).replace("self.synchronize_rows(total)", "self.rows = pack(total)", 1)
    lay_out(trees.ascend_old, {ASCEND: f"{imported}{calls}"})
    commit(trees.ascend_old)
    result = check_upgrade(trees.upgrade(trees.ascend_old, gpu=False, verify=False, ascend_base="HEAD~1"))
    asked = [f"{item.unit}: {item.reason}" for item in result.report.reviews if "pack" in item.reason]
    return result.changes[0].after or "", asked


CARRIED = """
try:
    import rows
except ImportError:
    rows = None
if rows:
    from vllm.rows import pack
"""


def test_an_import_under_a_condition_that_cannot_come_along_is_a_question(tmp_path: Path) -> None:
    text, asked = under_a_condition(tmp_path, CARRIED)
    assert "import pack" not in text
    said = f"pack is neither defined nor imported here: {ASCEND} imports it under a condition"
    assert asked == [f"OmniNPUModelRunner.execute_model: {said}"]


def test_what_upstream_has_by_every_way_is_imported_from_there(tmp_path: Path) -> None:
    text, asked = under_a_condition(tmp_path, f"{CARRIED}else:\n    from vllm.old_rows import pack\n")
    assert "from vllm_ascend.worker.model_runner_v1 import NPUModelRunner, pack\n" in text
    assert asked == []


RUN = "    def run(self, rows):\n        take(rows)\n        mark(rows)\n        return rows\n"


def meaning(here: str, there: str, *, new: str = "self.kept = copy.deepcopy(rows)") -> list[tuple[int, str]]:
    """What is asked where upstream has a line more than omni's copy, each with an import of its own."""
    old, omni = f"class NPUModelRunner:\n{RUN}", f"class OmniNPUModelRunner:\n{RUN.replace('take(', 'take(self, ')}"
    sides = {"0.1": f"{there}\n{old}", "0.2": f"{there}\n{old.replace('mark(rows)', new)}"}
    base, now = (ModuleRevision(ref, text, ASCEND) for ref, text in sides.items())
    job = ModuleJob(NPU, NPU.modules[0], BASE, f"{here}\n{omni}", Upstream(new=now, bases=(base, now)))
    result = upgrade_module(job)
    assert new in result.after
    return [(item.line, item.reason) for item in result.reviews]


def test_a_name_that_is_a_module_upstream_and_none_here_is_asked_about() -> None:
    said = "copy comes from `from copy import copy` here, but this line was written for `import copy`"
    assert meaning("from copy import copy", "import copy") == [(5, said)]


def test_an_alias_that_stands_for_another_thing_is_asked_about() -> None:
    here, there = "from omni.rows import first as copy", "from vllm.rows import last as copy"
    assert [line for line, _ in meaning(here, there)] == [5]


@pytest.mark.parametrize(
    ("here", "there"),
    [
        pytest.param("import copy", "import copy", id="the same import"),
        pytest.param("from omni.rows import copy", "from vllm.rows import copy", id="omni's own of that name"),
        pytest.param("import vllm.rows as copy", "from vllm import rows as copy", id="the same module"),
        pytest.param("copy = None", "import copy", id="defined here"),
    ],
)
def test_a_name_that_may_be_the_same_thing_is_not_asked_about(here: str, there: str) -> None:
    assert meaning(here, there) == []


@pytest.mark.parametrize(
    "new",
    [
        pytest.param("for copy in rows:\n            self.kept = copy", id="a local"),
        pytest.param("self.copy.deepcopy(rows)", id="an attribute"),
    ],
)
def test_what_is_not_read_of_the_module_is_not_asked_about(new: str) -> None:
    assert meaning("from copy import copy", "import copy", new=new) == []


def unknown(text: str) -> list[int]:
    """The lines of a changed method that are asked about because nothing defines ``payload``."""
    draft = Draft("OmniNPUModelRunner.run", (Stage("    def run(self): ...\n"), Stage(text, "gpu")), "copy", "updated")
    return [
        item.line
        for asked in ask_about_unknown("payload", [draft], "runner.py", conditional_in="")
        for item in asked.reviews
    ]


def test_a_name_that_nothing_defines_is_a_question_where_it_is_read() -> None:
    assert unknown("    def run(self, rows):\n        rows = self.pack(rows)\n        return payload\n") == [3]


def test_all_lines_that_read_it_are_counted() -> None:
    text = "    def run(self, rows):\n        if payload:\n            self.pack(payload)\n        return payload\n"
    draft = Draft("OmniNPUModelRunner.run", (Stage("    def run(self): ...\n"), Stage(text, "gpu")), "copy", "updated")
    ((item,),) = (asked.reviews for asked in ask_about_unknown("payload", [draft], "runner.py", conditional_in=""))
    assert (item.line, item.reason) == (2, "payload is neither defined nor imported here (2 more lines below)")


def test_the_id_of_a_question_does_not_depend_on_how_many_other_lines_it_is_about() -> None:
    def asked(first: str, *others: str) -> str:
        text = "".join(f"        {line}\n" for line in ("def run(self, rows):", first, *others)).removeprefix("    ")
        draft = Draft("Runner.run", (Stage("    def run(self): ...\n"), Stage(text, "gpu")), "copy", "updated")
        return ask_about_unknown("payload", [draft], "runner.py", conditional_in="")[0].reviews[0].id

    first = "self.pack(payload)"
    assert asked(first) == asked(first, "self.send(payload)") == asked(first, "self.send(payload)", "return payload")
    assert asked(first) != asked("self.send(payload)", first)


@pytest.mark.parametrize(
    "text",
    [
        "    def run(self, rows):\n        payload = self.pack(rows)\n        return payload\n",
        "    def run(self, payload):\n        return self.pack(payload)\n",
        "    def run(self, rows):\n        return self.payload\n",
    ],
    ids=["a local", "a parameter", "an attribute"],
)
def test_a_unit_that_has_the_name_itself_is_none(text: str) -> None:
    assert unknown(text) == []


@pytest.mark.parametrize(
    ("chosen", "line", "reasons"),
    [
        ("        self.pack(payload)", 2, ["edited; payload is neither defined nor imported here"]),
        ("", 2, ["edited", "payload is neither defined nor imported here"]),
        ("        self.pack(payload)", 1, ["edited", "payload is neither defined nor imported here"]),
    ],
    ids=["about it", "about what did not come", "about another line"],
)
def test_what_the_merge_asks_about_the_same_statement_is_one_question(
    chosen: str, line: int, reasons: list[str]
) -> None:
    text = "    def run(self, rows):\n        self.pack(payload)\n"
    draft = Draft("Runner.run", (Stage("    def run(self): ...\n"), Stage(text, "upstream")), "copy", "updated")
    shown = Shown(omni="        self.pack(payload)", upstream="        self.pack(rows)", chosen=chosen)
    draft = draft.with_questions(
        make_review(draft, "runner.py", reason="edited", confidence=0.5, shown=shown, line=line)
    )
    (asked,) = ask_about_unknown("payload", [draft], "runner.py", conditional_in="")
    assert [item.reason for item in asked.reviews] == reasons
    assert min(item.confidence for item in asked.reviews) == DEFECT


BEFORE = """    def run(self, rows):
        if rows is None:
            return self.attach(EMPTY)
        return self.attach(self.step(rows))
"""
EMPTY = "            return EMPTY"
EMPTY_ROWS = "        if rows is None:\n"
NOTHING_LEFT = "        if not rows.left:\n            return EMPTY\n"


def returns(
    added: str,
    *,
    before: str = BEFORE,
    now: str = "",
    upstream: str = "class NPUModelRunner: ...\n",
    asked: Shown | None = None,
    from_gpu: bool = False,
) -> list[str]:
    """What is asked about a method that got ``added`` before its last return, and is ``now`` otherwise; ``asked`` is
    what a question that is there already shows."""
    after = (now or before).replace(
        "        return self.attach(self.step", f"{added}        return self.attach(self.step"
    )
    draft = Draft("OmniNPUModelRunner.run", (Stage(before), Stage(after, "upstream")), "copy", "updated")
    module = NPU.modules[0]
    job = ModuleJob(NPU, module, "runner.py", before, Upstream(new=ModuleRevision("0.2", upstream, ASCEND)))
    if asked is not None:
        draft = draft.with_questions(
            make_review(draft, "runner.py", reason="", confidence=1, shown=asked, from_gpu=from_gpu)
        )
    return [item.reason for item in ask_about_returns(draft, job).reviews[len(draft.reviews) :]]


def test_a_new_return_is_not_the_old_one_that_hands_over_now() -> None:
    """The same value was returned as it is in another place, which the upgrade has wrapped."""
    before = BEFORE.replace(EMPTY_ROWS, f"        if self.waits:\n            return EMPTY\n{EMPTY_ROWS}")
    wrapped = before.replace("            return EMPTY\n", "            return self.attach(EMPTY)\n")
    asked = ["other returns of this method go through self.attach, and this new one does not"]
    assert returns(NOTHING_LEFT, before=before) == []
    assert returns(NOTHING_LEFT, before=before, now=wrapped) == asked
    by_name = before.replace(f"{EMPTY}\n", "            rows = EMPTY\n            return self.attach(rows)\n")
    assert returns(NOTHING_LEFT, before=before, now=by_name) == asked
    elsewhere = before.replace(f"{EMPTY}\n", "            rows = NO_ROWS\n            return self.attach(rows)\n")
    assert returns(NOTHING_LEFT, before=before, now=elsewhere) == [], "what is handed over is another value"


POOLED = """        if self.pools:
            out = self.pool(rows)
            return out
"""
ENDED = """        if self.ends:
            out = self.end(rows)
            out.nans = {}
            return out
"""


def test_a_new_return_of_a_local_is_not_the_old_one_of_that_name() -> None:
    """A constant is the same value at each place, and a local is not: `output` of `execute_model`."""
    before = BEFORE.replace(EMPTY_ROWS, f"{POOLED}{EMPTY_ROWS}")
    asked = ["other returns of this method go through self.attach, and this new one does not"]
    assert returns(ENDED, before=before) == asked
    assert returns("", before=before, now=before.replace("pool(rows)", "pool(rows, 1)")) == []
    moved = BEFORE.replace("        return self.attach(self.step", f"{POOLED}        return self.attach(self.step")
    assert returns("", before=before, now=moved) == []
    assert returns("        self.note(rows)\n", before=before) == []


def test_a_new_return_that_hands_nothing_over_is_a_question() -> None:
    assert returns(NOTHING_LEFT) == ["other returns of this method go through self.attach, and this new one does not"]


@pytest.mark.parametrize(
    ("from_gpu", "shown", "asked"),
    [
        pytest.param(False, "return EMPTY", 0, id="about the new return of upstream's"),
        pytest.param(False, "return NOTHING", 1, id="about another one"),
        pytest.param(True, "return EMPTY", 1, id="about a port, which says nothing of what upstream returns"),
    ],
)
def test_a_return_that_the_merge_asks_about_is_asked_about_once(from_gpu: bool, shown: str, asked: int) -> None:
    shows = Shown(upstream=f"if not rows.left:\n    {shown}", chosen=f"if not rows.left:\n    {shown}")
    assert len(returns(NOTHING_LEFT, asked=shows, from_gpu=from_gpu)) == asked


def test_a_return_that_the_port_asks_about_is_asked_about_once() -> None:
    """The GPU runner returns that value in another way, and the question shows both."""
    shows = Shown(upstream="return self.attach(EMPTY)", chosen="return EMPTY")
    assert returns(NOTHING_LEFT, asked=shows, from_gpu=True) == []
    other = Shown(upstream="return self.attach(NOTHING)", chosen="return NOTHING")
    assert len(returns(NOTHING_LEFT, asked=other, from_gpu=True)) == 1


@pytest.mark.parametrize(
    ("added", "options"),
    [
        pytest.param(NOTHING_LEFT.replace("EMPTY", "self.attach(EMPTY)"), {}, id="it hands over, too"),
        pytest.param(NOTHING_LEFT.replace(" EMPTY", ""), {}, id="it returns nothing"),
        pytest.param(NOTHING_LEFT.replace("EMPTY", "None"), {}, id="it returns None"),
        pytest.param("        rows.sort(key=lambda row: row.size)\n", {}, id="no return"),
        pytest.param("        def size(row):\n            return row.size\n", {}, id="of a function in it"),
        pytest.param(
            NOTHING_LEFT, {"upstream": "class R:\n    def run(self):\n        self.attach(1)\n"}, id="upstream's"
        ),
        pytest.param(NOTHING_LEFT, {"before": BEFORE.replace("self.attach(EMPTY)", "EMPTY")}, id="one is no custom"),
        pytest.param(
            "        self.log()\n", {"before": BEFORE.replace(EMPTY_ROWS, NOTHING_LEFT + EMPTY_ROWS)}, id="old"
        ),
    ],
)
def test_other_returns_are_none(added: str, options: dict[str, str]) -> None:
    assert returns(added, **options) == []


SET = """    def run(self, rows):
        total = len(rows)
        if rows:
            self.note(rows)
        return total
"""
SET_SOMETIMES = """    def run(self, rows):
        if rows:
            total = len(rows)
            self.note(rows)
        return total
"""


@pytest.mark.parametrize(
    ("before", "upstream", "after", "asked"),
    [
        pytest.param(SET, SET, SET_SOMETIMES, ["not every path to here sets total any more"], id="a path lost it"),
        pytest.param(SET, SET_SOMETIMES, SET_SOMETIMES, [], id="upstream does it like that"),
        pytest.param(
            SET_SOMETIMES, SET, SET_SOMETIMES.replace("self.note", "self.log"), [], id="omni did it like that"
        ),
        pytest.param(SET, SET, SET.replace("self.note", "self.log"), [], id="every path sets it"),
    ],
)
def test_a_local_that_some_path_does_not_set_any_more_is_a_question(
    before: str, upstream: str, after: str, asked: list[str]
) -> None:
    draft = Draft(
        "OmniNPUModelRunner.run", (Stage(before), Stage(after, "upstream")), "copy", "updated", upstream=upstream
    )
    assert [item.reason for item in ask_about_order(draft, "runner.py").reviews] == asked


BRANCHED = """    def run(self, rows):
        if rows:
            self.note(rows)
        else:
            self.log()
"""
DEAD = BRANCHED.replace(
    "            self.log()\n", "            if rows:\n                self.log()\n            self.end()\n"
)


@pytest.mark.parametrize(
    ("before", "asked"),
    [
        pytest.param(
            BRANCHED, ["this can never run: it stands in the else branch of the same condition"], id="the merge made it"
        ),
        pytest.param(DEAD.replace("self.end()", "self.close()"), [], id="omni had it"),
    ],
)
def test_a_block_in_the_else_of_its_own_condition_is_a_question(before: str, asked: list[str]) -> None:
    draft = Draft("OmniNPUModelRunner.run", (Stage(before), Stage(DEAD, "upstream")), "copy", "updated")
    assert [item.reason for item in ask_about_order(draft, "runner.py").reviews] == asked


ONCE = """    def run(self, rows):
        self.pool.begin(rows)
        self.total = len(rows)
        return self.total
"""
BEGIN, TOTAL = ONCE.splitlines(keepends=True)[1:3]
BRANCHES = f"        if rows:\n    {BEGIN}        else:\n    {BEGIN}"
TWICE = "this stands {} in this method now, more often than on any side: is one of them too many?"


@pytest.mark.parametrize(
    ("after", "upstream", "twin", "lines"),
    [
        pytest.param(ONCE.replace(TOTAL, TOTAL + BEGIN), ONCE, ONCE, [4], id="a call"),
        pytest.param(ONCE.replace(TOTAL, TOTAL + BEGIN + TOTAL), ONCE, ONCE, [4], id="two in a row are one question"),
        pytest.param(ONCE.replace(TOTAL, TOTAL + BEGIN), ONCE.replace(TOTAL, TOTAL + BEGIN), ONCE, [], id="upstream's"),
        pytest.param(ONCE.replace(TOTAL, TOTAL + BEGIN), ONCE, ONCE.replace(TOTAL, TOTAL + BEGIN), [], id="the twin's"),
        pytest.param(ONCE.replace(BEGIN, BRANCHES), ONCE, ONCE, [], id="once in each branch"),
        pytest.param(ONCE.replace(BEGIN, BRANCHES + BEGIN), ONCE, ONCE, [6], id="in a branch and behind it"),
        pytest.param(ONCE.replace(TOTAL, TOTAL + "        return self.total\n"), ONCE, ONCE, [], id="it only leaves"),
        pytest.param(ONCE.replace(TOTAL, "        self.log()\n"), ONCE, ONCE, [], id="another statement"),
    ],
)
def test_what_stands_more_often_than_on_any_side_is_a_question(
    after: str, upstream: str, twin: str, lines: list[int]
) -> None:
    draft = Draft("OmniNPUModelRunner.run", (Stage(ONCE), Stage(after, "gpu")), "copy", "updated", upstream=upstream)
    asked = ask_about_repeated(draft, twin, "runner.py").reviews
    assert [item.line for item in asked] == lines
    assert {item.reason for item in asked} <= {TWICE.format("twice"), TWICE.format("3 times")}


def test_what_omni_does_twice_itself_is_no_question() -> None:
    before = ONCE.replace(TOTAL, TOTAL + BEGIN)
    after = before.replace("len(rows)", "len([*rows])")
    draft = Draft("OmniNPUModelRunner.run", (Stage(before), Stage(after, "upstream")), "copy", "updated", upstream=ONCE)
    assert ask_about_repeated(draft, ONCE, "runner.py").reviews == ()


@pytest.mark.parametrize(
    ("new_names", "lines"),
    [
        pytest.param((("rows", "batch"),), [], id="under the new name"),
        pytest.param((), [3], id="no rename"),
        pytest.param((("rows", "lines"),), [3], id="another new name"),
    ],
)
def test_what_omni_does_twice_with_a_local_that_upstream_renamed(
    new_names: tuple[tuple[str, str], ...], lines: list[int]
) -> None:
    """`self._omni_last_model_output = model_output` stands twice in `_model_forward`; renamed, it is no news."""
    before = "    def run(self):\n        rows = self.take()\n        self.last = rows\n        self.last = rows\n"
    after, upstream = before.replace("rows", "batch"), before.replace("rows", "batch").replace("self.last", "last", 1)
    draft = Draft("R.run", (Stage(before), Stage(after, "upstream")), "copy", "updated", upstream=upstream)
    asked = ask_about_repeated(replace(draft, new_names=new_names), "", "runner.py").reviews
    assert [item.line - 1 for item in asked] == lines


RUN_NEW = "    def run(self):\n        return self.step_id\n"
SETS_STEP = "    def __init__(self):\n        super().__init__()\n        self.step_id = 0\n"
NEXT = "    def __init__(self):\n        super().__init__()\n        self.other = 0\n"
ALONE = "    def __init__(self):\n        self.other = 0\n"


@pytest.mark.parametrize(
    ("mixin", "own", "bases", "asks"),
    [
        pytest.param(NEXT, "", ["OmniGPUModelRunner"], False, id="called by a mixin in front of the twin"),
        pytest.param(ALONE, "", ["OmniGPUModelRunner"], True, id="hidden by a mixin in front of the twin"),
        pytest.param(NEXT, "", ["Mixin"], True, id="the twin is no base"),
        pytest.param(NEXT, ALONE, ["OmniGPUModelRunner"], True, id="hidden by the class's own"),
        pytest.param(ALONE, NEXT, ["OmniGPUModelRunner"], False, id="called by the class's own"),
        pytest.param(
            ALONE,
            NEXT.replace("super().__init__(", "OmniGPUModelRunner.__init__(self"),
            ["OmniGPUModelRunner"],
            False,
            id="called by the name of its class",
        ),
    ],
)
def test_an_attribute_that_the_twin_sets_in_a_base_of_the_class(
    mixin: str, own: str, bases: list[str], asks: bool
) -> None:
    """`OmniNPUModelRunner` has `NPUAuxOutputMixin`, which has an `__init__`, in front of `OmniGPUModelRunner`."""
    name = "OmniNPUModelRunner"
    hierarchy = Hierarchy(inherited={name: Inherited({"__init__": mixin}, frozenset(bases))})
    job = ModuleJob(NPU, NPU.modules[0], BASE, f"class {name}:\n{RUN_NEW}", hierarchy=hierarchy)
    run = Draft(f"{name}.run", (Stage("    def run(self): ...\n"), Stage(RUN_NEW, "gpu")), "copy", "updated")
    drafts = [run, *([Draft(f"{name}.__init__", (Stage(own),))] if own else [])]
    asked = ask_about_never_set(drafts, job, {f"{name}.__init__": SETS_STEP})[0].reviews
    assert [item.line for item in asked] == ([2] if asks else [])
