"""What a person must look at in a port, besides what the merge itself is in doubt about.

Comes in: drafts with a port in them. Goes out: the drafts with questions. May touch: nothing.

- about what came: ``ported_passages`` asks for each passage, cut by ``features`` where a mixin comes, ``call_fit``
  about calls that no longer fit, ``untranslated`` about GPU names that are left, ``unconfirmed`` about NPU names that a
  release may lack, ``device_behind`` about calls behind which CUDA code runs; ``brought_after_all`` takes it out of
  earlier questions;
- about what stayed: ``left_standing`` about statements that omni removed on the GPU side only, ``once_more`` about
  those that the twin changed everywhere and NPU has in one more place, ``other_uses`` about places where the twin uses
  a new member and NPU does not.
"""
