"""The three trees as one Python program that is read and never run.

Comes in: the trees, and which modules are to be checked. Goes out: the classes of expressions, the callees of calls,
and which methods run on NPU. May touch: the trees, by reading.

- ``modules``, ``classes``, ``functions`` and ``frames``: one file, class, function, and function body; ``exports``,
  ``importing``, ``settled`` and ``start_up_patches`` say what a module has once it is imported;
- ``world``: all of them, found by name; ``surroundings``: what other code does to the runners;
- ``program`` and ``runtime``: the checked classes with their MROs, and which of their methods are live;
- ``steps``, ``vanished``, ``idle`` and ``gpu_only``: the world compared with an older one, or with the GPU runners;
- ``calling``: what a call reaches and how it binds; ``values``: what kind of thing an expression is.
"""
