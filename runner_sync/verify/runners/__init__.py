"""Reads the NPU modules beside their GPU twins, their upstream and the lock, for the rules of drift, parity and
hygiene.

Comes in: a ``CheckJob``. Goes out: readings, units that differ, places for findings. May touch: the omni tree, by
reading.

A file is parsed when a rule first needs it, because `check` from the lock must be fast. Nothing here needs the trees of
``runner_sync.verify.trees``; where their texts are at hand, they are searched for the hooks of models.
"""
