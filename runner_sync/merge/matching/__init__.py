"""Match the statements of two or three texts.

Comes in: nodes. Goes out: pairs of two texts, and the strands of three. May touch: nothing.

- ``align``: pairs of two statement sequences, as in an edit script; ``pairs`` has the values;
- ``commonplace``, ``by_place``, ``by_surroundings`` and ``by_other_side``: statements that their text cannot pair,
  paired by their suite or by the third text;
- ``branches``: statements that can never both run;
- ``classify``: the strands of base, omni and upstream, as a ``Weave``; ``own_forms``: what omni has for a base
  statement;
- ``successors``: the statement, now at another place, by which upstream replaced one of omni's.
"""
