"""Fits a class and its methods to what they use now: members, signatures and records that changed.

Comes in: unit texts as they were and are, and what other classes offer. Goes out: edits of these texts, with a sentence
for each. May touch: nothing.

- ``members`` decides which members of the GPU twin a class needs, and ``hooks`` fits the sampler hook;
- ``overrides``, ``passing``, ``shifted``, ``handing_over`` and ``unset`` fit methods and calls to changed signatures;
- ``records``, ``record_lists``, ``record_locals`` and ``constructors`` fit unpackings and constructions of a
  ``record``.

``repair`` is the value for one such edit.
"""
