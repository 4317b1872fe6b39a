"""What was found in the same texts is recalled, and what changed is checked anew."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from check_samples import AR, NPU_HEAD, job
from sync_samples import Trees

from runner_sync import sync
from runner_sync.errors import InputError
from runner_sync.lock import decode_toml
from runner_sync.model import Finding
from runner_sync.profile import GPU
from runner_sync.sources import cache
from runner_sync.sync import program, recalled, recalled_checks
from runner_sync.verify import check, rule_runs
from runner_sync.verify.baseline import update
from runner_sync.verify.check_job import CheckJob
from runner_sync.verify.codes import Codes
from runner_sync.verify.hits import Found, Hit

HELPER = f"{AR.rpartition('/')[0]}/helper.py"
CODES = Codes(("RS407", "RS402"))

CODE = """
from vllm_omni.platforms.npu.worker.npu_model_runner import OmniNPUModelRunner

class NPUARModelRunner(OmniNPUModelRunner):
    def execute_model(self, rows):
        if "rows" in locals():
            return rows
"""
"""One finding of RS407."""

GIVEN = job(CODE, "class GPUARModelRunner: ...\n", files={HELPER: "import torch\n\ntorch.cuda.synchronize()\n"})


pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[CheckJob]:
    """The jobs on which the rules ran."""
    jobs: list[CheckJob] = []
    find = rule_runs.find

    def counted(given: CheckJob, codes: Codes) -> Found:
        jobs.append(given)
        return find(given, codes)

    monkeypatch.setattr(rule_runs, "find", counted)
    return jobs


def with_files(**texts: str | None) -> CheckJob:
    """The job with another reader: the text of each named file, and of the helper unless it is named."""
    known = {HELPER: "import torch\n\ntorch.cuda.synchronize()\n", **{f"vllm_omni/{k}.py": v for k, v in texts.items()}}
    return replace(GIVEN, read=known.get)


def test_the_second_answer_is_the_first_one_without_a_rule(runs: list[CheckJob]) -> None:
    first = recalled_checks.find(GIVEN, CODES)
    assert sorted(hit.finding.code for hit in first.hits) == ["RS402", "RS407"]
    assert recalled_checks.find(GIVEN, CODES) == first
    assert len(runs) == 1


ROW = GIVEN.modules[0]


def with_row(**values: object) -> CheckJob:
    return replace(GIVEN, modules=(replace(ROW, **values), *GIVEN.modules[1:]))  # type: ignore[arg-type]


OTHERS: dict[str, tuple[CheckJob, Codes]] = {
    "other codes": (GIVEN, Codes(("RS407",))),
    "codes left out": (GIVEN, replace(CODES, ignore=("RS402",))),
    "codes left out by path": (GIVEN, replace(CODES, per_path={AR: ("RS407",)})),
    "another text": (with_row(text=f"{ROW.text}\n"), CODES),
    "another twin": (with_row(gpu_text=f"{ROW.gpu_text}\n"), CODES),
    "no twin": (with_row(gpu_text=None), CODES),
    "another upstream": (with_row(upstream_text=ROW.text), CODES),
    "another base": (with_row(base_text=ROW.text), CODES),
    "another base revision": (with_row(base_ref="0.1"), CODES),
    "another vLLM": (with_row(vllm_text=ROW.text), CODES),
    "texts of units at another base": (with_row(base_texts={"0.1": ROW.text}), CODES),
    "earlier twins": (with_row(gpu_units={"0.1": {"run": ROW.text}}), CODES),
    "fewer modules": (replace(GIVEN, modules=GIVEN.modules[:1]), CODES),
    "nothing beside": (replace(GIVEN, beside=()), CODES),
    "another profile": (replace(GIVEN, profile=GPU), CODES),
    "another helper": (replace(GIVEN, read={HELPER: "import torch\n"}.get), CODES),
    "the same helper with a comment": (
        replace(GIVEN, read={HELPER: "import torch\n\ntorch.cuda.synchronize()  #\n"}.get),
        CODES,
    ),
    "no helper": (replace(GIVEN, read={}.get), CODES),
}


@pytest.mark.parametrize("name", OTHERS)
def test_another_question_is_asked_anew(name: str, runs: list[CheckJob]) -> None:
    recalled_checks.find(GIVEN, CODES)
    given, codes = OTHERS[name]
    assert recalled_checks.find(given, codes) == rule_runs.find(given, codes)
    assert len(runs) == 3, "the first, the other, and the other without the cache"


def test_a_file_that_no_rule_read_does_not_count(runs: list[CheckJob]) -> None:
    first = recalled_checks.find(GIVEN, CODES)
    assert recalled_checks.find(with_files(elsewhere="rows = 1\n"), CODES) == first
    assert len(runs) == 1


def test_a_file_that_was_absent_counts_when_it_comes(runs: list[CheckJob]) -> None:
    """The rules looked for the class of an import, and found no module."""
    given = job(
        f"from vllm_omni.absent import Mixin\n{NPU_HEAD}\nclass NPUARModelRunner(Mixin): ...\n",
        "class GPUARModelRunner: ...\n",
    )
    codes = Codes(("RS203",))
    recalled_checks.find(given, codes)
    came = replace(given, read={"vllm_omni/absent.py": "class Mixin: ...\n"}.get)
    assert recalled_checks.find(came, codes) == rule_runs.find(came, codes)
    assert len(runs) == 3


def test_every_value_of_a_hit_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """No rule of a single run sets all of them."""
    cause = Finding("RS304", "error", "c.py", 1, 2, "unit", "symbol", "message")
    finding = Finding("RS101", "info", "é\udc80.py", 3, 4, "u", "s", "m", "f", 5, 6, "state", "old", cause)
    hit = Hit(finding, (("p.py", 1, 2), ("q.py", 3, 4)), True, True, True, replace(finding, line=9))
    found = Found((hit, Hit(cause)), 7, False, None, ("One", "Two"), 8)
    monkeypatch.setattr(rule_runs, "find", lambda *_: found)
    assert recalled_checks.find(GIVEN, CODES) is found
    monkeypatch.setattr(rule_runs, "find", lambda *_: pytest.fail("it was kept"))
    again = recalled_checks.find(GIVEN, CODES)
    assert again == found
    assert again.hits[0].finding.cause == cause, "a comparison of findings leaves the cause out"


def test_what_depends_on_an_unreadable_file_is_not_kept(runs: list[CheckJob]) -> None:
    def read_badly(path: str) -> str | None:
        if path == HELPER:
            raise InputError(f"{path} cannot be read")
        return None

    given = replace(GIVEN, read=read_badly)
    for _ in range(2):
        with pytest.raises(InputError, match=r"helper\.py cannot be read"):
            recalled_checks.find(given, CODES)
    recalled_checks.find(GIVEN, CODES)
    with pytest.raises(InputError, match=r"helper\.py cannot be read"):
        recalled_checks.find(given, CODES)
    assert len(runs) == 4


def test_another_program_checks_anew(runs: list[CheckJob], monkeypatch: pytest.MonkeyPatch) -> None:
    recalled_checks.find(GIVEN, CODES)
    monkeypatch.setattr(recalled, "program_digest", lambda: "another version")
    recalled_checks.find(GIVEN, CODES)
    assert len(runs) == 2


def damage(change: Callable[[bytes], bytes]) -> None:
    for entry in (cache.folder() / "checks").iterdir():
        if not entry.name.startswith("."):
            entry.write_bytes(change(entry.read_bytes()))


@pytest.mark.parametrize("change", [lambda data: data[:-9], lambda _: b"", lambda data: data.replace(b"RS4", b"RS1")])
def test_a_damaged_entry_counts_as_missing(change: Callable[[bytes], bytes], runs: list[CheckJob]) -> None:
    first = recalled_checks.find(GIVEN, CODES)
    damage(change)
    assert recalled_checks.find(GIVEN, CODES) == first
    assert len(runs) == 2


@pytest.mark.parametrize("data", [{}, [], [{}], [{}, [1]], [{}, [[[1]], 0, True, None, [], 0]], "text"])
def test_an_entry_of_another_form_counts_as_missing(data: object, runs: list[CheckJob]) -> None:
    key = recalled_checks._make_key(GIVEN, CODES)
    cache.store("checks", key, json.dumps(data).encode())
    assert recalled_checks.find(GIVEN, CODES) == rule_runs.find(GIVEN, CODES)
    assert len(runs) == 2


def test_a_cache_that_cannot_be_written_changes_nothing(
    runs: list[CheckJob], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    monkeypatch.setenv("RUNNER_SYNC_CACHE", str(tmp_path / "file"))
    first = recalled_checks.find(GIVEN, CODES)
    assert recalled_checks.find(GIVEN, CODES) == first
    assert len(runs) == 2


@pytest.mark.parametrize("home", [None, "~/.cache/runner-sync"], ids=["an error", "no path"])
def test_a_user_without_a_home_checks_as_before(
    home: str | None, locked: Trees, runs: list[CheckJob], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What `platformdirs` says depends on its version."""

    def look_for_home(_: str) -> str:
        if home is None:
            raise RuntimeError("could not determine home directory")
        return home

    monkeypatch.delenv("RUNNER_SYNC_CACHE")
    monkeypatch.setattr("platformdirs.user_cache_dir", look_for_home)
    monkeypatch.chdir(locked.omni)
    first = sync.check(locked.check())
    assert sync.check(locked.check()) == first
    assert len(runs) == 2
    assert not Path("~").exists()


def test_a_branch_is_never_recalled(runs: list[CheckJob]) -> None:
    """What it touched decides what is reported, and needs the texts at its start."""
    given = replace(GIVEN, before=lambda: GIVEN)
    for _ in range(2):
        recalled_checks.find(given, CODES)
        check.run(GIVEN, CODES, changed={}, recall=recalled_checks.find)
        check.run(GIVEN, CODES, opinion=lambda _: (), recall=recalled_checks.find)
    assert len(runs) == 2


def test_severity_and_baseline_are_no_part_of_the_question(runs: list[CheckJob]) -> None:
    plain = check.run(GIVEN, CODES, recall=recalled_checks.find)
    codes = [finding.code for finding in plain.findings]
    accepted = check.run(GIVEN, CODES, baseline=update(None, plain.findings, has_run=lambda _: True))
    for _ in range(2):
        assert check.run(GIVEN, CODES, recall=recalled_checks.find) == plain
        stricter = check.run(GIVEN, CODES, severity="error", recall=recalled_checks.find)
        assert [finding.code for finding in stricter.findings] == [
            code for code, finding in zip(codes, plain.findings, strict=True) if finding.severity == "error"
        ]
        baseline = update(None, plain.findings, has_run=lambda _: True)
        again = check.run(GIVEN, CODES, baseline=baseline, recall=recalled_checks.find)
        assert (again.findings, again.accepted) == ((), 2)
        assert again == accepted
    assert len(runs) == 1


def test_the_whole_command_recalls_and_sees_a_change(locked: Trees, runs: list[CheckJob]) -> None:
    first = sync.check(locked.check())
    assert sync.check(locked.check()) == first
    assert len(runs) == 1
    file = locked.omni / AR
    file.write_text(f"{file.read_text('utf-8')}\n\ntorch.cuda.synchronize()\n", "utf-8")
    now = sync.check(locked.check())
    assert len(runs) == 2
    assert {finding.code for finding in now.findings} - {finding.code for finding in first.findings} >= {"RS402"}


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The TOML texts that were decoded."""
    texts: list[str] = []

    def counted(text: str) -> dict[str, object]:
        texts.append(text)
        return decode_toml(text)

    monkeypatch.setattr(recalled, "decode_toml", counted)
    return texts


@pytest.mark.parametrize("text", ["", 'a = "é"\n[b]\nc = [1, 2.5, true]\n', "a = inf\n"])
def test_a_toml_text_is_decoded_once(text: str, decoded: list[str]) -> None:
    assert recalled.recall_toml(text) == recalled.recall_toml(text) == decode_toml(text)
    assert len(decoded) == 1


def test_another_toml_text_is_decoded_anew(decoded: list[str]) -> None:
    assert recalled.recall_toml("a = 1") != recalled.recall_toml("a = 2")
    assert len(decoded) == 2


def test_a_toml_text_with_a_date_is_decoded_each_time(decoded: list[str]) -> None:
    """JSON has no dates, and a lock has none, either."""
    assert recalled.recall_toml("a = 2026-01-01") == recalled.recall_toml("a = 2026-01-01")
    assert len(decoded) == 2


def test_a_toml_text_in_error_is_refused_each_time() -> None:
    for _ in range(2):
        with pytest.raises(ValueError, match="Invalid value"):
            recalled.recall_toml("a = ")


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """The folder that stands in for the program's."""
    folder = tmp_path / "package"
    (folder / "inner").mkdir(parents=True)
    monkeypatch.setattr(program.runner_sync, "__file__", str(folder / "__init__.py"))
    yield folder
    monkeypatch.undo()
    program.program_digest.cache_clear()


def digest() -> str:
    program.program_digest.cache_clear()
    return program.program_digest()


def test_another_module_of_the_program_is_another_program(package: Path) -> None:
    seen = [digest()]
    for name, text in {"a.py": "b", "inner/a.py": "b", "ab.py": ""}.items():
        (package / name).write_text(text, "utf-8")
        seen.append(digest())
    (package / "a.py").write_text("c", "utf-8")
    seen.append(digest())
    (package / "note.txt").write_text("no code", "utf-8")
    (package / ".#a.py").symlink_to("user@host.1")
    assert digest() == seen[-1]
    assert len(set(seen)) == len(seen)


@pytest.mark.parametrize(("later", "reads"), [(10, 1), (0, 2)], ids=["some time ago", "just now"])
def test_a_program_that_changed_some_time_ago_is_read_once(
    later: int, reads: int, package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change at once after another may leave a file's times as they were."""
    (package / "a.py").write_text("b", "utf-8")
    read: list[str] = []
    digest_files = program._digest_files

    def counted(root: str, states: Sequence[program.State]) -> str:
        read.append(root)
        return digest_files(root, states)

    monkeypatch.setattr(program, "_digest_files", counted)
    monkeypatch.setattr(program, "time_ns", lambda: time.time_ns() + later * 10**9)
    first = digest()
    assert digest() == first
    assert len(read) == reads
    (package / "a.py").write_text("b = 1", "utf-8")
    assert digest() != first
    assert len(read) == reads + 1
