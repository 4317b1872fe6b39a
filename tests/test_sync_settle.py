"""``settle``: comments of review items go, other texts may take the place of chosen ones, and the rest is counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sync_samples import ASCEND, ASCEND_NEW, ASCEND_OLD, Trees, commit, lay_out

from runner_sync import cli, sync
from runner_sync.errors import InputError
from runner_sync.model import ReviewItem
from runner_sync.sync import asked
from runner_sync.sync.options import CheckOptions, TreeOptions
from runner_sync.sync.settling import OpenItems, find_open, settle
from runner_sync.terminal import settling
from runner_sync.terminal.examples import EXAMPLES
from runner_sync.terminal.screen import Screen

RUNNER = "vllm_omni/platforms/npu/worker/npu_model_runner.py"
LISTED = ReviewItem("Rab", "A.run", RUNNER, 1, 1, "not ported", 0.5, "", "", "x = 1\n", "", in_file=False)


def upgraded(trees: Trees, **options: object) -> list[ReviewItem]:
    wanted = trees.upgrade(trees.ascend_new, **options)
    planned = sync.upgrade(wanted)
    sync.apply(planned, wanted)
    return list(planned.report.reviews)


def opened(place: Path) -> OpenItems:
    return find_open(CheckOptions(omni=TreeOptions(path=place)))


def answering(words: str) -> Callable[[str], str]:
    """Answer with one letter after the other, then with the end of input."""
    letters: Iterator[str] = iter(words)

    def read(_prompt: str) -> str:
        try:
            return next(letters)
        except StopIteration:
            raise EOFError from None

    return read


def test_every_item_of_an_upgrade_is_open_until_it_is_settled(trees: Trees) -> None:
    asked_items = upgraded(trees)
    found = opened(trees.omni)
    assert {item.id for item in found.items} == {item.id for item in asked_items}
    first, *rest = found.items
    settle(found, [(first, "chosen")])
    assert opened(trees.omni).items == tuple(opened(trees.omni).get(item.id) for item in rest)
    with pytest.raises(InputError, match=f"{first.id}: no open review item"):
        opened(trees.omni).get(first.id)


def test_an_item_settled_by_hand_is_not_open(trees: Trees) -> None:
    upgraded(trees)
    item = next(item for item in opened(trees.omni).items if item.line)
    file = trees.omni / item.path
    file.write_text("".join(line for line in file.read_text().splitlines(True) if item.id not in line))
    assert item.id not in [one.id for one in opened(trees.omni).items]


def test_an_inline_conflict_is_open_until_its_markers_are_gone(
    trees: Trees, capsys: pytest.CaptureFixture[str]
) -> None:
    finish = "return self._finish(logits, total"
    trees.edit(RUNNER, f"{finish})", f"{finish}, self.talker)")
    for tree in (ASCEND_OLD, {ASCEND: ASCEND_NEW[ASCEND].replace(f"{finish})", f"{finish}, aux)")}):
        commit(lay_out(trees.ascend_new, tree))
    asked_items = upgraded(trees, conflict="inline", ascend_base="HEAD~1")
    file = trees.omni / RUNNER
    marked = file.read_text().split("\n")
    (line,) = (number for number, line in enumerate(marked, start=1) if line.startswith("<<<<<<< omni R"))
    found = opened(trees.omni)
    assert {item.id for item in found.items} == {item.id for item in asked_items}
    (item,) = (item for item in found.items if item.in_conflict)
    assert (item.path, item.line) == (RUNNER, line)
    for side in ("chosen", "omni", "upstream"):
        with pytest.raises(InputError, match=f"{item.id}: is the merge conflict at {RUNNER}:{line}"):
            settle(found, [(item, side)])
    assert item.id not in [one.id for one, _side in settling.ask_all(found, Screen(), answering("a"))]
    assert f"{item.id} {RUNNER}:{line} (a merge conflict)" in capsys.readouterr().out
    file.write_text("\n".join(marked[: line - 1] + marked[marked.index("=======") + 1 :]))
    file.write_text("".join(line for line in file.read_text().splitlines(True) if not line.startswith(">>>>>>>")))
    assert item.id not in [one.id for one in opened(trees.omni).items]


def test_items_in_no_file_go_with_settle_and_with_lock(trees: Trees) -> None:
    asked.keep(trees.omni, [LISTED, replace(LISTED, id="Rcd")])
    assert [item.id for item in opened(trees.omni).items] == ["Rab", "Rcd"]
    with pytest.raises(InputError, match="Rab: stands in no file"):
        settle(opened(trees.omni), [(opened(trees.omni).get("Ra"), "omni")])
    settle(opened(trees.omni), [(opened(trees.omni).get("Ra"), "chosen")])
    assert [item.id for item in opened(trees.omni).items] == ["Rcd"]
    options = trees.upgrade(trees.ascend_old, omni_base=trees.itself)
    sync.apply(sync.lock(options), options)
    assert opened(trees.omni).items == ()


def test_what_stands_in_no_file_stays_open_when_the_upgrade_runs_again(trees: Trees) -> None:
    """The second run asks nothing, whether or not somebody settled what the first one asked."""
    asked.keep(trees.omni, [LISTED])
    upgraded(trees)
    upgraded(trees, allow_dirty=True)
    assert LISTED.id in [item.id for item in opened(trees.omni).items]


def test_a_comment_that_another_machine_wrote_can_only_be_kept(trees: Trees) -> None:
    file = trees.omni / RUNNER
    lines = file.read_text().splitlines(True)
    at = next(number for number, line in enumerate(lines) if line.lstrip().startswith("def "))
    file.write_text("".join([*lines[:at], "    # runner-sync: review R12 both changed it\n", *lines[at:]]))
    found = opened(trees.omni)
    assert [(item.reason, item.item) for item in found.items] == [("both changed it", None)]
    with pytest.raises(InputError, match="R12: no upgrade on this machine asked it"):
        settle(found, [(found.get("R12"), "omni")])
    assert settle(found, [(found.get("R12"), "chosen")]) == (RUNNER,)
    assert file.read_text() == "".join(lines)


def test_the_command_settles_what_is_named_and_counts_the_rest(
    trees: Trees, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The folder of ``--out`` holds only what changed."""
    out = tmp_path / "upgraded"
    items = upgraded(trees, out=out)
    words = ["settle", "--omni-path", str(out)]
    assert cli.run(words) == 1
    shown = capsys.readouterr()
    assert all(item.id in shown.out for item in items)
    assert f"{len(items)} review item" in shown.err
    assert cli.run([*words, "R0000000"]) == 2
    assert cli.run([*words, *(item.id for item in items)]) == 0
    assert "none is left; `runner-sync lock` records what you settled." in capsys.readouterr().err
    assert all("runner-sync: review" not in file.read_text() for file in out.rglob("*.py"))
    assert cli.run(words) == 0


@pytest.mark.parametrize(
    ("answers", "settled"),
    [("", 0), ("q", 0), ("s", 0), ("k", 1), ("x?k", 1), ("a", None), ("sa", -1)],
)
def test_at_a_terminal_each_item_is_asked_about(trees: Trees, answers: str, settled: int | None) -> None:
    items = upgraded(trees)
    asked.keep(trees.omni, [*items, LISTED])
    found = opened(trees.omni)
    assert len(found.items) > 1
    decisions = list(settling.ask_all(found, Screen(), read=answering(answers)))
    expected = len(found.items) + (settled or 0) if settled is None or settled < 0 else settled
    assert len(decisions) == expected
    settle(found, decisions)
    assert len(opened(trees.omni).items) == len(found.items) - expected


@pytest.mark.parametrize("line", [line for _, line in EXAMPLES["settle"]])
def test_the_examples_run(trees: Trees, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    ids = ("R54bf8c99", "R6c179be1")
    file = trees.omni / RUNNER
    comments = "".join(f"# runner-sync: review {item_id} both\nimport re\n" for item_id in ids)
    file.write_text(comments + file.read_text())
    asked.keep(
        trees.omni,
        [replace(LISTED, id=item_id, chosen="import re\n", omni="import os\n", in_file=True) for item_id in ids],
    )
    monkeypatch.chdir(trees.omni)
    named = [word for word in line.split() if word in ids]
    assert cli.run(line.split()[1:]) == (0 if len(named) == len(ids) else 1)
    assert [item.id for item in opened(trees.omni).items] == [item_id for item_id in ids if item_id not in named]


def test_only_sides_that_can_be_taken_are_offered(trees: Trees, capsys: pytest.CaptureFixture[str]) -> None:
    item = ReviewItem(
        "R12", "OmniNPUModelRunner", RUNNER, 1, 1, "both", 0.5, "", "import os\n", "gone(\n", "import re\n"
    )
    file = trees.omni / RUNNER
    text = file.read_text()
    file.write_text(f"# runner-sync: review R12 both\nimport re\n{text}")
    asked.keep(trees.omni, [item])
    found = opened(trees.omni)
    prompts: list[str] = []

    def read(prompt: str) -> str:
        prompts.append(prompt)
        return "u" if len(prompts) == 1 else "o"

    settle(found, list(settling.ask_all(found, Screen(), read=read)))
    assert prompts == ["(1/1) Settle R12 [k,o,a,s,q,?]? "] * 2
    assert "  o - take omni's text instead\n" in capsys.readouterr().out
    assert file.read_text() == f"import os\n{text}"
