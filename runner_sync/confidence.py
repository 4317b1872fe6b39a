"""The levels of confidence of review items.

Comes in: nothing. Goes out: numbers in 0…1. May touch: nothing.

A level says how the tool arrived at a choice. The lower the level, the more a person has to decide. Levels are not
probabilities: docs/how-it-works.md counts how often people released what was chosen. These figures separate ``DERIVED``
and above from the rest, but do not confirm the order of the levels below.

- ``REQUIRED``: other code forces the choice, such as a call or a field of a record; or code is removed because nothing
  needs it any more.
- ``DERIVED``: follows from the texts: taken over unchanged, excluded by an entry of the profile, or inherited.
- ``INFERRED``: concluded from the surrounding code: what was removed there, what reads the value, what the callers
  pass.
- ``CONTESTED``: both sides have an equal claim; the policy chose one.
- ``REBUILT``: combined from two texts that do the same in different forms. A part may be missing or duplicated.
- ``DOUBTFUL``: more likely wrong than right. The code uses a name that is set later, names the GPU, or has never run.
- ``UNMERGED``: one side unchanged, because no merge of the two parses.
- ``DEFECT``: cannot be intended. The code reads a name that nothing sets, or can never run.
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
