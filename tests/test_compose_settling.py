"""Settling a review item in a text: the comment goes, and another side may take the place of the chosen text."""

from __future__ import annotations

import textwrap

import pytest

from runner_sync.compose.settling import find_comments, keep_chosen, take_side
from runner_sync.errors import InputError
from runner_sync.model import ReviewItem, Side


def make_item(*, omni: str = "", upstream: str = "", chosen: str = "", id: str = "R1") -> ReviewItem:
    return ReviewItem(id, "A.run", "a.py", 4, 4, "why", 0.5, "", omni, upstream, chosen)


def make_text(body: str) -> str:
    return "class A:\n    def run(self, a):\n" + textwrap.indent(textwrap.dedent(body), " " * 8)


COMMENT = "# runner-sync: review R1 why\n"


@pytest.mark.parametrize(
    ("item", "side", "before", "after"),
    [
        pytest.param(make_item(omni="b = 1\n", chosen="b = 2\n"), "chosen", "b = 2\n", "b = 2\n", id="chosen"),
        pytest.param(make_item(omni="b = 1\n", chosen="b = 2\n"), "omni", "b = 2\n", "b = 1\n", id="omni"),
        pytest.param(
            make_item(upstream="if a:\n    b = 1\n", chosen="b = 2\n"),
            "upstream",
            "b = 2\nreturn a\n",
            "if a:\n    b = 1\nreturn a\n",
            id="the indentation of the place",
        ),
        pytest.param(
            make_item(omni="    if a:\n        b = 1\n", chosen="    b = 2\n"),
            "omni",
            "b = 2\n",
            "if a:\n    b = 1\n",
            id="a side with an indentation of its own",
        ),
        pytest.param(
            make_item(omni="with a:\n", chosen="with a, b():\n"),
            "omni",
            "with a, b():\n    return 1\n",
            "with a:\n    return 1\n",
            id="a head, whose suite stays",
        ),
        pytest.param(
            make_item(omni="b = 1\n", chosen=""),
            "omni",
            "return a\n",
            "b = 1\nreturn a\n",
            id="put back what was removed",
        ),
        pytest.param(
            make_item(upstream="b = 2\n", chosen="b = 2\n"),
            "omni",
            "b = 2\nreturn a\n",
            "return a\n",
            id="a port taken out",
        ),
        pytest.param(
            make_item(omni="b = 1\n", chosen="b = 2\n"),
            "omni",
            "# runner-sync: review R2 too\n# a note\nb = 2\n",
            "# runner-sync: review R2 too\n# a note\nb = 1\n",
            id="comments in between",
        ),
    ],
)
def test_a_side_takes_the_place_of_the_chosen_text(item: ReviewItem, side: Side, before: str, after: str) -> None:
    assert take_side(make_text(COMMENT + before), item, side) == make_text(after)


@pytest.mark.parametrize(
    ("item", "side", "body", "reason"),
    [
        (make_item(omni="b = 1\n", chosen="b = 2\n"), "omni", "b = 3\n", "does not stand below its comment"),
        (make_item(omni="b = 1\n", chosen="b = 2\n"), "omni", "c = 3\nb = 2\n", "does not stand below its comment"),
        (make_item(omni="b = 1\n", chosen="b = 2\nc = 3\n"), "omni", "b = 2\n", "does not stand below its comment"),
        (make_item(upstream="b = 1\n"), "upstream", "return a\n", "no certain place here"),
        (make_item(upstream="if a:\n    # …\n", chosen="b = 2\n"), "upstream", "b = 2\n", "leave out lines"),
        (make_item(upstream="b = 2\n", chosen="b = 2\n"), "omni", "b = 2\n", "would not parse"),
        (make_item(upstream="b = result\n", chosen="b = a\n"), "upstream", "b = a\n", "nothing sets result"),
        (make_item(omni="c = 1\n", chosen="b = 2\n"), "omni", "b = 2\nreturn b\n", "nothing sets b"),
        (
            make_item(omni="if a:\n    b = 1\n", chosen="b = 2\n"),
            "omni",
            "b = 2\nreturn b\n",
            "nothing sets b",
        ),
        (
            make_item(upstream="def b(a):\n    pass\n", chosen="b = 2\n"),
            "upstream",
            "b = 2\n",
            "code from another place",
        ),
        (make_item(omni="c = 1\nd = 1\n", chosen="b()\n"), "omni", "b()\nd = 1\nc = 1\n", "code from another place"),
    ],
)
def test_what_is_uncertain_is_left_to_a_person(item: ReviewItem, side: Side, body: str, reason: str) -> None:
    with pytest.raises(InputError, match=rf"R1: .*{reason}.*; edit the file, then delete the comment\."):
        take_side(make_text(COMMENT + body), item, side)


def test_a_text_that_begins_deeper_than_it_ends_keeps_its_depth() -> None:
    item = make_item(omni="b = 2\n", chosen="    b += 1\n\nb = 3\n")
    text = make_text("b = 1\nfor c in a:\n    d(c)\n    # runner-sync: review R1 why\n    b += 1\n\nb = 3\n")
    assert take_side(text, item, "omni") == make_text("b = 1\nfor c in a:\n    d(c)\nb = 2\n")


def test_lines_inside_strings_stay_as_they_are() -> None:
    item = make_item(omni='b = a.f("""x\n  y\n""")\nc = 1\n', chosen='b = a.g("""x\n  z\n""")\n')
    head = "class A:\n    def run(self, a):\n"
    text = f'{head}        {COMMENT}        b = a.g("""x\n  z\n""")\n        return b\n'
    made = take_side(text, item, "omni")
    assert made == f'{head}        b = a.f("""x\n  y\n""")\n        c = 1\n        return b\n'


RULER = "# ------ Omni-new ------\n"


def test_rulers_go_with_all_that_they_enclose() -> None:
    item = make_item(upstream="b = 2\n", chosen="b = 2\n")
    text = make_text(f"{RULER}c = 1\n{RULER}{RULER}{COMMENT}b = 2\n{RULER}return a\n")
    assert take_side(text, item, "omni") == make_text(f"{RULER}c = 1\n{RULER}return a\n")
    between = make_text(f"{RULER}c = 1\n{RULER}{COMMENT}b = 2\n{RULER}d = 1\n{RULER}return a\n")
    assert take_side(between, item, "omni") == make_text(f"{RULER}c = 1\n{RULER}{RULER}d = 1\n{RULER}return a\n")


def test_comments_are_found_by_id_but_not_in_strings() -> None:
    text = make_text(f'b = """\n{COMMENT}"""\n{COMMENT}c = 1\n# runner-sync: review R2f too\nd = 1\n')
    assert find_comments(text) == {"R1": 6, "R2f": 8}
    assert find_comments(keep_chosen(text, "R1")) == {"R2f": 7}
    assert find_comments("a = 1\n") == {}


def make_twice(comment: str, first: str, second: str, *, between: str = "") -> str:
    return make_text(f"if a:\n    {comment}    {first}{between}else:\n    {comment}    {second}")


def test_a_question_at_two_places_is_settled_at_both() -> None:
    item = make_item(omni="b = 1\n", upstream="b = 2\n", chosen="b = 2\n")
    text = make_twice(COMMENT, "b = 2\n", "b = 2\n")
    assert find_comments(text) == {"R1": 4}
    assert keep_chosen(text, "R1") == make_text("if a:\n    b = 2\nelse:\n    b = 2\n")
    assert take_side(text, item, "omni") == make_text("if a:\n    b = 1\nelse:\n    b = 1\n")


def test_two_places_of_a_question_are_no_code_from_another_place() -> None:
    """The first place has omni's lines by the time the second gets them."""
    item = make_item(omni="c = 1\nd = 1\n", chosen="b()\n")
    text = make_twice(COMMENT, "b()\n", "b()\n")
    halves = "if a:\n    c = 1\n    d = 1\nelse:\n    c = 1\n    d = 1\n"
    assert take_side(text, item, "omni") == make_text(halves)


def test_a_question_of_which_one_place_was_edited_is_settled_at_none() -> None:
    item = make_item(omni="b = 1\n", chosen="b = 2\n")
    for first, second in (("b = 2\n", "b = 3\n"), ("b = 3\n", "b = 2\n")):
        with pytest.raises(InputError, match=r"R1: .*does not stand below its comment"):
            take_side(make_twice(COMMENT, first, second), item, "omni")


def test_only_the_comments_of_the_question_go() -> None:
    text = make_twice(COMMENT, "b = 2\n", "b = 2\n", between="    # runner-sync: review R2 too\n    c = 1\n")
    assert find_comments(keep_chosen(text, "R1")) == {"R2": 5}


@pytest.mark.parametrize(
    ("chosen", "between", "after"),
    [
        pytest.param("b = 2\n", "", "b = 1\n", id="directly below each other"),
        pytest.param("b = 2\n", "\n", "\nb = 1\n", id="a blank line between"),
        pytest.param("b = 2\n", "# note\n", "# note\nb = 1\n", id="a comment between"),
        pytest.param(
            "b = 2\n", "# runner-sync: review R2 too\n", "# runner-sync: review R2 too\nb = 1\n", id="another item"
        ),
        pytest.param("", "", "b = 1\nb = 2\n", id="something left out"),
        pytest.param("b = 2\n", "b = 2\n", "b = 1\nb = 1\n", id="code between: two places"),
        pytest.param("", "c = 1\n", "b = 1\nc = 1\nb = 1\nb = 2\n", id="left out at two places"),
        pytest.param("# note\n", "# note\n", "b = 1\nb = 1\nb = 2\n", id="two comments that were chosen"),
    ],
)
def test_two_comments_about_one_place_settle_it_once(chosen: str, between: str, after: str) -> None:
    """A merge by git may keep the comment of either branch; no line below goes twice."""
    item = make_item(omni="b = 1\n", chosen=chosen)
    rest = "# note\nb = 2\nc = 3\n" if chosen.startswith("#") else "b = 2\nc = 3\n"
    text = make_text(f"{COMMENT}{between}{COMMENT}{rest}")
    assert take_side(text, item, "omni") == make_text(f"{after}c = 3\n")


def test_two_comments_about_one_place_leave_no_rulers_around_nothing() -> None:
    ruler = "# ---- omni ----\n"
    text = make_text(f"{ruler}{COMMENT}{COMMENT}b = 2\n{ruler}c = 3\n")
    once = make_text(f"{ruler}{COMMENT}b = 2\n{ruler}c = 3\n")
    item = make_item(upstream="b = 2\n", chosen="b = 2\n")
    assert take_side(text, item, "omni") == take_side(once, item, "omni") == make_text("c = 3\n")


def test_a_part_of_the_chosen_text_is_no_code_from_another_place() -> None:
    """At either place the side is a part of what goes, at the other one too; elsewhere in the method, it is refused."""
    item = make_item(omni="b = 1\nc = 1\n", chosen="b = 1\nc = 1\nd()\n")
    passage = "b = 1\n    c = 1\n    d()\n"
    text = make_twice(COMMENT, passage, passage)
    half = "    b = 1\n    c = 1\n"
    assert take_side(text, item, "omni") == make_text(f"if a:\n{half}else:\n{half}")
    with pytest.raises(InputError, match="code from another place"):
        take_side(f"{text}        b = 1\n        c = 1\n", item, "omni")
