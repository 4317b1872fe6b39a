"""Which statements stay.

Comes in: a ``Weave``. Goes out: its strands with a verdict each, and doubts. May touch: ``kept`` and ``carried`` of the
strands.

``resolve`` runs the passes in their order; each other module is one of them. The plain rule of a three-way merge stands
in ``presence``, what goes beyond it in the others.
"""
