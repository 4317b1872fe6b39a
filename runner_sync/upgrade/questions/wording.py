"""Words the review items: the only place where reasons of merge decisions become text.

Comes in: the ``Reason`` of a decision. Goes out: a sentence. May touch: nothing.

No code depends on a sentence, so a better wording changes nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from runner_sync.merge import Kind, Reason


@dataclass(frozen=True, slots=True)
class Sides:
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


def word_reason(reason: Reason, sides: Sides = MERGED) -> str:
    """Return the sentence for a reason, with these names for the sides."""
    sentence = _SENTENCES[reason.kind]
    one, many = (sentence, f"{sentence} (in {{passages}} passages)") if isinstance(sentence, str) else sentence
    return (one if reason.passages == 1 else many).format(
        omni=sides.omni,
        upstream=sides.upstream,
        both=sides.both,
        edited=sides.edited,
        names=", ".join(reason.names),
        detail=reason.detail,
        passages=reason.passages,
    )


_SENTENCES: Mapping[Kind, str | tuple[str, str]] = {
    "both changed a part": "{both} changed the same part of a statement",
    "both changed a condition": "{both} changed different parts of this condition; it has both changes now",
    "guard of another suite": (
        "{upstream} added {names!r} to this condition, but {omni} has its own statements under it: its condition stays"
    ),
    "both added versions": "{both} added different versions",
    "both added an argument": "{both} each added an argument at one place of a call; {upstream}'s comes first now",
    "arguments of another call": (
        "one side calls {names} here instead, the other changed what is given: does it take that?"
    ),
    "both added in another order": "{both} added this, in another order; it stands where {omni} has it",
    "both added under other conditions": (
        "{both} added this, one of them under {names!r}; it stands where {omni} has it, and not a second time"
    ),
    "both emptied": "{both} each removed a part of what stood under this, and nothing of it is left",
    "both rewrote a suite": "{both} each put something else under this; all of it stands there now",
    "additions moved on": "what {omni} had added to a call went to the statement that {upstream} put in its place",
    "keywords taken over": "{upstream}'s change of the keywords was made to {omni}'s call of the same function",
    "remark left out": "{upstream} changed a statement inside which {omni} has a comment that is gone: {names}",
    "remark removed": "{upstream} removed a statement on which {omni} has a comment: {names}",
    "edited statement removed": "{upstream} removed a statement that {omni} {edited}",
    "edited statement unread": "{upstream} removed a statement that {omni} {edited}, and nothing reads {names} now",
    "edited statement replaced": "{upstream} replaced a statement that {omni} {edited}",
    "edited statement beside": "{upstream} replaced a statement that {omni} {edited}; its replacement stands beside it",
    "edited statement rewritten": "{upstream} rewrote a statement that {omni} {edited}",
    "removed statement changed": "{upstream} changed a statement that {omni} does not have",
    "removed part changed": "{upstream} changed a part that {omni} does not have, and added to it",
    "statement of a helper changed": "{upstream} changed what {omni} has in {names}, which is called here{detail}",
    "moved statement changed": "{upstream} changed this statement, which {omni} has at another place",
    "renamed statement changed": (
        "{upstream} changed this statement, which {omni} has in its own form, as {names}: does the change belong there?"
    ),
    "repeated statement changed": (
        "{upstream} changed this statement, which {omni} has in each branch here; not changed, for no branch is like it"
    ),
    "repeated statement followed": (
        "{upstream} changed this statement, which {omni} has in each branch here; changed in each of them"
    ),
    "edited block removed": "{upstream} removed a block inside which {omni} had edited a statement",
    "loop with additions removed": "{upstream} removed a loop that {omni} had added to",
    "condition of additions removed": "{upstream} removed a condition under which {omni} has statements of its own",
    "each kept another branch": "{both} each kept another branch of a condition",
    "added block emptied": "{upstream} removed or replaced everything inside a block that {omni} had added",
    "added block left": "{omni} had put a block around this; {upstream} moved it, and it now stands outside that block",
    "added block replaced": "{omni} had put a block around this, and {upstream} another one, which is around it now",
    "removed block came back": "{omni} had removed this; {upstream} has it elsewhere now, and so it is back",
    "exit that omni has otherwise": "{upstream} added a return like those that {omni} has changed everywhere else",
    "exit of no loop": "left out: the loop that it leaves, or goes on with, is not around it here",
    "block at hand": (
        "{upstream} has this under {names!r}; {omni} has all of it under another condition, and so not a second time"
    ),
    "addition to a removed block": "{upstream} added to a block that {omni} does not have",
    "addition to a removed passage": "{upstream} added to a passage that {omni} does not have",
    "replacement in a removed block": "{upstream} replaced statements in a block that {omni} does not have",
    "replacement in a removed passage": "{upstream} replaced statements in a passage that {omni} does not have",
    "addition reads what omni does not set": (
        "{upstream} added a use of {names}, which {omni} does not set here{detail}"
    ),
    "suite around nothing": "{upstream} moved statements into a new block (if, with, try …); {omni} has none of them",
    "suite around other statements": (
        "left out: a new block that {upstream} put around statements which {omni} has in another form"
    ),
    "suites that overlap": "left out: a new block of {upstream}'s that begins or ends inside a new block of {omni}'s",
    "branch of a removed condition": "{upstream} added a branch to a condition that {omni} does not have",
    "read only in what was left out": "left out: only lines that were left out read the value that it sets",
    "reads what was left out": "left out: it uses {names}, whose definition was not taken",
    "no longer read": "nothing reads {names} any more, which {omni} sets here",
    "set by both": "{upstream} sets {names} now, which {omni} sets, too",
    "set below its use": "{upstream} sets {names} below this now, which {omni} had set above it",
    "under a new condition": "this now runs under {upstream}'s new {names!r}",
    "under a condition of omni's": "{upstream} added this; here it stands at an end of {omni}'s {names!r}",
    "under another condition": "this went with what stood beside it, and now runs under {names!r}",
    "under a changed condition": (
        "{both} have other statements below this condition, and one side changed it: this now runs under {names!r}"
    ),
    "outside of its condition": "this went with what stood beside it, and no longer runs under {names!r}",
    "in other suites": "{both} moved this into different blocks, or put some around it ({names}); see where it stands",
    "on the other side": "this and what stood beside it have changed places: one side moved a part of that",
    "both moved": "{both} moved this to different places; see where it stands",
    "reads what nothing sets": (
        "left out: it uses {names}, which nothing sets here",
        "{passages} passages were left out of the port: they use {names}, which nothing sets here",
    ),
    "half of a feature": (
        "left out: not all {upstream} does with its new {names} has a place here",
        "{passages} passages were left out of the port: not all {upstream} does with its new {names} has a place here",
    ),
    "parameter that nothing reads": "left out: {omni} has the parameter {names} no more, and nothing here reads it",
    "needs an absent member": "left out: it needs {names}, which is not on the NPU side ({detail})",
    "uses refused code": "left out: it uses {names}, which is {detail}",
    "unpacks other results": "left out: it unpacks what {names} returns, and the NPU side runs another version of that",
    "cannot run here": "{upstream}'s version of this was not taken: with it, {detail}",
}
"""The sentence of each kind of reason; a pair if several passages need another sentence."""
