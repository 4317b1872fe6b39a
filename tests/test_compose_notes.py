"""Review comments: above the statement, once, and never changing what the code does."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest

from runner_sync.compose.notes import WORD, add_review_comments
from runner_sync.model import ReviewItem

TEXT = '''class Runner:
    @torch.no_grad()
    def run(self):
        x = f(
            1,
        )

        # About y.
        y = """a
        b"""
        if x:
            return y
'''


def item(line: int, *, end: int | None = None, name: str = "R1", reason: str = "why") -> ReviewItem:
    return ReviewItem(name, "Runner.run", "runner.py", line, end or line, reason, 0.5, "", "", "", "")


def noted(*items: ReviewItem, text: str = TEXT) -> tuple[list[str], list[ReviewItem]]:
    """``annotate``, run twice: the second run adds no comment."""
    made, placed = add_review_comments(text, list(items))
    assert ast.dump(ast.parse(made)) == ast.dump(ast.parse(text))
    assert add_review_comments(made, placed)[0] == made
    return made.split("\n"), placed


@pytest.mark.parametrize(
    ("line", "statement"),
    [
        pytest.param(4, "        x = f(", id="first line of a statement"),
        pytest.param(5, "        x = f(", id="inside a statement over lines"),
        pytest.param(9, '        y = """a', id="a statement with a string over lines"),
        pytest.param(10, '        y = """a', id="inside the string"),
        pytest.param(8, '        y = """a', id="a comment: the statement that it is about"),
        pytest.param(7, '        y = """a', id="a blank line: the next statement"),
        pytest.param(2, "    @torch.no_grad()", id="decorator"),
        pytest.param(3, "    @torch.no_grad()", id="head below its decorator"),
        pytest.param(12, "            return y", id="inside a suite"),
        pytest.param(1, "class Runner:", id="class"),
        pytest.param(99, "            return y", id="a line behind the end"),
    ],
)
def test_the_comment_stands_above_the_statement(line: int, statement: str) -> None:
    lines, (placed,) = noted(item(line))
    at = next(k for k, text in enumerate(lines) if WORD in text)
    indent = statement[: len(statement) - len(statement.lstrip())]
    assert lines[at] == f"{indent}{WORD} R1 why"
    assert lines[at + 1] == statement
    if line < 99:
        assert lines[placed.line - 1] == TEXT.split("\n")[line - 1]


def test_a_comment_about_what_ended_a_method_stands_in_it() -> None:
    """Behind the last statement of `__init__`, which went, stands a ruler; the comment stood above the next method."""
    text = "class Runner:\n    def run(self):\n        start()\n        # ---------- Omni-new ----------\n\n"
    text += "    def stop(self):\n        return\n"
    lines, _ = noted(item(4), text=text)
    assert [lines[at + 1].strip() for at, line in enumerate(lines) if WORD in line] == [
        "# ---------- Omni-new ----------"
    ]
    lines, _ = noted(item(5), text=text)
    assert [lines[at + 1].strip() for at, line in enumerate(lines) if WORD in line] == ["def stop(self):"]


BLOCK = """class Runner:
    def run(self):
        start()

        # ---------- Omni-new ----------
        # Before the states are updated.
        own()
        # ---------- Omni-new ----------
        # Update the states.
        update()
        text = '''
        # no comment
        '''
        end()

    # About both.
    def stop(self):
        pass
"""


@pytest.mark.parametrize(
    ("at", "below"),
    [
        pytest.param("own()", "# ---------- Omni-new ----------", id="in front of the block that follows"),
        pytest.param("update()", "# Update the states.", id="behind the end of a block"),
        pytest.param("end()", "end()", id="behind a string with a line like a comment"),
        pytest.param("def stop(self):", "def stop(self):", id="at a method"),
    ],
)
def test_what_was_left_out_comes_between_no_comment_and_its_statement(at: str, below: str) -> None:
    stripped = [line.strip() for line in BLOCK.split("\n")]
    lines, (placed,) = noted(replace(item(stripped.index(at) + 1), upstream="begin()"), text=BLOCK)
    note = next(k for k, line in enumerate(lines) if WORD in line)
    assert lines[note + 1].strip() == below
    assert lines[placed.line - 1].strip() == at


@pytest.mark.parametrize("at", ["own()", "update()"])
def test_what_was_chosen_stands_directly_below(at: str) -> None:
    stripped = [line.strip() for line in BLOCK.split("\n")]
    lines, _ = noted(replace(item(stripped.index(at) + 1), upstream=at, chosen=at), text=BLOCK)
    note = next(k for k, line in enumerate(lines) if WORD in line)
    assert lines[note + 1].strip() == at


NOTED = """class Runner:
    def run(self):
        start()
        # The length, and not the count, because
        # it excludes placeholders.
        rows = self.length
        text = '''
        # no comment
        '''
        # ---------- Omni-new ----------
        own()
        # ---------- Omni-new ----------
        end()
"""


@pytest.mark.parametrize(
    ("at", "chosen", "below"),
    [
        pytest.param(
            "# The length, and not the count, because",
            "# The length, and not the count, because\n# it excludes placeholders.\nrows = self.length",
            "# The length, and not the count, because",
            id="a comment that came with its statement",
        ),
        pytest.param("rows = self.length", "rows = self.length", "rows = self.length", id="the statement alone"),
        pytest.param(
            "# it excludes placeholders.", "rows = self.length", "rows = self.length", id="a comment that was there"
        ),
        pytest.param("# no comment", "# no comment", "own()", id="a line of a string"),
        pytest.param(
            "# ---------- Omni-new ----------", "# ---------- Omni-new ----------\nown()", "own()", id="a ruler"
        ),
    ],
)
def test_the_comment_stands_above_the_comment_that_was_chosen(at: str, chosen: str, below: str) -> None:
    """The four lines on ``seq_len`` of vllm-omni 0.20.0 stood above the review of the statement that they are about."""
    stripped = [line.strip() for line in NOTED.split("\n")]
    lines, (placed,) = noted(replace(item(stripped.index(at) + 1), chosen=chosen), text=NOTED)
    note = next(k for k, line in enumerate(lines) if WORD in line)
    assert lines[note + 1].strip() == below
    assert lines[placed.line - 1].strip() == at


@pytest.mark.parametrize(
    ("line", "texts", "below"),
    [
        pytest.param(12, {"omni": "noted()"}, "# ---------- Omni-new ----------", id="the end of the block went"),
        pytest.param(12, {"upstream": "more()"}, "# ---------- Omni-new ----------", id="more of it did not come"),
        pytest.param(13, {"omni": "noted()"}, "end()", id="what stood behind the block"),
        pytest.param(12, {"omni": "end()", "chosen": "end()"}, "end()", id="something stands there"),
        pytest.param(10, {"omni": "noted()"}, "own()", id="in front of the block"),
    ],
)
def test_what_was_the_end_of_a_block_is_told_within_it(line: int, texts: dict[str, str], below: str) -> None:
    """A log statement of vllm-omni 0.16.0 went from a block, and the review stood below the ruler that closes it."""
    lines, _ = noted(replace(item(line), **texts), text=NOTED)
    note = next(k for k, text in enumerate(lines) if WORD in text)
    assert lines[note + 1].strip() == below
    if below.startswith("#"):
        assert lines[note - 1].strip() == "own()"


def test_lines_of_all_items_move_with_the_text() -> None:
    lines, placed = noted(item(4, end=6, name="R1"), item(9, end=10, name="R2"), item(12, name="R3"))
    spans = [(lines[p.line - 1].strip(), lines[p.end_line - 1].strip()) for p in placed]
    assert spans == [("x = f(", ")"), ('y = """a', 'b"""'), ("return y", "return y")]


def test_two_items_of_one_statement_get_a_comment_each() -> None:
    lines, _ = noted(item(4, name="R1"), item(5, name="R2", reason="also"))
    assert [line.strip() for line in lines if WORD in line] == [f"{WORD} R1 why", f"{WORD} R2 also"]


def test_one_item_twice_gets_one_comment() -> None:
    lines, _ = noted(item(4), item(4))
    assert sum(WORD in line for line in lines) == 1


@pytest.mark.parametrize(
    "items",
    [
        pytest.param((), id="nothing to review"),
        pytest.param((replace(item(4), in_file=False),), id="nothing was written"),
    ],
)
def test_noop(items: tuple[ReviewItem, ...]) -> None:
    assert noted(*items) == (TEXT.split("\n"), list(items))


def test_an_id_that_begins_like_another_has_its_own_comment() -> None:
    text = f"{WORD} R12 why\na = 1\nb = 2\n"
    lines, _ = noted(replace(item(3, name="R1"), unit="b"), text=text)
    assert lines == [f"{WORD} R12 why", "a = 1", f"{WORD} R1 why", "b = 2", ""]


@pytest.mark.parametrize(
    ("unit", "comment"),
    [
        pytest.param("Runner._update_states", "_update_states: why", id="a member that the file does not have"),
        pytest.param("Other.run", "run: why", id="a member of another class goes by a name that this one has, too"),
        pytest.param("Gone", "Gone: why", id="a definition that is gone"),
        pytest.param("Runner", "why", id="the class itself"),
        pytest.param("Runner.run", "why", id="a member that it has"),
        pytest.param("Runner.limit", "why", id="a field that it has"),
        pytest.param("Runner.size", "why", id="a declaration that it has"),
        pytest.param("LIMIT", "why", id="a constant that it has"),
    ],
)
def test_a_comment_away_from_what_it_is_about_names_it(unit: str, comment: str) -> None:
    text = "LIMIT = 1\n\n\nclass Runner:\n    limit = LIMIT\n    size: int\n\n    def run(self):\n        pass\n"
    lines, (placed,) = noted(replace(item(4), unit=unit), text=text)
    assert lines[3:5] == [f"{WORD} R1 {comment}", "class Runner:"]
    assert placed.reason == "why"


def test_statements_that_share_a_line_share_the_place_above_it() -> None:
    text = "a = 1; b = (\n    2\n)\n"
    lines, _ = noted(replace(item(2), unit="a"), text=text)
    assert lines == [f"{WORD} R1 why", *text.split("\n")]


UNPROVEN = "ported from the GPU runner; this new code has not run on this platform yet"
OF_NOTE = "; this stands twice here now: once too much?"


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        pytest.param(UNPROVEN, UNPROVEN, id="it fits"),
        pytest.param(
            UNPROVEN.replace("this new code has", "some of these lines have"),
            "ported from the GPU runner; some of these lines have not run here yet",
            id="it fits in fewer words",
        ),
        pytest.param(f"{UNPROVEN}{OF_NOTE}", f"ported from the GPU runner{OF_NOTE}", id="more is said of it"),
        pytest.param("x" * 100, "x" * 78 + "…", id="nothing can be left out"),
    ],
)
def test_what_is_said_of_one_item_alone_is_the_last_to_be_cut(reason: str, said: str) -> None:
    """Of 47 comments of one upgrade 28 ended before what sets them apart from the next."""
    lines, (placed,) = noted(replace(item(4, reason=reason), id="R" + "1" * 9))
    assert f"        {WORD} R111111111 {said}" in lines
    assert placed.reason == reason


@pytest.mark.parametrize("reason", ["two\nlines", "a\\", "x = 1\nimport os"])
def test_a_reason_never_becomes_code(reason: str) -> None:
    made, _ = add_review_comments("a = 1\n", [item(1, reason=reason)])
    assert ast.dump(ast.parse(made)) == ast.dump(ast.parse("a = 1\n"))


@pytest.mark.parametrize(
    ("reason", "texts", "comment"),
    [
        pytest.param("why", {"upstream": "begin()"}, "left out: why", id="nothing of it is here"),
        pytest.param("left out: why", {"upstream": "begin()"}, "left out: why", id="the reason says so"),
        pytest.param(
            "it stands where it did", {"upstream": "begin()"}, "it stands where it did", id="it is at another place"
        ),
        pytest.param(
            "2 passages were left out", {"upstream": "begin()"}, "2 passages were left out", id="in its words"
        ),
        pytest.param("why", {"upstream": "begin()", "chosen": "begin()"}, "why", id="it came"),
        pytest.param("why", {"upstream": "begin()", "omni": "start()"}, "why", id="omni has another one, elsewhere"),
        pytest.param("why", {"base": "begin()"}, "why", id="something went"),
    ],
)
def test_a_comment_on_what_did_not_come_says_so(reason: str, texts: dict[str, str], comment: str) -> None:
    lines, (placed,) = noted(replace(item(4, reason=reason), **texts))
    assert f"        {WORD} R1 {comment}" in lines
    assert placed.reason == reason
