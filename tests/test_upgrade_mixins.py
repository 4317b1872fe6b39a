"""The GPU twin without a mixin: what goes with it, and what looks like it and stays."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from pathlib import Path

import pytest
from sync_samples import (
    AR,
    ASCEND,
    ASCEND_OLD,
    GPU_AR,
    OMNI_TREE,
    PACKED,
    Trees,
    check_upgrade,
    commit,
    lay_out,
    stay_at_home,
)

from runner_sync.profile import NPU
from runner_sync.upgrade.draft import Draft, Stage
from runner_sync.upgrade.from_gpu.merging import mixins_alone, sound_merge
from runner_sync.upgrade.from_gpu.twin.mixins import find_instance_names, remove_uses
from runner_sync.upgrade.job import Hierarchy, ModuleJob, Upstream
from runner_sync.upgrade.questions.mixed_in import ask_about_mixins

NAMES = frozenset({"send", "attach", "_pending", "_connector"})

CASES = {
    "a statement that calls it goes": (
        """
        self.send(rows)
        self.total = rows
        """,
        "self.total = rows",
    ),
    "the comment above it goes along": (
        """
        self.total = rows  # of this step
        # The consumer waits for
        # these rows.
        self.send(rows)
        return rows
        """,
        """
        self.total = rows  # of this step
        return rows
        """,
    ),
    "the comment above a `with` that goes, too": (
        """
        # Until the consumer has them.
        with self.attach():
            # All of them.
            self.total = rows
        """,
        """
        # All of them.
        self.total = rows
        """,
    ),
    "a comment on nothing, or on another suite, stays": (
        """
        # What follows has no readers.

        self.send(rows)
        if rows:
            self.total = rows
            # Nothing more.
        self.send(rows)
        # At the end.
        """,
        """
        # What follows has no readers.

        if rows:
            self.total = rows
            # Nothing more.
        # At the end.
        """,
    ),
    "a ruler stays": (
        """
        # -------- sending --------
        self.send(rows)
        self.total = rows
        """,
        """
        # -------- sending --------
        self.total = rows
        """,
    ),
    "the end of a string is no comment": (
        '''
        self.text = """
        # sent"""
        self.send(rows)
        ''',
        '''
        self.text = """
        # sent"""
        ''',
    ),
    "the comment on what it wrapped stays": (
        """
        # All of them.
        return self.attach(rows)
        """,
        """
        # All of them.
        return rows
        """,
    ),
    "a condition on it goes with its suite": (
        """
        if hasattr(self, "_connector"):
            for row in rows:
                self.note(row)
        self.total = rows
        """,
        "self.total = rows",
    ),
    "an equal text is no use of it": (
        """
        self.mode = "send"
        self.log("send", rows)
        self.send(rows)
        """,
        """
        self.mode = "send"
        self.log("send", rows)
        """,
    ),
    "a use by its name goes": (
        """
        self.total = rows
        setattr(self, "_connector", None)
        sending = getattr(self, "send", None)
        return getattr(rows, "send", rows)
        """,
        """
        self.total = rows
        return getattr(rows, "send", rows)
        """,
    ),
    "a suite that holds nothing else goes": (
        """
        with self.timed():
            for row in rows:
                self.send(row)
        self.total = rows
        """,
        "self.total = rows",
    ),
    "a suite that holds more stays": (
        """
        with self.timed():
            self.send(rows)
            self.total = rows
        """,
        """
        with self.timed():
            self.total = rows
        """,
    ),
    "a case that calls it becomes empty": (
        """
        match rows.kind:
            case "sent":
                self.send(rows)
            case "kept":
                self.total = rows
            case _:
                self.note(rows)
        """,
        """
        match rows.kind:
            case "sent":
                pass
            case "kept":
                self.total = rows
            case _:
                self.note(rows)
        """,
    ),
    "cases that hold nothing else go": (
        """
        match rows.kind:
            case "sent":
                self.send(rows)
            case _:
                self.attach(rows)
        self.total = rows
        """,
        "self.total = rows",
    ),
    "cases of what it says go with their suites": (
        """
        match self._pending:
            case None:
                self.note(rows)
        self.total = rows
        """,
        "self.total = rows",
    ),
    "a branch of its own becomes empty": (
        """
        if rows:
            self.send(rows)
        else:
            self.total = rows
        """,
        """
        if rows:
            pass
        else:
            self.total = rows
        """,
    ),
    "what it wrapped is returned as before": ("return self.attach(self.finish(rows))", "return self.finish(rows)"),
    "a local that served only it goes": (
        """
        known = {"a", "b"}
        if self.kind in known:
            self.send(rows)
        return rows
        """,
        "return rows",
    ),
    "a local that came from it takes no neighbour along": (
        """
        count = self.send(rows)
        self.keep(rows)
        self.send(count)
        return rows
        """,
        """
        self.keep(rows)
        return rows
        """,
    ),
    "a local that serves others stays": (
        """
        known = {"a", "b"}
        if self.kind in known:
            self.send(known)
        return known
        """,
        """
        known = {"a", "b"}
        return known
        """,
    ),
    "what stood in a context of it stays": (
        """
        with self._connector.lock():
            # one at a time
            for row in rows:
                self.note(row, \"\"\"a
    text\"\"\")
            self.total = rows
        return rows
        """,
        """
        # one at a time
        for row in rows:
            self.note(row, \"\"\"a
    text\"\"\")
        self.total = rows
        return rows
        """,
    ),
    "other contexts beside it stay": (
        """
        with (
            self._connector.lock(),  # of the mixin: no more
            torch.no_grad(),
            open(rows) as file,
        ):
            self.total = rows
        return rows
        """,
        """
        with torch.no_grad(), open(rows) as file:
            self.total = rows
        return rows
        """,
    ),
    "what uses what such a context gave goes": (
        """
        limit = 3
        with self._connector.record(limit) as record, timed(record):
            self.total = rows
            record(rows)
        return rows
        """,
        """
        self.total = rows
        return rows
        """,
    ),
    "a name of such a context that is bound again stays": (
        """
        with self._connector.lock() as out:
            out.note()
            self.total = rows
        out = self.compute(rows)
        return out
        """,
        """
        out.note()
        self.total = rows
        out = self.compute(rows)
        return out
        """,
    ),
    "a name that a context of something else gives, too, stays": (
        """
        with self._connector.lock() as record:
            self.total = rows
        with self.timed() as record:
            record.note(rows)
        """,
        """
        self.total = rows
        with self.timed() as record:
            record.note(rows)
        """,
    ),
    "a name that two such contexts give goes": (
        """
        with self._connector.lock() as record:
            record.note(rows)
        with self._connector.lock() as record:
            self.total = rows
            record.note(rows)
        return rows
        """,
        """
        self.total = rows
        return rows
        """,
    ),
    "a parameter that such a context gives anew stays": (
        """
        with self._connector.lock() as rows:
            self.total = 0
        return rows
        """,
        """
        self.total = 0
        return rows
        """,
    ),
    "a parameter of a lambda is another name": (
        """
        with self._connector.lock() as record:
            self.total = sorted(rows, key=lambda record: record.total)
            self.first = min(rows, key=lambda row: record.total)
        """,
        """
        self.total = sorted(rows, key=lambda record: record.total)
        """,
    ),
    "a number sign in a string ends no head": (
        """
        with self._connector.lock("step #1"):  # of the mixin: no more
            self.total = rows
        with self._connector.lock(
            # one: at a time
            "é #2:",
        ), self.timed("#"):
            self.total += 1
        """,
        """
        self.total = rows
        with self.timed('#'):
            self.total += 1
        """,
    ),
    "contexts in contexts": (
        """
        async with self.timed():
            async with self._connector.lock():
                with self.attach(rows), self.timed():
                    self.total = rows
        """,
        """
        async with self.timed():
            with self.timed():
                self.total = rows
        """,
    ),
    "a context with only uses in it goes": (
        """
        if rows:
            with self._connector.lock():
                self.send(rows)
        return rows
        """,
        "return rows",
    ),
    "a context of something else stays": (
        """
        with self.lock() as send:
            send(rows)
        """,
        """
        with self.lock() as send:
            send(rows)
        """,
    ),
    "a loop over it goes with its suite": (
        """
        for row in self._pending:
            self.note(row)
        return rows
        """,
        "return rows",
    ),
    "another object's method of that name stays": ("return channel.send(rows)", "return channel.send(rows)"),
    "a call with two arguments is no wrapper": (
        """
        if rows:
            return self.attach(rows, 1)
        return rows
        """,
        "return rows",
    ),
    "a method of nothing else stays whole": ("self.send(rows)", "self.send(rows)"),
}


def method(body: str) -> str:
    return textwrap.indent(
        "def finish(self, rows):\n" + textwrap.indent(textwrap.dedent(body).strip("\n"), "    "), "    "
    )


@pytest.mark.parametrize("name", CASES)
def test_without_uses(name: str) -> None:
    before, after = CASES[name]
    assert remove_uses(method(before), NAMES) == method(after)


USES = {"run": "self.send(rows)\nself.send(rows)\nself.note(rows)", "stop": "self.close()"}


def test_names_are_those_that_a_class_gives_to_its_instances() -> None:
    text = """
class Mixin:
    limit: int = 4

    def __init__(self):
        self._pending = {}

    def send(self, rows):
        other.total = rows
        self._pending[0] = rows

class Other:
    def receive(self):
        self.rows = 0
"""
    assert find_instance_names(text, "Mixin") == {"_pending", "send"}


@pytest.mark.parametrize(
    ("here", "left_out"),
    [
        pytest.param(USES, "", id="all of it"),
        pytest.param({"run": "self.send(rows)\nself.note(rows)", "stop": "self.close()"}, "", id="each once"),
        pytest.param({"run": "self.send(rows)", "stop": "pass"}, "self.close in stop", id="a call less"),
        pytest.param({"run": "pass", "stop": "self.close()", "_sent": "self.send(rows)"}, "", id="in its own method"),
        pytest.param({"run": "self.send(rows)"}, "self.close in stop", id="a method less"),
        pytest.param({"run": "self.send(rows)\nself.close()"}, "", id="a method of the twin's in line"),
        pytest.param(
            {"run": "self.send(rows)\nself.close()", "stop": "pass"}, "self.close in stop", id="at another place"
        ),
        pytest.param({}, "self.send in run; self.close in stop", id="nothing"),
    ],
)
def test_what_uses_a_new_mixin_and_was_left_out_is_named(here: dict[str, str], left_out: str) -> None:
    def units(bodies: dict[str, str]) -> dict[str, str]:
        return {
            f"NPUARModelRunner.{name}": f"    def {name}(self, rows):\n{textwrap.indent(body, 8 * ' ')}\n"
            for name, body in bodies.items()
        }

    mixins = {"NPUARModelRunner": {"SendingMixin": frozenset({"send", "close"})}}
    job = ModuleJob(NPU, NPU.modules[1], AR, "", Upstream(), hierarchy=Hierarchy(added_mixins=mixins))
    drafts = [Draft(name, (Stage(text),)) for name, text in units(here).items()]
    (asked,) = ask_about_mixins(
        drafts, job, {**units(USES), "NPUOtherRunner.run": "    def run(self):\n        self.close()\n"}
    )
    said = asked.reviews[0].reason
    assert said.partition(", except for these uses, which were left out: ")[2] == left_out


@pytest.mark.parametrize(
    ("line", "given"),
    [
        pytest.param("other.send(rows)", {"send", "close"}, id="it uses none"),
        pytest.param("self.send(rows)", {"close"}, id="it uses one, so that the twin's use of that is old"),
    ],
)
def test_what_a_method_used_before_is_no_news_of_a_mixin(line: str, given: set[str]) -> None:
    """``self._async_chunk`` in ``sample_tokens``: without it in the old twin, its suite would come a second time."""
    mixins = {"NPUARModelRunner": {"SendingMixin": frozenset({"send", "close"})}}
    job = ModuleJob(NPU, NPU.modules[1], AR, "", Upstream(), hierarchy=Hierarchy(added_mixins=mixins))
    text = f"    def run(self, rows):\n        {line}\n"
    assert mixins_alone.find_given_names(Draft("NPUARModelRunner.run", (Stage(text),)), job) == given


class TestUpgrade:
    """A mixin of the GPU class that the NPU class lacks: brought when it is new, left when NPU has done without it."""

    OLD = (
        OMNI_TREE[AR].replace("platforms.npu.worker.npu_model_runner", "worker.gpu_model_runner").replace("NPU", "GPU")
    )
    MIXED = (
        OLD.replace("(OmniGPUModelRunner)", "(OmniGPUModelRunner, SendingMixin)")
        .replace(
            "    from vllm_omni.worker.gpu",
            "    from vllm_omni.sending import SendingMixin\n    from vllm_omni.worker.gpu",
        )
        .replace("            return super()", "            self.send(logits)\n            return super()")
    )
    SENDING = "class SendingMixin:\n    def send(self, rows):\n        self.sent = rows\n"
    NEWER = MIXED.replace("            if info is None", "            self.send(info)\n            if info is None")

    def upgraded(
        self,
        trees: Trees,
        was: str,
        now: str,
        *,
        ascend: Path | None = None,
        beside: Mapping[str, str] | None = None,
        **rest: object,
    ) -> tuple[str, str]:
        """The NPU module after an upgrade in which its GPU twin went from ``was`` to ``now``, and the questions."""
        lay_out(trees.omni, {GPU_AR: was, "vllm_omni/sending.py": self.SENDING, **(beside or {})})
        commit(trees.omni)
        lay_out(trees.omni, {GPU_AR: now})
        commit(trees.omni)
        result = check_upgrade(
            trees.upgrade(ascend or trees.ascend_new, omni_base="HEAD~1", vllm_base="0.20.0", verify=False, **rest)
        )
        text = (trees.omni / AR).read_text("utf-8")
        text = next((change.after or "" for change in result.changes if change.path == AR), text)
        return text, "\n".join(item.reason for item in result.report.reviews)

    @pytest.fixture
    def trees(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trees:
        stay_at_home(monkeypatch, tmp_path)
        return Trees(tmp_path)

    def test_a_new_mixin_comes_with_what_calls_it(self, trees: Trees) -> None:
        text, questions = self.upgraded(trees, self.OLD, self.MIXED)
        assert "class NPUARModelRunner(OmniNPUModelRunner, SendingMixin):" in text
        assert "self.send(logits)" in text
        assert "mixes in SendingMixin now" in questions
        assert "except for these uses, which were left out" not in questions

    def test_a_mixin_that_npu_has_done_without_is_left_with_what_calls_it(self, trees: Trees) -> None:
        text, questions = self.upgraded(trees, self.MIXED, self.NEWER)
        assert "class NPUARModelRunner(OmniNPUModelRunner):" in text
        assert "import SendingMixin" not in text
        assert "self.send(" not in text
        given = f"--omni-path {trees.omni} --ascend-path {trees.ascend_new} --vllm-path {trees.vllm}"
        assert (
            f"`runner-sync upgrade {given} --only 'NPUARModelRunner*'` adds it and the code that calls it" in questions
        )
        assert "uses anything of it" not in questions

    def test_a_mixin_that_moved_to_another_module_is_the_one_that_npu_has(self, trees: Trees) -> None:
        """The NPU class still imports it from where it was, and was said to do without it."""
        base = "vllm_omni.platforms.npu.worker.npu_model_runner import OmniNPUModelRunner"
        lay_out(trees.omni, {"vllm_omni/sending.py": self.SENDING})
        trees.edit(AR, f"from {base}\n", f"from vllm_omni.sending import SendingMixin\nfrom {base}\n")
        trees.edit(AR, "(OmniNPUModelRunner)", "(OmniNPUModelRunner, SendingMixin)")
        lay_out(trees.omni, {GPU_AR: self.MIXED})
        commit(trees.omni)
        (trees.omni / "vllm_omni/sending.py").unlink()
        lay_out(trees.omni, {GPU_AR: self.MIXED.replace("vllm_omni.sending", "vllm_omni.wires")})
        lay_out(trees.omni, {"vllm_omni/wires.py": self.SENDING})
        commit(trees.omni)
        options = trees.upgrade(trees.ascend_new, omni_base="HEAD~1", vllm_base="0.20.0", verify=False)
        result = check_upgrade(options)
        text = next(change.after or "" for change in result.changes if change.path == AR)
        assert "class NPUARModelRunner(OmniNPUModelRunner, SendingMixin):" in text
        assert "from vllm_omni.wires import SendingMixin" in text
        questions = "\n".join(item.reason for item in result.report.reviews)
        assert "which is imported from vllm_omni.wires now" in questions
        assert "NPU class lacked" not in questions

    BODY = """
        def take_rows(self, rows):
            self.check(rows)
            self.rows = list(rows)
            for row in self.rows:
                self.note(row)
            return self.rows
    """

    def caught_up(self, trees: Trees, now: str, *, was: str = MIXED, **rest: object) -> tuple[str, str]:
        """The same after an upgrade to a vllm-ascend that has ``now`` for the method that NPU has a copy of.

        The twin has the mixin before and after."""
        lay_out(trees.omni, {AR: OMNI_TREE[AR] + self.BODY.replace("return self.rows", "return [*self.rows]")})
        lay_out(trees.ascend_old, {ASCEND: ASCEND_OLD[ASCEND] + self.BODY})
        commit(trees.ascend_old)
        lay_out(trees.ascend_old, {ASCEND: ASCEND_OLD[ASCEND] + now})
        commit(trees.ascend_old)
        return self.upgraded(trees, was, self.NEWER, ascend=trees.ascend_old, ascend_base="HEAD~1", **rest)

    EMPTY = "class SendingMixin({}):\n    pass\n"
    WIRES = SENDING.replace("SendingMixin", "Wires")

    @pytest.mark.parametrize(
        ("beside", "came"),
        [
            pytest.param({"sending": f"{WIRES}\n\n{EMPTY.format('Wires')}"}, True, id="a base beside it"),
            pytest.param(
                {"sending": f"from vllm_omni.wires import Wires\n\n\n{EMPTY.format('Wires')}", "wires": WIRES},
                True,
                id="an imported one",
            ),
            pytest.param(
                {
                    "sending": f"from vllm_omni.wires import Wires\n\n\n{EMPTY.format('Wires')}",
                    "wires": f"class Wires(Plugs):\n    pass\n\n\n{WIRES.replace('Wires', 'Plugs')}",
                },
                True,
                id="the base of one",
            ),
            pytest.param({"sending": f"{WIRES}\n\n{EMPTY.format('object')}"}, False, id="no base of its own"),
            pytest.param(
                {"sending": f"from wires import Wires\n\n\n{EMPTY.format('Wires')}", "wires": WIRES},
                False,
                id="one of another project",
            ),
        ],
    )
    def test_a_mixin_gives_what_its_omni_bases_give(self, trees: Trees, beside: dict[str, str], *, came: bool) -> None:
        """``OmniConnectorModelRunnerMixin`` of 0.30.0, which came without one call of it."""
        files = {f"vllm_omni/{name}.py": text for name, text in beside.items()}
        text, questions = self.caught_up(
            trees, self.BODY.replace("list(rows)", "tuple(rows)"), was=self.NEWER, beside=files
        )
        assert "class NPUARModelRunner(OmniNPUModelRunner, SendingMixin):" in text
        assert ("self.send(logits)" in text) == came
        assert ("with the GPU code that sets it up and calls it" in questions) == came

    def test_a_mixin_does_not_give_what_a_class_has_from_its_base_anyway(self, trees: Trees) -> None:
        trees.edit(AR, "(OmniNPUModelRunner)", "(OmniNPUModelRunner, Wires)")
        trees.edit(AR, "from vllm_omni.pl", "from vllm_omni.sending import Wires\nfrom vllm_omni.pl")
        beside = {"vllm_omni/sending.py": f"{self.WIRES}\n\n{self.EMPTY.format('Wires')}"}
        text, questions = self.upgraded(trees, self.OLD, self.MIXED, beside=beside)
        assert "SendingMixin" in text.partition("class NPUARModelRunner")[2]
        assert "as its GPU twin does" in questions
        assert "with the GPU code that sets it up and calls it" not in questions

    def test_a_mixin_that_npu_has_done_without_comes_with_a_step_of_vllm_ascend(self, trees: Trees) -> None:
        text, questions = self.caught_up(trees, self.BODY.replace("list(rows)", "tuple(rows)"))
        assert "self.rows = tuple(rows)" in text
        assert "class NPUARModelRunner(OmniNPUModelRunner, SendingMixin):" in text
        assert "self.send(logits)" in text
        assert "NPU lacked SendingMixin before this upgrade, too: take it out if that was on purpose" in questions

    @pytest.mark.parametrize(
        ("change", "rest"),
        [
            pytest.param(("rows", "rows"), {}, id="vllm-ascend changed nothing that NPU has"),
            pytest.param(("list", "tuple"), {"only": ("take_rows",)}, id="a unit is asked for"),
        ],
    )
    def test_a_mixin_that_npu_has_done_without_waits(
        self, trees: Trees, change: tuple[str, str], rest: dict[str, object]
    ) -> None:
        text, _ = self.caught_up(trees, self.BODY.replace(*change), **rest)
        assert "class NPUARModelRunner(OmniNPUModelRunner):" in text

    def test_a_mixin_that_somebody_took_out_again_stays_out(self, trees: Trees) -> None:
        self.caught_up(trees, self.BODY.replace("list", "tuple"))
        text = (trees.omni / AR).read_text("utf-8")
        without = (
            text.replace(", SendingMixin", "").replace("self.send(logits)", "pass").replace("self.send(info)", "pass")
        )
        (trees.omni / AR).write_text(without, "utf-8")
        commit(trees.omni)
        lay_out(trees.ascend_old, {ASCEND: ASCEND_OLD[ASCEND] + self.BODY.replace("list", "sorted")})
        commit(trees.ascend_old)
        planned = check_upgrade(trees.upgrade(trees.ascend_old, verify=False))
        after = next(change.after or "" for change in planned.changes if change.path == AR)
        assert "self.rows = sorted(rows)" in after
        assert "class NPUARModelRunner(OmniNPUModelRunner):" in after

    def test_only_brings_a_mixin_that_npu_has_done_without(self, trees: Trees) -> None:
        text, _ = self.upgraded(trees, self.MIXED, self.NEWER, only=("NPUARModelRunner*",))
        assert "class NPUARModelRunner(OmniNPUModelRunner, SendingMixin):" in text
        assert "self.send(logits)" in text
        assert "self.send(info)" in text

    @pytest.mark.parametrize(
        ("only", "base"),
        [
            ("NPUARModelRunner._finish", "OmniNPUModelRunner, SendingMixin"),
            ("_finish", "OmniNPUModelRunner, SendingMixin"),
            ("NPUARModelRunner._stage_of", "OmniNPUModelRunner"),
            ("OmniNPUModelRunner.execute_model", "OmniNPUModelRunner"),
        ],
    )
    def test_a_new_mixin_comes_with_what_uses_it_of_what_only_names(self, trees: Trees, only: str, base: str) -> None:
        text, questions = self.upgraded(trees, self.OLD, self.MIXED, only=(only,))
        assert f"class NPUARModelRunner({base}):" in text
        assert ("mixes in SendingMixin now" in questions) is ("Mixin" in base)

    def test_a_mixin_of_which_no_gpu_runner_uses_anything_is_not_brought(self, trees: Trees) -> None:
        text, questions = self.upgraded(trees, self.OLD, self.MIXED.replace("            self.send(logits)\n", ""))
        assert "class NPUARModelRunner(OmniNPUModelRunner):" in text
        assert (
            "the GPU twin newly mixes in SendingMixin; the NPU class was left without it, because no GPU runner uses it"
            in questions
        )
        assert "NPU class lacked" not in questions

    def test_noop_a_mixin_that_nothing_uses_is_not_new_where_the_twin_had_it_before(self, trees: Trees) -> None:
        unused = self.MIXED.replace("            self.send(logits)\n", "")
        text, questions = self.upgraded(trees, unused, unused.replace("is None", "is False"))
        assert "class NPUARModelRunner(OmniNPUModelRunner):" in text
        assert "mixes in SendingMixin, which the NPU class lacked before this upgrade" in questions
        assert "no method of the GPU twin itself uses anything of it" in questions

    @pytest.mark.parametrize("is_renamed", [False, True])
    def test_a_mixin_taken_out_by_hand_stays_out_even_if_its_members_are_renamed(
        self, trees: Trees, is_renamed: bool
    ) -> None:
        self.upgraded(trees, self.OLD, self.MIXED)
        text = (trees.omni / AR).read_text()
        assert ", SendingMixin)" in text
        own = ("self.send(", "import SendingMixin", "runner-sync: review")
        kept = [
            line for line in text.replace(", SendingMixin)", ")").split("\n") if not any(one in line for one in own)
        ]
        lay_out(trees.omni, {AR: "\n".join(kept)})
        commit(trees.omni)
        mixed, sending = self.MIXED.replace("is None", "is False"), self.SENDING
        if is_renamed:
            mixed, sending = (
                mixed.replace("self.send(", "self.send_rows("),
                sending.replace("def send", "def send_rows"),
            )
        lay_out(trees.omni, {GPU_AR: mixed, "vllm_omni/sending.py": sending.replace("self.sent", "self.last")})
        commit(trees.omni)
        result = check_upgrade(trees.upgrade(trees.ascend_new, verify=False))
        assert not [change for change in result.changes if change.path == AR and "SendingMixin" in (change.after or "")]

    @pytest.mark.parametrize("is_used", [True, False])
    def test_a_mixin_left_out_because_nothing_used_it_comes_with_its_first_use(
        self, trees: Trees, *, is_used: bool
    ) -> None:
        unused = self.MIXED.replace("            self.send(logits)\n", "")
        self.upgraded(trees, self.OLD, unused)
        commit(trees.omni, "Upgrade")
        lay_out(trees.omni, {GPU_AR: self.MIXED if is_used else unused.replace("is None", "is False")})
        commit(trees.omni)
        result = check_upgrade(trees.upgrade(trees.ascend_new, verify=False))
        text = next(change.after or "" for change in result.changes if change.path == AR)
        assert ("class NPUARModelRunner(OmniNPUModelRunner, SendingMixin):" in text, "self.send(" in text) == (
            is_used,
            is_used,
        )
        questions = [item.reason for item in result.report.reviews if "SendingMixin" in item.reason]
        assert len(questions) == is_used

    REBUILT = PACKED.replace("self.build(rows)", "Later(self.build, rows).made()")

    @pytest.mark.parametrize(
        ("more", "came"),
        [
            pytest.param("self.send(out)", True, id="it uses the mixin"),
            pytest.param("self.keep(out)", False, id="it does not"),
        ],
    )
    def test_a_mixin_comes_with_its_calls_where_the_port_of_a_method_is_refused(
        self, trees: Trees, monkeypatch: pytest.MonkeyPatch, more: str, *, came: bool
    ) -> None:
        monkeypatch.setattr(sound_merge, "TRIES", 1)
        lay_out(trees.omni, {AR: OMNI_TREE[AR] + PACKED})
        now = self.REBUILT.replace("self.note(out)", f"self.note(out)\n            {more}")
        text, questions = self.upgraded(trees, self.OLD + PACKED, self.MIXED + now)
        assert "not ported: the GPU runner's change cannot be applied" in questions
        assert (
            f"{more}\n        self.count(out)" in text,
            "only the statements that use the new mixin were ported" in questions,
        ) == (came, came)
        assert "out = self.build(rows)" in text

    def test_a_helper_of_the_twins_brings_its_calls_of_a_mixin_to_where_npu_has_it_in_line(self, trees: Trees) -> None:
        """The twin, its helper and the mixin are as they were; only NPU gets the mixin."""
        done = ["begin", "mark", "note", "count", "check", "store", "close", "end"]
        body = "".join(f"self.{name}(rows, self.{name}s)\n            " for name in done)
        twin = (
            "\n        def pack(self, rows):\n            self._do(rows)\n\n        def _do(self, rows):\n            "
        )
        lay_out(trees.omni, {AR: OMNI_TREE[AR] + f"\n        def pack(self, rows):\n            {body}"})
        gpu = self.MIXED + twin + body.replace("self.count(", "self.send(rows)\n            self.count(")
        text, questions = self.upgraded(trees, gpu, gpu, only=("NPUARModelRunner*",))
        assert "self.send(rows)\n        self.count(" in text
        assert "except for these uses, which were left out" not in questions

    @pytest.mark.parametrize(
        ("member", "came"),
        [
            pytest.param("", True, id="it sets the name itself"),
            pytest.param(
                "\n        def send(self, rows):\n            return super().send(rows)\n",
                False,
                id="it calls the mixin's",
            ),
            pytest.param(
                "\n        def send(self, rows):\n            return super(GPUARModelRunner, self).send(rows)\n",
                False,
                id="it calls the mixin's in the older way",
            ),
            pytest.param(
                "\n        def send(self, rows):\n            # not super().send(rows)\n            self.sent = rows\n",
                True,
                id="it says that it does not",
            ),
        ],
    )
    def test_what_the_gpu_class_gives_itself_is_no_gift_of_a_mixin(
        self, trees: Trees, member: str, *, came: bool
    ) -> None:
        name = "self.send(info)" if member else "self.sent = info"
        now = self.MIXED.replace("            if info is None", f"            {name}\n            if info is None")
        text, _ = self.upgraded(trees, self.MIXED, now + member)
        assert (name in text) == came
        assert "import SendingMixin" not in text

    @pytest.mark.parametrize(
        ("use", "came"),
        [
            pytest.param("self.send(scheduler_output)", True, id="it uses the mixin"),
            pytest.param("self.seen = scheduler_output", False, id="it does not"),
        ],
    )
    def test_an_override_that_npu_did_without_comes_with_the_mixin_it_uses(
        self, trees: Trees, use: str, *, came: bool
    ) -> None:
        override = """
        def _update_states(self, scheduler_output):
            return super()._update_states(scheduler_output)
    """
        now = override.replace("            return", f"            {use}\n            return")
        text, _ = self.upgraded(trees, self.OLD + override, self.MIXED + now)
        assert "class NPUARModelRunner(OmniNPUModelRunner, SendingMixin):" in text
        assert ("def _update_states" in text, use in text) == (came, came)
