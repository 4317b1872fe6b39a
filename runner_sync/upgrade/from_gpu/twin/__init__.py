"""Reads the GPU twin, old and new, in NPU names.

Comes in: a ``job.ModuleJob``. Goes out: texts of the twin, and what else belongs to a port. May touch: nothing.

- ``gpu_side`` reads the twin, translates it (``readings``) and takes out vLLM's own changes (``vllm_step``). It removes
  uses of new mixins from the old twin (``mixins``) and restores passages that NPU has from earlier revisions
  (``older_passages``);
- ``inlined`` inlines helpers whose code NPU has in place. ``moved_helpers`` does the same for helpers that became
  functions of other modules; ``new_homes`` finds these functions and ``computed`` compares them;
- ``taken_apart`` finds members that hold what a port takes out of one of NPU's methods;
- ``unset`` finds attributes that a port would read and only unported code sets;
- ``owing`` finds older code of the twin that a port depends on; the module is then upgraded again with that code.
"""
