"""How sure the tool is of what it chose: the levels of confidence that review items have.

Comes in: nothing. Goes out: numbers in 0…1. May touch: nothing.

A level says how a choice came about, and thereby in which order questions are worth a person's time: the lower, the
more needs to be decided. It is no probability: docs/how-it-works.md says how often people released what was chosen,
which tells ``DERIVED`` and above from the rest, but nothing about the order of the levels below.

- ``REQUIRED``: forced by something that stands, such as a call of it or a field of a record, or nothing needs it now.
- ``DERIVED``: what the texts say. It was taken over as it is, is kept out by a word of the profile, or is inherited.
- ``INFERRED``: read off what is around it, such as what was removed there, what reads it, what its callers pass.
- ``CONTESTED``: one of two with an equal claim; the policy took a side.
- ``REBUILT``: made of two texts that do the same in another form. A part may be missing, or there twice.
- ``DOUBTFUL``: more likely wrong than right. It uses what is set later, names the GPU, or has never run.
- ``UNMERGED``: a side as it was, because there was no merge of the two that parses.
- ``DEFECT``: what cannot be meant. It reads what nothing sets, or can never run.
"""

from __future__ import annotations

from typing import Final

REQUIRED: Final = 0.8
DERIVED: Final = 0.7
INFERRED: Final = 0.6
CONTESTED: Final = 0.5
REBUILT: Final = 0.4
DOUBTFUL: Final = 0.3
UNMERGED: Final = 0.2
DEFECT: Final = 0.1
