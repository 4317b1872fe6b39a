"""Completes the text of an upgraded module: its members, imports, records, layout and review comments.

Comes in: unit and module texts, and what other modules offer. Goes out: texts, or edits of them. May touch: nothing.

- ``members`` decides which members of the GPU twin a class needs; ``hooks``, ``overrides``, ``passing``,
  ``handing_over`` and ``unset`` fit methods and calls to changed signatures; ``successors`` follows renamed members;
- ``records``, ``record_lists``, ``record_locals`` and ``constructors`` fit unpackings and constructions of records;
- ``imports``, ``import_places``, ``guarded`` and ``own_globals`` bring the names that a module needs;
- ``layout``, ``own_layout``, ``rulers`` and ``notes`` format the text, and write rulers and review comments.

``mended`` is the value that the fitting modules return. What they ask of a text is answered by ``runner_sync.texts``.
"""
