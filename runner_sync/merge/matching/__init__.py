"""Which statements of two or three texts are the same one.

Comes in: nodes. Goes out: pairs of two texts, and the classes of three. May touch: nothing.

- ``align``: pairs of two lists of statements, as an edit script has them;
- ``commonplace`` and ``by_place``: what tells too little to be paired by its text, and what its place tells;
- ``branches``: which statements can never both run;
- ``classify``: the classes of base, omni and upstream, as a ``Weave``;
- ``successors``: what upstream has at another place now.
"""
