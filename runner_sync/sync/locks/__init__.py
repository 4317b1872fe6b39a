"""Make the lock that a run leaves behind.

Comes in: results and the old lock. Goes out: the new one. May touch: the trees, by reading.

``lock_change`` makes it, ``hashes`` adds what shows later edits, ``relocking`` carries over what the old one recorded,
and ``later_copies`` notes copies that are newer than the locked release.
"""
