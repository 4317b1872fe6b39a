"""Reads the NPU modules beside their GPU twins, their upstream and the lock, for the rules of drift, parity and
hygiene.

Comes in: a ``CheckJob``. Goes out: readings, units that differ, places for findings. May touch: the omni tree, by
reading.

A file is parsed when a rule first needs it, because `check` from the lock must be fast. Nothing here needs the trees of
``runner_sync.verify.trees``; where their texts are at hand, they are searched for the hooks of models.

- ``job`` and ``reading`` show the rules one module, ``ancestry`` and ``callees`` what its names lead to, ``places``
  where a statement stands, ``stores`` what sets a name; ``patch`` writes a repair.
- Drift (RS1xx): ``drift``, ``locked``, ``unlocked``, ``new_calls``.
- Parity (RS2xx): ``parity`` pairs the twins; ``model_hooks``, ``gated_hooks`` and ``hook_givers`` are about hooks of
  models; ``without_gpu``, ``idle_calls`` and ``idle_statements`` tell what does nothing off the GPU;
  ``statement_pairs`` and ``written_out`` compare statements.
- Hygiene (RS4xx): ``hygiene``, ``device_names``. Duplication (RS501): ``duplication``.
"""
