"""Tells whether the NPU runners fit the trees that they are to run on. Values in, findings out; reads only.

Comes in: trees of vllm-omni, vllm-ascend and vLLM. Goes out: `Finding`s (`breakage.find`, `check.run`,
`typecheck.run`). May touch: the trees, by reading; `typecheck` also a scratch directory and the type checker's process.

- ``rules``: one module for each rule, listed in ``catalog`` and found through ``registry``;
- ``trees``: the trees as one program that is never run, for the breakage rules (RS3xx);
- ``runners``: the NPU modules beside their twins, their upstream and the lock, for the other rules;
- ``check`` runs the rules on a ``check_job`` (``rule_runs``, without files in ``conflicts``), ``breakage`` on trees;
- ``hits`` is what they find; ``causes`` joins findings, ``codes``, ``ignores``, ``branch`` and ``baseline`` select
  those that are reported;
- ``mistakes`` makes a finding of a rule that fails;
- ``mixins``, ``device_words`` and ``expecting`` answer questions of several rules, ``answers`` caches what they ask;
- ``typecheck`` runs a type checker on an ``overlay`` of the trees.
"""
