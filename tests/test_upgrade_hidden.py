"""What vllm-ascend added or changed and the NPU class does not run, because it or a base in front has its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from sync_samples import (
    ASCEND,
    ASCEND_NEW,
    ASCEND_OLD,
    BASE,
    GPU_BASE,
    OMNI_TREE,
    VLLM,
    VLLM_TREE,
    Trees,
    check_upgrade,
    commit,
    dedent,
    lay_out,
    stay_at_home,
)

from runner_sync import sync
from runner_sync.model import BaseRef
from runner_sync.profile import NPU
from runner_sync.upgrade.draft import Draft, Stage
from runner_sync.upgrade.job import Hierarchy, Inherited, ModuleJob, Upstream, Variant
from runner_sync.upgrade.questions.hidden import ask_about_variants
from runner_sync.upgrade.questions.partial_overrides import find_set_again
from runner_sync.upgrade.revision import ModuleRevision
from runner_sync.write import write

OWN = "    def _update_states(self, scheduler_output):\n        self.mine = scheduler_output\n"
ASCENDS = "    def _update_states(self, scheduler_output):\n        self.receive(scheduler_output)\n"


def questions(
    folder: Path,
    own: str,
    target: str,
    *,
    of: str = "_update_states",
    vllm: str | None = None,
    npu: str = "",
    gone: str = "",
    **rest: object,
) -> list[str]:
    """What is asked about a method when omni's GPU base has ``own`` besides, and the target's class ``target``.

    ``gone`` is what the base's class has besides.
    """
    trees = Trees(folder)
    if vllm is not None:
        lay_out(trees.vllm, {VLLM: vllm})
    if npu:
        trees.edit(BASE, "    def execute_model(", npu)
    lay_out(trees.omni, {GPU_BASE: OMNI_TREE[GPU_BASE] + "\n    " + own.replace("\n", "\n    ").rstrip(" ")})
    commit(trees.omni)
    lay_out(trees.ascend_old, {ASCEND: ASCEND_OLD[ASCEND] + "\n    " + gone.replace("\n", "\n    ").rstrip(" ")})
    commit(trees.ascend_old)
    lay_out(trees.ascend_old, {ASCEND: ASCEND_NEW[ASCEND] + "\n    " + target.replace("\n", "\n    ").rstrip(" ")})
    commit(trees.ascend_old)
    result = check_upgrade(trees.upgrade(trees.ascend_old, gpu=False, verify=False, ascend_base="HEAD~1", **rest))
    return [item.reason for item in result.report.reviews if item.unit.endswith(f".{of}")]


@pytest.fixture(autouse=True)
def _no_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stay_at_home(monkeypatch, tmp_path)


def test_a_new_method_that_does_not_run_is_a_question(tmp_path: Path) -> None:
    (reason,) = questions(tmp_path, OWN, ASCENDS)
    assert reason.startswith(
        "vllm-ascend added this method since HEAD~1, but it does not run: a base class in front of NPUModelRunner"
    )


def write_new_lock(trees: Trees) -> None:
    """Run ``lock``, which asks nothing."""
    commit(trees.omni)
    write([sync.lock(trees.upgrade(trees.ascend_old, omni_base=trees.itself)).lock], trees.omni)
    commit(trees.omni)


def upgrade_twice(folder: Path, later: str, *, relocks: bool = False, **rest: object) -> list[str]:
    """What a second upgrade asks about ``_update_states``; vllm-ascend adds it before the first and has ``later`` then.

    No unit changes with vllm-ascend, so the lock keeps the first revision for each.
    """
    trees = Trees(folder)
    lay_out(trees.omni, {GPU_BASE: OMNI_TREE[GPU_BASE] + "\n    " + OWN.replace("\n", "\n    ").rstrip(" ")})
    commit(trees.ascend_old)
    trees.write_lock()
    asked: list[str] = []
    for target in (ASCENDS, later):
        lay_out(trees.ascend_old, {ASCEND: dedent(ASCEND_OLD[ASCEND]) + "\n" + target})
        commit(trees.ascend_old)
        options = trees.upgrade(trees.ascend_old, gpu=False, verify=False, **rest if asked else {})
        result = sync.upgrade(options)
        sync.apply(result, options)
        if relocks:
            write_new_lock(trees)
        asked += [item.reason for item in result.report.reviews if item.unit.endswith("._update_states")] or [""]
    assert asked[0]
    return asked[1:]


@pytest.mark.parametrize("relocks", [False, True])
def test_a_hidden_method_is_asked_about_once(tmp_path: Path, relocks: bool) -> None:
    assert upgrade_twice(tmp_path, f"{ASCENDS}        # as before\n", relocks=relocks) == [""]


@pytest.mark.parametrize("first", [None, "lock", "only", "no upstream"])
def test_a_run_that_does_not_ask_settles_no_hidden_method(tmp_path: Path, first: str | None) -> None:
    trees = Trees(tmp_path)
    lay_out(trees.omni, {GPU_BASE: OMNI_TREE[GPU_BASE] + "\n    " + OWN.replace("\n", "\n    ").rstrip(" ")})
    commit(trees.ascend_old)
    trees.write_lock()
    lay_out(trees.ascend_old, {ASCEND: dedent(ASCEND_OLD[ASCEND]) + "\n" + ASCENDS})
    commit(trees.ascend_old)
    if first == "lock":
        write_new_lock(trees)
    elif first is not None:
        named: dict[str, object] = {"only": ("execute_model",)} if first == "only" else {"upstream": False}
        options = trees.upgrade(trees.ascend_old, verify=False, **named)
        sync.apply(sync.upgrade(options), options)
    result = sync.upgrade(trees.upgrade(trees.ascend_old, gpu=False, verify=False))
    assert [item for item in result.report.reviews if item.unit.endswith("._update_states")]


@pytest.mark.parametrize("rest", [{}, {"ascend_base": "HEAD~2"}], ids=["changed again", "since a named revision"])
def test_a_hidden_method_is_asked_about_again_if_there_is_more_to_decide(
    tmp_path: Path, rest: dict[str, object]
) -> None:
    later = ASCENDS if rest else f"{ASCENDS}        self.send(scheduler_output)\n"
    (reason,) = upgrade_twice(tmp_path, later, **rest)
    assert reason.startswith(f"vllm-ascend {'added' if rest else 'changed'} this method since ")


COPIED = "; it calls super(), so a copy of it in OmniNPUModelRunner would run together with that override"


@pytest.mark.parametrize(
    ("theirs", "is_told"),
    [
        (f"{ASCENDS}        super()._update_states(scheduler_output)\n", True),
        (ASCENDS, False),
        (f"{ASCENDS}        super()._receive(scheduler_output)\n", False),
    ],
)
def test_a_hidden_method_that_calls_super_can_be_copied(tmp_path: Path, theirs: str, is_told: bool) -> None:
    (reason,) = questions(tmp_path, OWN, theirs)
    assert (COPIED in reason) is is_told


@pytest.mark.parametrize(
    ("line", "is_asked"),
    [
        pytest.param("return super()._update_states(scheduler_output)", False, id="it hands on"),
        pytest.param("super(OmniGPUModelRunner, self)._update_states(scheduler_output)", False, id="in the older way"),
        pytest.param("# was super()._update_states(scheduler_output)\n        self.mine = 1", True, id="a comment"),
        pytest.param("self.note('no super()._update_states(…) here')", True, id="a message"),
        pytest.param("return super()._update_rows(scheduler_output)", True, id="another method"),
        pytest.param("return self.model._update_states(scheduler_output)", True, id="another object"),
    ],
)
def test_a_base_that_hands_on_hides_nothing(tmp_path: Path, line: str, is_asked: bool) -> None:
    own = OWN.replace("self.mine = scheduler_output", line)
    assert bool(questions(tmp_path, own, ASCENDS)) == is_asked


@pytest.mark.parametrize(
    ("gone", "is_told"),
    [
        pytest.param("self._receive_sampled_token_ids()", True, id="of one feature"),
        pytest.param("self._receive_rows()", False, id="another feature"),
        pytest.param("self.queue._receive_sampled_token_ids()", False, id="of another object"),
        pytest.param("self._apply_sampled_tokens(1)", False, id="called before, too"),
    ],
)
def test_calls_that_upstream_ended_and_that_a_hidden_method_may_replace_are_named(
    tmp_path: Path, gone: str, is_told: bool
) -> None:
    """vllm-ascend 0.27 applies sampled tokens in `_update_states`, and its copies no longer receive them."""
    theirs = f"{ASCENDS}        self._apply_sampled_tokens(scheduler_output)\n"
    (reason,) = questions(tmp_path, OWN, theirs, gone=f"    def _take(self):\n        {gone}\n")
    said = "; vllm-ascend no longer calls self._receive_sampled_token_ids: does this method do that work now?"
    assert reason.endswith(said) if is_told else "no longer calls" not in reason


def test_calls_that_omni_makes_itself_are_not_named(tmp_path: Path) -> None:
    theirs = f"{ASCENDS}        self._apply_sampled_tokens(scheduler_output)\n"
    mine = f"{OWN}        self._receive_sampled_token_ids()\n"
    gone = "    def _take(self):\n        self._receive_sampled_token_ids()\n"
    (reason,) = questions(tmp_path, mine, theirs, gone=gone)
    assert "no longer calls" not in reason


def test_what_nobody_asked_for_is_no_question(tmp_path: Path) -> None:
    assert questions(tmp_path, OWN, ASCENDS, only=("*._forward",)) == []


def test_what_the_target_does_not_define_is_no_question(tmp_path: Path) -> None:
    assert questions(tmp_path, OWN, "    def _other(self):\n        return 1\n") == []


THEIRS = "    def _update_states(self, rows):\n        self.a(rows)\n        self.b(rows)\n        self.c(rows)\n"
MIRROR = (
    "    def _update_states(self, rows):\n        self.a(rows)\n"
    + "".join(f"        self.own_{k}(rows)\n" for k in range(3))
    + "        self.mine(rows)\n"
)


def replaced(
    folder: Path,
    own: str,
    *,
    theirs: str = THEIRS,
    target: str = THEIRS.replace("self.c(rows)", "self.d(rows)"),
    trees: Trees | None = None,
) -> list[str]:
    """What is asked when the NPU class has ``own``, and vllm-ascend's ``theirs`` became ``target``."""
    trees = trees or Trees(folder)
    lay_out(trees.omni, {BASE: OMNI_TREE[BASE] + _indented(own)})
    commit(trees.omni)
    lay_out(trees.ascend_old, {ASCEND: ASCEND_OLD[ASCEND] + _indented(theirs)})
    commit(trees.ascend_old)
    lay_out(trees.ascend_old, {ASCEND: ASCEND_NEW[ASCEND] + _indented(target)})
    commit(trees.ascend_old)
    result = check_upgrade(trees.upgrade(trees.ascend_old, gpu=False, verify=False, ascend_base="HEAD~1"))
    return [item.reason for item in result.report.reviews if item.unit.endswith("._update_states")]


def _indented(method: str) -> str:
    return "\n    " + method.replace("\n", "\n    ").rstrip(" ")


HIDES = "vllm-ascend changed the method that this override hides since HEAD~1"


def test_a_method_that_mirrors_one_which_upstream_changed_is_a_question(tmp_path: Path) -> None:
    assert replaced(tmp_path, MIRROR) == [f"{HIDES} (it now calls self.d); the override does not call it"]


@pytest.mark.parametrize(
    ("new", "said"),
    [
        (THEIRS.replace("self.c(rows)", "self.c(rows, len(rows))"), ""),
        (THEIRS.replace("self.c(rows)", "self.c(copy(rows))"), " (it now calls copy)"),
        (
            THEIRS + "".join(f"        self.step_{k}(pool.take(rows))\n" for k in range(4)),
            " (it now calls self.step_0, pool.take, self.step_1 and 2 more)",
        ),
    ],
    ids=["none of its own", "one", "many"],
)
def test_the_question_names_what_upstream_calls_now(tmp_path: Path, new: str, said: str) -> None:
    more = "".join(f"        self.more_{k}(rows)\n" for k in range(9))
    (reason,) = replaced(tmp_path, f"{MIRROR}{more}        self.c(rows, kind=1)\n", target=new)
    assert reason == f"{HIDES}{said}; the override does not call it"


def test_who_names_the_call_in_a_comment_does_not_call_it(tmp_path: Path) -> None:
    comment = "# was super()._update_states(rows)\n        self.mine(rows)"
    assert len(replaced(tmp_path, MIRROR.replace("self.mine(rows)", comment))) == 1


@pytest.mark.parametrize(
    ("own", "target"),
    [
        pytest.param(MIRROR, THEIRS, id="upstream left it as it was"),
        pytest.param(MIRROR.replace("self.mine(rows)", "super()._update_states(rows)"), None, id="hands on"),
        pytest.param(
            MIRROR.replace("self.mine(rows)", "NPUModelRunner._update_states(self, rows)"), None, id="hands on by name"
        ),
        pytest.param(
            MIRROR.replace("self.mine(rows)", "super(Runner, self)._update_states(rows)"), None, id="the older way"
        ),
        pytest.param(
            "    def _update_states(self, x, y):\n" + "".join(f"        self.own_{k}(x)\n" for k in range(6)),
            None,
            id="only the name",
        ),
    ],
)
def test_methods_that_miss_nothing(tmp_path: Path, own: str, target: str | None) -> None:
    assert replaced(tmp_path, own, **({"target": target} if target else {})) == []


@pytest.mark.parametrize(("shared", "own", "is_asked"), [(3, 17, True), (1, 20, False)])
def test_a_method_that_grew_away_from_upstreams_still_misses_its_changes(
    tmp_path: Path, shared: int, own: int, is_asked: bool
) -> None:
    """15 % of the statements are upstream's, or 5 %."""
    theirs = THEIRS.split("\n")[1 : 1 + shared]
    mine = "".join(f"        self.own_{k}(rows)\n" for k in range(own))
    text = "\n".join(["    def _update_states(self, rows):", *theirs, mine])
    assert replaced(tmp_path, text) == [f"{HIDES} (it now calls self.d); the override does not call it"] * is_asked


def test_a_method_written_after_vllms_misses_what_upstreams_does_besides(tmp_path: Path) -> None:
    """``profile_run`` of the generation runner is vLLM's, edited; vllm-ascend's is a few lines around ``super()``."""
    vllms = "".join(f"        self.step_{k}(rows)\n" for k in range(4))
    trees = Trees(tmp_path)
    lay_out(trees.vllm, {VLLM: dedent(VLLM_TREE[VLLM]).replace("        self.seen = scheduler_output\n", vllms)})
    own = "    def _update_states(self, rows):\n        self.mine(rows)\n" + vllms
    assert replaced(tmp_path, own, trees=trees) == [f"{HIDES} (it now calls self.d); the override does not call it"]


SPLIT = """\
    def _update_states(self, rows):
        if rows is None:
            self.a(rows)
            return self.b(rows)
        self.c(rows)
        return self.d(rows)
"""
ONE_PATH = """\
    def _update_states(self, rows):
        if rows is None:
            self.mine(rows)
            self.a(rows)
            return self.b(rows)
        return super()._update_states(rows)
"""


READIED = SPLIT.replace("self.a(rows)", "self.ready(rows)\n            self.a(rows)")


def beside(folder: Path, own: str, target: str = READIED) -> list[str]:
    """What is asked when the NPU class has ``own``, and vllm-ascend's ``SPLIT`` became ``target``."""
    return replaced(folder, own, theirs=SPLIT, target=target)


def test_a_method_that_calls_upstreams_on_one_path_misses_what_changed_on_the_other(tmp_path: Path) -> None:
    """``_sample`` of the AR runner hands on for speculative decoding alone; vllm-ascend 0.25.1rc1 prepares its sampler
    on the other path."""
    expected = (
        "vllm-ascend changed the method that this override hides since HEAD~1 (it now calls self.ready); "
        "the override calls it on one path only"
    )
    assert beside(tmp_path, ONE_PATH) == [expected]


@pytest.mark.parametrize(
    "own",
    [
        pytest.param(ONE_PATH.replace("return self.b(rows)", "self.b(rows)"), id="every path hands on"),
        pytest.param(
            ONE_PATH.replace("self.b(rows)", "super()._update_states(rows)"), id="each of both paths hands on"
        ),
        pytest.param(
            ONE_PATH.replace("self.a(rows)\n            return self.b(rows)", "return None").replace(
                "return super", "self.a(rows)\n        return super"
            ),
            id="the other path has nothing of upstream's",
        ),
        pytest.param(ONE_PATH.replace("self.mine(rows)", "self.ready(rows)"), id="the other path has it, too"),
    ],
)
def test_a_method_that_calls_upstreams_on_one_path_misses_nothing(tmp_path: Path, own: str) -> None:
    assert beside(tmp_path, own) == []


def test_what_changed_on_the_path_that_hands_on_is_run(tmp_path: Path) -> None:
    changed = "self.ready(rows)\n        self.c(rows)"
    assert beside(tmp_path, ONE_PATH, SPLIT.replace("self.c(rows)", changed)) == []


@pytest.mark.parametrize(
    "own",
    [
        pytest.param(ONE_PATH, id="handed on to on one path"),
        pytest.param(
            "    def _update_states(self, rows):\n        self.c(rows)\n"
            + "".join(f"        self.mine_{k}(rows)\n" for k in range(8)),
            id="not called",
        ),
    ],
)
@pytest.mark.parametrize(
    ("theirs", "target"),
    [
        pytest.param("self.a(rows)", "done = self.a(rows)\n            self.e(done)", id="another name for a local"),
        pytest.param("self.a(rows)", "self.a(rows, size=1, kind=2)", id="another order of keywords"),
    ],
)
def test_a_mere_rewording_of_what_an_override_hides_is_not_asked_about(
    tmp_path: Path, own: str, theirs: str, target: str
) -> None:
    """A renamed ``num_reqs`` in ``sample_tokens``, of which the generation runner has its own version."""
    before, now = (
        SPLIT.replace(theirs, target),
        target.replace("done", "made").replace("size=1, kind=2", "kind=2, size=1"),
    )
    assert replaced(tmp_path, own, theirs=before, target=SPLIT.replace(theirs, now)) == []
    more = SPLIT.replace(theirs, now).replace("if rows is None", "self.f(rows)\n        if rows is None")
    assert replaced(tmp_path / "else", own, theirs=before, target=more)


PARTS = """\
    def _update_states(self, rows):
        self.begin(rows)
        if self.is_deep:
            self.a(rows)
            self.wait(rows)
        self.c(rows)
        if rows:
            self.d(rows)
        self.end(rows)
"""
SOME_PARTS = f"""\
    def _update_states(self, rows):
        self.begin(rows)
        {"; ".join(f"self.mine_{k}(rows)" for k in range(9))}
        if rows:
            self.note(rows)
        self.end(rows, 1)
"""


@pytest.mark.parametrize(
    ("old", "new", "is_asked"),
    [
        pytest.param("self.wait(rows)", "self.stream.wait(rows)", False, id="in a block that it lacks"),
        pytest.param("self.a(rows)\n", "self.a(rows)\n            self.b(rows)\n", False, id="new in such a block"),
        pytest.param("self.c(rows)", "self.c(rows, 2)", False, id="an argument of a call that it lacks"),
        pytest.param(
            "if self.is_deep:\n            self.a(rows)",
            "n = self.n\n        if self.is_deep:\n            self.a(n)",
            False,
            id="a local for such a block",
        ),
        pytest.param("self.d(rows)", "self.e(rows)", True, id="in a block that it has"),
        pytest.param("self.end(rows)", "self.end(rows, size=2)", True, id="a statement that it has in its own form"),
        pytest.param("self.c(rows)", "self.c(self.pad(rows))", True, id="a new call"),
        pytest.param("self.c(rows)\n", "self.c(rows)\n        self.f(rows)\n", True, id="new in the method itself"),
        pytest.param(
            "self.a(rows)", "self.take(rows)\n        if rows:\n            self.a(rows)", True, id="a new block"
        ),
        pytest.param("self.end(rows)", "rows = rows[:2]\n        self.end(rows)", True, id="a local that it reads"),
    ],
)
def test_a_change_concerns_an_override_if_it_has_that_part(tmp_path: Path, old: str, new: str, is_asked: bool) -> None:
    """vllm-ascend's ``sample_tokens`` samples; the generation runner's has the start and the end of it."""
    target = PARTS.replace(old, new)
    asked = replaced(tmp_path, SOME_PARTS, theirs=PARTS, target=target)
    assert [reason.endswith("; the override does not call it") for reason in asked] == [True] * is_asked


AGAIN = """\
    def _update_states(self, rows):
        super()._update_states(rows)
        self.rows = buffer(4)
"""
SETS = "    def _update_states(self, rows):\n        self.rows = buffer(8)\n"
SETS_MORE = SETS.replace("8", "2 * 8")


def test_an_attribute_that_is_set_again_after_upstreams_method_is_a_question(tmp_path: Path) -> None:
    """``input_ids`` of the AR runner, which vllm-ascend 0.13.0 builds larger with context parallelism."""
    expected = "this replaces self.rows, which vllm-ascend's method, called above, sets in another way since HEAD~1"
    assert replaced(tmp_path, AGAIN, theirs=SETS, target=SETS_MORE) == [expected]


@pytest.mark.parametrize(
    ("own", "new", "is_asked"),
    [
        pytest.param(AGAIN, SETS_MORE, True, id="upstream sets it in another way"),
        pytest.param(AGAIN, SETS + "        if rows:\n            self.rows = rows\n", True, id="in one more way"),
        pytest.param(
            AGAIN.replace("super()", "NPUModelRunner").replace("(rows)", "(self, rows)"), SETS_MORE, True, id="by name"
        ),
        pytest.param(AGAIN, SETS, False, id="upstream sets it as before"),
        pytest.param(AGAIN, SETS.replace("self.rows", "self.size"), False, id="upstream no longer sets it"),
        pytest.param(AGAIN.replace("4", "2 * 8"), SETS_MORE, False, id="omni sets it in the same way"),
        pytest.param(AGAIN.replace("buffer(4)", "pad(self.rows)"), SETS_MORE, False, id="omni uses the new value"),
        pytest.param(AGAIN.replace("self.rows", "self.mine"), SETS_MORE, False, id="omni sets another one"),
        pytest.param(AGAIN.replace("self.rows = ", "rows = "), SETS_MORE, False, id="omni sets a local"),
        pytest.param(
            f"{SETS}        super()._update_states(rows)\n".replace("8", "4"),
            SETS_MORE,
            False,
            id="omni sets it before the call",
        ),
        pytest.param(AGAIN.replace("super()._up", "self._up"), SETS_MORE, False, id="another call"),
    ],
)
def test_which_attributes_an_override_sets_again(own: str, new: str, *, is_asked: bool) -> None:
    ways = {"super()", "NPUModelRunner"}
    assert bool([*find_set_again(own, "_update_states", ways, old=SETS, new=new)]) is is_asked


HOOK = "    def _drop(self, scheduler_output):\n        self.freed = scheduler_output\n"


@pytest.mark.parametrize(
    ("own", "target", "is_asked"),
    [
        pytest.param(OWN, HOOK, True, id="only the hidden method calls it"),
        pytest.param(f"{OWN}        self._drop(scheduler_output)\n", HOOK, False, id="omni's calls it, too"),
        pytest.param(
            "    def _update_states(self, scheduler_output):\n        super()._update_states(scheduler_output)\n",
            HOOK,
            False,
            id="omni's hands on",
        ),
        pytest.param(
            f"{OWN}        # not super()._update_states(scheduler_output)\n",
            HOOK,
            True,
            id="omni's says that it does not",
        ),
        pytest.param("    def _other(self):\n        return 1\n", HOOK, False, id="nothing is hidden"),
        pytest.param(OWN, HOOK.replace("_drop", "_note"), False, id="vLLM knows no such method"),
    ],
)
def test_a_new_hook_that_nothing_calls_is_a_question(tmp_path: Path, own: str, target: str, is_asked: bool) -> None:
    """``_update_states`` of vLLM's calls ``_drop``, which vllm-ascend overrides now; omni's base has its own of it."""
    text = dedent(VLLM_TREE[VLLM]).replace("self.seen = scheduler_output", "self._drop(scheduler_output)")
    text += "\n    def _drop(self, scheduler_output):\n        pass\n"
    asked = questions(tmp_path, own, target, of=target.split("def ")[1].split("(")[0], vllm=text)
    expected = (
        "vllm-ascend added this method since HEAD~1, but nothing calls it: vLLM does in _update_states, which omni "
        "overrides without that call"
    )
    assert asked == ([expected] if is_asked else [])


@pytest.mark.parametrize(
    ("line", "is_asked"), [("super()._update_states(scheduler_output)", False), ("self.mine = None", True)]
)
def test_a_hook_runs_where_omnis_base_calls_it_behind_a_method_of_the_class(
    tmp_path: Path, line: str, is_asked: bool
) -> None:
    """``_zero_block_ids`` of vllm-ascend 0.30.0rc1: ``NPUModelRunner._update_states`` of omni 0.31.0rc1 hands on to
    ``OmniGPUModelRunner``, which calls it."""
    own = f"    def _update_states(self, scheduler_output):\n        {line}\n\n    def execute_model("
    text = dedent(VLLM_TREE[VLLM]).replace("self.seen = scheduler_output", "self._drop(scheduler_output)")
    text += "\n    def _drop(self, scheduler_output):\n        pass\n"
    base = f"{OWN}        self._drop(scheduler_output)\n"
    assert bool(questions(tmp_path, base, HOOK, of="_drop", vllm=text, npu=own)) == is_asked


@pytest.mark.parametrize(
    ("call", "is_asked"),
    [
        pytest.param("OmniGPUModelRunner._update_states(self, scheduler_output)", True, id="omni's base by name"),
        pytest.param("NPUModelRunner._update_states(self, scheduler_output)", False, id="upstream's class by name"),
        pytest.param("super(NPUARModelRunner, self)._update_states(scheduler_output)", True, id="omni's base behind"),
    ],
)
def test_a_hook_runs_where_the_class_calls_upstreams_method_by_name(tmp_path: Path, call: str, is_asked: bool) -> None:
    own = f"    def _update_states(self, scheduler_output):\n        {call}\n\n    def execute_model("
    text = dedent(VLLM_TREE[VLLM]).replace("self.seen = scheduler_output", "self._drop(scheduler_output)")
    text += "\n    def _drop(self, scheduler_output):\n        pass\n"
    asked = questions(tmp_path, OWN, HOOK, of="_drop", vllm=text, npu=own)
    assert bool(asked) == is_asked


VARIANT = "vllm_ascend/_310p/model_runner_310p.py"
CONDITIONAL = """\
if is_310p():
    from vllm_ascend._310p.model_runner_310p import NPUModelRunner310 as NPUModelRunner
else:
    from vllm_ascend.worker.model_runner_v1 import NPUModelRunner
"""
ALIASED = """\
from vllm_ascend._310p.model_runner_310p import NPUModelRunner310
from vllm_ascend.worker import model_runner_v1
if is_310p():
    NPUModelRunner = NPUModelRunner310
else:
    NPUModelRunner = model_runner_v1.NPUModelRunner
"""
WAITS = "    def _update_states(self, rows):\n        self.wait(rows)\n        super()._update_states(rows)\n"


def of_variants(
    folder: Path, own: str, old: str | None, new: str, *, imported: str = CONDITIONAL, **rest: object
) -> list[tuple[str, str]]:
    """Unit and reason of what is asked when the NPU class has ``own``, and the 310P class's ``old`` became ``new``."""
    trees = Trees(folder)
    head = "from vllm_ascend.worker.model_runner_v1 import NPUModelRunner\n"
    assert dedent(OMNI_TREE[BASE]).startswith(head)
    text = "from vllm_omni.platforms.npu._310p import is_310p\n" + imported + dedent(OMNI_TREE[BASE])[len(head) :]
    lay_out(trees.omni, {BASE: text + "\n" + own})
    lay_out(trees.omni, {GPU_BASE: dedent(OMNI_TREE[GPU_BASE]) + "\n" + OWN.replace("_update_states", "_behind")})
    commit(trees.omni)
    variant = "class NPUModelRunner310(NPUModelRunner):\n    def __init__(self):\n        pass\n\n"
    head += "\n\n" + variant
    lay_out(trees.ascend_old, {VARIANT: head + old} if old is not None else {})
    commit(trees.ascend_old)
    lay_out(trees.ascend_old, {ASCEND: ASCEND_NEW[ASCEND], VARIANT: head + new})
    commit(trees.ascend_old)
    result = check_upgrade(trees.upgrade(trees.ascend_old, gpu=False, verify=False, ascend_base="HEAD~1", **rest))
    asked = [(item.unit, item.reason) for item in result.report.reviews if "310" in item.reason]
    return [(unit.rpartition(".")[2], reason) for unit, reason in asked]


@pytest.mark.parametrize("imported", [CONDITIONAL, ALIASED], ids=["imported as", "bound to a name"])
def test_what_another_branch_of_a_conditional_base_gains_is_a_question(tmp_path: Path, imported: str) -> None:
    """vllm-ascend 0.21.0rc1 gave ``NPUModelRunner310`` an ``_update_states`` that waits for the device."""
    expected = (
        "vllm-ascend added this method since HEAD~1 in NPUModelRunner310, the base class where is_310p(); it does not "
        "run there, because omni's version hides it and does not call it"
    )
    assert of_variants(tmp_path, OWN, "", WAITS, imported=imported) == [("_update_states", expected)]


def test_what_a_base_in_front_hides_of_another_branch_is_a_question(tmp_path: Path) -> None:
    new = WAITS.replace("_update_states", "_behind")
    old = new.replace("self.wait(rows)", "self.watch(rows)")
    ((unit, reason),) = of_variants(tmp_path, "", old, new)
    assert unit == "_behind"
    assert reason.startswith(
        "vllm-ascend changed this method since HEAD~1 (it now calls self.wait) in NPUModelRunner310,"
    )


@pytest.mark.parametrize(
    ("own", "old", "new"),
    [
        pytest.param(OWN, WAITS, WAITS, id="as it was"),
        pytest.param(OWN, None, WAITS, id="a class that is new"),
        pytest.param("", "", WAITS, id="omni has none"),
        pytest.param(
            OWN.replace("self.mine = scheduler_output", "super()._update_states(scheduler_output)"),
            "",
            WAITS,
            id="omni's hands on",
        ),
        pytest.param(
            OWN.replace("self.mine = scheduler_output", "NPUModelRunner._update_states(self, scheduler_output)"),
            "",
            WAITS,
            id="by name",
        ),
        pytest.param(OWN + "        self.wait(rows)\n", "", WAITS, id="omni's does it, too"),
        pytest.param(
            OWN,
            WAITS,
            WAITS.replace("rows):", "rows, more=0):").replace("states(rows)", "states(rows, more)"),
            id="only what it hands on",
        ),
        pytest.param(
            OWN, WAITS.replace("super", "self.wait(rows, 1)\n        super"), WAITS, id="what went is not in omni's"
        ),
    ],
)
def test_another_branch_hides_nothing(tmp_path: Path, own: str, old: str | None, new: str) -> None:
    assert of_variants(tmp_path, own, old, new) == []


def test_another_branch_that_nobody_asked_for_is_no_question(tmp_path: Path) -> None:
    assert of_variants(tmp_path, OWN, "", WAITS, only=("*._forward",)) == []


def test_what_two_variants_add_is_one_unit_with_a_question_for_each() -> None:
    (module,) = (module for module in NPU.modules if module.name == "OmniNPUModelRunner")
    followed = BaseRef("vllm-ascend", "1", "a.py", "NPUModelRunner.run", "inferred", 1.0)
    draft = Draft(f"{module.name}.other", (Stage("def other(self):\n    pass\n"),), "copy", base=followed)
    old, new = "def run(self):\n    return self.a()\n", "def run(self):\n    self.wait()\n    return self.a()\n"
    two = [
        Variant(name=name, alias="_Base", condition=f"is_{name}()", old={"run": old}, new={"run": new})
        for name in ("310p", "a5")
    ]
    mine = Inherited({"run": "def run(self):\n    return self.mine()\n"})
    job = ModuleJob(
        NPU,
        module,
        "a.py",
        "",
        upstream=Upstream(new=ModuleRevision("2", ""), variants=lambda _ref: two),
        hierarchy=Hierarchy(inherited={module.name: mine}),
    )
    same, asked = ask_about_variants([draft], job)
    assert same == draft
    assert [("310p" in item.reason, "a5" in item.reason) for item in asked.reviews] == [(True, False), (False, True)]


NOTE = "    def _note(self, rows):\n        {}self.total = len(rows)\n        self.last = rows[-1]\n\n"
STEP = "    def step(self, rows):\n        self._note(rows)\n{}        return rows\n"
UPDATE = "        self.update(rows)\n"
MINE = "    def _note(self, rows):\n        self.total = self.own(rows)\n        {}\n\n"
OWN_STEP = "    def step(self, rows):\n        return self.other(rows)\n\n"
FIRST = "self.update(rows)\n        "


@pytest.mark.parametrize(
    ("mine", "step", "npu", "is_asked"),
    [
        pytest.param(FIRST.rstrip(), UPDATE, "", True, id="inherited code makes it"),
        pytest.param(FIRST.rstrip(), UPDATE, STEP.format("") + "\n", True, id="a copy got it"),
        pytest.param("pass", UPDATE, "", False, id="the override does not make it"),
        pytest.param(FIRST.rstrip(), "", "", False, id="upstream ended it"),
        pytest.param(FIRST.rstrip(), UPDATE, OWN_STEP, False, id="the method that got it is overridden, too"),
    ],
)
def test_a_call_that_upstream_moved_out_of_an_overridden_method(
    mine: str, step: str, npu: str, is_asked: bool, tmp_path: Path
) -> None:
    """``_update_states_after_model_execute`` of vLLM 0.15, which vllm-ascend 0.14.0rc1 calls in its ``_sample``."""
    reasons = questions(
        tmp_path,
        "",
        NOTE.format("") + STEP.format(step),
        of="_note",
        npu=f"{MINE.format(mine)}{npu}    def execute_model(",
        gone=NOTE.format(FIRST) + STEP.format(""),
    )
    asked = "no longer calls self.update in this method since HEAD~1, but in step"
    assert any(asked in reason for reason in reasons) is is_asked
