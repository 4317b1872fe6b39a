"""A mistake of this program in one rule leaves the other rules' findings, and the run is not green."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from types import ModuleType

import pytest
from check_samples import AR, job
from sync_samples import Trees, commit
from verify_samples import NPU, npu, world

from runner_sync import cli
from runner_sync.errors import InputError
from runner_sync.profile import NPU as PROFILE
from runner_sync.verify import baseline as ratchet
from runner_sync.verify import breakage, check
from runner_sync.verify.baseline import Baseline
from runner_sync.verify.check_job import CheckJob, CheckModule
from runner_sync.verify.codes import Codes
from runner_sync.verify.rules import rs306_keyword_gone, rs402_device_calls, rs407_locals_guard

TEXT = 'import torch\n\ntorch.cuda.synchronize()\nif "torch" in locals(): ...\n'
GUARD = replace(job(TEXT), isolates=True)
CODES = Codes(("RS402", "RS407"))
MISSING = npu("def f(self):\n    helper(1, word=2)\n    return self.gone")
"""A keyword (RS306) and an attribute (RS304) that the sample trees lack."""


def stumble(monkeypatch: pytest.MonkeyPatch, rule: ModuleType, error: Exception) -> None:
    def find(*_: object) -> Iterable[object]:
        raise error

    monkeypatch.setattr(rule, "find", find)


def of_trees(**rest: object) -> CheckJob:
    given = CheckJob(PROFILE, (CheckModule(NPU, MISSING),), world=world(npu=MISSING), isolates=True)
    return replace(given, **rest)  # type: ignore[arg-type]


def test_the_other_rules_report(monkeypatch: pytest.MonkeyPatch) -> None:
    stumble(monkeypatch, rs402_device_calls, KeyError("a"))
    failed, guard = (f for f in check.run(GUARD, CODES).findings if f.path == AR)
    assert (failed.code, failed.severity, failed.path, guard.code) == ("RS402", "error", AR, "RS407")
    assert failed.message.startswith(
        "RS402 failed on this file, which it did not check, by a mistake in runner-sync (Key"
    )
    assert "--traceback" in failed.fix


def test_a_rule_about_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    codes = Codes(("RS304", "RS306"))
    assert [f.code for f in check.run(of_trees(), codes).findings] == ["RS306", "RS304"]
    stumble(monkeypatch, rs306_keyword_gone, KeyError("a"))
    failed, attribute = (f for f in check.run(of_trees(), codes).findings if f.path == NPU)
    assert ("by a mistake" in failed.message, attribute.code) == (True, "RS304")


def test_a_rule_that_fails_on_the_older_trees_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    new, old = world(npu=MISSING), world(npu=MISSING)
    find = rs306_keyword_gone.find

    def find_in_new(program: object, *rest: object) -> Iterable[object]:
        if getattr(program, "world", None) is old:
            raise KeyError("a")
        return find(program, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(rs306_keyword_gone, "find", find_in_new)
    found = [f for f in breakage.find(new, old, [NPU], isolates=True) if f.path == NPU]
    assert [f.code for f in found] == ["RS306", "RS306"]
    assert found[0].message.startswith("RS306 failed on the older trees, so what is new is not known")


def test_a_rule_that_fails_on_both_sides_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    stumble(monkeypatch, rs306_keyword_gone, KeyError("a"))
    both = of_trees(old_world=world(npu=MISSING))
    found = check.run(both, Codes(("RS306",))).findings
    assert found
    assert all("by a mistake" in f.message for f in found)


def test_a_branch_that_touched_no_line(monkeypatch: pytest.MonkeyPatch) -> None:
    stumble(monkeypatch, rs402_device_calls, KeyError("a"))
    assert {f.code for f in check.run(GUARD, CODES, changed={}).findings} == {"RS402"}
    stumble(monkeypatch, rs306_keyword_gone, KeyError("a"))
    assert {f.code for f in check.run(of_trees(), Codes(("RS306",)), changed={}).findings} == {"RS306"}


def test_a_baseline_neither_accepts_a_mistake_nor_shrinks_by_it(monkeypatch: pytest.MonkeyPatch) -> None:
    accepted = check.run(GUARD, CODES).baseline
    assert accepted is not None
    stumble(monkeypatch, rs402_device_calls, KeyError("a"))
    stumble(monkeypatch, rs407_locals_guard, KeyError("a"))
    result = check.run(GUARD, CODES, baseline=accepted)
    assert {f.code for f in result.findings} == {"RS402", "RS407"}
    assert (result.baseline, result.stale) == (accepted, ())
    assert check.run(GUARD, CODES).baseline == Baseline({})
    written = Baseline(dict.fromkeys(map(ratchet.key_of, result.findings), 1))
    assert check.run(GUARD, CODES, baseline=written).findings == result.findings


def test_a_comment_that_silences_the_rule_is_not_called_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    stumble(monkeypatch, rs402_device_calls, KeyError("a"))
    text = TEXT.replace("nize()\n", "nize()  # runner-sync: ignore[RS402] why\n")
    codes = Codes(("RS402", "RS491"))
    assert {f.code for f in check.run(replace(job(text), isolates=True), codes).findings} == {"RS402"}


@pytest.mark.parametrize(
    ("error", "isolates"),
    [(KeyError("a"), False), (InputError("bad"), True), (OSError("full"), True), (RecursionError("deep"), True)],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else f"isolates={value}",
)
def test_what_ends_the_run(error: Exception, isolates: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    stumble(monkeypatch, rs402_device_calls, error)
    with pytest.raises(type(error)):
        check.run(replace(GUARD, isolates=isolates), CODES)


@pytest.mark.parametrize(("words", "code"), [((), 1), (("--traceback",), 2)])
def test_the_command_line(
    words: tuple[str, ...], code: int, trees: Trees, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    commit(trees.omni)
    stumble(monkeypatch, rs402_device_calls, KeyError("a"))
    assert cli.run([*words, "check", "--select", "RS402", "--omni-path", str(trees.omni)]) == code
    output, errors = capsys.readouterr()
    assert ("by a mistake in runner-sync" in " ".join(output.split())) is (code == 1)
    assert ("Traceback" in errors) is (code == 2)


def test_no_comment_silences_a_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    silenced = TEXT.replace("import torch\n", "import torch  # runner-sync: ignore[RS402] on purpose\n", 1)
    stumble(monkeypatch, rs402_device_calls, KeyError("a"))
    found = check.run(replace(job(silenced), isolates=True), CODES).findings
    assert "RS402" in [f.code for f in found if f.path == AR]
