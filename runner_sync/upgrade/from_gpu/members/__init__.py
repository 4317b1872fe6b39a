"""Decides about members that only the GPU class or only the NPU class has.

Comes in: the drafts of a class and its twin. Goes out: drafts added or removed, with questions. May touch: nothing.

- ``beside_twin`` compares the two classes and decides. ``new_members`` adds what NPU lacks or explains why not.
  ``constructors`` shortens a refused constructor to what ported code reads.
  ``gone_from_gpu`` removes ports of members that the twin lost;
- ``inheriting`` makes a class of copies a subclass of its twin. ``twin_copies`` lets copies of methods that vllm-ascend
  removed follow the twin. ``freed_of_device`` asks about overrides of methods that lost their device code.
"""
