"""The NPU modules beside their GPU twins, their upstream and the lock: what the rules of drift and parity look at.

Comes in: a ``CheckJob``. Goes out: readings, units that differ, spots for findings. May touch: the omni tree, by
reading.

Files are read only as far as somebody asks (``reading``, ``outline``): `check` from the lock has no time for more, and
none of it needs the trees of ``runner_sync.verify.trees``.
"""
