"""Methods that upstream took apart, or gave up: omni's part comes along, or stays."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest
from sync_samples import (
    ASCEND,
    ASCEND_OLD,
    BASE,
    GPU_BASE,
    OMNI_TREE,
    VLLM,
    VLLM_TREE,
    check_upgrade,
    commit,
    lay_out,
    stay_at_home,
)

from runner_sync.sync import TreeOptions, Upgrade, UpgradeOptions
from runner_sync.upgrade.from_upstream import splitting

UNDIVIDED = """\
def execute_model(self, scheduler_output):
    self._update_states(scheduler_output)
    inputs = self._prepare_inputs(scheduler_output)
    hidden = self.model(inputs)
    logits = self.model.compute_logits(hidden)
    sampled = self._sample(logits)
    self._bookkeep(sampled)
    output = Output(sampled)
    return output
"""

FIRST = """\
def execute_model(self, scheduler_output):
    self._update_states(scheduler_output)
    inputs = self._prepare_inputs(scheduler_output)
    hidden = self.model(inputs)
    logits = self.model.compute_logits(hidden)
    self.state = (logits, hidden)
    return None
"""

SECOND = """\
def sample_tokens(self, grammar):
    logits, hidden = self.state
    self.state = None
    # From here on as before.
    sampled = self._sample(logits)
    self._bookkeep(sampled)
    output = Output(sampled)
    return output
"""

HELPER = FIRST.replace(
    "    self.state = (logits, hidden)\n    return None\n", "    return self.sample_tokens(logits)\n"
)


TAKEN_APART = SECOND.replace(
    "    sampled = self._sample(logits)\n    self._bookkeep(sampled)\n", "    sampled = self._settle(logits)\n"
)
SETTLE = (
    "def _settle(self, logits):\n    sampled = self._sample(logits)\n    self._bookkeep(sampled)\n    return sampled\n"
)
ONE_LEFT = UNDIVIDED.replace("    self._bookkeep(sampled)\n", "")
BUSY = "def other(self):\n    self._bookkeep(sampled)\n" + "".join(f"    self.step_{k}()\n" for k in range(8))
GROWN = TAKEN_APART + "".join(f"    self.step_{k}()\n" for k in range(8))


@pytest.mark.parametrize(
    ("copy", "new", "found"),
    [
        (UNDIVIDED, {"execute_model": FIRST, "sample_tokens": SECOND}, "sample_tokens"),
        (UNDIVIDED, {"execute_model": FIRST, "_settle": SETTLE, "sample_tokens": TAKEN_APART}, "sample_tokens"),
        (UNDIVIDED, {"execute_model": FIRST, "_settle": SETTLE, "sample_tokens": GROWN}, "sample_tokens"),
        (
            UNDIVIDED,
            {"execute_model": FIRST, "other": "def other(self):\n    self.a()\n    self.b()\n    return output\n"},
            "",
        ),
        (UNDIVIDED, {"execute_model": ONE_LEFT, "other": BUSY}, ""),
        (UNDIVIDED, {"execute_model": HELPER, "sample_tokens": SECOND}, ""),
        (UNDIVIDED, {"execute_model": UNDIVIDED, "sample_tokens": SECOND}, ""),
        (UNDIVIDED, {"sample_tokens": SECOND}, ""),
        (FIRST, {"execute_model": FIRST, "sample_tokens": SECOND}, ""),
    ],
    ids=[
        "split",
        "a helper of the second half",
        "the second half does more",
        "another method",
        "a busy method with the one statement that left",
        "a helper",
        "both whole",
        "renamed",
        "omni has not that part",
    ],
)
def test_split_off(copy: str, new: dict[str, str], found: str) -> None:
    assert (
        splitting.find_split_off("execute_model", base=UNDIVIDED, copy=copy, old={"execute_model": UNDIVIDED}, new=new)
        == found
    )


def test_two_methods_are_joined_and_cut_again() -> None:
    text = splitting.join_halves(FIRST, SECOND)
    ast.parse(text)
    assert splitting.cut_halves(text, SECOND) == (FIRST, SECOND)


@pytest.mark.parametrize(
    "first", ["def execute_model(self, scheduler_output): ...\n", "@stub\ndef run(self): return 1\n"]
)
def test_nothing_is_joined_to_a_method_on_one_line(first: str) -> None:
    assert splitting.join_halves(first, SECOND) == first
    assert splitting.cut_halves(first, SECOND) is None


@pytest.mark.parametrize("stub", ["execute_model#2", "execute_model#3"])
def test_a_further_definition_of_an_old_method_is_not_split_off_it(stub: str) -> None:
    new = {"execute_model": FIRST, stub: SECOND}
    assert (
        splitting.find_split_off("execute_model", base=UNDIVIDED, copy=UNDIVIDED, old={"execute_model": ""}, new=new)
        == ""
    )


@pytest.mark.parametrize(
    ("first", "second", "is_kept"),
    [
        pytest.param("one()\nfour()", "two()\nown()\nthree()", True, id="the moved one is in the other half"),
        pytest.param("one()\nfour()", "three()\nown()\ntwo()", False, id="moved within the half"),
        pytest.param("one()\nfour()", "two()\nnew()\nown()\nthree()", True, id="new in the half"),
        pytest.param("one()\nfour()", "two()\nreturn None\nown()\nthree()", False, id="a new exit"),
        pytest.param("one()\nown()\nfour()", "two()\nthree()", True, id="in the first half"),
        pytest.param("four()\nown()\none()", "two()\nthree()", False, id="moved within the first half"),
    ],
)
def test_the_order_in_a_half_is_that_of_the_copy(first: str, second: str, is_kept: bool) -> None:
    lines = f"{first}\n{splitting.CUT}\n{second}"
    text = f"def run(self):\n{textwrap.indent(lines, '    ')}\n"
    omni = "def run(self):\n    one()\n    two()\n    own()\n    three()\n    four()\n"
    assert splitting.is_in_order(text, omni, lines.split("\n").index("own()") + 2) == is_kept


def test_a_cut_inside_a_suite_is_none() -> None:
    text = f"def execute_model(self):\n    with self.lock:\n        {splitting.CUT}\n    return 1\n"
    assert splitting.cut_halves(text, SECOND) is None


def indented(*methods: str) -> str:
    return textwrap.indent("\n".join(methods), "    ")


def planned(folder: Path, old: str, new: str, npu: str, *, gpu: str = "    pass\n") -> Upgrade:
    omni = {
        **OMNI_TREE,
        BASE: "from vllm_ascend.worker.model_runner_v1 import NPUModelRunner\n\n\n"
        f"class OmniNPUModelRunner(NPUModelRunner):\n{npu}",
        GPU_BASE: "from vllm.v1.worker.gpu_model_runner import GPUModelRunner\n\n\n"
        f"class OmniGPUModelRunner(GPUModelRunner):\n{gpu}",
    }
    head = "from vllm.v1.worker.gpu_model_runner import GPUModelRunner\n\n\nclass NPUModelRunner(GPUModelRunner):\n"
    vllm = "class GPUModelRunner:\n" + indented("def _update_states(self, output):\n    self.seen = output\n")
    ascend = folder / "ascend"
    for text in (old, new):
        commit(lay_out(ascend, {**ASCEND_OLD, ASCEND: head + text}))
    return check_upgrade(
        UpgradeOptions(
            omni=TreeOptions(path=lay_out(folder / "omni", omni)),
            ascend=TreeOptions(path=ascend),
            vllm=TreeOptions(path=lay_out(folder / "vllm", {**VLLM_TREE, VLLM: vllm})),
            ascend_base="HEAD~1",
            verify=False,
        )
    )


@pytest.fixture(autouse=True)
def at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stay_at_home(monkeypatch, tmp_path)


def methods(result: Upgrade) -> dict[str, str]:
    text = next(change.after for change in result.changes if change.path == BASE) or ""
    owner = next(node for node in ast.parse(text).body if isinstance(node, ast.ClassDef))
    return {node.name: ast.unparse(node) for node in owner.body if isinstance(node, ast.FunctionDef)}


def test_what_omni_added_to_the_second_half_stands_in_the_new_method(tmp_path: Path) -> None:
    copy = UNDIVIDED.replace("    hidden = ", "    self.note(inputs)\n    hidden = ")
    copy = copy.replace("    output = Output", "    self.keep_for_talker(sampled)\n    output = Output")
    result = planned(tmp_path, indented(UNDIVIDED), indented(FIRST, SECOND), indented(copy))
    made = methods(result)
    assert list(made) == ["execute_model", "sample_tokens"]
    assert "    self.note(inputs)\n    hidden = " in made["execute_model"]
    assert "keep_for_talker" not in made["execute_model"]
    assert "    self.keep_for_talker(sampled)\n    output = Output(sampled)\n" in made["sample_tokens"]
    assert splitting.CUT not in "".join(change.after or "" for change in result.changes)
    asked = {item.unit: item.reason for item in result.report.reviews}
    assert asked["OmniNPUModelRunner.sample_tokens"].startswith("upstream split this method off execute_model")


def test_a_second_half_without_anything_of_omni_is_inherited(tmp_path: Path) -> None:
    copy = UNDIVIDED.replace("    hidden = ", "    self.note(inputs)\n    hidden = ")
    result = planned(tmp_path, indented(UNDIVIDED), indented(FIRST, SECOND), indented(copy))
    assert list(methods(result)) == ["execute_model"]


GIVEN_UP = """\
def _update_states(self, output):
    self.seen = output
    for request in output.finished:
        self.requests.pop(request)
        self.batch.remove(request)
    self.batch.condense()
"""

TWIN = """\
def _update_states(self, output):
    self.seen = output
    for request in output.finished:
        self.requests.pop(request, None)
        self.batch.remove(request)
        self.buffers.pop(request, None)
    self.batch.condense(refresh=True)
"""


@pytest.mark.parametrize(
    ("twin", "is_followed"),
    [(TWIN, True), (TWIN.replace("refresh=True", "stream=torch.cuda.current_stream()"), False)],
    ids=["neutral", "device code"],
)
def test_a_method_that_upstream_gave_up_follows_the_gpu_twin(twin: str, is_followed: bool, tmp_path: Path) -> None:
    copy = GIVEN_UP.replace("self.requests.pop(request)", "self.requests.pop(request, None)")
    rest = indented("def execute_model(self, scheduler_output):\n    return None\n")
    result = planned(tmp_path, indented(GIVEN_UP) + "\n" + rest, rest, indented(copy), gpu=indented(twin))
    text = next((change.after for change in result.changes if change.path == BASE), None) or ""
    assert ("refresh=True" in text) is is_followed


def test_what_came_from_the_gpu_twin_is_not_called_upstreams(tmp_path: Path) -> None:
    copy = GIVEN_UP.replace("self.requests.pop(request)", "self.requests.pop(request, None)")
    rest = indented("def execute_model(self, scheduler_output):\n    return None\n")
    result = planned(tmp_path, indented(GIVEN_UP) + "\n" + rest, rest, indented(copy), gpu=indented(TWIN))
    unit = next(unit for unit in result.report.units if unit.unit.endswith("._update_states"))
    assert unit.hunks
    assert {(hunk.provenance, hunk.cause.split()[0]) for hunk in unit.hunks} == {("gpu", GPU_BASE)}
    # `buffers.pop` and the new `condense`.
    assert (unit.taken, unit.ported) == (0, 2)


STUB = "@overload\ndef execute_model(self, scheduler_output: None) -> None: ...\n"


@pytest.mark.parametrize(("was", "stays"), [("", ""), (STUB, STUB)], ids=["a new stub", "a stub that both have"])
def test_a_stub_is_no_half_of_the_method_below_it_and_no_copy_of_its_own(tmp_path: Path, was: str, stays: str) -> None:
    copy = UNDIVIDED.replace("    hidden = ", "    self.note(inputs)\n    hidden = ")
    new = UNDIVIDED.replace("    logits = ", "    self.sync(hidden)\n    logits = ")
    old, now = (indented(*filter(None, (stub, text))) for stub, text in ((was, UNDIVIDED), (STUB, new)))
    result = planned(tmp_path, old, now, indented(*filter(None, (was, copy))))
    assert not result.report.reviews
    (text,) = (change.after for change in result.changes if change.path == BASE)
    expected = copy.replace("    logits = ", "    self.sync(hidden)\n    logits = ")
    assert text.endswith("(NPUModelRunner):\n" + indented(*filter(None, (stays, expected))))
