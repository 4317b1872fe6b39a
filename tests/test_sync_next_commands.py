"""The commands that a report tells people to type run as they are printed."""

from __future__ import annotations

import shlex
from dataclasses import replace

import pytest
from sync_samples import AR, GPU_AR, Trees, commit, lay_out

from runner_sync import cli, sources, sync
from runner_sync.model import Finding
from runner_sync.render.summary import summarize
from runner_sync.sync.options import CheckOptions, TreeOptions

STAGE = 'return info.get("stage")'
SENDING = "vllm_omni/worker/sending.py"


@pytest.fixture
def on_a_commit(trees: Trees, monkeypatch: pytest.MonkeyPatch) -> Trees:
    """Runners locked on a commit of vllm-ascend, which no index has; the run stands in their tree."""
    commit(trees.omni)
    commit(trees.ascend_old)
    trees.write_lock()
    commit(trees.omni)
    monkeypatch.chdir(trees.omni)
    return trees


def found(options: CheckOptions, code: str) -> Finding:
    (finding,) = [finding for finding in sync.check(options).findings if finding.code == code]
    return finding


def add_override(trees: Trees) -> None:
    """A method of the GPU runner that NPU does not run, committed."""
    override = "    def _forward(self, total):\n        # [Omni] room for it\n        self.widest = total\n"
    override += "        return super()._forward(total)\n\n"
    trees.edit(GPU_AR, "    def _stage_of(", f"{override}    def _stage_of(")
    commit(trees.omni)


def said(text: str) -> list[str]:
    """The first command in a text, as words without the program's name; it stands in backticks or alone."""
    return shlex.split(text.split("`")[1] if "`" in text else text)[1:]


HERE = CheckOptions()
RELEASED = CheckOptions(omni=TreeOptions(version="0.20.0"), select=("RS203",))


def test_a_port_needs_no_vllm_ascend(on_a_commit: Trees) -> None:
    on_a_commit.edit(GPU_AR, STAGE, 'return info.get("stage", 0)')
    commit(on_a_commit.omni)
    words = said(found(HERE, "RS201").fix)
    assert words == ["upgrade", "--gpu-only", "--only", "NPUARModelRunner._stage_of"]
    assert cli.run(words) != cli.run(["upgrade", *words[2:]]) == 2
    assert 'info.get("stage", 0)' in (on_a_commit.omni / AR).read_text("utf-8")


def test_an_override_needs_no_vllm_ascend(on_a_commit: Trees) -> None:
    add_override(on_a_commit)
    by_symbol = {finding.symbol: said(finding.fix) for finding in sync.check(HERE).findings if finding.code == "RS203"}
    words = by_symbol["_forward"]
    assert words == ["upgrade", "--gpu-only", "--only", "NPUARModelRunner._forward"]
    assert cli.run(words) != 2
    assert "def _forward(" in (on_a_commit.omni / AR).read_text("utf-8")


@pytest.mark.usefixtures("on_a_commit")
def test_what_only_vllm_ascend_can_tell_is_told_by_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(said(found(HERE, "RS203").fix)) != 2
    assert "NPUARModelRunner._sample is not ported: " in capsys.readouterr().out


def test_a_mixin_needs_no_vllm_ascend(on_a_commit: Trees) -> None:
    lay_out(on_a_commit.omni, {SENDING: "class SendingMixin:\n    def deliver(self, total):\n        return total\n"})
    text = (on_a_commit.omni / GPU_AR).read_text("utf-8").replace("(OmniGPU", "(SendingMixin, OmniGPU")
    text = text.replace("return super()._finish(logits, total)", "return super()._finish(logits, self.deliver(total))")
    lay_out(on_a_commit.omni, {GPU_AR: f"from vllm_omni.worker.sending import SendingMixin\n{text}"})
    commit(on_a_commit.omni)
    words = said(found(HERE, "RS204").fix)
    assert words == ["upgrade", "--gpu-only", "--only", "NPUARModelRunner*"]
    cli.run(words)
    written = (on_a_commit.omni / AR).read_text("utf-8")
    assert "class NPUARModelRunner(OmniNPUModelRunner, SendingMixin):" in written
    assert "self.deliver(total)" in written


def test_the_trees_of_this_run_are_named_again(on_a_commit: Trees) -> None:
    on_a_commit.edit(GPU_AR, STAGE, 'return info.get("stage", 0)')
    commit(on_a_commit.omni)
    given = on_a_commit.check(ascend=on_a_commit.ascend_old)
    words = said(found(given, "RS201").fix)
    trees = ["--ascend-path", str(on_a_commit.ascend_old), "--vllm-path", str(on_a_commit.vllm)]
    assert words == [
        "upgrade",
        "--omni-path",
        str(on_a_commit.omni),
        *trees,
        "--gpu-only",
        "--only",
        "NPUARModelRunner._stage_of",
    ]
    assert cli.run(words) != 2


@pytest.mark.parametrize("is_named", [True, False])
def test_a_lock_is_written_on_a_tree_that_somebody_names(on_a_commit: Trees, *, is_named: bool) -> None:
    on_a_commit.edit(GPU_AR, STAGE, 'return info.get("stage", 0)')
    on_a_commit.edit(AR, STAGE, 'return info.get("stage", 1)')
    given = CheckOptions(ascend=TreeOptions(path=on_a_commit.ascend_old), vllm=TreeOptions(path=on_a_commit.vllm))
    words = said(found(given if is_named else HERE, "RS201").fix)
    assert words[:2] == ["lock", "--ascend-path"]
    assert words[2] == (str(on_a_commit.ascend_old) if is_named else "DIR")


@pytest.mark.parametrize("is_named", [True, False])
def test_blocks_name_the_same_trees(trees: Trees, *, is_named: bool) -> None:
    add_override(trees)
    report = sync.blocks(trees.check(ascend=trees.ascend_new if is_named else None))
    told = {block.twin or "" for block in report.blocks if "`runner-sync upgrade" in (block.twin or "")}
    assert told
    wanted = ["--ascend-path", str(trees.ascend_new), "--vllm-path", str(trees.vllm)] if is_named else ["--gpu-only"]
    place = ["--omni-path", str(trees.omni)]
    assert all(said(one)[1 : 3 + len(wanted)] == [*place, *wanted] for one in told)


@pytest.mark.parametrize("place", ["variable", "configuration", "lock"])
def test_what_the_next_command_finds_itself_is_not_named(
    trees: Trees, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """A lock that names a release leads the next command there, too."""
    commit(trees.omni)
    trees.write_lock()
    if place == "variable":
        monkeypatch.setenv("VLLM_ASCEND_PATH", str(trees.ascend_old))
        monkeypatch.setenv("VLLM_PATH", str(trees.vllm))
    if place == "configuration":
        told = f'ascend-path = "{trees.ascend_old}"\nvllm-path = "{trees.vllm}"\n'
        lay_out(trees.omni, {"runner-sync.toml": told})
    monkeypatch.chdir(trees.omni)
    assert said(found(HERE, "RS203").fix) == ["upgrade", "--only", "NPUARModelRunner._sample"]


@pytest.mark.usefixtures("on_a_commit")
@pytest.mark.parametrize("words", [["blocks"], ["explain", AR]])
def test_who_lacks_the_locked_commit_is_told_how_to_name_it(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(words) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "--ascend-path, VLLM_ASCEND_PATH or `ascend-path` in the configuration" in said
    assert "for a release with `runner-sync lock --ascend-version V`" in said


def test_a_released_tree_is_named_again(
    trees: Trees, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing can be written to it, so the command shows the patch."""
    add_override(trees)
    release = sources.open_path("vllm-omni", trees.omni)
    monkeypatch.setattr(sources, "open_release", lambda *_, **__: release, raising=False)
    told = {finding.symbol: finding.fix for finding in sync.check(RELEASED).findings}
    words = said(told["_forward"])
    named = ["--omni-version", "0.20.0"]
    assert words == ["upgrade", *named, "--diff", "--gpu-only", "--only", "NPUARModelRunner._forward"]
    assert cli.run(words) != 2
    assert "+    def _forward(self, total):" in capsys.readouterr().out
    summary = summarize(replace(sync.check(RELEASED), command="upgrade", summary={"unported": 1}))
    assert "`runner-sync check --omni-version 0.20.0 --select RS203`" in summary
