"""Parameters that upstream gave a method: how an override takes them, and when it is left as it is."""

from __future__ import annotations

import pytest

from runner_sync.fitting.overrides import accepts_keywords, follow_signature


def method(parameters: str, *lines: str) -> str:
    return f"    def run({parameters}):\n" + "".join(f"        {line}\n" for line in lines or ("pass",))


OLD = method("self, config")


@pytest.mark.parametrize(
    ("own", "new", "expected"),
    [
        pytest.param(
            method("self, config", "Runner.run(self, config)"),
            method("self, config, context: Manager | None = None"),
            method("self, config, context: Manager | None = None", "Runner.run(self, config, context=context)"),
            id="one with a default, behind the others",
        ),
        pytest.param(
            method("self, config", "return super().run(config)"),
            method("self, padded: int, config"),
            method("self, padded: int, config", "return super().run(padded, config)"),
            id="one in front, where the call goes by place",
        ),
        pytest.param(
            method("\n        self,\n        config=None,\n    "),
            method("self, padded, config=None"),
            method("\n        self,\n        padded,\n        config=None,\n    "),
            id="one in front of another on its line",
        ),
        pytest.param(
            method("self, config=None, **rest", "return super().run(config=config, **rest)"),
            method("self, padded, config"),
            method("self, padded, config=None, **rest", "return super().run(config=config, padded=padded, **rest)"),
            id="one in front, where the call goes by keyword",
        ),
        pytest.param(
            method("self, config", "return super().run(config)"),
            method("self, config, *, b=1, a=2"),
            method("self, config, *, b=1, a=2", "return super().run(config, b=b, a=a)"),
            id="two that are given by keyword",
        ),
        pytest.param(
            method("self, config", "return super(Omni, self).run(config)"),
            method("self, padded: int, config"),
            method("self, padded: int, config", "return super(Omni, self).run(padded, config)"),
            id="super() with arguments",
        ),
        pytest.param(
            method("self, config", "return self.model.run(config)"),
            method("self, config, context=None"),
            method("self, config, context=None", "return self.model.run(config)"),
            id="a namesake of another object",
        ),
        pytest.param(
            method("self, config", "return self.mine(config)"),
            method("self, config, context=None"),
            method("self, config, context=None", "return self.mine(config)"),
            id="nothing to pass it on to",
        ),
    ],
)
def test_an_override_takes_what_upstream_passes_now(own: str, new: str, expected: str) -> None:
    grown = follow_signature(own, OLD, new)
    assert grown is not None
    assert grown.text == expected
    assert follow_signature(grown.text, OLD, new) is None


TWO = method("self, a, b")


@pytest.mark.parametrize(
    ("call", "now", "expected"),
    [
        pytest.param("super().run(a, b)", "self, x, y, a, b", "super().run(x, y, a, b)", id="two in front"),
        pytest.param("super().run(a, b)", "self, x, a, y, b", "super().run(x, a, y, b)", id="one in front of each"),
        pytest.param("super().run(a, b)", "self, x, y, z, a, b", "super().run(x, y, z, a, b)", id="three"),
        pytest.param("super().run(a, b)", "self, x, a, b, y", "super().run(x, a, b, y=y)", id="one of them behind"),
        pytest.param("super().run(a, b=b)", "self, x, a, y, b", "super().run(x, a, b=b, y=y)", id="one by keyword"),
        pytest.param("super().run(a=a, b=b)", "self, x, y, a, b", "super().run(a=a, b=b, x=x, y=y)", id="keywords"),
        pytest.param("super().run()", "self, x, y, a, b", "super().run(x=x, y=y)", id="nothing is passed"),
        pytest.param("super().run(**a)", "self, x, y, a, b", "super().run(x=x, y=y, **a)", id="only two stars"),
        pytest.param("Base.run(self, a, b)", "self, x, y, a, b", "Base.run(self, x, y, a, b)", id="by class"),
        pytest.param("self.model.run(a, b)", "self, x, y, a, b", "self.model.run(a, b)", id="a namesake"),
        pytest.param(
            "super().run(a, b) if a else super().run(a, b=1)",
            "self, a, b, x",
            "super().run(a, b, x=x) if a else super().run(a, b=1, x=x)",
            id="in each of two branches",
        ),
        pytest.param(
            "super().run(a) if a else self.model.run(a)",
            "self, a, b, x",
            "super().run(a, x=x) if a else self.model.run(a)",
            id="one of them a namesake",
        ),
    ],
)
def test_arguments_stand_where_their_parameters_do(call: str, now: str, expected: str) -> None:
    grown = follow_signature(method("self, a, b", call), TWO, method(now))
    assert grown is not None
    assert grown.text == method(now, expected)


def test_an_argument_that_omni_passes_before_upstream_took_it_has_its_place() -> None:
    grown = follow_signature(method("self, x, a, b", "super().run(x, a, b)"), TWO, method("self, x, y, a, b"))
    assert grown is not None
    assert grown.text == method("self, x, y, a, b", "super().run(x, y, a, b)")


@pytest.mark.parametrize(
    ("kind", "call", "expected"),
    [
        ("staticmethod", "Base.run(a)", "Base.run(x, a)"),
        ("staticmethod", "super(Own, Own).run(a)", "super(Own, Own).run(x, a)"),
        ("classmethod", "Base.run(a)", "Base.run(x, a)"),
        ("classmethod", "super().run(a)", "super().run(x, a)"),
    ],
)
def test_whether_python_passes_the_first_parameter(kind: str, call: str, expected: str) -> None:
    first = "cls, " if kind == "classmethod" else ""
    own, now = (f"    @{kind}\n{method(first + rest, said)}" for rest, said in (("a", call), ("x, a", expected)))
    grown = follow_signature(own, method(f"{first}a"), method(f"{first}x, a"))
    assert grown is not None
    assert grown.text == now


@pytest.mark.parametrize(
    ("own", "now", "expected"),
    [
        pytest.param("", "x", "x", id="no parameters"),
        pytest.param("", "x, y=1, *, z", "x, y=1, *, z", id="three where there are none"),
        pytest.param("", "*, y, z", "*, y, z", id="keywords where there are none"),
        pytest.param("*, a", "x, *, a", "x, *, a", id="only keywords"),
        pytest.param("*, a", "x, y, *, a, z", "x, y, *, a, z", id="keywords, and one more"),
        pytest.param("**rest", "x, y", "x, y, **rest", id="two stars"),
    ],
)
def test_a_parameter_where_there_are_none_by_place(own: str, now: str, expected: str) -> None:
    grown = follow_signature(f"    @staticmethod\n{method(own)}", method(own), method(now))
    assert grown is not None
    assert grown.text == f"    @staticmethod\n{method(expected)}"


@pytest.mark.parametrize(
    ("own", "old", "new"),
    [
        pytest.param(OLD, OLD, OLD, id="nothing is new"),
        pytest.param(
            method("self, config, /"), OLD, method("self, config, late=0"), id="the override takes by place alone"
        ),
        pytest.param(OLD, OLD, method("self, config, late=0, /"), id="upstream takes by place alone"),
        pytest.param(OLD, method("self, config, late=0"), method("self, config, late=0"), id="omni left it out before"),
        pytest.param(method("self, config, late=None"), OLD, method("self, config, late=0"), id="omni takes it"),
        pytest.param(method("self, config, **rest"), OLD, method("self, config, *, late=0"), id="any keyword is taken"),
        pytest.param(method("self, config, *rest"), OLD, method("self, config, late=0"), id="any place is taken"),
        pytest.param(method("self, config=None"), OLD, method("self, config, late"), id="required behind a default"),
        pytest.param(method("self, config", "super().run(*config)"), OLD, method("self, config, late=0"), id="a star"),
        pytest.param(
            method("self, config", "super().run(config) or super().run(*config)"),
            OLD,
            method("self, config, late=0"),
            id="a star in one of two",
        ),
        pytest.param(
            method("self, config", "super().run((config), 1)"), OLD, method("self, late, config"), id="brackets"
        ),
        pytest.param("    run: int\n", OLD, method("self, config, late=0"), id="no method"),
    ],
)
def test_an_override_is_left_as_it_is(own: str, old: str, new: str) -> None:
    assert follow_signature(own, old, new) is None


@pytest.mark.parametrize(
    ("text", "taken"),
    [(OLD, False), (method("self, late"), True), (method("self, *, late=0"), True), (method("self, **rest"), True)],
)
def test_what_a_method_in_between_takes(text: str, taken: bool) -> None:
    assert accepts_keywords(text, ("late",)) is taken
