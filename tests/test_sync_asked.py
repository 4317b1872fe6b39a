"""``explain ID``: what the last upgrade asked is read again, and not asked for again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from sync_samples import Trees

from runner_sync import cli, sync
from runner_sync.errors import InputError
from runner_sync.model import ReviewItem
from runner_sync.render import render
from runner_sync.sources import cache
from runner_sync.sync import asked
from runner_sync.sync.completion import items
from runner_sync.sync.options import CheckOptions, TreeOptions

ITEM = ReviewItem("R12ab", "A.run", "a.py", 3, 4, "both changed it", 0.5, "b\n", "o\n", "u\udcff\n", "o\n")
OTHER = replace(ITEM, id="R12cd", in_file=False, from_gpu=True)


def explained(place: Path, beginning: str) -> ReviewItem:
    (item,) = sync.explain_item(CheckOptions(omni=TreeOptions(path=place)), beginning).reviews
    return item


def test_an_upgrade_that_writes_keeps_what_it_asks(
    trees: Trees, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = trees.upgrade(trees.ascend_new)
    planned = sync.upgrade(options)
    first = planned.report.reviews[0]
    monkeypatch.chdir(trees.omni)
    assert cli.run(["explain", first.id]) == 2, "nothing was written yet"
    sync.apply(planned, options)
    capsys.readouterr()
    assert cli.run(["explain", first.id]) == 0
    text = capsys.readouterr().out
    item, _, closing = text.strip().rpartition("\n\n")
    assert item in render(planned.report, "text", width=100)
    comment = f"the comment `# runner-sync: review {first.id}`"
    assert " ".join(closing.split()) == (
        f"To settle it, decide, then delete {comment}, or resolve the conflict with this id."
    )
    assert cli.run(["explain", first.id, "-o", "json"]) == 0
    whole = json.loads(render(planned.report, "json"))["reviews"]
    assert json.loads(capsys.readouterr().out)["reviews"] == [one for one in whole if one["id"] == first.id]
    for name in ("markdown", "html"):
        assert first.id in render(sync.explain_item(CheckOptions(), first.id), name)


def test_an_item_is_found_by_the_beginning_of_its_id_and_from_a_folder_inside(trees: Trees) -> None:
    asked.keep(trees.omni, [ITEM, OTHER, replace(ITEM, id="R12c")])
    assert explained(trees.omni / "vllm_omni", "R12a") == ITEM
    assert explained(trees.omni, "R12cd") == OTHER
    assert explained(trees.omni, "R12c").id == "R12c", "a whole id, although another begins with it"
    with pytest.raises(InputError, match="R12 begins the ids R12ab and R12cd: write more of the id"):
        explained(trees.omni, "R12")


def test_items_of_earlier_upgrades_of_the_same_folder_stay(trees: Trees) -> None:
    asked.keep(trees.omni, [ITEM])
    asked.keep(trees.ascend_old, [replace(ITEM, id="Rf")])
    asked.keep(trees.omni, [OTHER, replace(ITEM, id="R0")])
    asked.keep(trees.omni, [replace(ITEM, id="R0", line=9)])
    assert (explained(trees.omni, "R12ab"), explained(trees.omni, "R0").line) == (ITEM, 9)
    with pytest.raises(InputError, match=r"no upgrade .* review item Rf\. `runner-sync upgrade --diff -o text` with"):
        explained(trees.omni, "Rf")
    with pytest.raises(InputError, match=r"left questions here: name its folder with --omni-path\. .* shows its quest"):
        explained(trees.vllm, "R12cd")


def test_a_checkout_inside_another_has_items_of_its_own(trees: Trees) -> None:
    asked.keep(trees.omni, [ITEM])
    inside = trees.omni / "inside"
    inside.mkdir()
    assert asked.load_items(inside) == [ITEM]
    (inside / ".git").write_text("gitdir: elsewhere\n")
    assert asked.load_items(inside) == []


@pytest.mark.parametrize("data", [b"", b"5", b"[5]", b"{}", b'[{"id": "R12ab", "new": 1}]'])
def test_what_another_version_kept_counts_as_nothing(trees: Trees, data: bytes) -> None:
    cache.store("asked", str(trees.omni), data)
    assert asked.load_items(trees.omni) == []


def test_a_cache_that_cannot_be_written_keeps_nothing(trees: Trees) -> None:
    (trees.omni.parent / "cache").write_text("")
    asked.keep(trees.omni, [ITEM])
    assert asked.load_items(trees.omni) == []


def test_the_folder_that_was_written_to_need_not_be_a_tree(trees: Trees, capsys: pytest.CaptureFixture[str]) -> None:
    """It holds only what changed, with ``--out``."""
    out, report = trees.omni.parent / "out", trees.omni.parent / "item.json"
    options = trees.upgrade(trees.ascend_new, out=out)
    planned = sync.upgrade(options)
    sync.apply(planned, options)
    words = ["explain", planned.report.reviews[0].id, "--omni-path", str(out), "-o", f"json:{report}", "-o", "text"]
    assert cli.run(words) == 0
    assert planned.report.reviews[0].id in capsys.readouterr().out
    assert json.loads(report.read_text("utf-8"))["reviews"]


def test_the_ids_of_the_last_upgrade_are_completed(trees: Trees, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(trees.omni)
    assert items("") == []
    asked.keep(trees.omni, [ITEM, OTHER])
    assert items("") == ["R12ab", "R12cd"]
    assert items("R12c") == ["R12cd"]
    assert items("a.py") == []
