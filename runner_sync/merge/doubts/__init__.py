"""Find what a person must look at in a merge.

Comes in: a ``Weave``, its kept strands, and where each was written. Goes out: doubts, and from ``decisions`` the
questions with their lines. May touch: nothing, except that ``unread`` and ``exits`` leave out what they doubt.

Each module checks one thing: whether an addition runs under another condition (``conditions``), changed places
(``misplaced``), sets what is read (``unread``, ``own_statements``), or leaves a missing loop (``exits``).
``own_calls`` drops doubts that omni's text answers. ``replacements``, ``along``, ``nearby`` and ``shown`` decide what a
question shows, and where.
"""
