"""Comments of both sides on one statement, and omni's on a statement that upstream removed or that moved."""

from __future__ import annotations

import textwrap

import pytest

from runner_sync.merge import merge
from runner_sync.model import Triple

BASE = "def run(self, rows):\n    plan = None\n    self.start()\n    self.stop()\n"
UNDER = "    with self.prepared():\n        self.start()\n"
LONG = (
    "    # run shares pinned buffers with execute_model. It must take part in the\n"
    "    # same protocol, or a step overwrites memory that a copy is still\n"
    "    # reading. Mirrors upstream gpu_model_runner._dummy_run.\n"
)
OWN = "    # Mirrors gpu_model_runner._dummy_run.\n"


def put(text: str) -> str:
    return BASE.replace("    self.start()\n", text)


def test_omnis_wording_stands_without_halves_of_upstreams_sentences() -> None:
    assert merge(Triple(BASE, put(OWN + UNDER), put(LONG + UNDER))).text == put(OWN + UNDER)


@pytest.mark.parametrize(
    "own",
    [
        pytest.param("", id="omni has none"),
        pytest.param(LONG, id="omni has the same"),
        pytest.param("    # [Omni] the talker needs its rows.\n", id="omni's is about something else"),
    ],
)
def test_noop_nothing_of_upstreams_is_lost(own: str) -> None:
    merged = merge(Triple(BASE, put(own + UNDER), put(LONG + UNDER)))
    assert LONG in merged.text
    assert own in merged.text
    assert merged.text.count(UNDER) == 1


GATHER = "    if self.has_sp and rows:\n        rows = self.gather(rows)\n\n"
REMARK = "    # NPU only: gather what sequence parallelism split\n"


def test_a_removed_block_with_a_comment_of_omnis_is_shown_whole() -> None:
    """Its head alone would not parse, and not show what went."""
    merged = merge(Triple(put(GATHER), put(REMARK + GATHER), put("")))
    assert "gather" not in merged.text
    (item,) = merged.decisions
    assert item.reason.kind == "remark removed"
    assert item.omni == textwrap.dedent(REMARK + GATHER).rstrip("\n")
    assert item.base == item.omni.partition("\n")[2]


def test_noop_what_stays_of_the_block_is_not_shown() -> None:
    inside = "    rows = self.gather(rows)\n\n"
    merged = merge(Triple(put(GATHER), put(REMARK + GATHER), put(inside)))
    assert merged.text.count("self.gather(rows)") == 1
    assert not any("self.gather(rows)" in item.omni for item in merged.decisions)


STEPPED = """def run(self, rows):
    with self.timed("forward"):
        if self.uses_aux:
            out, aux = out

    with self.timed("post"):
        # Apply masks
        self.state = State(rows, logits, kept, out, aux)
"""
OMNIS = """def run(self, rows):
    with self.timed("forward"):
        if self.uses_aux:
            outs, aux = outs

    _, own = self.extract(outs)
    # Apply masks
    self.state = State(rows, None, kept, outs, None, own)
"""
MOVED = """def run(self, rows):
    with self.timed("forward"):
        with self.context(rows):
            out = self.forward(rows)
    with self.timed("post"):
        if self.uses_aux:
            out, aux = out

        # Apply masks
        self.state = State(rows, logits, kept, common, out, aux)
"""


def find_above(text: str, line: str) -> str:
    """Return the line above ``line``, blank ones aside."""
    lines = [one.strip() for one in text.split("\n") if one.strip()]
    return lines[next(k for k, one in enumerate(lines) if one.startswith(line)) - 1]


def test_a_comment_of_both_sides_stays_above_its_statement_where_omnis_reader_is_put_in_front_of_that() -> None:
    """Omni's ``own`` is set under no suite, and read in upstream's new one: it goes in front of the reader."""
    merged = merge(Triple(STEPPED, OMNIS, MOVED)).text
    assert find_above(merged, "self.state") == "# Apply masks"
    assert find_above(merged, "# Apply masks") == "_, own = self.extract(outs)"


RULER = "# ---------- masks ----------"


@pytest.mark.parametrize(
    ("sides", "comment"),
    [
        pytest.param([side.replace("# Apply masks", RULER) for side in (STEPPED, OMNIS, MOVED)], RULER, id="a ruler"),
        pytest.param(
            [
                STEPPED,
                OMNIS,
                MOVED.replace("        # Apply masks\n", "        # Apply masks\n        self.mask(rows)\n"),
            ],
            "# Apply masks",
            id="upstream's is about another statement now",
        ),
    ],
)
def test_noop_such_a_comment_stays_in_front_of_omnis_statement(sides: list[str], comment: str) -> None:
    merged = merge(Triple(*sides)).text
    assert find_above(merged, "self.state") != comment
    assert merged.count(comment) == 1


@pytest.mark.parametrize(
    ("own", "new", "expected"),
    [
        pytest.param(["Own", "Apply masks"], ["Apply masks"], ["Own", "Apply masks"], id="a line of omni's above it"),
        pytest.param(["Apply masks", "Own"], ["Apply masks"], ["Apply masks", "Own"], id="a line of omni's below it"),
        pytest.param(["Apply masks"], ["New", "Apply masks"], ["New", "Apply masks"], id="a line of upstream's"),
    ],
)
def test_a_comment_of_both_sides_moves_with_the_lines_of_either(
    own: list[str], new: list[str], expected: list[str]
) -> None:
    omni, upstream = (
        side.replace(f"{blanks}# Apply masks\n", "".join(f"{blanks}# {line}\n" for line in lines))
        for side, blanks, lines in ((OMNIS, " " * 4, own), (MOVED, " " * 8, new))
    )
    lines = [line.strip() for line in merge(Triple(STEPPED, omni, upstream)).text.split("\n")]
    at = next(k for k, line in enumerate(lines) if line.startswith("self.state"))
    assert lines[at - len(expected) : at] == [f"# {line}" for line in expected]
    assert sum(line.startswith("#") for line in lines) == len(expected)
