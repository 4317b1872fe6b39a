"""Locals that upstream, or omni, calls by another name: who has to follow, and who must not."""

from __future__ import annotations

import re

import pytest

from runner_sync.merge import PORT, merge
from runner_sync.merge.preparing.unread_values import with_omni_names_of_unread_values
from runner_sync.model import Triple

BASE = """\
def run(self, rows):
    for request in self.batch.requests(rows):
        self.scheduler.check(request, self.state)
        self.scheduler.pack(request, self.tokens)
    return rows
"""
UPSTREAM = BASE.replace("for request", "for req").replace("(request,", "(req,")
LAST = "    return rows\n"


def merged(own: str) -> str:
    """What is made of a statement of omni's in front of the last one."""
    result = merge(Triple(BASE, BASE.replace(LAST, own + LAST), UPSTREAM))
    assert result.parses
    return result.text.removeprefix(UPSTREAM.removesuffix(LAST)).removesuffix(LAST)


def test_what_omni_added_follows_upstreams_new_name() -> None:
    assert merged("    self.note(request)\n") == "    self.note(req)\n"
    assert merged("    self.later(lambda: request)\n") == "    self.later(lambda: req)\n"


@pytest.mark.parametrize(
    "own",
    [
        "    rows.sort(key=lambda request: request.time)\n",
        "    rows = [request.time for request in rows]\n",
        "    def time(request):\n        return request.time\n    rows.sort(key=time)\n",
    ],
)
def test_what_a_lambda_a_comprehension_or_a_function_calls_so_is_its_own(own: str) -> None:
    assert merged(own) == own


@pytest.mark.parametrize(
    "own",
    [
        "    try:\n        self.more()\n    except OmniError as request:\n        self.log(request)\n",
        "    match rows:\n        case [request, *_]:\n            self.note(request)\n",
    ],
)
def test_a_name_that_no_plain_name_binds_is_not_renamed(own: str) -> None:
    assert merged(own) == own


@pytest.mark.parametrize(
    "own",
    [
        "    def req():\n        return 1\n    self.note(request, req)\n",
        "    try:\n        self.more()\n    except OmniError as req:\n        self.log(request)\n",
        "    import req\n    self.note(request)\n",
    ],
)
def test_nothing_gets_a_name_that_omni_has_for_something_else(own: str) -> None:
    assert own in merge(Triple(BASE, BASE.replace(LAST, own + LAST), UPSTREAM)).text


PLAN = """\
def run(self, rows):
    count = self.count(rows)
    mode, batch = self.plan(rows, count=count)
    batch = self.pad(batch)
    self.pack(batch, mode=mode)
    self.start(mode, count)
    return rows
"""
NEW_NAMES = {"count": "row_count", "mode": "graph_mode", "batch": "batch_plan"}


def in_new_names(text: str, names: dict[str, str] = NEW_NAMES) -> str:
    """Rename locals, but not the keywords of calls."""
    for old, new in names.items():
        text = re.sub(rf"(?<![\w.]){old}\b(?!=)", new, text)
    return text


def followed(base: str, upstream: str, own: str) -> str:
    """What is made of a statement that omni has in front of the last one."""
    result = merge(Triple(base, base.replace(LAST, own + LAST), upstream))
    assert result.parses
    return result.text.removesuffix(LAST).splitlines()[-1].strip()


@pytest.mark.parametrize(
    ("base", "upstream"),
    [
        pytest.param(PLAN, in_new_names(PLAN), id="all at once"),
        pytest.param(
            PLAN, in_new_names(PLAN).replace("    batch_plan = self.pad(batch_plan)\n", ""), id="one step gone"
        ),
        pytest.param(PLAN, in_new_names(PLAN).replace("(rows, count", "(rows, self.limit, count"), id="argument added"),
        pytest.param(
            PLAN.replace("mode, batch =", "mode, batch, stats ="),
            in_new_names(PLAN.replace("mode, batch =", "mode, batch, stats ="), {**NEW_NAMES, "stats": "counters"}),
            id="with one that nothing reads",
        ),
    ],
)
def test_several_new_names_at_once_are_followed(base: str, upstream: str) -> None:
    own = "    self.note(mode, batch, count=count)\n"
    assert followed(base, upstream, own) == "self.note(graph_mode, batch_plan, count=row_count)"


@pytest.mark.parametrize(
    ("base", "upstream", "name"),
    [
        pytest.param(
            PLAN,
            in_new_names(PLAN).replace("batch_plan = self.pad(batch_plan)", "self.reset()\n    batch_plan = rows[0]"),
            "batch",
            id="one step replaced",
        ),
        pytest.param(
            PLAN.replace("    batch = self.pad(batch)\n", "    old = self.last()\n    self.pack(old, mode=old)\n"),
            in_new_names(
                PLAN.replace("    batch = self.pad(batch)\n", "    old = self.last()\n    self.pack(old, mode=old)\n"),
                {"old": "given", "batch": "given"},
            ),
            "batch",
            id="one name for two",
        ),
        pytest.param(
            PLAN.replace("self.plan(rows", "self.plan(stats"),
            in_new_names(PLAN).replace("self.plan(rows", "self.plan(counters"),
            "mode",
            id="made from another value",
        ),
        pytest.param(
            PLAN,
            in_new_names(PLAN).replace("graph_mode, batch_plan =", "batch_plan, graph_mode ="),
            "mode",
            id="swapped",
        ),
    ],
)
def test_a_new_name_that_may_be_of_another_value_is_not_followed(base: str, upstream: str, name: str) -> None:
    assert followed(base, upstream, f"    self.note({name})\n") == f"self.note({name})"


CACHES = """\
def init(self, config):
    for name in config.layers:
        kv_cache = self.view(config, name)
        kv_cache = self.convert(kv_cache)
        self.caches[name] = kv_cache
"""
SPLIT = """\
def init(self, config):
    for name in config.layers:
        k_cache = self.view_keys(config, name)
        k_cache = self.convert(k_cache)
        v_cache = self.convert(self.view_values(config, name))
        self.caches[name] = (k_cache, v_cache)
"""


def test_a_local_that_upstream_makes_in_another_way_has_no_new_name() -> None:
    """vllm-ascend 0.11.0rc0 keeps keys and values apart: omni's ``kv_cache`` is not the first of the two."""
    mine = "        self.register(name, kv_cache)\n"
    assert mine in merge(Triple(CACHES, CACHES + mine, SPLIT)).text


LOGITS = """\
def run(self, rows):
    logits = self.compute(rows)
    self.keep(logits)
    return logits
"""


@pytest.mark.parametrize(
    ("new", "is_renamed"),
    [
        pytest.param("record.logits", False, id="an attribute of its name"),
        pytest.param("record.shape", True, id="another attribute"),
        pytest.param("record.float()", True, id="the result of a method"),
        pytest.param("record[:4]", True, id="a slice"),
        pytest.param("record[0]", True, id="an element, but the value elsewhere"),
        pytest.param("record()", True, id="its result, but the value elsewhere"),
        pytest.param("record", True, id="the value"),
        pytest.param("record, self.more", True, id="the value and another"),
    ],
)
def test_a_value_of_which_upstream_now_reads_a_part_is_another(new: str, is_renamed: bool) -> None:
    """What ``compute`` returns is a record now, and omni's ``note`` needs the logits in it."""
    base, own = LOGITS, "    self.note(logits)\n    return"
    upstream = base.replace("return logits", f"return {new}").replace("logits", "record").replace(".record", ".logits")
    text = merge(Triple(base, base.replace("    return", own), upstream)).text
    assert ("self.note(record)" in text) == is_renamed
    assert ("self.note(logits)" in text) != is_renamed


@pytest.mark.parametrize("new", ["record.logits", "record[0]", "record['logits']", "record()"])
def test_a_value_of_which_upstream_reads_nothing_but_a_part_is_another(new: str) -> None:
    base, own = LOGITS, "    self.note(logits)\n    return"
    upstream = (
        base.replace("logits = ", "record = ").replace("(logits)", f"({new})").replace("return logits", f"return {new}")
    )
    assert "self.note(logits)" in merge(Triple(base, base.replace("    return", own), upstream)).text


def test_a_value_whose_parts_upstream_reads_as_before_is_the_same() -> None:
    base = LOGITS.replace("return logits", "return logits.rows[0]")
    omni = base.replace("    return", "    self.note(logits)\n    return")
    assert "self.note(record)" in merge(Triple(base, omni, base.replace("logits", "record"))).text


SIZES = """\
def init(self, config):
    block_size = self.sizes[0] if self.sizes else 0
    self.drafter.init(config, block_size)
"""
LISTS = """\
def init(self, config):
    draft_sizes = [int(size) for size in self.sizes]
    self.drafter.init(config, draft_sizes)
"""


def test_two_statements_that_begin_alike_show_no_renaming() -> None:
    """``block_size = (self…`` became ``draft_kernel_block_sizes = [`` in vllm-ascend 0.26.0rc1."""
    mine = "    self.note(block_size)\n"
    assert mine in merge(Triple(SIZES, SIZES + mine, LISTS)).text


def test_upstreams_lambda_keeps_its_parameter_where_omni_has_another_name_for_a_value() -> None:
    base = """\
def run(self, rows):
    output = copy(EMPTY)
    if not rows:
        return output
    output = Output(rows)
    return output
"""
    omni = (
        base.replace("    output = Output", "    made = Output").removesuffix("    return output\n")
        + "    return made\n"
    )
    note = "    self.on_done(lambda output: output.close())\n"
    upstream = base.removesuffix("    return output\n") + note + "    return output\n"
    assert note in merge(Triple(base, omni, upstream)).text


SYNC = """\
def run(self, rows):
    nans, lists = self.sync(rows)
    self.note(nans)
    return lists
"""
MINE = SYNC.replace("nans, lists", "nans, count, lists").replace(
    "self.note(nans)", "self.note(nans)\n    self.omni(count)"
)
THEIRS = SYNC.replace("nans, lists", "nans, device, lists").replace("return", "self.send(device)\n    return")


def test_what_both_newly_take_from_one_function_is_one_value() -> None:
    """vllm-omni 0.28.0 unpacks vLLM's new eighth value as `num_nans`, vLLM as `num_nans_device`: nine were unpacked."""
    result = merge(Triple(SYNC, MINE, THEIRS))
    assert result.text == MINE.replace("return", "self.send(count)\n    return")


@pytest.mark.parametrize(
    ("omni", "upstream"),
    [
        pytest.param(MINE, THEIRS.replace("device, lists", "device, lists, rest"), id="another number of values"),
        pytest.param(MINE, THEIRS.replace("return", "count = 1\n    return"), id="omni's name is another value there"),
        pytest.param(MINE.replace("self.sync", "self.own_sync"), THEIRS, id="of another function"),
    ],
)
def test_what_may_be_two_values_keeps_its_names(omni: str, upstream: str) -> None:
    result = merge(Triple(SYNC, omni, upstream))
    assert "self.send(device)" in result.text
    assert "self.omni(count)" in result.text


TAKEN = "    rows, outputs = self.take(rows)\n"
OWN_TAKEN = "    rows, _ = self.take(rows)\n"


@pytest.mark.parametrize("before", ["", "    rows = self.take(rows)\n"], ids=["both added it", "both changed it"])
def test_a_port_renames_no_value_that_nothing_reads(before: str) -> None:
    texts = [
        f"def run(self, rows):\n    rows = pack(rows)\n{part}    return rows\n" for part in (before, OWN_TAKEN, TAKEN)
    ]
    result = merge(Triple(*texts), policy=PORT)
    assert (result.text, result.decisions) == (texts[1], ())


@pytest.mark.parametrize(
    ("theirs", "own"),
    [
        pytest.param(TAKEN + "    self.note(outputs)\n", OWN_TAKEN, id="the twin reads it"),
        pytest.param(
            TAKEN + "    self.note(lambda: outputs)\n",
            "    rows, _ = self.take(rows)\n",
            id="in a lambda of the twin's",
        ),
        pytest.param(TAKEN, "    rows, more = self.take(rows)\n    self.note(more)\n", id="omni reads it"),
        pytest.param(TAKEN, "    rows, self.more = self.take(rows)\n", id="omni keeps it on the runner"),
        pytest.param(TAKEN, "    rows, _, _ = self.take(rows)\n", id="of another size"),
        pytest.param(TAKEN, "    rows, _ = self.take(rows, 1)\n", id="of another call"),
        pytest.param("    global outputs\n" + TAKEN, OWN_TAKEN, id="the name is one of the module's"),
    ],
)
def test_a_value_that_may_be_read_or_is_another_one_keeps_its_name(theirs: str, own: str) -> None:
    texts = [f"def run(self, rows):\n{part}    return rows\n" for part in ("", own, theirs)]
    assert with_omni_names_of_unread_values(Triple(*texts)) == Triple(*texts)


def test_names_of_a_module_or_class_may_be_read_elsewhere() -> None:
    texts = ("", "class Rows:\n    mine = field()\n", "class Rows:\n    theirs = field()\n")
    assert with_omni_names_of_unread_values(Triple(*texts)) == Triple(*texts)
