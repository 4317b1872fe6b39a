"""What a unit goes by: the text that the lock names, else the closest one."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace

import pytest

from runner_sync.digests import digest
from runner_sync.lock import Entry, Lock
from runner_sync.model import BaseRef
from runner_sync.profile import NPU
from runner_sync.sync.planning import find_units_apart
from runner_sync.upgrade.base import find_base
from runner_sync.upgrade.job import ModuleJob, Upstream
from runner_sync.upgrade.module import upgrade_module
from runner_sync.upgrade.revision import ModuleRevision

MODULE = NPU.modules[0]
PATH = MODULE.anchor.path
UNIT = "OmniNPUModelRunner.run"


def run(*steps: int) -> str:
    return "\n".join(["    def run(self, a):", *(f"        self.step_{k}(a)" for k in steps)]) + "\n"


def record(**fields: str) -> str:
    return "\n".join(["class State(NamedTuple):", *(f"    {name}: {kind}" for name, kind in fields.items())]) + "\n"


def side(ref: str, method: str, state: str = "") -> ModuleRevision:
    return ModuleRevision(ref, f"{state}\n\nclass NPUModelRunner(Base):\n{method}", PATH)


SIDES = [side("0.1", run(1, 2, 3, 4)), side("0.2", run(1, 2, 5, 6))]


LONG = (*range(1, 9), *range(20, 36))
REST = run(*LONG[8:]).replace("def run", "def _rest")
CALL = "        self._rest(a)\n"
OLD, CHANGED = (1, 2, 3, 4, 5, 6, 7, 8), (11, 12, 13, 4, 5, 6, 7, 8)
DIVIDED = f"{run(*CHANGED)}{CALL}\n{REST}"


@pytest.mark.parametrize(
    ("copy", "before", "now", "ref"),
    [
        pytest.param(run(*OLD), run(*LONG), DIVIDED, "0.1", id="its code, which the copy lacks"),
        pytest.param(run(*CHANGED), run(*LONG), DIVIDED, "0.2", id="a copy of the divided one without the call"),
        pytest.param(run(*CHANGED, *LONG[8:]), run(*LONG), DIVIDED, "0.2", id="its code, which the copy has"),
        pytest.param(run(11, *OLD[1:]), run(*LONG), DIVIDED, "0.2", id="a difference of one statement may be chance"),
        pytest.param(f"{run(*OLD)}{CALL}", run(*LONG), DIVIDED, "0.2", id="not if the copy calls it"),
        pytest.param(run(*OLD), f"{run(*LONG)}\n{REST}", DIVIDED, "0.2", id="not if upstream had it before"),
    ],
)
def test_the_code_of_a_new_method_is_read_in_place_of_its_call(copy: str, before: str, now: str, ref: str) -> None:
    found = find_base(UNIT, copy, MODULE, [side("0.1", before), side("0.2", now)])
    assert found is not None
    assert found.ref.ref == ref


@pytest.mark.parametrize(
    ("locked", "ref", "how"),
    [
        pytest.param(None, "0.2", "inferred", id="no lock: the closest"),
        pytest.param(("0.1", run(1, 2, 3, 4)), "0.1", "lock", id="the lock goes before likeness"),
        pytest.param(("0.0", run(1, 2, 3, 4)), "0.1", "lock", id="the same text under another ref"),
        pytest.param(("0.1", run(7, 8)), "0.2", "inferred", id="a text that is nowhere any more"),
    ],
)
def test_the_lock_goes_before_inference(locked: tuple[str, str] | None, ref: str, how: str) -> None:
    entry = None
    if locked is not None:
        entry = BaseRef("vllm-ascend", locked[0], PATH, "NPUModelRunner.run", "lock", 1.0, digest(locked[1]))
    found = find_base(UNIT, run(1, 2, 5), MODULE, SIDES, locked=entry)
    assert found is not None
    assert (found.ref.ref, found.ref.how, found.side.ref) == (ref, how, ref)


SHORT_COPY = run(1, 2, 7, 8, 9)
WRAPPER = "    def run(self, a):\n        super().run(a)\n        self.step_1(a)\n"


@pytest.mark.parametrize(
    ("mine", "locked", "kind"),
    [
        pytest.param(SHORT_COPY, run(1, 2, 3, 4), "copy", id="the lock says what a short copy is"),
        pytest.param(SHORT_COPY, None, "override", id="no lock"),
        pytest.param(SHORT_COPY, run(1, 2), "override", id="a locked text that is nowhere any more"),
        pytest.param(WRAPPER, run(1, 2, 3, 4), "override", id="a call of the parent has replaced the copy"),
    ],
)
def test_a_short_copy_that_is_hardly_like_its_base_is_one_by_the_lock(mine: str, locked: str | None, kind: str) -> None:
    entry = None
    if locked is not None:
        entry = BaseRef("vllm-ascend", "0.1", PATH, "NPUModelRunner.run", "lock", 1.0, digest(locked))
    found = find_base(UNIT, mine, MODULE, SIDES[:1], locked=entry)
    assert found is not None
    assert found.kind == kind


def test_a_short_copy_that_the_lock_names_follows_upstream() -> None:
    """Without it, the copy kept the old text without a question, and the new lock had lost its entry."""
    old, new = run(1, 2, 3, 4), run(1, 2, 3, 4, 5)
    entry = BaseRef("vllm-ascend", "0.1", PATH, "NPUModelRunner.run", "lock", 1.0, digest(old))
    sides = (side("0.1", old), side("0.2", new))
    upstream = Upstream(new=sides[1], bases=sides, locked={UNIT: entry})
    made = upgrade_module(
        ModuleJob(NPU, MODULE, "runner.py", f"class OmniNPUModelRunner(Base):\n{SHORT_COPY}", upstream)
    )
    assert "self.step_5(a)" in made.after
    synced, _gpu = made.synced[UNIT]
    assert synced is not None
    assert (synced.ref, synced.digest) == ("0.2", digest(new))


def test_without_a_namesake_there_is_no_base() -> None:
    assert find_base("OmniNPUModelRunner.other", run(1), MODULE, SIDES) is None


@pytest.mark.parametrize(("extra", "kind"), [({}, "copy"), ({"d": "x", "e": "x", "f": "x", "g": "x"}, "override")])
def test_the_types_of_a_record_do_not_make_it_another_one(extra: dict[str, str], kind: str) -> None:
    upstream = [side("0.1", run(1), record(a="Tensor", b="Tensor", c="Tensor"))]
    found = find_base("State", record(a="Any", b="Any", c="Any", **extra), MODULE, upstream)
    assert found is not None
    assert found.kind == kind


STEPS = "".join(f"        hidden = self.step_{k}(hidden, {k})\n" for k in range(4))
FIRST = f"    def run(self, a):\n        hidden = self.start(a)\n{STEPS}        return self.finish(a)\n"
LATER = "    def run(self, a):\n        out = self.start(a)\n        return self.finish(a)\n"


def test_a_local_that_omni_renamed_makes_no_other_revision_closer() -> None:
    """Every statement that mentions it differs in words, and the shorter text has fewer of them to differ in."""
    mine = FIRST.replace("hidden", "output")
    found = find_base(UNIT, mine, MODULE, [side("0.1", FIRST), side("0.2", LATER)])
    assert found is not None
    assert (found.ref.ref, found.origin.text) == ("0.1", FIRST)
    assert found.ref.similarity == 1.0


CONDITION = """\
        if self.config.returns_experts:
            self.experts.clear()
        else:
            self.experts = None
"""
OTHERWISE = """\
        if a:
            self.begin(a)
        else:
            self.end(a)
"""


def following(
    *, before: Sequence[ModuleRevision] = (), target: str = "0.3", locked: str = "", now: str = CONDITION
) -> tuple[str, list[str]]:
    """What becomes of a copy without a condition that its base has, as upstream does, and the questions about it.

    ``locked`` is what the lock names beside the base, and ``now`` what upstream has of the condition."""
    old = run(1, 2, 3, 4) + OTHERWISE
    base = side("0.2", old + CONDITION)
    upstream = side("0.3", run(1, 2, 3, 4, 5) + OTHERWISE + now) if target == "0.3" else base
    entry = BaseRef("vllm-ascend", "0.2", PATH, "NPUModelRunner.run", "lock", 1.0, digest(old + CONDITION), (locked,))
    job = ModuleJob(
        NPU,
        MODULE,
        "runner.py",
        f"class OmniNPUModelRunner(Base):\n{old}",
        Upstream(new=upstream, bases=(*before, base, upstream), locked={UNIT: entry} if locked else {}),
    )
    result = upgrade_module(job)
    return result.after, [item.reason for item in result.reviews]


BEFORE = replace(side("0.1", run(1, 2, 3)), is_base=False)


@pytest.mark.parametrize("locked", ["", "0.1"], ids=["inferred", "as the lock has it"])
def test_what_came_between_the_copy_and_the_release_that_stands_for_it_is_news(locked: str) -> None:
    text, (reason,) = following(before=[BEFORE], locked=locked)
    assert CONDITION in text
    assert "self.step_5(a)" in text
    assert reason.startswith("vllm-ascend 0.2 has this and omni's copy did not")


def test_news_of_which_upstream_has_changed_the_condition_since_is_news() -> None:
    now = CONDITION.replace("returns_experts", "returns_routed_experts")
    text, (reason,) = following(before=[BEFORE], now=now)
    assert now in text
    assert reason.startswith("vllm-ascend 0.2 has this and omni's copy did not")


def test_news_that_upstream_has_no_more_is_no_question() -> None:
    text, reasons = following(before=[BEFORE], now="")
    assert "experts" not in text
    assert reasons == []


def test_the_lock_remembers_which_revision_tells_what_is_news() -> None:
    base = side("0.2", run(1, 2, 3, 4) + CONDITION)
    found = find_base(UNIT, run(1, 2, 3, 4), MODULE, [BEFORE, base])
    assert found is not None
    assert (found.ref.ref, found.ref.how, found.ref.also) == ("0.2", "composite", ("0.1",))


@pytest.mark.parametrize(
    ("before", "locked"),
    [
        pytest.param([], "", id="nothing known of what was before"),
        pytest.param([BEFORE], "0.0", id="the lock says that this very text was synced to"),
    ],
)
def test_what_a_copy_lacks_of_its_base_stays_out(before: list[ModuleRevision], locked: str) -> None:
    text, reasons = following(before=before, locked=locked)
    assert "self.step_5(a)" in text
    assert "returns_experts" not in text
    assert reasons == []


def test_what_a_copy_lacks_of_the_revision_to_follow_is_news_if_that_was_the_first_to_have_it() -> None:
    """As in the copies of vllm-omni 0.16.0 on vllm-ascend 0.15.0rc1: a lock would name a base that they never had."""
    text, (reason,) = following(before=[replace(BEFORE, is_base=True)], target="0.2")
    assert CONDITION in text
    assert reason.startswith("vllm-ascend 0.2 has this and omni's copy did not")


@pytest.mark.parametrize(
    ("before", "locked"),
    [
        pytest.param([], "", id="nothing known of what was before"),
        pytest.param([BEFORE], "", id="the user names it as the base"),
        pytest.param([replace(BEFORE, is_base=True)], "0.1", id="the lock says that it was followed"),
    ],
)
def test_on_the_revision_that_was_followed_nothing_is_news(before: list[ModuleRevision], locked: str) -> None:
    text, reasons = following(before=before, target="0.2", locked=locked)
    assert "returns_experts" not in text
    assert reasons == []


def test_nothing_was_copied_from_what_only_tells_what_is_news() -> None:
    found = find_base(UNIT, run(1, 2, 3), MODULE, [BEFORE, side("0.2", run(1, 2, 3, 4))])
    assert found is not None
    assert found.ref.ref == "0.2"


UPDATE = """\
    def run(self, output):
        for key in output.finished:
            self.requests.pop(key, None)
        cached = self.batch.keys()
        wanted = output.tokens.keys()
        idle = cached - wanted
        for key in idle:
            self.batch.remove(key)
        return self.refresh(output)
"""
THIN = "    def run(self, output):\n        self.rewind(output)\n        return super().run(output)\n"
EDITED = UPDATE.replace("cached - wanted", "cached - (wanted - output.resumed)")


@pytest.mark.parametrize(
    ("omni", "upstream", "is_kept"),
    [
        pytest.param(EDITED, THIN, True, id="rebuilt, and omni has an edit that reads what is gone"),
        pytest.param(UPDATE, THIN, False, id="rebuilt, and nothing of omni's is in it"),
        pytest.param(
            EDITED,
            UPDATE.replace("        for key in idle:\n            self.batch.remove(key)\n", ""),
            False,
            id="changed in part",
        ),
    ],
)
def test_omnis_text_stands_where_upstream_rebuilt_the_method_around_an_edit(
    omni: str, upstream: str, is_kept: bool
) -> None:
    """`_update_states` of vllm-ascend 0.25.1rc1 calls vLLM's; of omni's copy a statement stayed that read three names
    which nothing set."""
    old, new = side("0.1", UPDATE), side("0.2", upstream)
    text = f"class OmniNPUModelRunner(Base):\n{omni}"
    result = upgrade_module(ModuleJob(NPU, MODULE, "runner.py", text, Upstream(new=new, bases=(old, new))))
    reasons = [item.reason for item in result.reviews if item.reason.startswith("upstream rewrote this method in 0.2")]
    assert [reason.partition("would read ")[2].partition(", which")[0] for reason in reasons] == [
        "cached, wanted"
    ] * is_kept
    assert (omni in result.after) == is_kept


@pytest.mark.parametrize("apart", [frozenset(), frozenset({UNIT})], ids=["inferred", "the lock has it without a base"])
def test_what_the_lock_records_without_a_base_does_not_become_a_copy(apart: frozenset[str]) -> None:
    """Among the few revisions that a lock names, an override can be close to one by chance."""
    old, new = side("0.1", run(1, 2, 3, 4)), side("0.2", run(1, 2, 3, 4, 5))
    text = f"class OmniNPUModelRunner(Base):\n{run(1, 2, 3)}"
    result = upgrade_module(ModuleJob(NPU, MODULE, "runner.py", text, Upstream(new=new, bases=(old, new), apart=apart)))
    assert [unit.kind for unit in result.units if unit.unit == UNIT] == (["override"] if apart else ["copy"])
    assert ("self.step_5(a)" in result.after) != bool(apart)


@pytest.mark.parametrize(
    ("inputs", "apart"),
    [({"vllm-ascend": "0.1"}, {"A.run"}), ({"vllm-omni": "0.1"}, set())],
    ids=["made with a vllm-ascend", "made without one"],
)
def test_a_lock_that_saw_no_vllm_ascend_says_nothing_about_copies(inputs: dict[str, str], apart: set[str]) -> None:
    twin = BaseRef("vllm-omni", "0.1", "gpu.py", "G.run", "twin", 1.0, "d")
    copied = BaseRef("vllm-ascend", "0.1", PATH, "NPUModelRunner.copy", "lock", 1.0, "d")
    entries = (Entry("npu.py", "A.run", gpu=twin), Entry("npu.py", "A.copy", copied), Entry("b.py", "B.run", gpu=twin))
    assert find_units_apart(Lock(entries, inputs), "npu.py", "vllm-ascend") == apart


def test_who_looks_for_a_base_loads_nothing_of_the_rest_of_an_upgrade() -> None:
    """``check`` with a vllm-ascend does, and neither merges nor writes a module."""
    code = "import sys; from runner_sync.upgrade import ModuleRevision, find_base; print(sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = ast.literal_eval(done.stdout)
    assert "runner_sync.upgrade.base" in loaded
    assert not {"libcst", "jinja2", "runner_sync.upgrade.module"} & set(loaded)
