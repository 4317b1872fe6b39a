"""vllm-ascend's change, merged into the copies of its methods.

Comes in: drafts and a ``job.ModuleJob``. Goes out: drafts with a text more. May touch: nothing.

``ascend`` goes through the units: ``given_up`` is for what a copy has of methods that upstream has no more,
``splitting`` where upstream took a method apart, ``undivided`` where it moved into a new one what omni has edited,
``spelling`` where it calls by another name what omni imports, ``unions`` where it writes types otherwise,
``overriding`` for the namesakes of upstream's methods that are omni's own, ``unsynced`` for questions about what
came in as newer than the copy.
"""
