"""A helper that the GPU runner has and NPU has in place: its changes are changes of the method that has it."""

from __future__ import annotations

from pathlib import Path

import pytest
from inlined_samples import NPU
from sync_samples import port_of

from runner_sync.lineage.inlined import find_helpers_in_place, inline_helpers

GPU = """\
from vllm_omni.worker.gpu_model_runner import OmniGPUModelRunner


class GPUARModelRunner(OmniGPUModelRunner):
    def _output(self, rows):
        ids = self.order(rows)

        def build():
            return self._build(rows, ids=ids)

        return self.submit(build)

    def _build(self, rows, *, ids):
        hidden = self.on_host(rows.hidden)
        payloads = []
        for row in rows:
            payloads.append(self.flatten(row.payload))
        self.accumulate(ids, payloads)
        return self.pack(ids, hidden, payloads)
"""

CHANGED = GPU.replace("self.accumulate(ids, payloads)", "if ids:\n            self.accumulate(ids, payloads)")


def test_a_change_of_the_helper_is_ported_to_where_its_code_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, questions = port_of(tmp_path, monkeypatch, NPU, GPU, CHANGED)
    assert "        if ids:\n            self.accumulate(ids, payloads)\n" in text
    assert "ported from the GPU runner" in questions
    assert "_build" not in text


def test_what_goes_into_a_helper_is_not_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    undivided = NPU.replace("platforms.npu.worker.npu_model_runner", "worker.gpu_model_runner").replace("NPU", "GPU")
    text, _ = port_of(tmp_path, monkeypatch, NPU, undivided, CHANGED)
    assert "payloads.append(self.flatten(row.payload))" in text
    assert "        if ids:\n            self.accumulate(ids, payloads)\n" in text


def test_a_helper_that_npu_calls_changes_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    twin = GPU.replace("worker.gpu_model_runner", "platforms.npu.worker.npu_model_runner").replace("GPU", "NPU")
    text, _ = port_of(tmp_path, monkeypatch, twin, GPU, CHANGED)
    assert text.count("if ids:") == 1
    assert text.index("def _build(") < text.index("if ids:")


METHOD = """\
def collect(self, rows):
    first = self.first(rows)
    second = self.second(first, rows)
    third = self.third(second)
    return self.pack(third)
"""
HELPER = """\
def helper(self, rows):
    \"\"\"What the runner collects.\"\"\"
    first = self.first(rows)
    second = self.second(first, rows)
    third = self.third(second)
    return self.pack(third)
"""


@pytest.mark.parametrize(
    ("method", "helper", "is_in_place"),
    [
        pytest.param(METHOD, HELPER, True, id="all of it"),
        pytest.param(METHOD, HELPER.replace("third(second)", "fourth(second)"), True, id="most of it"),
        pytest.param(METHOD, HELPER.replace("first", "other"), False, id="half of it, and too few statements"),
        pytest.param(METHOD.replace("third(second)", "helper(rows)"), HELPER, False, id="it is called"),
        pytest.param(METHOD, HELPER.replace("self.", "self.my_"), False, id="none of it"),
    ],
)
def test_which_helpers_a_method_has_in_place(method: str, helper: str, is_in_place: bool) -> None:
    assert find_helpers_in_place(method, {"helper": helper}) == ({"helper"} if is_in_place else frozenset())


QUERY = '''\
def helper(self, rows):
    first = self.first(rows)
    query = """
  select
    rows
"""

    if first:
        second = self.second(
            first)
    third = self.third(query)
    return self.pack(third)
'''


def test_a_string_of_several_lines_keeps_its_value() -> None:
    method = "def run(self, rows):\n    if rows:\n        return self.helper(rows)\n"
    _, now = inline_helpers(QUERY, (QUERY, {}), (method, {"helper": QUERY}))
    assert (
        now
        == '''\
def run(self, rows):
    if rows:
        first = self.first(rows)
        query = """
  select
    rows
"""

        if first:
            second = self.second(
                first)
        third = self.third(query)
        return self.pack(third)
'''
    )


LATE = "def late():\n        return self.helper(rows)"
LAST = "return self.pack(third)"


@pytest.mark.parametrize(
    ("user", "expected", "last"),
    [
        ("return self.helper(rows)", "    {}", LAST),
        ("out = self.helper(rows)", "    {}", "out = self.pack(third)"),
        ("self.helper(rows)", "    {}", "self.pack(third)"),
        (
            "if self.helper(rows):\n        self.stop()",
            "    if self.helper(rows):\n        self.stop()\n    {}",
            LAST[7:],
        ),
        (
            "with self.lock:\n        a, b = self.helper(rows)",
            "    with self.lock:\n        {}",
            "(a, b) = self.pack(third)",
        ),
        (LATE, f"    {LATE}\n    {{}}", LAST[7:]),
    ],
)
def test_the_body_stands_where_the_helper_is_called(user: str, expected: str, last: str) -> None:
    old = (f"def collect(self, rows):\n    self.start()\n    {user}\n", {"helper": HELPER})
    made, _ = inline_helpers(METHOD, old, (METHOD, {}))
    body = HELPER.replace(LAST, last).rstrip().split("\n")[2:]
    indent = expected.split("\n")[-1].partition("{")[0]
    lines = ("\n" + indent).join(line[4:] for line in body)
    assert made == f"def collect(self, rows):\n    self.start()\n{expected.format(lines)}\n"


@pytest.mark.parametrize(
    ("user", "last", "expected"),
    [
        ("out = self.helper(rows)", "return out", ""),
        ("out = self.helper(rows)", "return third", "    out = third\n"),
        ("self.helper(rows)", "return third", ""),
        ("self.helper(rows)", "return second, third.rows", ""),
        ("self.helper(rows)", "return", ""),
        ("self.helper(rows)", "return third[0]", "    third[0]\n"),
        ("return self.helper(rows)", "return third", "    return third\n"),
    ],
)
def test_what_the_helper_returns_stands_only_where_it_does_something(user: str, last: str, expected: str) -> None:
    """`_build_omni_pooler_payload` ends with `return payload`, and is called by `payload = …`."""
    old = (f"def collect(self, rows):\n    self.start()\n    {user}\n", {"helper": HELPER.replace(LAST, last)})
    made, _ = inline_helpers(METHOD, old, (METHOD, {}))
    start = "def collect(self, rows):\n    self.start()\n    first = self.first(rows)\n"
    assert made.rstrip() + "\n" == (
        f"{start}    second = self.second(first, rows)\n    third = self.third(second)\n{expected}"
    )


@pytest.mark.parametrize("user", ["out = self.helper(rows)", LATE])
def test_a_helper_that_may_end_early_stays_a_call(user: str) -> None:
    early = HELPER.replace("    third", "    if not second:\n        return None\n    third")
    old = (f"def collect(self, rows):\n    {user}\n", {"helper": early})
    assert inline_helpers(METHOD, old, (METHOD, {})) == (old[0], METHOD)
    ends = ("def collect(self, rows):\n    return self.helper(rows)\n", {"helper": early})
    assert "return None" in inline_helpers(METHOD, ends, (METHOD, {}))[0]


def test_a_helper_that_yields_stays_a_call() -> None:
    """In place, it would turn the method into a generator, which does nothing when called."""
    manager = HELPER.replace(LAST, "yield self.pack(third)")
    old = ("def collect(self, rows):\n    with self.helper(rows):\n        self.run()\n", {"helper": manager})
    assert inline_helpers(METHOD, old, (METHOD, {})) == (old[0], METHOD)
    inside = HELPER.replace(LAST, "self.later(lambda: (yield third))")
    assert inline_helpers(METHOD, (old[0], {"helper": inside}), (METHOD, {}))[0] != old[0]


@pytest.mark.parametrize(
    "user", ["def build(): return self.helper(rows)", "async def build():\n        return self.helper(rows)"]
)
def test_a_nested_function_that_uses_the_helper_stays(user: str) -> None:
    """The body follows it."""
    old = (f"def collect(self, rows):\n    {user}\n    return build() or rows\n", {"helper": HELPER})
    made, _ = inline_helpers(METHOD, old, (METHOD, {}))
    assert made.startswith(old[0].partition("    return build()")[0])
    assert made.count("third = self.third(second)") == 1


def test_a_helper_that_is_gone_with_what_it_did_stays_a_call() -> None:
    old = ("def collect(self, rows):\n    return self.helper(rows)\n", {"helper": HELPER})
    new = ("def collect(self, rows):\n    return helper(rows)\n", {"other": "def other(self):\n    self.stop()\n"})
    assert inline_helpers(METHOD, old, new) == (old[0], new[0])


def test_a_helper_of_a_helper_comes_in_too() -> None:
    inner = HELPER.replace("helper", "inner")
    start = "    one = self.one(rows)\n    two = self.two(one)\n    self.note(two)\n"
    outer = f"def helper(self, rows):\n{start}    return self.inner(two)\n"
    method = METHOD.replace("    first", f"{start}    first", 1)
    side = ("def collect(self, rows):\n    return self.helper(rows)\n", {"helper": outer, "inner": inner})
    made, _ = inline_helpers(method, side, (method, {}))
    assert "one = self.one(rows)" in made
    assert "third = self.third(second)" in made
