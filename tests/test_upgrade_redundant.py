"""What an NPU class can do without since an upgrade."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from runner_sync.model import BaseRef
from runner_sync.profile import NPU
from runner_sync.texts.member_text import is_same_but_for_hints
from runner_sync.units import texts
from runner_sync.upgrade.draft import Draft, Stage
from runner_sync.upgrade.from_gpu.twin.gpu_side import GpuSide
from runner_sync.upgrade.job import Hierarchy, Inherited, ModuleJob, Upstream
from runner_sync.upgrade.redundant import drop_redundant
from runner_sync.upgrade.renamed_locals import find_held
from runner_sync.upgrade.revision import ModuleRevision

HEAD = "class NPUARModelRunner(Base):\n"
OLD = """\
    def _note(self, rows):
        for row in rows:
            self.noted.add(row.name)
        self.count(rows)
        self.last = rows
"""
NEW = OLD.replace("(self, rows)", "(self, rows, stage)").replace(
    "        self.count", "        self.check(stage)\n        self.count"
)
OTHER = """\
    def _note(self, rows):
        self.talker.note(rows)
        self.count(rows)
"""


NOTE = Draft("NPUARModelRunner._note", (Stage(OLD),), chosen=True)


def noting(text: str, *, below: str | None, before: str | None = None) -> ModuleJob:
    """The job of a module whose class inherits ``below`` from now on, and ``before`` until now."""
    inherited = Inherited({"_note": below}, before={"_note": before} if before is not None else {})
    return ModuleJob(
        NPU, NPU.modules[1], "runner.py", text, hierarchy=Hierarchy(inherited={"NPUARModelRunner": inherited})
    )


def dropped(text: str, *, below: str | None, before: str | None = None, made: str = "") -> list[str]:
    """Why a member goes whose class inherits ``below`` from now on, and ``before`` until now.

    ``made`` is its text after this upgrade, if that changed it."""
    draft = Draft("NPUARModelRunner._note", (Stage(text),), chosen=True)
    draft = draft.with_stage(made, "gpu") if made else draft
    job = noting(HEAD + text, below=below, before=before)
    (left,) = drop_redundant([draft], job, GpuSide())
    assert left.removed is bool(left.reviews)
    assert all(item.omni == text for item in left.reviews)
    return [item.reason for item in left.reviews]


def test_an_older_version_of_what_a_base_class_got_now_goes_with_a_question() -> None:
    assert dropped(OLD, below=NEW) == [
        "removed: a base class has this method since this upgrade, in a version that fits today's callers"
    ]


DOCUMENTED = NEW.replace("stage):\n", 'stage: str) -> None:\n        """Note the rows."""\n')


@pytest.mark.parametrize(
    ("below", "reasons"),
    [
        pytest.param(NEW, ["removed: it equals the method that the class inherits"], id="annotations and a docstring"),
        pytest.param(NEW.replace("stage)", "stage=None)", 1), [], id="a default"),
        pytest.param(NEW.replace("    def", "    @torch.inference_mode()\n    def"), [], id="a decorator"),
        pytest.param(NEW.replace("self.check(stage)", "self.check(rows)"), [], id="a statement"),
    ],
)
def test_a_ported_method_goes_where_the_class_inherits_the_same_code(below: str, reasons: list[str]) -> None:
    """``extract_multimodal_outputs`` of omni 0.12.0rc1, once it has the lines of the GPU twin's."""
    assert dropped(OTHER.replace("talker", "check"), below=below, made=DOCUMENTED) == reasons


def test_texts_that_do_not_parse_are_the_same_only_if_equal() -> None:
    assert not is_same_but_for_hints("    def _note(:\n", "    def _keep(:\n")
    assert is_same_but_for_hints("    def _note(:\n", "    def _note(:\n")


def test_an_override_that_differed_only_in_annotations_before_stays() -> None:
    assert dropped(DOCUMENTED, below=NEW, before=NEW) == []


@pytest.mark.parametrize(
    ("reader", "goes"),
    [
        pytest.param("    _note = traced(_note)\n", False, id="an assignment"),
        pytest.param("    @_note.setter\n    def _rows(self): ...\n", False, id="a decorator"),
        pytest.param("    def _rows(self, note=_note): ...\n", False, id="a default"),
        pytest.param("    def _rows(self, *, note=_note): ...\n", False, id="a default of a keyword"),
        pytest.param("    def _rows(self):\n        return _note\n", True, id="a name of the module"),
        pytest.param("    rows = runner._note\n", True, id="an attribute of another"),
    ],
)
def test_what_the_body_of_the_class_reads_stays(reader: str, goes: bool) -> None:
    job = noting(HEAD + OLD + reader, below=NEW)
    (left,) = drop_redundant([NOTE], job, GpuSide())
    assert left.removed is goes


@pytest.mark.parametrize(
    ("text", "below", "before", "made"),
    [
        pytest.param(OLD, NEW, OLD, "", id="the base class had it before, too"),
        pytest.param(OTHER, NEW, None, "", id="another method of that name"),
        pytest.param(OLD, NEW, None, NEW + "        self.more()\n", id="ported itself"),
        pytest.param(OLD, None, None, "", id="no text of omni's below"),
    ],
)
def test_an_override_with_something_to_say_stays(text: str, below: str | None, before: str | None, made: str) -> None:
    assert dropped(text, below=below, before=before, made=made) == []


COPY = OLD + "        self.mine(rows)\n"
CALLER = "    def run(self, rows):\n        return self._note(rows)\n"
WITHOUT = "    def run(self, rows):\n        return rows\n"


def abandoned(*, was: str, now: str, upstream: str | None = None, below: str = "") -> list[str]:
    """Why a copy goes that vllm-ascend dropped, beside a method that ``was`` and is ``now``."""
    base = BaseRef("vllm-ascend", "0.14.0rc1", "runner.py", "NPUModelRunner._note", "option", 0.9)
    copy = Draft(
        "NPUARModelRunner._note",
        (Stage(COPY),),
        "copy",
        base=base,
        upstream=upstream,
        own=("self.mine(rows)",),
        chosen=True,
    )
    caller = Draft("NPUARModelRunner.run", (Stage(was),)).with_stage(now, "upstream")
    inherited = Inherited({"all": below or None})
    job = ModuleJob(
        NPU, NPU.modules[1], "runner.py", HEAD + COPY, hierarchy=Hierarchy(inherited={"NPUARModelRunner": inherited})
    )
    left, same = drop_redundant([copy, caller], job, GpuSide())
    assert same == caller
    return [item.reason for item in left.reviews] if left.removed else []


def test_a_copy_goes_together_with_its_last_call() -> None:
    assert abandoned(was=CALLER, now=WITHOUT) == [
        "removed: upstream dropped the method that this was a copy of, and nothing calls the copy any more"
    ]


def test_a_copy_that_something_may_call_stays() -> None:
    assert abandoned(was=CALLER, now=CALLER) == []
    assert abandoned(was=WITHOUT, now=WITHOUT) == []
    assert abandoned(was=CALLER, now=WITHOUT, upstream=OLD) == []
    assert abandoned(was=CALLER, now=WITHOUT, below=CALLER) == []


OWN = ("for row in rows", "self.noted.add(row.name)", "self.mine(rows)")


def left_of(
    copies: Sequence[str],
    *,
    base: str = OLD,
    text: str = COPY,
    own: tuple[str, ...] = OWN,
    others: str = "",
    below: str = "",
    upstream: str = "",
    had: str = "",
) -> list[Draft]:
    """What is left of copies of ``base`` with ``own`` code, in a class with ``others`` that inherits ``below``.

    ``upstream`` is what vllm-ascend's class has beside the copies, ``had`` what was inherited before."""
    copied = [
        Draft(
            f"NPUARModelRunner.{name}",
            (Stage(text.replace("_note", name)),),
            "copy",
            base=BaseRef("vllm-ascend", "0.14.0", "ascend.py", f"NPUModelRunner.{name}", "option", 0.9),
            upstream=base.replace("_note", name),
            own=own,
            chosen=True,
        )
        for name in copies
    ]
    beside = [Draft(f"NPUARModelRunner.{name}", (Stage(text),)) for name, text in members("Omni", others).items()]
    names = dict.fromkeys((*copies, *members("Up", upstream)))
    inherited = Inherited({**names, **members("Omni", below)}, before={**names, **members("Omni", had)})
    theirs = "".join(base.replace("_note", name) for name in copies) + upstream
    side = ModuleRevision("0.14.0", f"class NPUModelRunner:\n{theirs}", "ascend.py")
    job = ModuleJob(
        NPU,
        NPU.modules[1],
        "runner.py",
        HEAD + COPY,
        hierarchy=Hierarchy(inherited={"NPUARModelRunner": inherited}),
        upstream=Upstream(new=side, bases=(side,)),
    )
    return drop_redundant([*copied, *beside], job, GpuSide())[: len(copies)]


def members(owner: str, body: str) -> dict[str, str]:
    return texts.members(f"class {owner}:\n{body}    pass\n", owner, f"{owner}.py")


def test_copies_that_had_the_same_of_omni_all_along_stay() -> None:
    """Neither is a new home of the other's additions."""
    left = left_of(("_note", "_keep"), others=CALLER.replace("_note", "_keep"))
    assert [draft.removed for draft in left] == [False, False]


@pytest.mark.parametrize(
    ("had", "goes"),
    [
        pytest.param("", True, id="the method is new"),
        pytest.param(OLD.replace("_note", "_preprocess"), True, id="the additions are new there"),
        pytest.param(COPY.replace("_note", "_preprocess"), False, id="they stood there before"),
    ],
)
def test_a_copy_goes_only_if_its_additions_are_new_elsewhere(had: str, goes: bool) -> None:
    below = HOST + CALLER.replace("_note", "_preprocess")
    (left,) = left_of(("_note",), own=("self.mine(rows)",), below=below, had=had)
    assert left.removed is goes


@pytest.mark.parametrize(
    ("text", "goes"),
    [
        pytest.param(COPY, True, id="additions"),
        pytest.param(COPY.replace("row.name", "row.key"), False, id="an edited statement"),
    ],
)
def test_a_copy_that_edits_what_it_would_inherit_stays(text: str, goes: bool) -> None:
    """``_pad_for_sequence_parallelism`` of vllm-ascend 0.15.0rc1 asks another condition than vLLM's."""
    below = (text + CALLER).replace("_note", "_preprocess")
    (left,) = left_of(("_note",), text=text, own=("self.mine(rows)",), below=below)
    assert left.removed is goes


HOST = COPY.replace("_note", "_preprocess")


@pytest.mark.parametrize(
    ("others", "below", "upstream", "goes"),
    [
        pytest.param("", HOST, "", False, id="nothing calls the host"),
        pytest.param("", HOST + CALLER.replace("_note", "_preprocess"), "", True, id="omni's base class does"),
        pytest.param(CALLER.replace("_note", "_preprocess"), HOST, "", True, id="the class does"),
        pytest.param("", HOST, CALLER.replace("_note", "_preprocess"), True, id="upstream's class does"),
        pytest.param(
            WITHOUT, HOST, CALLER.replace("_note", "_preprocess"), False, id="upstream's caller is overridden"
        ),
        pytest.param(
            "    def run(self, rows):\n        return super().run(rows)\n",
            HOST,
            CALLER.replace("_note", "_preprocess"),
            True,
            id="an override calls upstream's caller",
        ),
        pytest.param("", HOST, OLD.replace("_note", "_preprocess"), True, id="the worker calls it"),
        pytest.param("", HOST + "        self._preprocess(rows)\n", "", False, id="only the host itself does"),
    ],
)
def test_a_copy_goes_only_where_something_calls_the_methods_with_its_additions(
    others: str, below: str, upstream: str, goes: bool
) -> None:
    """``_preprocess`` of omni 0.12.0rc1: vLLM's ``execute_model`` calls it, and the NPU runner has another one."""
    (left,) = left_of(("_note",), others=others, below=below, upstream=upstream)
    assert left.removed is goes
    reasons = ["removed: omni's additions to this copy stand in _preprocess now"] if goes else []
    assert [item.reason for item in left.reviews] == reasons


@pytest.mark.parametrize(
    ("host", "goes"),
    [
        pytest.param(HOST, True, id="the host has the edit"),
        pytest.param(HOST.replace("        self.count(rows)\n", ""), False, id="the host lacks the edit"),
    ],
)
def test_a_statement_that_upstream_has_elsewhere_in_the_method_is_an_addition_where_omni_repeats_it(
    host: str, goes: bool
) -> None:
    """``_prepare_inputs`` of omni 0.12.0rc1 sets ``input_ids`` in a second branch as upstream does in the other."""
    edited = COPY.replace("        self.last = rows\n", "        self.count(rows)\n        self.last = rows\n")
    (left,) = left_of(("_note",), text=edited, below=host, others=CALLER.replace("_note", "_preprocess"))
    assert left.removed is goes


EMPTY = "    def _note(self, rows):\n        pass\n"
RENAMED = """\
    def _note(self, rows):
        sizes = self.measure(rows)
        self.take(sizes)
        self.give(sizes)
        self.mine(rows)
"""


@pytest.mark.parametrize(
    ("host", "goes"),
    [
        pytest.param(RENAMED.replace("sizes", "lengths"), True, id="a local has another name"),
        pytest.param(
            RENAMED.replace("take(sizes)", "take(rows)").replace("(sizes)", "(lengths)"), False, id="it is two values"
        ),
        pytest.param(RENAMED.replace("(sizes)", "(self.lengths)"), False, id="it is an attribute"),
        pytest.param(
            RENAMED.replace("take(sizes)", "take(lengths)").replace("(sizes)", "(widths)"),
            False,
            id="a name is seen once",
        ),
        pytest.param(
            RENAMED.replace("        sizes", "        known").replace("(sizes)", "(rows)"), False, id="a parameter"
        ),
    ],
)
def test_an_addition_stands_elsewhere_whatever_its_local_is_called_there(host: str, goes: bool) -> None:
    """``_prepare_inputs`` of omni 0.12.0rc1 counts tokens in a local that ``_preprocess`` of 0.16.0 calls another."""
    below = host.replace("_note", "_preprocess") + CALLER.replace("_note", "_preprocess")
    own = ("sizes = self.measure(rows)", "self.take(sizes)", "self.give(sizes)", "self.mine(rows)")
    (left,) = left_of(["_note"], base=EMPTY, text=RENAMED, own=own, below=below)
    assert left.removed is goes


MORE_RENAMED = RENAMED + "        self.keep(sizes)\n        self.more(rows)\n"
RENAMED_HOST = MORE_RENAMED.replace("sizes", "lengths")
COUNTING = MORE_RENAMED.replace(
    "sizes = self.measure(rows)",
    "found = [ids[row] for row in rows]\n        sizes = self.measure(found)\n        found = sizes",
)


def _count(found: str, *lines: str) -> str:
    """The host of ``COUNTING`` without its local ``found``, with some lines in front of its count."""
    count = "\n        ".join([*lines, f"lengths = self.measure({found})"])
    return RENAMED_HOST.replace("lengths = self.measure(rows)", count)


@pytest.mark.parametrize(
    ("host", "goes"),
    [
        pytest.param(RENAMED_HOST, True, id="the same value"),
        pytest.param(RENAMED_HOST.replace("self.measure(rows)", "self.total_of(rows)"), False, id="another value"),
        pytest.param(
            RENAMED_HOST.replace("lengths = self.measure(rows)", "for lengths in rows:\n            self.see(lengths)"),
            False,
            id="another loop",
        ),
        pytest.param(_count("[ids[one] for one in rows]"), True, id="the same value by way of a local"),
        pytest.param(_count("[ids[one] for one in ids]"), False, id="a local of another value"),
        pytest.param(
            _count("other", "other = [ids[one] for one in rows]"), True, id="the same value by way of another local"
        ),
        pytest.param(
            _count("other", "if self.on:", "    other = [ids[one] for one in rows]"),
            False,
            id="a value that it may have",
        ),
        pytest.param(
            _count("other", "other = [ids[one] for one in rows]", "other.clear()"), False, id="a value that was changed"
        ),
        pytest.param(_count("[ids[0] for one in rows]"), False, id="a comprehension of another element"),
    ],
)
def test_a_renamed_local_must_have_the_same_value_there(host: str, goes: bool) -> None:
    text = COUNTING if "ids[" in host else MORE_RENAMED
    below = host.replace("_note", "_preprocess") + CALLER.replace("_note", "_preprocess")
    own = tuple(line.strip() for line in text.splitlines()[1:] if "found" not in line)
    (left,) = left_of(["_note"], base=EMPTY, text=text, own=own, below=below)
    assert left.removed is goes


def test_a_long_chain_of_locals_takes_no_time() -> None:
    """Written out, the last value would have 2 to the power of 60 parts."""
    chain = "".join(f"        v{n + 1} = h(v{n}, v{n}.shape)\n" for n in range(60))
    method = f"    def m(self, v0):\n{chain}        a = v60\n        f(a)\n        g(a)\n"
    own = ["f(a)", "g(a)", "v1 = h(v0, v0.shape)"]
    assert find_held(own, method, method.replace("(a)", "(b)").replace("a = v60", "b = v60")) == {*own}


COUNTED = """\
    def _note(self, rows):
        if not rows:
            return
        if self.talker is None:
            self.count(rows)
            return
        self.talker.note(rows)
        self.talker.release(rows)
        self.count(rows)
        self.last = rows
"""


def test_repeated_statements_of_the_base_do_not_make_up_for_an_addition_that_stands_nowhere() -> None:
    base = COUNTED[: COUNTED.index("        if self.talker")] + COUNTED[COUNTED.rindex("        self.count") :]
    own = ("if self.talker is None", "self.talker.note(rows)", "self.talker.release(rows)")
    host = COUNTED.replace("_note", "_keep").replace("        self.talker.release(rows)\n", "")
    calling = CALLER.replace("_note", "_keep")
    for text, goes in ((host, False), (COUNTED.replace("_note", "_keep"), True)):
        (left,) = left_of(["_note"], base=base, text=COUNTED, own=own, below=text + calling)
        assert left.removed is goes


def gone_of(texts: dict[str, str], *, upstream: dict[str, str]) -> list[str]:
    """Which of a class's definitions of one name, all of which it inherits from upstream, go."""
    drafts = [
        Draft(f"NPUARModelRunner.{name}", (Stage(text),), "copy", upstream=upstream.get(name), chosen=True)
        for name, text in texts.items()
    ]
    inherited = {"NPUARModelRunner": Inherited(dict.fromkeys(upstream))}
    job = ModuleJob(
        NPU, NPU.modules[1], "r.py", HEAD + "".join(texts.values()), hierarchy=Hierarchy(inherited=inherited)
    )
    return [draft.member for draft in drop_redundant(drafts, job, GpuSide()) if draft.removed]


STUB = "    @overload\n    def _note(self, rows: None) -> None: ...\n"
GETTER = "    @property\n    def _note(self):\n        return self.noted\n"
SETTER = "    @_note.setter\n    def _note(self, rows):\n        self.noted = rows\n"


@pytest.mark.parametrize(
    ("texts", "upstream", "gone"),
    [
        pytest.param({"_note#2": STUB, "_note": COPY}, {"_note#2": STUB, "_note": OLD}, [], id="a stub of a copy"),
        pytest.param(
            {"_note": GETTER + "        # here\n", "_note#2": SETTER},
            {"_note": GETTER, "_note#2": SETTER},
            [],
            id="a property, which the class body reads",
        ),
        pytest.param(
            {"_note#2": STUB, "_note": OLD},
            {"_note#2": STUB, "_note": OLD},
            ["_note#2", "_note"],
            id="stub and method equal upstream's",
        ),
        pytest.param({"_note#2": STUB, "_note": COPY}, {"_note": OLD}, ["_note#2"], id="upstream has no stub any more"),
        pytest.param({"_note": OLD, "_notes": COPY}, {"_note": OLD, "_notes": NEW}, ["_note"], id="another name"),
    ],
)
def test_a_definition_is_inherited_with_all_of_its_name_or_stays(
    texts: dict[str, str], upstream: dict[str, str], gone: list[str]
) -> None:
    assert gone_of(texts, upstream=upstream) == gone


def given_up(text: str, *, below: str | None = NEW, old: str = OLD, new: str | None = None) -> list[str]:
    """What is asked about a method of which the GPU class had ``old`` and has ``new``, and NPU inherits ``below``."""
    draft = Draft("NPUARModelRunner._note", (Stage(text),), chosen=True)
    inherited = {"NPUARModelRunner": Inherited({"_note": below}, before={"_note": below} if below else {})}
    job = ModuleJob(NPU, NPU.modules[1], "runner.py", HEAD + text, hierarchy=Hierarchy(inherited=inherited))
    side = GpuSide(old={draft.name: old}, new={draft.name: new} if new is not None else {})
    (left,) = drop_redundant([draft], job, side)
    assert not left.removed
    assert all((item.omni, item.chosen, item.upstream) == (text, text, below) for item in left.reviews)
    return [item.reason for item in left.reviews]


def test_a_port_of_what_the_gpu_class_has_from_its_base_class_now_is_asked_about() -> None:
    """``_model_needs_full_prefix_hidden_states`` of vllm-omni 0.30.0: the shared one goes by another flag."""
    (reason,) = given_up(OLD)
    assert reason.endswith("inherits it now; the NPU class would inherit the same version, but this port hides it")


def test_a_port_that_npu_edited_is_asked_about_where_the_gpu_class_has_another_one_from_its_base_class_now() -> None:
    (reason,) = given_up(OLD + "        self.mine()\n")
    assert reason.endswith("but this port hides it; NPU had edited the port")


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        pytest.param(OLD + "        self.mine()\n", {"below": OLD}, id="the base class has what the GPU class had"),
        pytest.param(NEW, {}, id="it is what the base class has"),
        pytest.param(OTHER + "        self.mine()\n", {}, id="it has little of what the GPU class had"),
        pytest.param(OLD, {"below": None}, id="no base class of NPU's has one of omni's"),
        pytest.param(OLD, {"new": NEW}, id="the GPU class has its own still"),
        pytest.param(OLD, {"old": OTHER}, id="the GPU class had another one"),
    ],
)
def test_a_method_that_is_no_port_of_what_the_gpu_class_gave_up_is_left(text: str, rest: dict[str, Any]) -> None:
    assert given_up(text, **rest) == []


@pytest.mark.parametrize(
    ("before", "on_gpu", "reason"),
    [
        pytest.param(
            NEW, {}, "removed: the copy equals the upstream method that the class inherits", id="before as well"
        ),
        pytest.param(
            OLD,
            {},
            "removed: with upstream's changes, the copy equals the upstream method that the class inherits",
            id="now",
        ),
        pytest.param(
            OLD,
            {"NPUARModelRunner._note": OTHER},
            "removed: with upstream's changes, the copy equals the upstream method that the class inherits; the GPU "
            "class has its own version, which was not ported in its place",
            id="the GPU runner has its own",
        ),
        pytest.param(
            OLD,
            {"NPUARModelRunner._other": OTHER},
            "removed: with upstream's changes, the copy equals the upstream method that the class inherits",
            id="the GPU runner has another",
        ),
    ],
)
def test_why_a_copy_that_equals_upstreams_method_goes(before: str, on_gpu: dict[str, str], reason: str) -> None:
    draft = Draft("NPUARModelRunner._note", (Stage(before),), kind="copy", upstream=NEW, chosen=True)
    draft = draft.with_stage(NEW, "upstream")
    hierarchy = Hierarchy(inherited={"NPUARModelRunner": Inherited({"_note": None})})
    job = ModuleJob(NPU, NPU.modules[1], "runner.py", HEAD + before, hierarchy=hierarchy)
    (left,) = drop_redundant([draft], job, GpuSide(new=on_gpu))
    assert [item.reason for item in left.reviews] == [reason]


LEFT_OUT = OLD.replace(
    "        self.last = rows\n", "        if self.pools:\n            self.pool(rows)\n        self.done(rows)\n"
)
CALLING = OLD.replace("        self.last = rows\n", "        super()._note(rows)\n")
HELPING = OLD.replace("        self.last = rows\n", "        self._finish(rows)\n")
PART = LEFT_OUT.replace("        self.done", "        self.end")
FINISH = "    def _finish(self, rows):\n        self.done(rows)\n"


def make_equal_to_upstream(before: str, base: str, upstream: str, *, vllm: dict[str, str]) -> Draft:
    """What becomes of a copy of ``base`` that upstream's change makes equal to ``upstream``."""
    side = ModuleRevision("0.12.0", f"class NPUModelRunner:\n{base}", "ascend.py")
    ref = BaseRef("vllm-ascend", "0.12.0", "ascend.py", "NPUModelRunner._note", "option", 0.9)
    draft = Draft("NPUARModelRunner._note", (Stage(before),), "copy", base=ref, upstream=upstream, chosen=True)
    draft = draft.with_stage(upstream, "upstream")
    hierarchy = Hierarchy(inherited={"NPUARModelRunner": Inherited({"_note": None}, vllm=vllm)})
    known = Upstream(bases=(side,))
    job = ModuleJob(NPU, NPU.modules[1], "runner.py", HEAD + before, hierarchy=hierarchy, upstream=known)
    (left,) = drop_redundant([draft], job, GpuSide())
    return left


@pytest.mark.parametrize(
    ("before", "upstream", "vllm", "again"),
    [
        pytest.param(
            OLD, CALLING, LEFT_OUT, "super()._note(), which runs `if self.pools`, `self.pool(rows)`, `self.done(rows)`"
        ),
        pytest.param(OLD, CALLING, PART, "super()._note(), which runs `if self.pools`, `self.pool(rows)`"),
        pytest.param(OLD, HELPING, OLD, "_finish(), which runs `self.done(rows)`"),
        pytest.param(LEFT_OUT, CALLING, LEFT_OUT, "", id="omni had it"),
        pytest.param(OLD, CALLING, OLD, "", id="vLLM has nothing of it"),
        pytest.param(OLD, NEW, LEFT_OUT, "", id="upstream calls nothing that has it"),
    ],
)
def test_omnis_text_stays_if_upstreams_method_runs_again_what_omni_had_left_out(
    before: str, upstream: str, vllm: str, again: str
) -> None:
    """``profile_run`` of omni 0.12.0rc1 had no pooler run; vllm-ascend 0.13.0 calls vLLM's method, which has one."""
    left = make_equal_to_upstream(before, LEFT_OUT, upstream, vllm={"_note": vllm, "_finish": FINISH})
    (reason,) = [item.reason for item in left.reviews]
    if again:
        assert not left.removed
        assert left.text == before
        assert reason == f"upstream's method now calls {again}: omni had left that out, so omni's text stays"
    else:
        assert left.removed
        assert reason == "removed: with upstream's changes, the copy equals the upstream method that the class inherits"


def test_an_exit_that_omni_had_left_out_is_not_run_again_by_another_one() -> None:
    base = OLD.replace(
        "        self.last = rows\n", "        if rows is None:\n            return None\n        self.last = rows\n"
    )
    finish = (
        "    def _finish(self, rows):\n        if not self.is_last:\n            return None\n        return rows\n"
    )
    left = make_equal_to_upstream(OLD, base, HELPING, vllm={"_finish": finish})
    assert left.removed
