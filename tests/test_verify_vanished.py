"""Members of objects of unknown class which nothing in the target has any more (RS308)."""

from __future__ import annotations

import pytest
from verify_samples import find, npu, symbols, world

HEAD = "from vllm.runner import GPUModelRunner\nclass NPUModelRunner(GPUModelRunner):\n"
INIT = "    def __init__(self, config, model):\n        self.model = model\n"
MODEL = "class Model:\n    def draw_rows(self):\n        return 1\n"
LOADS = "def clear_loads(model):\n    pass\n\ndef give(model):\n    model.clear_loads = clear_loads\n"
ADAPTOR = "class Adaptor:\n    def clear_loads(self):\n        pass\n"
CLEAR = HEAD + INIT + "    def run(self):\n        self.model.clear_loads()\n"
MOVED = HEAD + INIT + "    def run(self):\n        self.adaptor.clear_loads()\n"
PLAIN = {"ascend": HEAD + INIT}
DRAWS = npu("def run(self):\n    return self.model.draw_rows()")
CLEARS = npu("def run(self):\n    self.model.clear_loads()")
EPLB = "vllm_ascend/eplb.py"

# What both worlds have, what only the old one and what only the new one has.
GONE = {
    "no module has the word any more": ({"npu": DRAWS, **PLAIN}, {"vllm/model.py": MODEL}, {}, "model.draw_rows"),
    "of a local": (
        {"npu": npu("def run(self):\n    rows = self.model.inner\n    return rows.draw_rows()"), **PLAIN},
        {"vllm/model.py": MODEL},
        {},
        "rows.draw_rows",
    ),
    "nobody gives it to models any more": (
        {"npu": CLEARS},
        {"ascend": CLEAR, EPLB: LOADS},
        {"ascend": MOVED, EPLB: ADAPTOR},
        "model.clear_loads",
    ),
}
KEPT = {
    "another class has it": (
        {"npu": DRAWS, **PLAIN},
        {"vllm/model.py": MODEL},
        {"vllm/other.py": MODEL.replace("Model", "Other")},
    ),
    "upstream reads it elsewhere": (
        {"npu": DRAWS, **PLAIN},
        {"vllm/model.py": MODEL},
        {"vllm/other.py": "def f(model):\n    return model.draw_rows()\n"},
    ),
    "omni has it": (
        {"npu": DRAWS, "vllm_omni/models.py": MODEL, **PLAIN},
        {"vllm/model.py": MODEL},
        {},
    ),
    "it is in quotes": (
        {"npu": DRAWS, **PLAIN},
        {"vllm/model.py": MODEL},
        {"vllm/other.py": "def f(model):\n    setattr(model, 'draw_rows', 1)\n"},
    ),
    "no upstream ever had it": ({"npu": DRAWS, **PLAIN}, {}, {}),
    "a word that tensors have": (
        {"npu": npu("def run(self):\n    return self.model.copy_()"), **PLAIN},
        {"vllm/model.py": MODEL.replace("draw_rows", "copy_")},
        {},
    ),
    "of the parent's": (
        {"npu": npu("def draw_rows(self):\n    return super().draw_rows()"), **PLAIN},
        {"vllm/model.py": MODEL},
        {},
    ),
    "asked for": (
        {
            "npu": npu("def run(self):\n    if hasattr(self.model, 'draw_rows'):\n        self.model.draw_rows()"),
            **PLAIN,
        },
        {"vllm/model.py": MODEL},
        {},
    ),
    "somebody still gives it": (
        {"npu": CLEARS},
        {"ascend": CLEAR, EPLB: LOADS},
        {"ascend": MOVED, EPLB: LOADS},
    ),
    "somebody gives it by its name in quotes": (
        {"npu": CLEARS},
        {"ascend": CLEAR, EPLB: LOADS},
        {"ascend": MOVED, EPLB: ADAPTOR + "def give(model):\n    setattr(model, 'clear_loads', 1)\n"},
    ),
    "a class had it before, too": (
        {"npu": CLEARS},
        {"ascend": CLEAR, EPLB: LOADS + ADAPTOR},
        {"ascend": MOVED, EPLB: ADAPTOR},
    ),
    "upstream reads it from there": (
        {"npu": CLEARS},
        {"ascend": CLEAR, EPLB: LOADS},
        {"ascend": CLEAR, EPLB: ADAPTOR},
    ),
    "upstream never read it from there": (
        {"npu": CLEARS},
        {"ascend": MOVED, EPLB: LOADS},
        {"ascend": MOVED, EPLB: ADAPTOR},
    ),
}


def lost(both: dict[str, str], before: dict[str, str], after: dict[str, str]) -> list[tuple[str, str]]:
    return [one for one in symbols(find(world(**both, **after), world(**both, **before))) if one[0] == "RS308"]


@pytest.mark.parametrize("name", GONE)
def test_what_nothing_gives_any_more(name: str) -> None:
    both, before, after, symbol = GONE[name]
    assert lost(both, before, after) == [("RS308", symbol)]


@pytest.mark.parametrize("name", KEPT)
def test_what_the_object_may_have(name: str) -> None:
    assert lost(*KEPT[name]) == []


def test_of_an_object_that_the_runner_lacks_itself_nothing_is_said() -> None:
    has = HEAD + "    def __init__(self, config, made):\n        self.rows = made\n"
    found = find(world(npu=npu("def run(self):\n    return self.rows.draw_rows()")), None)
    assert symbols(found) == [("RS304", "rows")]
    both = {"npu": npu("def run(self):\n    return self.rows.draw_rows()")}
    found = find(world(**both), world(**both, ascend=has, **{"vllm/model.py": MODEL}))
    assert symbols(found) == [("RS304", "rows")]


def test_the_place_it_came_from_is_named() -> None:
    (found,) = find(
        world(npu=CLEARS, ascend=MOVED, **{EPLB: ADAPTOR}), world(npu=CLEARS, ascend=CLEAR, **{EPLB: LOADS})
    )
    assert found.message == (
        "`self.model` has no `clear_loads` any more: in the old target it came from vllm_ascend/eplb.py:5, and nothing "
        "in the new one puts it there."
    )


# What vllm-ascend's hidden method says, and the remedy.
REMEDIES = {
    "the same member of another object": (
        "self.adaptor.clear_loads()",
        "Write `self.adaptor.clear_loads` if that is meant, as NPUModelRunner.run (vllm_ascend/runner.py:6) does.",
    ),
    "of a local of its own": (
        "adaptor = self.make()\n        adaptor.clear_loads()",
        "Follow what the target uses in place of `clear_loads`.",
    ),
    "of a parameter of both": (
        "rows.clear_loads()",
        "Write `rows.clear_loads` if that is meant, as NPUModelRunner.run (vllm_ascend/runner.py:6) does.",
    ),
    "of what its own module imports": (
        "adaptors.clear_loads()",
        "Follow what the target uses in place of `clear_loads`.",
    ),
    "another member": ("self.adaptor.clear()", "Follow what the target uses in place of `clear_loads`."),
}


@pytest.mark.parametrize("said", REMEDIES)
def test_the_hidden_method_tells_where_the_member_is_now(said: str) -> None:
    statement, remedy = REMEDIES[said]
    clears = npu("def run(self, rows):\n    self.model.clear_loads()")
    now = HEAD + INIT + f"    def run(self, rows):\n        {statement}\n"
    (found,) = find(world(npu=clears, ascend=now, **{EPLB: ADAPTOR}), world(npu=clears, ascend=CLEAR, **{EPLB: LOADS}))
    assert found.fix == remedy


BOX = """\
class Box:
    def __init__(self):
        {sets}
class NPUModelRunner(GPUModelRunner):
    def __init__(self, config, made):
        self.box = Box()
    def run(self, rows):
        {says}
"""


@pytest.mark.parametrize(
    ("says", "other"),
    [
        ("return self.box.inner.size", "self.box.inner.size"),
        ("return self.rows.box.size", "self.rows.box.size"),
        ("return self.rows.inner.size", ""),
        ("return self.size", ""),
        ("return rows.size", ""),
    ],
    ids=["the same root", "the same owner", "another object", "of the runner", "of a parameter"],
)
def test_a_common_name_of_an_unrelated_object_is_no_remedy(says: str, other: str) -> None:
    reads = npu("def run(self, rows):\n    return self.box.size")
    head = HEAD.partition("class ")[0]
    new, old = (head + BOX.format(sets=sets, says=says) for sets in ("self.rows = 1", "self.size = 1"))
    found = find(world(npu=reads, ascend=new), world(npu=reads, ascend=old))
    (finding,) = (one for one in found if one.code == "RS308")
    remedy = f"Write `{other}` if that is meant, as NPUModelRunner.run (vllm_ascend/runner.py:9) does."
    assert finding.fix == remedy if other else not finding.fix.startswith("Write")
