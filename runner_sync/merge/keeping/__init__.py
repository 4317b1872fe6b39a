"""Which statements stay.

Comes in: a ``Weave``. Goes out: its strands with a verdict each, and doubts. May touch: ``kept`` and ``carried`` of the
strands.

``resolve`` runs the passes in their order; ``settling`` is what they all work on, and the other modules hold the
passes. The plain rule of a three-way merge stands in ``presence``; beyond it

- stays out what omni has at another place or in another form (``had_already``, ``added_alike``, ``blocks_at_hand``),
  has removed (``passages``, ``returning``), must not get (``refusal``, ``foreign``) or cannot run (``lost``);
- stays what is omni's own (``own_suites``, ``removed_suites``) or needed by what stays (``staying``).
"""
