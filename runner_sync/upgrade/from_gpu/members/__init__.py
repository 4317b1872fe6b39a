"""Decides about members that only the GPU class or only the NPU class has.

Comes in: the drafts of a class and its twin. Goes out: drafts added or removed, with questions. May touch: nothing.

- Before the merge, ``inheriting`` makes a class of copies a subclass of its twin, and ``twin_copies`` lets copies of
  methods that vllm-ascend removed follow the twin.
- Behind it, ``beside_twin`` compares the two classes and decides about each member. ``constructors`` shortens a
  refused constructor to what ported code reads, ``new_members`` adds what NPU lacks or explains why not (without
  ``imports_at_hand``),
  ``renamed`` keeps NPU's own form of a method that has another name now, and ``gone_from_gpu`` removes ports of members
  that the twin lost.
- At the end, ``freed_of_device`` asks about overrides of methods that lost their device code.
"""
