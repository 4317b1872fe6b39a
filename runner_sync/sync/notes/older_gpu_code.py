"""A note on GPU code that an upgraded runner lacks from before the upgrade, and that no review item is about.

Comes in: the results of the modules, the inputs and the options. Goes out: a note, or none. May touch: what ``sources``
touches, for the vLLM that the GPU runners are made from.

An upgrade ports what the GPU twin of a unit gained since the unit was last aligned with it. If people took a later part
and left an earlier one, the earlier one is old code. `check` tells of it (RS202, RS207); the lock of the upgrade would
have it settled without a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from runner_sync.compose.member_text import canonical
from runner_sync.errors import InputError
from runner_sync.model import Finding, ReviewItem
from runner_sync.statements import UnparsableText
from runner_sync.sync import check_modules
from runner_sync.sync.options import CheckOptions, UpgradeOptions
from runner_sync.sync.trees import inputs
from runner_sync.sync.trees.patched_tree import PatchedTree
from runner_sync.sync.trees.runners import find_modules
from runner_sync.upgrade import ModuleResult, is_selected
from runner_sync.verify import check as engine
from runner_sync.verify.check import CheckJob
from runner_sync.verify.codes import Codes

NAMED = 20
"""How many names the note gives at most."""

_RULES = Codes(select=("RS202", "RS207"))


def note(results: Sequence[ModuleResult], given: inputs.Inputs, options: UpgradeOptions) -> tuple[str, ...]:
    """The note about the upgraded modules, as they are to be written."""
    if not options.gpu or not options.upstream or not given.profile.has_twins or given.followed is None:
        return ()
    asked = [item for result in results for item in result.reviews if item.from_gpu]
    try:
        found = _lacking(results, given, options)
    except InputError:
        return ()
    open_ones = [one for one in found if is_selected(one.unit, options.only) and not _is_asked_about(one, asked)]
    names = list(dict.fromkeys(_as_code(one.symbol) for one in open_ones))
    if not names:
        return ()
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    said = (
        "GPU code from before this upgrade that the NPU runners lack, and that nothing here asks about: "
        f"{', '.join(names[:NAMED])}{more} (`runner-sync check --select RS202,RS207` on this vllm-ascend says where)."
    )
    return (said,)


def _as_code(symbol: str) -> str:
    """A name as it is, and how a passage begins as code."""
    return symbol if symbol.isidentifier() else f"`{symbol}`"


def _lacking(results: Sequence[ModuleResult], given: inputs.Inputs, options: UpgradeOptions) -> tuple[Finding, ...]:
    """What the rules about missing GPU code find in the results."""
    texts = {result.path: result.after for result in results}
    after = replace(given, omni=PatchedTree(given.omni, texts))
    modules = [replace(found, text=texts.get(found.path, found.text)) for found in find_modules(given)]
    asked = CheckOptions(
        omni=options.omni, ascend=options.ascend, vllm=options.vllm, select=_RULES.select, progress=options.progress
    )
    described = check_modules.describe_modules(asked, after, modules, _RULES)
    job = CheckJob(given.profile, described, read=after.omni.read)
    return engine.run(job, _RULES).findings


def _is_asked_about(finding: Finding, asked: Iterable[ReviewItem]) -> bool:
    """Whether a review item shows what a finding is about in the GPU runner's text: a name, or how a passage begins."""
    begins = finding.symbol.removesuffix("…")
    wanted = re.compile(rf"(?<!\w){re.escape(begins)}" + (r"\b" if begins.isidentifier() else ""))
    return any(wanted.search(canon) for item in asked for canon in (item.upstream, *_canons(item.upstream)))


def _canons(text: str) -> tuple[str, ...]:
    """The statements of a text as rules quote them; none of a text that is no Python, such as the head of a block."""
    try:
        return canonical(text)
    except UnparsableText:
        return ()
