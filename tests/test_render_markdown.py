"""Markdown as a reader's parser sees it: nothing of a source may become structure, a link, HTML or a mention."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token
from render_samples import AR, EXECUTE, FINDINGS, INPUTS, REPORTS, REVIEWS, poison

from runner_sync.model import Block, Report, ReviewItem
from runner_sync.render import github_summary, render
from runner_sync.render.escape import make_markdown_code, make_markdown_fence, make_markdown_text

PARSER = MarkdownIt("commonmark", {"html": True}).enable("table")


def flatten(text: str) -> list[Token]:
    tokens: list[Token] = []
    for token in PARSER.parse(text):
        tokens += [token, *(token.children or [])]
    return tokens


def words(text: str) -> str:
    """Return what a reader sees of ``text``."""
    return "".join(token.content for token in flatten(text) if token.type in ("text", "code_inline", "fence"))


ATTACKS = [
    "<script>alert(1)</script>",
    "<!-- hidden",
    "[l](javascript:z)",
    "![i](https://e.example/x.png)",
    "<https://e.example>",
    "https://e.example/track",
    "# head",
    "1. item",
    "2) item",
    "- item",
    "+ item",
    "---",
    "===",
    "> quote",
    "~~~",
    "```",
    "*a* _b_ **c**",
    "a\\",
    "&lt;b&gt;",
    "`open",
    "``",
    "a | b",
    "[x]: https://e.example",
    "a\n\nb",
    "    indented",
]
PLAIN = {"paragraph_open", "paragraph_close", "inline", "text", "code_inline", "html_inline"}


@pytest.mark.parametrize("attack", ATTACKS)
def test_prose_stays_prose(attack: str) -> None:
    tokens = flatten(make_markdown_text(attack))
    assert {token.type for token in tokens} <= PLAIN
    html = {token.content for token in tokens if token.type == "html_inline"}
    assert html <= {"<!-- -->"}, "our own mention breaker is the only markup"


@pytest.mark.parametrize("attack", [text for text in ATTACKS if "`" not in text])
def test_prose_reads_as_it_was(attack: str) -> None:
    assert words(make_markdown_text(attack)) == " ".join(attack.split())


@pytest.mark.parametrize("attack", [*ATTACKS, "a `b` ``c``", "`", "`a", " x ", "@team"])
def test_code_spans_hold_anything(attack: str) -> None:
    types = [token.type for token in flatten(make_markdown_code(attack))]
    assert types == ["paragraph_open", "inline", "code_inline", "paragraph_close"]
    assert words(make_markdown_code(attack)).strip() == " ".join(attack.split())


@pytest.mark.parametrize("attack", [*ATTACKS, "````\n# out", "~~~~"])
def test_fences_hold_anything(attack: str) -> None:
    tokens = flatten(make_markdown_fence(attack))
    assert [token.type for token in tokens] == ["fence"]
    assert tokens[0].content == attack.expandtabs(4).rstrip("\n") + "\n"


def test_code_spans_of_our_own_messages_survive() -> None:
    assert make_markdown_text("`g` takes no `mode=`, see _x_") == "`g` takes no `mode=`, see \\_x\\_"
    assert make_markdown_text("``dict[str, x]`` holds `a`") == "`dict[str, x]` holds `a`"
    assert make_markdown_text("a `` b") == "a \\`\\` b"


def test_nobody_is_mentioned() -> None:
    tokens = flatten(render(poison(REPORTS["upgrade"]), "markdown"))
    mentions = [token.content for token in tokens if token.type == "text" and re.search(r"@\w", token.content)]
    assert not mentions, "a name after @ outside code notifies its owner"


@pytest.mark.parametrize("command", [name for name in REPORTS if name != "rule"])
def test_hostile_reports_keep_the_structure(command: str) -> None:
    report = replace(REPORTS[command], notes=("a note",))
    kinds = []
    for item in (report, poison(report)):
        tokens = flatten(render(item, "markdown"))
        assert not [token for token in tokens if token.type in ("link_open", "image")]
        html = "".join(token.content for token in tokens if token.type.startswith("html"))
        assert "<script" not in html
        assert "<img" not in html
        kinds.append(
            [token.type for token in tokens if token.type in ("table_open", "tr_open", "td_open", "heading_open")]
        )
    # Paths are all alike in the hostile report, so its tables of several files merge: fewer headings, never more.
    assert len(kinds[1]) <= len(kinds[0])


@pytest.mark.parametrize("command", ["upgrade", "blocks", "lock", "explain", "replay"])
def test_hostile_cells_add_no_column(command: str) -> None:
    # Fenced sources hold a one-column rule, our tables have more.
    # A parser cuts surplus cells and fills missing ones, so bars are counted in the text itself.
    lines = render(poison(REPORTS[command]), "markdown").split("\n")
    rules = [number for number, line in enumerate(lines) if re.fullmatch(r"\|( --- \|){3,}", line)]
    assert rules, "there is a table"
    for rule in rules:
        columns = lines[rule].count("|")
        rows = [rule - 1]
        while lines[rows[-1]].startswith("|") or rows[-1] == rule:
            bars = len(re.findall(r"(?<!\\)\|", lines[rows[-1]]))
            assert bars == columns, lines[rows[-1]]
            rows.append(rows[-1] + 1)
        assert len(rows) > 3, "a head, a rule and at least one row"


def test_names_with_bars_stay_in_their_cell() -> None:
    block = Block(AR, EXECUTE, 1, 2, True, "either `a|b` or a | b", "", ("x|y",))
    row = next(line for line in render(Report("blocks", blocks=(block,)), "markdown").split("\n") if "1–2" in line)
    assert len(re.split(r"(?<!\\)\|", row)) == 7, row


def test_reference_page_lists_every_block_in_file_order() -> None:
    text = render(REPORTS["blocks"], "markdown")
    assert text.startswith("# ")
    assert f"## `{AR}`" in text
    assert text.index("| 40 | no ") < text.index("| 412–430 | yes ")
    assert "`self.kv`" in text
    assert "`G.execute`" in text


def test_a_comment_stays_below_the_limit_and_says_what_is_missing() -> None:
    many = tuple(replace(REVIEWS[0], id=f"R{number}", omni="漢" * 400 + "\n") for number in range(200))
    report = Report("upgrade", INPUTS, reviews=many)
    text = render(report, "markdown")
    assert len(text.encode()) < 65_536, "GitHub refuses longer comments"
    assert "left out" in text
    assert "<summary><b><code>R0</code>" in text
    assert "left out" not in github_summary(report), "a step summary has room for a mebibyte"


@pytest.mark.parametrize("letter", ["n", "漢"])
def test_long_notes_are_cut_and_leave_room_for_findings(letter: str) -> None:
    report = Report("check", findings=FINDINGS, notes=tuple(f"{number} {letter * 997}" for number in range(100)))
    text = render(report, "markdown")
    assert len(text.encode()) <= 60_000
    assert "\n- 0 " in text
    assert re.search(r"\n- _\d+ notes left out: ", text)
    assert all(finding.code in text for finding in FINDINGS)


@pytest.mark.parametrize(("command", "notes"), [("check", 29), ("upgrade", 40)])
def test_a_cut_report_is_within_the_limit_with_what_it_says_of_the_cut(command: str, notes: int) -> None:
    many = tuple(replace(FINDINGS[0], line=line, message="wrong " * 20) for line in range(1, 1000))
    said = tuple(f"{number} {'n' * 997}" for number in range(notes))
    text = render(Report(command, INPUTS, findings=many, notes=said), "markdown")
    assert 59_000 < len(text.encode()) <= 60_000
    assert re.search(r"\n\n_\d+ parts left out: ", text)
    assert ("notes left out" in text) == (notes > 29)


def test_notes_that_fit_all_stand() -> None:
    text = render(Report("check", notes=tuple(f"{number} {'n' * 997}" for number in range(25))), "markdown")
    assert text.count("n" * 997) == 25
    assert "left out" not in text


def test_a_reference_page_is_never_cut() -> None:
    blocks = tuple(Block(AR, EXECUTE, line, line, True, "purpose " * 20, "") for line in range(1, 2000))
    text = render(Report("blocks", blocks=blocks), "markdown")
    assert "| 1999 |" in text
    assert "left out" not in text


def test_review_item_shows_both_sides() -> None:
    text = render(REPORTS["upgrade"], "markdown")
    assert "confidence 0.62" in text
    for side in ("base:", "omni:", "upstream:", "chosen:", "upstream: nothing"):
        assert side in text


def test_findings_come_worst_first() -> None:
    text = render(REPORTS["check"], "markdown")
    assert text.index("RS301") < text.index("RS401") < text.index("RS101")


def test_a_fix_is_code_when_it_is_a_command_and_prose_when_it_is_advice() -> None:
    advice = replace(FINDINGS[0], fix="Unpack 8 values of `_f`.")
    text = render(Report("check", findings=(advice, FINDINGS[1])), "markdown")
    assert "Fix: Unpack 8 values of `_f`.\n" in text
    assert f"Fix: `{FINDINGS[1].fix}`\n" in text


def test_a_patch_is_fenced_inside_its_item() -> None:
    fix = "@@ -1 +1 @@\n-a\n+b\n"
    tokens = flatten(render(Report("check", findings=(replace(FINDINGS[0], fix=fix),)), "markdown"))
    fence = next(token for token in tokens if token.type == "fence")
    assert (fence.info, fence.content) == ("diff", fix)
    assert fence.level > 0, "the fence belongs to the list item"


LONG = "\n".join(f"x = {number}" for number in range(60))


@pytest.mark.parametrize(
    ("base", "upstream", "is_patch"),
    [
        pytest.param(LONG, LONG.replace("x = 50", "y = 50"), True, id="a change behind what fits"),
        pytest.param(LONG[:200], LONG[:200].replace("x = 3\n", "y = 3\n"), False, id="both fit"),
        pytest.param(LONG, LONG.replace("x", "y"), False, id="more changed than stayed"),
        pytest.param("", LONG, False, id="nothing to compare with"),
    ],
)
def test_sides_that_are_too_long_are_compared(base: str, upstream: str, is_patch: bool) -> None:
    """Cut at 40 lines, both sides of a long method looked the same."""
    item = ReviewItem("R1", "A.run", "a.py", 1, 1, "why", 0.5, base, "kept = 1", upstream, "kept = 1")
    text = render(Report("upgrade", reviews=(item,)), "markdown")
    assert ("changes:\n\n```diff\n" in text) is is_patch
    assert ("- x = 50\n+ y = 50\n" in text) is is_patch
    assert ("upstream:" in text) is not is_patch
    assert "omni:\n\n```python\nkept = 1\n```" in text
