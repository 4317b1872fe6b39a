"""vllm-ascend's change, merged into the copies of its methods.

Comes in: drafts and a ``job.ModuleJob``. Goes out: drafts with one more text. May touch: nothing.

``ascend`` goes through the units and calls the others: ``given_up`` for statements of methods that upstream no longer
has, ``splitting`` where upstream split a method in two, ``undivided`` where upstream moved a passage that omni has
edited into a new method, ``spelling`` where upstream calls through a module what omni imports by name, ``unions`` where
upstream spells type unions differently, ``overriding`` for omni's own methods that override upstream's, and
``dropped_blocks`` for what upstream dropped of these, ``unsynced`` for questions about additions that the copy is taken
to be too old to have.
"""
