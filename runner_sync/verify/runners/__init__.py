"""The NPU modules beside their GPU twins, their upstream and the lock: what the rules of drift and parity look at.

Comes in: a ``CheckJob``. Goes out: readings, units that differ, spots for findings. May touch: the omni tree, by
reading.

Files are parsed only as far as a rule needs (``reading``, ``outline``), because `check` from the lock must be fast.
Nothing here needs the trees of ``runner_sync.verify.trees``.
"""
