"""The three trees as one Python program that is read and never run.

Comes in: the trees, and which modules are to be checked. Goes out: the classes of expressions, the callees of calls,
and which methods run on NPU. May touch: the trees, by reading.

- ``modules``, ``classes``, ``functions`` and ``frames`` read one file, class, function and function body; ``instance``
  says which names in it are the object, ``vain`` what never runs; ``importing``, ``versions``, ``other_platforms`` and
  ``start_up_patches`` say what a module has once it is imported.
- ``world`` finds them by name; ``surroundings`` (with a ``word_index``) says what other code does to the runners,
  ``siblings`` what vLLM's workers of other platforms do not, and ``module_names`` which names of modules code asks for
  or sets in vain.
- ``program`` and ``runtime`` know the checked classes, their MROs and live methods.
- ``initial``, ``lasting`` and ``set_by_name`` say which attributes an object has.
- ``known`` puts several answers together, each of which may be unknown.
- ``steps``, ``vanished``, ``idle`` and ``gpu_only`` compare the world with an older one, or with the GPU runners; so do
  ``lost_members`` and ``successors`` (what a member is called now), ``lacking``, ``left_behind``, ``left_out`` and
  ``overridden_reads``, for one rule or a few.
- ``calling`` says what a call reaches and how it binds; ``values`` says what kind of thing an expression is.
"""
