"""Place the statements that stay: their order, their suites and the text of the unit.

Comes in: a ``Weave`` and its verdicts. Goes out: ordered strands, the text, and the lines of each strand. May touch:
``parent``, ``owner`` and ``kept`` of the strands.

- ``sequence`` merges the order of the three sides; ``reordering`` corrects it where a local is read before it is set;
- ``nesting`` and ``interleaving`` choose the suite of each strand;
- ``pruning`` removes heads and clauses that cannot stand;
- ``blanks`` counts the blank lines where the statement above has gone;
- ``remarks``, ``moved_remarks`` and ``rulers`` keep comments and markers with their statements;
- ``emit`` prints the text.
"""
