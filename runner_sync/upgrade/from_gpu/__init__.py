"""The GPU twin's change, merged into the NPU runner.

Comes in: drafts and a ``job.ModuleJob``. Goes out: drafts with one more text, and new ones. May touch: nothing.

``class_by_class`` goes through the module, with four rooms:

- ``twin`` reads the GPU twin as NPU would have it;
- ``merging`` merges its change into the methods that both have;
- ``members`` decides what becomes of those that only one of the two has;
- ``asking`` finds what a person must look at in a port.
"""
