"""The twin's change, merged into a method that NPU has, too.

Comes in: drafts and the twin's two texts. Goes out: the drafts with one more text and questions. May touch: nothing.

- ``porting`` merges, without what ``refusing`` keeps out;
- ``sound_merge`` repeats it until the result can run, or takes the parts that can (``part_by_part``); ``half_ported``
  finds features that came in half;
- ``mixins_alone`` brings what the twin does with a new mixin where the port of a method is refused as a whole;
- ``wrapped_returns`` hands NPU's returns on where the twin newly does;
- ``resting_on`` says what of an earlier change a port needs.
"""
