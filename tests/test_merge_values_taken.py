"""A statement that omni lacks because its copy is older, and whose value upstream's text of another one reads."""

from __future__ import annotations

import pytest

from runner_sync.merge import Merged, merge
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
    assert not result.decisions


def test_what_it_reads_in_turn_comes_in_with_it() -> None:
    first, second = "    last = self.last_rank()\n", SETTING.replace("self.is_last_rank", "last")
    upstream = UPSTREAM.replace(SETTING, first + second)
    assert merged(OMNI, upstream, base=BASE.replace(SETTING, first + second)).text == upstream


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
