"""Context managers that give `with` no value any more, or that may be `None` now (RS311)."""

from __future__ import annotations

import pytest
from verify_samples import find, npu, symbols, world

HEAD = "import contextlib\nimport threading\n"
HOLDER = """\
@contextlib.contextmanager
def hold(a):
    out = Out()
    {}
"""
WITH = "with hold(1) as out:\n        self.run()\n    "
NEEDS = {
    "an attribute": f"{WITH}out.done()",
    "stored": f"{WITH}self.out = out",
    "returned": f"{WITH}return out.rows",
    "passed on": f"{WITH}self.run(out)",
    "tested": f"{WITH}print(1 if out is None else 2)",
    "inside": "with hold(1) as out:\n        print(out.rows)",
}
NEEDS_NONE = {
    "not read": f"{WITH}pass",
    "without a name": "with hold(1):\n        self.run()",
    "caught": "try:\n        with hold(1) as out:\n            print(out.rows)\n    except TypeError:\n        pass",
}


def told(use: str, now: str, was: str) -> list[str]:
    own = npu(f"def m(self, a):\n    {use}", head="from vllm_ascend.holder import hold")
    new, old = (world(npu=own, **{"vllm_ascend/holder.py": HEAD + text}) for text in (now, was))
    return [symbol for code, symbol in symbols(find(new, old)) if code == "RS311"]


@pytest.mark.parametrize("name", NEEDS)
def test_a_context_manager_that_gives_no_value_any_more(name: str) -> None:
    assert told(NEEDS[name], HOLDER.format("yield"), HOLDER.format("yield out")) == ["hold"]


@pytest.mark.parametrize("name", NEEDS_NONE)
def test_a_use_that_may_do_without_the_value(name: str) -> None:
    assert told(NEEDS_NONE[name], HOLDER.format("yield"), HOLDER.format("yield out")) == []


OUTER = "def hold(a):\n    return {} if a else contextlib.nullcontext()\n"
INNER = "@contextlib.contextmanager\ndef inner(a):\n    {}\n"


@pytest.mark.parametrize(
    ("now", "was", "expected"),
    [
        pytest.param(HOLDER.format("yield Out()"), HOLDER.format("yield out"), [], id="another value"),
        pytest.param(HOLDER.format("yield"), HOLDER.format("yield"), [], id="never one"),
        pytest.param(HOLDER.format("yield None"), HOLDER.format("yield out"), ["hold"], id="None"),
        pytest.param(
            HOLDER.format("if a:\n        yield\n        return\n    yield out"),
            HOLDER.format("yield out"),
            [],
            id="sometimes",
        ),
        pytest.param(
            OUTER.format("inner(a)") + INNER.format("yield"),
            OUTER.format("inner(a)") + INNER.format("yield 1"),
            ["hold"],
            id="of another function",
        ),
        pytest.param(
            OUTER.format("inner(a)") + INNER.format("yield 2"),
            OUTER.format("inner(a)") + INNER.format("yield 1"),
            [],
            id="another value of another function",
        ),
        pytest.param(
            "def hold(a):\n    return contextlib.nullcontext(a)\n", HOLDER.format("yield out"), [], id="a null context"
        ),
        pytest.param(
            "def hold(a):\n    return contextlib.nullcontext()\n", HOLDER.format("yield out"), [], id="an empty one"
        ),
    ],
)
def test_what_a_context_manager_gives(now: str, was: str, expected: list[str]) -> None:
    assert told(NEEDS["an attribute"], now, was) == expected


LOCKED = "def hold(a):\n    return threading.Lock()\n"
OR_NONE = "def hold(a):\n    if a:\n        return None\n    return threading.Lock()\n"


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        ("with hold(1):\n        self.run()", ["hold"]),
        ("lock = hold(1)\n    with lock:\n        self.run()", ["hold"]),
        ("hold(1)()", ["hold"]),
        ("lock = hold(1)\n    if lock is not None:\n        with lock:\n            self.run()", []),
        ("with hold(1) or self.lock:\n        self.run()", []),
    ],
)
def test_a_context_manager_that_may_be_none_now(use: str, expected: list[str]) -> None:
    assert told(use, OR_NONE, LOCKED) == expected
