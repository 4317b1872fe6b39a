"""The engine of `check`: what is reported, what is silenced, what is new, and what starting it costs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest
import verify_samples
from check_samples import AR, BASE, GPU_AR, GPU_HEAD, NPU_HEAD, dedent, run
from check_samples import job as make_job

from runner_sync.errors import InputError
from runner_sync.model import Finding
from runner_sync.profile import NPU
from runner_sync.verify import baseline as ratchet
from runner_sync.verify import check
from runner_sync.verify.baseline import Baseline, StaleEntry
from runner_sync.verify.check_job import CheckJob, CheckModule
from runner_sync.verify.codes import Codes, is_selected

CUDA = "torch.cuda.synchronize()\n"
GUARD = 'if "x" in locals(): pass\n'
TWO = CUDA + GUARD


BINDS = "from samples import current_platform, f, torch, x\n"
"""What stands at the end of each text, so that the only findings are those that a test is about (RS413)."""


def job(npu: str, gpu: str | None = None, **rest: Any) -> CheckJob:
    if "npu_base" in rest:
        rest["npu_base"] = f"{dedent(rest['npu_base'])}\n{BINDS}"
    return make_job(f"{dedent(npu)}\n{BINDS}", gpu, **rest)


def codes(result: check.CheckResult) -> list[str]:
    return [finding.code for finding in result.findings]


# What is reported


def test_findings_come_in_the_order_of_the_files_and_lines() -> None:
    result = check.run(job(GUARD + CUDA, npu_base=CUDA))
    assert [(f.path, f.line, f.code) for f in result.findings] == [
        (AR, 1, "RS407"),
        (AR, 2, "RS402"),
        (BASE, 1, "RS402"),
    ]


@pytest.mark.parametrize(
    ("select", "ignore", "expected"),
    [
        ((), (), ["RS402", "RS407"]),
        (("RS4",), (), ["RS402", "RS407"]),
        (("RS402",), (), ["RS402"]),
        (("RS2",), (), []),
        ((), ("RS407",), ["RS402"]),
        (("RS4",), ("RS402",), ["RS407"]),
        (("RS402",), ("RS4",), ["RS402"]),
        (("RS4",), ("RS4",), []),
        (("ALL",), ("rs402",), ["RS407"]),
    ],
)
def test_the_longer_prefix_wins_and_ignore_wins_a_draw(
    select: tuple[str, ...], ignore: tuple[str, ...], expected: list[str]
) -> None:
    assert codes(check.run(job(TWO), Codes(select, ignore))) == expected


def test_selecting_one_rule_deselects_the_rest() -> None:
    assert is_selected("RS203", ["RS203"], [])
    assert is_selected("RS203", ("ALL",), ())
    assert not is_selected("RS204", ["RS203"], [])


def test_rules_can_be_left_out_by_path() -> None:
    result = check.run(job(TWO, npu_base=TWO), Codes(per_path={"*/npu_ar_*": ("RS402",)}))
    assert [(f.path, f.code) for f in result.findings] == [(AR, "RS407"), (BASE, "RS402"), (BASE, "RS407")]


@pytest.mark.parametrize(("least", "expected"), [("error", ["RS402"]), ("warning", ["RS402", "RS407"])])
def test_the_least_severity(least: str, expected: list[str]) -> None:
    assert codes(run(job(TWO), "ALL", severity=least)) == expected


# What a branch touched


def test_only_findings_on_changed_lines_are_reported() -> None:
    assert codes(check.run(job(TWO), changed={AR: {2}})) == ["RS407"]
    assert codes(check.run(job(TWO), changed={AR: {9}, BASE: {1}})) == []


def test_a_change_of_the_gpu_method_makes_its_absence_on_npu_the_branchs_business() -> None:
    gpu = GPU_HEAD + "class GPUARModelRunner(OmniGPUModelRunner):\n    def f(self):\n        return super().f()\n"
    given = job(NPU_HEAD + "class NPUARModelRunner(OmniNPUModelRunner):\n    pass\n", gpu)
    assert codes(check.run(given, changed={GPU_AR: {4}})) == ["RS203"]
    assert codes(check.run(given, changed={GPU_AR: {1}})) == []


# Ignore comments


IGNORES = [
    pytest.param("torch.cuda.synchronize()  # runner-sync: ignore[RS402] tested on GPU", [], id="on the line"),
    pytest.param("# runner-sync: ignore[RS402] tested on GPU\ntorch.cuda.synchronize()", [], id="on the line above"),
    pytest.param(
        "torch.cuda.synchronize()  # noqa: E501  # runner-sync: ignore[RS402] tested on GPU", [], id="behind a comment"
    ),
    pytest.param(
        "torch.cuda.synchronize()  # not `# runner-sync: ignore[RS402] tested on GPU`", ["RS402"], id="in a sentence"
    ),
    pytest.param(
        "# runner-sync: ignore[RS402] tested on GPU\n# and more\ntorch.cuda.synchronize()", [], id="with more comments"
    ),
    pytest.param(
        "# runner-sync: ignore[RS402:torch.cuda] tested on GPU\ntorch.cuda.synchronize()", [], id="for that symbol"
    ),
    pytest.param(
        "# runner-sync: ignore[RS402, RS407] legacy\nif 'x' in locals(): torch.cuda.synchronize()", [], id="two codes"
    ),
    pytest.param(
        "# runner-sync: ignore[RS402:torch.xpu] other\ntorch.cuda.synchronize()",
        ["RS491", "RS402"],
        id="for another symbol",
    ),
    pytest.param(
        "# runner-sync: ignore[RS402] tested on GPU\n\ntorch.cuda.synchronize()",
        ["RS491", "RS402"],
        id="a blank line between",
    ),
    pytest.param(
        "x = 1  # runner-sync: ignore[RS402] tested on GPU\ntorch.cuda.synchronize()",
        ["RS491", "RS402"],
        id="behind the statement before",
    ),
    pytest.param(
        "torch.cuda.synchronize()  # runner-sync: ignore[RS407] legacy", ["RS402", "RS491"], id="another code"
    ),
    pytest.param("torch.cuda.synchronize()  # runner-sync: ignore[RS402]", ["RS402", "RS492"], id="no reason"),
    pytest.param("torch.cuda.synchronize()  # runner-sync: ignore", ["RS402", "RS492"], id="no code"),
    pytest.param("torch.cuda.synchronize()  # runner-sync: ignore[402] why", ["RS402", "RS492"], id="no such code"),
    pytest.param(
        "x = f(\n    torch.cuda.synchronize(),\n    1,\n)  # runner-sync: ignore[RS402] tested on GPU",
        [],
        id="at the end of its statement",
    ),
    pytest.param(
        "# runner-sync: ignore[RS402] tested on GPU\nx = f(\n    1,\n    torch.cuda.synchronize(),\n)",
        [],
        id="above its statement",
    ),
    pytest.param(
        "# runner-sync: ignore[RS402] tested on GPU\nif x:\n    torch.cuda.synchronize()",
        ["RS491", "RS402"],
        id="above the condition that it stands under",
    ),
    pytest.param("x = 1  # runner-sync: ignore[RS402] tested on GPU", ["RS491"], id="nothing to silence"),
    pytest.param("x = 1  # runner-sync: ignore[RS301] vllm 0.30", [], id="a rule that did not run"),
    pytest.param("x = '# runner-sync: ignore[RS402]'", [], id="inside a string"),
    pytest.param('x = """\n# runner-sync: ignore[RS402]\n"""', [], id="inside a long string"),
    pytest.param(
        'x = """\n# runner-sync: no comment\n"""\ntorch.cuda.synchronize()  # runner-sync: ignore[RS402] tested on GPU',
        [],
        id="beside a long string",
    ),
    pytest.param(
        "x = (\n    'a'  # runner-sync: ignore[RS402] tested on GPU\n    'b'\n)",
        ["RS491"],
        id="between the parts of a string",
    ),
    pytest.param(
        "x = f('#', torch.cuda.synchronize())  # runner-sync: ignore[RS402] tested on GPU", [], id="behind a string"
    ),
    pytest.param("x = 1  # runner-sync: ignore[RS" + "999] a slip", ["RS492"], id="a code that no rule has"),
]


@pytest.mark.parametrize(("text", "expected"), IGNORES)
def test_ignore_comments(text: str, expected: list[str]) -> None:
    assert codes(check.run(job(text + "\n"))) == expected


SAYS = [
    pytest.param(
        "RS402, RS407",
        ["`RS407` in this comment silences nothing: it is not reported here; `RS402` still silences something."],
        id="one of two is unused",
    ),
    pytest.param("RS407", ["`RS407` in this comment silences nothing: it is not reported here."], id="only one"),
    pytest.param("RS402, 301", ["`301` is no rule code and silences nothing; `RS402` counts."], id="a slip beside one"),
    pytest.param(
        "RS402 RS407", ["This comment silences nothing: `RS402 RS407` is no rule code."], id="no comma between two"
    ),
    pytest.param("a, b", ["This comment silences nothing: `a` and `b` are no rule codes."], id="two slips"),
]


@pytest.mark.parametrize(("named", "expected"), SAYS)
def test_an_ignore_comment_is_told_which_of_its_codes_is_idle(named: str, expected: list[str]) -> None:
    """Who reads that the comment silences nothing deletes a code that is needed."""
    found = check.run(job(f"torch.cuda.synchronize()  # runner-sync: ignore[{named}] legacy\n")).findings
    assert [finding.message for finding in found if finding.code.startswith("RS49")] == expected


@pytest.mark.parametrize(
    ("comment", "message", "fix"),
    [
        ("runner-sync ignore[RS402] GPU", "no colon follows `runner-sync`", "Write it as `{}ignore[RS402] reason`."),
        ("runner-sync ignore RS402 GPU", "no colon follows `runner-sync`", "Write it as `{}ignore[RS402] reason`."),
        ("runner-sync: ignore[RS402]", "no reason follows the codes", "Write it as `{}ignore[RS402] reason`."),
        ("runner-sync: ignore RS402 GPU", "no rule code stands in brackets", "Write it as `{}ignore[RS402] reason`."),
        (
            "runner-sync: ignore[rs402:torch.cuda] GPU",
            "`rs402:torch.cuda` is no rule code",
            "Write `RS402:torch.cuda` for `rs402:torch.cuda`: `{}ignore[RS402:torch.cuda] reason`.",
        ),
        (
            "runner-sync: ignore[402, RS407]",
            "no reason follows the codes",
            "Write `RS402` for `402`: `{}ignore[RS407, RS402] reason`.",
        ),
        (
            "runner-sync: ignore[x] GPU",
            "`x` is no rule code",
            "Write it as `{}ignore[RS203] reason`, several codes with commas between them.",
        ),
    ],
)
def test_the_advice_on_an_ignore_comment_repeats_its_codes(comment: str, message: str, fix: str) -> None:
    found = check.run(job(f"torch.cuda.synchronize()  # {comment}\n")).findings
    assert [finding.code for finding in found] == ["RS402", "RS492"]
    assert found[1].message == f"This comment silences nothing: {message}."
    assert found[1].fix == fix.format("# runner-sync: ")


@pytest.mark.parametrize(
    "prose", ["the runner-sync ignore comments go", "runner-sync ignores RS402", "see runner-sync"]
)
def test_prose_about_the_tool_is_no_ignore_comment(prose: str) -> None:
    assert codes(check.run(job(f"x = 1  # {prose}\n"))) == []


def test_an_ignore_above_the_decorator_of_a_method() -> None:
    text = (
        "class A:\n    def f(self): return 1\n"
        "    # runner-sync: ignore[RS405] kept until 0.32\n    def f(self): return 2\n"
    )
    assert codes(check.run(job(text))) == []


def test_an_ignore_is_not_unused_when_its_rule_was_not_selected() -> None:
    text = "x = 1  # runner-sync: ignore[RS402] tested on GPU\n"
    assert codes(check.run(job(text), Codes(("RS401", "RS49")))) == []


def test_what_comments_silence_is_counted() -> None:
    assert check.run(job("torch.cuda.synchronize()  # runner-sync: ignore[RS402] tested\n")).ignored == 1


# The ratchet

ROW = {"code": "RS402", "path": "p", "unit": "u", "symbol": "s"}
KEY = ("RS402", AR, "<module>", "torch.cuda")


def test_a_baseline_accepts_as_many_as_it_counts_wherever_they_stand() -> None:
    result = check.run(job("\n\n" + CUDA + CUDA), baseline=Baseline({KEY: 1}))
    assert (codes(result), result.accepted, result.stale) == (["RS402"], 1, ())


def test_an_entry_that_accepts_more_than_there_is_is_stale_and_shrinks() -> None:
    result = check.run(job(CUDA), baseline=Baseline({KEY: 3}))
    assert result.stale == (StaleEntry(*KEY, accepted=3, found=1),)
    assert result.baseline == Baseline({KEY: 1})


def test_a_baseline_never_grows() -> None:
    result = check.run(job(CUDA + GUARD), baseline=Baseline({KEY: 1}))
    assert codes(result) == ["RS407"]
    assert result.baseline == Baseline({KEY: 1})


def test_the_first_baseline_takes_everything() -> None:
    result = check.run(job(TWO))
    assert result.baseline == Baseline({KEY: 1, ("RS407", AR, "<module>", "x"): 1})


def test_rules_that_did_not_run_keep_their_entries() -> None:
    breakage = ("RS301", AR, "<module>", "vllm.gone")
    result = check.run(job("x = 1\n"), baseline=Baseline({breakage: 1, KEY: 1}))
    assert [entry.code for entry in result.stale] == ["RS402"]
    assert result.baseline == Baseline({breakage: 1})


def test_a_baseline_survives_being_written_and_read() -> None:
    given = Baseline({KEY: 2, ("RS203", AR, "Ä", 'quote "x"'): 1})
    text = ratchet.dump(given)
    assert ratchet.load(text, path="b.json") == given
    assert ratchet.dump(ratchet.load(text, path="b.json")) == text
    assert ratchet.load(ratchet.dump(Baseline()), path="b.json") == Baseline()
    of_a_lock = Baseline({KEY: 1}, "runner-sync-gpu.lock")
    assert ratchet.load(ratchet.dump(of_a_lock), path="b.json") == of_a_lock


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"format_version": 2, "findings": []}',
        '{"format_version": 1}',
        '{"format_version": 1, "lock": 1, "findings": []}',
        '{"format_version": 1, "findings": [1]}',
        '{"format_version": 1, "findings": [{"code": "RS402"}]}',
        json.dumps({"format_version": 1, "findings": [{**ROW, "count": 0}]}),
        json.dumps({"format_version": 1, "findings": [{**ROW, "count": True}]}),
    ],
)
def test_a_broken_baseline_is_refused_with_the_remedy(text: str) -> None:
    with pytest.raises(InputError, match=r"^b\.json.*`--update-baseline` beside `--baseline FILE`\.$"):
        ratchet.load(text, path="b.json")


REVIEW = "# runner-sync: review R3 both sides changed this"


def test_a_baseline_accepts_no_open_question() -> None:
    """Else an unsettled question of an upgrade goes with the findings that are older than the tool."""
    both = job(f"{REVIEW}\n{CUDA}")
    result = check.run(both)
    assert codes(result) == ["RS406", "RS402"]
    assert result.baseline is not None
    assert {code for code, *_ in result.baseline.counts} == {"RS402"}
    assert codes(check.run(both, baseline=result.baseline)) == ["RS406"]


def test_an_entry_for_an_open_question_in_an_old_baseline_counts_for_nothing() -> None:
    text = json.dumps({"format_version": 1, "findings": [ROW, {**ROW, "code": "RS406"}, {**ROW, "code": "RS410"}]})
    assert ratchet.load(text, path="b.json") == Baseline({("RS402", "p", "u", "s"): 1})


# Bad input

CONFLICT = "<<<<<<< omni\ntorch.cuda.synchronize()\n=======\nx = 1\n>>>>>>> upstream\n"


def test_a_file_with_conflicts_says_only_that_and_the_others_are_checked() -> None:
    assert codes(check.run(job(CONFLICT, npu_base=CUDA))) == ["RS410", "RS402"]


TWIN = "class GPUARModelRunner:\n    def run(self):\n        return 1\n"
NPU_CLASS = "class NPUARModelRunner(OmniNPUModelRunner):\n    def run(self):\n        return 1\n"


@pytest.mark.parametrize("mark", ["<<<<<<< omni", "||||||| base", "=======", ">>>>>>> topic"])
@pytest.mark.parametrize("place", ["npu", "gpu", "base"])
def test_a_single_marker_is_the_same_finding_wherever_it_stayed_behind(place: str, mark: str) -> None:
    left = f"class NPUARModelRunner(OmniNPUModelRunner):\n    def run(self):\n{mark}\n        return 1\n"
    whole = "from vllm_omni.platforms.npu.worker.npu_model_runner import OmniNPUModelRunner\n" + NPU_CLASS
    jobs = {
        "npu": (job(left, TWIN), AR),
        "gpu": (job(whole, left.replace("NPUAR", "GPUAR")), GPU_AR),
        "base": (job(whole, TWIN, npu_base=left.replace("NPUAR", "OmniNPU")), BASE),
    }
    given, path = jobs[place]
    assert [(f.path, f.line) for f in check.run(given).findings if f.code == "RS410"] == [(path, 3)]


def test_a_conflict_in_a_file_that_a_rule_comes_upon_is_found_there() -> None:
    npu = "from vllm_omni.mixin import Mixin\nclass NPUARModelRunner(Mixin):\n    def run(self):\n        return 1\n"
    gpu = npu.replace("NPU", "GPU").replace("run(", "helper(")
    mixin = 'class Mixin:\n    """Adds.\n"""\n    def helper(self):\n<<<<<<< omni\n        return 1\n=======\n'
    given = job(npu, gpu, files={"vllm_omni/mixin.py": f"{mixin}        return 2\n>>>>>>> topic\n"})
    assert [(f.path, f.line) for f in check.run(given).findings if f.code == "RS410"] == [("vllm_omni/mixin.py", 5)]


MIXED = "from vllm_omni.mixin import Mixin\nclass NPUARModelRunner(Mixin):\n    def run(self):\n        return 1\n"
HELPER = "vllm_omni/platforms/npu/worker/sending.py"
ELSEWHERE = "vllm_omni/elsewhere.py"


@pytest.mark.parametrize(
    ("path", "changed", "is_told"),
    [
        pytest.param("vllm_omni/mixin.py", None, True, id="of a base"),
        pytest.param("vllm_omni/mixin.py", {}, True, id="of a base, though the branch left it alone"),
        pytest.param(HELPER, {HELPER: {1}}, True, id="beside the runners, of the branch"),
        pytest.param(HELPER, {}, True, id="beside the runners, though the branch left it alone"),
        pytest.param(ELSEWHERE, {ELSEWHERE: {1}}, False, id="elsewhere"),
    ],
)
def test_a_conflict_in_a_file_that_no_rule_parses(
    path: str, changed: dict[str, set[int]] | None, is_told: bool
) -> None:
    """No rule looks at what stands around the base."""
    mixin = "class Mixin:\n    def helper(self):\n        return 1\n"
    gpu = MIXED.replace("NPU", "GPU")
    files = {"vllm_omni/mixin.py": mixin, HELPER: "x = 1\n", ELSEWHERE: "x = 1\n"}
    files[path] += "<<<<<<< omni\nx = 1\n=======\nx = 2\n>>>>>>> topic\n"
    result = check.run(job(MIXED, gpu, files=files), changed=changed)
    assert [f.path for f in result.findings if f.code == "RS410"] == ([path] if is_told else [])


@pytest.mark.parametrize(
    ("path", "changed", "ends"),
    [
        pytest.param("vllm_omni/mixin.py", None, True, id="of a base"),
        pytest.param("vllm_omni/mixin.py", {"vllm_omni/mixin.py": {1}}, True, id="of a base, by the branch"),
        pytest.param("vllm_omni/mixin.py", {}, False, id="of a base, not by the branch"),
        pytest.param(HELPER, {HELPER: {1}}, True, id="beside the runners, by the branch"),
        pytest.param(ELSEWHERE, {ELSEWHERE: {1}}, False, id="elsewhere"),
    ],
)
def test_a_base_that_is_no_python_ends_the_run(path: str, changed: dict[str, set[int]] | None, ends: bool) -> None:
    mixin = "class Mixin:\n    def helper(self):\n        return 1\n"
    files = {"vllm_omni/mixin.py": mixin, HELPER: "x = 1\n", ELSEWHERE: "x = 1\n"}
    files[path] += "def f(:\n"
    given = job(MIXED, MIXED.replace("NPU", "GPU"), files=files)
    said = pytest.raises(InputError, match=rf"^{path}:\d+: does not parse") if ends else nullcontext()
    with said:
        check.run(given, changed=changed)


@pytest.mark.parametrize(
    "selection", [Codes(("RS402",)), Codes(ignore=("RS4",)), Codes(per_path={"*/npu_ar_*.py": ("RS410",)})]
)
def test_a_conflict_that_nobody_would_hear_of_ends_the_run(selection: Codes) -> None:
    with pytest.raises(InputError, match=rf"^{AR}:1: holds an unresolved merge conflict; resolve it and run again\.$"):
        check.run(job(CONFLICT), selection)


def test_a_conflict_is_shown_whatever_the_branch_changed_and_keeps_the_baseline() -> None:
    accepted = check.run(job("torch.cuda.synchronize()\n")).baseline
    result = check.run(job(CONFLICT), changed={}, baseline=accepted)
    assert codes(result) == ["RS410"]
    assert result.stale == ()
    assert result.baseline is not None
    assert accepted is not None
    assert result.baseline.counts.items() >= accepted.counts.items()


@pytest.mark.parametrize(
    ("npu", "gpu", "path"),
    [("def f(:\n", None, AR), ("class NPUARModelRunner: pass\n", "def f(:\n", GPU_AR)],
)
def test_a_file_that_is_no_python_ends_the_run(npu: str, gpu: str | None, path: str) -> None:
    with pytest.raises(InputError, match=path):
        check.run(job(npu, gpu))


def test_an_empty_job_finds_nothing() -> None:
    assert check.run(CheckJob(NPU, ())).findings == ()
    assert check.run(CheckJob(NPU, (CheckModule(AR, ""),))).findings == ()


def test_an_unknown_file_of_the_omni_tree_is_no_error() -> None:
    given = job("from vllm_omni.gone import Mixin\nclass NPUARModelRunner(Mixin):\n    pass\n", "x = 1\n")
    assert codes(check.run(given)) == []
    assert codes(check.run(replace(given, read=None))) == []


# What starting it costs

PURE = """
import sys
from runner_sync.profile import NPU
from runner_sync.verify import check
from runner_sync.verify.check_job import CheckJob, CheckModule
module = CheckModule({path!r}, "torch.cuda.synchronize()\\n", "g.py", "x = 1\\n")
assert check.run(CheckJob(NPU, (module,))).findings
print("\\n".join(sorted(sys.modules)))
"""
HEAVY = {"libcst", "git", "requests", "urllib3", "rich", "typer", "jinja2", "tomlkit", "msgspec", "http", "socket"}


def test_check_from_the_lock_imports_nothing_heavy() -> None:
    script = PURE.format(path=AR)
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert {name.split(".")[0] for name in loaded} & HEAVY == set()
    assert "runner_sync.verify.trees.world" not in loaded


# With whole trees

IMPORTS_GONE = "from vllm.runner import gone\n"


def in_world(text: str, *, old: str | None = None) -> CheckJob:
    before = verify_samples.world(npu=text, vllm=old) if old is not None else None
    module = CheckModule(verify_samples.NPU, text)
    return CheckJob(NPU, (module,), world=verify_samples.world(npu=text), old_world=before)


def test_breakage_is_reported_with_the_rest() -> None:
    assert codes(check.run(in_world(IMPORTS_GONE + "import torch\n" + CUDA))) == ["RS301", "RS402"]
    assert codes(check.run(in_world(IMPORTS_GONE), Codes(("RS4",)))) == []


def test_only_breakage_that_the_old_trees_do_not_have_is_reported() -> None:
    assert codes(check.run(in_world(IMPORTS_GONE, old="x = 1\n"))) == []
    assert codes(check.run(in_world(IMPORTS_GONE, old="gone = 1\n"))) == ["RS301"]


@pytest.mark.parametrize(("began", "says"), [("def f(:\n", "npu.py"), ("", "")])
def test_a_branch_point_that_cannot_be_read_is_told_with_the_result(began: str, says: str) -> None:
    """The branch may be the one that repairs it."""
    branch_point = verify_samples.world(npu=began)
    result = check.run(replace(in_world(IMPORTS_GONE), branch_point=branch_point))
    assert codes(result) == ["RS301"]
    assert says in str(result.branch_error or "")
    assert (result.branch_error is None) == (says == "")
    assert branch_point.unread == {}


def test_breakage_is_silenced_like_everything_else() -> None:
    silenced = "from vllm.runner import gone  # runner-sync: ignore[RS301] patched in at start-up\n"
    assert codes(check.run(in_world(silenced))) == []
    unused = "x = 1  # runner-sync: ignore[RS301] patched in at start-up\n"
    assert codes(check.run(in_world(unused))) == ["RS491"]


def test_breakage_counts_in_the_ratchet() -> None:
    key = ("RS301", verify_samples.NPU, "<module>", "vllm.runner.gone")
    result = check.run(in_world(IMPORTS_GONE), baseline=Baseline({key: 2}))
    assert (result.findings, result.baseline) == ((), Baseline({key: 1}))


# A second opinion on breakage

RS3 = Codes(("RS3",))
ALONE = {"codes": Codes(("RS390",))}
GONE = verify_samples.npu("def m(self):\n    return self.gone{said}\n")
SAID = Finding("RS390", "warning", verify_samples.NPU, 7, 7, "R.m", "gone", "No `gone` (ty: some-check).")


def asked(text: str, **options: Any) -> tuple[check.CheckResult, list[str]]:
    """A run with a type checker that says what the rules did not, and the codes that it was given."""
    given: list[str] = []

    def opinion(known: Sequence[Finding]) -> list[Finding]:
        given.extend(finding.code for finding in known)
        return [] if known else [SAID]

    job = CheckJob(NPU, (CheckModule(verify_samples.NPU, text),), world=verify_samples.world(npu=text))
    return check.run(job, **{"codes": RS3, "opinion": opinion, **options}), given


@pytest.mark.parametrize(
    ("said", "options"),
    [
        ("", {}),
        ("  # runner-sync: ignore[RS304] the model sets it", {}),
        ("", {"codes": replace(RS3, ignore=("RS304",))}),
        ("", {"codes": replace(RS3, per_path={"*/npu.py": ("RS304",)})}),
        ("", {"baseline": Baseline({("RS304", verify_samples.NPU, "R.m", "gone"): 1})}),
        ("", {"severity": "error"}),
    ],
    ids=["told", "comment", "ignore", "path", "baseline", "severity"],
)
def test_what_a_rule_found_is_known_to_the_type_checker_however_it_was_silenced(
    said: str, options: dict[str, Any]
) -> None:
    result, given = asked(GONE.format(said=said), **options)
    assert given == ["RS304"]
    assert codes(result) == ([] if said or options.keys() - {"severity"} else ["RS304"])


def test_who_asks_the_type_checker_alone_hears_all_that_it_says() -> None:
    result, given = asked(GONE.format(said=""), **ALONE)
    assert (codes(result), given) == (["RS390"], [])


ACCEPTED = Baseline({("RS390", verify_samples.NPU, "R.m", "gone"): 1})


@pytest.mark.parametrize(
    ("said", "options"),
    [
        ("  # runner-sync: ignore[RS390] the model sets it", ALONE),
        ("", {"codes": Codes(("RS390",), per_path={"*/npu.py": ("RS390",)})}),
        ("", {**ALONE, "baseline": ACCEPTED}),
        ("", {**ALONE, "severity": "error"}),
        ("", {**ALONE, "changed": {verify_samples.NPU: frozenset({1})}}),
    ],
    ids=["comment", "path", "baseline", "severity", "changed"],
)
def test_what_the_type_checker_says_is_silenced_like_the_rest(said: str, options: dict[str, Any]) -> None:
    assert codes(asked(GONE.format(said=said), **options)[0]) == []


def test_the_baseline_holds_what_the_type_checker_says() -> None:
    text, fits = GONE.format(said=""), verify_samples.npu("pass\n")
    assert asked(text, **ALONE)[0].baseline == ACCEPTED
    assert asked(text, **ALONE, baseline=ACCEPTED)[0].baseline == ACCEPTED
    rule_only = asked(fits, baseline=ACCEPTED, opinion=None)[0]
    assert (rule_only.baseline, rule_only.stale) == (ACCEPTED, ())
    silent = asked(fits, baseline=ACCEPTED, opinion=lambda _: [])[0]
    assert [entry.found for entry in silent.stale] == [0]


def said(message: str, line: int = 1, symbol: str = "gone") -> Finding:
    return Finding("RS304", "error", AR, line, line, "R.m", symbol, message)


@pytest.mark.parametrize(
    ("now", "before", "brought"),
    [
        pytest.param([said("a, line 7", 7)], [said("a, line 3", 3)], [], id="another line"),
        pytest.param([said("a"), said("b", 2)], [said("b")], [said("a")], id="the one that nobody had said"),
        pytest.param([said("a"), said("b", 2)], [said("c")], [said("b", 2)], id="one of two, for one was there"),
        pytest.param([said("a", 9), said("a")], [said("a")], [said("a")], id="the first of two alike was there"),
        pytest.param([said("a")], [said("a", symbol="late")], [said("a")], id="of something else"),
        pytest.param([], [said("a")], [], id="one less"),
    ],
)
def test_what_a_branch_brings(now: list[Finding], before: list[Finding], brought: list[Finding]) -> None:
    assert ratchet.find_new(now, before) == brought


@pytest.mark.parametrize("select", [("RS491",), ("RS491", "RS492")])
def test_unused_comments_are_found_where_nothing_else_is_asked_for(select: tuple[str, ...]) -> None:
    """What they silence has to be looked for then, and is not told."""
    module = "import torch\nx = 1  # runner-sync: ignore[RS402] tested\ntorch.cuda.synchronize()\n"
    assert codes(check.run(job(module), Codes(select))) == ["RS491"]
    assert "RS402" in codes(check.run(job(module)))


@pytest.mark.parametrize("count", ["9" * 5000, "[" * 5000], ids=["a number without end", "lists without end"])
def test_a_baseline_that_is_no_json_of_ours_is_said(count: str) -> None:
    text = f'{{"format_version": 1, "findings": [{{"count": {count}}}]}}'
    with pytest.raises(InputError, match=r"^b\.json\b.*: is no "):
        ratchet.load(text, path="b.json")
