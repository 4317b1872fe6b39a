"""The GPU twin's change, merged into the NPU runner.

Comes in: drafts and a ``job.ModuleJob``. Goes out: drafts with one more text, and new ones. May touch: nothing.

- ``class_by_class`` goes through the module; ``gpu`` reads the twin, translated to NPU names and without vLLM's own
  changes; ``members`` decides what becomes of members that only the GPU class has; ``mixins`` takes out of the old twin
  what a new mixin brings;
- ``inheriting``: a class of copies becomes a subclass of its twin; ``twin_copies``: copies of methods that vllm-ascend
  removed follow the twin;
- ``porting`` merges the twin's change into the drafts, without what ``refusing`` keeps out, and with the helpers of
  ``extracted`` inlined, also those that ``moved_out`` finds in other modules (``new_homes``; ``computed`` compares
  them); ``sound_merge`` merges until the result can run, or takes the parts that can (``part_by_part``).
  ``half_ported`` finds features that came in half, ``call_fit`` calls that no longer fit, ``resting_on`` says what of
  an earlier change a port needs, ``untranslated`` GPU names that are left, ``unconfirmed`` NPU names that a release
  may lack, ``device_behind`` calls behind which CUDA code runs, ``left_standing`` statements that omni removed on the
  GPU side only, ``once_more`` those that the twin changed everywhere and NPU has in one more place;
  ``ported_passages`` asks about what was changed;
- ``new_members`` adds members that only the GPU class has; ``other_uses`` asks where else the twin uses them;
  ``gone_from_gpu`` removes ports of methods that the twin no longer has;
- ``owing``: older code of the twin that belongs to what is ported; the module is then upgraded again with it.
"""
