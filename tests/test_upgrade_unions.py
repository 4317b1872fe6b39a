"""Types of upstream's in omni's spelling, and what keeps its own."""

from __future__ import annotations

import pytest

from runner_sync.upgrade.from_upstream.unions import respell_unions

MODULE = "def keep(rows: list | None = None) -> int | None: ...\ndef more(rows: str | None): ...\n"

CASES = {
    "a parameter and a result": (
        "def run(self, mode: Optional[Mode] = None) -> Optional[int]: ...",
        "def run(self, mode: Mode | None = None) -> int | None: ...",
    ),
    "a variable": (
        "def run(self):\n    rows: Union[list[int], None] = None",
        "def run(self):\n    rows: list[int] | None = None",
    ),
    "inside another type": (
        "def run(self, rows: dict[str, Optional[Tensor]], *, more: Callable[[Optional[int]], None]): ...",
        "def run(self, rows: dict[str, Tensor | None], *, more: Callable[[int | None], None]): ...",
    ),
    "one inside the other": (
        "def run(self, a: Optional[Union[int, list[str]]]): ...",
        "def run(self, a: int | list[str] | None): ...",
    ),
    "by the module": ("def run(self, a: typing.Optional[int]): ...", "def run(self, a: int | None): ..."),
    "behind letters of two bytes": (
        "def run(self, ä: Optional[int], b: Optional[int]): ...",
        "def run(self, ä: int | None, b: int | None): ...",
    ),
    "an indented method with a comment": (
        "    def run(\n        self,  # Optional[int]\n        a: Optional[int] = None,\n    ): ...\n",
        "    def run(\n        self,  # Optional[int]\n        a: int | None = None,\n    ): ...\n",
    ),
    "noop: a name in quotes, which has no |": ('def run(self, a: Optional["Mode"]): ...', None),
    "noop: a function that stands for a type": ("def run(self, a: Optional[callable]): ...", None),
    "noop: a comment between its lines": ("def run(self, a: Optional[\n    int  # rows\n]): ...", None),
    "noop: a value": ("def run(self):\n    kinds = Optional[int]", None),
    "noop: a default": ("def run(self, a=Optional[int]): ...", None),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES.keys())
def test_upstream_in_the_spelling_of_omni(text: str, expected: str | None) -> None:
    assert respell_unions(text, unit="def run(self): ...", module=MODULE) == (expected or text)


@pytest.mark.parametrize(
    ("unit", "module"),
    [
        pytest.param("def run(self, a: Optional[int]): ...", MODULE, id="the unit has the other spelling"),
        pytest.param(
            "def run(self): ...", "def keep(rows: Optional[int]) -> int | None: ...", id="the module has both alike"
        ),
        pytest.param("def run(self): ...", "def keep(rows): ...", id="the module has neither"),
    ],
)
def test_noop_where_omni_does_not_spell_it_otherwise(unit: str, module: str) -> None:
    text = "def run(self, a: Optional[int], b: Optional[str]): ..."
    assert respell_unions(text, unit=unit, module=module) == text
    assert text != respell_unions(text, unit="def run(self): ...", module=MODULE)
