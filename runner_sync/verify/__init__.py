"""Do the NPU runners fit the trees they are to run on? Values in, findings out; reads only.

Comes in: trees of vllm-omni, vllm-ascend and vLLM. Goes out: `Finding`s (`breakage.find`, `check.run`,
`typecheck.run`). May touch: the trees, by reading; `typecheck` also a scratch directory and the type checker's process.

- ``rules``: one module for each rule, listed in ``catalog`` and found through ``registry``;
- ``trees``: what the rules of breakage (RS3xx) look at: the trees as one program that is never run;
- ``runners``: what the other rules look at: the NPU modules beside their twins, their upstream and the lock;
- ``check`` and ``breakage`` run the rules; ``codes``, ``ignores`` and ``baseline`` decide which findings are reported;
- ``typecheck`` runs a type checker on an ``overlay`` of the trees.
"""
