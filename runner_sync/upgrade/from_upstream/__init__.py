"""Merges vllm-ascend's change into the copies of its methods.

Comes in: drafts and a ``job.ModuleJob``. Goes out: drafts with one more text. May touch: nothing.

``ascend`` goes through the units and calls the other modules:

- ``taking_over`` gives omni's lines upstream's new names for locals and parameters, and its forms of imports;
- ``given_up`` finds statements of methods that upstream no longer has;
- ``splitting`` follows a method that upstream split in two;
- ``spelling`` respells calls that upstream makes through a module, ``unions`` type unions;
- ``overriding`` updates the signature of omni's own overrides, ``dropped_blocks`` removes blocks from omni's methods
  that upstream dropped;
- ``kept_in_place`` keeps code around additions in place that upstream took out into a new method, and ``extracted``
  asks about such code if it cannot stay; ``class_methods`` reads the methods of both revisions;
- ``unsynced`` asks about additions that the copy is taken to be too old to have.
"""
