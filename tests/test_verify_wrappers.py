"""Calls of what a decorator wraps: the wrapper's parameters count, or the function's own where it hands all on."""

from __future__ import annotations

import pytest
from verify_samples import find, npu, symbols, world

ASCEND = """\
import functools
from vllm.runner import GPUModelRunner

def plain(wrapped):
    @functools.wraps(wrapped)
    def inner(*args, **kwargs):
        print("begins")
        return wrapped(*args, **kwargs)
    return inner

def of_methods(wrapped):
    def inner(self, *args, **kwargs):
        return wrapped(self, *args, **kwargs)
    return inner

def named(name):
    def around(wrapped):
        def inner(*args, **kwargs):
            return wrapped(*args, **kwargs)
        return inner
    return around

def other(wrapped):
    def inner(self, rows, size):
        return wrapped(self, rows[:size])
    return inner

def adds(wrapped):
    def inner(self, *args, **kwargs):
        return wrapped(self, 1, *args, **kwargs)
    return inner

def fills(wrapped):
    def inner(*args, **kwargs):
        kwargs = kwargs | {{"size": 1}}
        return wrapped(*args, **kwargs)
    return inner

def leads(wrapped):
    @functools.wraps(wrapped)
    def inner(self, device, *args, **kwargs):
        print(device, wrapped.__name__)
        return wrapped(self, *args, **kwargs)
    return inner

def names(wrapped):
    def inner(self, *args, **kwargs):
        return wrapped(self, *args, rows=1, **kwargs)
    return inner

def turns(wrapped):
    def inner(self, device, *args, **kwargs):
        return str(wrapped(self, *args, **kwargs))
    return inner

def either(wrapped):
    def inner(self, device, *args, **kwargs):
        if device:
            return wrapped(self, device, *args, **kwargs)
        return wrapped(self, *args, **kwargs)
    return inner

def takes(wrapped):
    def inner(self, device, *args, **kwargs):
        kwargs.pop("rows", None)
        return wrapped(self, *args, **kwargs)
    return inner

def same(wrapped):
    def inner(self, rows, *args, **kwargs):
        return wrapped(self, *args, **kwargs)
    return inner

def few(wrapped):
    def inner(self, device, *args):
        return wrapped(self, *args)
    return inner

def maybe(wrapped):
    def inner(*args, **kwargs):
        return wrapped(*args, **kwargs)
    return inner if wrapped else wrapped

def method(wrapped):
    return Method(wrapped)

class NPUModelRunner(GPUModelRunner):
    {decorator}
    def put(self, rows):
        return rows
"""

WRONG = {
    "a wrapper that hands everything on": ("@plain", "self.put(1, 2)", "put()"),
    "a wrapper of methods": ("@of_methods", "self.put(1, 2)", "put()"),
    "a decorator that is made": ("@named('put')", "self.put(1, 2)", "put()"),
    "two of them": ("@plain\n    @of_methods", "self.put(1, 2)", "put()"),
    "a wrapper of another form": ("@other", "self.put(1)", "put(size)"),
    "around one that hands everything on": ("@plain\n    @other", "self.put(1)", "put(size)"),
    "a wrapper that fills the first one": ("@adds", "self.put(2)", "put()"),
    "a wrapper that takes another first": ("@leads", "self.put(2)", "put(rows)"),
    "a wrapper that fills one by its name": ("@names", "self.put(2)", "put()"),
    "a wrapper that returns something else": ("@turns", "self.put(2)", "put(rows)"),
    "around one that hands everything on to the function": ("@leads\n    @plain", "self.put(2)", "put(rows)"),
    "below one that hands everything on": ("@plain\n    @leads", "self.put(2)", "put(rows)"),
}
RIGHT = {
    "as it is written": ("@plain", "self.put(1)"),
    "as the wrapper is written": ("@other", "self.put(1, 2)"),
    "a wrapper that adds an argument": ("@adds", "self.put()"),
    "a wrapper that fills in": ("@fills", "self.put(1, 2)"),
    "one of two things": ("@maybe", "self.put(1, 2)"),
    "an object": ("@method", "self.put(1, 2)"),
    "a decorator that nobody knows": ("@unknown", "self.put(1, 2)"),
    "what a wrapper does not fill": ("@leads", "self.put(1, 2)"),
    "what a wrapper does not fill, by name": ("@leads", "self.put(1, rows=2)"),
    "a wrapper with calls of two forms": ("@either", "self.put(1)"),
    "a wrapper that changes what it hands on": ("@takes", "self.put(1)"),
    "a wrapper with the function's own name for another value": ("@same", "self.put(1)"),
    "a wrapper without keywords": ("@few", "self.put(1)"),
    "around a wrapper of another form": ("@leads\n    @other", "self.put(1)"),
    "around a decorator that nobody knows": ("@leads\n    @unknown", "self.put(1)"),
    "a property": ("@property\n    @plain", "self.put(1, 2)"),
}


def found(decorator: str, call: str) -> list[tuple[str, str]]:
    return symbols(find(world(npu=npu(f"def m(self):\n    return {call}"), ascend=ASCEND.format(decorator=decorator))))


@pytest.mark.parametrize("name", WRONG)
def test_a_call_that_the_wrapper_does_not_take(name: str) -> None:
    decorator, call, symbol = WRONG[name]
    assert found(decorator, call) == [("RS302", symbol)]


@pytest.mark.parametrize("name", RIGHT)
def test_a_call_that_the_wrapper_may_take(name: str) -> None:
    assert found(*RIGHT[name]) == []
