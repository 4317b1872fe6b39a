"""A statement that omni lacks because its copy is older, and whose value upstream's text of another one reads."""

from __future__ import annotations

import pytest

from runner_sync.merge import Merged, Reason, merge
from runner_sync.model import Triple

SETTING = "    is_deferred = self.waits_for_drafts() and self.is_last_rank\n"
BASE = f"""def run(self, rows):
    rows = self.padded(rows)
{SETTING}    self.begin_forward(rows, defer_until_drafted=is_deferred)
    return self.end(rows)
"""
OLDER = "    is_cleared = self.drafter is None\n"
OLDER_BEGIN = "self.begin_forward(rows, defer_until_drafted=not is_cleared)"
OMNI = BASE.replace(SETTING, OLDER).replace("=is_deferred", "=not is_cleared")
UPSTREAM = BASE.replace("(rows, defer", "(rows, self.executor, defer")
IN_SUITE = BASE.replace(SETTING, f"    if self.drafts:\n    {SETTING}")


def merged(omni: str, upstream: str, *, base: str = BASE) -> Merged:
    return merge(Triple(base, omni, upstream), heritage=frozenset({OLDER.strip(), OLDER_BEGIN}))


@pytest.mark.parametrize("upstream", [UPSTREAM, BASE], ids=["changed since", "unchanged"])
def test_what_sets_a_local_comes_in_with_the_new_form_of_the_statement_that_reads_it(upstream: str) -> None:
    result = merged(OMNI, upstream)
    assert result.text == upstream
    assert [item.reason for item in result.decisions] == [Reason("value of a newer form", ("is_deferred",))]


def test_what_it_reads_in_turn_comes_in_with_it() -> None:
    first, second = "    last = self.last_rank()\n", SETTING.replace("self.is_last_rank", "last")
    upstream = UPSTREAM.replace(SETTING, first + second)
    assert merged(OMNI, upstream, base=BASE.replace(SETTING, first + second)).text == upstream


def test_the_comment_on_it_comes_in_with_it() -> None:
    base, upstream = (side.replace(SETTING, f"    # Drafts wait.\n{SETTING}") for side in (BASE, UPSTREAM))
    assert merged(OMNI, upstream, base=base).text == upstream


@pytest.mark.parametrize(
    ("base", "omni", "upstream"),
    [
        pytest.param(BASE, BASE.replace(SETTING, "").replace("=is_deferred", "=self.waits"), UPSTREAM, id="own form"),
        pytest.param(BASE, OMNI.replace(OLDER, f"{OLDER}    is_deferred = True\n"), UPSTREAM, id="omni sets it"),
        pytest.param(
            IN_SUITE, OMNI, UPSTREAM.replace(SETTING, f"    if self.drafts:\n    {SETTING}"), id="under a condition"
        ),
        pytest.param(
            BASE.replace("self.is_last_rank", "self.ask()"),
            OMNI.replace("    return", "    self.asked(self.waits_for_drafts() and self.ask())\n    return"),
            UPSTREAM.replace("self.is_last_rank", "self.ask()"),
            id="omni makes the call elsewhere",
        ),
    ],
)
def test_nothing_comes_in_where_omni_did_without_it(base: str, omni: str, upstream: str) -> None:
    assert "is_deferred = self" not in merged(omni, upstream, base=base).text


IN_TURN = "    last = self.last_rank()\n" + SETTING.replace("self.is_last_rank", "last")


@pytest.mark.parametrize(
    "omni",
    [
        pytest.param(OMNI.replace("    rows", "    last = rows.last\n    self.own(last)\n    rows"), id="above"),
        pytest.param(OMNI.replace("    return", "    last = rows.last\n    self.own(last)\n    return"), id="below"),
        pytest.param(
            OMNI.replace("    rows", "    for last in rows:\n        self.own(last)\n    rows"), id="in a loop"
        ),
    ],
)
def test_nothing_comes_in_that_reads_what_omni_sets_itself(omni: str) -> None:
    base, upstream = (side.replace(SETTING, IN_TURN) for side in (BASE, UPSTREAM))
    text = merged(omni, upstream, base=base).text
    assert "is_deferred = self" not in text
    assert "last = self.last_rank()" not in text


@pytest.mark.parametrize(
    ("setting", "behind"),
    [
        pytest.param("    is_deferred = []\n    is_deferred.append(self.waits())\n", "", id="filled by a call"),
        pytest.param("    is_deferred = {}\n    is_deferred[0] = self.waits()\n", "", id="filled by key"),
        pytest.param("    is_deferred = self.record()\n    self.keep(is_deferred)\n", "", id="handed on above"),
        pytest.param(SETTING, "    self.stop(is_deferred)\n", id="handed on below"),
    ],
)
def test_no_part_of_what_sets_the_value_comes_in(setting: str, behind: str) -> None:
    base, upstream = (
        side.replace(SETTING, setting).replace("    return", f"{behind}    return") for side in (BASE, UPSTREAM)
    )
    assert "is_deferred = " not in merged(OMNI, upstream, base=base).text
