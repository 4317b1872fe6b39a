"""Overrides that ask their `*args, **kwargs` for an argument that they get no more (RS305)."""

from __future__ import annotations

import pytest
from verify_samples import ascend, find, npu, symbols, world

OWN = "def capture(self, *args, **kwargs):\n    mode = {}\n    super().capture(*args, **kwargs)\n    return mode"
OLD = "def capture(self, sizes, mode, profiler=None): ..."
RENAMED = "def capture(self, sizes, graph_mode, profiler=None): ..."
MOVED = "def capture(self, sizes, profiler=None, mode=None): ..."
LOST = "capture(mode)"


@pytest.mark.parametrize(
    ("asked", "new", "expected"),
    [
        pytest.param("kwargs.get('mode')", RENAMED, [LOST], id="by get"),
        pytest.param("kwargs['mode']", RENAMED, [LOST], id="by item"),
        pytest.param("kwargs.pop('mode', None)", RENAMED, [LOST], id="by pop"),
        pytest.param("'mode' in kwargs", RENAMED, [LOST], id="whether it is there"),
        pytest.param("args[1]", MOVED, [LOST], id="by number"),
        pytest.param("args[1]", "def capture(self, sizes, *, mode=None): ...", [LOST], id="by number, a keyword now"),
        pytest.param("args[1]", RENAMED, [], id="a new name in its place"),
        pytest.param("args[0]", MOVED, [], id="one that stays"),
        pytest.param("kwargs.get('mode')", MOVED, [], id="by name, at another place"),
        pytest.param("kwargs.get('mode')", "def capture(self, **options): ...", [], id="any keyword"),
        pytest.param("args[1]", "def capture(self, *values, **options): ...", [], id="any number"),
        pytest.param("kwargs.get('own')", RENAMED, [], id="it never had one"),
        pytest.param("kwargs.get('graph_mode', kwargs.get('mode'))", RENAMED, [], id="it asks for the new one, too"),
        pytest.param("kwargs.get('mode', kwargs.get('sizes'))", RENAMED, [LOST], id="it asks for another old one, too"),
        pytest.param("kwargs.get('mode'); self.capture(1, mode=2)", RENAMED, [], id="omni gives it"),
        pytest.param("kwargs.get('mode'); self.other(1, mode=2)", RENAMED, [LOST], id="omni gives it to another"),
        pytest.param("self.kwargs.get('mode')", RENAMED, [], id="another dictionary"),
    ],
)
def test_an_argument_that_the_hidden_method_had(asked: str, new: str, expected: list[str]) -> None:
    own = npu(OWN.format(asked))
    found = find(world(npu=own, ascend=ascend(new)), world(npu=own, ascend=ascend(OLD)))
    assert [symbol for code, symbol in symbols(found) if code == "RS305"] == expected


def test_the_parameters_of_the_override_count() -> None:
    own = npu(OWN.format("args[0]").replace("self, *args", "self, sizes, *args").replace("(*args", "(sizes, *args"))
    found = find(world(npu=own, ascend=ascend(MOVED)), world(npu=own, ascend=ascend(OLD)))
    assert [symbol for code, symbol in symbols(found) if code == "RS305"] == [LOST]
