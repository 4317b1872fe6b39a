"""Words the review items: the only place where reasons of merge decisions become text.

Comes in: the ``Reason`` of a decision. Goes out: a sentence. May touch: nothing.

No code depends on a sentence, so a better wording changes nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from runner_sync.merge import Kind, Reason


class Sides(NamedTuple):
    """The names of the two sides of a merge in sentences; ``both`` names the two together.

    ``edited`` is the verb phrase for a statement that omni has in another form than the base: omni may never have had
    the base's form.
    """

    omni: str
    upstream: str
    both: str
    edited: str


MERGED = Sides("omni", "upstream", "omni and upstream", "had edited")
"""vllm-ascend's change, merged into an omni copy."""

PORTED = Sides("the NPU runner", "the GPU runner", "the NPU and the GPU runner", "had in another form")
"""The GPU twin's change, merged into the NPU runner."""


def word_reason(reason: Reason, sides: Sides) -> str:
    """Return the sentence for a reason, with these names for the sides."""
    sentence = _SENTENCES[reason.kind]
    one, many = (sentence, f"{sentence} (in {{passages}} passages)") if isinstance(sentence, str) else sentence
    return (one if reason.passages == 1 else many).format(
        names=", ".join(reason.names), detail=reason.detail, passages=reason.passages, **sides._asdict()
    )


_SENTENCES: Mapping[Kind, str | tuple[str, str]] = {
    "both changed a part": "{both} changed the same part of a statement",
    "both added versions": "{both} added different versions of this",
    "both added an argument": "{both} each added an argument at the same place of a call; {upstream}'s comes first",
    "both put more around": ("{both} each put something around the same expression; which of the two belongs inside?"),
    "arguments of another call": (
        "one side calls {names} here instead, and the other side changed the arguments: do they fit?"
    ),
    "both added in another order": "{both} added this in different orders; it stands where {omni} has it",
    "both added under other conditions": (
        "{both} added this, one of them under {names!r}; it stands where {omni} has it and was not added again"
    ),
    "both emptied": "{both} each removed a part of the block under this line, and the block is empty now",
    "both rewrote a suite": "{both} each replaced the block under this line; it contains both replacements now",
    "additions moved on": (
        "{upstream} replaced a call to which {omni} had added arguments; the replacement has these arguments now"
    ),
    "edit moved on": (
        "{upstream} moved and changed a statement that {omni} had changed, too; the statement has both changes now"
    ),
    "keywords taken over": (
        "{upstream} changed the keywords of this call; the change was applied to {omni}'s call of the same function"
    ),
    "remark left out": (
        "{upstream} changed a statement that contains a comment of {omni}'s; the comment was lost: {names}"
    ),
    "remark removed": "{upstream} removed a statement on which {omni} has a comment: {names}",
    "edited statement removed": "{upstream} removed a statement that {omni} {edited}",
    "edited statement unread": "{upstream} removed a statement that {omni} {edited}, and nothing reads {names} now",
    "edited statement replaced": "{upstream} replaced a statement that {omni} {edited}",
    "edited statement beside": (
        "{upstream} replaced a statement that {omni} {edited}; {omni}'s stays, and the replacement stands here, too"
    ),
    "edited statement rewritten": "{upstream} rewrote a statement that {omni} {edited}",
    "removed statement changed": "{upstream} changed a statement that {omni} does not have",
    "removed part changed": "{upstream} changed and extended a passage that {omni} does not have",
    "moved statement changed": "{upstream} changed this statement, which {omni} has at another place",
    "renamed statement changed": (
        "{upstream} changed this statement; {omni}'s own form of it sets {names}: does the change belong there?"
    ),
    "repeated statement changed": (
        "{upstream} changed this statement, which {omni} has in several places here; none of them was changed"
    ),
    "repeated statement followed": (
        "{upstream} changed this statement, which {omni} has in several branches here; each of them was changed"
    ),
    "edited block removed": "{upstream} removed a block inside which {omni} had edited a statement",
    "loop with additions removed": "{upstream} removed a loop that {omni} had added to",
    "condition of additions removed": "{upstream} removed a condition under which {omni} has statements of its own",
    "removed value read": "{upstream} removed this; it stays, because code of {omni}'s below reads {names}",
    "value of a newer form": (
        "{omni} does not have this; it came in, because {upstream}'s newer form of {omni}'s code below reads {names}"
    ),
    "each kept another branch": "{both} each kept a different branch of a condition",
    "added block emptied": "{upstream} removed or replaced everything inside a block that {omni} had added",
    "added block left": "{omni} had wrapped this in a block; {upstream} moved it, and it stands outside that block now",
    "added block replaced": "{both} each wrapped this in a new block; only {upstream}'s block is around it now",
    "replaced outside of a block": (
        "{upstream} replaced statements that {omni} has in its block {names!r}; the replacement is not in that block"
    ),
    "removed block came back": "{omni} had removed this; {upstream} moved it, and the move brought it back",
    "exit that omni has otherwise": "{upstream} added a return like those that {omni} has changed everywhere else",
    "exit without omni's statement": (
        "{upstream} added this return without `{names}`, which {omni} has of its own before each other return"
    ),
    "repeated without omni's change": (
        "{upstream} added this statement once more, and {omni} has changed the other copy, or put it into a block"
    ),
    "called without omni's change": (
        "{upstream} calls {names} once more here, and {omni} has changed the other call: does this one need the change?"
    ),
    "called by both": "{upstream} now calls {names} here, which {omni} calls, too: is the work done twice?",
    "call beside a changed one": (
        "{upstream} changed its call of {names} for the same value: does {omni}'s own call need the change, too?"
    ),
    "calls what was replaced": (
        "{upstream} replaced {names} by another function; {omni}'s own call here still has the old one"
    ),
    "exit of no loop": "left out: this `break` or `continue` has no loop around it here",
    "block at hand": (
        "{upstream} has this under {names!r}; it was not added, because {omni} has all of it under another condition"
    ),
    "addition to a removed block": "{upstream} added to a block that {omni} does not have",
    "addition to a removed passage": "{upstream} added to a passage that {omni} does not have",
    "replacement in a removed block": "{upstream} replaced statements in a block that {omni} does not have",
    "replacement in a removed passage": "{upstream} replaced statements in a passage that {omni} does not have",
    "addition reads what omni does not set": (
        "{upstream} added a use of {names}, which {omni} does not set here{detail}"
    ),
    "suite around nothing": (
        "{upstream} wrapped statements in a new block (if, with, try …); {omni} has none of these statements"
    ),
    "suite around other statements": (
        "left out: {upstream} put this new block around statements that {omni} has in another form or at another place"
    ),
    "suites that overlap": "left out: this new block of {upstream}'s would overlap a new block of {omni}'s",
    "branch of a removed condition": "{upstream} added a branch to a condition that {omni} does not have",
    "read only in what was left out": (
        "left out: the statements that read this value were left out, so nothing here would use it"
    ),
    "reads what was left out": "left out: it uses {names}, whose assignment was left out, too",
    "no longer read": "{omni} sets {names} here, but no code reads the value any more",
    "set by both": "{upstream} now sets {names}, which {omni} sets, too; the later assignment wins",
    "sets omni's local": (
        "{upstream} newly sets {names} here, and {omni}'s own `{detail}` reads what {omni} set: are these two locals?"
    ),
    "sets what omni reads": (
        "{upstream} newly sets {names} here, and {omni}'s own `{detail}` below reads it: is the new value right there?"
    ),
    "reads omni's local": (
        "{upstream} newly sets {names} for this, and {omni}'s own `{detail}` sets it in between: are these two locals?"
    ),
    "passed beside own": "{upstream} now passes a value for {names} here, which {omni} sets: the call may replace it",
    "set beside omni's call": "this new code of {upstream}'s sets {names} without {detail}, by which {omni} sets it",
    "set below its use": "{upstream} now sets {names} below this line, not above it as {omni} did",
    "reads an older value": (
        "{upstream} no longer sets {names} for this line of {omni}'s, which now reads a value from elsewhere"
    ),
    "set beside its use": (
        "{upstream} and {omni} both added statements here, and {omni}'s read {names}, which {upstream}'s set: "
        "{upstream}'s stand first where that fits"
    ),
    "under a new condition": "this now runs only under {upstream}'s new condition {names!r}",
    "under a condition of omni's": (
        "{upstream} added this; here it stands at the start or end of {omni}'s block {names!r}"
    ),
    "under another condition": "this moved along with its neighbours and now runs under {names!r}",
    "under a changed condition": (
        "{both} have different statements under this condition, and one side changed it: this now runs under {names!r}"
    ),
    "outside of its condition": "this moved along with its neighbours and no longer runs under {names!r}",
    "in other suites": (
        "{both} moved this into different blocks, or wrapped it in new ones ({names}): check which are around it now"
    ),
    "on the other side": "this and its neighbours have changed places, because one side moved some of them",
    "both moved": "{both} moved this to different places: check where it stands now",
    "kept at its place": "{upstream} moved this to another place; here it stays where vllm-ascend has it",
    "reads what nothing sets": (
        "left out: it uses {names}, which nothing sets here",
        "{passages} passages were left out of the port: they use {names}, which nothing sets here",
    ),
    "half of a feature": (
        "left out: {upstream} newly sets {names}, and not all statements that use this fit here",
        "{passages} passages were left out of the port: {upstream} newly sets {names}, and not all uses fit here",
    ),
    "parameter that nothing reads": "left out: {omni} no longer has the parameter {names}, and nothing here reads it",
    "leaves before other statements": "left out: with this, {names!r} would never run here",
    "needs an absent member": "left out: it needs {names}, which the NPU side does not have ({detail})",
    "uses refused code": "left out: it uses {names}, which is {detail}",
    "taken out of the copy": "left out: the method that this is a copy of has this block, and the NPU side took it out",
    "unpacks other results": ("left out: it unpacks the result of {names}, of which the NPU side runs another version"),
}
"""The sentence of each kind of reason; a pair if several passages need another sentence."""
