"""Where the statements that stay stand: their order, their suites, and the text of all of them.

Comes in: a ``Weave`` and what is kept of it. Goes out: strands in order, the text, and where each strand went. May
touch: ``parent``, ``owner`` and ``kept`` of the strands.

- ``sequence``: one order of the strands of three sides; ``reordering`` where that order breaks what reads what;
- ``nesting``, ``interleaving`` and ``replacing``: the suite that each stands in;
- ``pruning``: heads that are left without a suite;
- ``remarks``, ``moved_remarks`` and ``rulers``: comments and markers stay with what they are about;
- ``emit``: the text.
"""
