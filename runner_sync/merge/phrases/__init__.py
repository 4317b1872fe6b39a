"""Choose or merge the text of one statement that stays.

Comes in: the texts that base, omni and upstream have of it. Goes out: one text, and the reason of a doubt. May touch:
nothing.

- ``contents`` chooses: the text of a side, or a merge of what both made of the statement;
- ``phrase`` merges three texts by what stands between commas and brackets (``elements``), with the blanks that the
  sides have (``spacing``) and no keyword twice (``repeated``);
- ``transplant``, ``arguments``, ``positional`` and ``callees`` handle calls whose arguments both sides changed;
- ``paths`` takes over attribute paths that upstream changed, ``inner_remarks`` keeps omni's comments in a statement.
"""
