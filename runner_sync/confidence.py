"""How sure the tool is of what it chose: the levels of confidence of review items.

Comes in: nothing. Goes out: numbers in 0…1. May touch: nothing.

A level says how a choice came about: the lower it is, the more there is for a person to decide. It is no probability.
docs/how-it-works.md counts how often people released what was chosen; the figures set ``DERIVED`` and above apart from
the rest, but say nothing about the order of the levels below.

- ``REQUIRED``: other code forces it, such as a call or a field of a record; or it goes because nothing needs it now.
- ``DERIVED``: follows from the texts: taken over unchanged, excluded by an entry of the profile, or inherited.
- ``INFERRED``: concluded from the code around it: what was removed there, what reads it, what its callers pass.
- ``CONTESTED``: both sides have an equal claim; the policy decided for one.
- ``REBUILT``: pieced together from two texts that do the same in different forms. A part may be missing or doubled.
- ``DOUBTFUL``: more likely wrong than right. It uses what is set later, names the GPU, or has never run.
- ``UNMERGED``: one side unchanged, because no merge of the two parses.
- ``DEFECT``: cannot be intended. It reads what nothing sets, or can never run.
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
