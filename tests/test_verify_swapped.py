"""Two values that change places in a call or in an unpacking (RS307)."""

from __future__ import annotations

import pytest
from verify_samples import ascend, find, npu, symbols, world

UPSTREAM = ascend(
    "def place(self, rows, columns, x=0, y=0):\n    return rows, columns\n"
    "def early(self, rows, columns):\n    if rows:\n        return None, None\n    return rows, columns\n"
    "def mixed(self, rows, columns):\n    if rows:\n        return columns, rows\n    return rows, columns"
)
BODY = "def run(self, rows, columns, x, y, other):\n    "
SET = "self.rows = self.columns = 1\n    "
TOLD = [("RS307", "place(rows, columns)")]
CASES: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "by position": ("self.place(columns, rows)", TOLD),
    "by keyword": ("self.place(rows=columns, columns=rows)", TOLD),
    "by either": ("self.place(columns, columns=rows)", TOLD),
    "attributes": (f"{SET}self.place(self.columns, self.rows)", TOLD),
    "attributes by keyword": (f"{SET}self.place(rows=self.columns, columns=self.rows)", []),
    "attributes by either": (f"{SET}self.place(self.columns, columns=self.rows)", []),
    "attributes there and back": (
        f"{SET}self.place(self.columns, self.rows)\n    self.place(self.rows, self.columns)",
        [],
    ),
    "attributes back, locals there": (
        f"{SET}self.place(self.columns, self.rows)\n    self.place(rows, columns=columns)",
        [],
    ),
    "attributes, and another call in order": (
        f"{SET}self.place(self.columns, self.rows)\n    self.early(self.rows, self.columns)",
        TOLD,
    ),
    "attributes for a constructor": (f"{SET}Grid(self.columns, self.rows)", []),
    "locals for a constructor": ("Grid(columns, rows)", [("RS307", "Grid(rows, columns)")]),
    "attributes in their places": (f"{SET}self.place(self.rows, self.columns)", []),
    "one attribute under another's name": (f"{SET}self.place(self.columns, self.place)", []),
    "an attribute and a local": (f"{SET}self.place(self.columns, rows)", []),
    "attributes of another object": ("self.place(other.columns, other.rows)", []),
    "in their places": ("self.place(rows, columns)", []),
    "one under another's name": ("self.place(rows=columns, columns=other)", []),
    "both the same": ("self.place(columns, columns)", []),
    "names that say nothing": ("self.place(rows, columns, y, x)", []),
    "of an object that nobody knows": ("other.place(columns, rows)", []),
    "what it returns": ("columns, rows = self.place(rows, columns)", TOLD),
    "what it returns but for none": ("columns, rows = self.early(rows, columns)", [("RS307", "early(rows, columns)")]),
    "what it returns, in its place": ("rows, columns = self.place(rows, columns)", []),
    "under other names": ("first, rows = self.place(rows, columns)", []),
    "what it returns in either order": ("columns, rows = self.mixed(rows, columns)", []),
}


@pytest.mark.parametrize("name", CASES)
def test_two_values_that_change_places(name: str) -> None:
    body, told = CASES[name]
    grid = "class Grid:\n    def __init__(self, rows, columns):\n        self.shape = rows, columns\n"
    assert symbols(find(world(npu=npu(BODY + body, head=grid), ascend=UPSTREAM))) == told


def test_a_function_may_turn_its_own_arguments_round() -> None:
    own = npu("def turned(self, rows, columns):\n    return self.turned(columns, rows)")
    assert symbols(find(world(npu=own))) == []


BRANCH = "if is_310p():\n    from vllm_ascend.runner310 import NPUModelRunner310 as NPUModelRunner\n"
OTHER = "from vllm_ascend.runner import NPUModelRunner\nclass NPUModelRunner310(NPUModelRunner):\n    {}\n"


@pytest.mark.parametrize(
    ("other", "told"),
    [
        pytest.param("def place(self, columns, rows): ...", TOLD, id="in one of two bases"),
        pytest.param("def place(self, rows, columns): ...", TOLD, id="in both"),
    ],
)
def test_values_that_change_places_in_one_branch_of_a_conditional_base(other: str, told: list[tuple[str, str]]) -> None:
    own = npu(BODY + "self.place(columns, rows)", head=BRANCH)
    new = world(npu=own, ascend=UPSTREAM, **{"vllm_ascend/runner310.py": OTHER.format(other)})
    assert symbols(find(new)) == told


def test_a_call_whose_values_moved_is_told_once() -> None:
    """They are swapped by their names as well."""
    own = npu("def run(self, rows, columns):\n    self.place(rows, columns)")
    new, old = (
        world(npu=own, ascend=ascend(f"def place(self, {given}): ...")) for given in ("columns, rows", "rows, columns")
    )
    assert symbols(find(new, old)) == [("RS307", "place")]


def test_a_call_of_other_names_whose_values_moved_is_told_once() -> None:
    own = npu("def run(self, rows, columns):\n    self.place(rows, columns, 1)")
    new, old = (
        world(npu=own, ascend=ascend(f"def place(self, {given}): ..."))
        for given in ("columns, first, rows", "rows, columns, first")
    )
    assert [code for code, _ in symbols(find(new, old))] == ["RS307"]
