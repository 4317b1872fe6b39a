"""Asks about what a person must review in a port, besides doubts of the merge itself.

Comes in: drafts with a port in them. Goes out: the drafts with questions. May touch: nothing.

- With the merge of a unit, ``ported_passages`` asks about each passage, split by ``features`` where a mixin comes. The
  reason may end with arguments that a call loses (``no_longer_passed``), attributes that would keep what the method no
  longer returns (``lost_results``), branches that only NPU has (``other_branches``), or names that a release may lack
  (``untranslated``); ``nested_otherwise`` words it where only the block around moved.
- Behind the merge, ``once_more`` asks about one more occurrence of a statement that the twin changed everywhere,
  ``left_standing`` about statements that omni removed on the GPU side only, ``untranslated`` about remaining GPU
  names.
- At the end, ``other_uses`` asks where only the twin uses a new member, ``call_fit`` about calls that no longer fit,
  ``changed_helpers`` and ``inline_functions`` about changed code of the twin whose work NPU does in place, and
  ``helpers_shown`` shows helpers that the twin calls instead.
"""
