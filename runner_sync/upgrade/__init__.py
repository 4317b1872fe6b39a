"""One derived module through the whole line: its bases, vllm-ascend's change, the GPU twin's change, one text again.

Comes in: a ``job.ModuleJob``, which holds every text that is needed. Goes out: a ``job.ModuleResult``: the new text,
what became of each unit, and the questions for a person. May touch: nothing; where the texts come from is the business
of ``sync``.

``module.upgrade_module`` is the way in. It makes a ``draft.Draft`` of every unit and hands the drafts from stage to
stage; each stage gives them back with a text or a question more, and never changes one that another has:

- ``ascend``, the first upstream: the ``base`` of each unit, and vllm-ascend's change merged into the copies;
  ``splitting`` where upstream took a method apart, ``spelling`` where it calls by another name what omni imports,
  ``overriding`` for the namesakes of upstream's methods that are omni's own;
- ``gpu``, the second upstream: the GPU twin in NPU words, less what is vLLM's own; ``mixing`` for what a mixin brings,
  ``members`` for what becomes of what only the GPU class has;
- ``inheriting``: a class of copies becomes a subclass of its twin;
- ``twin_copies``: what vllm-ascend gave up follows the twin;
- ``porting``: the twin's change merged into the drafts, without what ``refusing`` keeps out; ``extracted`` for what
  the twin keeps in helpers that NPU has in place, ``halves`` finds what came in by half, ``calling`` what does not fit,
  ``ported_passages`` asks about what was changed and ``untranslated`` about GPU names that are left;
  ``new_members`` for what only the GPU class has;
- ``owing``: what the twin has had for long and that belongs to what is ported; the module is done again with it;
- ``redundant``: methods that can go; ``composing``: the module text;
- ``asking`` and ``hidden``: further questions; ``wording`` has the sentences for the decisions of a merge, ``doubts``
  makes and places review items, ``attribution`` and ``outcomes`` the result; ``conflicts`` for diff3 markers.

``starting`` makes a module that is not there yet.
"""
