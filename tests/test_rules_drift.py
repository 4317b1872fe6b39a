"""RS1xx: what vllm-ascend did to the methods that NPU runners hold copies of."""

from __future__ import annotations

import textwrap
from dataclasses import replace

import pytest
from check_samples import AR, NPU_HEAD, OMNI_GPU_BASE, dedent, found, job, run, symbols, with_hashes

from runner_sync.digests import digest
from runner_sync.lock import Entry
from runner_sync.model import BaseRef
from runner_sync.profile import ASCEND_RUNNER
from runner_sync.verify.check_job import CheckJob
from runner_sync.verify.runners.new_calls import find_new_keywords, find_new_self_calls

BODY = """
def _dummy_run(self, num_tokens, with_prefill=False):
    self.prepare(num_tokens)
    self.pad(num_tokens)
    with set_ascend_forward_context(None, self.config):
        hidden = self.model(num_tokens)
    self.finish(hidden)
    return hidden
"""


def upstream(body: str) -> str:
    return "class NPUModelRunner:\n" + "".join(f"    {line}\n" if line else "\n" for line in dedent(body).split("\n"))


def copy(body: str) -> str:
    lines = "".join(f"    {line}\n" if line else "\n" for line in dedent(body).split("\n"))
    return f"{NPU_HEAD}\nclass NPUARModelRunner(OmniNPUModelRunner):\n{lines}"


OMNI = BODY.replace("    self.finish(hidden)", "    hidden = self.talker(hidden)\n    self.finish(hidden)")
SYNCED = BODY.replace("    self.pad(num_tokens)", "    self.pad(num_tokens)\n    self.commit_block_table(num_tokens)")


def follow(npu: str, base: str, target: str) -> CheckJob:
    return job(copy(npu), upstream=upstream(target), base=upstream(base))


# RS101


def test_a_change_that_the_copy_does_not_follow_is_counted_and_shown() -> None:
    (finding,) = found(follow(OMNI, BODY, SYNCED), "RS101")
    assert (finding.unit, finding.symbol) == ("NPUARModelRunner._dummy_run", "NPUModelRunner._dummy_run")
    assert "vllm-ascend 0.30.0rc2 changed 1 statement of " in finding.message
    assert "since 0.26.0rc1" in finding.message
    assert "`self.commit_block_table(num_tokens)`" in finding.message
    assert finding.fix == "runner-sync upgrade --only NPUARModelRunner._dummy_run"


@pytest.mark.parametrize(
    ("target", "risk"),
    [
        pytest.param(SYNCED, "low", id="a statement"),
        pytest.param(BODY.replace("return hidden", "return hidden, None"), "high", id="a return value"),
        pytest.param(BODY.replace("None, self.config", "None"), "high", id="a with"),
        pytest.param(BODY.replace("with_prefill=False", "with_prefill=False, cpp=0"), "high", id="the signature"),
        pytest.param(
            BODY.replace("    self.finish(hidden)", "".join(f"    self.step({n})\n" for n in range(6))),
            "medium",
            id="many statements",
        ),
    ],
)
def test_the_risk_is_named(target: str, risk: str) -> None:
    (finding,) = found(follow(OMNI, BODY, target), "RS101")
    assert f"(risk {risk})" in finding.message


def drifted(*, calls: str = "self.finish(hidden)", context: str = "self.config", own: str = "") -> str:
    """What is said behind the statement that is shown."""
    body = "self.ready = True\n    self.pad(num_tokens)"
    target = BODY.replace("self.pad(num_tokens)", body).replace("self.finish(hidden)", calls)
    npu = OMNI.replace("self.config", own) if own else OMNI
    (finding,) = found(follow(npu, BODY, target.replace("self.config", context)), "RS101")
    return finding.message.partition("upstream adds `self.ready = True`.")[2]


CONTEXT = "of `set_ascend_forward_context`"


@pytest.mark.parametrize(
    ("target", "told"),
    [
        pytest.param({"context": "self.config, rows=1"}, f"`rows=` {CONTEXT}", id="a keyword"),
        pytest.param({"calls": "self.flush()"}, "`self.flush()`", id="a method"),
        pytest.param({"calls": "self.add()\n    self.flush()"}, "`self.add()` and `self.flush()`", id="two methods"),
        pytest.param(
            {"context": "self.config, rows=1, key=2"}, f"`key=` {CONTEXT} and `rows=` {CONTEXT}", id="two keywords"
        ),
        pytest.param(
            {"context": "self.config, rows=1, key=2", "calls": "self.add()\n    self.flush()"},
            f"`key=` {CONTEXT} and `self.add()`",
            id="one of each of more",
        ),
    ],
)
def test_what_upstreams_calls_are_new_in_is_named(target: dict[str, str], told: str) -> None:
    assert drifted(**target) == f" New there: {told}."


@pytest.mark.parametrize(
    "target",
    [
        pytest.param({}, id="no call"),
        pytest.param({"calls": "self.finish(hidden, hidden)"}, id="a position"),
        pytest.param({"context": "config=self.config"}, id="a position that has a name now"),
        pytest.param({"context": "self.config, rows=1", "own": "self.config, rows=2"}, id="a keyword of the copy's"),
        pytest.param({"context": "self.config, rows=1", "own": "self.config, 1"}, id="a position of the copy's"),
        pytest.param({"context": "self.config, rows=1", "own": "self.config, **rows"}, id="keywords that nobody knows"),
        pytest.param({"calls": "self.flush(rows=1)", "own": "self.flush"}, id="a method that the copy knows"),
        pytest.param({"calls": "self.talker(hidden, rows=1)", "own": "f(1)"}, id="a call that was not there"),
        pytest.param({"calls": "logger.debug(hidden)"}, id="a method of something else"),
    ],
)
def test_calls_that_are_new_in_nothing(target: dict[str, str]) -> None:
    assert drifted(**target) == ""


def test_texts_that_are_no_python_have_no_calls() -> None:
    broken = "self.add(rows=1"
    assert (
        list(find_new_keywords("self.add()", broken, "self.add()")) == list(find_new_self_calls("", broken, "")) == []
    )


def test_what_is_shown_is_not_named_again() -> None:
    (finding,) = found(follow(OMNI, BODY, SYNCED), "RS101")
    assert finding.message.endswith("upstream adds `self.commit_block_table(num_tokens)`.")


WRAPPER = (
    "def _dummy_run(self, num_tokens, with_prefill=False):\n    self.prepare(num_tokens)\n    self.pad(num_tokens)\n"
)


@pytest.mark.parametrize(
    ("npu", "base", "target"),
    [
        pytest.param(OMNI, BODY, BODY, id="upstream did not change"),
        pytest.param(
            SYNCED.replace("return hidden", "self.talker()\n    return hidden"), BODY, SYNCED, id="the copy has it"
        ),
        pytest.param(OMNI, BODY, "# why\n" + BODY.replace("(num_tokens)", "( num_tokens )"), id="layout and comments"),
        pytest.param(WRAPPER + "    return super()._dummy_run(num_tokens)", BODY, SYNCED, id="a wrapper"),
        pytest.param(
            WRAPPER + "    return NPUModelRunner._dummy_run(self, num_tokens)", BODY, SYNCED, id="a wrapper by name"
        ),
        pytest.param("def _dummy_run(self):\n    return self.mine()", BODY, SYNCED, id="only the name in common"),
        pytest.param("def mine(self):\n    return 1", BODY, SYNCED, id="omni's own method"),
    ],
)
def test_what_is_no_drift(npu: str, base: str, target: str) -> None:
    assert found(follow(npu, base, target), "RS101") == []


UNPACK = """
def sample_tokens(self):
    (logits, hidden, aux, stats, tokens) = self.state
    self.send(logits)
    return 1
"""
LONGER = UNPACK.replace("tokens)", "tokens, desc)")


@pytest.mark.parametrize(
    ("npu", "expected"),
    [
        pytest.param(LONGER.replace("desc)", "desc, outputs)"), 0, id="followed with omni's own added"),
        pytest.param(UNPACK.replace("tokens)", "tokens, outputs)"), 1, id="not followed, with omni's own added"),
        pytest.param(UNPACK, 1, id="not followed"),
    ],
)
def test_a_statement_with_omnis_words_in_it_is_followed(npu: str, expected: int) -> None:
    assert len(found(follow(npu, UNPACK, LONGER), "RS101")) == expected


def test_a_port_of_the_gpu_twin_is_no_copy() -> None:
    port = "def profile(self):\n    self.check()\n    self.name()\n    self.start()\n    return None"
    theirs = "def profile(self):\n    self.check()\n    self.open()\n    self.stop()\n    return None"
    twin = copy(port).replace("NPUARModelRunner", "GPUARModelRunner")
    sides = {"upstream": upstream(theirs.replace("stop", "halt")), "base": upstream(theirs)}
    assert len(found(job(copy(port), **sides), "RS101")) == 1
    assert found(job(copy(port), twin, **sides), "RS101") == []


def locked(npu: str, base: str, *, ref: str = "0.24.0rc1") -> Entry:
    unit = upstream(base).split("\n", 1)[1]
    source = BaseRef("vllm-ascend", ref, ASCEND_RUNNER, "NPUModelRunner._dummy_run", "lock", 1.0, digest(unit))
    return with_hashes(Entry(AR, "NPUARModelRunner._dummy_run", source), copy(npu))


def test_the_lock_alone_tells_that_upstream_changed() -> None:
    given = job(copy(OMNI), upstream=upstream(SYNCED), entries=[locked(OMNI, BODY)])
    (finding,) = found(given, "RS101")
    assert "changed `NPUModelRunner._dummy_run` since 0.24.0rc1" in finding.message


RENAMED = BODY.replace("num_tokens", "rows").replace("hidden", "output")
"""A copy that shares one statement with upstream word for word."""


@pytest.mark.parametrize(
    ("npu", "is_locked", "expected"),
    [
        pytest.param(RENAMED, True, 1, id="the lock says what a short copy is"),
        pytest.param(RENAMED, False, 0, id="no lock"),
        pytest.param("def _dummy_run(self, rows):\n    return super()._dummy_run(rows)", True, 0, id="an override now"),
    ],
)
def test_a_short_copy_that_is_hardly_like_its_base_is_one_by_the_lock(npu: str, is_locked: bool, expected: int) -> None:
    entries = [locked(npu, BODY)] if is_locked else []
    given = job(copy(npu), upstream=upstream(SYNCED), base=upstream(BODY), entries=entries)
    assert len(found(given, "RS101")) == expected


def test_the_lock_alone_tells_that_upstream_did_not_change() -> None:
    given = job(copy(OMNI), upstream=upstream(BODY), base=upstream(SYNCED), entries=[locked(OMNI, BODY)])
    assert found(given, "RS101") == []


def test_each_unit_is_compared_with_the_base_that_the_lock_names() -> None:
    given = job(copy(OMNI), upstream=upstream(SYNCED), base=upstream("pass"), entries=[locked(OMNI, BODY)])
    module = replace(given.modules[0], base_texts={"0.24.0rc1": upstream(BODY)})
    (finding,) = found(replace(given, modules=(module, *given.modules[1:])), "RS101")
    assert "since 0.24.0rc1" in finding.message
    assert "1 statement of" in finding.message


def test_a_unit_that_the_lock_calls_omnis_own_follows_nobody() -> None:
    own = Entry(AR, "NPUARModelRunner._dummy_run")
    given = job(copy(OMNI), upstream=upstream(SYNCED), base=upstream(BODY), entries=[own])
    assert found(given, "RS101") == []


# RS102


def test_a_method_that_is_gone_and_its_likely_successor() -> None:
    renamed = BODY.replace("_dummy_run", "_profile_run")
    (finding,) = found(follow(OMNI, BODY, renamed), "RS102")
    assert "`NPUModelRunner._profile_run` is most like it" in finding.message


def test_a_method_that_stands_inside_an_if_is_not_gone() -> None:
    given = follow(OMNI, BODY, BODY)
    head, body = (given.modules[0].upstream_text or "").split("\n", 1)
    nested = f"{head}\n    if FLAG:\n{textwrap.indent(body, '    ')}"
    module = replace(given.modules[0], upstream_text=nested)
    (finding,) = found(replace(given, modules=(module, *given.modules[1:])), "RS102")
    assert "only inside another statement now (line 3), where it is not compared." in finding.message
    assert finding.fix == "Compare the two by hand."


def test_a_method_that_moved_to_another_class() -> None:
    moved = "class Mixin:\n" + upstream(BODY).split("\n", 1)[1] + "class NPUModelRunner(Mixin):\n    pass\n"
    given = job(copy(OMNI), upstream=moved, base=upstream(BODY))
    (finding,) = found(given, "RS102")
    assert "`Mixin._dummy_run` is there" in finding.message


@pytest.mark.parametrize(
    ("npu", "base", "target"),
    [
        pytest.param(OMNI, BODY, SYNCED, id="still there"),
        pytest.param("def mine(self):\n    return 1", BODY, "pass", id="never there"),
        pytest.param(WRAPPER + "    return super()._dummy_run(num_tokens)", BODY, "pass", id="no copy"),
    ],
)
def test_what_is_not_gone(npu: str, base: str, target: str) -> None:
    assert found(follow(npu, base, target), "RS102") == []


# RS103


def test_a_copy_that_says_what_it_would_inherit() -> None:
    (finding,) = found(follow(BODY, BODY, BODY), "RS103")
    assert finding.fix == "Delete `_dummy_run` from `NPUARModelRunner`."


def test_a_copy_of_omnis_own_parent() -> None:
    parent = OMNI_GPU_BASE.replace("    pass\n", "".join(f"    {line}\n" for line in dedent(BODY).split("\n")))
    (finding,) = found(job(copy(BODY), gpu_base=parent), "RS103")
    assert "`OmniGPUModelRunner._dummy_run`" in finding.message


def test_a_copy_that_shields_from_an_omni_parent_is_needed() -> None:
    parent = OMNI_GPU_BASE.replace("    pass\n", "    def _dummy_run(self, num_tokens):\n        return 1\n")
    given = job(copy(BODY), upstream=upstream(BODY), gpu_base=parent)
    assert found(given, "RS103") == []


@pytest.mark.parametrize(
    ("npu", "target"),
    [
        pytest.param(OMNI, BODY, id="omni adds to it"),
        pytest.param(BODY, SYNCED, id="upstream adds to it"),
        pytest.param(BODY.replace("with_prefill=False", "with_prefill=True"), BODY, id="another default"),
    ],
)
def test_copies_that_say_something_of_their_own(npu: str, target: str) -> None:
    assert found(follow(npu, BODY, target), "RS103") == []


def test_a_copy_over_other_globals_is_needed() -> None:
    body = BODY.replace("set_ascend_forward_context(None, self.config)", "Context(num_tokens)")
    given = job("from mine import Context\n" + copy(body), upstream="from theirs import Context\n" + upstream(body))
    assert found(given, "RS103") == []


# RS104


@pytest.mark.parametrize(
    ("own", "new", "expected"),
    [
        pytest.param("self, config", "self, config, context=None", ["context"], id="gained one"),
        pytest.param("self, config, old", "self, config", ["old"], id="lost one that the override requires"),
        pytest.param("self, config, old=None", "self, config", [], id="lost one that has a default"),
        pytest.param("self, config, context=None", "self, config, context=None", [], id="followed"),
        pytest.param("self, config, **kwargs", "self, config, context=None", [], id="takes any keyword"),
        pytest.param("self, config: int", "self, config: str", [], id="an annotation"),
        pytest.param("self, config", "self, config, *, context", ["context"], id="keyword only"),
    ],
)
def test_parameters(own: str, new: str, expected: list[str]) -> None:
    old = "self, config, old=None" if "old" in own else "self, config"
    wrapper = f"def initialize({own}):\n    return super().initialize(config)"
    given = follow(wrapper, f"def initialize({old}):\n    pass", f"def initialize({new}):\n    pass")
    assert symbols(given, "RS104") == expected


HELPERS = """
class Copies:
    def initialize(self, config):
        pass

class Output(Copies):
    def initialize(self, config):
        pass

class Base:
    {0}

class NPUARModelRunner(Base, NPUModelRunner):
    {1}

class Own(NPUARModelRunner):
    {2}
"""


def test_a_helper_class_does_not_override_the_runners_methods() -> None:
    old = upstream("def initialize(self, config):\n    pass")
    new = old.replace("config", "config, rank")
    taken = "def initialize(self, config): super().initialize(config)"
    for place in range(3):
        text = HELPERS.format(*(taken if place == i else "pass" for i in range(3)))
        hits = found(job(f"{NPU_HEAD}\n{text}", upstream=new, base=old), "RS104")
        assert [hit.unit for hit in hits] == [f"{('Base', 'NPUARModelRunner', 'Own')[place]}.initialize"]


# RS105

HIDING = """
from vllm_ascend.worker.model_runner_v1 import NPUModelRunner
from vllm_omni.worker.gpu_model_runner import OmniGPUModelRunner

class NPUARModelRunner(OmniGPUModelRunner, NPUModelRunner):
    def _dummy_run(self, num_tokens, with_prefill=False):
        self.prepare(num_tokens)
        self.pad(num_tokens)
"""
STATES = "def _update_states(self, output):\n    self.rows = output.rows"
NEW_STATES = f"{STATES}\n    self.receive(output)"
HAS_STATES = OMNI_GPU_BASE.replace("    pass\n", "    def _update_states(self, output):\n        self.mine(output)\n")
HANDS_ON = HAS_STATES.replace("self.mine(output)", "return super()._update_states(output)")
OWN_STATES = (
    HIDING + "    def _update_states(self, output):\n        return NPUModelRunner._update_states(self, output)\n"
)


MIRROR = (
    HIDING
    + "    def _update_states(self, output):\n        self.rows = 0\n"
    + "        OmniGPUModelRunner._update_states(self, output)\n"
)


def two(states: str) -> str:
    return upstream(f"{dedent(BODY)}\n{states}" if states else BODY)


@pytest.mark.parametrize(
    ("npu", "gpu_base", "old", "new", "expected"),
    [
        pytest.param(HIDING, HAS_STATES, STATES, NEW_STATES, ["_update_states"], id="changed"),
        pytest.param(HIDING, HAS_STATES, "", STATES, ["_update_states"], id="added"),
        pytest.param(HIDING, HAS_STATES, STATES, STATES, [], id="left as it was"),
        pytest.param(HIDING, HANDS_ON, STATES, NEW_STATES, [], id="the base hands on"),
        pytest.param(HIDING, OMNI_GPU_BASE, STATES, NEW_STATES, [], id="nothing in front has it"),
        pytest.param(OWN_STATES, HAS_STATES, STATES, NEW_STATES, [], id="NPU has it itself"),
        pytest.param(MIRROR, HAS_STATES, STATES, NEW_STATES, ["_update_states"], id="NPU mirrors it"),
        pytest.param(MIRROR, HAS_STATES, "", NEW_STATES, [], id="NPU had one before"),
        pytest.param(MIRROR, HAS_STATES, STATES, STATES, [], id="what NPU mirrors stayed as it was"),
        pytest.param(
            MIRROR.replace("self.rows = 0", "self.receive(output)"),
            HAS_STATES,
            STATES,
            NEW_STATES,
            [],
            id="NPU has it already",
        ),
        pytest.param(MIRROR, HANDS_ON, STATES, NEW_STATES, [], id="NPU hands on to a base that hands on"),
        pytest.param(HIDING.replace(", NPUModelRunner)", ")"), HAS_STATES, STATES, NEW_STATES, [], id="no base of it"),
    ],
)
def test_what_a_base_in_front_hides(npu: str, gpu_base: str, old: str, new: str, expected: list[str]) -> None:
    gpu = "class GPUARModelRunner(OmniGPUModelRunner):\n    pass\n"
    assert symbols(job(npu, gpu, upstream=two(new), base=two(old), gpu_base=gpu_base), "RS105") == expected


# RS110

RULER = "# " + "-" * 30 + " Omni-new " + "-" * 30
MARKED = OMNI.replace("    hidden = self.talker(hidden)", f"    {RULER}\n    hidden = self.talker(hidden)\n    {RULER}")


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        pytest.param(MARKED, 0, id="as locked"),
        pytest.param(MARKED.replace("self.talker(hidden)", "self.talker(hidden, 1)"), 0, id="inside a block"),
        pytest.param(MARKED.replace("self.pad(num_tokens)", "self.pad(num_tokens )  # pad"), 0, id="layout"),
        pytest.param(MARKED.replace("self.pad(num_tokens)", "self.pad(0)"), 1, id="outside"),
        pytest.param(
            MARKED.replace("    return hidden", f"    {RULER}\n    self.send()\n    {RULER}\n    return hidden"),
            0,
            id="a new block",
        ),
    ],
)
def test_edits_outside_blocks(now: str, expected: int) -> None:
    assert len(found(job(copy(now), entries=[locked(MARKED, BODY)]), "RS110")) == expected


EDITED = MARKED.replace("self.pad(num_tokens)", "self.pad(0)")


@pytest.mark.parametrize(
    ("before", "now", "line"),
    [
        pytest.param(MARKED, EDITED, "self.pad(0)", id="a line"),
        pytest.param(
            MARKED, MARKED.replace("    self.finish(", "    self.end()\n    self.finish("), "self.end()", id="more"
        ),
        pytest.param(MARKED, MARKED.replace("    self.pad(num_tokens)\n", ""), "with set_ascend", id="one less"),
        pytest.param(MARKED, MARKED.replace("\n    return hidden", ""), "self.finish(hidden)", id="the last one"),
        pytest.param(
            EDITED, EDITED.replace("self.finish(hidden)", "self.finish(0)"), "self.finish(0)", id="one after another"
        ),
        pytest.param(EDITED, EDITED, "", id="before the branch"),
        pytest.param(EDITED, EDITED.replace("self.talker(hidden)", "self.talker(0)"), "", id="in a block"),
        pytest.param(EDITED, EDITED.replace("self.pad(0)", "self.pad( 0 )  # pad"), "", id="layout"),
        pytest.param("x = 1", EDITED, "", id="no such unit before"),
    ],
)
def test_the_line_that_a_branch_edited_has_the_finding(before: str, now: str, line: str) -> None:
    entries = [locked(MARKED, BODY)]
    then = job(copy(before), entries=entries)
    (finding,) = found(replace(job(copy(now), entries=entries), before=lambda: then), "RS110")
    rows = copy(now).split("\n")
    said = f", by this branch at line {next(k for k, row in enumerate(rows, 1) if line in row)}." if line else "locked."
    assert finding.message.endswith(said)
    assert (line or "def _dummy_run(") in rows[finding.line - 1]
    (whole,) = found(job(copy(now), entries=entries), "RS110")
    assert (finding.unit, finding.symbol) == (whole.unit, whole.symbol)


def test_an_edit_by_a_branch_is_ignored_at_the_line_or_at_the_def() -> None:
    entries = [locked(MARKED, BODY)]
    then = job(copy(MARKED), entries=entries)
    comment = "# runner-sync: ignore[RS110] on purpose"
    for row in ("    def _dummy_run(", "self.pad(0)"):
        now = copy(EDITED)
        line = next(line for line in now.split("\n") if row.strip() in line)
        assert (
            found(replace(job(now.replace(line, f"{line}  {comment}"), entries=entries), before=lambda: then), "RS110")
            == []
        )


def test_a_lock_that_does_not_know_the_npu_text_says_nothing_of_edits() -> None:
    entry = replace(locked(MARKED, BODY), extra={})
    assert found(job(copy(OMNI), entries=[entry]), "RS110") == []


def test_without_upstream_nothing_is_said_of_it() -> None:
    assert [f.code for f in run(job(copy(OMNI)), "RS1").findings] == []
