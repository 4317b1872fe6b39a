"""Ports the GPU twin's change into the NPU runner.

Comes in: drafts and a ``job.ModuleJob``. Goes out: the drafts with one more text, and new drafts. May touch: nothing.

``module`` runs the steps in this order:

1. ``twin.gpu_side`` reads the twin in NPU names, old and new, without vLLM's own changes;
2. ``members.inheriting`` makes a class of copies a subclass of its twin, so that nothing is left to port;
3. ``class_by_class`` goes through the classes: ``merging`` merges the twin's change into methods that both runners
   have, and ``members`` adds what the new texts call and removes what the twin lost. Module-level units come last;
4. ``asking`` finds what a person must review, partly with the merge, partly when all drafts have their last text;
5. ``twin.owing`` and ``twin.unset`` read the result: what they find begins another round, from step 1 on.
"""
