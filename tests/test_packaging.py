"""What ships beside the code: metadata, hooks, the action, the CI script, and documents that must stay true."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
import yaml
from cli_samples import replace_sync

import runner_sync
from runner_sync import __main__ as program
from runner_sync import cli
from runner_sync.config import KEYS, load
from runner_sync.verify.registry import rule_texts

ROOT = Path(__file__).parent.parent
DOCUMENTS = (ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md")))
SHIPPED = (*DOCUMENTS, *(ROOT / name for name in (".ci/run", "action.yml", ".pre-commit-hooks.yaml", "pyproject.toml")))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
HOOK = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))[0]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))


def test_one_version() -> None:
    assert PROJECT["version"] == runner_sync.__version__
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert re.search(rf"^## {re.escape(runner_sync.__version__)}\b", changes, re.MULTILINE)


def test_the_command_is_the_command_line() -> None:
    assert EntryPoint("runner-sync", PROJECT["scripts"]["runner-sync"], "console_scripts").load() is program.main


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_no_machine_of_ours_is_named(path: Path) -> None:
    assert not re.search(r"(?<![\w.])/(?:tmp|work|root|home)/|https?://(?:localhost|\d+\.\d+)", path.read_text("utf-8"))


def test_the_hook_is_offline_and_runs_once() -> None:
    assert HOOK["pass_filenames"] is False
    assert HOOK["require_serial"] is True
    assert HOOK["language"] == "python"
    assert HOOK["entry"] == "runner-sync check"


@pytest.mark.parametrize(
    ("path", "concerned"),
    [
        ("vllm_omni/platforms/npu/worker/npu_ar_model_runner.py", True),
        ("vllm_omni/worker/npu/npu_ar_model_runner.py", True),
        ("vllm_omni/worker/gpu_model_runner.py", True),
        ("runner-sync.lock", True),
        ("runner-sync-gpu.lock", True),
        ("runner-sync-gpu.lock.orig", False),
        ("pyproject.toml", True),
        ("docs/pyproject.toml", False),
        ("vllm_omni/worker/README.md", False),
        ("vllm_omni/workers.py", False),
        ("tests/worker/test_runner.py", False),
    ],
)
def test_the_hook_looks_at_runners_only(path: str, concerned: bool) -> None:
    assert bool(re.search(HOOK["files"], path)) is concerned


def _action_script() -> str:
    return str(ACTION["runs"]["steps"][-1]["run"])


def test_the_action_never_pastes_inputs_into_a_script() -> None:
    assert ACTION["runs"]["using"] == "composite"
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step.get("run", "")


def test_every_input_of_the_action_is_used() -> None:
    text = (ROOT / "action.yml").read_text("utf-8")
    assert [name for name in ACTION["inputs"] if f"${{{{ inputs.{name} }}}}" not in text] == []


@pytest.mark.parametrize("code", [0, 1, 2])
def test_the_action_hands_on_words_and_exit_code(tmp_path: Path, code: int) -> None:
    program = tmp_path / "runner-sync" / "bin" / "runner-sync"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/words\nexit {code}\n')
    program.chmod(0o755)
    inputs = {
        "COMMAND": "check",
        "OMNI_PATH": "a b",
        "ASCEND_VERSION": "0.30.0rc2; exit 9",
        "VLLM_VERSION": "",
        "CHANGED_SINCE": "origin/main",
        "BASELINE": "",
        "SARIF": "out.sarif",
        "ARGS": "--select\nRS3\n",
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "PATH": os.environ["PATH"],
    }
    done = subprocess.run(["bash", "-eo", "pipefail", "-c", _action_script()], env=inputs, check=False, timeout=30)
    assert done.returncode == code
    assert (tmp_path / "output").read_text() == f"exit-code={code}\n"
    expected = "check --omni-path|a b|-o|github|--ascend-version|0.30.0rc2; exit 9|--changed-since|origin/main"
    words = (tmp_path / "words").read_text().splitlines()
    assert words == [*expected.replace(" --omni", "|--omni").split("|"), "-o", "sarif:out.sarif", "--select", "RS3"]


def test_the_ci_script_runs_everything() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    subprocess.run(["bash", "-n", str(script)], check=True, timeout=30)
    commands = script.read_text("utf-8")
    assert "set -euo pipefail" in commands
    for command in (
        "ruff format --check .",
        "ruff check .",
        "mypy\n",
        'pytest -n auto --dist worksteal -m "slow or not slow"',
    ):
        assert command in commands


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    links = re.findall(r"\]\((?!https?://|#)([^)#\s]+)", path.read_text("utf-8"))
    assert [link for link in links if not (path.parent / link).exists()] == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_recipes_install_what_can_be_had(path: Path) -> None:
    """Nothing is on the package index yet; tags follow the first release."""
    blocks = "\n".join(re.findall(r"^```\w*\n(.*?)^```", path.read_text("utf-8"), re.MULTILINE | re.DOTALL))
    installs = re.findall(r"pip install (.*)", blocks)
    assert [line for line in installs if not re.match(r"'?\.|.*git\+https://github\.com/", line)] == []
    assert not re.findall(r"rev: v", blocks)


def _command_lines(text: str) -> list[str]:
    """Every ``runner-sync …`` of the fenced code blocks, with continued lines joined."""
    blocks = "\n".join(re.findall(r"^```(?:sh|console|yaml)\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    joined = blocks.replace("\\\n", " ")
    lines = re.findall(r"^\s*(?:\$ |- |- run: |pip install .* && )?(runner-sync +[a-z-].*)$", joined, re.MULTILINE)
    return [re.split(r" \|\|| && | \| | > ", line)[0] for line in lines]


@pytest.mark.parametrize(
    ("document", "line"),
    [(path.name, line) for path in DOCUMENTS for line in _command_lines(path.read_text("utf-8"))],
)
def test_commands_in_documents_are_understood(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, document: str, line: str
) -> None:
    replace_sync(monkeypatch)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    words = shlex.split(line.replace("…", "0.30.0rc2"))
    assert cli.run(words[1:]) == 0, document


def test_documents_show_every_command() -> None:
    shown = {line.split()[1] for path in DOCUMENTS for line in _command_lines(path.read_text("utf-8"))}
    assert shown >= {"upgrade", "check", "verify", "blocks", "explain", "settle", "lock", "replay", "rule", "hoist"}


def test_every_configuration_key_is_documented() -> None:
    text = (ROOT / "docs" / "configuration.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `([a-z-]+)` \| (.*) \|$", text, re.MULTILINE))
    assert rows == dict(KEYS)


def test_configuration_examples_load(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "configuration.md").read_text("utf-8")
    examples = re.findall(r"^```toml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(examples) >= 2
    for number, example in enumerate(examples):
        file = tmp_path / f"{number}.toml"
        file.write_text(example, "utf-8")
        assert load(tmp_path, explicit=file).source == file


def test_the_readme_lists_every_rule() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    rows = re.findall(r"^\| (RS\d{3}) \| (\w+) \| (.*) \|$", text, re.MULTILINE)
    assert rows == [(rule.code, rule.severity, rule.summary) for rule in rule_texts()]


@pytest.mark.slow
def test_the_wheel_holds_what_the_program_reads(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path), str(ROOT)]
    subprocess.run(command, check=True, timeout=300)
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {"runner_sync/templates/report.html.j2", "runner_sync/corpus.toml", "runner_sync/py.typed"} <= names
    assert not [name for name in names if name.startswith("tests/")]
