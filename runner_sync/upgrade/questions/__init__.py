"""Makes and words the questions that a person must decide about an upgraded module.

Comes in: drafts and a ``job.ModuleJob``. Goes out: drafts with review items. May touch: nothing.

``reviews`` makes the items, and ``wording`` has the sentences for merge decisions. ``answered`` drops decisions of a
merge that the texts at hand answer. When all drafts have their last text, ``module`` asks in this order:

1. About what does not run or runs anew: ``hidden`` (with ``concerned`` and ``partial_overrides``) and
   ``uncalled_hooks`` about upstream methods behind omni's, ``mixed_in`` about mixins that a class gets or does without,
   ``replaced_calls`` about calls that omni replaced, ``newly_reached`` about new calls that reach an override, and
   ``made_twice`` about calls that upstream moved out of a method and its override still makes.
2. About the texts themselves: ``defects`` that a merge left.
3. About halves, by ``objects_used``: ``counterparts`` in another copy, ``two_ends`` of an exchange of which one was
   left out, ``ended_calls`` on an object.
4. Then questions meet: ``one_decision`` joins those about one passage, ``one_feature`` those about one feature that
   was left out, and ``linked_questions`` names related ones in each other.

For a whole run, ``one_decision`` also joins repetitions in other units; ``conflicts`` writes diff3 markers.
"""
