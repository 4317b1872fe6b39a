"""The ``runner-sync`` command: options in, exit code out.

Comes in: a command line. Goes out: results on standard output, remarks on standard error, an exit code: 0 nothing left
for a person, 1 review items or findings, 2 could not run.

``sync`` does the work. Each command imports it when called, so that help and version stay fast.

typer accepts options shared by all commands only in front of the command, but people write ``check --quiet``. Declaring
these options per command would list them in every help text. So they are moved to the front before typer reads them.
"""

from __future__ import annotations

import gc
import sys
import warnings
from collections.abc import Callable, Sequence
from copy import copy
from functools import partial
from itertools import pairwise
from typing import Annotated, NoReturn

import typer

from runner_sync import __version__
from runner_sync.terminal import choices, commands
from runner_sync.terminal import options as o
from runner_sync.terminal.examples import make_epilog
from runner_sync.terminal.failures import COULD_NOT_RUN, INTERRUPTED, run_guarded
from runner_sync.terminal.groups import Bases, Merging, Rules, Runners, Trees, Writing, flatten, make_upgrade_options
from runner_sync.terminal.plain import PlainCommand, PlainGroup
from runner_sync.terminal.screen import ColorChoice, Screen
from runner_sync.terminal.trees import is_review_id, split_place

app = typer.Typer(
    name="runner-sync",
    cls=PlainGroup,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_FLAGS = ("--quiet", "-q", "--traceback")


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """Run the command line ``argv`` (default: the arguments of this process) and exit with its code."""
    code = run(sys.argv[1:] if argv is None else argv)
    # Prevents the garbage collection at exit, which would visit every syntax tree once more.
    gc.freeze()
    sys.exit(code)


def run(argv: Sequence[str]) -> int:
    """Run the command line ``argv`` and return its exit code."""
    screen = Screen()
    words = _move_globals_first(argv)
    screen.traceback = "--traceback" in words
    screen.annotates = _prints_annotations(words)
    screen.color = _read_color(words)  # help is printed before typer calls `set_up`
    return run_guarded(lambda: _dispatch(words, screen), screen)


def _dispatch(words: Sequence[str], screen: Screen) -> int:
    with warnings.catch_warnings():
        # When parsing the runners, Python warns on standard error about their string escapes.
        if not sys.warnoptions:
            warnings.simplefilter("ignore")
        command = typer.main.get_command(_select_called(words))
        code = command.main(args=list(words), prog_name="runner-sync", standalone_mode=False, obj=screen)
    # typer turns Ctrl-C into this exit code; no command returns it.
    if code == INTERRUPTED:
        raise KeyboardInterrupt
    return int(code or 0)


def _select_called(words: Sequence[str]) -> typer.Typer:
    """Return ``app`` with only the command in ``words``, or all commands if there is none or help is asked for.

    typer builds the options of every registered command. That takes 4 ms, more than any rule of ``check``.
    """
    name = next((word for word in words if not word.startswith("-")), None)
    called = [command for command in app.registered_commands if command.name == name]
    if not called or not {"--help", "-h"}.isdisjoint(words):
        return app
    narrowed = copy(app)
    narrowed.registered_commands = called
    return narrowed


def _move_globals_first(argv: Sequence[str]) -> list[str]:
    """Return ``argv`` with the options that all commands share moved to the front, where typer looks for them."""
    end = argv.index("--") if "--" in argv else len(argv)
    front: list[str] = []
    rest: list[str] = []
    words = iter(argv[:end])
    for word in words:
        if word in _FLAGS or word.startswith("--color="):
            front.append(word)
        elif word == "--color":
            front += [word, *([value] if (value := next(words, None)) is not None else [])]
        else:
            rest.append(word)
    return [*front, *rest, *argv[end:]]


def _prints_annotations(words: Sequence[str]) -> bool:
    """Whether ``words``, not yet validated by typer, contain ``-o github``."""
    values = [value for word, value in pairwise(words) if word in ("-o", "--output")]
    return "github" in values or not {"-ogithub", "--output=github"}.isdisjoint(words)


def _read_color(words: Sequence[str]) -> ColorChoice:
    """Return the last ``--color`` value in ``words``, or ``"auto"``; typer refuses invalid values later."""
    wishes = [word.partition("=")[2] or after for word, after in pairwise([*words, ""]) if word.startswith("--color")]
    return next((choice.value for choice in choices.Color if [choice.value] == wishes[-1:]), "auto")


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"runner-sync {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def set_up(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", metavar="", help="Print the version.", callback=_show_version, is_eager=True)
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", metavar="", help="Say nothing on standard error but errors.")
    ] = False,
    color: Annotated[
        choices.Color, typer.Option("--color", help="When to colour; NO_COLOR, FORCE_COLOR.")
    ] = choices.Color.auto,
    traceback: Annotated[
        bool, typer.Option("--traceback", metavar="", help="Show where an unexpected error comes from.")
    ] = False,
) -> int:
    """Keep vllm-omni's Ascend NPU model runners in step with vllm-ascend and with the GPU omni runners.

    Exit codes: 0 nothing left for a person, 1 review items or findings, 2 could not run.
    """
    del version
    screen: Screen = context.obj
    screen.quiet, screen.color, screen.traceback = quiet, color.value, traceback
    if context.invoked_subcommand is None:
        screen.show(context.get_help() + "\n")
        screen.complain("error: no command is given: name one of those above.")
        return COULD_NOT_RUN
    return 0


def _command(name: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    return app.command(name, cls=PlainCommand, epilog=make_epilog(name))


@_command("upgrade")
@flatten
def upgrade(context: typer.Context, trees: Trees, bases: Bases, merging: Merging, writing: Writing) -> int:
    """Regenerate the NPU runners on a new vllm-ascend, and port what the GPU runners gained.

    Omni code is kept. What a person must decide is marked in the files and listed.

    With --profile gpu: the GPU runners, on a new vLLM.
    """
    from runner_sync import sync

    options = make_upgrade_options(trees, bases, writing, merging, isolates=not context.obj.traceback)
    return commands.change("upgrade", sync.upgrade, options, writing, screen=context.obj)


@_command("check")
@flatten
def check(
    context: typer.Context,
    trees: Trees,
    bases: Bases,
    rules: Rules,
    changed_since: o.ChangedSince = None,
    baseline: o.Baseline = None,
    update_baseline: o.UpdateBaseline = False,
    exit_zero: o.ExitZero = False,
    output: o.Outputs = None,
) -> int:
    """Find drift, breakage and untidiness; never change a source.

    Without vllm-ascend it works offline from runner-sync.lock.
    """
    from runner_sync import sync

    options = trees.make_check_options(
        **bases._asdict(),
        **rules.as_options(),
        isolates=not context.obj.traceback,
        changed_since=changed_since,
        baseline=baseline,
        update_baseline=update_baseline,
    )
    return commands.inspect("check", sync.check, options, output, screen=context.obj, exit_zero=exit_zero)


@_command("verify")
@flatten
def verify(
    context: typer.Context,
    trees: Trees,
    ascend_base: o.AscendBase = None,
    vllm_base: o.VllmBase = None,
    *,
    rules: Rules,
    typecheck: o.TypeChecker = None,
    exit_zero: o.ExitZero = False,
    output: o.Outputs = None,
) -> int:
    """Prove that the NPU runners fit the given vllm-ascend and vLLM, as far as reading can.

    What is new against the trees of the lock or of --ascend-base is reported; without either, all that does not fit.

    Some rules need older trees: without either, the vllm-ascend that the copies seem to follow, and the vLLM of
    --vllm-base, else the one that the omni tree is for. Nothing of them is installed or run.
    """
    from runner_sync import sync

    options = trees.make_check_options(
        ascend_base=ascend_base,
        vllm_base=vllm_base,
        **rules.as_options(),
        isolates=not context.obj.traceback,
        typecheck=typecheck.value if typecheck else commands.default_typechecker(),
    )
    return commands.inspect("verify", sync.verify, options, output, screen=context.obj, exit_zero=exit_zero)


@_command("blocks")
@flatten
def blocks(context: typer.Context, trees: Trees, output: o.Outputs = None) -> int:
    """List the omni blocks of the runners: unit, lines, marked or not, what they use."""
    from runner_sync import sync

    return commands.inspect("blocks", sync.blocks, trees.make_check_options(), output, screen=context.obj)


@_command("explain")
@flatten
def explain(context: typer.Context, place: o.Place, trees: Trees, output: o.Outputs = None) -> int:
    """Say where a line of a runner comes from: vllm-ascend, the GPU runners, or omni itself.

    With the id of a review item: show the item as the upgrade reported it, in full.
    """
    from runner_sync import sync

    options = trees.make_check_options()
    if is_review_id(place):
        find = partial(sync.explain_item, beginning=place)
        return commands.show_item(find, options, output, screen=context.obj)
    file, line = split_place(place)
    explain_place = partial(sync.explain, file=file, line=line)
    return commands.inspect("explain", explain_place, options, output, screen=context.obj)


@_command("settle")
@flatten
def settle(context: typer.Context, runners: Runners, ids: o.ItemIds = None, take: o.Take = choices.Side.chosen) -> int:
    """Settle the review items of an upgrade: one after the other at a terminal, or those that are named.

    Deletes the comment of an item. What stands below it stays, or gives way to the text that --take names.
    """
    from runner_sync.terminal import settling

    return settling.settle(ids or (), take.value, runners.make_check_options(), screen=context.obj)


@_command("lock")
@flatten
def lock(context: typer.Context, trees: Trees, bases: Bases, writing: Writing) -> int:
    """Record in runner-sync.lock what every unit was last synced to: as recorded, else inferred."""
    from runner_sync import sync

    return commands.change("lock", sync.lock, make_upgrade_options(trees, bases, writing), writing, screen=context.obj)


@_command("replay")
def replay(
    context: typer.Context,
    case: o.Case = None,
    corpus: o.Corpus = None,
    no_gpu: o.NoGpu = False,
    hunks: o.Hunks = 3,
    output: o.Outputs = None,
) -> int:
    """Repeat past upgrades made by hand, from the package index, and score the result against what people released."""
    from runner_sync import sync

    options = sync.ReplayOptions(cases=tuple(case or ()), corpus=corpus, gpu=not no_gpu, hunks=hunks)
    return commands.replay(sync.replay, options, output, screen=context.obj)


@_command("rule")
def rule(context: typer.Context, code: o.RuleCode = None, output: o.Outputs = None) -> int:
    """Explain the rules of check and verify: one line each, or one of them in full."""
    from runner_sync import sync

    return commands.show_rules(sync.rules, code, output, screen=context.obj)


@_command("hoist")
@flatten
def hoist(context: typer.Context, unit: o.UnitName, trees: Trees, bases: Bases, writing: Writing) -> int:
    """Move a method that is the same on GPU and NPU to the base they share."""
    from runner_sync import sync

    return commands.change(
        "hoist",
        lambda options: sync.hoist(options, unit),
        make_upgrade_options(trees, bases, writing),
        writing,
        screen=context.obj,
    )
