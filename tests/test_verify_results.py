"""Values that a call hands back: nobody takes them, they never come, or another than before (RS303, RS307, RS311)."""

from __future__ import annotations

import pytest
from verify_samples import TREES, find, npu, symbols, world

from runner_sync.model import Finding

# What omni's own method says, written before the target's returned anything, and how the NPU runner uses it.
OWN = "from vllm.runner import GPUModelRunner\nclass OmniGPUModelRunner(GPUModelRunner):\n{own}\n"
NOTHING = (
    "    def step(self):\n        self.done = True\n        if self.config:\n            return\n        self.done = 2"
)

USES = {
    "called": "run = self.step()\nself.config = 1\nrun()",
    "tested and called": "run = self.step()\nif run is not None:\n    run()",
    "tested as part of a condition": "run = self.step()\nif self.config and not run:\n    return 1",
    "looked into": "run = self.step()\nreturn run.rows",
    "taken apart": "a, b = self.step()\nreturn a, b",
    "taken apart as a list": "[a, b] = self.step()\nreturn a, b",
    "gone through asynchronously": "async for row in self.step():\n    print(row)",
    "gone through": "return [row for row in self.step()]",
    "tested on the spot": "while self.step():\n    pass",
    "empty before": "run = None\nif self.config:\n    run = self.step()\nif run:\n    run()",
    "behind a try": "try:\n    run = self.step()\nexcept KeyError:\n    run = None\nreturn run.rows",
    "behind a branch": "if self.config:\n    run = self.step()\nelse:\n    run = None\nreturn run.rows",
    "asked of the parent": "run = super().step()\nrun()",
}
NO_USES = {
    "a statement of its own": "self.step()",
    "handed on": "return self.step()",
    "kept": "self.config = self.step()",
    "only named": "run = self.step()\nreturn run",
    "something else as well": "run = self.step()\nif self.config:\n    run = self.config\nreturn run()",
    "a parameter of that name": "def inner(run):\n    return run()\nrun = self.step()\nreturn inner",
    "of another object": "run = self.config.step()\nrun()",
}
RETURNS = {
    "a value": "    def step(self):\n        self.done = 1\n        return self.finish",
    "a value sometimes": "    def step(self):\n        if self.config:\n            return self.finish",
    "an empty hook": '    def step(self):\n        """For a subclass."""',
    "a hook that is refused": "    def step(self):\n        raise NotImplementedError",
    "a written None": "    def step(self):\n        self.done = 1\n        return None",
    "another annotation": "    def step(self) -> Finish:\n        self.done = 1",
    "a generator": "    def step(self):\n        yield 1",
    "a coroutine": "    async def step(self):\n        self.done = 1",
    "a property": "    @property\n    def step(self):\n        self.done = 1",
    "an unknown decorator": "    @cached\n    def step(self):\n        self.done = 1",
    "an assigned callable": NOTHING + "\n    def late(self, f):\n        self.step = f",
}


def trees(*, use: str, own: str = NOTHING, body: str = "") -> list[tuple[str, str]]:
    method = "def run(self):\n    " + use.replace("\n", "\n    ")
    return symbols(find(world(npu=npu(f"{method}\n{body}"), gpu=OWN.format(own=own))))


@pytest.mark.parametrize("name", USES)
def test_a_value_that_never_comes(name: str) -> None:
    assert trees(use=USES[name]) == [("RS311", "step")]


@pytest.mark.parametrize("name", NO_USES)
def test_a_value_that_nobody_looks_into(name: str) -> None:
    assert trees(use=NO_USES[name]) == []


@pytest.mark.parametrize("name", RETURNS)
def test_a_method_that_may_return_one(name: str) -> None:
    assert trees(use="run = self.step()\nrun()", own=RETURNS[name] + "\n    finish = other = 1") == []


def test_the_override_that_the_mro_reaches_first_is_asked() -> None:
    returns = "def step(self):\n    return self.config"
    assert trees(use=USES["called"], body=returns) == []
    assert trees(
        use=USES["called"], own="    def step(self):\n        return 1", body="def step(self):\n    self.n = 1"
    ) == [("RS311", "step")]


def test_a_generator_inside_makes_no_generator_of_the_method() -> None:
    inner = "    def step(self):\n        def each():\n            yield 1\n        self.done = list(each())"
    assert trees(use=USES["called"], own=inner) == [("RS311", "step")]


def test_a_value_that_did_not_come_before_either_is_not_new() -> None:
    trees_of = world(npu=npu("def run(self):\n    run = self.step()\n    run()"), gpu=OWN.format(own=NOTHING))
    assert symbols(find(trees_of)) == [("RS311", "step")]
    assert find(trees_of, trees_of) == []


UNPACKS = "a, b = self.step()\nreturn a, b"
MAYBE = "def step(self):\n    if self.config:\n        return {}\n    return 1, 2"
BEFORE = MAYBE.format("None, None")

# How omni calls, vllm-ascend's method before and after, what is found.
NO_LONGER_A_TUPLE = {
    "one path returns `None` now": (UNPACKS, BEFORE, MAYBE.format("None"), [("RS303", "step")]),
    "one path returns nothing now": (
        UNPACKS,
        BEFORE,
        MAYBE.format("").replace("return \n", "return\n"),
        [("RS303", "step")],
    ),
    "`None` under a condition": (
        UNPACKS,
        "def step(self):\n    return 1, 2",
        "def step(self):\n    return (1, 2) if self.config else None",
        [("RS303", "step")],
    ),
    "what it hands on may be `None` now": (
        UNPACKS,
        "def step(self):\n    return self.inner()\ndef inner(self):\n    return 1, 2",
        "def step(self):\n    return self.inner()\ndef inner(self):\n    return (1, 2) if self.sp else None",
        [("RS303", "step")],
    ),
    "only an annotation told the size": (
        UNPACKS,
        "def step(self) -> tuple[int, int]:\n    return self.pair",
        "def step(self) -> tuple[int, int] | None:\n    if self.config:\n        return None\n    return self.pair",
        [("RS303", "step")],
    ),
    "every branch returned a tuple": (
        UNPACKS,
        "def step(self):\n    if self.sp:\n        with a:\n            return 1, 2\n    else:\n        raise KeyError",
        MAYBE.format("None"),
        [("RS303", "step")],
    ),
    "an error was raised in place of it": (
        UNPACKS,
        "def step(self):\n    try:\n        return 1, 2\n    except KeyError:\n        raise",
        MAYBE.format("None"),
        [("RS303", "step")],
    ),
    "another path returned `None` before": (
        UNPACKS,
        "def step(self):\n    if self.sp:\n        return\n    return 1, 2",
        MAYBE.format("None"),
        [],
    ),
    "the end could be reached before": (
        UNPACKS,
        "def step(self):\n    if self.sp:\n        return 1, 2",
        MAYBE.format("None"),
        [],
    ),
    "the end could be reached before, behind an error that was swallowed": (
        UNPACKS,
        "def step(self):\n    with suppress(KeyError):\n        return 1, 2",
        MAYBE.format("None"),
        [],
    ),
    "nobody knows what it returned before": (
        UNPACKS,
        "def step(self):\n    return self.pair",
        MAYBE.format("None"),
        [],
    ),
    "the result is tested first": (
        "pair = self.step()\nif pair is not None:\n    a, b = pair",
        BEFORE,
        MAYBE.format("None"),
        [],
    ),
    "there is something else in its place": (
        "a, b = self.step() or (None, None)",
        BEFORE,
        MAYBE.format("None"),
        [],
    ),
    "the error is caught": (
        "try:\n    a, b = self.step()\nexcept TypeError:\n    pass",
        BEFORE,
        MAYBE.format("None"),
        [],
    ),
    "it is not taken apart": ("return self.step()", BEFORE, MAYBE.format("None"), []),
    "a generator that may end early": (UNPACKS, BEFORE, MAYBE.format("None") + "\n    yield 1", []),
}

TAKES = "ids, embeds = self.step()\nreturn ids, embeds"
PAIR = "def step(self):\n    return ids, embeds"
SWAPPED = "def step(self):\n    return embeds, ids"
EARLY = "def step(self):\n    if self.sp:\n        return {}\n    return {}"
CHANGED_PLACES = {
    "two values change places": (TAKES, PAIR, SWAPPED, [("RS307", "step")]),
    "parts of objects, and the annotation with them": (
        TAKES,
        "def step(self) -> tuple[int, str]:\n    return self.ids.gpu, embeds[:1]",
        "def step(self) -> tuple[str, int]:\n    return embeds[:1], self.ids.gpu",
        [("RS307", "step")],
    ),
    "in every return": (TAKES, EARLY.format("a, b", "c, d"), EARLY.format("b, a", "d, c"), [("RS307", "step")]),
    "an early return fits any order": (
        TAKES,
        EARLY.format("None, None", "c, d"),
        EARLY.format("None, None", "d, c"),
        [("RS307", "step")],
    ),
    "of another call's arguments": (
        "ids, embeds = self.step(self.sp)",
        "def step(self, n=1):\n    return ids, embeds",
        "def step(self, n=1):\n    return embeds, ids",
        [("RS307", "step")],
    ),
    "one of the two is dropped": ("_, embeds = self.step()", PAIR, SWAPPED, [("RS307", "step")]),
    "both are dropped": (
        "a, _, _ = self.step()",
        "def step(self):\n    return a, b, c",
        "def step(self):\n    return a, c, b",
        [],
    ),
    "one of several returns": (TAKES, EARLY.format("a, b", "c, d"), EARLY.format("b, a", "c, d"), []),
    "returns that disagree": (
        "a, b, c = self.step()",
        EARLY.format("a, b, c", "d, e, f"),
        EARLY.format("b, a, c", "d, f, e"),
        [],
    ),
    "a return more": (TAKES, PAIR, EARLY.format("a, b", "ids, embeds"), []),
    "a return more, and by their names": (
        TAKES,
        PAIR,
        EARLY.format("a, b", "embeds, ids"),
        [("RS307", "step(embeds, ids)")],
    ),
    "other names": (TAKES, PAIR, "def step(self):\n    return tokens, states", []),
    "one other name": (TAKES, PAIR, "def step(self):\n    return embeds, tokens", []),
    "the same value twice": (TAKES, "def step(self):\n    return a, a", "def step(self):\n    return a, a", []),
    "a starred value": (TAKES, "def step(self):\n    return a, *b", "def step(self):\n    return *b, a", []),
    "one return is no tuple": (TAKES, EARLY.format("x", "c, d"), EARLY.format("x", "d, c"), []),
    "a generator": (TAKES, PAIR + "\n    yield", SWAPPED + "\n    yield", []),
    "nothing is unpacked": ("pair = self.step()\nreturn pair", PAIR, SWAPPED, []),
    "another object's method": ("ids, embeds = self.config.step()", PAIR, SWAPPED, []),
}

VALUE = "def step(self):\n    return self.sp"
NOTHING_NOW = "def step(self):\n    self.sp = 1"
HANDED = "n = self.step()\nself.batch.add(n)"
LOST = [("RS311", "step")]
NO_LONGER_COMES = {
    "a name that is an argument": (HANDED, VALUE, NOTHING_NOW, LOST),
    "an argument": ("self.batch.add(self.step())", VALUE, NOTHING_NOW, LOST),
    "a keyword argument": ("self.batch.add(1, index=self.step())", VALUE, NOTHING_NOW, LOST),
    "the end of a slice": ("n: int = self.step()\nreturn self.rows[:n]", VALUE, NOTHING_NOW, LOST),
    "an item is set to it": ("n = self.step()\nself.rows[0] = n", VALUE, NOTHING_NOW, LOST),
    "a condition": ("return 1 if self.step() else 2", VALUE, NOTHING_NOW, LOST),
    "a parameter's new value": ("def inner(n):\n    n = self.step()\n    return n + 1", VALUE, NOTHING_NOW, LOST),
    "an annotation says so": (HANDED, VALUE, NOTHING_NOW.replace("self)", "self) -> None"), LOST),
    "a written `None`": (HANDED, VALUE, NOTHING_NOW + "\n    return None", LOST),
    "the result is dropped": ("self.step()", VALUE, NOTHING_NOW, []),
    "dropped by name": ("n = self.step()", VALUE, NOTHING_NOW, []),
    "only what the name holds later is used": ("n = self.step()\nn = 1\nreturn self.rows[n]", VALUE, NOTHING_NOW, []),
    "handed on": ("return self.step()", VALUE, NOTHING_NOW, []),
    "kept": ("self.n = self.step()", VALUE, NOTHING_NOW, LOST),
    "kept as what it is declared": ("self.n: int = self.step()", VALUE, NOTHING_NOW, LOST),
    "kept by a name": ("n = self.step()\nself.n = n", VALUE, NOTHING_NOW, LOST),
    "kept, and it still comes at times": ("self.n = self.step()", VALUE, EARLY.format("1", "None"), []),
    "something else in its place": ("self.batch.add(self.step() or 1)", VALUE, NOTHING_NOW, []),
    "a value sometimes": (HANDED, VALUE, "def step(self):\n    if self.sp:\n        return 1", []),
    "it did not always come before": (
        HANDED,
        "def step(self):\n    if self.sp:\n        return 1\n    return",
        NOTHING_NOW,
        [],
    ),
    "one of two conditions": ("if self.step() and self.sp:\n    return 1", VALUE, NOTHING_NOW, LOST),
    "the last of two conditions": ("if self.sp or self.step():\n    return 1", VALUE, NOTHING_NOW, LOST),
    "what a condition may hand on": ("return self.sp and self.step()", VALUE, NOTHING_NOW, []),
    "a dictionary made with it": ("return {'a': 1, **self.step()}", VALUE, NOTHING_NOW, LOST),
    "an empty body": (HANDED, VALUE, "def step(self): ...", []),
    "nothing but `None`": (HANDED, VALUE, "def step(self):\n    return None", []),
    "it only raises": (HANDED, VALUE, "def step(self):\n    print(1)\n    raise NotImplementedError", []),
    "an abstract one": (HANDED, VALUE, "@abstractmethod\n" + NOTHING_NOW, []),
    "a generator now": (HANDED, VALUE, NOTHING_NOW + "\n    yield", []),
    "a value is promised": (HANDED, VALUE, NOTHING_NOW.replace("self)", "self) -> int"), []),
}

ROWS = "def step(self):\n    return self.rows.get(1)"
ROWS_OR_NONE = "def step(self):\n    if self.sp:\n        return None\n    return self.rows.get(1)"
MAY_NOT_COME = {
    "an attribute of it": ("n = self.step()\nreturn n.shape", ROWS, ROWS_OR_NONE, LOST),
    "a method of it at once": ("self.step().wait()", ROWS, ROWS_OR_NONE, LOST),
    "an item": ("n = self.step()\nreturn n[0]", ROWS, ROWS_OR_NONE, LOST),
    "a loop": ("for row in self.step():\n    print(row)", ROWS, ROWS_OR_NONE, LOST),
    "its length": ("return len(self.step())", ROWS, ROWS_OR_NONE, LOST),
    "a sum": ("return self.step() + 1", ROWS, ROWS_OR_NONE, LOST),
    "a bare return": ("return self.step() + 1", ROWS, ROWS_OR_NONE.replace(" None", ""), LOST),
    "a condition asks for it": ("n = self.step()\nif n:\n    print(n.shape)", ROWS, ROWS_OR_NONE, []),
    "a condition asks for `None`": ("n = self.step()\nif n is not None:\n    print(n[0])", ROWS, ROWS_OR_NONE, []),
    "a condition leaves": ("n = self.step()\nif not n:\n    return\nprint(n.shape)", ROWS, ROWS_OR_NONE, []),
    "its class is asked for": ("n = self.step()\nif isinstance(n, A):\n    print(n.x)", ROWS, ROWS_OR_NONE, []),
    "something is in its place": ("n = self.step() or self\nprint(n.x)", ROWS, ROWS_OR_NONE, []),
    "the error is expected": (
        "try:\n    print(self.step().x)\nexcept AttributeError:\n    pass",
        ROWS,
        ROWS_OR_NONE,
        [],
    ),
    "it is an argument": ("self.batch.add(self.step())", ROWS, ROWS_OR_NONE, []),
    "it is compared": ("return self.step() == 1", ROWS, ROWS_OR_NONE, []),
    "it came sometimes before": ("return self.step().x", ROWS_OR_NONE, ROWS_OR_NONE + "\n\n", []),
    "an annotation said so before": ("return self.step().x", ROWS.replace(")", ") -> 'A | None'", 1), ROWS_OR_NONE, []),
}

ONE = "def step(self) -> np.ndarray:\n    return total"
TWO = "def step(self):\n    return total, rows"
PLAINLY = "n = self.step()\nself.rows[1:] = n"
APART = [("RS303", "step")]
NOW_A_TUPLE = {
    "an item is set to it": (PLAINLY, ONE, TWO, APART),
    "an argument": (HANDED, ONE, TWO, APART),
    "an operand": ("return self.step() + 1", ONE, TWO, APART),
    "an attribute of it": ("n = self.step()\nreturn n.shape", ONE, TWO, APART),
    "a number in words": (HANDED, "def step(self):\n    return 1", TWO, APART),
    "a number or `None`": (HANDED, "def step(self) -> 'int | None':\n    return total", TWO, APART),
    "a list": (HANDED, "def step(self) -> list[int]:\n    return total", TWO, APART),
    "tested": ("n = self.step()\nif n:\n    return 1", ONE, TWO, APART),
    "tested with others": ("if self.sp and not self.step():\n    return 1", ONE, TWO, APART),
    "asked for": ("n = self.step()\nreturn n is not None", ONE, TWO, []),
    "tested and unpacked": ("n = self.step()\nif n:\n    a, b = n", ONE, TWO, []),
    "unpacked": ("n = self.step()\na, b = n\nreturn n + 1", ONE, TWO, []),
    "an item of it": ("n = self.step()\nreturn n[0] + 1", ONE, TWO, []),
    "gone through": ("return [n for n in self.step()]", ONE, TWO, []),
    "counted": ("n = self.step()\nreturn len(n)", ONE, TWO, []),
    "handed on": ("return self.step()", ONE, TWO, []),
    "kept": ("self.n = self.step()", ONE, TWO, []),
    "dropped": ("self.step()", ONE, TWO, []),
    "an unknown value that is one of two now": (HANDED, "def step(self):\n    return total", TWO, APART),
    "the second of two": (HANDED, "def step(self):\n    return rows", TWO, APART),
    "an unknown value or nothing": (
        HANDED,
        EARLY.format("None", "total"),
        EARLY.format("None, None", "total, rows"),
        APART,
    ),
    "another unknown value before": (HANDED, "def step(self):\n    return amount", TWO, []),
    "only nothing is the same": (HANDED, EARLY.format("None", "amount"), EARLY.format("None, None", "total, rows"), []),
    "anything before": (HANDED, "def step(self) -> Any:\n    return amount", TWO, []),
    "a shape before": (HANDED, "def step(self) -> torch.Size:\n    return self.shape", TWO, []),
    "a tuple before": (HANDED, "def step(self) -> int:\n    return 1, 2", TWO, []),
    "a tuple of any length before": (HANDED, "def step(self) -> tuple[int, ...]:\n    return total", TWO, []),
    "a tuple at times": (HANDED, ONE, EARLY.format("a, b", "c"), []),
    "tuples of two sizes": (HANDED, ONE, EARLY.format("a, b", "c, d, e"), []),
    "an argument of what changed as well": (
        "n = self.step()\nself.take(n)",
        ONE + "\ndef take(self, n):\n    return n",
        TWO + "\ndef take(self, n):\n    a, b = n",
        [],
    ),
    "an argument of what is as it was": (
        "n = self.step()\nself.take(n)",
        ONE + "\ndef take(self, n):\n    return n",
        TWO + "\ndef take(self, n):\n    return n",
        APART,
    ),
}
NO_TUPLE_NOW = {
    "a dictionary": (TAKES, PAIR, "def step(self):\n    return {'ids': ids, 'embeds': embeds}", APART),
    "a dictionary that is made": (TAKES, PAIR, "def step(self):\n    return dict(ids=ids, embeds=embeds)", APART),
    "a dictionary by annotation": (TAKES, PAIR, "def step(self) -> 'dict[str, int]':\n    return found", APART),
    "one of the values": (TAKES, PAIR, "def step(self):\n    return ids", APART),
    "one of the values on each path": (TAKES, EARLY.format("a, b", "c, d"), EARLY.format("a", "c"), APART),
    "a dictionary before, too": (
        TAKES,
        "def step(self):\n    return {}",
        "def step(self):\n    return {1: 2, 3: 4}",
        [],
    ),
    "a dictionary by a wrong annotation": (TAKES, PAIR, PAIR.replace("self)", "self) -> dict"), []),
    "the annotation was there before": (
        TAKES,
        "def step(self) -> dict:\n    return self.pair()\ndef pair(self):\n    return ids, embeds",
        "def step(self) -> dict:\n    return self.pair(1)\ndef pair(self, n):\n    return ids, embeds",
        [],
    ),
    "a dictionary on one path": (TAKES, PAIR, EARLY.format("{}", "found"), []),
    "a generator of dictionaries": (TAKES, PAIR, "def step(self) -> 'dict':\n    yield ids\n    yield embeds", []),
    "another value": (TAKES, PAIR, "def step(self):\n    return found", []),
    "an object that knows its parts": (TAKES, PAIR, "def step(self) -> Found:\n    return found", []),
    "one value that is not unpacked": ("n = self.step()\nreturn n", PAIR, "def step(self):\n    return ids", []),
}
SINCE = [
    *NO_TUPLE_NOW.items(),
    *NO_LONGER_A_TUPLE.items(),
    *CHANGED_PLACES.items(),
    *NO_LONGER_COMES.items(),
    *MAY_NOT_COME.items(),
    *NOW_A_TUPLE.items(),
]
ASCEND = "from vllm.runner import GPUModelRunner\nclass NPUModelRunner(GPUModelRunner):\n    {}\n"


def since(use: str, before: str, after: str, *, earlier: str = "") -> list[Finding]:
    """What is found since vllm-ascend's methods were ``before``; omni was the same, or its use was ``earlier``."""
    new, old = (
        world(npu=npu("def run(self):\n    " + _indented(own)), ascend=ASCEND.format(_indented(upstream)))
        for own, upstream in ((use, after), (earlier or use, before))
    )
    return find(new, old)


def _indented(text: str) -> str:
    return text.replace("\n", "\n    ")


@pytest.mark.parametrize(("use", "before", "after", "expected"), [pytest.param(*case, id=name) for name, case in SINCE])
def test_what_a_call_hands_back_since_the_old_target(
    use: str, before: str, after: str, expected: list[tuple[str, str]]
) -> None:
    assert symbols(since(use, before, after)) == expected
    assert since(use, after, after) == []


@pytest.mark.parametrize(
    ("head", "body", "expected"),
    [
        ("def run(self) -> int:", "return self.step()", LOST),
        ("def run(self) -> int:", "n = self.step()\nreturn n", LOST),
        ("def run(self) -> None:", "return self.step()", []),
        ("def run(self) -> int:", "def inner():\n    return self.step()\nreturn 1", []),
    ],
)
def test_a_function_that_declares_a_result_hands_one_on(head: str, body: str, expected: list[tuple[str, str]]) -> None:
    text = npu(f"{head}\n    {_indented(body)}")
    new, old = (world(npu=text, ascend=ASCEND.format(_indented(step))) for step in (NOTHING_NOW, VALUE))
    assert symbols(find(new, old)) == expected


def test_an_unpacking_that_changed_as_well_is_in_the_new_order() -> None:
    assert since("embeds, ids = self.step()", PAIR, SWAPPED, earlier="ids, embeds = self.step()") == []


def test_each_branch_of_a_conditional_base_is_asked() -> None:
    """vllm-ascend's runner for 310P devices has methods of its own, and stands in for the other one."""
    head = (
        "if small:\n    from vllm_ascend.small import SmallRunner as Base\n"
        "else:\n    from vllm_ascend.runner import NPUModelRunner as Base\n"
    )
    small = "from vllm_ascend.runner import NPUModelRunner\nclass SmallRunner(NPUModelRunner):\n    {}\n"
    found = {}
    for own in (VALUE, "pass"):
        new, old = (
            world(
                npu=npu("def run(self):\n    self.batch.add(self.step())", bases="Base", head=head),
                ascend=ASCEND.format(_indented(text)),
                **{"vllm_ascend/small.py": small.format(_indented(own))},
            )
            for text in (NOTHING_NOW, VALUE)
        )
        found[own] = symbols(find(new, old))
    assert found == {VALUE: LOST, "pass": LOST}


@pytest.mark.parametrize(
    ("use", "plain", "small"),
    [
        pytest.param("ids, embeds = self.step()", PAIR, SWAPPED, id="values in another order"),
        pytest.param("self.batch.add(self.step())", VALUE, NOTHING_NOW, id="a value in one of them"),
    ],
)
def test_the_branches_of_a_conditional_base_may_change_places(use: str, plain: str, small: str) -> None:
    """What a branch hands back is compared with what that branch handed back before."""
    runners = ("vllm_ascend.small import SmallRunner", "vllm_ascend.runner import NPUModelRunner")
    other = "from vllm_ascend.runner import NPUModelRunner\nclass SmallRunner(NPUModelRunner):\n    "
    old, new = (
        world(
            npu=npu(
                f"def run(self):\n    {use}",
                bases="Base",
                head=f"if small:\n    from {one} as Base\nelse:\n    from {two} as Base\n",
            ),
            ascend=ASCEND.format(_indented(plain)),
            **{"vllm_ascend/small.py": other + _indented(small)},
        )
        for one, two in (runners, runners[::-1])
    )
    assert symbols(find(new, old)) == symbols(find(old, new)) == []


def test_an_override_in_its_place_still_returns_one() -> None:
    body = "def run(self):\n    self.batch.add(self.step())\ndef step(self):\n    return 1"
    new, old = (world(npu=npu(body), ascend=ASCEND.format(_indented(text))) for text in (NOTHING_NOW, VALUE))
    assert symbols(find(new, old)) == []


def test_a_call_that_changed_as_well_is_written_for_the_tuple() -> None:
    after = "def step(self, n=0):\n    return total, rows"
    assert since("n = self.step(1)\nself.batch.add(n)", ONE, after, earlier=HANDED) == []


def test_the_value_that_lands_elsewhere_is_named() -> None:
    (finding,) = since("_, embeds = self.step()", PAIR, SWAPPED)
    assert "`ids` of `step` (vllm_ascend/runner.py:3) now lands on `embeds`" in finding.message


BOOKED = """\
from __future__ import annotations
from dataclasses import dataclass
from typing import NamedTuple, Protocol
from torch import Outside, iterable
from vllm.runner import GPUModelRunner
@{decorator}
class Booked{bases}:
    ids: list
    rows: int
    {more}
class Pair(NamedTuple):
    ids: list
    rows: int
class NPUModelRunner(GPUModelRunner):
    def book(self){returns}:
        {value}
"""
MADE = "return Booked([], 1)"
# Bases and members of what comes back, the annotation, the returns.
NO_PARTS = {
    "made on the spot": ("", "pass", "", MADE),
    "annotated": ("", "pass", " -> Booked", "return self.booked"),
    "annotated, or nothing": ("", "pass", " -> Booked | None", "return self.booked"),
    "with other methods": ("", "def __len__(self): ...", "", MADE),
}
PARTS = {
    "it can be gone through": ("", "def __iter__(self): ...", "", MADE),
    "it has items": ("", "def __getitem__(self, n): ...", "", MADE),
    "a base outside the trees": ("(Outside)", "pass", "", MADE),
    "a NamedTuple of that size": ("", "pass", " -> Pair", "return Pair([], 1)"),
    "a tuple whatever is annotated": ("", "pass", " -> Booked", "return [], 1"),
    "nobody knows on one path": ("", "pass", "", f"if self.config: {MADE}\n        return self.config.rows()"),
    "a class that others derive from": ("", "pass", " -> Booked", "return self.booked"),
    "a protocol that any class may have": ("(Protocol)", "pass", " -> Booked", "return self.booked"),
    "a coroutine's": ("", "pass", "", f"yield 1\n        {MADE}"),
}


def unpacked(
    bases: str, more: str, returns: str, value: str, heir: str = "", decorator: str = "dataclass"
) -> list[tuple[str, str]]:
    text = npu("def run(self):\n    ids, rows = self.book()\n    return ids, rows")
    upstream = BOOKED.format(bases=bases, more=more, returns=returns, value=value, decorator=decorator)
    found = symbols(find(world(npu=text, ascend=upstream, **{"vllm_ascend/more.py": heir})))
    return [pair for pair in found if pair[0] != "RS304"]


@pytest.mark.parametrize("name", NO_PARTS)
def test_an_object_that_cannot_be_unpacked(name: str) -> None:
    assert unpacked(*NO_PARTS[name]) == [("RS303", "book")]


@pytest.mark.parametrize("name", PARTS)
def test_an_object_that_may_be_unpacked(name: str) -> None:
    heir = "class Two(Booked):\n    def __iter__(self): ...\n" if "derive" in name else ""
    assert unpacked(*PARTS[name], heir=heir) == []


@pytest.mark.parametrize(
    ("decorator", "is_told"), [("dataclass(frozen=True)", True), ("final", True), ("iterable", False)]
)
def test_a_decorator_that_may_add_what_unpacking_asks_for(decorator: str, is_told: bool) -> None:
    assert unpacked(*NO_PARTS["made on the spot"], decorator=decorator) == ([("RS303", "book")] if is_told else [])


@pytest.mark.parametrize(
    "body",
    [
        "rows = self.batch\nif type(rows) is tuple:\n    a, b = rows",
        "rows = self.batch\nmatch rows:\n    case tuple():\n        a, b = rows",
    ],
)
def test_an_object_whose_type_is_asked_may_be_unpacked(body: str) -> None:
    assert symbols(find(world(npu=npu("def run(self):\n    " + body.replace("\n", "\n    "))))) == []


def test_an_attribute_that_holds_one_object() -> None:
    text = npu("def run(self):\n    rows, size = self.batch\n    return rows, size")
    assert symbols(find(world(npu=text))) == [("RS303", "batch")]


def test_two_records_of_one_size_are_told_as_one_number() -> None:
    """The runner of vllm-ascend has a record of its own, and so has that of vLLM below it."""
    runner = """\
        from typing import NamedTuple
        from vllm.runner import GPUModelRunner, State

        class Kept(NamedTuple):
            logits: object
            rows: object

        class NPUModelRunner(GPUModelRunner):
            def step(self):
                self.state = Kept(1, 2)
                self.state = State(1, 2)
        """
    text = npu("def run(self):\n    a, b, c = self.state\n    return a, b, c")
    (found,) = [one for one in find(world(npu=text, ascend=runner)) if one.code == "RS303"]
    assert found.message.endswith("provides 2.")


DECLARING = """\
from typing import NamedTuple
from vllm.runner import GPUModelRunner
class Small(NamedTuple):
    a: int
    b: int
class NPUModelRunner(GPUModelRunner):
    def __init__(self, config):
        super().__init__(config)
        self.st: Small | None = None
    def execute(self):
        self.st = Small(1, 2)
"""


@pytest.mark.parametrize(
    ("stored", "wrong"), [("Big(1, 2, 3)", ["a, b", "a, b, c, d"]), ("make()", []), ("None", ["a, b, c", "a, b, c, d"])]
)
def test_a_declared_record_counts_only_where_nothing_known_is_stored(stored: str, wrong: list[str]) -> None:
    head = "from typing import NamedTuple\nclass Big(NamedTuple):\n    a: int\n    b: int\n    c: int\n"
    found = []
    for names in ("a, b", "a, b, c", "a, b, c, d"):
        run = npu(f"def execute(self):\n    self.st = {stored}\ndef sample(self):\n    {names} = self.st\n", head=head)
        found += [names for finding in find(world(npu=run, ascend=DECLARING)) if finding.code == "RS303"]
    assert found == wrong


@pytest.mark.parametrize(
    ("made", "said"), [("Own", "`Own` (fields of `Out`, vllm/runner.py:"), ("Out", "`Out` (vllm/runner.py:")]
)
def test_a_constructor_that_inherits_its_fields_says_whose_they_are(made: str, said: str) -> None:
    vllm = (
        TREES["vllm/runner.py"]
        + "\n        from dataclasses import dataclass\n        @dataclass\n        class Out:\n            rows: int\n"
    )
    head = "from vllm.runner import Out\nclass Own(Out):\n    pass\n"
    (finding,) = find(world(npu=npu(f"def step(self):\n    return {made}(rows=1, late=2)\n", head=head), vllm=vllm))
    assert finding.code == "RS306"
    assert finding.message.startswith(said)


TUPLES_IN_A_LOCAL = {
    "of another size": ("        made = 1, 2, 3\n        return made", [("RS303", "step")]),
    "with a type": ("        made: tuple = (1, 2, 3)\n        return made", [("RS303", "step")]),
    "under a stale annotation": ("        made = 1, 2, self.config\n        return made", [("RS303", "step")]),
    "of this size": ("        made = 1, 2\n        return made", []),
    "set twice": ("        made = 1, 2, 3\n        if self.config:\n            made = 1, 2\n        return made", []),
    "added to": ("        made = (1, 2, 3)\n        made += (4,)\n        return made", []),
    "set by a loop, too": (
        "        made = 1, 2, 3\n        for made in self.config:\n            pass\n        return made",
        [],
    ),
}


@pytest.mark.parametrize("name", TUPLES_IN_A_LOCAL)
def test_a_local_that_is_set_once_to_a_tuple_is_returned_as_this_tuple(name: str) -> None:
    body, expected = TUPLES_IN_A_LOCAL[name]
    head = "    def step(self) -> tuple[int, int]:\n" if "stale" in name else "    def step(self):\n"
    assert trees(use="a, b = self.step()\nreturn a, b", own=head + body) == expected
