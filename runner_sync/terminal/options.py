"""Declare every option and argument of the commands once.

Goes out: annotated types that the commands of ``cli`` name in their signatures, and shared help words. May touch:
nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from runner_sync.terminal.choices import BuiltIn, Conflict, Severity, Side, Typecheck
from runner_sync.terminal.completing import BASES, RELEASES, complete, complete_format

TREES = "Trees"
SCOPE = "What to do"
OUTPUT = "Output"
OmniPath = Annotated[
    Path | None,
    typer.Option("--omni-path", metavar="DIR", help="vllm-omni checkout or tree. (default: .)", rich_help_panel=TREES),
]
OmniVersion = Annotated[
    str | None,
    typer.Option(
        "--omni-version",
        metavar="V",
        help="vllm-omni release, or latest, instead.",
        autocompletion=RELEASES["vllm-omni"],
        rich_help_panel=TREES,
    ),
]
AscendPath = Annotated[
    Path | None,
    typer.Option(
        "--ascend-path",
        metavar="DIR",
        help="vllm-ascend checkout or tree (also VLLM_ASCEND_PATH).",
        rich_help_panel=TREES,
    ),
]
AscendRef = Annotated[
    str | None,
    typer.Option("--ascend-ref", metavar="REV", help="Git revision of that checkout.", rich_help_panel=TREES),
]
AscendVersion = Annotated[
    str | None,
    typer.Option(
        "--ascend-version",
        metavar="V",
        help="vllm-ascend release, or latest, instead.",
        autocompletion=RELEASES["vllm-ascend"],
        rich_help_panel=TREES,
    ),
]
VllmPath = Annotated[
    Path | None,
    typer.Option("--vllm-path", metavar="DIR", help="vLLM checkout or tree (also VLLM_PATH).", rich_help_panel=TREES),
]
VllmRef = Annotated[
    str | None,
    typer.Option("--vllm-ref", metavar="REV", help="Git revision of that checkout.", rich_help_panel=TREES),
]
VllmVersion = Annotated[
    str | None,
    typer.Option(
        "--vllm-version",
        metavar="V",
        help="vLLM release, or latest. (default: the one vllm-ascend names)",
        autocompletion=RELEASES["vllm"],
        rich_help_panel=TREES,
    ),
]
AscendBase = Annotated[
    str | None,
    typer.Option(
        "--ascend-base",
        metavar="REV|V",
        help="vllm-ascend the runners were last synced to. (default: lock, else inferred)",
        autocompletion=BASES["vllm-ascend"],
        rich_help_panel=TREES,
    ),
]
OmniBase = Annotated[
    str | None,
    typer.Option(
        "--omni-base",
        metavar="REV|V",
        help="vllm-omni whose GPU runners were last ported. (default: lock, else inferred)",
        autocompletion=BASES["vllm-omni"],
        rich_help_panel=TREES,
    ),
]
VllmBase = Annotated[
    str | None,
    typer.Option(
        "--vllm-base",
        metavar="REV|V",
        help="vLLM of that time. (default: inferred)",
        autocompletion=BASES["vllm"],
        rich_help_panel=TREES,
    ),
]
ProfileName = Annotated[
    BuiltIn | None,
    typer.Option(
        "--profile",
        help="Which runners: npu follow vllm-ascend, gpu and gpu-v2 vLLM. (default: configuration, else npu)",
        rich_help_panel=TREES,
    ),
]
ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="Configuration. (default: runner-sync.toml, else pyproject.toml of the omni tree)",
        rich_help_panel=TREES,
    ),
]
Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="Write the changed files here instead.", rich_help_panel=OUTPUT),
]
Only = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        metavar="UNIT",
        help="Only this unit, e.g. execute_model (repeatable).",
        autocompletion=complete("units"),
        rich_help_panel=SCOPE,
    ),
]
Diff = Annotated[
    bool,
    typer.Option(
        "--diff", metavar="", help="Write nothing; show the patch, or what -o asks for.", rich_help_panel=OUTPUT
    ),
]
ConflictStyle = Annotated[
    Conflict,
    typer.Option(
        "--conflict",
        help="Take the best resolution and mark it for review, or write diff3 conflict markers.",
        rich_help_panel=SCOPE,
    ),
]
AllowDirty = Annotated[
    bool,
    typer.Option("--allow-dirty", metavar="", help="Write over uncommitted changes.", rich_help_panel=OUTPUT),
]
NoGpu = Annotated[
    bool,
    typer.Option(
        "--no-gpu",
        metavar="",
        help="Follow vllm-ascend only; port nothing from the GPU runners.",
        rich_help_panel=SCOPE,
    ),
]
GpuOnly = Annotated[
    bool,
    typer.Option(
        "--gpu-only", metavar="", help="Port from the GPU runners only: follow no vllm-ascend.", rich_help_panel=SCOPE
    ),
]
NoVerify = Annotated[
    bool,
    typer.Option("--no-verify", metavar="", help="Do not check the result against the trees.", rich_help_panel=SCOPE),
]
Outputs = Annotated[
    list[str] | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FORMAT[:FILE]",
        help="{formats}; to FILE or standard output (repeatable).",
        autocompletion=complete_format,
        rich_help_panel=OUTPUT,
    ),
]
Select = Annotated[
    list[str] | None,
    typer.Option(
        "--select",
        metavar="CODES",
        help="Only these rules: RS203, RS3 (repeatable, commas).",
        autocompletion=complete("selected_codes"),
        rich_help_panel=SCOPE,
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        "--ignore",
        metavar="CODES",
        help="Not these rules; the longer code wins.",
        autocompletion=complete("selected_codes"),
        rich_help_panel=SCOPE,
    ),
]
LeastSeverity = Annotated[
    Severity | None,
    typer.Option("--severity", help="Least severity to report.", rich_help_panel=SCOPE),
]
FailOn = Annotated[
    Severity | None,
    typer.Option(
        "--fail-on", help="Least severity that makes the exit code 1. (default: info)", rich_help_panel=OUTPUT
    ),
]
ChangedSince = Annotated[
    str | None,
    typer.Option(
        "--changed-since",
        metavar="REV",
        help="Only findings on what changed since this git revision of vllm-omni, or broke since.",
        autocompletion=complete("revisions"),
        rich_help_panel=SCOPE,
    ),
]
Baseline = Annotated[
    Path | None,
    typer.Option(
        "--baseline", metavar="FILE", help="Accepted findings, which may only get fewer.", rich_help_panel=SCOPE
    ),
]
UpdateBaseline = Annotated[
    bool,
    typer.Option(
        "--update-baseline",
        metavar="",
        help="Write the baseline, or shrink the one that is there.",
        rich_help_panel=SCOPE,
    ),
]
ExitZero = Annotated[
    bool,
    typer.Option("--exit-zero", metavar="", help="Exit 0 in spite of findings.", rich_help_panel=OUTPUT),
]
TypeChecker = Annotated[
    Typecheck | None,
    typer.Option(
        "--typecheck",
        help="Second opinion of a type checker. (default: ty if installed)",
        rich_help_panel=SCOPE,
    ),
]
Case = Annotated[
    list[str] | None,
    typer.Option(
        "--case",
        metavar="ID",
        help="Only this case, e.g. P4 (repeatable).",
        autocompletion=complete("cases"),
        rich_help_panel=SCOPE,
    ),
]
Corpus = Annotated[
    Path | None,
    typer.Option("--corpus", metavar="FILE", help="Cases of your own (TOML).", rich_help_panel=SCOPE),
]
Hunks = Annotated[
    int,
    typer.Option(
        "--hunks", metavar="N", min=0, help="Largest remaining hunks to list per case.", rich_help_panel=OUTPUT
    ),
]
Place = Annotated[
    str,
    typer.Argument(
        metavar="FILE[:LINE]|ID",
        help="A runner file, relative to the omni tree, and a line of it; or a review item.",
        autocompletion=complete("items"),
        show_default=False,
    ),
]
ItemIds = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[ID]...",
        help="Review items, or the beginnings of their ids. (default: ask about each)",
        autocompletion=complete("items"),
        show_default=False,
    ),
]
Take = Annotated[
    Side,
    typer.Option(
        "--take",
        help="What is to stand there: the chosen text, omni's, or the new one of upstream or the GPU twin.",
        rich_help_panel=SCOPE,
    ),
]
UnitName = Annotated[
    str,
    typer.Argument(
        metavar="UNIT",
        help="A method, as Class.method or alone.",
        autocompletion=complete("units"),
        show_default=False,
    ),
]
RuleCode = Annotated[
    str | None,
    typer.Argument(
        metavar="[CODE]",
        help="A rule such as RS203; without it all of them.",
        autocompletion=complete("rules"),
        show_default=False,
    ),
]
