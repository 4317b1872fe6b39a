"""Puts the text of an upgraded module together: its imports, globals, layout and review comments.

Comes in: unit and module texts, and what other modules offer. Goes out: texts, or edits of them. May touch: nothing.

- ``imports``, ``import_places``, ``guarded`` and ``own_globals`` bring the names that a module needs;
- ``layout``, ``line_pairs`` and ``own_layout`` format what changed; ``rulers`` and ``notes`` write rulers and review
  comments;
- ``settling`` takes the comments away again, and puts another side's text in the place of the chosen one.
"""
