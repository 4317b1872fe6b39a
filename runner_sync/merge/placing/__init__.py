"""Place the statements that stay: their order, their suites, and the text of all of them.

Comes in: a ``Weave`` and what is kept of it. Goes out: strands in order, the text, and where each strand went. May
touch: ``parent``, ``owner`` and ``kept`` of the strands.

- ``sequence``: one order for the strands of three sides; ``reordering``: where in it a local is read before it is set;
- ``nesting``, ``interleaving`` and ``replacing``: the suite that each stands in;
- ``pruning``: heads and clauses that cannot stand;
- ``blanks``: blank lines where the statement above has gone;
- ``remarks``, ``moved_remarks`` and ``rulers``: comments and markers stay with what they are about;
- ``emit``: the text.
"""
