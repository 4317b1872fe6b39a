"""Omni blocks: their extent, whether markers enclose them, what they are called and which names they need."""

from __future__ import annotations

import pytest

from runner_sync.blocks import list_blocks
from runner_sync.errors import InputError
from runner_sync.model import Block, Unit

TEXT = '''import torch

class R:
    def run(self, batch):
        """Run."""
        size = len(batch)
        # -------- Omni-new: kv --------
        # [Omni] Send first. Then update.
        for item in batch:
            self.sent = self.manager.send(item, size)

        self.count += 1
        # ------------------------------
        out = self.model(size)

        # Keep the last output
        self.last = out
        return State(
            out,
            extra,  # Omni-specific: for the next step
        )

    def own(self, n):
        """What only omni does.

        More."""
        kept = [torch.zeros(i) for i in range(n)]
        return kept
'''
UNITS = (
    Unit("r.py", "import torch", "import", "import torch\n", 1, 1),
    Unit("r.py", "R.run", "method", "", 4, 21),
    Unit("r.py", "R.own", "method", "", 23, 28),
)


def listed(marked: set[int], omni: set[int] | None = None, text: str = TEXT) -> list[Block]:
    return list_blocks(text, path="r.py", marker="Omni-new", units=UNITS, marked=marked, omni_lines=omni)


def test_marked_lines_make_blocks_when_lineage_is_unknown() -> None:
    first, second = listed({*range(7, 14), 20})
    assert (first.unit, first.start, first.end, first.marked, first.label) == ("R.run", 7, 13, True, "kv Send first")
    assert first.text == "\n".join(TEXT.split("\n")[6:13]) + "\n"
    assert first.names_used == ("batch", "self.count", "self.manager", "size")
    assert first.names_defined == ("item", "self.count", "self.sent")
    assert (second.start, second.end, second.label) == (20, 20, "for the next step")
    assert (second.names_used, second.names_defined) == (("extra",), ())


@pytest.mark.parametrize(
    ("comment", "label"),
    [
        ("# runner-sync: review R1b25d0e8 both changed it", "Keep the last output"),
        ("# runner-sync: ignore[RS402] the CPU build only", "Keep the last output"),
        ("# what runner-sync left to us", "what runner-sync left to us"),
    ],
)
def test_a_comment_of_ours_is_not_what_a_block_is_for(comment: str, label: str) -> None:
    lines = TEXT.split("\n")
    at = next(number for number, line in enumerate(lines) if "Keep the last output" in line)
    text = "\n".join([*lines[:at], f"        {comment}", *lines[at:]])
    place = {number + 1 for number, line in enumerate(text.split("\n")) if "self.last" in line}
    (block,) = list_blocks(
        text, path="r.py", marker="Omni-new", units=(Unit("r.py", "R.run", "method", "", 4, 22),), omni_lines=place
    )
    assert block.label.startswith(label)


def test_lineage_decides_when_it_is_known() -> None:
    (block,) = listed({9, 10}, {17})
    assert (block.start, block.end, block.marked, block.label) == (17, 17, False, "Keep the last output")
    assert (block.names_used, block.names_defined) == (("out",), ("self.last",))
    assert listed({9, 10}, set()) == []


@pytest.mark.parametrize(
    ("omni", "spans"),
    [
        ({9, 10, 12}, [(9, 12)]),
        ({8, 9, 10, 11, 12, 13}, [(8, 13)]),
        ({6, 9}, [(6, 9)]),
        ({9, 10, 14}, [(9, 10), (14, 14)]),
        ({14, 15}, [(14, 14)]),
        ({7, 8, 11, 13}, []),
        ({1, 2}, []),
        ({17, 27}, [(17, 17), (27, 27)]),
    ],
    ids=["blank between", "comments around", "comments between", "code between", "blank at the end", "no code",
         "imports and blanks", "two units"],
)  # fmt: skip
def test_only_blank_and_comment_lines_are_bridged(omni: set[int], spans: list[tuple[int, int]]) -> None:
    assert [(block.start, block.end) for block in listed(set(), omni)] == spans


def test_marked_and_unmarked_lines_are_different_blocks() -> None:
    blocks = listed({9, 10}, {9, 10, 12})
    assert [(block.start, block.end, block.marked) for block in blocks] == [(9, 10, True), (12, 12, False)]


def test_a_whole_method_defines_its_own_name_only() -> None:
    (block,) = listed(set(), set(range(23, 29)))
    assert (block.names_used, block.names_defined) == (("torch",), ("own",))
    assert block.label == "What only omni does"


@pytest.mark.parametrize(
    ("code", "used", "defined"),
    [
        ("x = x + 1", ("x",), ("x",)),
        ("x = 1\n    y = x", (), ("x", "y")),
        ("x += 1", ("x",), ("x",)),
        ("from a.b import c as d", (), ("d",)),
        ("print(len(x))", ("x",), ()),
        ("y = [i for i in z]", ("z",), ("y",)),
        ("f = lambda a: a + b", ("b",), ("f",)),
        ("self.a.b.c = d.e", ("d", "self.a"), ()),
        ("return self", (), ()),
        ("if (n := f()) > 1: pass", ("f",), ("n",)),
        ("def g(p=q): return p + r", ("q", "r"), ("g",)),
        ("del x", ("x",), ()),
        ("global x; x = 1", (), ("x",)),
        ("match p:\n        case [a, *b] | {'k': a, **b}: pass", ("p",), ("a", "b")),
        ("try: p()\n    except E as e: pass", ("E", "p"), ("e",)),
    ],
)
def test_names(code: str, used: tuple[str, ...], defined: tuple[str, ...]) -> None:
    text = f"def f(self):\n    {code}\n"
    lines = text.count("\n")
    units = [Unit("r.py", "f", "function", text, 1, lines)]
    (block,) = list_blocks(text, path="r.py", marker="Omni-new", units=units, marked={*range(2, lines + 1)})
    assert (block.names_used, block.names_defined) == (used, defined)


@pytest.mark.parametrize(
    ("marked", "used", "defined"),
    [
        ({2}, ("A", "b"), ("x",)),
        ({2, 3, 4, 5, 6}, ("A", "b"), ("g", "x")),
        ({4, 5, 6}, ("x",), ("g",)),
        ({5}, ("x",), ("y",)),
        ({6}, ("y",), ()),
    ],
)
def test_names_in_a_part_of_a_function(marked: set[int], used: tuple[str, ...], defined: tuple[str, ...]) -> None:
    text = "def f(\n    x: A = b,\n):\n    def g():\n        y = x\n        return y\n    return g\n"
    (block,) = list_blocks(
        text, path="r.py", marker="Omni-new", units=[Unit("r.py", "f", "function", text, 1, 7)], marked=marked
    )
    assert (block.names_used, block.names_defined) == (used, defined)


def test_a_ruler_below_the_last_statement_of_a_method_belongs_to_it() -> None:
    text = "class R:\n    def own(self):\n        x = 1\n        # ----\n"
    (block,) = list_blocks(
        text, path="r.py", marker="Omni-new", units=[Unit("r.py", "R.own", "method", text, 2, 4)], marked={3, 4}
    )
    assert block.names_defined == ("x",)


def test_the_docstring_of_an_async_function_is_a_label() -> None:
    text = 'class R:\n    async def own(self):\n        """What only omni does."""\n        return 1\n'
    (block,) = list_blocks(
        text, path="r.py", marker="Omni-new", units=[Unit("r.py", "R.own", "method", text, 2, 4)], marked={2, 3, 4}
    )
    assert block.label == "What only omni does"


def test_text_that_does_not_parse_is_refused() -> None:
    with pytest.raises(InputError, match=r"r\.py:2: does not parse"):
        listed({1}, text="x = 1\ndef f(:\n")


@pytest.mark.parametrize(
    ("comment", "label", "said"),
    [
        ("# Acme-extra: keeps the payload", "Acme-extra", "keeps the payload"),
        ("# Acme: keeps the payload", "Acme-extra", "keeps the payload"),
        ("# ---------- Acme-extra (kv) ----------", "Acme-extra", "kv"),
        ("# ---------- Acme-extra keeps it ----------", "Acme-extra", "keeps it"),
        ("# Acme-extras keep the payload", "Acme-extra", "Acme-extras keep the payload"),
        ("# Omni-new: keeps the payload", "Acme-extra", "Omni-new: keeps the payload"),
        ("# ---------- payloads ----------", "Acme-extra", "payloads"),
        ("# as in Acme: it stays", "Acme-extra", "as in Acme: it stays"),
    ],
)
def test_the_label_is_what_a_marker_says_besides_its_own_label(comment: str, label: str, said: str) -> None:
    text = f"class R:\n    def run(self):\n        {comment}\n        return 1\n"
    unit = Unit("r.py", "R.run", "method", text, 2, 4)
    (block,) = list_blocks(text, path="r.py", units=[unit], marked={3, 4}, marker=label)
    assert block.label == said
