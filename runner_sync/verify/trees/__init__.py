"""The three trees as one Python program that is read and never run.

Comes in: the trees, and which modules are to be checked. Goes out: what expressions are, what calls reach, and what of
it runs on NPU. May touch: the trees, by reading.

- ``modules``, ``classes``, ``functions`` and ``frames``: one file, class, function, and function body; ``exports``,
  ``importing``, ``settled`` and ``start_up_patches`` say what a module has once it is imported;
- ``world``: all of them, found by name; ``surroundings`` what code around the runners does to them;
- ``program`` and ``runtime``: the checked classes with their MROs, and what of them is live;
- ``steps``, ``vanished``, ``idle`` and ``gpu_only``: a world beside an older one, or beside the GPU's;
- ``calling``: what a call reaches and how it binds; ``values``: what kind of thing an expression is.
"""
