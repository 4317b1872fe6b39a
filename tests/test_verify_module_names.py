"""Names of upstream modules that code reads by `getattr`, or sets, and that these modules lost (RS301)."""

from __future__ import annotations

import pytest
from verify_samples import NPU, find, npu, symbols, world

from runner_sync.verify import breakage

STATE, OTHER = "vllm_ascend/state.py", "vllm_ascend/other.py"
IMPORT = "import vllm_ascend.state as state\nfrom vllm_ascend import other\n"
GONE = "ROWS = 1\n"
HAD = "GROUP = None\nROWS = 1\n"
LOST = [("RS301", "vllm_ascend.state.GROUP")]


def told(body: str, now: str = GONE, *, was: str = HAD, **beside: str) -> list[tuple[str, str]]:
    own = npu("def m(self, group):\n    " + body.replace("\n", "\n    "), head=IMPORT)
    files = {OTHER: "", **beside}
    return symbols(find(world(npu=own, **{STATE: now}, **files), world(npu=own, **{STATE: was}, **files)))


@pytest.mark.parametrize(
    "body",
    [
        "return getattr(state, 'GROUP', None)",
        "return getattr(state, 'GROUP')",
        "setattr(state, 'GROUP', group)",
        "state.GROUP = group",
        "if getattr(state, 'GROUP', None) is None:\n    state.GROUP = group",
        "import vllm_ascend.state as late\nlate.GROUP = group",
    ],
)
def test_a_name_that_the_module_lost(body: str) -> None:
    assert told(body) == LOST


@pytest.mark.parametrize(
    ("body", "now", "options"),
    [
        pytest.param("return getattr(state, 'ROWS', None)", GONE, {}, id="a name that is left"),
        pytest.param("return getattr(state, 'GROUP', None)", GONE, {"was": GONE}, id="one that it never had"),
        pytest.param("return getattr(group, 'GROUP', None)", GONE, {}, id="of an object"),
        pytest.param("return getattr(state, group, None)", GONE, {}, id="any name"),
        pytest.param("return hasattr(state, 'GROUP')", GONE, {}, id="only asked for"),
        pytest.param("state.GROUP = group", "from vllm_ascend.other import GROUP\n", {OTHER: HAD}, id="imported there"),
        pytest.param("state.GROUP = group", "def start():\n    global GROUP\n    GROUP = 1\n", {}, id="set late"),
        pytest.param("state.GROUP = group", "def __getattr__(name): ...\n", {}, id="any name is there"),
        pytest.param("state.GROUP = group\nreturn state.GROUP", GONE, {}, id="read again"),
        pytest.param("state.GROUP = group", GONE, {OTHER: "def f(m): return getattr(m, 'GROUP')"}, id="asked for"),
        pytest.param(
            "state.GROUP = group", GONE, {"vllm_omni/more.py": "def f(m): return m.GROUP"}, id="read by other code"
        ),
        pytest.param(
            "return getattr(state, 'GROUP', None)",
            GONE,
            {"vllm_omni/more.py": "def f(m):\n    m.GROUP = 1\n"},
            id="set by other code",
        ),
        pytest.param(
            "try:\n    return getattr(state, 'GROUP')\nexcept AttributeError:\n    return None", GONE, {}, id="caught"
        ),
    ],
)
def test_a_name_that_may_be_there(body: str, now: str, options: dict[str, str]) -> None:
    assert told(body, now, **options) == []


def test_without_older_trees_a_name_may_be_omnis_own() -> None:
    own = npu("def m(self):\n    state.GROUP = 1", head=IMPORT)
    assert find(world(npu=own, **{STATE: GONE, OTHER: ""})) == []


def test_the_finding_says_where_the_name_is_now_and_what_no_longer_happens() -> None:
    own = npu("def m(self):\n    state.GROUP = 1\n    return getattr(state, 'ROWS', 2)", head=IMPORT)
    new, old = (world(npu=own, **{STATE: one, OTHER: two}) for one, two in (("", HAD), (HAD, "")))
    first, second = find(new, old)
    assert first.severity == second.severity == "warning"
    assert first.message.endswith("in the target tree: this sets `GROUP` where nothing reads it any more.")
    assert first.fix == "Name `vllm_ascend.other`, which defines it now."
    assert second.message.endswith("in the target tree: `getattr(state, 'ROWS', 2)` always gives its default.")


def test_such_uses_in_omni_code_that_no_runner_imports() -> None:
    text = "def start():\n    import vllm_ascend.state as state\n    state.GROUP = 1\n"
    new, old = (world(npu=npu("pass"), **{STATE: one, "vllm_omni/layers.py": text}) for one in (GONE, HAD))
    (found,) = breakage.find_imports_elsewhere(new, old, [NPU], "vllm-ascend")
    assert (found.path, found.line, found.symbol) == ("vllm_omni/layers.py", 3, LOST[0][1])
    assert found.message.endswith("No runner imports this module.")
    assert breakage.find_imports_elsewhere(new, None, [NPU], "vllm-ascend") == []
    assert breakage.find_imports_elsewhere(new, new, [NPU], "vllm-ascend") == []
