"""``python -m benchmarks.pulls``: one pull request of vllm-omni's, made by the tool and by people.

Comes in: a checkout of vllm-omni, a commit that brought the NPU runners to another vllm-ascend or ported what the GPU
runners had gained, and the trees that it was made for. Goes out: a line on standard output. May touch: what
``runner_sync.sources`` touches.

The tree before the commit is upgraded as its maintainers would have done it, without any base told, and the runners are
compared with those that the commit left. Corpus cases go from release to release; this is the step that somebody took.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from runner_sync import score, sources
from runner_sync.errors import InputError
from runner_sync.profile import NPU
from runner_sync.sync import TreeOptions, UpgradeOptions, inputs, upgrade


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; exit code 2 when an input cannot be had."""
    options = _parser().parse_args(argv)
    try:
        print(report(options.omni_path, options.commit, _upgrade_options(options)))
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def report(repository: Path, commit: str, options: UpgradeOptions) -> str:
    """What is left to do of a commit's work on the runners. Raises ``InputError``."""
    before, after = (sources.open_path("vllm-omni", repository, ref=ref) for ref in (f"{commit}^", commit))
    planned = upgrade(options)
    made = {change.path: change.after or "" for change in planned.changes}
    total = score.Score()
    for module in NPU.runners:
        was, now = inputs.read_first(before, module.paths), inputs.read_first(after, module.paths)
        if was is not None and now is not None:
            total += score.score_module(was[1], made.get(was[0], was[1]), now[1])
    figures = f"work {total.work}, left {total.left}, effort left {total.effort_left:.2f}, recall {total.recall:.2f}"
    return f"{commit}: {figures}, precision {total.precision:.2f}, {len(planned.report.reviews)} review items"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pulls", description=__doc__.split("\n")[0])
    parser.add_argument("commit", metavar="COMMIT", help="commit of vllm-omni that changed the NPU runners")
    parser.add_argument(
        "--omni-path", type=Path, required=True, metavar="DIR", help="vllm-omni checkout with its history"
    )
    parser.add_argument("--ascend-version", required=True, metavar="V", help="vllm-ascend that it was made for")
    parser.add_argument("--vllm-version", required=True, metavar="V", help="vLLM that it was made for")
    parser.add_argument("--gpu-only", action="store_true", help="it ported from the GPU runners, and nothing else")
    return parser


def _upgrade_options(options: argparse.Namespace) -> UpgradeOptions:
    return UpgradeOptions(
        omni=TreeOptions(path=options.omni_path, ref=f"{options.commit}^"),
        ascend=TreeOptions(version=options.ascend_version),
        vllm=TreeOptions(version=options.vllm_version),
        out=Path("unwritten"),
        upstream=not options.gpu_only,
        verify=False,
    )


if __name__ == "__main__":
    sys.exit(main())
