"""A statement that upstream removed, and whose value omni's own code still reads."""

from __future__ import annotations

import pytest

from runner_sync.merge import PORT, Merged, merge
from runner_sync.model import Triple

BASE = """def run(self, rows):
    size = self.size_of(rows)
    count = self.parts(size)
    self.set_up(count)
    self.begin(rows)
    return self.end(rows)
"""
SETTING = "    size = self.size_of(rows)\n    count = self.parts(size)\n"
REMOVED = BASE.replace(f"{SETTING}    self.set_up(count)\n", "")
READING = "    self.talker.begin(rows, count)\n"


def merged(omni: str, upstream: str, *, base: str = BASE) -> Merged:
    return merge(Triple(base, omni, upstream))


def names_asked(result: Merged) -> list[tuple[str, ...]]:
    return [decision.reason.names for decision in result.decisions if decision.reason.kind == "removed value read"]


def with_reader(text: str) -> str:
    return text.replace("    self.begin", f"{READING}    self.begin")


def test_what_sets_a_local_that_omni_reads_stays_with_one_question() -> None:
    result = merged(with_reader(BASE), REMOVED)
    assert result.text == with_reader(REMOVED).replace(READING, SETTING + READING)
    assert names_asked(result) == [("count",)]


def test_what_sets_a_local_for_an_edit_that_is_asked_about_stays_without_another_question() -> None:
    result = merged(BASE.replace("self.set_up(count)", "self.set_up(count, rows)"), REMOVED)
    assert result.text == REMOVED.replace("    self.begin", f"{SETTING}    self.set_up(count, rows)\n    self.begin")
    assert [decision.reason.kind for decision in result.decisions] == ["edited statement removed"]


IN_SUITE = BASE.replace("    count =", "    if self.splits:\n        count =")


@pytest.mark.parametrize(
    ("base", "omni", "upstream"),
    [
        pytest.param(
            BASE, BASE.replace("    self.begin", "    self.talker.begin()\n    self.begin"), REMOVED, id="unread"
        ),
        pytest.param(
            BASE,
            with_reader(BASE),
            BASE.replace("count = self.parts(size)", "count, _ = self.parts(size)"),
            id="upstream sets it otherwise",
        ),
        pytest.param(
            BASE,
            with_reader(BASE).replace(READING, f"    count = 1\n{READING}"),
            REMOVED,
            id="omni sets it again",
        ),
        pytest.param(IN_SUITE, with_reader(IN_SUITE), REMOVED, id="under a condition that goes"),
        pytest.param(
            IN_SUITE.replace("    if self", "    count = self.parts(size)\n    if self"),
            with_reader(IN_SUITE.replace("    if self", "    count = self.parts(size)\n    if self")),
            REMOVED,
            id="again under a condition that goes",
        ),
        pytest.param(
            BASE,
            with_reader(BASE),
            REMOVED.replace("self.begin(rows)", "self.begin(self.parts(rows))"),
            id="upstream makes the call elsewhere",
        ),
        pytest.param(
            BASE,
            with_reader(BASE),
            REMOVED.replace("self.begin(rows)", "self.begin(self.size_of(rows))"),
            id="upstream makes the call that it needs elsewhere",
        ),
        *(
            pytest.param(
                BASE.replace(SETTING, f"    {head}:\n        self.see(rows)\n"),
                with_reader(BASE.replace(SETTING, f"    {head}:\n        self.see(rows)\n")),
                REMOVED,
                id=head,
            )
            for head in (
                "def count(rows)",
                "class count",
                "with self.parts() as count",
                "for count in self.parts()",
                "if (count := self.parts())",
            )
        ),
    ],
)
def test_any_other_statement_goes_with_upstream(base: str, omni: str, upstream: str) -> None:
    result = merged(omni, upstream, base=base)
    assert "count = self.parts(size)" not in result.text
    assert "size = self.size_of(rows)" not in result.text or "self.size_of(" in upstream
    assert names_asked(result) == []


@pytest.mark.parametrize("is_loop", [True, False], ids=["in a loop", "in no loop"])
def test_what_sets_a_local_behind_its_reader_stays_in_a_loop(is_loop: bool) -> None:
    head = "for row in rows" if is_loop else "if rows"
    base = BASE.replace(
        f"{SETTING}    self.set_up(count)\n",
        f"    count = 0\n    {head}:\n        self.see(rows)\n        count += self.parts(rows)\n",
    )
    omni = base.replace("        count", "        self.own(count)\n        count")
    result = merged(
        omni, base.replace("    count = 0\n", "").replace("        count += self.parts(rows)\n", ""), base=base
    )
    assert "    count = 0\n" in result.text
    assert ("count += self.parts(rows)" in result.text) == is_loop
    assert names_asked(result) == [("count",)]


def test_what_adds_the_result_of_a_call_that_upstream_makes_elsewhere_goes() -> None:
    base = BASE.replace("count = self.parts(size)", "count = 0\n    count += len(rows)")
    result = merged(with_reader(base), REMOVED.replace("self.begin(rows)", "self.begin(len(rows))"), base=base)
    assert "count = 0" not in result.text
    assert names_asked(result) == []


@pytest.mark.parametrize("call", ["parts", "len"])
def test_a_statement_whose_call_upstream_does_not_make_elsewhere_stays(call: str) -> None:
    setting = SETTING.replace("self.parts", "len") if call == "len" else SETTING
    base = BASE.replace(SETTING, setting)
    upstream = REMOVED.replace("self.begin(rows)", "self.begin(self.parts_of(rows), self.pool.parts(rows), len(rows))")
    result = merged(with_reader(base), upstream, base=base)
    assert setting in result.text
    assert names_asked(result) == [("count",)]


def test_in_a_port_the_removed_statement_goes() -> None:
    result = merge(Triple(BASE, with_reader(BASE), REMOVED), policy=PORT)
    assert "removed value read" not in {decision.reason.kind for decision in result.decisions}
