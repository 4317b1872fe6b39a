"""Makes and words the questions that a person must decide about an upgraded module.

Comes in: drafts and a ``job.ModuleJob``. Goes out: drafts with review items. May touch: nothing.

- ``defects`` asks about defects that a merge left, ``hidden`` about upstream methods that do not run (with
  ``partial_overrides``), ``replaced_calls`` about calls that omni replaced, ``ended_calls`` about calls on an object
  that upstream ended, ``mixed_in`` about mixins that a class gets or does without, ``two_ends`` about new code whose
  other end was left out;
- ``answered`` drops questions that the texts at hand answer; ``one_decision`` joins questions about one passage,
  ``one_feature`` about one feature that was left out, ``same_question`` repetitions in other units, and ``partners``
  links related questions;
- ``reviews`` makes the items, ``wording`` has the sentences for merge decisions, ``conflicts`` writes diff3 markers.
"""
