"""Decide which statements stay.

Comes in: a ``Weave``. Goes out: its strands with a verdict each, and doubts. May touch: ``kept`` and ``carried`` of the
strands.

``resolve`` runs the passes in order, ``settling`` is their shared state, and the other modules hold the passes.
``presence`` is the plain rule of a three-way merge. Beyond it:

- Upstream's statements stay out if omni has them elsewhere or in another form (``had_already``, ``added_alike``,
  ``blocks_at_hand``), removed them (``passages``, ``returning``), must not get them (``refusal``, ``foreign``) or
  cannot run them (``lost``).
- Statements stay if omni's own (``own_suites``, ``removed_suites``) or needed by kept ones (``staying``,
  ``values_taken``).
"""
