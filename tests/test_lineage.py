"""Which revision a unit was copied from, and whether it is a copy at all."""

from __future__ import annotations

import pytest

from runner_sync.lineage import Candidate, Origin, classify, find_origin, similarity, without_unsynced


def unit(*statements: str, name: str = "run") -> str:
    return "\n".join([f"    def {name}(self, a, b):", *(f"        {line}" for line in statements)]) + "\n"


def steps(first: int, last: int) -> list[str]:
    return [f"self.step_{k}(a, b)" for k in range(first, last + 1)]


OLD, NEW = Candidate("0.1", unit(*steps(1, 8))), Candidate("0.2", unit(*steps(1, 6), *steps(11, 14)))


@pytest.mark.parametrize(
    ("text", "ref"),
    [
        pytest.param(unit(*steps(1, 8)), "0.1", id="the same text"),
        pytest.param(unit(*steps(1, 4), "self.omni(a)", *steps(5, 8)), "0.1", id="with omni code inside"),
        pytest.param(unit(*steps(1, 6), *steps(11, 14), "self.omni(a)"), "0.2", id="the newer text"),
        pytest.param(unit(*steps(1, 6)), "0.1", id="what both have: the one with less else"),
    ],
)
def test_the_closest_candidate_is_the_base(text: str, ref: str) -> None:
    found = find_origin(text, [OLD, NEW])
    assert found is not None
    assert found.ref == ref


def test_of_equally_close_candidates_the_earliest_is_the_base() -> None:
    same = [Candidate(ref, OLD.text) for ref in ("0.1", "0.2", "0.3")]
    found = find_origin(OLD.text, same)
    assert found == Origin("0.1", OLD.text, 1.0, frozenset(), ())


LARGE = steps(1, 60)
OMNI = [f"self.omni_{k}()" for k in range(40)]
LATER = [*LARGE, *steps(101, 105)]


@pytest.mark.parametrize(
    ("text", "ref"),
    [
        pytest.param(unit(*LARGE, *OMNI), "0.1", id="nothing of it"),
        pytest.param(unit(*LARGE, *OMNI, *steps(101, 102)), "0.1", id="two of five: taken out of turn"),
        pytest.param(unit(*LARGE, *OMNI, *steps(101, 103)), "0.2", id="three of five: omni removed two"),
    ],
)
def test_a_near_tie_goes_to_the_earlier_one_unless_most_of_the_later_is_there(text: str, ref: str) -> None:
    """Two of five new statements make the later one the closer, for a large part of the text is omni's own."""
    candidates = [Candidate("0.1", unit(*LARGE)), Candidate("0.2", unit(*LATER))]
    found = find_origin(text, candidates)
    assert found is not None
    assert found.ref == ref


CHOICE = ["if self.skips:", "    made = None", "else:", "    made = self.make()"]
PLAIN = ["rows = None", "made = None", "made = self.make()"]


@pytest.mark.parametrize(
    ("own", "ref"),
    [
        pytest.param(["if self.mine:", "    self.own()", "else:", "    self.other()"], "0.1", id="an else of its own"),
        pytest.param(["self.own()", "made = None"], "0.1", id="one of two statements"),
        pytest.param(["if self.skips:", "    made = None", "else:", "    self.other()"], "0.2", id="both statements"),
    ],
)
def test_what_a_text_has_anyway_is_no_part_of_the_later_one(own: list[str], ref: str) -> None:
    """A new condition in ``execute_model`` brings an ``else``, of which omni's copy has many."""
    earlier, later = unit(*LARGE, *PLAIN), unit(*LARGE, *PLAIN[:2], *CHOICE)
    found = find_origin(unit(*LARGE, *PLAIN, *own), [Candidate("0.1", earlier), Candidate("0.2", later)])
    assert found is not None
    assert found.ref == ref


KEPT = [*steps(1, 10), *OMNI[:20]]
RECEIVED = ["# from the last rank", "if self.is_first_rank:", "    self.receive(a)"]
HANDED = ["if self.has_transfer():", "    meta = a.meta", "    assert meta", "    self.hand_over(meta)"]
GUARDED = [*HANDED[:2], "    if meta:", "        self.hand_over(meta)"]
REMARKS = ["# from the last rank", "# to the first one", "# and no other"]
SHORTER, LONGER = unit(*steps(1, 30), *steps(51, 54)), unit(*steps(1, 30), *RECEIVED, *steps(61, 77))


@pytest.mark.parametrize(
    ("text", "longer", "ref"),
    [
        pytest.param(unit(*KEPT, *RECEIVED), LONGER, "0.2", id="which omni has"),
        pytest.param(unit(*KEPT), LONGER, "0.1", id="which omni lacks"),
        pytest.param(unit(*KEPT, *RECEIVED[1:]), LONGER, "0.1", id="of two statements: perhaps by chance"),
        pytest.param(unit(*KEPT, *RECEIVED[:1], *OMNI[20:22]), LONGER, "0.1", id="but for its comment"),
        pytest.param(unit(*KEPT, *RECEIVED, *steps(51, 51)), LONGER, "0.1", id="and what is gone as well"),
        pytest.param(
            unit(*KEPT, *HANDED), unit(*steps(1, 30), *HANDED, *steps(61, 76)), "0.2", id="of four statements"
        ),
        pytest.param(
            unit(*KEPT, *GUARDED), unit(*steps(1, 30), *HANDED, *steps(61, 76)), "0.1", id="in a form of omni's own"
        ),
        pytest.param(
            unit(*steps(1, 18), *OMNI[:20], *RECEIVED),
            unit(*steps(1, 30), *RECEIVED, *steps(61, 67)),
            "0.1",
            id="in a text that has most of the rest",
        ),
        pytest.param(
            unit(*KEPT, *REMARKS), unit(*steps(1, 30), *REMARKS, *steps(61, 67)), "0.1", id="of comments alone"
        ),
        pytest.param(
            unit(*KEPT, *RECEIVED), unit(*steps(1, 30), *RECEIVED, *steps(61, 99)), "0.1", id="of one that is far off"
        ),
    ],
)
def test_a_passage_of_the_later_one_alone_decides_a_near_tie_where_omni_dropped_most(
    text: str, longer: str, ref: str
) -> None:
    found = find_origin(text, [Candidate("0.1", SHORTER), Candidate("0.2", longer), Candidate("0.3", longer)])
    assert found is not None
    assert found.ref == ref


REVERTED = unit(*steps(1, 20), *steps(51, 59))
SHORT = unit(*steps(1, 20))


@pytest.mark.parametrize(
    ("text", "is_named", "ref"),
    [
        pytest.param(unit(*steps(1, 20), *OMNI[:5]), True, "0.1", id="named, and nothing of the later one"),
        pytest.param(
            unit(*steps(1, 20), *steps(51, 52)), True, "0.1", id="named, and a little of it: perhaps by chance"
        ),
        pytest.param(unit(*steps(1, 20), *OMNI[:5]), False, "0.2", id="not named"),
        pytest.param(unit(*steps(1, 20), *steps(51, 53)), True, "0.2", id="named, but its share of the later one"),
        pytest.param(unit(*steps(1, 12), *OMNI), True, "0.2", id="named, but omni took only a part of it"),
        pytest.param(SHORT, True, "0.3", id="named, but a later one, which only lost statements, is the same"),
    ],
)
def test_the_named_candidate_wins_over_a_later_one_that_is_only_shorter(text: str, is_named: bool, ref: str) -> None:
    """Upstream took 20 statements back that omni's text, half of the named one, never had, and added nine."""
    named = Candidate("0.1", unit(*steps(1, 40)), is_named)
    found = find_origin(text, [named, Candidate("0.2", REVERTED), Candidate("0.3", SHORT)][: 3 if text == SHORT else 2])
    assert found is not None
    assert found.ref == ref


def test_two_of_five_statements_do_make_the_later_one_closer() -> None:
    text = unit(*LARGE, *OMNI, *steps(101, 102))
    assert similarity(text, unit(*LATER)) > similarity(text, unit(*LARGE))


def test_layout_and_comments_do_not_move_the_base() -> None:
    text = unit("# omni", *steps(1, 8)).replace("(a, b)\n", "(\n            a,\n            b,\n        )\n")
    found = find_origin(text, [OLD, NEW])
    assert found is not None
    assert (found.ref, found.composite) == ("0.1", ())


def test_no_candidate_no_base() -> None:
    assert find_origin(OLD.text, []) is None


def test_parts_from_another_revision_make_the_base_composite() -> None:
    mixed = unit(*steps(1, 8), "self.step_11(a, b)")
    found = find_origin(mixed, [OLD, NEW])
    assert found is not None
    assert (found.ref, found.composite) == ("0.1", ("0.2",))
    assert "self.step_11(a, b)" in found.heritage
    assert "self.step_1(a, b)" not in found.heritage


def test_a_revision_that_gave_nothing_is_heritage_but_no_part() -> None:
    found = find_origin(unit(*steps(1, 8), "self.omni(a)"), [OLD, NEW])
    assert found is not None
    assert found.composite == ()
    assert "self.step_14(a, b)" in found.heritage
    assert "self.omni(a)" not in found.heritage


CALLS_SUPER = "out = super().run(a, b)"
OWN_20 = [f"self.own_{k}(a)" for k in range(20)]


@pytest.mark.parametrize(
    ("text", "upstream", "kind"),
    [
        pytest.param(unit(*steps(1, 8)), unit(*steps(1, 8)), "copy", id="equal"),
        pytest.param(
            unit(*steps(1, 8), *(f"self.omni_{k}(a)" for k in range(8))), unit(*steps(1, 8)), "copy", id="half omni's"
        ),
        pytest.param(
            unit(*steps(1, 2), *(f"self.omni_{k}(a)" for k in range(20))),
            unit(*steps(1, 8)),
            "override",
            id="two statements in common",
        ),
        pytest.param(
            unit(*steps(1, 10), *(f"self.omni_{k}(a)" for k in range(10))),
            unit(*steps(1, 20)),
            "copy",
            id="a long method that shares half",
        ),
        pytest.param(
            unit(*steps(1, 4), *(f"self.omni_{k}(a)" for k in range(4))),
            unit(*steps(1, 8)),
            "override",
            id="a short method that shares half",
        ),
        pytest.param(
            unit(CALLS_SUPER, *steps(1, 5), *(f"self.omni_{k}(a)" for k in range(4))),
            unit(*steps(1, 8)),
            "override",
            id="wraps its namesake and shares half",
        ),
        pytest.param(
            unit("out = NPUModelRunner.run(self, a, b)", *steps(1, 5), *(f"self.omni_{k}(a)" for k in range(4))),
            unit(*steps(1, 8)),
            "override",
            id="wraps its namesake by class name",
        ),
        pytest.param(
            unit("super().other(a)", *steps(1, 5), *(f"self.omni_{k}(a)" for k in range(4))),
            unit(*steps(1, 8)),
            "copy",
            id="calls another method of its parent",
        ),
        pytest.param(unit(*steps(1, 12), *OWN_20), unit(*steps(1, 70)), "copy", id="a copy of the first sixth"),
        pytest.param(unit(*steps(1, 8), *OWN_20), unit(*steps(1, 70)), "override", id="few statements are chance"),
        pytest.param(
            unit(*steps(1, 12), *OWN_20, *(f"self.mine_{k}(a)" for k in range(20))),
            unit(*steps(1, 70)),
            "override",
            id="mostly written anew",
        ),
        pytest.param(
            unit(CALLS_SUPER, *steps(1, 12), *OWN_20), unit(*steps(1, 70)), "override", id="a part of what it wraps"
        ),
        pytest.param(
            unit(*steps(1, 8), CALLS_SUPER, "self.omni(a)"),
            unit(*steps(1, 8), CALLS_SUPER),
            "copy",
            id="upstream's own call of super is no wrapper of omni's",
        ),
        pytest.param(unit(*steps(1, 3), "self.mine(a)"), unit(*steps(1, 20)), "copy", id="cut out of it"),
        pytest.param(
            unit(*steps(1, 3), "self.mine(a)", "self.mine(b)"),
            unit(*steps(1, 20)),
            "override",
            id="not nearly all is its",
        ),
        pytest.param(unit(*steps(1, 2)), unit(*steps(1, 20)), "override", id="too little to be told by"),
        pytest.param(
            unit(*steps(1, 3), CALLS_SUPER),
            unit(*steps(1, 20)),
            "override",
            id="nearly all is its, and runs it besides",
        ),
    ],
)
def test_copies_are_told_from_overrides(text: str, upstream: str, kind: str) -> None:
    assert classify(text, find_origin(text, [Candidate("0.1", upstream)])) == kind


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        pytest.param("# as Runner.run(self, a) does", "copy", id="a comment"),
        pytest.param("'as Runner.run(self, a) does'", "copy", id="a string"),
        pytest.param("self.model.run(a)", "copy", id="of another object"),
        pytest.param("Runner.run(self, a)", "override", id="the call"),
        pytest.param("super(Runner, self).run(a)", "override", id="with arguments"),
    ],
)
def test_only_a_call_of_the_parents_method_makes_an_override(line: str, kind: str) -> None:
    upstream = unit(*steps(1, 20))
    mine = unit(*steps(1, 12), *steps(30, 36), line)
    assert classify(mine, find_origin(mine, [Candidate("0.1", upstream)])) == kind


CALLS_OTHER = "out = Omni.run(self, a)"
"""The parent call of a copy that goes to omni's own parent in place of upstream's."""


@pytest.mark.parametrize(
    ("text", "upstream", "kind"),
    [
        pytest.param(
            [*steps(1, 4), "if a:", "    self.mine(a)", "return Omni.run(self, a)"],
            [*steps(1, 5), "if a:", "    self.mine(a)", "return super().run(a, b)"],
            "copy",
            id="all but the parent's call",
        ),
        pytest.param([*steps(1, 4), CALLS_OTHER], [*steps(1, 5), CALLS_SUPER], "copy", id="before another parent"),
        pytest.param([*steps(1, 4), CALLS_OTHER, *OWN_20], [*steps(1, 5), CALLS_SUPER], "override", id="mostly omni's"),
        pytest.param(
            [*steps(1, 4), "out = NPURunner.run(self, a)"],
            [*steps(1, 8), CALLS_SUPER],
            "override",
            id="runs upstream's",
        ),
        pytest.param(
            [CALLS_SUPER, "self.mine(a)", "return out"],
            [CALLS_SUPER, "self.log(a)", "return out"],
            "override",
            id="short",
        ),
        pytest.param([CALLS_SUPER, "return out"], ["self.log(a)", CALLS_SUPER, "return out"], "override", id="a call"),
        pytest.param(
            ["if not a:", "    return", "self.mine(a)", CALLS_OTHER],
            ["if not a:", "    return", CALLS_SUPER],
            "override",
            id="a guard in common",
        ),
    ],
)
def test_where_upstream_calls_its_parents_method_the_rest_tells_a_copy(
    text: list[str], upstream: list[str], kind: str
) -> None:
    mine = unit(*text)
    assert classify(mine, find_origin(mine, [Candidate("0.1", unit(*upstream))]), owner="NPURunner") == kind


def test_without_a_namesake_a_unit_is_omnis_own() -> None:
    assert classify(OLD.text, None) == "own"


def test_similarity_counts_repeated_statements() -> None:
    once, twice = "a()\nb()\n", "a()\na()\n"
    assert similarity(once, twice) == 2 * 1 / 4
    assert similarity(once, once) == 1.0
    assert similarity(once, "") == 0.0


def test_text_that_does_not_parse_is_like_nothing() -> None:
    assert similarity("a = (\n", "a = 1\n") == 0.0


BEFORE = unit("self.begin(a)", "if a > b:", "    self.swap(a, b)", "self.end(b)")
SINCE = unit(
    "self.begin(a)",
    "# What the experts say.",
    "if self.config.returns_experts:",
    "    self.experts.clear()",
    "else:",
    "    self.experts = None",
    "if a > b:",
    "    self.swap(a, b)",
    "self.end(b)",
)


@pytest.mark.parametrize(
    "copy",
    [
        pytest.param(BEFORE, id="copied before it came"),
        pytest.param(BEFORE.replace("self.end", "self.omni(a)\n        self.end"), id="with omni code beside it"),
        pytest.param(BEFORE.replace("self.end", "self.mine = a\n        self.end"), id="that sets something else"),
    ],
)
def test_a_condition_that_the_copy_was_never_given_is_not_in_its_base(copy: str) -> None:
    base, unsynced = without_unsynced(SINCE, [BEFORE], copy)
    assert base == BEFORE
    (text,) = unsynced
    assert text.split() == (SINCE.partition("(a)\n")[2].partition("        if a > b")[0]).split()


def test_a_branch_that_the_copy_was_never_given_is_not_in_its_base() -> None:
    before = unit("if self.rows:", "    a = self.rows", "else:", "    a = self.none")
    since = unit(
        "if self.rows:", "    a = self.rows", "elif self.dims > 0:", "    a = self.dims", "else:", "    a = self.none"
    )
    base, unsynced = without_unsynced(since, [before], before)
    assert base == before
    assert [text.split() for text in unsynced] == [["elif", "self.dims", ">", "0:", "a", "=", "self.dims"]]
    own = before.replace("self.none", "self.dims")
    assert without_unsynced(since, [before], own) == (since, ()), "the copy knows what it is about"


def test_what_is_set_for_such_a_condition_goes_with_it() -> None:
    since = unit(
        "self.begin(a)", "counts = a.counts", "experts = self.load()", "if experts is not None:", "    experts.clear()"
    )
    base, _ = without_unsynced(since, [unit("self.begin(a)")], unit("self.begin(a)"))
    assert base == unit("self.begin(a)", "counts = a.counts")


@pytest.mark.parametrize(
    ("copy", "left"),
    [
        (unit("self.begin(a)"), ()),
        (unit("self.begin(a)", "self.keep(lengths)"), ("lengths: dict[str, int] = {}",)),
    ],
    ids=["a name that nobody else knows", "a name that the copy knows"],
)
def test_what_is_set_for_what_is_under_such_a_condition_goes_with_it(copy: str, left: tuple[str, ...]) -> None:
    since = unit(
        "self.begin(a)",
        "counts = a.counts",
        "lengths: dict[str, int] = {}",
        "if self.config.returns_experts:",
        "    for key, rows in a.items():",
        "        lengths[key] = len(rows)",
    )
    base, _ = without_unsynced(since, [unit("self.begin(a)")], copy)
    assert base == unit("self.begin(a)", "counts = a.counts", *left)


@pytest.mark.parametrize(
    ("base", "earlier", "copy"),
    [
        pytest.param(SINCE, SINCE, BEFORE, id="older than that: omni removed it"),
        pytest.param(SINCE, BEFORE, SINCE, id="the copy has it"),
        pytest.param(SINCE, BEFORE, unit("self.begin(a)", "self.experts.clear()"), id="the copy has a part of it"),
        pytest.param(
            SINCE,
            BEFORE,
            unit("self.begin(a)", "if self.config.returns_experts and a:", "    self.omni()"),
            id="the copy knows what it is about",
        ),
        pytest.param(
            SINCE,
            BEFORE,
            unit("self.begin(a)", "self.experts = OmniExperts(a)"),
            id="the copy sets its attribute itself",
        ),
        pytest.param(SINCE, unit("self.begin(self.config.returns_experts)"), BEFORE, id="an older subject"),
        pytest.param(
            unit("self.begin(a)", "self.clear(self.experts)"),
            unit("self.begin(a)"),
            unit("self.begin(a)"),
            id="a statement and no condition",
        ),
        pytest.param(
            unit("if a > b:", "    if self.experts:", "        self.clear(a)"),
            unit("if a > b:", "    self.swap(a)"),
            unit("self.end(a)"),
            id="its suite would be empty",
        ),
    ],
)
def test_what_else_a_base_has_stays_in_it(base: str, earlier: str, copy: str) -> None:
    assert without_unsynced(base, [earlier], copy) == (base, ())


BARE = unit("self.begin(a)", "if a > b:", "    self.swap(a, b)", "self.end(b)", "return a")
GUARDED = unit(
    "self.begin(a)",
    "# Whatever happens.",
    "pool = self.pool_of(a)",
    "try:",
    "    if a > b:",
    "        self.swap(a, b)",
    "    self.end(b)",
    "finally:",
    "    if pool is not None:",
    "        pool.release()",
    "return a",
)
TIMED = unit(
    "self.begin(a)", "with self.clock(a):", "    if a > b:", "        self.swap(a, b)", "self.end(b)", "return a"
)


@pytest.mark.parametrize(
    ("since", "copy", "taken"),
    [
        (
            GUARDED,
            BARE,
            "# Whatever happens. pool = self.pool_of(a) try: ... finally: if pool is not None: pool.release()",
        ),
        (TIMED, BARE, "with self.clock(a): ..."),
        (TIMED, BARE.replace("self.end(b)", "self.omni(a)"), "with self.clock(a): ..."),
    ],
    ids=["try", "with", "beside omni code"],
)
def test_a_wrapper_that_the_copy_was_never_given_is_not_in_its_base(since: str, copy: str, taken: str) -> None:
    base, (wrapper,) = without_unsynced(since, [BARE], copy)
    assert base == BARE
    assert wrapper.split() == taken.split()


def test_what_the_body_sets_for_such_a_wrapper_goes_with_it() -> None:
    """``update_succeeded`` in ``update_weights`` of vLLM 0.23.0."""
    since = unit(
        "done = False",
        "try:",
        "    self.begin(a)",
        "    b = a.last",
        "    done = True",
        "finally:",
        "    if not done:",
        "        self.reset()",
    )
    copy = unit("self.begin(a)", "b = a.last")
    base, (wrapper,) = without_unsynced(since, [copy], copy)
    assert base == copy
    assert wrapper.split()[:4] == ["done", "=", "False", "try:"]


def test_a_condition_inside_such_a_wrapper_is_taken_out_by_itself() -> None:
    since = GUARDED.replace(
        "            self.end", "            if self.traces:\n                self.flush()\n            self.end"
    )
    base, unsynced = without_unsynced(since, [BARE], BARE)
    assert base == BARE
    assert [text.split()[-1] for text in unsynced] == ["pool.release()", "self.flush()"]


def test_the_lines_of_a_string_inside_such_a_wrapper_stay() -> None:
    said = ['self.log("""a', "b", '            """)', "self.end(b)"]
    before = unit("self.begin(a)", *said)
    since = unit("self.begin(a)", "with self.clock(a):", f"    {said[0]}", *said[1:3], f"    {said[3]}")
    assert without_unsynced(since, [before], before)[0] == before


@pytest.mark.parametrize(
    ("since", "before", "copy"),
    [
        pytest.param(GUARDED, GUARDED, BARE, id="older than that: omni removed it"),
        pytest.param(GUARDED, BARE, GUARDED, id="the copy has it"),
        pytest.param(GUARDED, BARE, BARE.replace("return a", "pool.release()"), id="the copy has a part of it"),
        pytest.param(GUARDED, BARE, BARE.replace("return a", "return release(pool_of, pool)"), id="a known subject"),
        pytest.param(TIMED, BARE, TIMED.replace("clock", "omni"), id="the copy has another around it"),
        pytest.param(TIMED, TIMED.replace("clock", "watch"), BARE, id="upstream had another around it"),
        pytest.param(TIMED, unit("self.begin(a)"), unit("self.begin(a)"), id="what it wraps is new, too"),
        pytest.param(TIMED, BARE, unit("self.begin(a)", "self.end(b)", "return a"), id="omni removed what it wraps"),
        pytest.param(TIMED, BARE, BARE.replace("return a", "return self.clock"), id="the copy knows what it is about"),
    ],
)
def test_another_wrapper_stays_in_the_base(since: str, before: str, copy: str) -> None:
    assert without_unsynced(since, [before], copy) == (since, ())


def test_a_condition_that_one_of_several_older_revisions_has_is_older() -> None:
    assert without_unsynced(SINCE, [BEFORE, SINCE.replace("self.end", "self.stop")], BEFORE) == (SINCE, ())


def test_comments_of_other_revisions_are_heritage_and_weigh_nothing() -> None:
    old = Candidate("0.1", unit("# first", *steps(1, 8)))
    new = Candidate("0.2", unit("# second", "# third", *steps(1, 8)))
    found = find_origin(unit("# omni's", "# second", *steps(1, 8)), [old, new])
    assert found is not None
    assert (found.ref, found.heritage) == ("0.1", {"# second", "# third"})


def test_a_branch_of_omnis_own_in_front_of_upstreams_condition_does_not_move_the_base() -> None:
    def unit(head: str, front: str = "") -> str:
        return f"def run(self):\n    self.start()\n{front}    {head}:\n        self.step()\n    self.stop()\n"

    text = unit("elif self.new", "    if self.own:\n        self.skip()\n")
    candidates = [Candidate("0.1", unit("if self.old")), Candidate("0.2", unit("if self.new"))]
    for refs in (candidates, [*candidates, Candidate("0.3", unit("if self.newer"))]):
        origin = find_origin(text, refs)
        assert origin is not None
        assert origin.ref == "0.2"
    loop = find_origin(unit("while self.new"), candidates)
    assert loop is not None
    assert loop.ref == "0.1"
