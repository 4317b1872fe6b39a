"""What is done to three texts before they are compared: one name for one local, one order of the same blocks.

Comes in: a ``Triple``. Goes out: a ``Triple``. May touch: nothing.
"""
