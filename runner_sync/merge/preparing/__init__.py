"""Make three texts comparable before the merge: one name for each local, one form and order for equal blocks.

Comes in: a ``Triple``. Goes out: a ``Triple``. May touch: nothing.

- names: ``parameters``, ``upstream_names`` that omni takes over, ``renames`` and ``unread_values`` to omni's names
  (``differences`` compares two texts name by name), attributes of ``records`` for unpacked values;
- forms: ``hints`` of upstream's new assignments, ``one_form`` of ``with``, ``else_behind_exit``, ``returned`` values,
  ``two_branches`` for one statement (``forks`` finds versions of a condition);
- order: branches of a ``negated`` condition; in a port, ``omni_order`` of blocks, and ``replaced_elsewhere`` where they
  stand in another suite (``successors`` finds what upstream has in their place).
"""
