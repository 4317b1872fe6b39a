"""Find what a person must look at in a merge.

Comes in: a ``Weave``, what is kept of it, and where it stands. Goes out: doubts; and, from ``decisions``, the questions
of the result with their lines. May touch: nothing, but for ``unread`` and ``exits``, which leave out what they doubt.

Each module checks one thing: does an addition run under another condition (``conditions``), has it changed places
(``misplaced``), is what it sets read (``unread``, ``own_statements``), does it leave a loop that is not there
(``exits``). ``named_values`` and ``own_calls`` drop doubts that omni's text answers; ``replacements``, ``along``,
``nearby`` and ``shown`` decide what a question shows, and where.
"""
