"""What kind of thing a name, an attribute or an expression stands for, and how code uses it.

Comes in: frames and classes of a program. Goes out: kinds, elements, sizes, uses and guards. May touch: nothing.

- ``annotations``, ``declared``, ``elements``, ``typed_dicts`` and ``kinds`` read what is declared; ``builtin``,
  ``generated``, ``entered``, ``returns`` and ``torch_objects`` what code makes;
- ``uses``, ``items``, ``protocols``, ``deferred``, ``dereferenced`` and ``equals`` say what code needs of a value;
- ``guards``, ``tested``, ``settled``, ``giving``, ``optional`` and ``unset`` say what a value may be at a place.
"""
