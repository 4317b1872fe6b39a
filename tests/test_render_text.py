"""What a person sees at a terminal."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from render_samples import AR, BASE, EXECUTE, FINDINGS, GEN, INPUTS, REPORTS, REVIEWS, RULES, TWIN, UNITS
from rich.text import Text

from runner_sync.model import FileChange, Finding, Hunk, Report, ReviewItem, UnitReport
from runner_sync.render import render
from runner_sync.render.escape import one_line, visible
from runner_sync.render.fitting import cut_names
from runner_sync.render.summary import find_chosen_side, get_kind, summarize
from runner_sync.render.text import render_items

ANSI = re.compile("\x1b\\[[0-9;]*m")


def last_line(report: Report) -> str:
    return render(report, "text", width=400).rstrip("\n").split("\n")[-1]


REPLAY_SENTENCE = (
    "2 cases: mean effort_left 0.30, kept 0.20, recall 0.86, precision 0.93; 3 silent errors; "
    "1 of 2 outputs cannot be parsed."
)
LEFT = "of an earlier upgrade"
PORTED = "(2 with ports from the GPU twin)"
ONE = "Plan: 1 unit updated, 0 removed; 1 review item; 0 findings"
STAY = "GPU methods stay unported"
NAMED = (
    "(`runner-sync check --select RS203` tells which override what runs on GPU, as errors that `--baseline FILE` can "
    "accept)"
)
SETTLE = "still to be settled (`runner-sync check --select RS406`)"
SENTENCES = [
    ("written", REPORTS["upgrade"],
     f"Upgraded: 2 units updated, 1 added, 0 removed {PORTED}; 2 review items; 3 findings; 2 files written."),
    ("only planned", replace(REPORTS["upgrade"], summary={}),
     f"Plan: 2 units updated, 1 added, 0 removed {PORTED}; 2 review items; 3 findings."),
    ("not verified", Report("upgrade", INPUTS, UNITS[2:3], REVIEWS, summary={"unverified": 1}),
     "Plan: 0 units updated, 0 removed; 2 review items; not verified."),
    ("written, but there was nothing to write", Report("upgrade", INPUTS, UNITS[2:3], REVIEWS, summary={"written": 0}),
     "Wrote nothing: 0 units updated, 0 removed; 2 review items; 0 findings."),
    ("singular", Report("upgrade", INPUTS, UNITS[3:], REVIEWS[:1], FINDINGS[:1]),
     "Plan: 1 unit updated, 0 removed; 1 review item; 1 finding."),
    ("upgrade of nothing", Report("upgrade", INPUTS, UNITS[2:3]),
     "The unit looked at is in step with vllm-ascend 0.17.0rc1."),
    ("upgrade of nothing but a finding", Report("upgrade", INPUTS, UNITS[2:3], findings=FINDINGS[:1]),
     "Plan: 0 units updated, 0 removed; 0 review items; 1 finding."),
    ("GPU side only", Report("upgrade", INPUTS[:1], UNITS[2:3]), "The unit looked at is in step with the GPU runners."),
    ("GPU side only, with a vllm-ascend", Report("upgrade", INPUTS, UNITS[2:3], summary={"gpu_only": 1}),
     "The unit looked at is in step with the GPU runners."),
    ("an upgrade of what needs no port", Report("upgrade", INPUTS[:1], summary={"explained": 1}),
     "Nothing was ported; the notes say why."),
    ("units beside what needs no port", Report("upgrade", INPUTS[:1], UNITS[2:3], summary={"explained": 1}),
     "The unit looked at is in step with the GPU runners."),
    ("an upgrade that looks at no unit", Report("upgrade", INPUTS[:1]), "There is nothing to bring into step."),
    ("GPU methods that NPU goes without", Report("upgrade", INPUTS, UNITS[2:3], summary={"unported": 6}),
     f"The unit looked at is in step with vllm-ascend 0.17.0rc1; 6 {STAY}, named in a note {NAMED}."),
    ("some of them in questions", Report("upgrade", INPUTS, UNITS[3:], REVIEWS[:1],
            summary={"unported": 6, "unported_asked": 2}),
     f"{ONE}; 6 {STAY}, 2 asked about, 4 named in a note {NAMED}."),
    ("one of them, and new questions", Report("upgrade", INPUTS, UNITS[3:], REVIEWS[:1],
            summary={"unported": 1, "unported_asked": 1}),
     f"Plan: 1 unit updated, 0 removed; 1 review item; 0 findings; 1 GPU method stays unported, asked about {NAMED}."),
    ("comments of an earlier upgrade", Report("upgrade", INPUTS, UNITS[2:3], summary={"left_open": 30}),
     f"The unit looked at is in step with vllm-ascend 0.17.0rc1; 30 review comments {LEFT} are {SETTLE}."),
    ("and new questions", Report("upgrade", INPUTS, UNITS[3:], REVIEWS[:1], summary={"left_open": 1}),
     f"Plan: 1 unit updated, 0 removed; 1 review item; 0 findings; 1 review comment {LEFT} is {SETTLE}."),
    ("no comment left", Report("upgrade", INPUTS, UNITS[2:3], summary={"left_open": 0}),
     "The unit looked at is in step with vllm-ascend 0.17.0rc1."),
    ("check", REPORTS["check"], "Found 1 error, 1 warning, 1 info in 2 files."),
    ("clean check", Report("check", INPUTS), "No findings against vllm-ascend 0.17.0rc1."),
    ("check of what a baseline accepts", Report("check", INPUTS, summary={"accepted": 33, "ignored": 0}),
     "No findings against vllm-ascend 0.17.0rc1; 33 in the baseline."),
    ("check of more than that", Report("check", INPUTS, findings=FINDINGS[:1], summary={"accepted": 2, "ignored": 1}),
     "Found 1 warning in 1 file; 2 in the baseline; 1 ignored by a comment."),
    ("clean check from the lock", Report("check", INPUTS[:1]), "No findings."),
    ("clean verify", Report("verify", INPUTS), "Nothing breaks against vllm-ascend 0.17.0rc1."),
    (
        "verify with notes on inherited code",
        Report("verify", INPUTS, summary={"noted": 1}),
        "No findings against vllm-ascend 0.17.0rc1; the notes say what may fail besides.",
    ),
    ("blocks", REPORTS["blocks"], "2 blocks in 1 unit of 1 file; 1 marked, 1 not."),
    ("lock", REPORTS["lock"], "The base of 3 units is known; 1 of omni's own."),
    ("lock of a copy without base", Report("lock", INPUTS, (replace(UNITS[3], base=None),)),
     "The base of 0 units is known, 1 without one."),
    ("replay", REPORTS["replay"], REPLAY_SENTENCE),
    ("explain one line", Report("explain", INPUTS, (replace(UNITS[1], hunks=(Hunk(4, 4, "upstream", "x"),)),)),
     "1 line from upstream, 0 ported from GPU, 0 of omni's own."),
    ("explain one line of a unit without a twin",
     Report("explain", INPUTS, (replace(UNITS[1], gpu=None, ported=0, hunks=(Hunk(4, 4, "omni", ""),)),)),
     "0 lines from upstream, 1 of omni's own."),
    ("explain outside of units", Report("explain", INPUTS), "Nothing to explain here: no unit covers these lines."),
]  # fmt: skip


@pytest.mark.parametrize(("report", "expected"), [case[1:] for case in SENTENCES], ids=[case[0] for case in SENTENCES])
def test_closing_sentence(report: Report, expected: str) -> None:
    assert summarize(report) == expected
    assert last_line(report) == expected


def review(chosen: str, *, omni: str = "a\nb\n", upstream: str = "c\n") -> ReviewItem:
    return replace(REVIEWS[0], base="z\n", omni=omni, upstream=upstream, chosen=chosen)


@pytest.mark.parametrize(
    ("item", "side"),
    [
        (review("a\nb\n"), "omni"),
        (review("a\nb"), "omni"),
        (review("c\n"), "upstream"),
        (review("z\n"), "base"),
        (review("a\nb\nc\n"), "both"),
        (review(""), "nothing"),
        (review("a\nc\n"), "a merge"),
        (review("a\nb\nd\n", upstream=""), "a merge"),
        (replace(review("c\n"), from_gpu=True), "GPU twin"),
    ],
)
def test_chosen_side(item: ReviewItem, side: str) -> None:
    assert find_chosen_side(item) == side


def test_upgrade_lists_changed_units_and_counts_the_rest() -> None:
    text = render(REPORTS["upgrade"], "text", width=120)
    row = next(line for line in text.split("\n") if line.startswith("? .execute_model"))
    assert row.split() == ["?", ".execute_model", "copy", "0.14.0rc1", "inferred", "0.93", "34", "2", "51", "7", "2"]
    assert "1 unit unchanged." in text
    assert "__init__" not in text, "an unchanged unit has no row"


def test_a_file_with_two_classes_keeps_full_unit_names() -> None:
    units = (UNITS[0], replace(UNITS[1], unit="Other._sample"))
    text = render(Report("upgrade", INPUTS, units), "text", width=120)
    assert "? NPUARModelRunner.execute_model" in text
    assert "+ Other._sample" in text


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_tables_stay_within_the_width_and_lose_no_figure(width: int) -> None:
    long = replace(UNITS[0], unit="NPUARModelRunner._" + "very_long_name_" * 6, taken=12345)
    text = render(Report("upgrade", INPUTS, (long, UNITS[1])), "text", width=width)
    table = text.split("\n")[4:8]
    assert all(len(line) <= width for line in table), table
    if width >= 80:
        assert "12345" in text


def test_long_paths_stay_whole_in_places() -> None:
    text = render(REPORTS["check"], "text", width=40)
    assert f"RS301 {AR}:3:16" in text, "a place must be one word, to be clicked or copied"


def test_review_items_show_place_reason_side_and_confidence() -> None:
    text = render(REPORTS["upgrade"], "text")
    assert text.index("\nR2 ") < text.index("\nR10 "), "same line: ids in natural order"
    assert f"R10 {AR}:3  {EXECUTE}\n  review: Both sides changed" in text
    assert "took a merge, confidence 0.62" in text
    assert "took omni, confidence 0.30" in text
    assert "upstream | (nothing)" in text


def method(length: int, *, changed: int = 0) -> str:
    """A method with numbered lines; ``changed`` is the line that differs from the other revision."""
    return "\n".join(["def run(self):", *(f"    {'new' if n == changed else 'x'} = {n}" for n in range(1, length))])


HIDDEN = ReviewItem(
    "R7",
    EXECUTE,
    AR,
    3,
    3,
    "hidden",
    0.5,
    method(60),
    method(30, changed=1),
    method(60, changed=50),
    method(30, changed=1),
)


@pytest.mark.parametrize(
    ("omni", "last"),
    [
        (HIDDEN.omni, ["x = 11", "… 18 more lines"]),
        ("def run(self):\n    return 1", ["return 1"]),
        pytest.param(method(12), ["x = 11"], id="as long as is shown"),
    ],
)
def test_an_item_in_full_shows_the_change_and_how_a_long_method_that_stays_begins(omni: str, last: list[str]) -> None:
    text = render_items([replace(HIDDEN, omni=omni, chosen=omni)], in_full=True)
    lines = [line.partition("|")[2].strip() for line in text.split("\n")]
    assert lines[-len(last) :] == last
    start = lines.index("- x = 50")
    assert lines[start - 1 : start + 3] == ["x = 49", "- x = 50", "+ new = 50", "x = 51"]


@pytest.mark.parametrize("chosen", ["merged", HIDDEN.upstream])
def test_what_an_item_brings_in_is_shown_in_full(chosen: str) -> None:
    long = replace(HIDDEN, chosen=chosen)
    assert "more line" not in render_items([long], in_full=True)


def test_explain_shows_a_method_that_stays_in_full() -> None:
    assert "x = 29" in render(Report("explain", reviews=(HIDDEN,)), "text")


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_the_side_of_the_gpu_twin_is_called_so(form: str) -> None:
    items = tuple(replace(item, from_gpu=True, reason="why") for item in REVIEWS)
    text = render(Report("upgrade", reviews=items), form)
    assert "GPU twin" in text
    assert not re.search(r"(?m)(?:^ *|>)upstream(?: \||:|</h4>)", text)


@pytest.mark.parametrize("width", [80, 100, 200])
def test_heads_of_findings_fold_between_place_and_unit(width: int) -> None:
    lines = render(REPORTS["check"], "text", width=width).split("\n")
    head = next(number for number, line in enumerate(lines) if line.startswith("RS301"))
    one = f"RS301 {AR}:3:16  {EXECUTE}"
    assert lines[head] == one if len(one) <= width else lines[head : head + 2] == [f"RS301 {AR}:3:16", f"  {EXECUTE}"]


def caret_lines(finding: Finding, source: str, *, width: int = 100) -> list[str]:
    report = Report("check", findings=(finding,), changes=(FileChange(AR, source, source),))
    return [line for line in render(report, "text", width=width).split("\n") if re.match(r" +\d* \|", line)]


def finding(line: int, end_line: int, column: int = 0, end_column: int = 0) -> Finding:
    return Finding("RS301", "error", AR, line, end_line, "A.f", "g", "gone", column=column, end_column=end_column)


CARETS = [
    ("span", finding(1, 1, 5, 6), "x = g(1)\n", [" 1 | x = g(1)", "   |     ^"]),
    ("no columns: the whole statement", finding(1, 1), "  x = 1\n", [" 1 |   x = 1", "   |   ^^^^^"]),
    ("tabs", finding(1, 1, 2, 3), "\tg()\n", [" 1 |     g()", "   |     ^"]),
    ("wide characters", finding(1, 1, 6, 7), "'漢' + g\n", [" 1 | '漢' + g", "   |       ^"]),
    ("wide span", finding(1, 1, 2, 3), "'漢'\n", [" 1 | '漢'", "   |  ^^"]),
    ("an escape is wider than its character", finding(1, 1, 3, 4), "'\x1b'g\n", [" 1 | '\\x1b'g", "   |      ^"]),
    ("lines without columns", finding(1, 2), "a\nb\n", [" 1 | a", " 2 | b"]),
    ("span over lines", finding(1, 2, 3, 2), "f(a\n)\n", [" 1 | f(a", "   |   ^", " 2 | )", "   | ^"]),
    ("column behind the end", finding(1, 1, 91, 92), "x\n", [" 1 | x"]),
    ("line behind the end", finding(9, 9), "x\n", []),
    ("span to the end of a file that ends in a newline", finding(1, 9), "a\n", [" 1 | a"]),
    ("line zero", finding(0, 0), "x\n", []),
    ("start only: the word there", finding(1, 1, 5), "x = a.g(1)\n", [" 1 | x = a.g(1)", "   |     ^^^"]),
    ("start only, no word there", finding(1, 1, 4), "x =(1)\n", [" 1 | x =(1)", "   |    ^"]),
    ("start only of several lines", finding(1, 2, 1), "f(\n)\n", [" 1 | f(", "   | ^", " 2 | )"]),
    ("end before the start", finding(1, 1, 3, 2), "f(a)\n", [" 1 | f(a)", "   |   ^"]),
]


@pytest.mark.parametrize(
    ("item", "source", "expected"), [case[1:] for case in CARETS], ids=[case[0] for case in CARETS]
)
def test_source_line_and_caret(item: Finding, source: str, expected: list[str]) -> None:
    assert caret_lines(item, source) == expected


def test_a_long_line_is_cropped_around_the_point() -> None:
    source = "call(" + "a, " * 100 + "point, " + "b, " * 100 + ")\n"
    start = source.index("point")
    shown, caret = caret_lines(finding(1, 1, start + 1, start + 6), source, width=80)
    assert max(len(shown), len(caret)) <= 80
    assert shown[caret.index("^") : caret.rindex("^") + 1] == "point"


def test_findings_without_source_text_have_no_excerpt() -> None:
    text = render(REPORTS["verify"], "text")
    assert " | " not in text
    assert "RS301" in text


def test_a_patch_as_fix_is_shown_as_lines() -> None:
    fix = "@@ -1 +1 @@\n-a\n+b\n"
    text = render(Report("check", findings=(replace(FINDINGS[0], fix=fix),)), "text")
    assert "  fix:\n    @@ -1 +1 @@\n    -a\n    +b\n" in text


def test_causes_are_counted_most_frequent_first() -> None:
    text = render(REPORTS["upgrade"], "text")
    assert text.index("2 hunks  upstream  vllm-ascend 0.17.0rc1") < text.index("1 hunk  gpu")


def test_many_causes_are_cut_with_a_pointer_to_the_rest() -> None:
    hunks = tuple(Hunk(number, number, "upstream", f"commit {number}") for number in range(1, 31))
    unit = UnitReport(EXECUTE, AR, "copy", "updated", BASE, taken=30, hunks=hunks)
    assert "and 18 more causes (-o json lists all)" in render(Report("upgrade", INPUTS, (unit,)), "text")


@pytest.mark.parametrize("command", REPORTS)
def test_colour_only_when_asked_for(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # rich would look at these; `render` is told what to do and nothing else counts.
    for name in ("FORCE_COLOR", "COLORTERM", "TTY_COMPATIBLE"):
        monkeypatch.setenv(name, "1")
    plain = render(REPORTS[command], "text")
    monkeypatch.setenv("NO_COLOR", "1")
    coloured = render(REPORTS[command], "text", color=True)
    assert "\x1b" not in plain
    assert "\x1b" in coloured
    assert [line.rstrip() for line in ANSI.sub("", coloured).split("\n")] == plain.split("\n")


def test_one_rule_is_shown_whole_and_many_in_lines() -> None:
    assert "Import another." in render(Report("rule", rules=RULES[:1]), "text")
    lines = render(Report("rule", rules=RULES), "text").strip().split("\n")
    assert [line.split()[0] for line in lines] == ["RS203", "RS301"]
    assert "Import another." not in "\n".join(lines)


def test_replay_shows_the_largest_hunk_first() -> None:
    text = render(REPORTS["replay"], "text")
    assert text.index("3 lines only in what people released") < text.index("2 lines only in the tool's result")
    assert text.index("P2 ") < text.index("P10 "), "cases in natural order"


def test_replay_shows_as_many_hunks_as_it_is_given() -> None:
    report = REPORTS["replay"]
    hunks = tuple(replace(report.replay_hunks[0], path=f"runner_{number}.py") for number in range(12))
    text = render(replace(report, replay_hunks=hunks), "text")
    assert all(f"runner_{number}.py" in text for number in range(12))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("漢字 é ✓", "漢字 é ✓"),
        ("\x1b[31m", "\\x1b[31m"),
        ("\x9b31m", "\\x9b31m"),
        ("a\u202eb", "a\\u202eb"),
        ("a\u200bb", "a\\u200bb"),
        ("\U000e0041", "\\U000e0041"),
        ("\ud800", "\\ud800"),
        ("user\u3164", "user\\u3164"),
        ("a\u115f\u1160\uffa0b", "a\\u115f\\u1160\\uffa0b"),
        ("a\u034fb", "a\\u034fb"),
        ("a\ufe0f\U000e0101b", "a\\ufe0f\\U000e0101b"),
        ("\ufe0f", "\\ufe0f"),
        ("⚠\ufe0f\ufe0f a", "⚠\ufe0f\\ufe0f a"),
        ("⚠\ufe00 a", "⚠\\ufe00 a"),
        ("한글 ⚠\ufe0f e\u0301", "한글 ⚠\ufe0f e\u0301"),
        ("a\tb\nc", "a   b\nc"),
        ("a\rb", "a\\x0db"),
    ],
)
def test_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_one_line_joins_lines_and_keeps_control_characters_visible() -> None:
    assert one_line(" a\n\n  b\x0cc ") == "a b\\x0cc"


def test_long_sides_are_shown_from_where_they_differ() -> None:
    same = "".join(f"    a{k},\n" for k in range(9))
    omni, upstream = (f"call(\n{same}    {last},\n)\n" for last in "bc")
    item = replace(review(omni, omni=omni, upstream=upstream), base="")
    text = render(Report("upgrade", reviews=(item,)), "text")
    shown = [line.partition("|")[2].strip() for line in text.split("\n") if "|" in line]
    assert shown == [line for last in "bc" for line in ("… 8 lines alike", "a7,", "a8,", f"{last},", ")")]


def test_of_two_long_texts_what_changed_is_shown() -> None:
    """Side by side, a reader would have to look for it; what omni has is a third text, as far as it fits."""
    before = "".join(f"    step_{k}()\n" for k in range(40))
    after = before.replace("step_20()", "step_20(rows)").replace("    step_30()\n", "")
    item = replace(review("", omni="    own()\n", upstream=after), base=before, from_gpu=True)
    lines = [line.rstrip() for line in render(Report("upgrade", reviews=(item,)), "text").split("\n") if "|" in line]
    assert [line.partition("|")[0].strip() for line in lines if not line.strip().startswith("|")] == ["changes", "omni"]
    assert [line.partition("| ")[2] for line in lines] == [
        "…",
        "  step_19()",
        "- step_20()",
        "+ step_20(rows)",
        "  step_21()",
        "…",
        "  step_29()",
        "- step_30()",
        "  step_31()",
        "own()",
    ]


def test_two_long_texts_with_little_in_common_are_both_shown() -> None:
    sides = ["".join(f"{name}_{k}()\n" for k in range(20)) for name in ("old", "new")]
    text = render(
        Report("upgrade", reviews=(replace(review("", omni="own()", upstream=sides[1]), base=sides[0]),)), "text"
    )
    assert "old_0()" in text
    assert "new_0()" in text
    assert "changes" not in text


@pytest.mark.parametrize(
    ("base", "omni", "upstream", "chosen", "shown"),
    [
        ("", "", "note(a)", "note(a)", ["upstream | note(a)"]),
        ("", "", "note(a)", "", ["upstream | note(a)"]),
        ("", "keep(a)", "", "keep(a)", ["omni | keep(a)"]),
        ("note(a)", "", "note(b)", "", ["base | note(a)", "omni | (nothing)", "upstream | note(b)"]),
        ("note(a)", "note(b)", "", "note(b)", ["base | note(a)", "omni | note(b)", "upstream | (nothing)"]),
    ],
)
def test_the_sides_that_a_question_is_about_are_shown(
    base: str, omni: str, upstream: str, chosen: str, shown: list[str]
) -> None:
    """Whichever was taken; where the base has nothing either, a side without it has lost nothing."""
    item = replace(review(chosen, omni=omni, upstream=upstream), base=base)
    lines = [line.strip() for line in render(Report("upgrade", reviews=(item,)), "text").split("\n") if "|" in line]
    assert lines == shown


def test_of_what_was_left_out_more_is_shown_for_it_stands_nowhere_else() -> None:
    many = "".join(f"step({k})\n" for k in range(14))
    texts = [render(Report("upgrade", reviews=(review(chosen, upstream=many),)), "text") for chosen in ("", many)]
    assert ["step(11)" in text for text in texts] == [True, False]
    assert ["… 2 more lines" in text for text in texts] == [True, False]


def test_where_three_sides_differ_what_omni_has_is_shown_although_it_was_taken() -> None:
    item = replace(review("limit(omni)", omni="limit(omni)", upstream="limit(padded)"), base="limit()")
    shown = [line.strip() for line in render(Report("upgrade", reviews=(item,)), "text").split("\n") if "|" in line]
    assert shown == ["base | limit()", "omni | limit(omni)", "upstream | limit(padded)"]


def test_a_class_gives_way_before_its_member_in_a_narrow_table() -> None:
    units = [
        replace(UNITS[0], unit=f"{name}.execute_model") for name in ("NPUGenerationModelRunner", "NPUARModelRunner")
    ]
    text = render(Report("upgrade", units=tuple(units)), "text", width=80)
    assert re.search(r"^. NPU\w*…\.execute_model ", text, re.MULTILINE)


@pytest.mark.parametrize("width", [40, 60, 79])
def test_units_that_begin_or_end_alike_are_told_apart_on_a_narrow_terminal(width: int) -> None:
    """A name that is cut at its end is that of its neighbour, too."""
    ends = ("execute_model", "profile_run", "_request_needs_downstream_stage_payload")
    names = [f"{owner}.{end}" for owner in ("NPUGenerationModelRunner", "_AsyncNPUOutput") for end in ends]
    units = tuple(replace(UNITS[3], unit=name, gpu=TWIN) for name in names)
    text = render(Report("upgrade", units=units), "text", width=width)
    shown = re.findall(r"^~ (\S+)", text, re.MULTILINE)
    assert len(set(shown)) == len(names)
    assert any(name.endswith("….execute_model") for name in shown) == (width > 40)


def test_names_that_would_be_cut_alike_are_not_cut() -> None:
    names = [f"_begin_{middle:_^40}_end" for middle in "ab"]
    assert cut_names(names, 20) == names
    assert cut_names([names[0], Text(names[0]), "short"], 20) == [cut := "_begin___…_______end", Text(cut), "short"]


@pytest.mark.parametrize("width", [40, 60, 100])
def test_the_closing_sentence_keeps_to_the_width(width: int) -> None:
    lines = render(REPORTS["upgrade"], "text", width=width).split("\n\n")[-1].strip().split("\n")
    assert max(map(len, lines)) <= width
    assert " ".join(lines) == summarize(REPORTS["upgrade"])


@pytest.mark.parametrize("width", [40, 60, 79])
def test_a_narrow_table_breaks_no_word(width: int) -> None:
    """One line for a unit: the columns that matter less go first, and then the name is cut."""
    units = (replace(UNITS[1], unit=f"NPUARModelRunner._{'reanchor_' * 5}", outcome="added"), UNITS[0])
    lines = render(Report("upgrade", INPUTS, units=units), "text", width=width).split("\n")
    at = next(number for number, line in enumerate(lines) if line.startswith("+ "))
    head, before, row = lines[at - 3], lines[at - 1], lines[at]
    assert {"taken", "ported", "review"} <= set(head.split())
    assert re.search(r" \S+…\S+ ", row)
    assert "21" in row.split()
    assert before.startswith("? .execute_model ")
    assert max(map(len, (head, before, row))) <= width


def test_narrow_tables_of_the_other_commands_break_no_word_either() -> None:
    for command in ("lock", "blocks", "replay"):
        whole = set(render(REPORTS[command], "text", width=200).split())
        narrow = render(REPORTS[command], "text", width=50).split()
        assert [word for word in narrow if word not in whole and not word.endswith("…") and set(word) != {"─"}] == []


def test_without_a_vllm_ascend_a_unit_is_not_called_omnis_own() -> None:
    """Only its text would tell a copy from it; what is ported is omni's own in any case."""
    changed = replace(UNITS[0], kind="own")
    alone, whole = (Report("upgrade", INPUTS[:number], (changed,)) for number in (1, 2))
    assert [get_kind(changed, report) for report in (alone, whole)] == ["–", "own"]
    assert get_kind(replace(changed, outcome="added"), alone) == "own"
    assert [" own " in render(report, form) for report in (alone, whole) for form in ("text", "markdown")] == [
        False,
        False,
        True,
        True,
    ]


def test_the_head_of_a_column_stands_in_one_line_although_its_cells_are_short() -> None:
    """A unit that is only asked about, and was never copied from anything, has a dash for its base."""
    item = review("a", omni="", upstream="b")
    unit = replace(UNITS[2], unit=item.unit, outcome="review")
    text = render(Report("upgrade", units=(unit,), reviews=(item,)), "text", width=80)
    assert re.search(r"^ +unit +kind +base +taken ", text, re.MULTILINE)


@pytest.mark.parametrize("width", [80, 100])
def test_what_was_recorded_stands_in_one_line_per_unit(width: int) -> None:
    names = ("__init__", "_gather_runtime_additional_information")
    units = [
        UnitReport(
            f"OmniNPUModelRunner.{name}",
            AR,
            "override",
            "unchanged",
            replace(BASE, how="composite"),
            replace(TWIN, ref="0.29.0rc1", qualname=f"OmniGPUModelRunner.{name}"),
        )
        for name in names
    ]
    text = render(Report("lock", units=tuple(units)), "text", width=width)
    assert re.search(r"^\.__init__ +override +0\.14\.0rc1 composite 0\.93 +0\.29\.0rc1$", text, re.MULTILINE)
    assert max(map(len, text.split("\n"))) <= width


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_runners_without_gpu_twins_have_no_columns_for_them(form: str) -> None:
    """The GPU runners, which follow vLLM, have none; where one unit has, the others say that they have not."""
    alone = (replace(UNITS[3], gpu=None, ported=0),)
    for command in ("upgrade", "lock"):
        without, beside = (render(Report(command, units=units), form) for units in (alone, (*alone, UNITS[1])))
        assert ("ported" in without, "GPU" in without) == (False, False)
        assert "GPU" in beside
        assert ("ported" in beside) == (command == "upgrade" or form == "html")
    blocks = REPORTS["blocks"].blocks
    shown = [render(Report("blocks", blocks=given), form) for given in (blocks[1:2], blocks)]
    assert [bool(re.search(r"twin\b", text)) for text in shown] == [False, True]


def test_the_closing_sentence_names_commands_for_the_same_profile() -> None:
    report = replace(REPORTS["upgrade"], summary={"unported": 1, "unported_asked": 1, "left_open": 2})
    assert "`runner-sync check --select RS406`" in summarize(report)
    said = summarize(replace(report, profile="--profile gpu"))
    assert "`runner-sync check --profile gpu --select RS406`" in said
    assert "`runner-sync check --profile gpu --select RS203`" in said


def test_a_repeated_fix_is_printed_once_in_a_file() -> None:
    fix = "Settle it, then delete the comment; both sides are in the report of the upgrade that wrote it."
    one = replace(FINDINGS[0], path="a.py", line=3, end_line=3, fix=fix)
    rows = (one, replace(one, line=9, end_line=9), replace(one, line=12, end_line=12), replace(one, path="b.py"))
    report = Report("check", findings=rows)
    text = render(report, "text")
    assert [line for line in text.split("\n") if line.startswith("  fix: ")] == [
        "  fix: Settle it, then delete the comment; both sides are in the report of the upgrade that wrote",
        f"  fix: as for {one.code} in line 3",
        f"  fix: as for {one.code} in line 3",
        "  fix: Settle it, then delete the comment; both sides are in the report of the upgrade that wrote",
    ]
    assert render(report, "json").count(fix) == 4
    two = Report("check", findings=(one, replace(one, fix=f"{fix} Or not."), *rows[1:3]))
    assert "fix: as for" not in render(two, "text")  # which of the two in line 3?
    short = Report("check", findings=tuple(replace(row, fix="Delete it.") for row in rows))
    assert render(short, "text").count("fix: Delete it.") == 4


@pytest.mark.parametrize("width", [40, 60, 80])
def test_the_list_of_rules_fits_the_width(width: int) -> None:
    rule = replace(RULES[0], name="edited-outside-block", summary="a copied " + "word " * 15 + "end.")
    short = replace(RULES[1], summary="short.")
    lines = render(Report("rule", rules=(rule, short)), "text", width=width).rstrip("\n").split("\n")
    assert max(map(len, lines)) <= width
    assert f"{rule.code} edited-outside-block {rule.summary}" in " ".join(" ".join(lines).split())
    column = 2 if width < 60 else next(line.index("a copied") for line in lines if "a copied" in line)
    assert {len(line) - len(line.lstrip()) for line in lines if not line.startswith("RS")} == {column}


@pytest.mark.parametrize("width", [60, 80])
def test_the_text_of_a_rule_fits_the_width_and_its_examples_stay(width: int) -> None:
    example = "    with torch.cuda.device(0):\n        " + "x" * 100
    rule = replace(RULES[0], text="What: " + "word " * 30 + "\n" + "more " * 20 + f"\n\n{example}\n\nWhy: so.")
    lines = render(Report("rule", rules=(rule,)), "text", width=width).split("\n")
    assert set(example.split("\n")) <= set(lines)
    assert max(len(line) for line in lines if "x" * 9 not in line) <= width
    assert "Why: so." in lines


@pytest.mark.parametrize("width", [80, 90, 100, 110])
def test_a_comment_that_is_to_be_pasted_is_not_folded(width: int) -> None:
    comment = "# runner-sync: ignore[RS201:GPUARModelRunner._sample@1a2b3c4d5e6f] reason"
    told = replace(finding(1, 1), fix=f"`runner-sync upgrade --only A.f` ports the change; else `{comment}` above it.")
    text = render(Report("check", findings=(told,), changes=(FileChange(AR, "x\n", "x\n"),)), "text", width=width)
    assert sum(comment in line for line in text.split("\n")) == 1


def test_parts_of_a_question_stand_behind_it_and_a_repetition_only_says_where() -> None:
    first, last = replace(REVIEWS[0], part_of=""), replace(REVIEWS[1], line=90)
    part = replace(REVIEWS[1], id="R7", line=95, part_of=first.id)
    again = replace(first, id="R8", path=GEN, part_of=first.id)
    report = replace(REPORTS["upgrade"], reviews=(again, last, part, first))
    text = render(report, "text")
    places = [text.index(f"{identity} ") for identity in ("R10", "R7", "R8", "R2")]
    assert places == sorted(places)
    assert f"{part.reason}; part of R10" in text
    assert text.count("b += 1") == 1
    assert "review: the same as R10, with the same texts" in text
    assert "4 review items (2 questions)" in " ".join(text.split())
