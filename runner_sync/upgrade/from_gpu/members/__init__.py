"""Members that only the GPU class or only the NPU class has.

Comes in: the drafts of a class and its twin. Goes out: drafts added or removed, with questions. May touch: nothing.

- ``beside_twin`` compares the two classes and decides; ``new_members`` adds what NPU lacks, or says what keeps it out;
  ``gone_from_gpu`` removes ports of what the twin no longer has;
- ``inheriting``: a class of copies becomes a subclass of its twin; ``twin_copies``: copies of methods that vllm-ascend
  removed follow the twin.
"""
