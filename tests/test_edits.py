"""Edits at the places of a tree: laws over texts whose characters take one to four bytes, and what is refused."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner_sync.edits import Edit, Places, apply, lines_of, without_lines

LAW = settings(max_examples=150, derandomize=True, deadline=None, database=None)

NAMES = st.sampled_from(["a", "größe", "名", "𝑥"])
STRINGS = st.text(st.sampled_from("a é名😀\t\x0c\u2028#"), max_size=6).map(lambda text: f'"{text}"')
GAPS = st.sampled_from([" ", "\t", "  ", "\x0c", "\n\t", "  # é名\n "])
"""What may stand between the arguments of a call."""


@st.composite
def modules(draw: st.DrawFn) -> str:
    """Calls, one to a line or behind each other, at the top and under an ``if``."""
    lines = []
    for _ in range(draw(st.integers(1, 4))):
        arguments = draw(st.lists(st.one_of(NAMES, STRINGS), max_size=4))
        gap = draw(GAPS)
        call = f"{draw(NAMES)}({gap}{f',{gap}'.join(arguments)}{gap})"
        lines.append(draw(st.sampled_from(["", "if 1:\n\t", '"é"; ', "名 = "])) + call)
    return draw(st.sampled_from(["\n", "\n\n"])).join(lines)


def nodes(text: str) -> list[ast.expr]:
    return [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.expr)]


def edit_lists(text: str) -> st.SearchStrategy[list[Edit]]:
    """Edits that do not overlap, the first one of two at one place an insertion."""
    cuts = st.lists(st.integers(0, len(text)), max_size=8).map(sorted)
    return cuts.flatmap(
        lambda places: st.tuples(
            *(
                st.builds(Edit, st.just(start), st.just(end), st.text("xé名", max_size=3))
                for start, end in zip(places[::2], places[1::2], strict=False)
            )
        ).map(list)
    )


@LAW
@given(modules())
def test_a_node_stands_where_the_standard_library_finds_it(text: str) -> None:
    places = Places(text)
    for node in nodes(text):
        assert places.source(node) == ast.get_source_segment(text, node)


@LAW
@given(modules())
def test_lines_are_counted_as_the_parser_does(text: str) -> None:
    places = Places(text)
    for statement in ast.parse(text).body:
        start, end = places.line(statement.lineno)
        assert start <= places.start(statement) <= end
        assert "\n" not in text[start:end]
        assert text[end : end + 1] in ("", "\n")


@LAW
@given(st.text("aé名\n", max_size=12).flatmap(lambda text: st.tuples(st.just(text), edit_lists(text))))
def test_all_at_once_is_one_after_the_other_from_the_end(case: tuple[str, list[Edit]]) -> None:
    text, edits = case
    expected = text
    for edit in reversed(edits):
        expected = expected[: edit.start] + edit.text + expected[edit.end :]
    assert apply(text, edits) == expected


@LAW
@given(modules(), st.randoms())
def test_every_name_exchanged_is_the_tree_with_the_other_names(text: str, order: object) -> None:
    places = Places(text)
    edits = [places.instead_of(node, "𝑦名") for node in nodes(text) if isinstance(node, ast.Name)]
    order.shuffle(edits)  # type: ignore[attr-defined]
    wanted = ast.parse(text)
    for node in ast.walk(wanted):
        if isinstance(node, ast.Name):
            node.id = "y名"  # the parser reads names in their normal form
    assert ast.dump(ast.parse(apply(text, edits))) == ast.dump(wanted)


@LAW
@given(modules())
def test_edits_can_be_taken_back(text: str) -> None:
    for node in nodes(text):
        places = Places(text)
        made = apply(text, [places.before(node, "é("), places.behind(node, ")")])
        start, end = places.start(node), places.end(node)
        assert apply(made, [Edit(start, start + 2, ""), Edit(end + 2, end + 3, "")]) == text


def test_what_is_put_in_at_one_place_stands_in_the_order_given_before_what_replaces() -> None:
    assert apply("ab", [Edit(1, 2, "c"), Edit(1, 1, "x"), Edit(1, 1, "y")]) == "axyc"


def test_nothing_to_do_leaves_the_text() -> None:
    assert apply("é\n", []) == "é\n"


@pytest.mark.parametrize(
    "edits",
    [
        pytest.param([Edit(0, 2, ""), Edit(1, 3, "")], id="two that overlap"),
        pytest.param([Edit(0, 3, ""), Edit(1, 1, "x")], id="one put into what another takes out"),
        pytest.param([Edit(1, 2, "x"), Edit(1, 2, "x")], id="the same one twice"),
        pytest.param([Edit(3, 4, "")], id="behind the end"),
        pytest.param([Edit(-1, 0, "")], id="before the beginning"),
        pytest.param([Edit(2, 1, "")], id="backwards"),
    ],
)
def test_edits_that_do_not_go_together_are_refused(edits: list[Edit]) -> None:
    with pytest.raises(ValueError, match="an edit of the characters"):
        apply("abc", edits)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("f(gone)", "f()", id="the only one"),
        pytest.param("f(gone, )", "f()", id="the only one, with a comma"),
        pytest.param("f(\n    gone,\n)", "f(\n)", id="the only one, on its line"),
        pytest.param("f(gone, a)", "f(a)", id="the first"),
        pytest.param("f(\n    gone,\n    a,\n)", "f(\n    a,\n)", id="the first, on its line"),
        pytest.param("f(a, gone, b)", "f(a, b)", id="between others"),
        pytest.param("f(a, gone)", "f(a)", id="the last"),
        pytest.param("f(\n    a,\n    gone,  # é\n)", "f(\n    a,\n)", id="with its comment"),
        pytest.param("f(\n    a,  # é\n    gone,\n)", "f(\n    a,  # é\n)", id="behind the comment of another one"),
    ],
)
def test_an_element_goes_with_the_comma_that_sets_it_apart(text: str, expected: str) -> None:
    (call,) = (node for node in nodes(text) if isinstance(node, ast.Call))
    gone = next(one for one in call.args if ast.unparse(one) == "gone")
    assert apply(text, [Places(text).element_out(gone, call.args)]) == expected


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [(1, 1, "a"), (2, 3, "  b\n"), (2, None, "  b\n\nc"), (4, 9, "c"), (3, 2, "")],
    ids=["one", "an empty last line", "to the end", "beyond the end", "none"],
)
def test_lines_are_taken_from_first_to_last(first: int, last: int | None, expected: str) -> None:
    assert lines_of("a\n  b\n\nc", first, last) == expected


@pytest.mark.parametrize(
    ("lines", "expected"),
    [({2}, "a\nc\n"), ({1, 3}, "b\n"), (set(), "a\nb\nc\n"), ({0, 9}, "a\nb\nc\n")],
    ids=["one", "two", "none", "no lines of the text"],
)
def test_lines_are_left_out(lines: set[int], expected: str) -> None:
    assert without_lines("a\nb\nc\n", lines) == expected
