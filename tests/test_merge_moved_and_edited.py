"""A statement that one side moved and edited, and that the other side edited at the old place."""

from __future__ import annotations

import pytest
from merge_samples import kinds

from runner_sync.merge import PORT, merge
from runner_sync.model import Triple

HEAD = "def run(self, rows):\n    out = self.sample(rows)\n"
BETWEEN = "    self.note(out)\n    self.bump(out)\n"
TAIL = "    if self.asynchronous:\n        return Later(made, out)\n    return made\n"


def make(call: str, rest: str = "") -> str:
    return f"    made = {call}(ids=self.ids, tokens=out.tokens, pooled=[]{rest})\n"


BASE = f"{HEAD}{make('Output')}{BETWEEN}{TAIL}"
OMNI = f"{HEAD}{make('Output', ', parts=self.parts')}{BETWEEN}{TAIL}"
OTHER_CLASS = f"{HEAD}{make('OmniOutput', ', parts=self.parts')}{BETWEEN}{TAIL}"
UPSTREAM = f"{HEAD}{BETWEEN}{make('Output', ', stats=self.stats')}{TAIL}"


def test_the_statement_has_both_edits_at_the_new_place() -> None:
    result = merge(Triple(BASE, OMNI, UPSTREAM))
    both = make("Output", ", stats=self.stats, parts=self.parts")
    assert (result.text, kinds(result)) == (f"{HEAD}{BETWEEN}{both}{TAIL}", ["edit moved on"])


def test_the_edit_follows_into_a_new_block() -> None:
    inside = "    with self.record():\n    " + make("Output", ", stats=self.stats")
    result = merge(Triple(BASE, OTHER_CLASS, f"{HEAD}{BETWEEN}{inside}{TAIL}"))
    both = make("OmniOutput", ", stats=self.stats, parts=self.parts")
    assert result.text == f"{HEAD}{BETWEEN}    with self.record():\n    {both}{TAIL}"
    assert kinds(result) == ["arguments of another call"]


def test_a_changed_argument_follows_too() -> None:
    edited = ("tokens=out.tokens", "tokens=out.tokens[:1]")
    result = merge(Triple(BASE, BASE.replace(*edited), UPSTREAM))
    assert (result.text, kinds(result)) == (UPSTREAM.replace(*edited), ["edit moved on"])


TWICE = UPSTREAM.replace("    return made", make("Output", ", late=True") + "    return made")


@pytest.mark.parametrize(
    ("base", "omni", "upstream"),
    [
        pytest.param(BASE, OTHER_CLASS, TWICE, id="upstream has two versions of it"),
        pytest.param(
            BASE.replace("    return made", make("Output", ", state=self.state") + "    return made"),
            OTHER_CLASS.replace("    return made", make("Output", ", state=self.state") + "    return made"),
            UPSTREAM,
            id="the base had two of them",
        ),
        pytest.param(
            BASE,
            OMNI.replace("tokens=out.tokens", "tokens=out.tokens[:1]"),
            UPSTREAM.replace("tokens=out.tokens", "tokens=out.ids"),
            id="both changed one part",
        ),
        pytest.param(
            BASE,
            OMNI,
            f"{HEAD}{BETWEEN}    made = Output.of(self.build(out), self.stats)\n{TAIL}",
            id="upstream has another statement",
        ),
    ],
)
def test_what_may_be_another_statement_gets_no_edit_and_is_asked_about(base: str, omni: str, upstream: str) -> None:
    result = merge(Triple(base, omni, upstream))
    assert "parts" not in result.text
    assert "edited statement rewritten" in kinds(result)


OWN_LOCAL = OMNI.replace("parts=self.parts", "parts=parts")
CUT = "    parts = self.cut(rows)\n"


def test_a_local_of_omnis_that_is_set_above_both_places_is_read_at_the_new_one() -> None:
    omni = OWN_LOCAL.replace("    made", f"{CUT}    made", 1)
    result = merge(Triple(BASE, omni, UPSTREAM))
    both = make("Output", ", stats=self.stats, parts=parts")
    assert (result.text, kinds(result)) == (f"{HEAD}{CUT}{BETWEEN}{both}{TAIL}", ["edit moved on"])


LATE = f"{HEAD}{BETWEEN}{make('Output')}{TAIL}"
EARLY = f"{HEAD}{make('Output', ', stats=self.stats')}{BETWEEN}{TAIL}"


@pytest.mark.parametrize("name", ["Output", "OtherOutput"])
def test_a_local_of_omnis_that_is_set_below_the_new_place_is_not_read_there(name: str) -> None:
    """The edit may be added arguments, or another function."""
    own = make(name, ", parts=parts")
    result = merge(Triple(LATE, f"{HEAD}{BETWEEN}{CUT}{own}{TAIL}", EARLY))
    assert "parts=parts" not in result.text
    assert "edited statement rewritten" in kinds(result)


def test_a_local_of_omnis_that_is_set_in_a_branch_is_not_read_outside_of_it() -> None:
    base = f"{HEAD}    if self.last:\n    {make('Output')}        self.done(made)\n{BETWEEN}    return out\n"
    omni = base.replace(f"    {make('Output')}", f"    {CUT}    {make('Output', ', parts=parts')}")
    branch = "    if self.last:\n        self.done(out)\n"
    upstream = f"{HEAD}{branch}{BETWEEN}{make('Output', ', stats=self.stats')}    return made\n"
    result = merge(Triple(base, omni, upstream))
    assert "parts=parts" not in result.text
    assert "edited statement rewritten" in kinds(result)


def test_a_statement_that_upstream_only_moved_is_no_new_one() -> None:
    only_moved = f"{HEAD}{BETWEEN}{make('Output')}{TAIL}"
    result = merge(Triple(BASE, BASE, only_moved))
    assert (result.text, result.decisions) == (only_moved, ())


def test_a_port_asks_instead() -> None:
    assert "edit moved on" not in kinds(merge(Triple(BASE, OMNI, UPSTREAM), policy=PORT))


@pytest.mark.parametrize("has_block", [False, True])
def test_upstreams_edit_follows_to_where_omni_moved_and_edited_the_statement(has_block: bool) -> None:
    """``self._bookkeeping_sync(…)`` of vLLM 0.20 and vllm-ascend 0.19.1rc1."""
    moved = f"{HEAD}{BETWEEN}{make('Output', ', parts=self.parts')}{TAIL}"
    inside = "    with self.record():\n    " if has_block else ""
    base, upstream = (f"{HEAD}{inside}{make('Output', more)}{BETWEEN}{TAIL}" for more in ("", ", stats=self.stats"))
    result = merge(Triple(base, moved, upstream))
    assert result.text == moved.replace(", parts=", ", stats=self.stats, parts=")
    assert kinds(result) == ["moved statement changed"]


def test_upstreams_edit_does_not_follow_to_what_reads_a_local_that_is_not_set_there() -> None:
    moved = f"def run(self, rows):\n    out = self.sample(rows)\n{make('OmniOutput')}{BETWEEN}{TAIL}"
    base = f"{HEAD}{BETWEEN}{make('Output')}{TAIL}"
    upstream = f"{HEAD}{BETWEEN}    stats = self.measure(out)\n{make('Output', ', stats=stats')}{TAIL}"
    assert "stats=stats" not in merge(Triple(base, moved, upstream)).text
