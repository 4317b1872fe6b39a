"""Parameters that upstream gave a method: how an override takes them, and when it is left as it is."""

from __future__ import annotations

import pytest

from runner_sync.compose.overrides import accepts, follow_signature


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


@pytest.mark.parametrize(
    ("own", "old", "new"),
    [
        pytest.param(OLD, OLD, OLD, id="nothing is new"),
        pytest.param(OLD, method("self, config, late=0"), method("self, config, late=0"), id="omni left it out before"),
        pytest.param(method("self, config, late=None"), OLD, method("self, config, late=0"), id="omni takes it"),
        pytest.param(method("self, config, **rest"), OLD, method("self, config, *, late=0"), id="any keyword is taken"),
        pytest.param(method("self, config, *rest"), OLD, method("self, config, late=0"), id="any place is taken"),
        pytest.param(method("self, config=None"), OLD, method("self, config, late"), id="required behind a default"),
        pytest.param(method("self, config", "super().run(*config)"), OLD, method("self, config, late=0"), id="a star"),
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
    assert accepts(text, ("late",)) is taken
