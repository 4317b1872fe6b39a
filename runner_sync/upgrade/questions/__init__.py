"""What a person must look at in an upgraded module, and how it is worded.

Comes in: drafts and a ``job.ModuleJob``. Goes out: drafts with review items. May touch: nothing.

- ``defects`` asks about defects that a merge left, ``hidden`` about methods of upstream's that do not run (with
  ``partial_overrides`` and ``moved_work``), ``replaced_calls`` about calls that omni replaced, ``ended_calls``
  about calls on an object that upstream ended, ``mixed_in`` about mixins that a class got or does without;
- ``answered`` drops what texts at hand answer; ``one_decision`` joins questions about one passage, ``one_feature``
  those about one feature that was left out, ``same_question`` repetitions in other units, and ``partners`` links what
  belongs together;
- ``reviews`` makes the items, ``wording`` has the sentences for the decisions of a merge, ``conflicts`` writes diff3
  markers.
"""
