"""A port of a block that upstream replaced and that omni has in another suite."""

from __future__ import annotations

import pytest

from runner_sync.merge import PORT, Reason, merge
from runner_sync.merge.preparing.replaced_elsewhere import with_replaced_elsewhere
from runner_sync.model import Triple

BLOCK = """\
        if hasattr(self.model, "flush_pending"):
            self.model.flush_pending(list(rows))
"""
NEW = """\
        flush_pending = getattr(self.model, "flush_pending", None)
        if callable(flush_pending):
            flush_pending(rows[: self.count])
"""
BASE = f"""\
def step(self, rows):
    with self.context(rows):
        out = self.forward(rows)
        # What waits.
{BLOCK}    with self.record():
        hidden = self.extract(out)
        self.save(hidden)
    return hidden
"""
OMNI = BASE.replace("        # What waits.\n" + BLOCK, "").replace(
    "        hidden = self.extract(out)\n", "        # Ours waits.\n" + BLOCK + "        hidden = self.extract(out)\n"
)
UPSTREAM = BASE.replace(BLOCK, NEW)


def test_the_new_form_stands_where_omni_has_the_block() -> None:
    """``flush_pending_metadata`` of vllm-omni 0.24.0, which NPU calls behind the forward context."""
    result = merge(Triple(BASE, OMNI, UPSTREAM), policy=PORT)
    assert result.text == OMNI.replace(BLOCK, NEW)
    assert result.decisions == ()
    assert merge(Triple(UPSTREAM, result.text, UPSTREAM), policy=PORT).text == result.text


def test_behind_another_statement_that_changed() -> None:
    news = ("self.forward(rows)", "self.forward(rows, 1)")
    result = merge(Triple(BASE, OMNI, UPSTREAM.replace(*news)), policy=PORT)
    assert result.text == OMNI.replace(BLOCK, NEW).replace(*news)


ONE_CALL = '        self.call_hook("flush_pending", rows[: self.count])\n'
TO_ONE_CALL = [side.replace(BLOCK, NEW) for side in (BASE, OMNI)]


def test_a_call_in_place_of_a_block_and_of_the_statement_that_sets_its_local() -> None:
    """A hook helper in a trial with vllm-omni 0.32.0rc1: the call came to the GPU runner's place."""
    base, omni = TO_ONE_CALL
    upstream = base.replace(NEW, ONE_CALL)
    result = merge(Triple(base, omni, upstream), policy=PORT)
    assert result.text == omni.replace(NEW, ONE_CALL)
    assert result.decisions == ()


def test_two_statements_that_set_locals_of_the_block() -> None:
    two = "        count = self.count\n" + NEW.replace("self.count", "count")
    base, omni = (side.replace(NEW, two) for side in TO_ONE_CALL)
    assert merge(Triple(base, omni, base.replace(two, ONE_CALL)), policy=PORT).text == omni.replace(two, ONE_CALL)


READ_LATER = "    return flush_pending, "
KEPT_APART = NEW.replace("        if", "        # Ours, too.\n        if")


@pytest.mark.parametrize(
    ("base", "omni"),
    [
        pytest.param(*(side.replace("    return ", READ_LATER) for side in TO_ONE_CALL), id="read below the block"),
        pytest.param(TO_ONE_CALL[0], TO_ONE_CALL[1].replace(NEW, KEPT_APART), id="omni's comment between the two"),
        pytest.param(TO_ONE_CALL[0], TO_ONE_CALL[1].replace(", None)", ", 0)"), id="omni sets it in another way"),
    ],
)
def test_noop_a_local_that_is_not_the_blocks_alone(base: str, omni: str) -> None:
    triple = Triple(base, omni, base.replace(NEW, ONE_CALL))
    assert with_replaced_elsewhere(triple, lambda _: False) == triple


OTHER = "        self.note_rows(rows)\n"


@pytest.mark.parametrize(
    ("base", "omni", "upstream"),
    [
        pytest.param(BASE, BASE, UPSTREAM, id="in the same suite"),
        pytest.param(BASE, OMNI.replace("list(rows)", "rows"), UPSTREAM, id="in omni's own form"),
        pytest.param(BASE, OMNI.replace("    return", f"    if self.on:\n{BLOCK}    return"), UPSTREAM, id="twice"),
        pytest.param(BASE, OMNI, BASE, id="unchanged"),
        pytest.param(BASE, OMNI, BASE.replace("        # What waits.\n" + BLOCK, ""), id="gone"),
        pytest.param(BASE, OMNI, BASE.replace(BLOCK, OTHER), id="another matter in its place"),
        pytest.param(
            BASE,
            OMNI.replace("        # Ours waits.\n" + BLOCK, "").replace(
                "    with self.context", f"    if self.on:\n{BLOCK}    with self.context"
            ),
            BASE.replace(BLOCK, NEW.replace("rows[: self.count]", "rows, out")),
            id="what it reads is not set there",
        ),
    ],
)
def test_noop_what_was_not_replaced_or_stands_nowhere_else(base: str, omni: str, upstream: str) -> None:
    triple = Triple(base, omni, upstream)
    assert with_replaced_elsewhere(triple, lambda _: False) == triple


def test_noop_what_may_not_come_in() -> None:
    triple = Triple(BASE, OMNI, UPSTREAM)
    assert with_replaced_elsewhere(triple, lambda node: "callable" in node.canon) == triple

    def refuse(canon: str) -> Reason | None:
        return Reason("uses refused code", ("flush_pending",)) if "callable" in canon else None

    assert "callable" not in merge(triple, policy=PORT, veto=refuse).text
