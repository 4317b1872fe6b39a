"""A local of one name that both sides set anew: a question if code of one side may read the other side's value."""

from __future__ import annotations

from textwrap import indent

import pytest

from runner_sync.merge import PORT, Merged, merge
from runner_sync.model import Triple

BASE = """\
out = self.begin(rows)
self.prepare(out)
self.update(out)
self.finish(out)
return out"""


def put(text: str, **added: str) -> str:
    """``text`` with code behind the call of each method named."""
    for method, code in added.items():
        line = next(line for line in text.split("\n") if f"self.{method}(" in line)
        assert code
        text = text.replace(line, f"{line}\n{code}")
    return text


def merged(omni: str, upstream: str, base: str = BASE) -> Merged:
    return merge(Triple(*(f"def step(self, rows, n):\n{indent(text, '    ')}\n" for text in (base, omni, upstream))))


def asked(result: Merged) -> list[tuple[str, tuple[str, ...], str, str]]:
    reasons = ((one.reason, one.chosen) for one in result.decisions)
    return [
        (reason.kind, reason.names, reason.detail, chosen) for reason, chosen in reasons if reason.kind in (READS, SETS)
    ]


READS, SETS = "reads omni's local", "sets omni's local"

TIMED = put(BASE, begin="start = clock()", finish="self.times.add(clock() - start)")
OWN_LOOP = "for row in rows:\n    start = row.first\n    self.fill(start, row.last)"
SIZED = put(BASE, begin="size = self.measure(rows)", finish="self.tell(size)")
WIDE = "size = max(rows)\nself.widest = max(self.widest, size)"


@pytest.mark.parametrize(
    ("own", "setter"),
    [
        (OWN_LOOP, "start = row.first"),
        ("for start in rows:\n    self.fill(start)", "for start in rows"),
        ("with self.lock(rows) as start:\n    self.fill(start)", "with self.lock(rows) as start"),
        ("if (start := n.first) > 0:\n    self.fill(start)", "if (start := n.first) > 0"),
        ("start, last = n\nself.fill(start, last)", "start, last = n"),
        ("if n:\n    with self.lock:\n        start = 0\n        self.fill(start)", "start = 0"),
        ("start = 0\nfor row in rows:\n    start += row.size\n    self.fill(start)", "start = 0"),
        ("try:\n    start = 0\n    self.fill(start)\nexcept E:\n    return None", "start = 0"),
    ],
)
def test_what_upstream_newly_reads_is_asked_about_if_omni_sets_it_in_between(own: str, setter: str) -> None:
    result = merged(put(BASE, prepare=own), TIMED)
    assert own.split("\n")[0] in result.text
    assert asked(result) == [(READS, ("start",), setter, "self.times.add(clock() - start)")]


@pytest.mark.parametrize(
    ("new", "setter"),
    [
        (WIDE, "size = max(rows)"),
        ("for size in self.sizes:\n    self.note(size)", "for size in self.sizes:"),
        ("size, last = self.limits\nself.note(size, last)", "size, last = self.limits"),
        ("size = 0\nfor row in rows:\n    size += row.size\nself.note(size)", "size = 0"),
        ("if self.late:\n    size = 2\n    self.note(size)", "size = 2"),
    ],
)
def test_what_upstream_newly_sets_is_asked_about_if_omni_reads_its_own_later(new: str, setter: str) -> None:
    result = merged(SIZED, put(BASE, update=new))
    assert (SETS, ("size",), "self.tell(size)", setter) in asked(result)


def test_a_new_parameter_counts_as_set() -> None:
    base = f"def step(self, rows):\n{indent(BASE, '    ')}\n"
    upstream = base.replace("rows)", "rows, size)", 1).replace(
        "self.finish(out)", "self.finish(out)\n    self.cut(size)"
    )
    own = base.replace("    self.update(out)\n", "    size = rows.size\n    self.update(out)\n    self.tell(size)\n")
    assert [kind for kind, *_ in asked(merge(Triple(base, own, upstream)))] == [READS]


def test_a_port_asks_the_same() -> None:
    sides = (BASE, put(BASE, prepare=OWN_LOOP), TIMED)
    triple = Triple(*(f"def step(self, rows, n):\n{indent(text, '    ')}\n" for text in sides))
    assert [kind for kind, *_ in asked(merge(triple, policy=PORT))] == [READS]


def test_one_question_covers_several_reads_of_one_value() -> None:
    upstream = put(TIMED, update="self.note(start)")
    assert [chosen for *_, chosen in asked(merged(put(BASE, prepare=OWN_LOOP), upstream))] == ["self.note(start)"]


SHARED = "size = len(rows)\n" + put(BASE, finish="self.tell(size)")


def test_a_value_that_is_lost_to_code_of_all_is_asked_about() -> None:
    omni = put(SHARED, prepare="size = self.limit(n)")
    upstream = put(SHARED, update="size = self.longest")
    assert [(kind, text) for kind, *_, text in asked(merged(omni, upstream, SHARED))] == [(SETS, "size = self.longest")]


@pytest.mark.parametrize(
    ("omni", "upstream"),
    [
        pytest.param(put(BASE, prepare=OWN_LOOP.replace("start", "first")), TIMED, id="another name"),
        pytest.param(
            put(BASE, prepare="start = clock()\nself.fill(start)"),
            TIMED,
            id="both set the same value, one a second time",
        ),
        pytest.param(
            put(BASE, prepare="if n:\n    start = 0\n    self.fill(start)\n    return None"), TIMED, id="omni's returns"
        ),
        pytest.param(put(BASE, prepare="if n:\n    start = 0\n    raise self.error(start)"), TIMED, id="omni's raises"),
        pytest.param(
            put(BASE, prepare="self.fill([start for start in rows])"), TIMED, id="omni's is a comprehension's"
        ),
        pytest.param(put(BASE, prepare="self.fill(lambda start: start)"), TIMED, id="omni's is a lambda's"),
        pytest.param(
            put(BASE, prepare="def fill(rows):\n    start = rows[0]\n    return start"),
            TIMED,
            id="omni's is a function's",
        ),
        pytest.param(
            put(BASE, prepare=OWN_LOOP),
            put(TIMED, update="start = clock()"),
            id="upstream sets it again before it reads",
        ),
        pytest.param(put(SIZED, update="size = self.measure(out)"), put(BASE, prepare=WIDE), id="omni sets it again"),
        pytest.param(
            put(BASE, begin=OWN_LOOP), put(BASE, prepare=WIDE.replace("size", "start")), id="one after the other"
        ),
        pytest.param(
            put(BASE, prepare="for _ in rows:\n    self.fill(n)"),
            put(BASE, begin="_, last = n\nself.note(last)", finish="self.tell(_)"),
            id="a name for what is not used",
        ),
        pytest.param(
            put(BASE, prepare="start = 0\nself.fill(start)"), put(BASE, begin="start = clock()"), id="never read"
        ),
        pytest.param(put(BASE, prepare="self.start = 0"), TIMED, id="an attribute"),
        pytest.param(put(BASE, prepare="self.fill(start=0)"), TIMED, id="a keyword"),
        pytest.param(
            put(BASE, begin="if n:\n    size = 1\n    self.tell(size)\n    return None"),
            put(BASE, update=WIDE),
            id="on no path behind it",
        ),
    ],
)
def test_a_local_whose_readers_get_their_own_value_is_no_question(omni: str, upstream: str) -> None:
    assert not asked(merged(omni, upstream))


@pytest.mark.parametrize(
    ("omni", "upstream"),
    [
        pytest.param(
            put(SHARED, prepare="size = self.limit(size)"), put(SHARED, update="size = self.pad(size)"), id="one by one"
        ),
        pytest.param(
            put(SHARED, prepare="size = self.limit(n)"),
            put(SHARED, update="size = self.pad(size)"),
            id="of what omni sets",
        ),
        pytest.param(put(SHARED, prepare="size = self.limit(n)"), put(SHARED, update="size += 1"), id="added to"),
        pytest.param(
            put(SHARED, update="self.fill(size)"), put(SHARED, prepare="size = self.longest"), id="of the base's value"
        ),
        pytest.param(
            put(SHARED, prepare="size = self.limit(n)"),
            put(SHARED, update="if self.late:\n    size = self.longest"),
            id="in a case of its own",
        ),
    ],
)
def test_a_local_of_the_base_that_both_change_one_after_the_other_is_no_question(omni: str, upstream: str) -> None:
    result = merged(omni, upstream, SHARED)
    assert not asked(result)


def test_a_statement_that_upstream_moved_is_no_new_setter() -> None:
    base = put(SHARED, begin="size = self.first")
    omni = put(base, prepare="size = self.limit(n)\nself.fill(size)", update="self.fill(size)")
    upstream = put(SHARED, prepare="size = self.first")
    assert not asked(merged(omni, upstream, base))


NUMBERED = """\
n = len(rows)
self.begin(n)
self.prepare(n)
self.finish(n)
return n"""
PADDED = put(NUMBERED, begin="n = self.padded(rows)")
ANEW = "sets what omni reads"


def told(omni: str, upstream: str, base: str = NUMBERED) -> list[tuple[tuple[str, ...], str]]:
    return [
        (one.reason.names, one.reason.detail)
        for one in merged(omni, upstream, base).decisions
        if one.reason.kind == ANEW
    ]


@pytest.mark.parametrize("behind", ["begin", "prepare", "finish"])
def test_a_new_value_of_a_local_that_omnis_own_code_reads_is_a_question(behind: str) -> None:
    omni = put(NUMBERED, **{behind: "self.t.fill(rows[:n])"})
    assert told(omni, PADDED) == [(("n",), "self.t.fill(rows[:n])")]


@pytest.mark.parametrize(
    ("omni", "upstream"),
    [
        pytest.param(put(NUMBERED, finish="self.t.fill(rows)"), PADDED, id="omni's reads no local"),
        pytest.param("self.t.fill(rows)\n" + NUMBERED, PADDED, id="it stands in front"),
        pytest.param(
            put(NUMBERED, finish="self.t.fill(n)"), put(NUMBERED, begin="n = self.padded(n)"), id="from the old value"
        ),
        pytest.param(
            put(NUMBERED, finish="self.t.fill(n)"),
            NUMBERED.replace("n = len(rows)", "n = self.count(rows)"),
            id="in place of the old value",
        ),
        pytest.param(
            put(NUMBERED, finish="self.t.fill(n)"),
            put(NUMBERED, begin="if self.pads:\n    n = self.padded(rows)"),
            id="in some cases",
        ),
        pytest.param(put(NUMBERED, begin="n = 1\nself.t.fill(n)"), PADDED, id="omni's own value"),
        pytest.param(put(NUMBERED, finish="self.t.fill(m)"), put(NUMBERED, begin="m = 1"), id="no local of the base"),
    ],
)
def test_the_value_that_omnis_own_code_reads_is_no_new_one(omni: str, upstream: str) -> None:
    assert told(omni, upstream) == []
