"""Unpackings that follow a record, and tuples that only look like one."""

from __future__ import annotations

import ast

import pytest

from runner_sync.fitting.record import Record
from runner_sync.fitting.records import (
    find_used_fields,
    fit_next_use,
    is_constructing,
    read_fields,
    read_record,
)

NOW = ("output", "logits", "metadata", "common", "hidden", "positions", "stats")
STATE = {"State": Record(NOW, NOW)}
GROWN = {"State": Record(("output", "logits", "metadata", "hidden", "positions"), (*NOW, "step"), frozenset({"step"}))}


def method(target: str, value: str = "self.state") -> str:
    return f"    def sample(self):\n        {target} = {value}\n        return logits\n"


LINES = """(
            output,
            logits,
            metadata,
            hidden,  # [Omni]
            positions
        )"""

LINES_COMPLETE = """(
            output,
            logits,
            metadata,
            common,
            hidden,  # [Omni]
            positions,
            stats,
        )"""

FITTED = {
    "in between and behind": (
        "output, logits, metadata, hidden, positions",
        "output, logits, metadata, common, hidden, positions, stats",
    ),
    "in brackets": (
        "(output, logits, metadata, common, positions, stats)",
        "(output, logits, metadata, common, hidden, positions, stats)",
    ),
    "with a name that is not used": (
        "output, logits, _metadata, common, hidden, positions",
        "output, logits, _metadata, common, hidden, positions, stats",
    ),
    "on lines of their own": (LINES, LINES_COMPLETE),
    "behind one that a remark is about": (
        "(output, logits, metadata, common, hidden, positions  # [Omni]\n        )",
        "(output, logits, metadata, common, hidden, positions,  # [Omni]\n            stats,\n        )",
    ),
    "behind one with a comma and a remark": (
        "(output, logits, metadata, common, hidden, positions,  # [Omni]\n        )",
        "(output, logits, metadata, common, hidden, positions,  # [Omni]\n            stats,\n        )",
    ),
}

LEFT = {
    "complete": "output, logits, metadata, common, hidden, positions, stats",
    "another order": "logits, output, metadata, common, hidden",
    "another name": "output, logits, metadata, common, extra",
    "too few to tell": "output, logits, metadata",
    "with a star": "output, logits, metadata, common, *rest",
}


@pytest.mark.parametrize("name", FITTED)
def test_an_unpacking_takes_the_new_fields(name: str) -> None:
    before, after = FITTED[name]
    fitted = fit_next_use(method(before), STATE)
    assert fitted is not None
    assert fitted.text == method(after)
    assert fitted.reason.startswith("State now has ")
    assert fitted.statement.strip().startswith(after[:6])
    ast.parse("class _:\n" + fitted.text)
    assert fit_next_use(fitted.text, STATE) is None


@pytest.mark.parametrize("name", LEFT)
def test_other_tuples_are_left_alone(name: str) -> None:
    assert fit_next_use(method(LEFT[name]), STATE) is None


def test_only_attributes_of_self_are_records() -> None:
    assert fit_next_use(method("output, logits, metadata, common, hidden", "self.take_state()"), STATE) is None


def test_fields_of_a_record() -> None:
    text = "class State(NamedTuple):\n    'What is handed over.'\n    output: int\n    stats: int | None = None\n"
    assert read_fields(text, "State") == ("output", "stats")
    assert read_fields(text, "Other") == ()


BY_PLACE = {
    "a name of its own for one of them": (
        "output, logits, metadata, hidden_raw, positions",
        "output, logits, metadata, common, hidden_raw, positions, stats, step",
    ),
}


@pytest.mark.parametrize("name", BY_PLACE)
def test_an_unpacking_of_as_many_names_as_there_were_takes_the_new_fields(name: str) -> None:
    before, after = BY_PLACE[name]
    fitted = fit_next_use(method(before), GROWN)
    assert fitted is not None
    assert fitted.text == method(after)
    assert fit_next_use(fitted.text, GROWN) is None


NO_UNPACKING = {
    "other names": "a, b, c, d, e",
    "another number of names, one of them its own": "output, logits, metadata, hidden_raw",
}


@pytest.mark.parametrize("name", NO_UNPACKING)
def test_a_tuple_that_is_no_unpacking_of_what_the_record_was(name: str) -> None:
    assert fit_next_use(method(NO_UNPACKING[name]), GROWN) is None


MADE = {
    "none for a field in between, nothing for one that has a default": (
        "self.state = State(output, None, meta, hidden, positions)",
        "self.state = State(output, None, meta, None, hidden, positions, None)",
    ),
    "the local of that name": (
        "common = self.common()\n        self.state = State(output, None, meta, hidden, positions)",
        "common = self.common()\n        self.state = State(output, None, meta, common, hidden, positions, None)",
    ),
    "on lines of its own": (
        "self.state = State(\n    output,\n    None, meta,\n    hidden, self.at(\n1),\n)",
        "self.state = State(\n    output,\n    None, meta,\n    None,\n    hidden, self.at(\n1), None,\n)",
    ),
    "around values over two lines that take more bytes than characters": (
        "self.state = State(output, None, meta, at('ééééé',\n2), self.at(\n'éééééééééééééééé'))",
        "self.state = State(output, None, meta, None, at('ééééé',\n2), self.at(\n'éééééééééééééééé'), None)",
    ),
}


@pytest.mark.parametrize("name", MADE)
def test_what_makes_a_record_gives_the_new_fields(name: str) -> None:
    before, after = MADE[name]
    fitted = fit_next_use(f"    def run(self):\n        {before}\n", GROWN)
    assert fitted is not None
    assert fitted.text == f"    def run(self):\n        {after}\n"
    assert fitted.reason.startswith("State now has common, stats, passed here as")
    assert fit_next_use(fitted.text, GROWN) is None


OLD = ("output", "logits", "metadata", "hidden", "positions", "step")
WITH_DEFAULT = {"State": Record(OLD, (*OLD[:4], "weights", *OLD[4:]), optional=frozenset({"step"}))}


@pytest.mark.parametrize("weights", ["", "weights = self.weigh()\n        "])
def test_what_makes_a_record_without_its_last_fields_gives_a_new_one(weights: str) -> None:
    made = f"    def run(self):\n        {weights}self.state = State(output, None, None, hidden, {{}}positions)\n"
    fitted = fit_next_use(made.format(""), WITH_DEFAULT)
    assert fitted is not None
    assert fitted.text == made.format("weights, " if weights else "None, ")
    assert fit_next_use(fitted.text, WITH_DEFAULT) is None


@pytest.mark.parametrize("given", ["output, None, None, hidden, None, positions", "output, None, None, None, 1, 2"])
def test_as_many_values_as_there_were_may_be_all_that_there_are_now(given: str) -> None:
    """With a value of the new field and without the last one, which has a default."""
    fitted = fit_next_use(f"    def run(self):\n        self.state = State({given})\n", WITH_DEFAULT)
    assert (fitted is None) == ("positions" in given)


COMPLETE = {
    "by keywords": "State(output, None, meta, hidden, positions=positions)",
    "with a star": "State(*rest)",
    "of another class": "Other(output, None, meta, hidden, positions)",
    "complete": "State(output, None, meta, common, hidden, positions, stats)",
}


@pytest.mark.parametrize("name", COMPLETE)
def test_what_makes_something_else_is_left_alone(name: str) -> None:
    assert fit_next_use(f"    def run(self):\n        self.state = {COMPLETE[name]}\n", GROWN) is None


CHANGED = {"State": Record(("output", "logits", "cache", "hidden", "positions"), NOW)}


def test_what_makes_a_record_that_lost_and_gained_fields_is_told_by_the_names_it_gives() -> None:
    before = "self.state = State(output, logits, metadata, hidden, positions, stats)"
    after = "self.state = State(output, logits, metadata, None, hidden, positions, stats)"
    fitted = fit_next_use(f"    def run(self):\n        {before}\n", CHANGED)
    assert fitted is not None
    assert fitted.text == f"    def run(self):\n        {after}\n"
    assert fitted.reason.startswith("State now has common, passed here as")
    assert fit_next_use(fitted.text, CHANGED) is None


@pytest.mark.parametrize(
    "given",
    [
        pytest.param("output, logits, metadata, hidden, None, stats", id="a value without a name"),
        pytest.param("output, logits, hidden, metadata, positions, stats", id="in another order"),
        pytest.param("output, logits, metadata, hidden, positions, other", id="a name that is no field"),
    ],
)
def test_a_construction_that_does_not_tell_its_fields_is_left_to_people(given: str) -> None:
    assert fit_next_use(f"    def run(self):\n        self.state = State({given})\n", CHANGED) is None


LOST = {"State": Record((*NOW[:3], "cache", *NOW[3:]), NOW)}
SHORTER = {
    "an unpacking in one line": (
        "output, logits, metadata, _cache, common, hidden, positions, stats = self.state",
        "output, logits, metadata, common, hidden, positions, stats = self.state",
    ),
    "the last of a construction": (
        "self.state = State(output, logits, metadata, common, hidden, positions, stats, cache)",
        "self.state = State(output, logits, metadata, common, hidden, positions, stats)",
    ),
    "on lines of its own": (
        "(\n output,\n logits,\n metadata,\n cache,  # gone\n common,\n hidden,\n positions,\n stats,\n) = self.state",
        "(\n output,\n logits,\n metadata,\n common,\n hidden,\n positions,\n stats,\n) = self.state",
    ),
}


@pytest.mark.parametrize("name", SHORTER)
def test_a_field_that_is_gone_is_taken_out(name: str) -> None:
    before, after = SHORTER[name]
    fitted = fit_next_use(f"    def run(self):\n        {before}\n", LOST)
    assert fitted is not None
    assert fitted.text == f"    def run(self):\n        {after}\n"
    assert fit_next_use(fitted.text, LOST) is None


# vllm-omni 0.14.0 on vllm-ascend 0.18.0: a field less, some more, and one that a merge has put behind all others.
OTHERS = {"State": Record(("output", "logits", "metadata", "cache", "hidden", "positions"), NOW)}
IN_ORDER = "output, logits, metadata, common, hidden, positions, stats"
PUT_RIGHT = {
    "a field less and some more": "output, logits, metadata, cache, hidden, positions",
    "as many as there are now": "output, logits, metadata, cache, hidden, positions, stats",
    "in another order": "output, logits, metadata, hidden, positions, stats, common",
    "both": "output, logits, metadata, cache, hidden, positions, stats, common",
}


@pytest.mark.parametrize("name", PUT_RIGHT)
def test_an_unpacking_of_fields_alone_is_put_right(name: str) -> None:
    fitted = fit_next_use(method(PUT_RIGHT[name]), OTHERS)
    assert fitted is not None
    assert fitted.text == method(IN_ORDER)
    assert fitted.reason == "State has other fields now, and this unpacking follows their order"
    assert fit_next_use(fitted.text, OTHERS) is None


SWAPPED = {"State": Record((*NOW, "own"), (*NOW[:-2], *NOW[:-3:-1], "own"))}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(f"{', '.join(NOW)}, own_raw", f"{', '.join(NOW[:-2])}, stats, positions, own_raw", id="the last"),
        pytest.param(
            f"{', '.join(NOW[:-1])}, _seen, own", f"{', '.join(NOW[:-2])}, _seen, positions, own", id="a moved one"
        ),
    ],
)
def test_omnis_own_name_for_a_field_follows_the_order_of_the_fields(before: str, after: str) -> None:
    fitted = fit_next_use(method(before), SWAPPED)
    assert fitted is not None
    assert fitted.text == method(after)
    assert fit_next_use(fitted.text, SWAPPED) is None


def test_a_name_that_nobody_reads_keeps_its_underscore() -> None:
    fitted = fit_next_use(method("output, _logits, metadata, _cache, hidden, positions"), OTHERS)
    assert fitted is not None
    assert fitted.text == method(IN_ORDER.replace("logits", "_logits"))


@pytest.mark.parametrize(
    ("target", "states"),
    [
        pytest.param("output, logits, metadata, hidden, own", OTHERS, id="a name that is no field, of no known size"),
        pytest.param("output, logits, own, other, third, fourth", OTHERS, id="few fields by place"),
        pytest.param("output, cache, hidden", OTHERS, id="few names"),
        pytest.param("logits, output, metadata, common, hidden, positions, stats", STATE, id="the record is as it was"),
        pytest.param("logits, output, metadata, hidden, positions", OTHERS, id="not in the order they had"),
        pytest.param("output, output, logits, metadata, hidden, positions", OTHERS, id="a name twice"),
    ],
)
def test_what_is_no_unpacking_of_fields_alone_is_left_to_people(target: str, states: dict[str, Record]) -> None:
    assert fit_next_use(method(target), states) is None


def test_what_a_method_has_packed_itself_is_left_to_people() -> None:
    text = "    def sample(self):\n        self.own = output, logits, metadata, cache, hidden\n"
    assert fit_next_use(f"{text}        output, logits, metadata, cache, hidden = self.own\n", OTHERS) is None


def test_an_unpacking_that_fits_another_record_is_of_that() -> None:
    own = ("output", "logits", "metadata", "cache")
    assert fit_next_use(method(", ".join(own)), OTHERS | {"Own": Record(own, own)}) is None


def test_remarks_go_with_the_lines_of_their_names() -> None:
    fitted = fit_next_use(
        method("(\n a,  # why\n b,\n c,\n d  # type: ignore\n)"), {"S": Record((*"abcd",), (*"bdac",))}
    )
    assert fitted is not None
    assert fitted.text == method("(\n b,\n d,  # type: ignore\n a,  # why\n c,\n)")


@pytest.mark.parametrize(
    ("target", "fitted"),
    [
        pytest.param("(a, b,  # why\n c, d)", "(b,  # why\n         d, a, c)", id="behind the first row"),
        pytest.param("(a, b, c,\n d,  # why\n)", "(b, d,  # why\n         a, c,\n)", id="behind the last row"),
        pytest.param("(a, b, c,  # why\n d,)", "(b, d, a, c,  # why\n         )", id="behind what comes last"),
        pytest.param("(a, b,\n c, d)", "(b, d,\n a, c)", id="no remark: the rows stay"),
    ],
)
def test_remarks_go_with_names_that_share_a_row(target: str, fitted: str) -> None:
    found = fit_next_use(method(target), {"S": Record((*"abcd",), (*"bdac",))})
    assert found is not None
    assert found.text == method(fitted)


def test_a_list_that_would_not_parse_is_left_to_people() -> None:
    assert fit_next_use(method("output, logits, metadata, \\\n            hidden, positions"), OTHERS) is None


HOLDS = {"State": Record(NOW, NOW)}
TOLD = ", ".join(NOW)
STATED = f"    def run(self):\n        self.state = State({TOLD})\n"


def test_a_value_for_a_field_that_only_the_twins_record_has_is_taken_out() -> None:
    """`hidden_states_cpu` of vllm-omni pull request 4454 is a field of the GPU runner's record alone."""
    before = STATED.replace("hidden, positions", "None, None")
    fitted = fit_next_use(STATED.replace("hidden, positions", "None, None, None"), HOLDS, before=before)
    assert fitted is not None
    assert fitted.text == before
    assert fitted.reason == "State has no field for None here, so it is made as before"


def test_a_name_for_such_a_field_is_taken_out_unless_it_is_read() -> None:
    grown = TOLD.replace("hidden", "hidden, _hidden_cpu")
    fitted = fit_next_use(method(grown.replace("stats", "raw_stats")), HOLDS, before=method(TOLD))
    assert fitted is not None
    assert fitted.text == method(TOLD.replace("stats", "raw_stats"))
    assert fitted.reason.endswith(", so it is unpacked as before")
    read = method(grown) + "        self.send(_hidden_cpu)\n"
    assert fit_next_use(read, HOLDS, before=method(TOLD)) is None


@pytest.mark.parametrize(
    ("before", "now"),
    [
        pytest.param(TOLD, TOLD, id="complete"),
        pytest.param(TOLD.replace("stats", "own"), f"{TOLD}, more".replace("stats", "one, other"), id="other values"),
        pytest.param(TOLD.replace(", stats", ""), f"{TOLD}, more", id="it did not fit before"),
    ],
)
def test_what_cannot_be_told_from_before_is_left_to_people(before: str, now: str) -> None:
    made = "    def run(self):\n        self.state = State({})\n"
    assert fit_next_use(made.format(now), HOLDS, before=made.format(before)) is None


def test_a_record_of_two_texts() -> None:
    old = "class State(NamedTuple):\n    output: int\n"
    new = "class State(NamedTuple):\n    output: int\n    step: int | None = None\n"
    assert read_record(old, new, "State") == Record(("output",), ("output", "step"), frozenset({"step"}))
    assert not read_record("", new, "State").has_only_grown


USED = {
    "an argument of that name": "self.state = State(output, step)",
    "an attribute of that name as an argument": "self.state = State(output, self.step)",
    "a keyword": "self.state = State(output, step=None)",
    "more arguments than it has fields": "self.state = State(output, logits, other)",
    "arguments that nobody can count": "self.state = State(*values)",
    "keywords that nobody can tell": "self.state = State(output, **values)",
    "read from the record": "return self.state.step",
    "read from a local": "return state.step + 1",
    "asked for": "return getattr(self.state, 'step', None)",
    "unpacked": "output, _step = self.state",
}
IDLE = {
    "made without it": "self.state = State(output, logits)",
    "an attribute of self": "self.step = 1",
    "a local of that name": "step = 1",
    "handed to something else": "self.record = Other(output, step)",
    "unpacked from something else": "output, step = self.run()",
}


@pytest.mark.parametrize("name", USED)
def test_a_field_that_a_method_uses(name: str) -> None:
    text = f"    def run(self, output, logits):\n        {USED[name]}\n"
    assert find_used_fields(text, "State", ("output", "logits"), ["step"]) == {"step"}


@pytest.mark.parametrize("name", IDLE)
def test_a_field_that_a_method_does_not_use(name: str) -> None:
    text = f"    def run(self, output, logits):\n        {IDLE[name]}\n"
    assert find_used_fields(text, "State", ("output", "logits"), ["step"]) == set()


def test_what_makes_a_record() -> None:
    assert is_constructing("    def run(self):\n        self.state = State(1)\n", "State")
    assert not is_constructing("    def run(self):\n        self.state = Other(State)\n", "State")


WAS = ("output", "logits", "metadata", "common", "extra")
MIXED = {"State": Record(WAS, (*WAS, "stats"))}
REORDERED = {
    "names of fields alone": (
        "output, logits, metadata, common, stats, extra",
        "output, logits, metadata, common, extra, stats",
    ),
    "a value of no field's name where it was": (
        "output, None, metadata, common, stats, extra",
        "output, None, metadata, common, extra, stats",
    ),
    "a value of no field's name for the field that is left": (
        "output, logits, metadata, common, stats, self.extra()",
        "output, logits, metadata, common, self.extra(), stats",
    ),
    "on lines of their own, with remarks": (
        "\n    output,\n    logits,\n    metadata,\n    common,\n    stats,  # new\n    extra,  # omni's\n",
        "\n    output,\n    logits,\n    metadata,\n    common,\n    extra,  # omni's\n    stats,  # new\n",
    ),
}


@pytest.mark.parametrize("name", REORDERED)
def test_what_makes_a_record_gives_its_fields_in_the_order_that_they_have_now(name: str) -> None:
    """omni added `extra` and upstream `stats` at one end, and class and call were merged in another order each."""
    before, after = REORDERED[name]
    fitted = fit_next_use(f"    def run(self):\n        self.state = State({before})\n", MIXED)
    assert fitted is not None
    assert fitted.text == f"    def run(self):\n        self.state = State({after})\n"
    assert fitted.reason == "State has other fields now, and this call follows their order"
    assert fit_next_use(fitted.text, MIXED) is None


@pytest.mark.parametrize(
    ("given", "records"),
    [
        pytest.param("output, logits, metadata, common, stats, extra", {"State": Record(WAS, WAS)}, id="nothing new"),
        pytest.param(
            "logits, output, metadata, common, extra, stats", MIXED, id="old fields in another order than before"
        ),
        pytest.param("output, logits, metadata, common, stats, stats", MIXED, id="one name twice"),
        pytest.param("output, a, b, c, stats, d", MIXED, id="too few names to tell"),
        pytest.param("output, logits, metadata, common, *rest, extra", MIXED, id="with a star"),
    ],
)
def test_a_construction_of_which_the_order_does_not_tell_is_left_alone(given: str, records: dict[str, Record]) -> None:
    assert fit_next_use(f"    def run(self):\n        self.state = State({given})\n", records) is None


def test_a_field_that_is_declared_twice_counts_once() -> None:
    text = "class State(NamedTuple):\n    output: int\n    stats: int\n    output: int = 0\n"
    assert read_fields(text, "State") == ("output", "stats")
    assert read_record("", text, "State").optional == {"output"}


LAST = "        return logits\n"
TWINS = Record(STATE["State"].before, NOW, twin=("output", "logits", "common", "metadata", "hidden", "stats"))
TWIN = "    def sample(self):\n        (output, logits, {}, metadata, hidden, stats) = self.state\n"


@pytest.mark.parametrize("name", ["kept_common", "_common"])
def test_a_new_field_is_unpacked_under_the_name_that_the_twin_has_for_it(name: str) -> None:
    text = method("output, logits, metadata, hidden, positions, stats")
    fitted = fit_next_use(text, {"State": TWINS}, twin=TWIN.format(name))
    assert fitted is not None
    assert fitted.text == method(f"output, logits, metadata, {name}, hidden, positions, stats")
    assert fitted.reason == f"State now has common, unpacked here as {name} and not used yet"


@pytest.mark.parametrize(
    ("twin", "is_settled"),
    [
        pytest.param(TWIN.format("_common"), True, id="the twin does not read it"),
        pytest.param(TWIN.format("_common") + "        use(_common)\n", False, id="the twin reads it"),
        pytest.param(TWIN.format("_common").replace("= self.state", "= self.take()"), False, id="the twin has none"),
        pytest.param("", False, id="no twin"),
    ],
)
def test_a_new_field_that_the_twin_does_not_read_is_no_question(twin: str, is_settled: bool) -> None:
    """`hidden_states_cpu` in `sample_tokens` of the generation runner of vllm-omni 0.24.0."""
    fitted = fit_next_use(method("output, logits, metadata, hidden, positions, stats"), {"State": TWINS}, twin=twin)
    assert fitted is not None
    assert fitted.is_settled is is_settled


@pytest.mark.parametrize(
    "twin",
    [
        pytest.param("", id="no twin"),
        pytest.param(TWIN.format("kept_common").replace("hidden, ", ""), id="another number of names"),
        pytest.param(TWIN.format("kept_common").replace("= self.state", "= self.take_state()"), id="another value"),
        pytest.param("    def sample(self):\n        a, b, common_2, c, d, e = self.other\n", id="other names"),
    ],
)
def test_a_new_field_keeps_its_name_where_the_twin_unpacks_something_else(twin: str) -> None:
    fitted = fit_next_use(method("output, logits, metadata, hidden, positions, stats"), {"State": TWINS}, twin=twin)
    assert fitted is not None
    assert fitted.text == method("output, logits, metadata, common, hidden, positions, stats")


@pytest.mark.parametrize(
    ("rest", "name"),
    [
        pytest.param("        common = None\n        use(common)\n", "_common", id="set further down"),
        pytest.param("        _common = common = None\n", "__common", id="with an underscore, too"),
        pytest.param("        for common in output:\n            use(common)\n", "_common", id="by a loop"),
        pytest.param("        use(common)\n", "common", id="only read"),
        pytest.param("        common = common.copy()\n", "common", id="computed from the value"),
        pytest.param("        self.common = None\n", "common", id="an attribute"),
    ],
)
def test_a_new_field_is_not_unpacked_under_the_name_of_another_local(rest: str, name: str) -> None:
    had, has = (f"output, logits, metadata, {new}hidden, positions, stats" for new in ("", f"{name}, "))
    fitted = fit_next_use(method(had).removesuffix(LAST) + rest, STATE)
    assert fitted is not None
    assert fitted.text == method(has).removesuffix(LAST) + rest


def test_a_parameter_is_another_local() -> None:
    had, has = (f"output, logits, metadata, {new}hidden, positions, stats" for new in ("", "_common, "))
    fitted = fit_next_use(method(had).replace("self", "self, common", 1), STATE)
    assert fitted is not None
    assert fitted.text == method(has).replace("self", "self, common", 1)


def test_all_unpackings_of_a_record_get_the_same_name() -> None:
    had, has = (f"output, logits, metadata, {new}hidden, positions, stats" for new in ("", "common, "))
    twice = method(had) + f"        {had} = self.state\n"
    once = fit_next_use(twice, STATE)
    assert once is not None
    both = fit_next_use(once.text, STATE)
    assert both is not None
    assert both.text == method(has) + f"        {has} = self.state\n"


# vllm-omni 0.30.0: the generation runner makes ``ExecuteModelState`` with ``None`` for what it lacks, and without the
# step at the end.
DROPPED = {
    "State": Record((*NOW, "step"), tuple(field for field in (*NOW, "step") if field != "hidden"), frozenset({"step"}))
}
MAKING = "        self.state = State({})\n"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param(
            "output, None, metadata, common, None, positions, stats",
            "output, None, metadata, common, positions, stats",
            id="without a value that has a default",
        ),
        pytest.param(
            "output, None, metadata, common, self.hidden, positions, stats, 1",
            "output, None, metadata, common, positions, stats, 1",
            id="with all values",
        ),
    ],
)
def test_the_value_at_the_place_of_a_lost_field_goes(given: str, expected: str) -> None:
    fitted = fit_next_use(f"    def run(self):\n{MAKING.format(given)}", DROPPED)
    assert fitted is not None
    assert fitted.text == f"    def run(self):\n{MAKING.format(expected)}"
    assert fitted.reason == "State no longer has hidden: removed here"
    assert fit_next_use(fitted.text, DROPPED) is None


def test_values_of_which_one_has_left_its_place_are_not_read_by_place() -> None:
    text = f"    def run(self):\n{MAKING.format('None, output, metadata, None, positions, common, stats')}"
    fitted = fit_next_use(text, DROPPED)
    assert fitted is None or "no longer has" not in fitted.reason
