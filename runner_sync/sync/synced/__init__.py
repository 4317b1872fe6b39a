"""Find what the derived modules were last synced to.

Comes in: trees, lock and options. Goes out: the bases of units, and of their GPU twins. May touch: what ``sources``
touches.

- ``bases`` for vllm-ascend, ``twin_bases`` for the GPU twins, ``earlier_twins`` for ``check`` without a lock;
- ``inference`` for commands that only read; ``window`` chooses the releases to search; ``revisions`` reads a named
  one, ``locked`` compares with the lock, and ``claims`` finds folders that are not the release that they say;
- ``left_behind`` finds what a run with a named omni base leaves out.
"""
