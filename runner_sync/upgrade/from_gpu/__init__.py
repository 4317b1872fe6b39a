"""Ports the GPU twin's change into the NPU runner.

Comes in: drafts and a ``job.ModuleJob``. Goes out: the drafts with one more text, and new drafts. May touch: nothing.

``class_by_class`` ports one module with four subpackages:

- ``twin`` reads the GPU twin, translated to NPU names;
- ``merging`` merges the twin's change into methods that both runners have;
- ``members`` decides about methods that only one of the runners has;
- ``asking`` finds what a person must review in a port.
"""
