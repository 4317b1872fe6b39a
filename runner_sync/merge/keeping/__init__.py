"""Which statements stay.

Comes in: a ``Weave``. Goes out: its strands with a verdict each, and doubts. May touch: ``kept`` and ``carried`` of the
strands.

``resolve`` runs the passes in their order; ``settling`` is what they all work on, and the other modules hold the
passes. The plain rule of a three-way merge stands in ``presence``, what goes beyond it in the others.
"""
