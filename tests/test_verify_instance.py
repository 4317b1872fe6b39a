"""Which ``self`` is the runner's: another that a function, lambda or class inside of a method binds is not."""

from __future__ import annotations

import pytest
from verify_samples import find, npu, symbols, world

OF_OTHERS = {
    "a patched method": """
        def forward(self, x):
            return self.gone(x)

        self.model.forward = types.MethodType(forward, self.model)
    """,
    "a hook": """
        def hook(self, args):
            self.gone = args[0] + self.gone

        self.model.register_forward_hook(hook)
    """,
    "a class": """
        class Wrapper:
            def run(self):
                return self.gone

        return Wrapper()
    """,
    "a call in a class": """
        class Wrapper:
            def run(self):
                return self.hook(1, 2, 3)

        return Wrapper()
    """,
    "sizes in a class": """
        class Wrapper:
            def run(self):
                a, b = self.prepare(1)

        return Wrapper()
    """,
    "the parent of a class": """
        class Wrapper(Module):
            def __init__(self):
                super().__init__()
                super().gone()

        return Wrapper()
    """,
    "a function in that function": """
        def forward(self):
            def inner():
                return self.gone

            return inner

        self.model.forward = forward
    """,
    "a lambda": "return sorted(self.batch.rows, key=lambda self: self.gone)",
    "a lambda without another name": "self.model.run = lambda self: self.gone",
    "handed on inside of it": """
        def forward(self):
            return inner(self)

        def inner(self):
            return self.gone

        self.model.forward = forward
    """,
    "an attribute of its object only": """
        def run(self):
            return self.gone

        self.model.run = run
    """,
    "a function that is called with it, timidly": """
        def run(self):
            return self.gone

        return run(self)
    """,
}
THE_RUNNERS = {
    "the method itself": "return self.gone",
    "a function inside": """
        def run(x):
            return self.gone

        return run
    """,
    "a lambda inside": "return sorted(self.batch.rows, key=lambda row: self.gone)",
    "beside another": """
        def forward(self):
            return self.model

        self.model.forward = forward
        return self.gone
    """,
    "what such a function is made with": """
        def forward(self, x=self.gone):
            return x

        self.model.forward = forward
    """,
    "a static method of a class": """
        class Wrapper:
            @staticmethod
            def run():
                return self.gone

        return Wrapper()
    """,
    "a set by a class inside": """
        class Wrapper:
            def __init__(self):
                self.gone = 1

        return self.gone
    """,
}


def method(body: str) -> str:
    lines = [line.removeprefix("        ") for line in body.strip("\n").rstrip().split("\n")]
    return npu(
        "def set(self, model):\n    self.model = model\n\ndef m(self):\n    " + "\n    ".join(lines),
        head="import types\n",
    )


@pytest.mark.parametrize("name", OF_OTHERS)
def test_another_self(name: str) -> None:
    assert not find(world(npu=method(OF_OTHERS[name])))


@pytest.mark.parametrize("name", THE_RUNNERS)
def test_the_runners_self(name: str) -> None:
    assert symbols(find(world(npu=method(THE_RUNNERS[name])))) == [("RS304", "gone")]


def test_a_function_inside_may_set_it_on_the_runner() -> None:
    body = "def m(self):\n    def fill(self):\n        self.rows = 1\n    FILLERS.append(fill)\n    return self.rows\n"
    assert not find(world(npu=npu(body)))


@pytest.mark.parametrize("write", ["type(self).rows = 1", "self.__class__.rows = 1", 'setattr(type(self), "rows", 1)'])
def test_an_attribute_of_its_class(write: str) -> None:
    assert not find(world(npu=npu(f"def m(self):\n    {write}\n    return self.rows\n")))


@pytest.mark.parametrize("write", ["type(self.model).rows = 1", "type(self).lines = 1", "type(self)().rows = 1"])
def test_an_attribute_of_another_class(write: str) -> None:
    text = npu(f"def m(self):\n    {write}\n    return self.rows\n\ndef set(self, model):\n    self.model = model\n")
    assert symbols(find(world(npu=text))) == [("RS304", "rows")]
