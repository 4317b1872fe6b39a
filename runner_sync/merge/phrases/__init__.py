"""Choose or merge the text of one statement that stays.

Comes in: the base, omni and upstream texts of the statement. Goes out: one text, and the reason of a doubt. May touch:
nothing.

- ``contents`` chooses a side's text or merges the three;
- ``phrase`` merges three texts by the phrases between commas and brackets (``elements``) in a ``diff3``, with the
  blanks of the sides (``spacing``) and no keyword twice (``repeated_keywords``);
- ``transplant``, ``arguments``, ``values``, ``positional``, ``callees`` and ``moved_calls`` handle calls that both
  sides changed, ``with_items`` the contexts of a ``with``;
- ``keyword_order`` compares keywords;
- ``inner_remarks`` keeps omni's comments in a statement, and ``trees`` parses one.
"""
