"""A member that is of another kind than before, and is used as what it was (RS314)."""

from __future__ import annotations

import pytest
from verify_samples import find, npu, symbols, world

ASCEND = """\
from __future__ import annotations
from collections.abc import Callable
from contextlib import asynccontextmanager, contextmanager, nullcontext
from functools import cached_property, lru_cache
from vllm.runner import Batch, GPUModelRunner
class Lock:
    def __enter__(self): ...
    def __exit__(self, *error): ...
class Hook:
    def __call__(self): ...
class Rows:
    def __getitem__(self, n): ...
class Base: ...
class Derived(Base, Lock): ...
class Waiting:
    async def __aenter__(self): ...
    async def __aexit__(self, *error): ...
class NPUModelRunner(GPUModelRunner):
    {member}
"""
# Each form of a member called ``size``.
METHOD = "def size(self) -> int:\n        return 1"
PROPERTY = "@property\n    def size(self) -> int:\n        return 1"
SETTABLE = PROPERTY + "\n    @size.setter\n    def size(self, n): ..."
CACHED = "@cached_property\n    def size(self) -> int:\n        return 1"
COROUTINE = "async def size(self) -> int:\n        return 1"
ATTRIBUTE = "def __init__(self, config):\n        self.size = config.size"
NUMBER = "def __init__(self, config):\n        self.size = 1"
CALLABLE = "size: Callable[[], int]"
MANAGER = "@contextmanager\n    def size(self):\n        yield 1"
WAITING = "@asynccontextmanager\n    async def size(self):\n        yield 1"
NOTHING = "def size(self) -> None:\n        pass"
PLACEHOLDER = "def __init__(self, config):\n        self.size = None"
LOCK_OF_CONFIG = "def size(self):\n        return self.config.lock"
GENERATOR = "def size(self):\n        yield 1"
NUMBERS = "def size(self) -> list[int]:\n        return [1]"
OF_CONFIG = "@property\n    def size(self):\n        return self.config.size"
METHOD_OF_CONFIG = "def size(self):\n        return self.config.size"
CACHING = "@lru_cache\n    def size(self):\n        return 1"

STREAM = "def __init__(self, config):\n        self.size = torch.cuda.Stream()"
EVENT = "size: torch.npu.Event"
TENSOR = "def __init__(self, config):\n        self.size = torch.zeros(config.size)"
EVENT_OF_CONFIG = "def __init__(self, config):\n        self.size = config.Event()"

BREAKS = {
    "a stream is called": (METHOD, STREAM, "return self.size()"),
    "an event is called": (METHOD, EVENT, "return self.size()"),
    "a tensor is called": (METHOD, TENSOR, "return self.size()"),
    "a method is passed for a stream": (STREAM, METHOD, "return print(self.size)"),
    "a method is passed for a tensor": (TENSOR, METHOD, "return print(self.size)"),
    "a property is called": (METHOD, PROPERTY, "return self.size()"),
    "a cached property is called": (METHOD, CACHED, "return self.size()"),
    "a number is called": (METHOD, NUMBER, "return self.size()"),
    "a property that hands out what the method did": (
        "def size(self):\n        return self.config.size",
        "@property\n    def size(self):\n        return self.config.size",
        "return self.size()",
    ),
    "a property of an object without __call__": (
        METHOD,
        "@property\n    def size(self) -> Batch | None: ...",
        "return self.size()",
    ),
    "a property of the parent is called": (METHOD, PROPERTY, "return super().size()"),
    "a method is tested": (PROPERTY, METHOD, "if self.size:\n        return 1"),
    "a method is tested with others": (PROPERTY, METHOD, "return 1 if self.config and not self.size else 2"),
    "a method is compared": (ATTRIBUTE, METHOD, "assert 1 <= self.size"),
    "a method is added to": (ATTRIBUTE, METHOD, "return self.size + 1"),
    "a method is read that was declared and assigned": (
        "size: int\n    def __init__(self, config):\n        self.size = config.size",
        "size: int\n    " + METHOD,
        "return self.size + 1",
    ),
    "a coroutine that got a name is asked for": (
        METHOD,
        COROUTINE,
        "n = self.size()\n    assert n is not None\n    return n.rows",
    ),
    "a method is looked into": (ATTRIBUTE, METHOD, "return self.size[0]"),
    "a method is gone through": (ATTRIBUTE, METHOD, "return [n for n in self.size]"),
    "a method is passed for a number": (PROPERTY, METHOD, "return print(self.size)"),
    "an attribute that nobody calls is tested": (ATTRIBUTE, METHOD, "if not self.size:\n        return 1"),
    "a coroutine is dropped": (METHOD, COROUTINE, "self.size()"),
    "a coroutine is taken apart": (METHOD, COROUTINE, "a, b = self.size()\n    return a, b"),
    "a coroutine is looked into": (METHOD, COROUTINE, "return self.size()[0]"),
    "a coroutine is tested with others": (METHOD, COROUTINE, "if self.size() or self.config:\n        return 1"),
    "a coroutine of a hook that is asked for": (METHOD, COROUTINE, "if self.size is not None:\n        self.size()"),
    "a coroutine that got a name is looked into": (METHOD, COROUTINE, "n = self.size()\n    return n + 1"),
    "a coroutine that got a name is tested": (METHOD, COROUTINE, "n = self.size()\n    if n:\n        return 1"),
    "a coroutine is counted": (METHOD, COROUTINE, "n = self.size()\n    return len(n)"),
    "a generator is dropped": (METHOD, GENERATOR, "self.size()"),
    "a generator is looked into": (METHOD, GENERATOR, "n = self.size()\n    return n[0]"),
    "a generator is tested": (METHOD, GENERATOR, "return 1 if self.size() else 2"),
    "a generator is entered": (MANAGER, GENERATOR, "with self.size():\n        return 1"),
    "a context manager that got a name is looked into": (METHOD, MANAGER, "n = self.size()\n    return n.rows"),
    "what is called beside a question": (METHOD, PROPERTY, "n = callable(self.size)\n    return n, self.size()"),
    "what is called where another thing is asked for": (
        METHOD,
        PROPERTY,
        "return self.size() if callable(self.config) else 1",
    ),
    "a cached method is looked into": (ATTRIBUTE, CACHING, "return self.size[0]"),
    "an attribute of a method": (ATTRIBUTE, METHOD, "self.size.cache_clear()"),
    "a context manager that became asynchronous is entered": (MANAGER, WAITING, "with self.size():\n        return 1"),
    "and by a stack": (MANAGER, WAITING, "stack.enter_context(self.size())"),
    "one that became synchronous is awaited": (
        WAITING,
        MANAGER,
        "async def f():\n        async with self.size():\n            return 1\n    return f",
    ),
    "and by a stack that awaits": (
        WAITING,
        MANAGER,
        "async def f():\n        await stack.enter_async_context(self.size())\n    return f",
    ),
    "a method that became one to wait for is dropped": (METHOD, WAITING, "self.size()"),
    "nothing is entered": (MANAGER, NOTHING, "with self.size():\n        return 1"),
    "a coroutine is entered": (MANAGER, COROUTINE, "with self.size():\n        return 1"),
    "nothing is entered with others": (MANAGER, NOTHING, "with f(), self.size() as n:\n        return n"),
    "nothing is entered by a name": (MANAGER, NOTHING, "lock = self.size()\n    with lock:\n        return 1"),
    "nothing is entered on a condition": (
        MANAGER,
        NOTHING,
        "with self.size() if self.config else nullcontext():\n        return 1",
    ),
    "by a name that is chosen": (
        MANAGER,
        NOTHING,
        "lock = self.size()\n    with lock if self.config else nullcontext():\n        return 1",
    ),
    "nothing is entered by a stack": (MANAGER, NOTHING, "stack.enter_context(self.size())"),
    "nothing is entered that came in a tuple": (
        MANAGER,
        NOTHING,
        "lock, n = self.size(), 1\n    with lock:\n        return n",
    ),
    "nothing is entered that a method returns": (
        MANAGER,
        NOTHING,
        "return self.size()\ndef run(self):\n    with self.m():\n        return 1",
    ),
    "nothing is entered that a method returns with others": (
        MANAGER,
        NOTHING,
        "return 1, self.size()\ndef run(self):\n    n, lock = self.m()\n    with lock:\n        return n",
    ),
    "a property is entered": (MANAGER, PROPERTY, "with self.size():\n        return 1"),
    "a number is gone through": (GENERATOR, METHOD, "for n in self.size():\n        print(n)"),
    "nothing is gone through": (GENERATOR, NOTHING, "return [n for n in self.size()]"),
    "a context manager is gone through": (GENERATOR, MANAGER, "rows = self.size()\n    return [*rows]"),
    "a coroutine is gone through": (GENERATOR, COROUTINE, "return sorted(self.size())"),
    "a coroutine that was a list is gone through": (NUMBERS, COROUTINE, "return max(self.size())"),
    "a coroutine is searched": (NUMBERS, COROUTINE, "return 1 in self.size()"),
    "a generator is looked for": (METHOD, GENERATOR, "return self.size() in (1, 2)"),
    "nothing is taken apart": (GENERATOR, NOTHING, "a, b = self.size()\n    return a, b"),
    "nothing is handed on one by one": (GENERATOR, NOTHING, "yield from self.size()"),
    "a list is asked for the next one": (GENERATOR, NUMBERS, "return next(self.size())"),
    "a number is awaited": (COROUTINE, METHOD, "async def f():\n        return await self.size()\n    return f"),
    "a method that got a name is looked into": (OF_CONFIG, METHOD_OF_CONFIG, "n = self.size\n    return n + 1"),
    "a method that got a name is gone through": (
        OF_CONFIG,
        METHOD_OF_CONFIG,
        "rows = self.size\n    return [row for row in rows]",
    ),
    "a method that got a name is tested": (ATTRIBUTE, METHOD, "n = self.size\n    if n:\n        return 1"),
    "a call that only makes a context manager": (NOTHING, MANAGER, "self.size()"),
    "a property without a setter is assigned": (ATTRIBUTE, PROPERTY, "self.size = 1"),
    "and counted up": (SETTABLE, PROPERTY, "self.size += 1"),
    "and taken from a tuple": (NUMBER, PROPERTY, "self.size, n = 1, 2\n    return n"),
}

NEAR_MISSES = {
    "the use has changed as well": (METHOD, PROPERTY, "return self.size"),
    "it is called now": (PROPERTY, METHOD, "return self.size()"),
    "still a method": (METHOD, METHOD, "return self.size()"),
    "a property became a cached one": (PROPERTY, CACHED, "return self.size + 1"),
    "an attribute became a property": (ATTRIBUTE, PROPERTY, "return self.size + 1"),
    "a property that hands out a function": (
        METHOD,
        "@property\n    def size(self) -> Callable[[], int]: ...",
        "return self.size()",
    ),
    "a property of an object with __call__": (
        METHOD,
        "@property\n    def size(self) -> Hook: ...",
        "return self.size()",
    ),
    "a property of nobody knows what": (
        METHOD,
        "@property\n    def size(self):\n        return f()",
        "return self.size()",
    ),
    "an attribute of an object with __call__": (
        METHOD,
        "def __init__(self, config):\n        self.size = Hook()",
        "return self.size()",
    ),
    "an attribute annotated as something to call": (METHOD, CALLABLE, "return self.size()"),
    "another name for a method": (METHOD, "def other(self): ...\n    size = other", "return self.size()"),
    "what is made in the class body": (METHOD, "size = make()", "return self.size()"),
    "an unknown decorator": (METHOD, "@magic\n    def size(self) -> int: ...", "return self.size()"),
    "a method that the object hides": (
        METHOD,
        "def size(self): ...\n    def __init__(self, config):\n        self.size = 1",
        "return self.size()",
    ),
    "overloads": (
        METHOD,
        "@overload\n    def size(self) -> int: ...\n    @overload\n    def size(self, n) -> str: ...\n    " + METHOD,
        "return self.size()",
    ),
    "a hook that may be there is asked for and called": (
        CALLABLE,
        METHOD,
        "if self.size is not None:\n        return self.size()",
    ),
    "a hook of nobody knows what type": (ATTRIBUTE, METHOD, "if self.size:\n        return self.size()"),
    "a hook is handed on": (ATTRIBUTE, METHOD, "return print(self.size)"),
    "a hook is compared with another": (CALLABLE, METHOD, "return self.size == print"),
    "a coroutine is awaited elsewhere": (METHOD, COROUTINE, "run(self.size())"),
    "a coroutine that got a name is awaited": (
        METHOD,
        COROUTINE,
        "async def f():\n        n = self.size()\n        return (await n) + (n == 1)\n    return f",
    ),
    "a coroutine that got a name is asked what it is": (
        METHOD,
        COROUTINE,
        "n = self.size()\n    if isawaitable(n):\n        n = wait(n)\n    return n + 1",
    ),
    "a generator is gone through": (METHOD, GENERATOR, "n = self.size()\n    return [m for m in n]"),
    "a generator is taken apart": (METHOD, GENERATOR, "(n,) = self.size()\n    return n"),
    "a generator within": (
        METHOD,
        "def size(self):\n        def f():\n            yield 1\n        return 1",
        "self.size()",
    ),
    "a context manager that got a name is entered": (
        LOCK_OF_CONFIG,
        MANAGER,
        "lock = self.size()\n    with lock:\n        return lock == 1",
    ),
    "a coroutine is kept": (METHOD, COROUTINE, "task = self.size()\n    return task"),
    "a function hands out a context manager": (
        MANAGER,
        "def size(self) -> Lock:\n        return Lock()",
        "with self.size():\n        return 1",
    ),
    "a function of nobody knows what is entered": (
        MANAGER,
        "def size(self):\n        return nullcontext()",
        "with self.size():\n        return 1",
    ),
    "what never could be entered": (METHOD, NOTHING, "with self.size():\n        return 1"),
    "a generator is searched": (NUMBERS, GENERATOR, "return 1 in self.size()"),
    "a list is gone through": (GENERATOR, NUMBERS, "for n in self.size():\n        print(n)"),
    "words are gone through": (GENERATOR, "def size(self) -> str: ...", "return [*self.size()]"),
    "an array is gone through": (
        GENERATOR,
        "def size(self):\n        return self.config == 1",
        "return list(self.size())",
    ),
    "an annotated array is": (GENERATOR, "def size(self) -> torch.Tensor: ...", "return list(self.size())"),
    "something with items is": (GENERATOR, "def size(self) -> Rows: ...", "return list(self.size())"),
    "something that nobody knows is": (GENERATOR, METHOD_OF_CONFIG, "return list(self.size())"),
    "a number is compared": (GENERATOR, METHOD, "return max(self.size(), 3)"),
    "a name of another thing": (
        GENERATOR,
        METHOD,
        "def next(n):\n        return n\n    return next(self.size())",
    ),
    "something that derives from a class may be entered": (
        MANAGER,
        "def size(self) -> Base: ...",
        "with self.size():\n        return 1",
    ),
    "what is awaited may be anything": (
        COROUTINE,
        METHOD_OF_CONFIG,
        "async def f():\n        return await self.size()\n    return f",
    ),
    "entered if it is there": (
        MANAGER,
        NOTHING,
        "lock = self.size()\n    if lock is not None:\n        with lock:\n            return 1",
    ),
    "entered by another name": (
        MANAGER,
        NOTHING,
        "lock = self.size()\n    lock = f()\n    with lock:\n        return 1",
    ),
    "entered where it is not returned to": (
        MANAGER,
        NOTHING,
        "return self.size(), f()\ndef run(self):\n    n, lock = self.m()\n    with lock:\n        return n",
    ),
    "returned in a tuple of another size": (
        MANAGER,
        NOTHING,
        "return self.size(), 1\ndef run(self):\n    lock, *n = self.m()\n    with lock:\n        return n",
    ),
    "entered where it may fail": (
        MANAGER,
        NOTHING,
        "lock = self.size()\n    try:\n        with lock:\n            return 1\n    except TypeError:\n        pass",
    ),
    "one to wait for is": (
        MANAGER,
        WAITING,
        "async def f():\n        async with self.size():\n            return 1\n    return f",
    ),
    "one to wait for is kept": (METHOD, WAITING, "lock = self.size()\n    return lock"),
    "one to wait for stays one": (WAITING, WAITING, "with self.size():\n        return 1"),
    "waited for": (
        MANAGER,
        "def size(self) -> Waiting: ...",
        "async def f():\n        async with self.size():\n            return 1\n    return f",
    ),
    "a method that got a name is called": (
        OF_CONFIG,
        METHOD_OF_CONFIG,
        "n = self.size\n    return n() + 1 if n else n + 1",
    ),
    "a method that got a name is asked what it is": (
        OF_CONFIG,
        METHOD_OF_CONFIG,
        "n = self.size\n    return n + 1 if isinstance(n, int) else n",
    ),
    "a hook that got a name is handed on": (
        ATTRIBUTE,
        METHOD,
        "hook = self.size\n    if hook:\n        return print(hook)",
    ),
    "a hook of a known type that got a name is there": (CALLABLE, METHOD, "n = self.size\n    if n:\n        return 1"),
    "a method that got a name has what caching adds": (ATTRIBUTE, CACHING, "n = self.size\n    n.cache_clear()"),
    "a context manager is entered later": (NOTHING, MANAGER, "stack.enter_context(self.size())"),
    "a property with a setter": (ATTRIBUTE, SETTABLE, "self.size = 1"),
    "a cached property is assigned": (ATTRIBUTE, CACHED, "self.size = 1"),
    "called if it can be": (METHOD, PROPERTY, "return self.size() if callable(self.size) else self.size"),
    "read if it cannot be called": (PROPERTY, METHOD, "return self.size() if callable(self.size) else self.size"),
    "called below a question": (METHOD, PROPERTY, "if callable(self.size):\n        return self.size()\n    return 1"),
    "called behind a way out": (
        METHOD,
        PROPERTY,
        "if not callable(self.size):\n        return 1\n    return self.size()",
    ),
    "called if it is no number": (METHOD, PROPERTY, "if not isinstance(self.size, int):\n        return self.size()"),
    "called if it has __call__": (METHOD, PROPERTY, "if hasattr(self.size, '__call__'):\n        return self.size()"),
    "called if it is there": (METHOD, PROPERTY, "return self.size() if self.size else 0"),
    "called if it and another are there": (METHOD, PROPERTY, "return self.config and self.size and self.size()"),
    "called after an assert": (METHOD, PROPERTY, "assert self.size is not None\n    return self.size()"),
    "awaited elsewhere if it is a coroutine": (
        METHOD,
        COROUTINE,
        "if not asyncio.iscoroutinefunction(self.size):\n        self.size()",
    ),
    "a placeholder that became a method": (
        PLACEHOLDER,
        METHOD,
        "if self.size is not None:\n        return self.size()",
    ),
    "a placeholder of a class body": ("size = None", METHOD, "return print(self.size)"),
    "a placeholder is called": (METHOD, PLACEHOLDER, "return self.size()"),
    "asked whether it is there": (NUMBER, METHOD, "return self.size is not None"),
    "one of two is entered": (LOCK_OF_CONFIG, MANAGER, "with self.size() or nullcontext():\n        return 1"),
    "what a call hands back is asked for": (LOCK_OF_CONFIG, MANAGER, "if self.size() is not None:\n        return 1"),
    "one of two is awaited": (METHOD, COROUTINE, "async def f():\n        await (self.size() or g())\n    return f"),
    "what caching adds to a method": (ATTRIBUTE, CACHING, "self.size.cache_clear()"),
    "in a try": (METHOD, PROPERTY, "try:\n        return self.size()\n    except TypeError:\n        return 1"),
    "below a version switch": (METHOD, PROPERTY, "if version >= 2:\n        return self.size()"),
}


def kinds(before: str, after: str, use: str) -> list[tuple[str, str]]:
    old, new = (world(npu=npu(f"def m(self):\n    {use}"), ascend=ASCEND.format(member=m)) for m in (before, after))
    assert [pair for pair in symbols(find(old)) if pair[0] == "RS314"] == []
    return [pair for pair in symbols(find(new, old)) if pair[0] == "RS314"]


@pytest.mark.parametrize("name", BREAKS)
def test_a_member_is_used_as_what_it_was(name: str) -> None:
    assert kinds(*BREAKS[name]) == [("RS314", "size")]


@pytest.mark.parametrize("name", NEAR_MISSES)
def test_what_may_be_right(name: str) -> None:
    assert kinds(*NEAR_MISSES[name]) == []


CLASS = "class Size: ..."
FACTORY = "def Size(): ..."
LOCK = "class Size:\n    def __enter__(self): ...\n    def __exit__(self, *error): ..."
OF_MODULES = {
    "a function is asked for as a class": (CLASS, FACTORY, "return isinstance(self.config, Size)", ["Size"]),
    "with others": (CLASS, FACTORY, "return isinstance(self.config, (int, Size))", ["Size"]),
    "a function is caught": (CLASS, FACTORY, "try:\n        return 1\n    except Size:\n        return 2", ["Size"]),
    "a function is called": (CLASS, FACTORY, "return Size()", []),
    "a class is entered that cannot be": (LOCK, CLASS, "with Size():\n        return 1", ["Size"]),
    "a class that can be entered": (
        "@contextmanager\ndef Size():\n    yield 1",
        LOCK,
        "with Size():\n        return 1",
        [],
    ),
    "a function for a number": ("Size = 1", FACTORY, "size = Size\n    return size", ["Size"]),
    "a function for another": ("Size = compiled(1)", FACTORY, "size = Size\n    return size", []),
    "a function made by a call": (FACTORY, "Size = compiled(1)", "return Size()", []),
    "a number for a function": (FACTORY, "Size = 1", "return Size()", ["Size"]),
    "a function for a placeholder": ("Size = None", FACTORY, "if Size is not None:\n        return Size()", []),
    "a placeholder for a function": (FACTORY, "Size = None", "if Size is not None:\n        return Size()", []),
}


@pytest.mark.parametrize("name", OF_MODULES)
def test_a_name_of_a_module(name: str) -> None:
    before, after, use, expected = OF_MODULES[name]
    text = npu(f"def m(self):\n    {use}", head="from vllm_ascend.size import Size")
    head = "from contextlib import contextmanager\n"
    old, new = (world(npu=text, **{"vllm_ascend/size.py": head + made}) for made in (before, after))
    assert symbols(find(new, old)) == [("RS314", name) for name in expected]


def test_what_a_mixin_declares_hides_nothing() -> None:
    gpu = "from vllm.runner import GPUModelRunner\nclass OmniGPUModelRunner(GPUModelRunner):\n    size: int\n"
    given = {"npu": npu("def m(self):\n    return self.size + 1"), "gpu": gpu}
    old, new = (world(**given, ascend=ASCEND.format(member=member)) for member in (ATTRIBUTE, METHOD))
    assert symbols(find(new, old)) == [("RS314", "size")]
    assert find(old, old) == []


def test_a_function_that_a_class_derives_from() -> None:
    text = npu("pass", bases="Size", head="from vllm_ascend.size import Size")
    old, new = (world(npu=text, **{"vllm_ascend/size.py": made}) for made in (CLASS, FACTORY))
    assert symbols(find(new, old)) == [("RS314", "Size")]


def test_an_attribute_of_an_object_whose_class_is_known() -> None:
    text = npu("def m(self):\n    return self.batch.size()")
    forms = ("def size(self) -> int: ...", "@property\n    def size(self) -> int: ...")
    batch = (
        "class GPUModelRunner:\n    def __init__(self, config):\n        self.batch = Batch()\nclass Batch:\n    {}\n"
    )
    old, new = (world(npu=text, vllm=batch.format(form) + "def helper(): ...") for form in forms)
    assert symbols(find(new, old)) == [("RS314", "size")]


def test_one_branch_of_a_conditional_base_is_enough() -> None:
    base = "class NPUModelRunner310(NPUModelRunner):\n    def size(self) -> int:\n        return 1"
    bases = "if is_310p():\n    from vllm_ascend.runner import NPUModelRunner310 as N\nelse:\n"
    head = bases + "    from vllm_ascend.runner import NPUModelRunner as N"
    text = npu("def m(self):\n    self.size()", bases="OmniGPUModelRunner, N", head=head)
    old, new = (world(npu=text, ascend=ASCEND.format(member=m) + base) for m in (METHOD, COROUTINE))
    assert symbols(find(new, old)) == [("RS314", "size")]


BRANCHES = ("NPUModelRunner310", "NPUModelRunner"), ("NPUModelRunner", "NPUModelRunner310")


def test_the_branches_of_a_conditional_base_may_change_places() -> None:
    other = "class NPUModelRunner310(NPUModelRunner):\n    @property\n    def size(self) -> int:\n        return 1"
    body = "def m(self):\n    return self.size() if is_310p() else self.size"
    heads = (
        f"if is_{one}():\n    from vllm_ascend.runner import {one} as N\nelse:\n"
        f"    from vllm_ascend.runner import {two} as N"
        for one, two in BRANCHES
    )
    text = ASCEND.format(member=METHOD) + other
    old, new = (world(npu=npu(body, bases="OmniGPUModelRunner, N", head=head), ascend=text) for head in heads)
    assert symbols(find(new, old)) == symbols(find(old, new)) == []


def test_a_member_that_was_never_another_kind_is_not_spoken_of() -> None:
    trees = world(npu=npu("def m(self):\n    return self.size()"), ascend=ASCEND.format(member=PROPERTY))
    assert find(trees) == find(trees, trees) == []


FOR_NOTHING = {
    "a context manager that is not entered": (MANAGER, "self.size()\n    return 1"),
    "a coroutine that is not awaited": (COROUTINE, "self.size()"),
    "a generator that nobody goes through": (GENERATOR, "self.size()"),
    "by super": (MANAGER, "super().size()"),
    "in a block": (MANAGER, "if x:\n        self.size()"),
}
FOR_SOMETHING = {
    "a method": (METHOD, "self.size()"),
    "entered": (MANAGER, "with self.size():\n        return 1"),
    "kept": (MANAGER, "lock = self.size()\n    self.keep(lock)"),
    "handed on": (MANAGER, "stack.enter_context(self.size())"),
    "awaited": (COROUTINE, "async def f():\n        await self.size()\n    return f"),
    "scheduled": (COROUTINE, "asyncio.run(self.size())"),
    "gone through": (GENERATOR, "return list(self.size())"),
    "something to call": (ATTRIBUTE, "self.size()"),
    "below a version switch": (MANAGER, "if version >= 2:\n        self.size()"),
}


@pytest.mark.parametrize("name", FOR_NOTHING)
def test_a_call_of_which_nothing_runs(name: str) -> None:
    member, use = FOR_NOTHING[name]
    given = world(npu=npu(f"def m(self, x):\n    {use}"), ascend=ASCEND.format(member=member))
    assert symbols(find(given)) == [("RS314", "size")]
    assert find(given, given) == []
    entering = world(
        npu=npu("def m(self, x):\n    with self.size():\n        return 1"), ascend=ASCEND.format(member=member)
    )
    assert symbols(find(given, entering)) == [("RS314", "size")]


@pytest.mark.parametrize("name", FOR_SOMETHING)
def test_a_call_of_which_something_runs(name: str) -> None:
    member, use = FOR_SOMETHING[name]
    given = world(npu=npu(f"def m(self, x):\n    {use}"), ascend=ASCEND.format(member=member))
    assert [pair for pair in symbols(find(given)) if pair[0] == "RS314"] == []


PLAIN = "Await it. `m` is a plain method, so it and its callers must become coroutines for that."


@pytest.mark.parametrize(
    ("member", "body", "fix"),
    [
        (COROUTINE, "def m(self):\n    return self.size() + 1", PLAIN),
        (COROUTINE, "def m(self):\n    self.size()", PLAIN),
        (COROUTINE, "async def m(self):\n    return self.size() + 1", "Await it."),
        (COROUTINE, "async def m(self):\n    return [lambda: self.size() + 1]", "Await it."),
        (COROUTINE, "def m(self):\n    async def inner():\n        self.size()", "Await it."),
        (GENERATOR, "def m(self):\n    return self.size() + 1", "Use it as the target does, where it is a generator."),
    ],
)
def test_the_fix_says_how_to_wait_for_a_coroutine(member: str, body: str, fix: str) -> None:
    new, old = (world(npu=npu(body), ascend=ASCEND.format(member=text)) for text in (member, METHOD))
    assert [finding.fix for finding in find(new, old)] == [fix]
