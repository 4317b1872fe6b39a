"""Which statements of two or three texts are the same one.

Comes in: nodes. Goes out: pairs of two texts, and the classes of three. May touch: nothing.

- ``align``: pairs of two lists of statements, as an edit script has them;
- ``commonplace`` and ``by_place``: statements that their text cannot pair, paired by the suite that they stand in;
- ``branches``: which statements can never both run;
- ``classify``: the classes of base, omni and upstream, as a ``Weave``;
- ``successors``: the statement that upstream has now, at another place, for one of omni's.
"""
