"""The sentences of review items: each kind of decision has one, in the words of its two sides."""

from __future__ import annotations

from typing import get_args

import pytest

from runner_sync.merge import Kind, Reason
from runner_sync.upgrade.questions.wording import MERGED, PORTED, word_reason


@pytest.mark.parametrize("passages", [1, 2])
@pytest.mark.parametrize("kind", get_args(Kind))
def test_every_kind_has_a_sentence_for_one_passage_and_for_several(kind: Kind, passages: int) -> None:
    said = word_reason(Reason(kind, ("rows",), detail="a word of the profile", passages=passages), MERGED)
    assert "{" not in said
    assert ("2 passages" in said) == (passages == 2)


@pytest.mark.parametrize("passages", [1, 2])
@pytest.mark.parametrize("kind", get_args(Kind))
def test_a_sentence_that_names_one_name_names_them_all(kind: Kind, passages: int) -> None:
    said = word_reason(Reason(kind, ("rows", "total"), passages=passages), MERGED)
    assert ("rows, total" in said) == ("rows" in said)


@pytest.mark.parametrize("kind", get_args(Kind))
def test_no_sentence_of_a_port_calls_the_runners_omni_or_upstream(kind: Kind) -> None:
    said = word_reason(Reason(kind, ("rows",), detail="a word"), PORTED)
    assert "omni" not in said.split("vllm-")[0]
    assert "upstream" not in said


@pytest.mark.parametrize(
    ("reason", "merged", "ported"),
    [
        pytest.param(
            Reason("both changed a part"),
            "omni and upstream changed the same part of a statement",
            "the NPU and the GPU runner changed the same part of a statement",
            id="both",
        ),
        pytest.param(
            Reason("set by both", ("omni.upstream",)),
            "upstream now sets omni.upstream, which omni sets, too; the later assignment wins",
            "the GPU runner now sets omni.upstream, which the NPU runner sets, too; the later assignment wins",
            id="names that look like the sides",
        ),
        pytest.param(
            Reason("no longer read", ("rows", "total")),
            "omni sets rows, total here, but no code reads the value any more",
            "the NPU runner sets rows, total here, but no code reads the value any more",
            id="several names",
        ),
        pytest.param(
            Reason("edited statement unread", ("rows",)),
            "upstream removed a statement that omni had edited, and nothing reads rows now",
            "the GPU runner removed a statement that the NPU runner had in another form, and nothing reads rows now",
            id="two halves of one question",
        ),
        pytest.param(
            Reason("under a new condition", ("if omni['a']",)),
            "this now runs only under upstream's new condition \"if omni['a']\"",
            "this now runs only under the GPU runner's new condition \"if omni['a']\"",
            id="quoted code",
        ),
        pytest.param(
            Reason("uses refused code", ("{x}",), detail="not in torch"),
            "left out: it uses {x}, which is not in torch",
            "left out: it uses {x}, which is not in torch",
            id="braces are code",
        ),
    ],
)
def test_sides_change_and_names_stay(reason: Reason, merged: str, ported: str) -> None:
    assert (word_reason(reason, MERGED), word_reason(reason, PORTED)) == (merged, ported)


def test_what_was_left_out_for_one_cause_is_said_once() -> None:
    reason = Reason("reads what nothing sets", ("rows", "total"), passages=3)
    assert word_reason(reason, PORTED) == (
        "3 passages were left out of the port: they use rows, total, which nothing sets here"
    )
    assert word_reason(Reason("half of a feature", ("rows",), passages=2), PORTED) == (
        "2 passages were left out of the port: the GPU runner newly sets rows, and not all uses fit here"
    )
