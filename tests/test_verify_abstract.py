"""A class that cannot be instantiated: an upstream base declares abstract what nobody defines (RS316)."""

from __future__ import annotations

import pytest
from verify_samples import NPU, find, npu, symbols, world

BASE = """\
from abc import ABC, ABCMeta, abstractmethod
from typing import Protocol
from torch import Outside
class GPUModelRunner({base}):
    @abstractmethod
    def drain(self): ...
def helper(): ...
"""
ASCEND = "from vllm.runner import GPUModelRunner\nclass NPUModelRunner(GPUModelRunner):\n    {body}\n"
PATCH = "from vllm.runner import GPUModelRunner\ndef drain(self): ...\nGPUModelRunner.drain = drain\n"

LEFT = {
    "of an ABC": ("ABC", "pass", "pass"),
    "of a class that abc.ABC makes one": ("abc.ABC", "pass", "pass"),
    "by its metaclass": ("metaclass=ABCMeta", "pass", "pass"),
    "of a protocol": ("Protocol[int]", "pass", "pass"),
    "an object's attribute is no method": ("ABC", "def start(self):\n        self.drain = 1", "pass"),
    "declared once more": ("ABC", "@abstractmethod\n    def drain(self): ...", "pass"),
    "an abstract property": ("ABC", "@property\n    @abstractmethod\n    def drain(self): ...", "pass"),
}
DEFINED = {
    "upstream defines it": ("ABC", "def drain(self): ...", "pass"),
    "upstream has it under another name": ("ABC", "def stop(self): ...\n    drain = stop", "pass"),
    "omni defines it": ("ABC", "pass", "def drain(self): ..."),
    "omni's own class is abstract": ("ABC", "pass", "@abstractmethod\ndef drain(self): ..."),
    "nothing enforces it": ("", "pass", "pass"),
    "a base outside the trees may define it": ("ABC, Outside", "pass", "pass"),
}


def abstract(base: str, ascend: str, own: str, **more: str) -> list[tuple[str, str]]:
    trees = world(npu=npu(own), vllm=BASE.format(base=base), ascend=ASCEND.format(body=ascend), **more)
    return [pair for pair in symbols(find(trees)) if pair[0] == "RS316"]


@pytest.mark.parametrize("name", LEFT)
def test_a_method_that_is_left_abstract(name: str) -> None:
    assert abstract(*LEFT[name]) == [("RS316", "drain")]


@pytest.mark.parametrize("name", DEFINED)
def test_a_class_that_can_be_made(name: str) -> None:
    assert abstract(*DEFINED[name]) == []


def test_a_method_that_a_patch_adds_is_there() -> None:
    assert abstract("ABC", "pass", "pass", ascend_patch=PATCH) == []


def test_only_the_most_derived_class_is_made() -> None:
    text = npu("pass") + "\nclass S(R):\n    def drain(self): ...\n"
    trees = {"vllm": BASE.format(base="ABC"), "ascend": ASCEND.format(body="pass")}
    assert symbols(find(world(npu=text, **trees))) == []
    (found,) = find(world(npu=text.replace("drain", "stop"), **trees))
    assert (found.path, found.unit, found.symbol) == (NPU, "S", "drain")
    assert text.split("\n")[found.line - 1].startswith("class S(")


PART = "from abc import ABC, abstractmethod\nclass Part(ABC):\n    @abstractmethod\n    def drain(self): ...\n"
MINE = "from abc import ABC, abstractmethod\nfrom typing import Protocol\nfrom vllm.part import Part\n"
LEAF = "from vllm_omni.npu import R\nclass Leaf(R):\n    def drain(self): ...\n"

# A class of the NPU module on an abstract one of vLLM, another omni module, and whether it is one for instances.
MEANT = {
    "it only hands on": ("class Mine(Part): ...", "", True),
    "a decorator that adds no method": ("@final\nclass Mine(Part): ...", "", True),
    "another class is derived from elsewhere": ("class Mine(Part): ...", LEAF, True),
    "an ABC of its own": ("class Mine(Part, ABC): ...", "", False),
    "a protocol of its own": ("class Mine(Part, Protocol): ...", "", False),
    "it declares more": ("class Mine(Part):\n    @abstractmethod\n    def more(self): ...", "", False),
    "a decorator that may define it": ("@register(1)\nclass Mine(Part): ...", "", False),
    "another module derives from it": ("class Mine(Part): ...", LEAF.replace("R", "Mine"), False),
    "under another name": ("class Mine(Part): ...", LEAF.replace("R\n", "Mine as R\n"), False),
    "a function does": (
        "class Mine(Part): ...\ndef make():\n    class Leaf(Mine):\n        def drain(self): ...\n    return Leaf",
        "",
        False,
    ),
}


@pytest.mark.parametrize("name", MEANT)
def test_a_class_that_is_abstract_on_purpose_is_no_finding(name: str) -> None:
    own, other, is_found = MEANT[name]
    text = f"{npu('pass')}\n{MINE}{own}\n"
    trees = world(**{"npu": text, "vllm/part.py": PART, "vllm_omni/leaf.py": other})
    assert symbols(find(trees)) == ([("RS316", "drain")] if is_found else [])


def test_a_class_that_could_not_be_made_before_either_is_not_new() -> None:
    old = world(npu=npu("pass"), vllm=BASE.format(base="ABC"), ascend=ASCEND.format(body="pass"))
    assert symbols(find(old)) == [("RS316", "drain")]
    assert find(old, old) == []


FULL = PART + "class Full(Part):\n    def drain(self): ...\nclass Half(Part): ...\n"
IS_310P = "if is_310p():\n    from vllm.part import Part as P\nelse:\n    from vllm.part import Full as P"
ELSEWHERE = "from vllm.part import Part\nclass Mine(Part): ...\n"
MAKES_ANOTHER = "    def __new__(cls): ...\n"

# What stands in vLLM, what the runner imports, what a method of it does, and the symbol of what is found.
MADE = {
    "a class that became abstract": (PART, "from vllm.part import Part", "return Part()", "Part.drain"),
    "kept by the runner": (PART, "import vllm.part", "self.part = vllm.part.Part()", "Part.drain"),
    "a base of it became abstract": (FULL, "from vllm.part import Half", "return Half()", "Half.drain"),
    "a class of omni on it": (
        PART,
        "from vllm_omni.mine import Mine",
        "return [Mine() for _ in self.config]",
        "Mine.drain",
    ),
    "named in the class body": (PART, "from vllm.part import Part", "return self.part_cls()", "Part.drain"),
}
NOT_MADE = {
    "a class that defines it": (FULL, "from vllm.part import Full", "return Full()"),
    "it is only asked for": (PART, "from vllm.part import Part", "return isinstance(self.config, Part)"),
    "a method of the class is called": (PART, "from vllm.part import Part", "return Part.drain(self.config)"),
    "a local name": (PART, "from vllm.part import Part", "Part = self.config\n    return Part()"),
    "one of two": (FULL, IS_310P, "return P()"),
    "it may make another": (PART + MAKES_ANOTHER, "from vllm.part import Part", "return Part()"),
    "nothing enforces it": (PART.replace("(ABC)", ""), "from vllm.part import Part", "return Part()"),
    "a base outside the trees": (
        PART.replace("(ABC)", "(Outside, ABC)"),
        "from vllm.part import Part",
        "return Part()",
    ),
    "a decorator that may define it": (
        PART.replace("class", "@register(1)\nclass"),
        "from vllm.part import Part",
        "return Part()",
    ),
    "in a try": (
        PART,
        "from vllm.part import Part",
        "try:\n        return Part()\n    except TypeError:\n        return 1",
    ),
    "below a version switch": (PART, "from vllm.part import Part", "if version >= 2:\n        return Part()"),
}


def made(part: str, head: str, use: str, **more: str) -> list[tuple[str, str]]:
    own = f"def m(self):\n    {use}"
    own = f"part_cls = Part\n{own}" if "part_cls" in use else own
    files = {"vllm_omni/mine.py": ELSEWHERE, **more}
    old, new = (world(npu=npu(own, head=head), **{"vllm/part.py": text, **files}) for text in (plain(part), part))
    assert find(new, new) == find(old) == []
    return symbols(find(new, old))


def plain(part: str) -> str:
    """The same before something became abstract."""
    return part.replace("    @abstractmethod\n", "")


@pytest.mark.parametrize("name", MADE)
def test_a_call_of_a_class_that_has_no_objects(name: str) -> None:
    *given, symbol = MADE[name]
    assert made(*given) == [("RS316", symbol)]


@pytest.mark.parametrize("name", NOT_MADE)
def test_a_call_that_makes_an_object(name: str) -> None:
    assert made(*NOT_MADE[name]) == []


def test_a_class_that_a_patch_replaces_is_made_as_that() -> None:
    patch = "import vllm.part\nfrom vllm.part import Full\nvllm.part.Part = Full\n"
    given = (FULL, "from vllm.part import Part", "return Part()")
    assert made(*given, ascend_patch=patch) == []
    assert made(*given, ascend_patch="") == [("RS316", "Part.drain")]


def test_a_checked_class_is_told_of_at_its_head_only() -> None:
    text = npu("def m(self):\n    return Mine()") + f"\n{MINE}class Mine(Part): ...\n"
    (found,) = find(world(npu=text, **{"vllm/part.py": PART}))
    assert (found.unit, found.symbol) == ("Mine", "drain")
