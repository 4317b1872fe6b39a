"""Merges the twin's change into methods that NPU has as well.

Comes in: drafts and the twin's two texts. Goes out: the drafts with one more text and questions. May touch: nothing.

``porting`` takes one unit after the other through these steps, with what ``port_context`` collects for it:

1. What stays out: fields of ``record_fields``, statements that ``refusing`` vetoes, methods that ``unrelated`` finds
   too different, and wrapped returns, which ``wrapped_returns`` brings by itself;
2. The merge: ``sound_merge`` repeats it until the result can run. ``plain_locals`` brings locals that new code reads,
   ``half_ported`` finds features that arrived incompletely, and ``idle_passages`` undoes what would cut off NPU's
   statements. ``last_parameters`` keeps the places of parameters;
3. If it is refused: ``in_stages`` ports up to an earlier twin, and ``mixins_alone`` only the uses of a new mixin. If
   it lacks something, ``resting_on`` brings the earlier change that it builds on;
4. ``remarks_alone`` ports comments and docstrings that are about no change of code. ``left_out`` joins questions, and
   ``taking_back`` takes back a port whose new signature breaks a call.
"""
