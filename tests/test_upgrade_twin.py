"""Which revision of the GPU twin an NPU unit stands at, where nobody says it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sync_samples import AR, GPU_AR, GPU_TWIN, NPU_TWIN

from runner_sync.digests import digest
from runner_sync.model import BaseRef
from runner_sync.profile import NPU
from runner_sync.upgrade.job import GpuTwin, Hierarchy, Inherited, ModuleJob, ModuleResult
from runner_sync.upgrade.module import upgrade_module
from runner_sync.upgrade.revision import GpuBase, ModuleRevision

MODULE = next(module for module in NPU.modules if module.name == "NPUARModelRunner")
NPU_CLASS, GPU_CLASS = (text[: text.index("    def ")] for text in (NPU_TWIN, GPU_TWIN))
GIVEN_UP = "        routed = self.routed(rows)\n        self.stage(routed)\n        self.count(routed)\n"
GAINED = "        kept = self.prepared(kept)\n"


def collect(*, given_up: str = "", gained: str = "") -> str:
    return f"""\
    def _collect(self, rows):
        first = rows[0]
{given_up}        kept = self.keep(first)
{gained}        return self._fetch(rows, kept)
"""


def upgraded(npu: str, was: str, now: str) -> str:
    def side(ref: str, body: str) -> ModuleRevision:
        return ModuleRevision(ref, GPU_CLASS + body, GPU_AR)

    old, new = side("0.1", was), side("0.2", now)
    twin = GpuTwin(new=new, bases=tuple(GpuBase(one, lambda: None) for one in (old, new)))
    return upgrade_module(ModuleJob(NPU, MODULE, AR, NPU_CLASS + npu, twin=twin)).after


def test_what_the_twin_gained_comes_to_a_unit_that_has_lost_what_the_twin_lost() -> None:
    """It is more like the twin of today than like the one before: three statements against one."""
    was, now = collect(given_up=GIVEN_UP), collect(gained=GAINED)
    assert GAINED in upgraded(collect(), was, now)


@pytest.mark.parametrize(
    ("npu", "was", "now"),
    [
        pytest.param(collect(gained=GAINED), collect(given_up=GIVEN_UP), collect(gained=GAINED), id="has it all"),
        pytest.param(collect(), collect(given_up=GIVEN_UP), collect(), id="nothing was gained"),
        pytest.param(collect(), collect(gained=GAINED), collect(gained=GAINED), id="nothing changed"),
    ],
)
def test_a_unit_that_has_what_the_twin_gained_stands_at_the_twin(npu: str, was: str, now: str) -> None:
    assert upgraded(npu, was, now) == NPU_CLASS + npu


OLDER = """\
    def _set_up(self, size):
        self.rows = self.make(size)
        self.begin(size)
"""
MADE = "        self.rows = self.make(size)\n"
WIDER = "        self.width = self.width_of(size)\n        self.rows = self.make(self.width)\n"
LATER = OLDER.replace(MADE, WIDER) + "".join(
    f"        self.{name}(size)\n" for name in ("keep", "check", "note", "count")
)
NEWER = LATER + "        self.send(size)\n"


UNIT = "NPUARModelRunner._set_up"


def set_up(npu: str, *, news_only: bool = False, locked: BaseRef | None = None) -> str:
    """The unit after an upgrade; its twin was ``OLDER``, then ``LATER``, and is ``NEWER``."""
    return following(npu, news_only=news_only, locked=locked).after


def following(npu: str, *, news_only: bool = False, locked: BaseRef | None = None) -> ModuleResult:
    sides = [ModuleRevision(ref, GPU_CLASS + body, GPU_AR) for ref, body in (("0.1", OLDER), ("0.2", LATER))]
    bases = tuple(GpuBase(side, lambda: None) for side in sides)
    twin = GpuTwin(new=ModuleRevision("0.3", GPU_CLASS + NEWER, GPU_AR), bases=bases, news_only=news_only)
    twin = replace(twin, locked={UNIT: locked} if locked is not None else {})
    return upgrade_module(ModuleJob(NPU, MODULE, AR, NPU_CLASS + npu, twin=twin))


def test_a_passage_that_is_older_than_the_rest_of_a_unit_is_ported() -> None:
    after = set_up(LATER.replace(WIDER, MADE))
    assert WIDER in after
    assert "self.make(size)" not in after
    assert "self.send(size)" in after


def as_locked(*also: str) -> BaseRef:
    """What a lock names that was made when the twin was ``LATER``, with the earlier revisions of some passages."""
    assert MODULE.gpu is not None
    name = f"{MODULE.gpu.name}._set_up"
    return BaseRef("vllm-omni", "0.2", GPU_AR, name, "lock", 1.0, digest(LATER), also)


def test_a_lock_that_names_the_earlier_revision_changes_nothing_of_that() -> None:
    mine = LATER.replace(WIDER, MADE)
    assert set_up(mine, locked=as_locked("0.1")) == set_up(mine)


def test_what_a_lock_names_no_earlier_revision_for_was_looked_at() -> None:
    after = set_up(LATER.replace(WIDER, MADE), locked=as_locked())
    assert MADE in after
    assert "self.send(size)" in after


def test_a_lock_records_the_earlier_revision_of_a_passage() -> None:
    result = following(LATER.replace(WIDER, MADE))
    gpu = next(unit.gpu for unit in result.units if unit.unit == UNIT)
    assert gpu is not None
    assert (gpu.ref, gpu.also) == ("0.2", ("0.1",))
    _, now = result.synced[UNIT]
    assert now is not None
    assert (now.ref, now.also) == ("0.3", ())


@pytest.mark.parametrize(
    ("npu", "news_only"),
    [
        pytest.param(LATER.replace(WIDER, "        self.rows = None\n"), False, id="NPU has a form of its own"),
        pytest.param(LATER.replace(WIDER, MADE), True, id="only news are asked for"),
    ],
)
def test_a_passage_that_is_npus_own_stays(npu: str, news_only: bool) -> None:
    after = set_up(npu, news_only=news_only)
    assert "self.width_of(size)" not in after
    assert "self.send(size)" in after


HOOK = """\
    def _pad(self, rows):
        return self.note(super()._pad(rows))
"""


@pytest.mark.parametrize(
    ("was", "comes"),
    [
        pytest.param({"0.1": HOOK}, False, id="the twin has had it, and has not changed since"),
        pytest.param({"0.1": "", "0.2": HOOK}, False, id="nor since one of the revisions"),
        pytest.param({"0.1": ""}, True, id="the twin has got it since"),
        pytest.param({"0.3": HOOK}, True, id="nothing older is at hand"),
    ],
)
def test_an_override_that_the_twin_has_had_for_long_is_no_news(was: dict[str, str], *, comes: bool) -> None:
    """An upgrade that only had a change of another runner to port brought what NPU had long done without."""
    sides = [ModuleRevision(ref, GPU_CLASS + collect() + text, GPU_AR) for ref, text in was.items()]
    new = ModuleRevision("0.3", GPU_CLASS + collect() + HOOK, GPU_AR)
    twin = GpuTwin(new=new, bases=tuple(GpuBase(side, lambda: None) for side in sides))
    hierarchy = Hierarchy(inherited={MODULE.name: Inherited(members={"_pad": None})})
    npu = NPU_CLASS + collect()
    after = upgrade_module(ModuleJob(NPU, MODULE, AR, npu, twin=twin, hierarchy=hierarchy)).after
    assert ("def _pad" in after) == comes


MARK = "        # ------ Omni-new ------\n"
WARN = "        self.warn_about(rows)\n"


def own(*, between: str = "", last: str = "", mark: str = MARK) -> str:
    return (
        "    def _collect(self, rows):\n        super()._collect(rows)\n"
        f"{mark}        self.keep(rows)\n        self.count(rows)\n{mark}{between}{last}"
    )


@pytest.mark.parametrize(
    ("between", "joins"),
    [
        pytest.param("", True, id="right behind the block"),
        pytest.param("        self.send(rows)\n", False, id="behind another statement"),
    ],
)
def test_what_a_port_adds_to_an_override_joins_the_block_beside_it(between: str, *, joins: bool) -> None:
    """``_warn_unexposed_stage_hooks`` of 0.31.0rc1 stood behind the ruler that closes the block of ``load_model``."""
    npu, was, now = own(between=between), own(between=between, mark=""), own(between=between, last=WARN, mark="")
    after = "".join(line for line in upgraded(npu, was, now).splitlines(keepends=True) if "runner-sync" not in line)
    assert after.endswith(f"{WARN}{MARK}" if joins else f"{MARK}{between}{WARN}")
    assert after.count(MARK) == 2


def test_an_override_without_a_block_gets_none() -> None:
    plain = own(mark="")
    assert MARK not in upgraded(plain, plain, own(last=WARN, mark=""))
