"""What stands for one statement because of its place: a head by its suite, a return by the end of it, an argument by
its number; and what a side makes for the statement behind it."""

from __future__ import annotations

from textwrap import indent

import pytest

from runner_sync.merge import FOLLOW, PORT, Merged, align, merge
from runner_sync.merge.matching.classify import classify
from runner_sync.model import Triple
from runner_sync.statements import flatten

BASE = """def run(self, rows):
    extra = None
    if self.use_extra:
        rows, extra = rows
        self.note(rows)
    return rows, extra
"""
OTHER = ("self.use_extra", "self.drafter and self.kind == Kind.EAGLE")
EDITED = ("rows, extra = rows\n", "outputs, extra = outputs\n")


def merged(omni: tuple[str, str], upstream: tuple[str, str], *, base: str = BASE) -> Merged:
    """The merge of ``base`` with one exchange of text on each side."""
    assert omni[0] in base
    assert upstream[0] in base
    return merge(Triple(base, base.replace(*omni), base.replace(*upstream)))


@pytest.mark.parametrize(
    ("omni", "upstream"),
    [
        pytest.param(EDITED, OTHER, id="upstream has another condition"),
        pytest.param(OTHER, EDITED, id="omni has another condition"),
        pytest.param(
            ("        rows, extra = rows\n        self.note(rows)\n", "        outputs, extra = outputs\n"),
            OTHER,
            id="and omni has one other statement there, which sets the same",
        ),
    ],
)
def test_a_suite_under_another_condition_is_the_same_one(omni: tuple[str, str], upstream: tuple[str, str]) -> None:
    result = merged(omni, upstream)
    assert result.text == BASE.replace(*omni).replace(*upstream)
    assert result.decisions == ()


@pytest.mark.parametrize(
    ("omni", "upstream"),
    [
        pytest.param(EDITED, ("if self.use_extra", "while Kind.EAGLE"), id="it is a loop now"),
        pytest.param(
            EDITED,
            (
                "self.use_extra:\n        rows, extra = rows\n        self.note(rows)",
                "Kind.EAGLE:\n        rows = None",
            ),
            id="nothing of it is the same",
        ),
        pytest.param(
            OTHER,
            ("rows, extra = rows\n        self.note(rows)", "return self.handed_on()"),
            id="upstream has the head, and other code in it",
        ),
    ],
)
def test_what_is_less_than_the_same_suite_is_a_question(omni: tuple[str, str], upstream: tuple[str, str]) -> None:
    assert merged(omni, upstream).decisions


ENDS = """def run(self, rows):
    if not self.is_async:
        if self.debugger is not None:
            self.debugger.check(rows)
            self.debugger.stop()
        return output
    if self.debugger is not None:
        self.debugger.check(rows)
        self.debugger.stop()
    return self.later(output)
"""
SHORTER = """def run(self, rows):
    if self.debugger is not None:
        self.debugger.stop()
    if not self.is_async:
        return output
    return self.later(output)
"""


def test_a_return_that_omni_has_of_another_name_goes_where_upstream_has_it_now() -> None:
    """In front of this it came to stand under no condition at all, and what followed could never run."""
    result = merge(Triple(ENDS, ENDS.replace("return output", "return made"), SHORTER))
    assert result.text == SHORTER.replace("return output", "return made")


def test_a_return_that_both_exchanged_is_a_question() -> None:
    base = "def run(self):\n    rows = self.rows()\n    return rows\n"
    sides = [base.replace("return rows", f"return {made}") for made in ("self.packed(1)", "None, stage.width")]
    assert merge(Triple(base, *sides)).decisions


@pytest.mark.parametrize(
    ("base", "omni", "upstream", "expected"),
    [
        pytest.param("m, dict", "m, Mapping", "raw, Mapping", "raw, Mapping", id="one alike, one of upstream's"),
        pytest.param("m, n, dict", "m, k, dict", "raw, n, dict", "raw, k, dict", id="one of each"),
        pytest.param("a, b, kv, m", "a, None, kv, m", "a, b, m", "a, None, m", id="upstream took another one out"),
        pytest.param("a, b, m", "a, None, m", "a, b, kv, m", "a, None, kv, m", id="upstream put one in"),
    ],
)
def test_arguments_go_by_their_places(base: str, omni: str, upstream: str, expected: str) -> None:
    triple = Triple(*(f"kept = self.pack({arguments})\n" for arguments in (base, omni, upstream)))
    result = merge(triple)
    assert (result.text, result.decisions) == (f"kept = self.pack({expected})\n", ())


@pytest.mark.parametrize(
    ("base", "omni", "upstream"),
    [
        pytest.param("m, dict", "m, Mapping", "m, list", id="both exchanged it"),
        pytest.param("m, n", "m, k", "n, m", id="upstream has another order"),
        pytest.param("a, b, kv", "a, None, kv", "a, kv", id="upstream took out what omni exchanged"),
        pytest.param("rows, total, limit", "rows, stage, total", "rows, padded, limit", id="another place in omni"),
    ],
)
def test_arguments_whose_place_is_doubtful_are_a_question(base: str, omni: str, upstream: str) -> None:
    assert merge(Triple(*(f"kept = self.pack({arguments})\n" for arguments in (base, omni, upstream)))).decisions


@pytest.mark.parametrize(
    ("base", "omni", "upstream", "expected"),
    [
        pytest.param(
            "Output(ids=a, rows=b, names=n, pooled=[], cost=c)",
            "OmniOutput(ids=a, rows=b, names=n)",
            "Output(ids=a, rows=b, names=n, pooled=[], cost=c, **more)",
            "OmniOutput(ids=a, rows=b, names=n, **more)",
            id="a class of omni's, with less of them",
        ),
        pytest.param(
            "Output(ids=a, pooled=[], **old)",
            "Output(ids=a, own={}, **old)",
            "Output(ids=a, kv=b, pooled=[], cost=c)",
            "Output(ids=a, own={}, kv=b, cost=c)",
            id="what upstream took out and omni left alone goes",
        ),
    ],
)
def test_keywords_stand_for_themselves(base: str, omni: str, upstream: str, expected: str) -> None:
    result = merge(Triple(*(f"out = {call}\n" for call in (base, omni, upstream))))
    assert result.text == f"out = {expected}\n"
    assert [decision.reason.kind for decision in result.decisions] == ["keywords taken over"]


@pytest.mark.parametrize(
    ("omni", "upstream"),
    [
        pytest.param("Output(ids=a, pooled=rows, cost=c)", "Output(ids=a, kv=b, cost=d)", id="omni has another value"),
        pytest.param("attach(output)", "Output(ids=a, pooled=[], cost=d)", id="another call altogether"),
        pytest.param("OmniOutput(own=1, ids=a, rows=2)", "Output(ids=a, pooled=[], cost=d)", id="little in common"),
    ],
)
def test_keywords_of_another_call_are_not_taken_over(omni: str, upstream: str) -> None:
    result = merge(Triple("out = Output(ids=a, pooled=[], cost=c)\n", f"out = {omni}\n", f"out = {upstream}\n"))
    assert [decision.reason.kind for decision in result.decisions] != ["keywords taken over"]
    assert result.decisions


TAIL = """def run(self, rows):
    self.step(rows)
    return rows, rows
"""


@pytest.mark.parametrize(
    ("above", "below"), [("", ""), ("    # -- Omni-new --\n", "    # -----\n")], ids=["alone", "marked"]
)
def test_what_omni_makes_for_the_statement_behind_it_stands_directly_in_front_of_that(above: str, below: str) -> None:
    made = f"{above}    rows, _ = self.parts_of(rows)\n{below}    return rows\n"
    upstream = TAIL.replace("    return", "    self.finish_dump()\n    return")
    result = merge(Triple(TAIL, TAIL.replace("    return rows, rows\n", made), upstream))
    assert result.text == TAIL.replace("    return rows, rows\n", f"    self.finish_dump()\n{made}")


@pytest.mark.parametrize(
    "added", ["self.tell(rows)", "sizes = self.sizes_of(rows)"], ids=["it sets nothing", "nothing behind reads it"]
)
def test_other_additions_of_omnis_stay_in_front(added: str) -> None:
    omni = TAIL.replace("    return rows, rows\n", f"    {added}\n    return rows\n")
    upstream = TAIL.replace("    return", "    self.finish_dump()\n    return")
    assert merge(Triple(TAIL, omni, upstream)).text.index(added) < omni.index("    return")


MARK = "    # ---------------- Omni-new ----------------\n"
TOLD = "    for row in rows:\n        self.tell(row)\n"
OWN = "    return self.own(rows)\n"
DUMP = "    self.finish_dump()\n"


@pytest.mark.parametrize(
    ("omni", "merged"),
    [
        (f"{MARK}{TOLD}{OWN}{MARK}", f"{DUMP}{MARK}{TOLD}{OWN}{MARK}"),
        (f"{MARK}{TOLD}{MARK}{OWN}", f"{MARK}{TOLD}{MARK}{DUMP}{OWN}"),
        (f"{TOLD}{MARK}{OWN}{MARK}", f"{TOLD}{DUMP}{MARK}{OWN}{MARK}"),
        (f"{TOLD}{MARK}{OWN}", f"{TOLD}{MARK}{DUMP}{OWN}"),
    ],
    ids=["around what follows", "noop: in front of it", "noop: around that alone", "noop: without a second ruler"],
)
def test_what_upstream_adds_stands_in_no_marked_block_of_omnis(omni: str, merged: str) -> None:
    """It came between what omni does and the statement that omni has edited, both between its rulers."""
    sides = (TAIL.replace("    return rows, rows\n", text) for text in (omni, f"{DUMP}    return rows, rows\n", merged))
    omni, upstream, expected = sides
    assert merge(Triple(TAIL, omni, upstream)).text == expected


def test_a_head_keeps_the_words_that_omni_has_for_its_types() -> None:
    base = "@inference_mode\ndef run(self, rows: 'Rows | None') -> None:\n    pass\n"
    plain = base.replace("'Rows | None'", "Rows | None")
    assert merge(Triple(base, plain, base.replace("_mode", "_mode()"))).text == plain.replace("_mode", "_mode()")
    grown = base.replace(") ->", ", size: 'int' = 0) ->")
    assert merge(Triple(base, plain, grown)).text == plain.replace(") ->", ", size: 'int' = 0) ->")


def test_what_omni_adds_for_always_and_upstream_under_a_condition_stays_and_is_a_question() -> None:
    """It went under upstream's condition, and nothing was asked."""
    base = "def run(self, rows):\n    out = self.make(rows)\n    self.start(out)\n    return out\n"
    always = base.replace("    return", "    out.routed = self.route(rows)\n    return")
    sometimes = base.replace("    return", "    if self.routes:\n        out.routed = self.route(rows)\n    return")
    result = merge(Triple(base, always, sometimes))
    assert result.text == always
    assert [decision.reason.kind for decision in result.decisions] == ["both added under other conditions"]


def test_what_both_add_under_conditions_of_their_own_comes_once() -> None:
    base = "def run(self, rows):\n    out = self.make(rows)\n    self.start(out)\n    return out\n"
    sides = [
        base.replace("    return", f"    if {head}:\n        out.routed = self.route(rows)\n    return")
        for head in ("self.routes", "supports_routes(self.model)")
    ]
    assert merge(Triple(base, *sides)).text.count("self.route(rows)") == 1


@pytest.mark.parametrize(
    ("mine", "theirs", "count", "asked"),
    [
        pytest.param(
            "self.start_dump()",
            "self.start_dump(tokens=rows.tokens)",
            1,
            ["both added versions"],
            id="with more arguments",
        ),
        pytest.param(
            "self.start_dump(rows.ids)",
            "self.start_dump(tokens=self.tokens, n=1)",
            2,
            ["called by both"],
            id="with others",
        ),
        pytest.param("self.start_dump()", "self.start_dumps(tokens=rows.tokens)", 2, [], id="of another method"),
    ],
)
def test_a_call_that_both_add_comes_once(mine: str, theirs: str, count: int, asked: list[str]) -> None:
    base = "def run(self, rows):\n    out = self.make(rows)\n    return out\n"
    result = merge(Triple(base, *(base.replace("    return", f"    {call}\n    return") for call in (mine, theirs))))
    assert result.text.count("start_dump") == count
    assert theirs in result.text
    assert [decision.reason.kind for decision in result.decisions] == asked


RECORD = "class State(NamedTuple):\n    rows: Rows\n    stage: str | None\n"


@pytest.mark.parametrize("is_first", [True, False], ids=["the type of omni's", "the type of upstream's"])
def test_a_field_that_both_sides_declare_is_one_whatever_its_type(is_first: bool) -> None:
    """Found in vllm-omni 0.14.0: `cudagraph_stats: Any` is vLLM's field, older than the base, and stood twice."""
    types = ("Any", "Stats | dict[str, Stats] | None") if is_first else ("dict[str, Stats] | None", "Any")
    omni, upstream = (RECORD + f"    stats: {said}\n" for said in types)
    result = merge(Triple(RECORD, omni + "    outputs: Any\n", upstream + "    slots: list[Slot] | None\n"))
    assert result.text.count("stats: ") == 1
    assert "outputs: Any\n" in result.text
    assert "slots: list[Slot] | None\n" in result.text
    assert [item.reason.kind for item in result.decisions] == ["both added versions"]


def test_fields_of_two_names_are_two() -> None:
    omni, upstream = RECORD + "    stats: Any\n", RECORD + "    slots: Any\n"
    result = merge(Triple(RECORD, omni, upstream))
    assert "stats: Any\n" in result.text
    assert "slots: Any\n" in result.text


ENABLED = """def run(self, rows):
    self.pack(rows)
    self.check(rows)
    return rows
"""


def test_what_omni_reads_in_front_of_what_sets_it_stays_in_front() -> None:
    """Planted in vLLM 0.21.0: a block of omni's that sets what it asks for first went up before another reader."""
    own = "    self.note(enabled)\n    if enabled:\n        enabled = self.enable()\n"
    omni = ENABLED.replace("    self.check(rows)\n", f"{own}    self.check(rows)\n")
    upstream = ENABLED.replace("self.pack(rows)", "self.pack(rows, 1)")
    assert merge(Triple(ENABLED, omni, upstream)).text == omni.replace("self.pack(rows)", "self.pack(rows, 1)")


ASKED_TWICE = """def run(self):
    if self.is_traced_by_anybody:
        self.recorder.save(self.slots)
    output = Output(rows=self.rows)
    if not self.is_async:
        return output
    return self.later(output)
"""
MOVED = (
    ASKED_TWICE.replace("    if self.is_traced_by_anybody:\n        self.recorder.save(self.slots)\n", "")
    .replace("rows=self.rows", "rows=self.rows, trace=None")
    .replace("        return", "        if self.is_traced_by_anybody:\n            {inside}\n        return")
)


def test_a_condition_that_upstream_asks_for_something_else_is_another_one() -> None:
    upstream = MOVED.format(inside="output.trace = self.lists()")
    omni = ASKED_TWICE.replace("rows=self.rows)\n", "rows=self.rows, mine=1)\n    output.kept = self.kept\n")
    result = merge(Triple(ASKED_TWICE, omni, upstream))
    assert result.text == upstream.replace("trace=None)\n", "mine=1, trace=None)\n    output.kept = self.kept\n")


def test_a_condition_that_upstream_moved_with_what_is_in_it_is_the_same_one() -> None:
    upstream = MOVED.format(inside="self.recorder.save(self.slots)")
    omni = ASKED_TWICE.replace("        self.recorder", "        self.mine()\n        self.recorder")
    assert (
        "            self.mine()\n            self.recorder.save(self.slots)\n"
        in merge(Triple(ASKED_TWICE, omni, upstream)).text
    )


LONG = """def run(self, rows):
    device = rows.device
    if isinstance(device, Device) and device.is_gpu:
        self.place(rows)
        self.warm(rows)
        self.count(rows)
        if self.free < self.asked:
            raise Full(self.gib(rows))
    else:
        raise Unsupported(rows)
    self.model = make(rows)
"""
EDITED_THERE = ("raise Full(self.gib(rows))", "raise Full(gib_of(rows))")


def elsewhere(*left: str) -> str:
    """What upstream made of ``LONG``: another condition, of whose suite only some is ``left``."""
    gone = [f"        self.{name}(rows)\n" for name in ("place", "warm", "count") if name not in left]
    text = LONG.replace("    device = rows.device\n", "").replace(
        "isinstance(device, Device) and device.is_gpu", "self.config.kind == Kind.GPU"
    )
    for line in gone:
        text = text.replace(line, "")
    return text.replace(
        "        if self.free < self.asked:\n            raise Full(self.gib(rows))\n", "        self.log()\n"
    )


def test_nearly_the_same_suite_under_another_condition_is_the_same_one() -> None:
    upstream = elsewhere("place", "warm", "count")
    result = merge(Triple(LONG, LONG.replace(*EDITED_THERE), upstream))
    assert "device" not in result.text
    assert result.text.count("    if self.config.kind == Kind.GPU:\n        self.place(rows)\n") == 1


def test_a_suite_of_which_half_is_left_is_not_the_same_one_under_another_condition() -> None:
    assert has_one_head(LONG, elsewhere("place", "warm", "count"))
    assert not has_one_head(LONG, elsewhere("place", "warm"))


EMPTY = """def run(self, rows):
    if not rows:
        if self.outer == "launcher":
            self.dummy(1)
        if not has_group():
            return NOTHING
        return self.without(rows)
    self.go(rows)
"""
WHOLE = """def run(self, rows):
    if len(rows) <= 0:
        if self.outer == "launcher":
            self.dummy(1)
        ids = self.ids
        self.ids = None
        if not has_group():
            out = NOTHING
        else:
            out = self.without(rows)
        if ids:
            out = copy(out)
            out.ids = ids
        return self.attach(out)
    self.go(rows)
"""


@pytest.mark.parametrize(
    ("old", "new", "there", "now"),
    [
        pytest.param("if not rows:", "if not rows or self.idle:", "<= 0:", "<= 0 or self.idle:", id="the condition"),
        pytest.param(
            "            self.dummy(1)",
            "            self.sync()\n            self.dummy(1)",
            "            self.dummy(1)",
            "            self.sync()\n            self.dummy(1)",
            id="the block inside",
        ),
    ],
)
def test_a_condition_that_omni_words_otherwise_around_much_of_its_own_is_the_same_one(
    old: str, new: str, there: str, now: str
) -> None:
    """``if num_scheduled_tokens <= 0:`` of the AR runner since 0.26.0."""
    result = merge(Triple(EMPTY, WHOLE, EMPTY.replace(old, new)), policy=FOLLOW)
    assert result.text == WHOLE.replace(there, now)
    assert result.decisions == ()


@pytest.mark.parametrize(
    "omni",
    [
        pytest.param(WHOLE.replace("len(rows) <= 0", "self.is_idle"), id="it tests nothing of the old one"),
        pytest.param(
            WHOLE.replace("    if len", '    if self.outer == "launcher":\n        self.dummy(1)\n    if len').replace(
                '        if self.outer == "launcher":\n            self.dummy(1)\n', ""
            ),
            id="a part stands outside of it",
        ),
        pytest.param(
            "def run(self, rows):\n    if self.seen(rows):\n        self.note()\n        self.tell()\n"
            "        out = self.without(rows)\n    self.go(rows)\n",
            id="less than half of it",
        ),
    ],
)
def test_a_condition_with_less_in_common_is_another_one(omni: str) -> None:
    result = merge(Triple(EMPTY, omni, EMPTY.replace("if not rows:", "if not rows or self.idle:")), policy=FOLLOW)
    assert result.text == omni
    assert len(result.decisions) == 1


def has_one_head(left: str, right: str) -> bool:
    """Whether the condition of ``left`` has a partner."""
    nodes = flatten(left)
    return any(nodes[pair.left].canon.startswith("if ") for pair in align(nodes, flatten(right)))


REMARKED = """\
def run(self, out):
    flush(out)
    if self.pending:
        self.register(out)
    if self.ready:
        start(out)
    # If it is sparse, we need to copy the output to avoid
    # that the change has influence on the scheduler_output in engine core process.
    # To replace is much faster than deepcopy.
    if self.sparse:
        out = replace(out)
    return self.handed(out)
"""
REMARKED_HERE = """\
def run(self, out):
    flush(out)
    # self.rows is None when nothing fits.
    # use deepcopy to avoid that the change has influence on the
    # scheduler_output in engine core process.
    # TODO: deepcopy is expensive.
    if self.is_async and self.rows is None:
        out = deepcopy(out)
    return self.handed(out)
"""
COMMIT = "    if self.cache is not None:\n        self.cache.commit(out)\n"


def test_nothing_comes_between_the_lines_of_a_comment() -> None:
    upstream = REMARKED.replace("    if self.ready", f"{COMMIT}    if self.ready")
    result = merge(Triple(REMARKED, REMARKED_HERE, upstream), policy=PORT)
    assert result.text == REMARKED_HERE.replace("    # self.rows", f"{COMMIT}    # self.rows")


def test_a_ruler_goes_nowhere_with_a_comment_below_it() -> None:
    ruler = "    # ---------------- Omni-new ----------------\n"
    upstream = REMARKED.replace("    if self.ready", f"{COMMIT}    if self.ready")
    omni = REMARKED_HERE.replace("    # self.rows", f"{ruler}    # self.rows")
    result = merge(Triple(REMARKED, omni, upstream), policy=PORT)
    assert result.text == omni.replace("    # self.rows", f"{COMMIT}    # self.rows")


PREPARED = """\
def run(self, rows):
    with timed("prepare"):
        ids, positions = self.prepare(rows)
    return self.model(ids, positions)
"""
USES = """\
        # update global cos, sin
        update_cos_sin(positions)
"""
PREPARED_HERE = PREPARED.replace("    return", f"{USES}    return")
ADJUST = """\
    # Let the model adjust them.
    if hasattr(self.model, "adjust"):
        positions = self.model.adjust(positions)
"""
ADJUST_INSIDE = "".join(f"    {line}" for line in ADJUST.splitlines(keepends=True))


def adjusted(omni: str) -> str:
    upstream = PREPARED.replace("    return", f"{ADJUST}    return")
    return merge(Triple(PREPARED, omni, upstream), policy=PORT).text


def test_what_changes_a_value_comes_in_front_of_what_omni_reads_it_in() -> None:
    assert adjusted(PREPARED_HERE) == PREPARED.replace("    return", f"{ADJUST_INSIDE}{USES}    return")


def test_what_it_needs_comes_along() -> None:
    adjust = ADJUST.replace(
        "    if hasattr(self.model", "    adjust = self.model.adjust\n    if callable(adjust"
    ).replace(', "adjust"', "")
    upstream = PREPARED.replace("    return", f"{adjust}    return")
    inside = "".join(f"    {line}" for line in adjust.splitlines(keepends=True))
    result = merge(Triple(PREPARED, PREPARED_HERE, upstream), policy=PORT)
    assert result.text == PREPARED.replace("    return", f"{inside}{USES}    return")


@pytest.mark.parametrize(
    "uses",
    [
        pytest.param(USES.replace("positions", "ids"), id="another value is read"),
        pytest.param(USES.replace("update_cos_sin(", "positions = update_cos_sin("), id="it is set there, too"),
        pytest.param("", id="nothing is read"),
    ],
)
def test_what_changes_a_value_stays_behind_the_block_otherwise(uses: str) -> None:
    omni = PREPARED.replace("    return", f"{uses}    return")
    assert adjusted(omni) == omni.replace("    return", f"{ADJUST}    return")


def test_what_changes_a_value_goes_under_no_condition_and_is_asked_about() -> None:
    omni, base = (text.replace('with timed("prepare")', "if rows") for text in (PREPARED_HERE, PREPARED))
    upstream = base.replace("    return", f"{ADJUST}    return")
    result = merge(Triple(base, omni, upstream), policy=PORT)
    assert result.text == omni.replace("    return", f"{ADJUST}    return")
    (asked,) = result.decisions
    assert (asked.reason.kind, asked.reason.names) == ("set below its use", ("positions",))
    assert asked.chosen == "update_cos_sin(positions)"


OPEN = "with graph(rows, mode=self.mode, sizes=sizes), named('gpu'), self.sending(rows) as sent:\n"
OPENS = f"    {OPEN}        out = self.run(x)\n"
IN_TRY = f"    try:\n        {OPEN}"
OTHERWISE = (
    "    with named('npu'), graph(rows, mode=self.mode, model=self.model), self.sending(rows) as sent:\n"
    "        step(y)\n"
)


@pytest.mark.parametrize(
    ("upstream", "is_copy", "is_one"),
    [
        pytest.param(OPENS.replace("sending(rows)", "sending(rows, 1)"), False, True, id="upstream edits it"),
        pytest.param(
            IN_TRY + "            out = self.run(x)\n    finally:\n        close()\n", False, False, id="a block"
        ),
        pytest.param(
            IN_TRY + "            out = self.run(x)\n    finally:\n        close()\n", True, True, id="a copy"
        ),
    ],
)
def test_a_with_that_opens_the_same_is_one_unless_a_port_has_it_in_a_new_block(
    upstream: str, is_copy: bool, is_one: bool
) -> None:
    """`execute_model` of the GPU runner in vllm-omni 0.24.0 has its forward pass in a ``try``, with news inside."""
    sides = [flatten(f"def run(self, rows):\n{body}    return sent\n") for body in (OPENS, OTHERWISE, upstream)]
    weave = classify(*sides, is_copy=is_copy)
    opened = next(k for k, node in enumerate(weave.omni) if node.keyword == "with")
    assert (weave.of_omni[opened].base is not None) == is_one


TWIN_WITH = """def run(self, rows):
    with {entered}:
        if self.is_async:
            self.update(rows)
        self.start(rows)
        plan = self.plan(rows)
        out = self.preprocess(rows, plan)
        self.log(out)
    return out
"""
OWN_WITH = """def run(self, rows):
    with timed("input"):
        if self.is_async:
            self.update(rows)
        {opened}:
            self.start(rows)
            plan = self.plan(rows)
            self.sanitize(rows)
        out = self.preprocess(rows, plan)
        self.log(out)
    return out
"""


@pytest.mark.parametrize(
    ("entered", "opened", "is_inside"),
    [
        pytest.param('timed("prepare"), self.guard()', "with self.guard()", True, id="both enter it"),
        pytest.param('timed("prepare")', "with self.guard()", False, id="only omni enters it"),
        pytest.param('timed("prepare"), self.guard()', "with self.guard(), self.lock()", False, id="omni enters more"),
        pytest.param('timed("prepare"), self.guard()', "if self.guard()", False, id="a condition"),
    ],
)
def test_an_addition_stays_with_its_predecessor_in_a_context_that_both_enter(
    entered: str, opened: str, is_inside: bool
) -> None:
    """`synchronize_input_prep` in vllm-omni 0.22.0: one ``with`` of the GPU runner is two in the NPU runner, and the
    statements before and behind an addition stand in different ones."""
    base, omni = TWIN_WITH.format(entered=entered), OWN_WITH.format(opened=opened)
    upstream = base.replace("        out = ", "        self.extend(plan)\n        out = ")
    text = merge(Triple(base, omni, upstream), policy=PORT).text
    assert ("            self.extend(plan)\n" in text) == is_inside
    assert ("\n        self.extend(plan)\n" in text) != is_inside


FINISHED = """\
def run(self, rows):
    if self.state is not None:
        raise StateError("not sampled yet")
    self.start(rows)
    self.finish(rows)
    return rows
"""
TOLD = "    self.told_about(rows)\n"
LATER = "    if self.returns_rows:\n        self.clear_buffers()\n        self.finish(rows)\n"
DEEPER = f"    if self.is_last:\n{indent(LATER, '    ')}"
BOTH = "    if self.returns_rows:\n        self.start(rows)\n        self.finish(rows)\n"
SURE = "    self.begin()\n"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param(LATER, TOLD + LATER, id="under a condition"),
        pytest.param(DEEPER, TOLD + DEEPER, id="under two conditions"),
        pytest.param(SURE + LATER, SURE + TOLD + LATER, id="behind a statement of omni's"),
        pytest.param(
            BOTH, BOTH.replace("        self.finish", f"    {TOLD}        self.finish"), id="between two in it"
        ),
    ],
)
def test_a_port_comes_in_under_no_condition_that_only_omni_has_around_the_next_statement(
    given: str, expected: str
) -> None:
    """``recv_full_payload_inputs`` in vllm-omni 0.24.0: NPU lacks what the twin has in front of it, and has what
    stands behind it under ``enable_return_routed_experts``."""
    upstream = FINISHED.replace("    self.finish", f"{TOLD}    self.finish")
    omni, merged = (f"def run(self, rows):\n{body}    return rows\n" for body in (given, expected))
    assert merge(Triple(FINISHED, omni, upstream), policy=PORT).text == merged


def test_a_port_comes_in_under_a_condition_that_both_have() -> None:
    base, omni = (f"def run(self, rows):\n{body}    return rows\n" for body in (BOTH, LATER))
    upstream = base.replace("        self.finish", f"    {TOLD}        self.finish")
    merged = omni.replace("        self.finish", f"    {TOLD}        self.finish")
    assert merge(Triple(base, omni, upstream), policy=PORT).text == merged


def test_a_port_that_reads_what_omni_sets_under_the_condition_comes_in_behind_that() -> None:
    base = FINISHED.replace("    self.finish", "    plan = self.plan(rows)\n    self.finish")
    told = "    self.told_about(plan)\n"
    own = "    if self.returns_rows:\n        plan = self.sketch_for(rows, self.kind)\n        self.finish(rows)\n"
    omni, merged = (
        f"def run(self, rows):\n{body}    return rows\n"
        for body in (own, own.replace("        self.finish", f"    {told}        self.finish"))
    )
    upstream = base.replace("    self.finish", f"{told}    self.finish")
    assert merge(Triple(base, omni, upstream), policy=PORT).text == merged


CHECKED = """def run(self, rows):
    if self.has_rows():
        meta = rows.meta
        assert meta is not None
        self.handle(meta)
    return rows
"""
GUARDED = CHECKED.replace("assert meta is not None\n        ", "if meta is not None:\n            ")
ASSERTED = "assert meta is not None"


@pytest.mark.parametrize(
    ("check", "test"),
    [
        (ASSERTED, "meta is None"),
        (ASSERTED, "not (meta is not None)"),
        ('assert not meta.gone, "gone"', "meta.gone"),
        ("assert len(meta) <= self.most", "len(meta) > self.most"),
        ("assert meta", "not meta"),
    ],
)
def test_a_check_that_omni_dropped_does_not_come_back_as_an_error_raised(check: str, test: str) -> None:
    base = CHECKED.replace(ASSERTED, check)
    upstream = CHECKED.replace(ASSERTED, f'if {test}:\n            raise ValueError("no rows")')
    result = merge(Triple(base, GUARDED, upstream))
    assert result.text == GUARDED
    assert [(item.reason.kind, item.base) for item in result.decisions] == [("removed part changed", check)]
    back = merge(Triple(upstream, GUARDED, base))
    assert back.text == GUARDED
    assert [item.upstream for item in back.decisions] == [check]


RAISED = "if meta is None:\n            raise ValueError"


@pytest.mark.parametrize(
    ("omni", "new"),
    [
        pytest.param(GUARDED, RAISED.replace("is None", "is not None"), id="the same test"),
        pytest.param(GUARDED, RAISED.replace("raise", "self.fail()\n            raise"), id="it does more"),
        pytest.param(CHECKED.replace("rows\n", "rows, 1\n"), RAISED, id="omni kept it"),
    ],
)
def test_any_other_check_of_upstreams_comes_in(omni: str, new: str) -> None:
    assert new in merge(Triple(CHECKED, omni, CHECKED.replace(ASSERTED, new))).text
