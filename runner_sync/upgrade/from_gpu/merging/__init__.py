"""Merges the twin's change into methods that NPU has as well.

Comes in: drafts and the twin's two texts. Goes out: the drafts with one more text and questions. May touch: nothing.

- ``porting`` runs the merge, without the statements that ``refusing`` vetoes;
- ``sound_merge`` repeats the merge until the result can run, and ``half_ported`` finds features that arrived
  incompletely;
- ``mixins_alone`` ports only the uses of a new mixin if the rest of the port is refused;
- ``wrapped_returns`` wraps NPU's returns where the twin newly wraps its own;
- ``resting_on`` finds what a port needs of an earlier change;
- ``taking_back`` takes back a port whose new signature breaks a call, or repeats it without the new parameters.
"""
