"""A port of a changed statement that omni has in another suite, or under the other keyword of a condition."""

from __future__ import annotations

import pytest

from runner_sync.merge import PORT, Reason, merge
from runner_sync.model import Triple

CHOICE = """\
def choose(self, ids):
    rows = [one for one in ids if self.needs(one)]
    kind = self.kind.lower()
    if self.keys():
        rows = ids
    elif kind == "audio" and not rows:
        rows = ids
    return kind, rows
"""
ALONE = CHOICE.replace("    if self.keys():\n        rows = ids\n    elif", "    # One stage has no next.\n    if")
FIRST = ALONE.replace("    # One stage has no next.\n", "")
BEHIND = CHOICE.replace("self.keys()", "self.is_last")
SPEECH = ('kind == "audio"', 'kind in ("audio", "speech")')


@pytest.mark.parametrize(
    ("base", "omni"),
    [
        pytest.param(CHOICE, ALONE, id="omni lacks the branch in front"),
        pytest.param(FIRST, BEHIND, id="omni has a branch of its own in front"),
    ],
)
def test_the_condition_of_a_branch_changes_under_either_keyword(base: str, omni: str) -> None:
    """``_resolve_pooler_payload_req_ids`` of vllm-omni 0.32.0rc1, which NPU has without the keys of a client."""
    assert merge(Triple(base, omni, base.replace(*SPEECH)), policy=PORT).text == omni.replace(*SPEECH)


@pytest.mark.parametrize(
    "omni",
    [
        pytest.param(ALONE.replace("rows = ids\n    return", "rows = self.all()\n    return"), id="own suite"),
        pytest.param(ALONE.replace(SPEECH[0], "kind"), id="own condition"),
    ],
)
def test_noop_what_is_not_the_same_branch(omni: str) -> None:
    result = merge(Triple(CHOICE, omni, CHOICE.replace(*SPEECH)), policy=PORT)
    assert result.text == omni
    assert result.decisions


def test_noop_a_branch_of_which_more_than_the_condition_changed() -> None:
    upstream = CHOICE.replace(*SPEECH).replace("rows = ids\n    return", "rows = self.all()\n    return")
    result = merge(Triple(CHOICE, ALONE, upstream), policy=PORT)
    assert SPEECH[0] in result.text
    assert result.decisions


STEP = """\
def step(self, count):
    with self.context(count):
        out = self.forward(count)
        flush = self.find("flush")
        self.hand_over(flush, count)
    with self.record():
        hidden = self.extract(out)
        self.save(hidden)
    return hidden
"""
HANDED = '        flush = self.find("flush")\n        self.hand_over(flush, count)\n'
OTHER = STEP.replace(HANDED, "").replace("        self.save(hidden)\n", "        self.save(hidden)\n" + HANDED)


@pytest.mark.parametrize(
    "news",
    [
        pytest.param(("self.hand_over(flush, count)", "self.hand_over(flush, count, out)"), id="an argument"),
        pytest.param(('self.find("flush")', 'self.find("flush", None)'), id="a value"),
    ],
)
def test_a_statement_changes_where_omni_has_it(news: tuple[str, str]) -> None:
    """``flush_pending_metadata``, which NPU calls behind the forward context."""
    assert merge(Triple(STEP, OTHER, STEP.replace(*news)), policy=PORT).text == OTHER.replace(*news)


@pytest.mark.parametrize(
    ("omni", "news", "veto"),
    [
        pytest.param(OTHER, ("self.hand_over(flush, count)", "self.give(flush, count)"), "", id="another function"),
        pytest.param(OTHER, ("self.hand_over(flush, count)", "self.hand_over(flush, cuda)"), "cuda", id="refused"),
        pytest.param(
            OTHER.replace("    return", HANDED.replace("        ", "    ") + "    return"),
            ("self.hand_over(flush, count)", "self.hand_over(flush, count, out)"),
            "",
            id="in two places",
        ),
    ],
)
def test_noop_no_statement_whose_place_is_clear(omni: str, news: tuple[str, str], veto: str) -> None:
    def refuse(canon: str) -> Reason | None:
        return Reason("uses refused code", (veto,)) if veto and veto in canon else None

    result = merge(Triple(STEP, omni, STEP.replace(*news)), policy=PORT, veto=refuse)
    assert result.text == omni
    assert result.decisions
