"""Answers questions about the text of a module or of one of its members, and changes nothing.

Comes in: unit and module texts. Goes out: names, values and yes or no. May touch: nothing.

- ``member_text`` reads one member: its canonical statements, and the names that it uses and calls;
- ``names``, ``bindings`` and ``import_entries`` read a module: what it needs, how it gets it, and what it imports;
- ``assignment``, ``reaching``, ``paths`` and ``soundness`` follow the ways through a method: what is set, which setting
  a read gets, under which conditions a statement runs, and what is certainly wrong; the first two share ``path_walk``;
- ``rewording`` compares two revisions of a method: do they differ in wording alone?
"""
