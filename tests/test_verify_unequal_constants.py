"""A field that can no longer equal the constants with which omni compares it (RS319)."""

from __future__ import annotations

import pytest
from verify_samples import find, npu, symbols, world

VLLM = """\
import enum
from dataclasses import field
from enum import Enum, IntEnum
from typing import Any, Literal, Optional
class Mode(Enum):
    ALIGN = "align"
    NONE = "none"
class Text(str, Enum):
    ALIGN = "align"
class Own(Enum):
    ALIGN = "align"
    def __eq__(self, other): return True
class Alike(Enum):
    ALIGN = "align"
    __eq__ = Own.__eq__
class Unlike:
    pass
Old = Literal["none", "align"]
New = Literal["none", "aligned"]
Wide = Literal["all", Old]
Narrow = Literal["all", New]
class Cache:
    mode: {declared}
    {more}
class GPUModelRunner:
    kind: {declared}
    def __init__(self, cache: Cache):
        self.cache = cache
    def note(self, other):
        return {upstream}
"""
DERIVED = "from vllm.runner import Cache\nclass Derived(Cache):"
TEXT = "Literal['none', 'align']"
ALIGN = "return self.cache.mode == 'align'"

BREAKS = {
    "a text that became an enum": ("str", "Mode", ALIGN, "Compare it with `Mode.ALIGN`."),
    "which may be None": ("str | None", "Optional[Mode]", ALIGN, "Compare it with `Mode.ALIGN`."),
    "a text that became a switch": (TEXT, "bool", ALIGN, "Compare it as the target does."),
    "a constant that is gone": ("Old", "New", ALIGN, "Compare it with `'aligned'` if that is the new name."),
    "from a Literal of others": ("Wide", "Narrow", ALIGN, "Compare it with `'aligned'` if that is the new name."),
    "without another": (TEXT, "Literal['none']", ALIGN, "Compare it as the target does."),
    "the other way round": (TEXT, "bool", "return 'align' != self.cache.mode", "Compare it as the target does."),
    "by a local": (TEXT, "bool", "mode = self.cache.mode\nreturn mode == 'align'", "Compare it as the target does."),
    "all of several": (
        "str",
        "Literal['c']",
        "return self.cache.mode in ('a', 'b')",
        "Compare it as the target does.",
    ),
    "a field that a subclass leaves": (TEXT, "bool", ALIGN, "Compare it as the target does."),
    "a number that became a text": ("int", "str", "return self.cache.mode == 1", "Compare it as the target does."),
}
NEAR_MISSES = {
    "an enum that equals texts": ("str", "Text", ALIGN, {}),
    "an enum that decides itself": ("str", "Own", ALIGN, {}),
    "an enum that takes that from another": ("str", "Alike", ALIGN, {}),
    "a class": ("str", "Unlike", ALIGN, {}),
    "anything": ("str", "Any", ALIGN, {}),
    "a class from elsewhere": ("str", "enum.Enum", ALIGN, {}),
    "an alias of the same": (TEXT, "Wide", ALIGN, {}),
    "one more kind": (TEXT, "str | bool", ALIGN, {}),
    "another constant is gone": ("Old", "New", "return self.cache.mode == 'none'", {}),
    "it never was one": (TEXT, "bool", "return self.cache.mode == 'other'", {}),
    "one of several is left": ("Old", "New", "return self.cache.mode in ('align', 'none')", {}),
    "one of several is no constant": (TEXT, "bool", "return self.cache.mode in ('align', other)", {}),
    "upstream still assigns it": (TEXT, "bool", ALIGN, {"more": "def __post_init__(self): self.mode = 'align'"}),
    "it is the default still": ("str", "Mode = field(default='align')", ALIGN, {}),
    "upstream still compares it": (TEXT, "bool", ALIGN, {"upstream": 'self.cache.mode == "align"'}),
    "upstream still asks whether it differs": (TEXT, "bool", ALIGN, {"upstream": 'self.cache.mode != "align"'}),
    "upstream still compares several": (TEXT, "bool", ALIGN, {"upstream": 'self.cache.mode in ("align", "b")'}),
    "upstream still compares the empty text": (
        "str",
        "bool",
        "return self.cache.mode == ''",
        {"upstream": 'self.cache.mode == ""'},
    ),
    "upstream still compares a number": (
        "int",
        "Literal[0, 1]",
        "return self.cache.mode == 3",
        {"upstream": "self.cache.mode == 3"},
    ),
    "omni sets it here": (TEXT, "bool", f"self.cache.mode = other\n{ALIGN}", {}),
    "omni sets it on its own object": (
        TEXT,
        "bool",
        "self.kind = other\nreturn self.kind",
        {"also": "def n(self):\n    return self.kind == 'align'"},
    ),
    "a subclass of omni's declares it": (TEXT, "bool", ALIGN, {"head": f"{DERIVED}\n    mode: str"}),
    "a subclass somewhere else does": (TEXT, "bool", ALIGN, {"far": f"{DERIVED}\n    mode: str"}),
    "asked for its kind": (TEXT, "bool", "return isinstance(self.cache.mode, str) and self.cache.mode == 'align'", {}),
    "a property": (TEXT, "bool", ALIGN, {"more": "@property\n    def mode(self): ..."}),
    "of an object of unknown class": (TEXT, "bool", "return other.mode == 'align'", {}),
    "the identity": (TEXT, "bool", "return self.cache.mode is None", {}),
    "None": (TEXT, "bool", "return self.cache.mode == None", {}),
}


def told(was: str, now: str, body: str, **changed: str) -> list[tuple[str, str, str]]:
    parts = {"more": "pass", "upstream": "0", "also": "", "head": "", "far": ""} | changed
    own = f"def m(self, other):\n    {body.replace(chr(10), chr(10) + '    ')}\n{parts['also']}"
    text = npu(own, head=parts["head"]).replace("from vllm.runner import helper\n", "")
    ascend = "from vllm.runner import GPUModelRunner\nclass NPUModelRunner(GPUModelRunner): ...\n"
    far = {"vllm/far/away.py": parts["far"]}
    old, new = (
        world(
            npu=text,
            ascend=ascend,
            vllm=VLLM.format(declared=declared, more=parts["more"], upstream=parts["upstream"]),
            **far,
        )
        for declared in (was, now)
    )
    found = find(new, old)
    assert not symbols(find(old, old))
    return [(finding.code, finding.symbol.partition(" ")[0], finding.fix) for finding in found]


@pytest.mark.parametrize("name", BREAKS)
def test_a_constant_that_a_field_never_equals_any_more(name: str) -> None:
    was, now, body, fix = BREAKS[name]
    derived = {"head": f"{DERIVED}\n    more: str"} if "subclass" in name else {}
    assert told(was, now, body, **derived) == [("RS319", "mode", fix)]


@pytest.mark.parametrize("name", NEAR_MISSES)
def test_a_constant_that_a_field_may_equal(name: str) -> None:
    was, now, body, more = NEAR_MISSES[name]
    assert told(was, now, body, **more) == []
