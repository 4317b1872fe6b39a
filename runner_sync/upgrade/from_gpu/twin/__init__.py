"""The GPU twin, old and new, as NPU would have it.

Comes in: a ``job.ModuleJob``. Goes out: texts of the twin in NPU names, and what else belongs to a port. May touch:
nothing.

- ``gpu_side`` reads the twin, translated (``readings``) and without vLLM's own changes (``vllm_step``); ``mixins``
  takes out of the old one what a new mixin brings, ``older_passages`` puts in what NPU has of still earlier ones;
- ``inlined`` puts helpers in the place of their calls where NPU has their code there; ``moved_helpers`` does so with
  those that became functions of other modules, which ``new_homes`` finds and ``computed`` compares;
- ``unset``: what a port would read and only code that did not come sets;
- ``owing``: older code of the twin that belongs to what is ported; the module is then upgraded again with it.
"""
