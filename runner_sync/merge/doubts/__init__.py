"""Find what a person must look at in a merge.

Comes in: a ``Weave``, its kept strands, and where each was written. Goes out: doubts, and from ``decisions`` the
questions with their lines. May touch: nothing, except that ``unread`` and ``exits`` leave out what they doubt.

``engine`` calls the modules in these steps:

1. While verdicts and texts settle, ``own_calls`` drops doubts that a call of omni's own answers. ``unread`` leaves out
   what only sets unread names, ``exits`` a ``break`` without its loop; both with a doubt.
2. Statements that nobody edited may now do something else: ``own_statements`` (a block is empty, a local unread, an
   attribute set twice), ``exits`` (a ``return`` that omni writes otherwise), ``repeated`` and ``rewritten`` (one
   side's form beside the other's), ``replacements`` (what upstream replaced outside of omni's block).
3. Doubts that belong together meet: ``replacements`` shows what came in place of a statement, ``same_calls`` asks at
   omni's form of a call, and ``along`` adds what was left out with a statement.
4. The written text shows the rest: ``conditions``, ``misplaced`` and ``overtaken`` find other suites and another
   order, ``own_statements`` reads above their setter, ``collisions`` and ``side_by_side`` reads of what the other side
   sets, and ``replaced_callees`` calls of a function that upstream replaced.
5. ``decisions`` turns all doubts into questions: ``kinds`` groups their reasons, ``nearby`` finds the line of what is
   left out, and ``shown`` prints the sides.
"""
