"""Make three texts comparable before they are merged: one name for one local, one form and order for the same blocks.

Comes in: a ``Triple``. Goes out: a ``Triple``. May touch: nothing.

- names: ``renames``;
- forms: ``one_form`` of ``elif`` and ``with``, ``in_front`` of a branch, ``complementary`` conditions,
  ``returned`` values, ``two_branches`` for one (``forks`` finds versions of a condition);
- order and base: ``omni_order``, ``suites_at_hand``.
"""
