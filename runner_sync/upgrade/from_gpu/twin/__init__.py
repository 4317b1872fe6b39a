"""Reads the GPU twin, old and new, in NPU names.

Comes in: a ``job.ModuleJob``. Goes out: texts of the twin, and what else belongs to a port. May touch: nothing.

- ``gpu_side`` reads the twin in NPU names (``readings``) and chooses the base of each unit. ``taken_apart`` finds
  members that hold what a port takes out of one of NPU's methods, and that count as new. Then ``mixins`` removes uses
  of new mixins from the old twin, ``older_passages`` restores passages that NPU has from earlier revisions, and
  ``vllm_step`` takes out vLLM's own changes;
- for the merge of a unit, ``moved_helpers`` inlines helpers that became functions of other modules, as
  ``lineage.inlined`` does with those of the class; ``new_homes`` finds these functions and ``computed`` compares them.
  ``own_helpers`` puts calls of NPU's own methods in place of passages that these hold, and a change in one goes there.
  ``renamed_attributes`` gives attributes that the twin renamed everywhere their new names on all sides;
- from the result, ``owing`` finds older code of the twin that a port depends on, and ``unset`` attributes that a port
  would read and only unported code sets; ``recorded_helpers`` names helpers in place for the lock.
"""
