"""The thresholds by which likeness, size and number decide, each with its reason.

Comes in and goes out: constants. May touch: nothing.

`confidence` has the levels of doubt. What makes one text a copy of another stands in `lineage` and
`statements.likeness`.
"""

from __future__ import annotations

from typing import Final

# Statements of a merge.

SIMILAR: Final = 0.55
"""Dice coefficient of words from which two statements count as versions of one.

More than half is a judgement, and it matters: of four upgrades, three come out differently at 0.5 and two at 0.6.
"""

UNRELATED: Final = 0.6
"""Factor on the similarity and the weight of two heads whose suites have nothing in common: they pair only from
``SIMILAR / UNRELATED`` (0.92) on."""

FIRM: Final = 8
"""Factor on the weight of a statement that up to so many others moved past, rather than it past them; a judgement.

A whole passage that changed places with a single statement stays, so that its own changes are seen.
"""

CELLS: Final = 60_000
"""The most comparisons made in one gap, some 245 statements by 245; to save time, a larger gap is not compared."""

MOST_OF_A_SUITE: Final = 0.75
"""The share of statements that two suites must have in common to be one under two conditions; a judgement.

With fewer than four statements it means all of them.
"""

FEWEST_KEYWORDS: Final = 3
"""The fewest keywords by which omni's own form of a call is recognised: with fewer, many calls are alike."""

SEEN_RENAMED: Final = 2
"""The fewest statements that must show that a local was renamed; a single one could be a change of meaning."""

LONGEST_VALUE: Final = 1000
"""The most nodes of a value that is written in place of a local: if each local mentions the last one twice, it doubles
with every one. The values in six releases have 605 at most."""

FEWEST_AT_HAND: Final = 2
"""The fewest statements in a block that omni has at hand; a single one, such as a ``return``, stands in many places."""

DISTINCT: Final = 1.5
"""The ``Node.weight`` from which a text identifies a statement: thirty characters."""

CLOSE: Final = 0.85
"""Dice coefficient of words from which two texts are one statement at two revisions of upstream; a judgement."""

TAKEN_ARGUMENTS: Final = 0.75
"""The share of the old arguments that a call or dictionary needs to count as successor of the old call."""

FEWEST_ARGUMENTS: Final = 2
"""The fewest arguments that a call and its successor have in common; a single one may be chance."""

REWORDED: Final = 0.4
"""Dice coefficient of words from which two comments on one statement count as reworded versions of each other.

Compares only the lines that one side alone has.
"""

REFLOWED: Final = 0.9
"""The same as ``REWORDED`` for all lines of both comments, which then differ only in their line breaks."""

SMALL_ADDITION: Final = 8
"""The most statements, including nested ones, of an addition that is moved. A larger addition stays in place."""

# Methods, members and records.

PORTED: Final = 0.6
"""From this Dice coefficient of statements on, a text is a port of another; a judgement: well more than half.

Four upgrades give the same result with 0.5 to 0.7.
"""

FEWEST_FIELDS: Final = 4
"""A tuple must have at least this many names in common with a record to be an unpacking of it."""

FROM_OLD: Final = 0.4
"""Share of a new method's statements, its new helpers included, that must come from the old method.

For a method that does more besides: share of the statements that left the old method, and at least ``lineage.FEWEST``.
"""

MOST_MOVED: Final = 0.8
"""Share of omni's own statements of a copy that must stand in other methods for the copy to be removed."""

STILL_THERE: Final = 0.6
"""Smallest share of what a port up to an earlier revision brings that the current GPU twin must still have.

It is 0.67 to 0.86 in `sample_tokens` of 0.24.0, whose statements moved into helpers and were edited there.
"""

MOST_COPIES: Final = 0.5
"""Smallest share of copies of the GPU twin's methods, among members without device code, at which a class inherits.

It was 12 of 13 in omni's 0.14.0, when people let the class inherit, and one of 4 when they kept copying (vllm-omni pull
request 447).
"""

RELATED: Final = 0.15
"""Lowest similarity to its GPU twin at which a method has anchors for the twin's changes."""

COUNTERPART: Final = 0.6
"""Lowest similarity at which a statement counts as the local counterpart of a reader on the GPU side."""

INLINE: Final = 8
"""Characters that a value must exceed for its presence in line on the NPU side to be significant."""

TRIES: Final = 4
"""Most merges of one unit, each without the statements that did not fit before."""

REPLACING: Final = 0.5
"""Lowest Dice coefficient of words at which one statement counts as replacing another; a judgement."""

SHORT_STATEMENT: Final = 20
"""Statements of at most this many characters are too common: ``return``, ``else``, ``pass``."""

MOST_OF_THE_USES: Final = 0.75
"""The share of the statements with an attribute that must stand there under another name for it to be renamed; a
judgement, because the same change may edit or add some.
"""

REACH: Final = 2
"""Longest span of a helper's in-line statements, as a multiple of the helper's own row count; a judgement."""

NAMESAKE: Final = 0.3
"""Lowest Dice coefficient of words at which a function with a method's name counts as that method, moved.

The value is a judgement. Without the name, most of the statements must be the same.
"""

FEWEST_WORDS: Final = 2
"""The fewest words beside the verb that the names of two ends of an exchange must have."""

FOLLOWED: Final = 0.15
"""The least share of the lines of the modules that follow a class which a file at a new path must have, to be that
class and not a second one of its name. Five releases of omni share 0.21 or more with the runners and workers that they
follow, and 0.08 at most with the second runners of vllm-ascend and vLLM.
"""

# What questions show.

ABSENT_LINES: Final = 8
"""The most lines between the places of two left-out statements that are still one question."""

LONGEST_SUITE: Final = 12
"""The most lines of a suite shown in full below a new head; of a longer one, only its first and last statement are
shown."""

NAMED: Final = 3
"""The most names that a question gives."""

NEAR_PASSAGES: Final = 3
"""Passages with fewer unchanged lines than this between them share one question."""

NEAR_SIDES: Final = 6
"""The most lines between omni's statement and upstream's for the two to be no conflict, because both stand."""

LONGEST_USE: Final = 20
"""Most lines of a block around a use that a question shows whole."""

QUOTED: Final = 70
"""Most characters of a statement that a reason quotes."""
