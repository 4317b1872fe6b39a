"""Reports to render in tests: one ordinary and one hostile report per command."""

from __future__ import annotations

from dataclasses import replace

from runner_sync.model import (
    BaseRef,
    Block,
    FileChange,
    Finding,
    Hunk,
    ReplayHunk,
    ReplayRow,
    Report,
    ReviewItem,
    RuleText,
    Source,
    UnitReport,
)

AR = "vllm_omni/platforms/npu/worker/npu_ar_model_runner.py"
GEN = "vllm_omni/platforms/npu/worker/npu_generation_model_runner.py"
EXECUTE = "NPUARModelRunner.execute_model"

BEFORE = "class A:\n    def f(self, x):\n        a, b = self.g(x)\n        return a\n"
AFTER = "class A:\n    def f(self, x, y):\n        a, b = self.g(x, mode=1)\n        return a, b\n    # end"

INPUTS = (
    Source("vllm-omni", "git", "/srv/vllm-omni", "0.16.0", "0123456789abcdef0123456789abcdef01234567"),
    Source("vllm-ascend", "release", "vllm_ascend-0.17.0rc1.tar.gz", "0.17.0rc1"),
)
BASE = BaseRef("vllm-ascend", "0.14.0rc1", "vllm_ascend/worker/model_runner_v1.py", "NPUModelRunner.execute_model",
               "inferred", 0.934)  # fmt: skip
TWIN = BaseRef(
    "vllm-omni", "0.16.0", "vllm_omni/worker/gpu_ar_model_runner.py", "GPUARModelRunner._sample", "lock", 1.0
)

UNITS = (
    UnitReport(EXECUTE, AR, "copy", "review", BASE, None, 34, 2, 51, 7, 5,
               (Hunk(2, 3, "upstream", "vllm-ascend 0.17.0rc1"),)),
    UnitReport("NPUARModelRunner._sample", AR, "override", "added", None, TWIN, 0, 21, 0, 0, 1,
               (Hunk(4, 5, "gpu", "GPUARModelRunner._sample at a1b2c3d"),)),
    UnitReport("NPUARModelRunner.__init__", AR, "own", "unchanged"),
    UnitReport("NPUGenerationModelRunner._dummy_run", GEN, "copy", "updated", BASE, None, 12, 0, 8, 0, 2,
               (Hunk(1, 1, "upstream", "vllm-ascend 0.17.0rc1"),)),
)  # fmt: skip
REVIEWS = (
    ReviewItem("R10", EXECUTE, AR, 3, 3, "Both sides changed what `_bookkeeping_sync` returns.", 0.62,
               "        a = self.g(x)\n", "        a, b = self.g(x)\n        b += 1\n", "        a, b, c = self.g(x)\n",
               "        a, b = self.g(x, mode=1)\n"),
    ReviewItem("R2", EXECUTE, AR, 3, 4, "Upstream deleted what omni edited", 0.3, "q\n", "p\n", "", "p\n"),
)  # fmt: skip
FINDINGS = (
    Finding("RS401", "warning", AR, 4, 4, EXECUTE, "torch.cuda", "`torch.cuda` in NPU code"),
    Finding("RS301", "error", AR, 3, 3, EXECUTE, "g", "`g` takes no keyword `mode` any more",
            "runner-sync upgrade --only NPUARModelRunner.execute_model", column=16, end_column=33),
    Finding("RS101", "info", GEN, 1, 9, "NPUGenerationModelRunner._dummy_run", "", "Upstream changed 12 statements"),
)  # fmt: skip
CHANGES = (FileChange(AR, BEFORE, AFTER), FileChange(GEN, None, "x = 1\n"))
BLOCKS = (
    Block(
        AR, EXECUTE, 412, 430, True, "KV transfer before `_update_states`", "pass\n", ("self.kv",), ("a",), "G.execute"
    ),
    Block(AR, EXECUTE, 40, 40, False, "", "pass\n"),
)
ROWS = (
    ReplayRow("P10", 400, 180, 0.45, 0.28, 0.81, 0.88, 3, False, 5, 12.34),
    ReplayRow("P2", 100, 15, 0.15, 0.12, 0.91, 0.98, 0, True, 1, 2.0),
)
LEFT = (ReplayHunk("P2", AR, "tool", 2, "a\nb"), ReplayHunk("P2", AR, "truth", 3, "x = 1\ny = 2\nz = 3"))
RULES = (
    RuleText("RS301", "gone-name", "An imported name is gone.", "The name is gone.\n\nImport another.", "error"),
    RuleText("RS203", "missing-mixin", "A mixin of the GPU class is missing.", "The whole text."),
)

REPORTS: dict[str, Report] = {
    "upgrade": Report("upgrade", INPUTS, UNITS, REVIEWS, FINDINGS, CHANGES, notes=("A note.",), summary={"written": 2}),
    "check": Report("check", INPUTS, findings=FINDINGS, changes=(FileChange(AR, AFTER, AFTER),)),
    "verify": Report("verify", INPUTS, findings=FINDINGS),
    "blocks": Report("blocks", INPUTS[:1], blocks=BLOCKS),
    "explain": Report("explain", INPUTS, UNITS[:2], changes=(FileChange(AR, AFTER, AFTER),)),
    "lock": Report("lock", INPUTS, UNITS),
    "hoist": Report("hoist", INPUTS, UNITS[1:2], findings=FINDINGS, changes=CHANGES, summary={"written": 2}),
    "replay": Report("replay", replay=ROWS, replay_hunks=LEFT),
    "rule": Report("rule", rules=RULES),
}

# Steers a terminal, reorders what is read, ends cells, fences, CDATA and tags, pings a team, starts workflow commands.
HOSTILE = (
    "\x1b[31mred\x1b]0;title\x07\x9b2J\x00\x7f\r\u202eevil\u2066\u2028\ud800 | a | b ``` `x @vllm-project/all\n"
    "::error::fake\n%0A, <script>alert(1)</script><img src=x onerror=y> [l](javascript:z) https://e.example "
    "{{ 7*7 }} ]]> \"' &amp; -->\n| --- |\n# head"
)


def poison(report: Report) -> Report:
    """Return ``report`` with hostile text in every field that a source tree can reach."""
    text = HOSTILE
    bad_base = replace(BASE, ref=text, path=text, qualname=text, how=text)
    return replace(
        report,
        inputs=tuple(replace(item, location=text, version=text, revision=None) for item in report.inputs),
        units=tuple(
            replace(
                item,
                unit=text,
                path=text,
                base=item.base and bad_base,
                gpu=item.gpu and bad_base,
                hunks=tuple(replace(hunk, cause=text) for hunk in item.hunks),
            )
            for item in report.units
        ),
        reviews=tuple(
            replace(
                item, id=text, unit=text, path=text, reason=text, base=text, omni=text, upstream=text + "x", chosen=text
            )
            for item in report.reviews
        ),
        findings=tuple(
            replace(item, unit=text, path=text, symbol=text, message=text, fix=fix)
            for item, fix in zip(report.findings, (text, text.replace("\n", " "), ""), strict=False)
        ),
        changes=tuple(FileChange(text, item.before and text, item.after and text * 2) for item in report.changes),
        blocks=tuple(
            replace(
                item, path=text, unit=text, label=text, text=text, names_used=(text,), names_defined=(text,), twin=text
            )
            for item in report.blocks
        ),
        notes=(text,),
        replay=tuple(replace(item, case=text + item.case) for item in report.replay),
        replay_hunks=tuple(replace(item, case=text, path=text, side=text, text=text) for item in report.replay_hunks),
        rules=tuple(replace(item, name=text, summary=text, text=text) for item in report.rules),
    )
