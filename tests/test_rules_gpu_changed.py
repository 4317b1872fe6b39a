"""RS201 and RS111: what changed on the GPU side since the lock, and what the lock says nothing of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
from check_samples import (
    AR,
    EMPTY_AR,
    GPU_AR,
    dedent,
    found,
    job,
    run,
    symbols,
    with_hashes,
)
from parity_samples import ASK, PLAIN, SAMPLE, gpu, npu

from runner_sync.digests import digest
from runner_sync.lock import Entry
from runner_sync.model import BaseRef, Finding
from runner_sync.verify.baseline import Baseline
from runner_sync.verify.check_job import CheckJob
from runner_sync.verify.runners.locked import GPU_CODE


def entry(npu_text: str, gpu_text: str, name: str = "execute_model") -> Entry:
    """What a lock written for these texts says of one method."""
    unit = dedent(gpu_text)[dedent(gpu_text).index("    def ") :]
    ref = BaseRef("vllm-omni", "0.26.0", GPU_AR, f"GPUARModelRunner.{name}", "lock", 1.0, digest(unit))
    one = Entry(AR, f"NPUARModelRunner.{name}", None, ref)
    return with_hashes(one, npu_text, gpu_text)


OLD_GPU, OLD_NPU = gpu(PLAIN), npu(PLAIN)
NEW_GPU = gpu(PLAIN.replace("return x", "return self.fixed(x)"))


@pytest.mark.parametrize(
    ("npu_text", "gpu_text", "expected"),
    [
        pytest.param(OLD_NPU, OLD_GPU, [], id="nothing changed"),
        pytest.param(OLD_NPU, NEW_GPU, ["GPUARModelRunner.execute_model"], id="only the GPU side changed"),
        pytest.param(
            OLD_NPU, gpu("# why\n" + PLAIN.replace("(x)\n", "(  x )  # call\n")), [], id="comments and layout"
        ),
        pytest.param(OLD_NPU, gpu("pass"), ["GPUARModelRunner.execute_model"], id="gone from the GPU side"),
    ],
)
def test_gpu_changes_since_the_lock(npu_text: str, gpu_text: str, expected: list[str]) -> None:
    given = job(npu_text, gpu_text, entries=[entry(OLD_NPU, OLD_GPU)])
    assert symbols(given, "RS201") == expected


def test_a_gpu_change_that_is_not_for_npu_has_a_way_out() -> None:
    (finding,) = found(job(OLD_NPU, NEW_GPU, entries=[entry(OLD_NPU, OLD_GPU)]), "RS201")
    assert finding.fix == (
        "`runner-sync upgrade --gpu-only --only NPUARModelRunner.execute_model` ports the change; where it is not "
        f"for NPU, `# runner-sync: ignore[RS201:{finding.symbol}@{finding.state}] reason` above this unit."
    )


def pasted(finding: Finding, text: str) -> str:
    """``text`` with the comment that the fix names, above what the finding is about."""
    (comment,) = re.findall(r"`(# runner-sync: ignore[^`]*)`", finding.fix)
    lines = dedent(text).split("\n")
    indent = lines[finding.line - 1][: -len(lines[finding.line - 1].lstrip())]
    return "\n".join([*lines[: finding.line - 1], indent + comment, *lines[finding.line - 1 :]])


NEWER_GPU = gpu(PLAIN.replace("return x", "return self.fixed(x, 2)"))


def test_the_comment_that_the_fix_names_accepts_one_text_of_the_twin() -> None:
    entries = [entry(OLD_NPU, OLD_GPU)]
    (finding,) = found(job(OLD_NPU, NEW_GPU, entries=entries), "RS201")
    accepted = pasted(finding, OLD_NPU)
    assert symbols(job(accepted, NEW_GPU, entries=entries), "RS201") == []
    assert symbols(job(accepted, NEWER_GPU, entries=entries), "RS201") == ["GPUARModelRunner.execute_model"]
    wide = accepted.replace(f":{finding.symbol}@{finding.state}", "")
    assert symbols(job(wide, NEWER_GPU, entries=entries), "RS201") == [], "the plain form goes for every text"


def test_the_comment_that_the_fix_names_goes_for_one_method_of_the_class() -> None:
    (finding,) = found(job(EMPTY_AR, gpu(SAMPLE)), "RS203")
    accepted = pasted(finding, EMPTY_AR)
    assert symbols(job(accepted, gpu(SAMPLE)), "RS203") == []
    later = SAMPLE + SAMPLE.replace("_sample", "_draft")
    assert symbols(job(accepted, gpu(later)), "RS203") == ["_draft"]


def test_the_comment_that_the_fix_names_goes_for_one_hook() -> None:
    (finding,) = found(job(EMPTY_AR, gpu(ASK), vllm="x = 1\n"), "RS207")
    accepted = pasted(finding, EMPTY_AR)
    assert symbols(job(accepted, gpu(ASK), vllm="x = 1\n"), "RS207") == []
    later = ASK.replace("wants_history", "wants_tokens")
    assert symbols(job(accepted, gpu(later), vllm="x = 1\n"), "RS207") == ["wants_tokens"]


OWN_NPU = npu(PLAIN.replace("return x", "return self.log(x)"))


def branched(now: tuple[str, str], before: tuple[str, str], entries: Sequence[Entry]) -> CheckJob:
    """The job of a branch that had ``before``, NPU and GPU text, where it began; the lock is the same."""
    then = job(*before, entries=entries)
    return replace(job(*now, entries=entries), before=lambda: then)


def rated(given: CheckJob) -> list[tuple[str, str]]:
    return [(finding.severity, finding.symbol) for finding in found(given, "RS201")]


TWIN = "GPUARModelRunner.execute_model"


def test_both_changed_since_the_lock_is_for_a_person_to_tell() -> None:
    given = job(OWN_NPU, NEW_GPU, entries=[entry(OLD_NPU, OLD_GPU)])
    assert rated(given) == [("info", TWIN)]
    (finding,) = found(given, "RS201")
    assert finding.fix.startswith("Where it has the change, record it: `runner-sync lock`; ")
    assert rated(job(OWN_NPU, OLD_GPU, entries=[entry(OLD_NPU, OLD_GPU)])) == [], "only the NPU side changed"


@pytest.mark.parametrize(
    ("now", "before", "expected"),
    [
        pytest.param((OWN_NPU, NEW_GPU), (OWN_NPU, OLD_GPU), "warning", id="the GPU side alone"),
        pytest.param((OWN_NPU, NEWER_GPU), (OWN_NPU, NEW_GPU), "warning", id="the GPU side alone, once more"),
        pytest.param((f"{OWN_NPU}\n", NEW_GPU), (OWN_NPU, OLD_GPU), "warning", id="and the layout of NPU"),
        pytest.param((OWN_NPU, gpu("pass")), (OWN_NPU, OLD_GPU), "warning", id="gone from the GPU side"),
        pytest.param((OWN_NPU, NEW_GPU), (OLD_NPU, OLD_GPU), "info", id="both, by hand"),
        pytest.param((OWN_NPU, NEW_GPU), (OLD_NPU, NEW_GPU), "info", id="the NPU side alone"),
        pytest.param((OWN_NPU, NEW_GPU), (OWN_NPU, NEW_GPU), "info", id="neither"),
        pytest.param((OWN_NPU, NEW_GPU), ("class:\n", OLD_GPU), "info", id="no Python where it began"),
        pytest.param((OLD_NPU, NEW_GPU), (OLD_NPU, NEW_GPU), "warning", id="as locked, and long since"),
    ],
)
def test_a_branch_changed_one_side_or_both(now: tuple[str, str], before: tuple[str, str], expected: str) -> None:
    assert rated(branched(now, before, [entry(OLD_NPU, OLD_GPU)])) == [(expected, TWIN)]


def test_a_branch_that_ports_by_hand_is_told_how_to_record_it_and_nothing_else() -> None:
    entries = [entry(OLD_NPU, OLD_GPU)]
    given = branched((OWN_NPU, NEW_GPU), (OLD_NPU, OLD_GPU), entries)
    lines = frozenset(range(1, 20))
    result = run(given, "RS201", changed={AR: lines, GPU_AR: lines})
    assert (result.findings, result.ported) == ((), ("NPUARModelRunner.execute_model",))
    strict = run(given, "RS201", changed={AR: lines, GPU_AR: lines}, severity="warning")
    assert strict == result, "whatever is reported besides"
    later = branched((OWN_NPU, NEW_GPU), (OWN_NPU, NEW_GPU), entries)
    assert run(later, "RS201", changed={}).ported == (), "it is another branch's"
    assert run(given, "RS201").ported == (), "without a branch it is a finding"


GRAPHED = PLAIN.replace("return x", "return CUDAGraphWrapper(x)")


@pytest.mark.parametrize(
    ("npu_code", "gpu_code", "is_done"),
    [
        pytest.param(PLAIN.replace("return x", "return self.fixed(x)"), "", True, id="word for word"),
        pytest.param(
            "# why\n" + PLAIN.replace("return x", "return self.fixed( x )"), "", True, id="with another layout"
        ),
        pytest.param(GRAPHED.replace("CUDA", "ACL"), GRAPHED, True, id="in NPU words"),
        pytest.param(PLAIN, PLAIN.replace("return x", "return self.fixed(x, 2)"), False, id="not at all"),
        pytest.param(PLAIN.replace("return x", "return self.fixed(x, 2)"), "", False, id="with a difference"),
        pytest.param(
            PLAIN.replace("return x", "self.own(x)\n    return self.fixed(x)"), "", False, id="with more of its own"
        ),
        pytest.param(PLAIN.replace("return x", "return self.fixed(x)"), "pass", False, id="while the twin is gone"),
    ],
)
def test_a_unit_that_has_what_its_twin_has_is_only_to_be_recorded(
    npu_code: str, gpu_code: str, *, is_done: bool
) -> None:
    gpu_text = gpu(gpu_code) if gpu_code else NEW_GPU
    result = run(job(npu(npu_code), gpu_text, entries=[entry(OLD_NPU, OLD_GPU)]), "RS201")
    assert result.equal == (("NPUARModelRunner.execute_model",) if is_done else ())
    assert [finding.symbol for finding in result.findings] == ([] if is_done else [TWIN])


def test_the_gpu_side_that_gets_what_npu_has_is_no_drift() -> None:
    own = npu(PLAIN.replace("return x", "return self.fixed(x)"))
    entries = [entry(own, OLD_GPU)]
    assert run(job(own, NEW_GPU, entries=entries), "RS201").findings == ()
    assert rated(branched((own, NEW_GPU), (own, OLD_GPU), [Entry(AR, "helper")])) == []


def test_a_baseline_lets_go_of_what_was_ported_word_for_word() -> None:
    entries = [entry(OLD_NPU, OLD_GPU)]
    accepted = run(job(OLD_NPU, NEW_GPU, entries=entries), "RS201").baseline
    ported = npu(PLAIN.replace("return x", "return self.fixed(x)"))
    result = run(job(ported, NEW_GPU, entries=entries), "RS201", baseline=accepted)
    assert (result.findings, result.accepted, len(result.stale)) == ((), 0, 1)


def test_a_baseline_keeps_what_it_accepts_of_a_unit_that_was_edited() -> None:
    entries = [entry(OLD_NPU, OLD_GPU)]
    accepted = run(job(OLD_NPU, NEW_GPU, entries=entries), "RS201").baseline
    result = run(job(OWN_NPU, NEW_GPU, entries=entries), "RS201", baseline=accepted)
    assert (result.findings, result.accepted, result.stale) == ((), 1, ())


DOCUMENTED = PLAIN.replace("):\n", '):\n    """Run it."""\n', 1)


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        pytest.param(DOCUMENTED.replace("Run it.", "Run the model."), [], id="a docstring"),
        pytest.param(PLAIN, [], id="no docstring any more"),
        pytest.param(DOCUMENTED.replace("return x", "return 'x'"), [TWIN], id="another string"),
        pytest.param(DOCUMENTED.replace("(self, x)", "(self, x: int)"), [TWIN], id="an annotation"),
        pytest.param(DOCUMENTED.replace("Run it.", "Run.").replace("return x", "return 1"), [TWIN], id="code as well"),
    ],
)
def test_docstrings_of_the_gpu_side_are_no_change(now: str, expected: list[str]) -> None:
    own = npu(PLAIN.replace("plain(", "other("))
    locked = entry(own, gpu(DOCUMENTED))
    assert symbols(job(own, gpu(now), entries=[locked]), "RS201") == expected
    older = replace(locked, extra={k: v for k, v in locked.extra.items() if k != GPU_CODE})
    assert symbols(job(own, gpu(now), entries=[older]), "RS201") == [TWIN], "a lock of an older version"


def spoken_of(now: str) -> CheckJob:
    return job(OLD_NPU, gpu(now), entries=[entry(OLD_NPU, gpu(DOCUMENTED))])


FIXED = DOCUMENTED.replace("return x", "return self.fixed(x)")
SAID_OTHERWISE = FIXED.replace("Run it.", "Run the model.")


@pytest.mark.parametrize(
    ("now", "is_accepted"),
    [
        pytest.param(FIXED, True, id="as accepted"),
        pytest.param(SAID_OTHERWISE, True, id="another docstring"),
        pytest.param(FIXED.replace('    """Run it."""\n', ""), True, id="no docstring"),
        pytest.param(FIXED.replace("fixed(x)", "fixed(x, 2)"), False, id="other code"),
        pytest.param(FIXED.replace("fixed(x)", "fixed('x')"), False, id="a string"),
    ],
)
def test_what_was_accepted_stays_accepted_with_another_docstring(now: str, *, is_accepted: bool) -> None:
    (finding,) = found(spoken_of(FIXED), "RS201")
    given = spoken_of(now)
    later = replace(given, modules=(replace(given.modules[0], text=pasted(finding, OLD_NPU)),))
    expected = [] if is_accepted else [TWIN]
    assert symbols(later, "RS201") == expected
    accepted = run(spoken_of(FIXED), "RS201").baseline
    assert [f.symbol for f in run(given, "RS201", baseline=accepted).findings] == expected


def test_what_an_earlier_version_accepted_with_its_docstring_stays_accepted() -> None:
    (finding,) = found(spoken_of(FIXED), "RS201")
    assert finding.old_state not in ("", finding.state)
    npu_text = pasted(finding, OLD_NPU).replace(finding.state, finding.old_state)

    def commented(now: str) -> list[str]:
        given = spoken_of(now)
        return symbols(replace(given, modules=(replace(given.modules[0], text=npu_text),)), "RS201")

    assert commented(FIXED) == []
    assert commented(SAID_OTHERWISE) == [TWIN]
    written = run(spoken_of(FIXED), "RS201").baseline
    ((code, path, unit, symbol), count) = next(iter(written.counts.items()))
    older = Baseline({(code, path, unit, symbol.replace(finding.state, finding.old_state)): count})
    result = run(spoken_of(FIXED), "RS201", baseline=older)
    assert (result.findings, result.accepted, result.stale, result.baseline) == ((), 1, (), written)
    later = run(spoken_of(SAID_OTHERWISE), "RS201", baseline=older)
    assert (len(later.findings), len(later.stale)) == (1, 1)
    assert found(job(OLD_NPU, NEW_GPU, entries=[entry(OLD_NPU, OLD_GPU)]), "RS201")[0].old_state == ""


def test_a_unit_that_the_lock_does_not_know_is_told_of_in_the_branch_that_changes_its_twin() -> None:
    others = [Entry(AR, "helper")]
    assert rated(branched((OWN_NPU, NEW_GPU), (OWN_NPU, OLD_GPU), others)) == [("warning", TWIN)]
    assert rated(branched((OWN_NPU, NEW_GPU), (OLD_NPU, OLD_GPU), others)) == []
    assert rated(branched((OWN_NPU, NEW_GPU), (EMPTY_AR, OLD_GPU), others)) == []
    assert rated(job(OWN_NPU, NEW_GPU, entries=others)) == []


TWO_NPU, TWO_GPU = (side(PLAIN + "\ndef nap(self):\n    return 1\n") for side in (npu, gpu))


def entries_of(*names: str) -> list[Entry]:
    return [replace(entry(OLD_NPU, OLD_GPU), qualname=f"NPUARModelRunner.{name}") for name in names]


@pytest.mark.parametrize(
    ("npu_text", "gpu_text", "names", "expected"),
    [
        pytest.param(TWO_NPU, TWO_GPU, ("execute_model", "nap"), [], id="all of them"),
        pytest.param(TWO_NPU, OLD_GPU, ("execute_model",), [], id="new, without a twin"),
        pytest.param(OLD_NPU, TWO_GPU, ("execute_model",), [], id="a method that NPU lacks"),
        pytest.param(TWO_NPU, TWO_GPU, ("execute_model",), ["info"], id="new, with a twin"),
        pytest.param(OLD_NPU, OLD_GPU, ("execute_model", "nap"), ["warning"], id="gone"),
        pytest.param(TWO_NPU, TWO_GPU, ("execute_model", "rest"), ["warning"], id="another name"),
    ],
)
def test_units_that_the_lock_has_no_entry_of(
    npu_text: str, gpu_text: str, names: Sequence[str], expected: list[str]
) -> None:
    given = job(npu_text, gpu_text, entries=entries_of(*names))
    assert [finding.severity for finding in found(given, "RS111")] == expected


def test_one_finding_names_the_units() -> None:
    (finding,) = found(job(TWO_NPU, TWO_GPU, entries=entries_of("rest")), "RS111")
    assert (finding.line, finding.unit, finding.symbol) == (3, "NPUARModelRunner", "NPUARModelRunner")
    assert finding.message == (
        "`runner-sync.lock` has no entry of `NPUARModelRunner.execute_model`, `NPUARModelRunner.nap` and has entries "
        "of `NPUARModelRunner.rest`, so changes on the GPU side are not reported."
    )
    assert finding.fix == "Record the units as they are: `runner-sync lock`."


UPSTREAM = BaseRef("vllm-ascend", "0.26.0rc1", "worker.py", "NPUModelRunner.nap", "lock", 1.0)


def copied(name: str, *, gpu_too: bool = False) -> Entry:
    """What the lock says of a copy of vllm-ascend's."""
    return replace(entries_of(name)[0] if gpu_too else Entry(AR, f"NPUARModelRunner.{name}"), upstream=UPSTREAM)


@pytest.mark.parametrize(
    ("gpu_text", "entries", "said"),
    [
        pytest.param(TWO_GPU, [*entries_of("execute_model"), copied("nap")], "no GPU text of `{}.nap`,", id="later"),
        pytest.param(
            TWO_GPU + "\n    def rest(self):\n        return 1\n",
            [*entries_of("execute_model"), copied("nap"), *entries_of("gone")],
            "no GPU text of `{}.nap` and has entries of `{}.gone`,",
            id="and gone",
        ),
        pytest.param(TWO_GPU, [*entries_of("execute_model"), copied("nap", gpu_too=True)], "", id="with both"),
        pytest.param(OLD_GPU, [*entries_of("execute_model"), copied("nap")], "", id="no GPU twin"),
        pytest.param(TWO_GPU, [copied("nap")], "", id="written without the GPU side"),
        pytest.param(TWO_GPU, [copied("execute_model"), copied("nap")], "", id="all of it without the GPU side"),
    ],
)
def test_a_unit_that_the_lock_compares_with_upstream_alone(gpu_text: str, entries: list[Entry], said: str) -> None:
    messages = [finding.message for finding in found(job(TWO_NPU, gpu_text, entries=entries), "RS111")]
    expected = said.replace("{}", "NPUARModelRunner")
    assert messages == (
        [f"`runner-sync.lock` has {expected} so changes on the GPU side are not reported."] if said else []
    )


def test_a_later_change_of_such_a_twin_is_told_of_in_the_branch() -> None:
    entries = [*entries_of("execute_model"), copied("nap")]
    changed = TWO_GPU.replace("return 1", "return 2")
    assert rated(branched((TWO_NPU, changed), (TWO_NPU, TWO_GPU), entries)) == [("warning", "GPUARModelRunner.nap")]
    assert rated(branched((TWO_NPU, changed), (TWO_NPU, TWO_GPU), [copied("nap")])) == [
        ("warning", "GPUARModelRunner.nap")
    ]
    assert rated(branched((TWO_NPU, TWO_GPU), (TWO_NPU, TWO_GPU), entries)) == []
    assert rated(branched((TWO_NPU, TWO_GPU), (TWO_NPU, OLD_GPU), entries)) == [], "the GPU side gets what NPU has"
    (finding,) = found(branched((TWO_NPU, changed), (TWO_NPU, OLD_GPU), entries), "RS201")
    assert " is new since the branch began, and this unit did not" in finding.message


@pytest.mark.parametrize(
    ("before", "now", "severity"),
    [
        pytest.param(copied("nap", gpu_too=True), [copied("nap")], "warning", id="its GPU text taken out"),
        pytest.param(copied("nap"), [], "warning", id="its entry taken out"),
        pytest.param(copied("nap"), [copied("nap")], "info", id="it had none"),
    ],
)
def test_what_a_branch_took_out_of_an_entry(before: Entry, now: list[Entry], severity: str) -> None:
    one = entries_of("execute_model")
    then = job(TWO_NPU, TWO_GPU, entries=[*one, before])
    (finding,) = found(replace(job(TWO_NPU, TWO_GPU, entries=[*one, *now]), before=lambda: then), "RS111")
    assert finding.severity == severity


def test_a_branch_that_takes_the_gpu_side_out_of_the_whole_lock_is_told() -> None:
    then = job(TWO_NPU, TWO_GPU, entries=[*entries_of("execute_model"), copied("nap", gpu_too=True)])
    now = job(TWO_NPU, TWO_GPU, entries=[copied("execute_model"), copied("nap")])
    assert [finding.severity for finding in found(replace(now, before=lambda: then), "RS111")] == ["warning"]


def test_entries_that_stand_in_for_a_lock_are_none_of_it() -> None:
    copy = BaseRef("vllm-ascend", "0.26.0rc1", "worker.py", "NPUModelRunner.rest", "inferred", 1.0)
    assert found(job(TWO_NPU, TWO_GPU, entries=[Entry(AR, "NPUARModelRunner.rest", copy)]), "RS111") == []
    locked = replace(copy, how="lock")
    assert found(job(TWO_NPU, TWO_GPU, entries=[Entry(AR, "NPUARModelRunner.rest", locked)]), "RS111")


def test_an_entry_that_a_branch_took_out_is_to_come_back() -> None:
    then = job(TWO_NPU, TWO_GPU, entries=entries_of("execute_model", "nap"))
    given = replace(job(TWO_NPU, TWO_GPU, entries=entries_of("execute_model")), before=lambda: then)
    (finding,) = found(given, "RS111")
    assert finding.severity == "warning"
    assert finding.fix.startswith("Bring back from git what it said of `NPUARModelRunner.nap`, or record ")
    assert len(run(given, "RS111", changed={}).findings) == 1, "though it stands on no line"


def test_what_the_lock_lacked_already_is_told_of_to_those_who_touch_it() -> None:
    then = job(TWO_NPU, TWO_GPU, entries=entries_of("execute_model"))
    now = TWO_GPU.replace("return 1", "return 2")
    given = replace(job(TWO_NPU, now, entries=entries_of("execute_model")), before=lambda: then)
    end = dedent(now)[: dedent(now).index("return 2")].count("\n") + 1
    assert run(given, "RS111", changed={GPU_AR: frozenset({1})}).findings == ()
    assert len(run(given, "RS111", changed={GPU_AR: frozenset({end})}).findings) == 1


def test_a_lock_without_the_npu_text_reports_every_gpu_change() -> None:
    plain = Entry(AR, "NPUARModelRunner.execute_model", None, entry(OLD_NPU, OLD_GPU).gpu)
    edited = npu(PLAIN.replace("return x", "return 1"))
    assert symbols(job(edited, NEW_GPU, entries=[plain]), "RS201") == ["GPUARModelRunner.execute_model"]
