"""One derived module through the whole line: its bases, vllm-ascend's change, the GPU twin's change, one text again.

Comes in: a ``job.ModuleJob``, which holds every text that is needed. Goes out: a ``job.ModuleResult``: the new text,
what became of each unit, and the questions for a person. May touch: nothing; where the texts come from is the business
of ``sync``.

``module.upgrade_module`` is the way in. It makes a ``Draft`` of every unit and hands the drafts from stage to stage;
each stage adds a text or a question to them:

- ``ascend``, the first upstream: the ``base`` of each unit, and vllm-ascend's change merged into the copies;
  ``splitting`` where upstream took a method apart;
- ``gpu``, the second upstream: the GPU twin in NPU words, less what is vLLM's own; ``mixing`` for what a mixin brings;
- ``inheriting``: a class of copies becomes a subclass of its twin;
- ``porting``: the twin's change merged into the drafts, and its new members; ``calling`` takes back what does not fit,
  ``untranslated`` asks about GPU names that are left;
- ``asking``, ``hidden``, ``doubts`` and ``outcomes``: questions, where they stand, and the result;
  ``conflicts`` for diff3 markers.

``starting`` makes a module that is not there yet.
"""
