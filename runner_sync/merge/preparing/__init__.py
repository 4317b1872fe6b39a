"""Make three texts comparable before the merge: one name for each local, one form for equal blocks.

Comes in: a ``Triple``. Goes out: a ``Triple``. May touch: nothing.

- names: ``renames``, ``unread_values``;
- forms: ``hints`` of upstream's new assignments, ``one_form`` of ``with``, ``returned`` values, ``two_branches`` for
  one statement (``forks`` finds versions of a condition).
"""
