"""The GPU twin's change, merged into the NPU runner.

Comes in: drafts and a ``job.ModuleJob``. Goes out: drafts with a text more, and new ones. May touch: nothing.

- ``gpu``: the twin in NPU words, less what is vLLM's own; ``mixins`` for what a mixin brings, ``members`` for what
  becomes of what only the GPU class has;
- ``inheriting``: a class of copies becomes a subclass of its twin; ``twin_copies``: what vllm-ascend gave up follows
  the twin;
- ``class_by_class`` goes through the module; ``porting``: the twin's change merged into the drafts, without what
  ``refusing`` keeps out; ``extracted`` for what it keeps in helpers that NPU has in place; ``sound_merge`` merges until
  the result can run, or takes the parts that can (``part_by_part``), ``half_ported`` finds what came in by half,
  ``call_fit`` the calls that do not fit, ``untranslated`` the GPU names that are left, ``left_standing`` what omni took
  out on the GPU side only; ``ported_passages`` asks about what was changed;
- ``new_members``: what only the GPU class has; ``other_uses``: where else the twin uses what came; ``gone_from_gpu``:
  ports of what the twin has no more;
- ``owing``: what the twin has had for long and that belongs to what is ported; the module is done again with it.
"""
