"""List examples for the help of each command: command lines with a few words on their purpose.

Comes in: the name of a command. Goes out: text for the end of its help page. May touch: nothing.
"""

from __future__ import annotations

EXAMPLES: dict[str, tuple[tuple[str, str], ...]] = {
    "upgrade": (
        (
            "Follow a checkout of vllm-ascend; look first, then write.",
            "runner-sync upgrade --ascend-path ../vllm-ascend --diff",
        ),
        ("Follow a release, without any checkout of it.", "runner-sync upgrade --ascend-version 0.30.0rc2"),
        (
            "Regenerate a released vllm-omni into a folder.",
            "runner-sync upgrade --omni-version 0.32.0rc1 --ascend-version 0.30.0rc2 --out upgraded",
        ),
        (
            "Settle conflicts in a mergetool; keep the report.",
            "runner-sync upgrade --ascend-version 0.30.0rc2 --conflict inline -o markdown:upgrade.md",
        ),
    ),
    "check": (
        ("In a pull request, offline, from the lock.", "runner-sync check --changed-since origin/main"),
        (
            "Against the next vllm-ascend, annotating the pull request.",
            "runner-sync check --ascend-version 0.30.0rc2 -o github",
        ),
        (
            "Only what breaks, with a report for the code scanner.",
            "runner-sync check --ascend-version 0.30.0rc2 --select RS3 -o text -o sarif:drift.sarif",
        ),
        ("Accept what is there today; allow nothing new.", "runner-sync check --baseline drift.json --update-baseline"),
    ),
    "verify": (
        ("Will these runners fit the next release?", "runner-sync verify --ascend-version 0.30.0rc2"),
        (
            "Released runners against two checkouts.",
            "runner-sync verify --omni-version 0.32.0rc1 --ascend-path ../vllm-ascend --vllm-path ../vllm",
        ),
        (
            "Will the GPU runners fit the next vLLM?",
            "runner-sync verify --profile gpu --vllm-version 0.33.0 --vllm-base 0.32.0",
        ),
    ),
    "blocks": (
        ("What of the runners is omni's own?", "runner-sync blocks"),
        ("The maintainers' reference page.", "runner-sync blocks -o markdown:docs/omni-blocks.md"),
    ),
    "explain": (
        ("Where one line comes from.", "runner-sync explain vllm_omni/platforms/npu/worker/npu_model_runner.py:120"),
        (
            "Where every line of a file comes from.",
            "runner-sync explain vllm_omni/platforms/npu/worker/npu_ar_model_runner.py",
        ),
        ("What a review comment is about, in full.", "runner-sync explain R54bf8c99"),
    ),
    "settle": (
        ("Go through the questions of an upgrade.", "runner-sync settle"),
        ("Two of them are right as they stand.", "runner-sync settle R54bf8c99 R6c179be1"),
        ("Put omni's code back in one place.", "runner-sync settle R6c179be1 --take omni"),
    ),
    "lock": (
        ("Infer what every unit was last synced to, and record it.", "runner-sync lock --ascend-path ../vllm-ascend"),
        ("Only show what would be recorded.", "runner-sync lock --ascend-version 0.30.0rc2 --diff"),
    ),
    "replay": (
        ("Score the tool on past upgrades.", "runner-sync replay"),
        ("One case, with its ten largest differences.", "runner-sync replay --case P4 --hunks 10"),
    ),
    "rule": (
        ("All rules, one line each.", "runner-sync rule"),
        ("Why a rule exists and what to do about it.", "runner-sync rule RS203"),
    ),
    "hoist": (
        (
            "Show the move of a method to the shared base.",
            "runner-sync hoist NPUARModelRunner._request_final_stage_id --diff",
        ),
        ("Make the move.", "runner-sync hoist NPUARModelRunner._request_final_stage_id"),
    ),
}

_GLOBAL = "--quiet, --color and --traceback work with every command; see runner-sync --help."


def make_epilog(command: str) -> str:
    """Return the examples of ``command`` as text. Older typer joins the two lines of each, which is still readable."""
    lines = [f"{about}\n  $ {line}" for about, line in EXAMPLES[command]]
    return "\n\n".join(["Examples:", *lines, _GLOBAL])
