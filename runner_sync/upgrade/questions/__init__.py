"""What a person must look at in a module that is done, and how it is said.

Comes in: drafts and a ``job.ModuleJob``. Goes out: drafts with review items. May touch: nothing.

``defects`` are what a merge left, ``hidden`` the methods of upstream's that do not run (with ``partial_overrides``),
``mixed_in`` the bases that a class has now or does without, ``partners`` the questions that are one decision.
``reviews`` makes the items, ``wording`` has the sentences for the decisions of a merge, ``conflicts`` the diff3
markers.
"""
