"""A port that cannot run as a whole: which of its passages stay out, and what is asked about them."""

from __future__ import annotations

import ast

import pytest

from runner_sync import merge
from runner_sync.merge import Merged
from runner_sync.upgrade.from_gpu.merging.part_by_part import keep_runnable_parts

KNOWN = {"len", "print"}

OMNI = """\
    def run(self, rows):
        if rows is None:
            return None
        first = len(rows)
        self.count(first)
        return first
"""


def port(made: str, *decisions: merge.Decision, omni: str = OMNI) -> Merged | None:
    ast.parse("class _:\n" + made)
    return keep_runnable_parts(omni, Merged(made, decisions), KNOWN)


FEATURE = "".join(f"        self.{name}(first)\n" for name in ("note", "send", "keep", "plan", "mark", "hand"))
WITH_FEATURE = OMNI.replace("        return first\n", f"{FEATURE}        return first\n")
TOO_EARLY = ("        if rows is None:\n            return None\n", "        return self.handed(rows)\n")


def test_a_return_that_comes_too_early_stays_out_and_the_rest_comes_in() -> None:
    found = port(WITH_FEATURE.replace(*TOO_EARLY))
    assert found is not None
    assert found.text == WITH_FEATURE
    (asked,) = found.decisions
    assert asked.reason.kind == "cannot run here"
    assert asked.reason.detail == "`first = len(rows)` would never run"
    assert (asked.line, asked.end_line) == (2, 3)
    assert asked.chosen == asked.omni == "if rows is None:\n    return None"
    assert asked.upstream == "return self.handed(rows)"


@pytest.mark.parametrize("sign", ["\u2028", "\x0c", "\x1d", "\x85"])
def test_signs_that_end_no_line_for_python_shift_nothing(sign: str) -> None:
    remark = f"        # one{sign}and{sign}more\n"
    omni, made = (text.replace("        if", f"{remark}        if", 1) for text in (OMNI, WITH_FEATURE))
    found = port(made.replace(*TOO_EARLY), omni=omni)
    assert found is not None
    assert found.text == made
    assert [(one.line, one.end_line) for one in found.decisions] == [(3, 4)]


def test_an_end_of_omnis_that_lost_its_condition_gets_it_back() -> None:
    bare = WITH_FEATURE.replace("        if rows is None:\n            return None\n", "        return None\n")
    found = port(bare)
    assert found is not None
    assert found.text == WITH_FEATURE


def test_statements_that_were_put_behind_an_end_stay_out() -> None:
    late = WITH_FEATURE + "        self.close()\n"
    found = port(late)
    assert found is not None
    assert found.text == WITH_FEATURE
    assert [(one.upstream, one.chosen) for one in found.decisions] == [("self.close()", "")]


def test_a_question_about_what_is_left_moves_with_it() -> None:
    made = WITH_FEATURE.replace(*TOO_EARLY)
    line = made.split("\n").index("        self.send(first)") + 1
    about = merge.Decision(line, line, merge.Reason("both moved"), 0.5, "", "", "self.send(first)", "self.send(first)")
    returned = "return self.handed(rows)"
    gone = merge.Decision(2, 2, merge.Reason("both changed a part"), 0.5, "", "", returned, returned)
    out = merge.Decision(2, 2, merge.Reason("needs an absent member", ("shut",)), 0.7, "", "", "self.shut()", "")
    found = port(made, gone, out, about)
    assert found is not None
    kinds = [one.reason.kind for one in found.decisions]
    assert kinds == ["needs an absent member", "cannot run here", "both moved"], "of what went nothing is asked twice"
    assert found.text.split("\n")[found.decisions[2].line - 1] == "        self.send(first)"


HANDS_BACK = """\
        if not rows:
            return None
        # Nothing to count.
        if rows.empty():
            return self.nothing
        output = self.copied()
        return output
"""
HANDED_BACK = """\
        # Nothing to count.
        return self.nothing
        return output
"""
EARLY = "        if rows is None:\n            return None\n"


def test_a_name_that_only_what_stays_out_leaves_unset_is_no_obstacle() -> None:
    """What the port took out above a comment belongs to the same passage: without it, rows may be nothing."""
    omni = OMNI.replace(EARLY, HANDS_BACK)
    made = WITH_FEATURE.replace(EARLY, HANDED_BACK).replace(FEATURE, FEATURE + FEATURE)
    found = port(made, omni=omni)
    assert found is not None
    assert found.text == made.replace(HANDED_BACK, HANDS_BACK)
    (asked,) = found.decisions
    assert asked.reason.detail == "`return output` would never run"


def test_what_a_passage_that_stays_out_had_already_left_out_is_still_asked_about() -> None:
    omni = OMNI.replace(EARLY, HANDS_BACK)
    made = WITH_FEATURE.replace(EARLY, HANDED_BACK).replace(FEATURE, FEATURE + FEATURE)
    reason = merge.Reason("needs an absent member", ("attach",))
    own, theirs = "return self.nothing", "return self.attach(rows)"
    left = merge.Decision(3, 3, reason, 0.5, "", own, theirs, own)
    gone = merge.Decision(2, 2, merge.Reason("remark removed"), 0.5, "", "return None  # or rows", "", "")
    found = port(made, left, gone, omni=omni)
    assert found is not None
    asked, _ = sorted(found.decisions, key=lambda one: one.reason.kind, reverse=True)
    assert (asked.reason, asked.upstream) == (reason, theirs)
    assert found.text.split("\n")[asked.line - 1].strip() == own


NOT_IN_PARTS = {
    "hardly anything would be left": OMNI.replace(*TOO_EARLY),
    "the names of the method changed, too": WITH_FEATURE.replace(*TOO_EARLY).replace("count(first)", "count(plan)"),
    "what is left reads what went": OMNI.replace(*TOO_EARLY).replace("first = len(rows)", "print(self)"),
}


@pytest.mark.parametrize("name", NOT_IN_PARTS)
def test_no_part_stands_alone(name: str) -> None:
    assert port(NOT_IN_PARTS[name]) is None


def test_what_never_ran_before_is_not_the_ports() -> None:
    idle = OMNI + "        self.close()\n"
    found = port(WITH_FEATURE.replace(*TOO_EARLY) + "        self.close()\n", omni=idle)
    assert found is not None
    assert found.text == WITH_FEATURE + "        self.close()\n"


GUARDED = """\
    def run(self, rows):
        if not rows:
            return None
        {between}
        if rows.is_empty():
            return self.none
        first = len(rows)
        return first
"""


def without_guards(omni: str) -> tuple[str, str]:
    """A port that takes both conditions away and brings a feature; and the feature alone."""
    bare = omni.replace("        if rows.is_empty():\n            return self.none\n", "        return self.none\n")
    bare = bare.replace("        if not rows:\n            return None\n", "")
    made, feature = (
        text.replace("        return first", f"{FEATURE * 2}        return first") for text in (bare, omni)
    )
    return made, feature


def test_what_went_on_the_other_side_of_a_remark_stays_with_what_was_not_taken() -> None:
    omni = GUARDED.format(between="# Rows that are handed on.")
    made, feature = without_guards(omni)
    found = port(made, omni=omni)
    assert found is not None
    assert found.text == feature
    (asked,) = found.decisions
    assert asked.omni.startswith("if not rows:")
    assert asked.upstream == "# Rows that are handed on.\nreturn self.none"


def test_what_went_on_the_other_side_of_a_statement_is_another_change() -> None:
    omni = GUARDED.format(between="self.count(rows)")
    made, feature = without_guards(omni)
    found = port(made, omni=omni)
    assert found is not None
    assert found.text == feature.replace("        if not rows:\n            return None\n", "")
