"""Attributes and items of objects whose class is known, or one of several (RS308, RS314)."""

from __future__ import annotations

import pytest
from verify_samples import find, npu, symbols, world

BATCH_READER = npu("def m(self, batch: Batch):\n    return batch.late", head="from {}.batch import Batch\n")


def test_an_annotated_object_of_vllm_needs_the_old_tree() -> None:
    text = BATCH_READER.format("vllm")
    new = world(npu=text, **{"vllm/batch.py": "class Batch:\n    rows = 1\n"})
    old = world(npu=text, **{"vllm/batch.py": "class Batch:\n    late = 1\n"})
    assert symbols(find(new)) == []
    assert symbols(find(new, old)) == [("RS308", "Batch.late")]


@pytest.mark.parametrize(
    ("reads", "count"),
    [("batch.late + batch.late", 1), ("batch.late + batch.last", 2), ("(batch.late,\n batch.late)", 2)],
)
def test_an_attribute_is_told_once_per_line(reads: str, count: int) -> None:
    text = BATCH_READER.format("vllm_ascend").replace("batch.late", reads)
    found = find(world(npu=text, **{"vllm_ascend/batch.py": "class Batch:\n    rows = 1\n"}))
    assert [finding.code for finding in found] == ["RS308"] * count


@pytest.mark.parametrize("is_elsewhere", [True, False])
def test_the_fix_says_whether_the_target_has_the_attribute_at_all(is_elsewhere: bool) -> None:
    text = BATCH_READER.format("vllm")
    beside = {"vllm/group.py": "class Group:\n    late: int = 0\n"} if is_elsewhere else {}
    old = world(npu=text, **{"vllm/batch.py": "class Batch:\n    late = 1\n"})
    (finding,) = find(world(npu=text, **{"vllm/batch.py": "class Batch:\n    rows = 1\n"}, **beside), old)
    follow = "Follow what the target uses in place of `late`"
    gone = f"{follow}, or leave out what reads it: nothing in the target defines `late`."
    assert finding.fix == (f"{follow}." if is_elsewhere else gone)


def test_the_fix_says_what_may_be_newer_than_the_target() -> None:
    given = {"npu": BATCH_READER.format("vllm_ascend"), "vllm_ascend/batch.py": "class Batch:\n    rows = 1\n"}
    (finding,) = find(world(**given))
    nowhere = "Nothing in the target defines `late`: the feature is newer than this vllm-ascend, or gone from it. "
    assert finding.fix == f"{nowhere}Leave out what reads it."


@pytest.mark.parametrize(
    ("was", "now", "name"),
    [
        pytest.param("late = 2", "LATE = 2", "LATE", id="a value"),
        pytest.param("late: int = 2", "is_late: int = 3", "is_late", id="a field of the same type"),
        pytest.param("def late(self): return 1", "def is_late(self): return 1", "is_late", id="a method"),
        pytest.param("late = 2", "LATE = 3", "", id="another value"),
        pytest.param("late: int = 2", "is_late: str = 2", "", id="another type"),
        pytest.param("late = 2", "early = 2", "", id="another name"),
        pytest.param("late = 2", "LATE = 2\n    more = 2", "", id="not one for one"),
        pytest.param("late = 2", "pass", "", id="nothing"),
        pytest.param("late = 2\n    LATE = 2", "LATE = 2", "", id="one of two names"),
        pytest.param("def late(self): return 1", "def is_late(self): return 2", "", id="another method"),
    ],
)
def test_the_fix_names_the_member_in_the_place_of_a_renamed_one(was: str, now: str, name: str) -> None:
    rows = "class Batch:\n    rows = 1\n    {}\n    last = 2\n"
    text = BATCH_READER.format("vllm")
    new, old = (world(npu=text, **{"vllm/batch.py": rows.format(body)}) for body in (now, was))
    (finding,) = find(new, old)
    expected = f"Write `{name}`, which vllm/batch.py:3 has in its place." if name else "Follow what the target uses"
    assert (finding.fix or "").startswith(expected)


def test_the_fix_names_a_renamed_member_of_a_parent() -> None:
    text = BATCH_READER.format("vllm")
    base = "class Rows:\n    {} = 1\nclass Batch(Rows):\n    last = 2\n"
    new, old = (world(npu=text, **{"vllm/batch.py": base.format(name)}) for name in ("_late", "late"))
    assert [finding.fix for finding in find(new, old)] == ["Write `_late`, which vllm/batch.py:2 has in its place."]


HEIR = "from vllm.batch import Batch\nclass Small(Batch):\n"

# Of an annotated class of vLLM: the reader's module, what stands beside it, whether the lost field is told.
LOST_FIELDS = {
    "the field of a namesake": (BATCH_READER, "class Group:\n    late: int = 0\n", True),
    "a field set on another object": (BATCH_READER, "def fill(group):\n    group.late = 1\n", True),
    "a field set on such an object": (BATCH_READER, "def fill(new_batch):\n    new_batch.late = 1\n", False),
    "a class derives and has none": (BATCH_READER, HEIR + "    size: int = 0\n", True),
    "a class that derives has it": (BATCH_READER, HEIR + "    late: int = 0\n", False),
    "one that derives under another name has it": (
        BATCH_READER,
        "from vllm.batch import Batch as B\nclass Small(B):\n    def __init__(self):\n        self.late = 0\n",
        False,
    ),
    "a parameter that the hidden method annotates": (
        npu("def take(self, batch):\n    return batch.late"),
        "",
        True,
    ),
    "a parameter that nobody annotates": (npu("def give(self, batch):\n    return batch.late"), "", False),
    "a parameter that is copied over itself": (
        npu("def take(self, batch):\n    if batch:\n        batch = replace(batch, rows=2)\n    return batch.late"),
        "",
        True,
    ),
    "a parameter that something else replaces": (
        npu("def take(self, batch):\n    batch = make(batch)\n    return batch.late"),
        "",
        False,
    ),
    "a field of a record that is taken apart": (
        npu("def m(self):\n    size, batch = self.last\n    return batch.late"),
        "",
        True,
    ),
    "another field of it": (npu("def m(self):\n    batch, size = self.last\n    return batch.late"), "", False),
    "a record of another size": (npu("def m(self):\n    _, batch, _ = self.last\n    return batch.late"), "", False),
}


@pytest.mark.parametrize("name", LOST_FIELDS)
def test_a_field_that_a_class_of_vllm_lost(name: str) -> None:
    reader, beside, is_told = LOST_FIELDS[name]
    runner = """\
        from typing import NamedTuple
        from vllm.batch import Batch
        from vllm.runner import GPUModelRunner

        class Last(NamedTuple):
            size: int
            batch: Batch

        class NPUModelRunner(GPUModelRunner):
            def __init__(self):
                self.last: Last | None = None
            def take(self, batch: Batch): ...
        """
    trees = {"npu": reader.format("vllm"), "ascend": runner, "vllm_ascend/more.py": beside}
    new = world(**trees, **{"vllm/batch.py": "class Batch:\n    rows = 1\n"})
    old = world(**trees, **{"vllm/batch.py": "class Batch:\n    late: int = 1\n"})
    found = [symbol for symbol in symbols(find(new, old)) if symbol[0] == "RS308"]
    assert found == ([("RS308", "Batch.late")] if is_told else [])


DERIVED = {
    "no class derives from it": ("", [("RS308", "Batch.late")]),
    "one derives from a longer name": ("class Small(BatchQueue):\n    pass\n", [("RS308", "Batch.late")]),
    "a class that derives from it may have it": ("class Small(Batch):\n    late = 1\n", []),
    "and so may one that calls it another name": (
        "from vllm_ascend.batch import Batch as B\nclass C(B):\n    late = 1\n",
        [],
    ),
    "other code sets it": ("def fill(batch):\n    batch.late = 1\n", []),
}


@pytest.mark.parametrize("name", DERIVED)
def test_an_annotated_object_of_vllm_ascend(name: str) -> None:
    more, expected = DERIVED[name]
    new = world(
        npu=BATCH_READER.format("vllm_ascend"),
        **{"vllm_ascend/batch.py": "class Batch:\n    rows = 1\n", "vllm_ascend/more.py": more},
    )
    assert symbols(find(new)) == expected


@pytest.mark.parametrize(
    ("elsewhere", "expected"),
    [
        ("class Group:\n    late: int = 0\n", [("RS308", "Batch.late")]),
        ("KEYS = ('late',)\nclass Group:\n    def __init__(self):\n        self.late = 1\n", [("RS308", "Batch.late")]),
        ("def fill(batch):\n    batch.late = 1\n", []),
    ],
)
def test_an_attribute_that_moved_to_another_class(elsewhere: str, expected: list[tuple[str, str]]) -> None:
    text = BATCH_READER.format("vllm_ascend")
    batch = "vllm_ascend/batch.py"
    new = world(npu=text, **{batch: "class Batch:\n    rows = 1\n", "vllm_ascend/more.py": elsewhere})
    old = world(npu=text, **{batch: "class Batch:\n    late = 1\n"})
    assert symbols(find(new, old)) == expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("context.late = 1", "context.rows = 1", [("RS308", "Batch.late")]),
        ("context.rows = 1", "context.rows = 2", []),
        ("context.late = 1", "setattr(context, 'late', 1)", []),
    ],
)
def test_an_attribute_that_others_set_no_more(before: str, after: str, expected: list[tuple[str, str]]) -> None:
    trees = {"npu": BATCH_READER.format("vllm"), "vllm/batch.py": "class Batch:\n    rows = 1\n"}
    setting = "def enter(context):\n    {}\n"
    new = world(**trees, **{"vllm_ascend/context.py": setting.format(after)})
    old = world(**trees, **{"vllm_ascend/context.py": setting.format(before)})
    assert symbols(find(new, old)) == expected


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        ("_BATCH: Batch | None = None\n", [("RS308", "Batch.late")]),
        ("_BATCH = None\n", []),
        ("_BATCH: object = None\n", []),
    ],
)
def test_what_a_function_hands_out_of_its_module(module: str, expected: list[tuple[str, str]]) -> None:
    text = npu("def m(self):\n    return get_batch().late", head="from vllm_ascend.batch import get_batch\n")
    given = f"class Batch:\n    rows = 1\n{module}def get_batch():\n    global _BATCH\n    return _BATCH\n"
    assert symbols(find(world(npu=text, **{"vllm_ascend/batch.py": given}))) == expected


DRAFTERS = """\
from __future__ import annotations
from vllm.runner import GPUModelRunner
class Ngram:
    def warm_up(self, rows{ngram}): ...
class Eagle:
    def warm_up(self, rows{eagle}): ...
class NPUModelRunner(GPUModelRunner):
    def start(self):
        self.drafter: {told} = None
"""
TAKES = ", capturing=False"
ANY = "Ngram | Eagle | None"
WARMS_UP = "def m(self):\n    self.drafter.warm_up(1, capturing=True)"

# What the two classes take and what the attribute is told to be: in the old tree, in the new one; the call.
UNIONS = {
    "one takes the keyword no longer": (
        (TAKES, TAKES, ANY),
        ("", TAKES, ANY),
        WARMS_UP,
        [("RS306", "warm_up(capturing=)")],
    ),
    "one requires more": (
        (TAKES, TAKES, ANY),
        (", step" + TAKES, TAKES, ANY),
        WARMS_UP,
        [("RS302", "warm_up(step)")],
    ),
    "one never took it": (("", TAKES, ANY), ("", TAKES, ANY), WARMS_UP, []),
    "one never took it, and now the other does not": (("", TAKES, ANY), (TAKES, "", ANY), WARMS_UP, []),
    "one that is new does not take it": ((TAKES, TAKES, "Eagle"), ("", TAKES, ANY), WARMS_UP, []),
    "one that is no longer meant": ((TAKES, TAKES, ANY), ("", TAKES, "Eagle"), WARMS_UP, []),
    "the code asks which it is": (
        (TAKES, TAKES, ANY),
        ("", TAKES, ANY),
        "def m(self):\n    if isinstance(self.drafter, Eagle):\n        self.drafter.warm_up(1, capturing=True)",
        [],
    ),
    "whether it is there is no choice": (
        (TAKES, TAKES, ANY),
        ("", TAKES, ANY),
        "def m(self):\n    if self.drafter is not None:\n        self.drafter.warm_up(1, capturing=True)",
        [("RS306", "warm_up(capturing=)")],
    ),
    "a condition elsewhere is no choice": (
        (TAKES, TAKES, ANY),
        ("", TAKES, ANY),
        "def m(self):\n    if self.config:\n        self.config = 1\n    self.drafter.warm_up(1, capturing=True)",
        [("RS306", "warm_up(capturing=)")],
    ),
}

# Conditions that may choose one of the two classes, with the call below.
CALLED = "self.drafter.warm_up(1, capturing=True)"
CHOICES = {
    "its type": f"if type(self.drafter) is Eagle:\n    {CALLED}",
    "a case": f"match self.drafter:\n    case Eagle():\n        {CALLED}",
    "what it says of itself": f"if self.drafter.kind == 'eagle':\n    {CALLED}",
    "the configuration": f"if self.config.method == 'eagle':\n    {CALLED}",
    "the configuration, turned round": f"if self.config.method == 'ngram':\n    pass\nelse:\n    {CALLED}",
    "the configuration, in a case": f"match self.config.method:\n    case 'eagle':\n        {CALLED}",
    "the configuration, in a part": f"if self.drafter and self.config.eagle:\n    {CALLED}",
    "the configuration, in an expression": f"return {CALLED} if self.config.eagle else None",
    "the configuration, and": f"return self.config.eagle and {CALLED}",
    "a way out before": f"if self.config.method == 'ngram':\n    return\n{CALLED}",
    "an assertion": f"assert self.config.method == 'eagle'\n{CALLED}",
}


@pytest.mark.parametrize("name", CHOICES)
def test_a_condition_that_may_choose_among_several_classes(name: str) -> None:
    text = npu("def m(self):\n    " + CHOICES[name].replace("\n", "\n    "))
    kinds = DRAFTERS.replace("def warm_up", "kind = ''\n    def warm_up")
    old, new = (world(npu=text, ascend=kinds.format(ngram=ngram, eagle=TAKES, told=ANY)) for ngram in (TAKES, ""))
    assert symbols(find(new, old)) == []


@pytest.mark.parametrize("name", UNIONS)
def test_an_object_of_one_of_several_classes(name: str) -> None:
    before, after, body, expected = UNIONS[name]
    old, new = (
        world(npu=npu(body), ascend=DRAFTERS.format(ngram=ngram, eagle=eagle, told=told))
        for ngram, eagle, told in (before, after)
    )
    assert symbols(find(new)) == []
    assert symbols(find(new, old)) == expected


def test_one_of_several_classes_whose_method_is_patched() -> None:
    patch = (
        "from vllm_ascend.runner import Ngram\ndef warm_up(self, rows, capturing=False): ...\nNgram.warm_up = warm_up\n"
    )
    old, new = (
        world(npu=npu(WARMS_UP), ascend=DRAFTERS.format(ngram=ngram, eagle=TAKES, told=ANY), ascend_patch=patch)
        for ngram in (TAKES, "")
    )
    assert symbols(find(new, old)) == []


@pytest.mark.parametrize(
    ("sets", "expected"),
    [
        ("self.batch: Small = make()", [("RS308", "Small.rows")]),
        ("self.batch = Small()", []),
        ("self.batch: Small = make()\n        self.batch = other()", []),
    ],
    ids=["told", "not told", "told, and something else"],
)
def test_what_a_class_says_of_an_attribute_goes_before_what_its_base_assigns(
    sets: str, expected: list[tuple[str, str]]
) -> None:
    """vLLM's runner makes its own drafters, vllm-ascend's says that it has others."""
    upstream = (
        "from vllm.runner import GPUModelRunner\nclass Small:\n    size = 1\n"
        f"class NPUModelRunner(GPUModelRunner):\n    def start(self):\n        {sets}\n"
    )
    text = npu("def m(self):\n    return self.batch.rows")
    assert symbols(find(world(npu=text, ascend=upstream))) == expected


ASSIGNING = """\
class Base:
    def propose(self, rows): ...
class Own(Base):
    def propose(self, rows, extra=None): ...
class Other:
    def propose(self, rows, extra=None): ...
class GPUModelRunner:
    def __init__(self, config):
        self.config = config
        self.drafter = {made}
"""

# What vLLM's runner assigns, what the NPU class says of it in its body and in `__init__`, before vLLM's runs.
DECLARED = {
    "a class below it, declared in the class": ("Own()", "drafter: Base", "pass", True),
    "a class below it, declared as empty": ("Own()", "size = 1", "self.drafter: Base | None = None", True),
    "declared in the class, and set": ("Own()", "drafter: Base", "self.drafter = Base()", True),
    "the class itself": ("Base()", "drafter: Base", "pass", False),
    "another class": ("Other()", "drafter: Base", "pass", False),
    "a class above it": ("Base()", "drafter: Own", "pass", True),
    "set anew": ("Own()", "size = 1", "self.drafter: Base = Base()", False),
}


@pytest.mark.parametrize("name", DECLARED)
def test_a_declaration_sets_nothing_anew(name: str) -> None:
    made, body, init, takes_it = DECLARED[name]
    runner = (
        "from vllm.runner import Base, GPUModelRunner, Own\nclass NPUModelRunner(GPUModelRunner):\n"
        f"    {body}\n    def __init__(self, config):\n        {init}\n        super().__init__(config)\n"
    )
    text = npu("def m(self):\n    self.drafter.propose(1, extra=2)").replace("from vllm.runner import helper\n", "")
    found = find(world(npu=text, ascend=runner, vllm=ASSIGNING.format(made=made)))
    assert symbols(found) == ([] if takes_it else [("RS306", "propose(extra=)")])


ITEMS = "from typing import NamedTuple\nfrom torch import Outside\nclass Rows{bases}:\n    {body}\n"
GETS = "def __getitem__(self, key): ..."
COUNTS = "def __len__(self): ..."

# What the class had, what it has, what the runner does with such an object.
LOST_ITEMS = {
    "an item": (GETS, "pass", "rows[0]", ["__getitem__"]),
    "an item that is set": ("def __setitem__(self, key, value): ...", GETS, "rows[0] = 1", ["__setitem__"]),
    "an item that is deleted": ("def __delitem__(self, key): ...", GETS, "del rows[0]", ["__delitem__"]),
    "its length": (COUNTS, "pass", "len(rows)", ["__len__"]),
    "another name": (GETS, "def get(self, key): ...", "rows['a']", ["__getitem__"]),
    "still there": (GETS, GETS, "rows[0]", []),
    "never there": ("pass", "pass", "rows[0]", []),
    "a key": (GETS, "pass", "self.config[rows]", []),
    "somebody else's length": (COUNTS, "pass", "self.config.len(rows)", []),
    "it is asked for": (COUNTS, "pass", "if hasattr(rows, '__len__'):\n    len(rows)", []),
    "something else is asked for": (COUNTS, "pass", "if hasattr(rows, '__iter__'):\n    len(rows)", ["__len__"]),
    "its own len": (COUNTS, "pass", "def len(x): return 1\nlen(rows)", []),
    "a len that is imported": (COUNTS, "pass", "from torch import len\nlen(rows)", []),
    "it may fail": (GETS, "pass", "try:\n    rows[0]\nexcept TypeError:\n    pass", []),
}


def items(before: str, after: str, body: str, *, bases: str = "", heir: str = "") -> list[str]:
    method = "def m(self, rows: Rows):\n    " + body.replace("\n", "\n    ")
    text = npu(method, head="from vllm.rows import Rows\nfrom vllm.runner import Batch, State")
    old = world(npu=text, **{"vllm/rows.py": ITEMS.format(bases="", body=before)})
    new = world(npu=text, **{"vllm/rows.py": ITEMS.format(bases=bases, body=after), "vllm_ascend/rows.py": heir})
    assert symbols(find(new)) == []
    return [f.symbol.removeprefix("Rows.") for f in find(new, old)]


@pytest.mark.parametrize("name", LOST_ITEMS)
def test_items_that_an_object_has_no_longer(name: str) -> None:
    *given, expected = LOST_ITEMS[name]
    assert items(*given) == expected


def test_items_that_an_object_may_still_have() -> None:
    heir = f"from vllm.rows import Rows\nclass Some(Rows):\n    {GETS}\n"
    assert items(GETS, "pass", "rows[0]", heir=heir) == []
    assert items(GETS, "pass", "rows[0]", bases="(Outside)") == []
    assert items(GETS, "size: int", "rows[0]", bases="(NamedTuple)") == []


# `rows` is a `Rows` that has lost its items where `isinstance` says so, and is not told otherwise before.
NARROWED = {
    "in the body": ("if isinstance(x, Rows):\n    x[0]", True),
    "it is bound anew by that": ("if isinstance(x, Rows):\n    x = x[0]", True),
    "of an attribute": ("if isinstance(self.config, Rows):\n    self.config[0]", True),
    "in a condition inside": ("if isinstance(x, Rows):\n    if self.config:\n        x[0]", True),
    "the inner of two": ("if isinstance(x, Batch):\n    if isinstance(x, Rows):\n        x[0]", True),
    "it is bound anew before": ("if isinstance(x, Rows):\n    x = self.config\n    x[0]", False),
    "it is bound anew in a loop": ("if isinstance(x, Rows):\n    for n in y:\n        x[0]\n        x = n", False),
    "behind the body": ("if isinstance(x, Rows):\n    pass\nx[0]", False),
    "in the other branch": ("if isinstance(x, Rows):\n    pass\nelse:\n    x[0]", False),
    "one of two classes": ("if isinstance(x, (Rows, State)):\n    x[0]", False),
    "turned round": ("if not isinstance(x, Rows):\n    x[0]", False),
    "another name": ("if isinstance(y, Rows):\n    x[0]", False),
    "its attribute is bound anew below": ("if isinstance(o.x, Rows):\n    o.x[0]\n    o.x = y", True),
    "its attribute is bound anew before": ("if isinstance(o.x, Rows):\n    o.x = y\n    o.x[0]", False),
    "its attribute is bound anew in a loop": (
        "if isinstance(o.x, Rows):\n    for n in y:\n        o.x[0]\n        o.x = n",
        False,
    ),
    "another object has the attribute": ("if isinstance(o.x, Rows):\n    o = y\n    o.x[0]", False),
    "another attribute is bound": ("if isinstance(o.x, Rows):\n    o.y = y\n    o.x[0]", True),
    "it is bound anew on the same line": ("if isinstance(x, Rows):\n    x = y; x[0]", False),
    "it is made from itself on several lines": ("if isinstance(x, Rows):\n    x = (\n        x[0])", True),
    "a case binds it": ("if isinstance(x, Rows):\n    match y:\n        case {'k': x}:\n            x[0]", False),
    "a case binds the rest to it": (
        "if isinstance(x, Rows):\n    match y:\n        case [_, *x]:\n            x[0]",
        False,
    ),
    "a case binds the other keys": (
        "if isinstance(x, Rows):\n    match y:\n        case {**x}:\n            x[0]",
        False,
    ),
    "it is imported": ("if isinstance(x, Rows):\n    from torch import x\n    x[0]", False),
    "it is asked again": ("if isinstance(x, Rows):\n    if self.config and isinstance(x, State):\n        x[0]", False),
    "it is asked again in an expression": ("if isinstance(x, Rows):\n    x[0] if isinstance(x, State) else 1", False),
    "its type is asked": ("if isinstance(x, Rows):\n    if type(x) is State:\n        x[0]", False),
    "a case asks for it": ("if isinstance(x, Rows):\n    match x:\n        case State():\n            x[0]", False),
}


@pytest.mark.parametrize("name", NARROWED)
def test_what_isinstance_says_of_a_name(name: str) -> None:
    body, is_told = NARROWED[name]
    setting = "x, y, o = self.config\n"
    assert items(GETS, "pass", setting + body) == (["__getitem__"] if is_told else [])


# Classes in a module of vLLM that is not among those around the runners.
HEIRS = {
    "a class derives": ("class Some(Rows): ...", False),
    "a class derives from it and from another": ("class Some(Other, Rows): ...", False),
    "a class derives from it by another name": ("from vllm.rows import Rows as R\nclass Some(R): ...", False),
    "a class derives from a longer name": ("class Some(RowsOfOthers): ...", True),
    "a class holds it": ("class Some:\n    rows: Rows", True),
}


@pytest.mark.parametrize("name", HEIRS)
def test_isinstance_says_nothing_of_what_a_class_that_derives_may_have(name: str) -> None:
    """`isinstance(self.drafter, EagleProposer)`, which vllm-ascend's drafters are, with methods of their own."""
    text, is_told = HEIRS[name]
    reads = "def m(self, rows):\n    if isinstance(rows, Rows):\n        rows.late()\n        rows.add(1, extra=2)"
    rows = "class Rows:\n    def add(self, row): ...\n"
    new = world(npu=npu(reads, head="from vllm.rows import Rows"), **{"vllm/rows.py": rows, "vllm/more.py": text})
    expected = [("RS308", "Rows.late"), ("RS306", "add(extra=)")]
    assert sorted(symbols(find(new))) == (sorted(expected) if is_told else [])


@pytest.mark.parametrize(
    "binds",
    ["match y:\n    case [batch, *_]: pass", "match y:\n    case {**batch}: pass", "from torch import batch"],
)
def test_a_name_that_a_case_or_an_import_binds_too(binds: str) -> None:
    body = f"batch = Batch()\nif self.config:\n    {binds}".replace("\n    case", "\n        case")
    text = npu(
        "def m(self, y):\n    " + (body + "\nbatch.gone()").replace("\n", "\n    "),
        head="from vllm.runner import Batch",
    )
    assert symbols(find(world(npu=text))) == []


# A name that is bound twice, and read where only one of the two can have bound it.
BOUND_TWICE = {
    "something else below": ("batch = Batch()\nbatch.gone()\nbatch = make()", True),
    "something else in a branch below": ("batch = Batch()\nbatch.gone()\nif self.config:\n    batch = make()", True),
    "something else above": ("batch = make()\nbatch = Batch()\nbatch.gone()", False),
    "something else in a branch above": ("batch = Batch()\nif self.config:\n    batch = make()\nbatch.gone()", False),
    "something else on the same line": ("batch = Batch()\nbatch.gone(); batch = make()", False),
    "a loop leads back": (
        "batch = Batch()\nfor row in self.config:\n    batch.gone()\n    batch = make()",
        False,
    ),
    "a loop above": ("batch = Batch()\nfor row in self.config:\n    pass\nbatch.gone()\nbatch = make()", True),
    "a function that is called later": (
        "batch = Batch()\ndef use():\n    return batch.gone()\nbatch = make()\nreturn use",
        False,
    ),
    "a lambda that is called later": ("batch = Batch()\nuse = lambda: batch.gone()\nbatch = make()\nreturn use", False),
}


@pytest.mark.parametrize("name", BOUND_TWICE)
def test_what_is_bound_below_is_not_what_is_read(name: str) -> None:
    body, is_told = BOUND_TWICE[name]
    text = npu("def m(self):\n    " + body.replace("\n", "\n    "), head="from vllm.runner import Batch")
    assert symbols(find(world(npu=text))) == ([("RS308", "Batch.gone")] if is_told else [])


@pytest.mark.parametrize(
    ("had", "use", "operation"),
    [(GETS, "rows[0]", "rows[…]"), (COUNTS, "len(rows)", "len(rows)"), ("late = 1", "rows.late", "late")],
)
def test_a_lost_special_method_is_told_by_what_needs_it(had: str, use: str, operation: str) -> None:
    text = npu(f"def m(self, rows: Rows):\n    {use}", head="from vllm.rows import Rows")
    trees = [
        {"vllm/rows.py": ITEMS.format(bases="", body=body), "vllm/other.py": f"class Other:\n    {had}\n"}
        for body in (had, "pass")
    ]
    (found,) = find(world(npu=text, **trees[1]), world(npu=text, **trees[0]))
    assert found.fix == f"Follow what the target uses in place of `{operation}`."
