"""Merges vllm-ascend's change into the copies of its methods.

Comes in: drafts and a ``job.ModuleJob``. Goes out: drafts with one more text. May touch: nothing.

``ascend`` goes through the units and calls the other modules:

- ``given_up`` finds statements of methods that upstream no longer has;
- ``splitting`` follows a method that upstream split in two;
- ``spelling`` respells calls that upstream makes through a module, ``unions`` type unions;
- ``overriding`` updates the signature of omni's own overrides, ``dropped_blocks`` removes blocks from omni's methods
  that upstream dropped;
- ``extracted`` asks about additions inside code that upstream took out into a new method;
- ``unsynced`` asks about additions that the copy is taken to be too old to have.
"""
