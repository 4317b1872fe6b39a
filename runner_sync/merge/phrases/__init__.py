"""The text of one statement that stays.

Comes in: the texts that base, omni and upstream have of it. Goes out: one text, and the reason of a doubt. May touch:
nothing.

- ``contents`` chooses: a side's text, or what both made of the statement;
- ``phrase`` merges three texts by what stands between commas and brackets (``elements``), with the blanks that the
  sides have (``spacing``) and no element twice (``repeated``);
- ``transplant``, ``arguments`` and ``positional`` know calls: what omni added to one, and which arguments are whose;
- ``inner_remarks`` keeps omni's comments inside a statement.
"""
