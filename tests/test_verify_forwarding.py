"""An override that hands all its arguments on takes what the method behind it takes (RS302, RS305, RS306, RS307)."""

from __future__ import annotations

import pytest
from verify_samples import ascend, find, npu, symbols, world

PLAIN = "def load(self, *args, **kwargs):\n    {}\n"
CALLS = "def run(self, path, kind):\n    self.load({})"
OLD, NEW = "def load(self, path, kind=None): ...", "def load(self, path, device, kind=None): ..."
ON = "super().load(*args, **kwargs)"

WRONG = {
    "a new parameter": (ON, "path", NEW, "RS302", "load(device)"),
    "by the name of the class": ("NPUModelRunner.load(self, *args, **kwargs)", "path", NEW, "RS302", "load(device)"),
    "returned": (f"return {ON}", "path", NEW, "RS302", "load(device)"),
    "kept": (f"done = {ON}\n    return done", "path", NEW, "RS302", "load(device)"),
    "in a with": (f"with self.lock:\n        {ON}", "path", NEW, "RS302", "load(device)"),
    "under a condition": (f"if self.sp:\n        {ON}", "path", NEW, "RS302", "load(device)"),
    "in both branches": (f"if self.sp:\n        {ON}\n    else:\n        {ON}", "path", NEW, "RS302", "load(device)"),
    "it may leave before": (f"if self.sp:\n        return None\n    {ON}", "path", NEW, "RS302", "load(device)"),
    "in a loop": (f"for one in self.sizes:\n        {ON}", "path", NEW, "RS302", "load(device)"),
    "in a try with another error": (
        f"try:\n        {ON}\n    except RuntimeError:\n        pass",
        "path",
        NEW,
        "RS302",
        "load(device)",
    ),
    "in a try for the end": (
        f"try:\n        {ON}\n    finally:\n        self.end()",
        "path",
        NEW,
        "RS302",
        "load(device)",
    ),
    "it reads one of the arguments": (
        f"kind = kwargs.get('kind')\n    if kind is None and len(args) > 1:\n        kind = args[0]\n    {ON}",
        "path",
        NEW,
        "RS302",
        "load(device)",
    ),
    "it asks what came out": (
        "out = super().load(*args, **kwargs)\n    if out is None:\n        return None",
        "path",
        NEW,
        "RS302",
        "load(device)",
    ),
    "after other work": (f"self.sp = True\n    {ON}\n    self.sp = False", "path", NEW, "RS302", "load(device)"),
    "a keyword that is gone": (ON, "path, kind=kind", "def load(self, path): ...", "RS306", "load(kind=)"),
    "values that move": (ON, "path, kind", "def load(self, path, device=None, kind=None): ...", "RS307", "load"),
    "what stands before the star moves": (
        "super().load(path, *args, **kwargs)",
        "",
        "def load(self, device=None, path=None, kind=None): ...",
        "RS307",
        "load",
    ),
}
RIGHT = {
    "a parameter with a default": (ON, "path", "def load(self, path, kind=None, device=None): ..."),
    "it adds the argument": ("super().load(*args, device=1, **kwargs)", "path", NEW),
    "it reads the arguments": (f"print(args)\n    {ON}", "path", NEW),
    "it fills them": (f"kwargs['device'] = 1\n    {ON}", "path", NEW),
    "it sets them": (f"args = (1, 2)\n    {ON}", "path", NEW),
    "a condition about the arguments": (f"if 'kind' in kwargs:\n        {ON}", "path", NEW),
    "it leaves for some arguments": (f"if len(args) < 2:\n        return None\n    {ON}", "path", NEW),
    "it leaves by a local made from them": (
        f"few = len(args) < 2\n    if few:\n        return None\n    {ON}",
        "path",
        NEW,
    ),
    "another part of a condition": (f"return len(args) > 1 and {ON}", "path", NEW),
    "an assertion": (f"assert len(args) > 1\n    {ON}", "path", NEW),
    "it takes one out": (f"kwargs.pop('kind', None)\n    {ON}", "path", NEW),
    "two parents": (f"if self.sp:\n        {ON}\n    else:\n        Other.load(self, *args, **kwargs)", "path", NEW),
    "another call gets them, too": (f"if self.sp:\n        return self.fast(*args, **kwargs)\n    {ON}", "path", NEW),
    "in a try": (f"try:\n        {ON}\n    except TypeError:\n        pass", "path", NEW),
    "another method": ("super().initialize(*args, **kwargs)", "path", NEW),
    "of another object": ("self.config.load(*args, **kwargs)", "path", NEW),
    "what stands before the star stays": (
        "super().load(path, *args, **kwargs)",
        "",
        "def load(self, path, device=None, kind=None): ...",
    ),
}


def told(body: str, given: str, new: str) -> list[tuple[str, str]]:
    own = PLAIN.format(body).replace("self, *", "self, path, *") if "(path, *" in body else PLAIN.format(body)
    calls = CALLS.format(given) if given else "def run(self):\n    pass"
    text = npu(f"{own}\n{calls}")
    before = OLD.replace("path,", "path=None,") if not given else OLD
    return symbols(find(world(npu=text, ascend=ascend(new)), world(npu=text, ascend=ascend(before))))


@pytest.mark.parametrize("name", WRONG)
def test_a_call_that_the_method_behind_does_not_take(name: str) -> None:
    *given, code, symbol = WRONG[name]
    assert told(*given) == [(code, symbol)]


@pytest.mark.parametrize("name", RIGHT)
def test_a_call_that_may_fit(name: str) -> None:
    assert told(*RIGHT[name]) == []


def test_the_finding_names_what_gets_the_arguments() -> None:
    (finding,) = find(world(npu=npu(PLAIN.format(ON) + CALLS.format("path")), ascend=ascend(NEW)))
    assert finding.message == "`load` (vllm_ascend/runner.py:3) requires `device`, which is not given."


def test_upstream_calls_it_with_what_the_method_behind_lacks() -> None:
    """vllm-ascend's method takes the argument, and the override hands it on to vLLM's, which does not."""
    upstream = ascend("def load(self, path, device=None): ...\ndef start(self):\n    self.load(1, device=2)")
    vllm = "class GPUModelRunner:\n    def load(self, path): ...\n"
    head = "from vllm.runner import GPUModelRunner\n"
    text = npu(PLAIN.format("GPUModelRunner.load(self, *args, **kwargs)"), head=head).replace(
        "from vllm.runner import helper\n", ""
    )
    assert symbols(find(world(npu=text, ascend=upstream, vllm=vllm))) == [("RS305", "load(device=)")]
