"""Make three texts comparable before they are merged: one name for one local, one form and order for the same blocks.

Comes in: a ``Triple``. Goes out: a ``Triple``. May touch: nothing.
"""
